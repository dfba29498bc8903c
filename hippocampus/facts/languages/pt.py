"""Portuguese: data alone."""

from __future__ import annotations

STOP_WORDS = """
a ao aos as à às com como da das de do dos e é ela ele eles em era essa esse esta este está eu foi
há isso já lhe mais mas me meu minha muito na nas não no nos nós o onde os ou para pela pelo por
porque pra pro qual quais quando quanto que quem se sem ser seu seus sua suas só são também te tem
um uma você meus minhas nosso nossa nossos nossas dele dela deles delas neste nesta desse dessa
deste desta até sou somos estou estamos estava tenho temos tinha vou vai vamos foram aqui lá então
ainda pelas pelos num numa qualquer cada nem depois antes
"""

PHRASES = {
    "first": "eu nós meu minha nosso nossa",
    "third": "ele ela eles elas isso isto aquilo",
    "when": r"""ontem|anteontem|recentemente|finalmente|de vez|definitivamente|por completo
        |(?:(?:n?[oa]|em|desde|n?est[ae]|fim de|início d[eo]) )*(?:semana|mês|ano|fim de semana|primavera|verão|outono|inverno|(?:19|20)\d\d)(?: passad[oa]| de (?:19|20)\d\d)?|(?:n[ao] |em )?(?<!às )(?<!aos )(?:{days})(?<!s)(?: passad[oa])?
        |(?:há|faz) .{1,20}|(?:porque|por causa|devido) .+|(?:para|a) (?:uma?|(?:o )?meu|(?:a )?minha) .+""",
    "days": "(?:segunda|terça|quarta|quinta|sexta)s?(?:-feiras?)?|sábados?|domingos?|janeiro|fevereiro|março|abril|maio|junho|julho|agosto|setembro|outubro|novembro|dezembro",
    "numbers": "(?:dois|duas|três|quatro|cinco|seis|sete|oito|nove|dez|onze|doze|quinze|vinte|trinta)(?: ve(?:z|zes))?|uma ve(?:z|zes)",
    "articles": "[oa]s?",
    "indefinite": "uma?",
    "copulas": "(?:é|fica)(?: (?:em|de|no|na))?|são|se chama|chama-se|(?:mora|vive|trabalha|estuda)m? (?:em|no|na|para)",
    "and_words": "e",
    "but_words": "mas|porém",
    "joins": "e|ou|mas|quando|porque|com",
    "now_words": "agora",
    "again_words": "agora|de novo|novamente|outra vez|atualmente|desde .+",
    "interjections": "não|ai|ah|ops|opa|ih",
    "conditions": "se|suponha|suponhamos|imagina|imagine",
    "forwarded": "mensagem (?:encaminhada|original)",
    "headers": "de|assunto",
    "greetings": "olá|oi|prezad[oa]s?|car[oa]s?|bom dia",
    "closings": "atenciosamente|cumprimentos|abraços?",
    "wrote": r"em\b[^\n]{5,120}escreveu",
    "please": "por favor",
    "rework": "traduz[ai]?|resum[ae]|corrij[ae]|reescrev[ae]",
    "preference": r"""\b(?:prefiro|preferiria|gosto d[eoa]|adoro|detesto|odeio)\b|\b(?:meu|minha)s? .{0,20}\b(?:favorit|preferid)[oa]s?\b
        |\b(?:de agora em diante|a partir de agora|daqui para a frente|no futuro|por padrão)\b""",
    "decision": r"\b(?:decidimos|escolhemos|decidi|optamos|combinamos|vamos usar|vamos com|decisão:)",
    "lasting": r"\b(?:alérgic[oa]|nasci|eu falo|me chamo|meu nome é)\b",
    "about_user": r"\b(?:utilizador|usuári[oa]|cliente)\w*|\bvocê (?:prefere|quer|gosta)",
    "orders": r"\b(?:ignor[ae]\w*|esque[çc]\w+|lembr[ea]\w*|sempre|nunca|instruç(?:ão|ões))\b",
    "forgotten": r"\b(?:eu )?não me lembro\b",
}

RULES = {
    "own": r"""\b(?:eu|nós|me|mim|meus?|minhas?|noss[oa]s?|a\sgente)\b""",
    "people": """irmã irmão mãe pai mulher marido esposa esposo filho filha filhos amigo amiga colega chefe parceiro parceira primo prima vizinho vizinha
        tia tio avó avô sobrinho sobrinha sogra sogro namorado namorada pais avós""",
    "drops_subjects": True,
    "names_are_cased": True,
    "hypothetical": r"""\b(?:se|suponh\w*|supondo|imagin\w+|talvez|provavelmente|poderia\w*|gostaria\w*|seria|teria|faria|moraria|usaria|mudaria|plane\w+
        |(?:penso|pensando|pensamos)\sem|quero|queremos|(?:vou|vamos|vai)\s\w+[aei]r|tomara|espero|(?:semana|mês|ano)(?:\sque\svem|\spróxim[oa])|próxim[oa]\s(?:semana|mês|ano)|algum\sdia|um\sdia|caso|sonh\w+)\b""",
    "reported": r"""\b(?:diz|dizem|dizendo|disse|disseram|acha|acham|acredita\w*|segundo|pensa|pensam|afirma\w*|conta\sque|contou|garante\w*|escreveu|insiste|jura
        |de\sacordo\scom)\b""",
    "temporary": r"""(?<!desde\s)\b(?:hoje(?!\sem\sdia)|amanhã|n?est[ae]\s(?:semana|mês|tarde|noite|verão|inverno|fim\sde\ssemana)|temporári\w+|provisóri\w+|por\senquanto
        |no\smomento|até|durante|enquanto|só\spor|alguns\sdias|de\s(?:férias|visita)|a\strabalho)\b""",
    "addition": r"""\b(?:também|além\sdisso|outr[oa]s?|amb[oa]s|às\svezes|tampouco|além\sd[eoa])\b""",
    "correction": r"""^\W*(?:(?:não|desculp[ae]\w*|perdão|espera|peraí|ops|opa|errado|erro|foi\smal|ah)(?:\s*[,.:;!—–-]|\s+(?=desculp|espera|não\b|errei))
        |(?:correção|corrigindo|retifico|na\sverdade|ou\smelhor|aliás|errata)\b)|\b(?:quis\sdizer|queria\sdizer|me\s(?:enganei|confundi|equivoquei)|(?:enganei|confundi)-me
        |(?:está|estava)\serrad[oa]|não\sé\s(?:correto|verdade)|(?:erro|falha)\s(?:meu|minha)|(?:disse|falei|escrevi|coloquei)\s.+\s(?:mas|quis|queria|só\sque)|errei|(?:falei|disse)\serrado|estava\senganad[oa]|(?:vi|li|entendi)\smal|(?:data|hora|conta)\serrada)\b""",
    "now": r"""(?:(?<=\bmeu\s)|(?<=\bminha\s)|(?<=\bnosso\s)|(?<=\bnossa\s))nov[oa]\b(?!\s(?:coleg|amig|vizinh|projeto|client))|\b(?:agora|já|atualmente|desde|de\snovo|novamente|outra\svez|de\svolta|hoje\sem\sdia|n(?:este|o)\smomento|virou)\b""",
    "changed": r"""\b(?:mud\w+|volt\w+|troc\w+|troqu\w+|pass(?:ei|amos|ou|ado|o)|migr\w+|transfer\w+|sub[iu]\w*|baix\w+|aument\w+|reduz\w+|adi(?:ei|ado|ada|amos|ou)|remar[cq]\w+
        |fui|fomos|foi|alter\w+)\b
        |\b(?:comecei|antecip\w+)\b""",
    "moves": (r"d(?:e|o|a|os|as) {old} (?:para|pra|pro|ao|à|a|até|por) (?:o |a |os |as )?{new}",),
    "swaps": (
        r"{new},? (?:e )?não (?:em |o |a |no |na |com |de )?{old}",
        "{old} foi (?:substituíd[oa]|trocad[oa]) (?:por|pel[oa]) {new}",
        r"renome\w+ {old}",
        r"(?:em vez|ao invés|em lugar|no lugar) d(?:e|o|a|os|as) {old}",
        r"(?:troqu\w+|troc\w+|substitu\w+) (?:o |a |os |as |meu |minha )?{old} (?:por|pel[oa]s?) {new}",
        r"(?:larg|deix)\w+ (?:o |a )?{old} (?:por|pel[oa]) {new}",
        r"(?:não|mais) {old},? (?:mas|e) sim {new}",
        r"não (?:é|era) (?:o |a |na |no |em )?{old}[,;:] (?:é|mas) (?:o |a |na |no |em )?{new}",
        r"(?:é|são|era|no|na|em) {new}, não (?:é |o |a |na |no |em )?{old}",
    ),
    "shifts": (
        r"(?:pass|atualiz|migr|sub)(?:amos|ámos|ei|imos)(?: d\S+ \S+)? (?:para o|para a|para|pro) {thing} (?=\d){new}",
        r"{thing} (?:foi|foram) (?:adiad|movid|mudad|alterad|antecipad|remarcad|transferid|aumentad|reduzid)[oa]s?(?: d\S+ \S+)? (?:para o |para a |para as |para |pra |pro |ao |à |às |a ){new}",
        r"{thing} (?:mudou|passou|subiu|baixou|aumentou|caiu)(?: d\S+ \S+)? (?:para o |para a |para as |para |pra |pro |ao |à |às |a ){new}",
        r"(?:adi|mud|alter|antecip|remarc|transfer|pass|sub|baix|aument|mov)(?:ei|ou|aram|amos|iram|imos|iu) (?:o |a |os |as |meu |minha |nosso |nossa )?{thing}(?: d\S+ \S+)? (?:para o |para a |para as |para |pra |pro |ao |à |às ){new}",
    ),
    "ended": r"""\bjá\snão\b|\bnão\b(?=[^.;!?]*\bmais\b)|\b(?:(?:deix|par)(?:ei|amos|ou)\sde|larg(?:uei|amos|ou)|vend(?:i|emos|eu)|cancel(?:ei|amos|ou)|abandon(?:ei|amos|ou)
        |saí(?:mos)?\sd\w+|doei|demiti|pedi\sdemissão|deslig(?:uei|amos|ou)(?:\sde\svez)?|termin(?:ei|amos|ou)(?:\scom)?|cancelad\w+|desmarcad\w+|suspen\w+|encerr\w+|fech(?:ei|amos|ou)|dei\s(?=meu|minha|o\s|a\s))\b
        |\b(?:morreu|faleceu|demitid[oa]\sd\S+|despedid[oa]\sd\S+|apag(?:uei|amos)|elimin(?:ei|amos)|desinstal(?:ei|amos)|desativ(?:ei|amos|ad[oa])|descontinuad[oa]|(?:deitei|joguei)\sfora|expirou|desisti\sd\w+|rescindi)\b
        |\b(?:devolv(?:i|emos)|retir(?:ei|amos|aram|ad[oa])|tir(?:ei|amos)|acab(?:ei|amos|ou)\scom|livr(?:ei|amos)-?(?:me|nos)?\sd\w+|desfiz-me\sd\w+|separ(?:ei|amos)|divorci\w+|encerrad\w+)\b""",
    "negation": r"""\b(?:não|já|nunca|mais|deixei|parei)\b""",
    "verbs": """uso usamos usa usava moro moramos mora vivo vivemos vive trabalho trabalhamos trabalha mudei mudamos mudou troquei trocamos passei passamos voltei
        voltamos migramos transferida transferido remarquei remarcamos estou estamos está fui fomos foi agora finalmente semana mês passado passada ontem hoje novo nova vez lugar faço fazemos vou vamos
        é são sim ser""",
    "single": (
        (
            "lives_in",
            r"(?:(?P<subject>.+?)\s(?:se\smudou|mudou-se)|(?:eu\s)?(?:me\smudei|mudei-me|nos\smudamos|mudámo-nos))\s(?:para|pra|pro)\s(?:o\s|a\s)?(?P<object>.+)",
        ),
        ("works_at", r"(?:comecei|passei)\sa\strabalhar\s(?:em|no|na|para)\s(?P<object>.+)"),
        (
            "lives_in",
            r"(?:(?P<subject>.+?)\s)?(?:agora\s|já\s)?(?:mor(?:o|a|amos|am)|viv(?:o|e|emos|em))\s(?:agora\s|de\snovo\s)*(?:em|no|na|nos|nas)\s(?P<object>.+)",
        ),
        (
            "works_at",
            r"(?:(?P<subject>.+?)\s)?(?:agora\s)?trabalh(?:o|a|amos|am)\s(?:agora\s)?(?:em|no|na|para|pra)\s(?P<object>.+)",
        ),
    ),
}
