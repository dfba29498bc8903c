"""Spanish: data alone."""

from __future__ import annotations

STOP_WORDS = """
a al algo como con cuál cuáles cuando cuándo cómo de del desde donde dónde el ella ellas ellos
en entre era es esa ese eso esta este esto están está fue ha han hasta hay la las le les lo
los más me mi mis muy no nos o para pero por porque que qué quien quién se sin sobre son su
sus también te tiene tu un una uno unos y ya yo
"""

PHRASES = {
    "first": "yo nosotros",
    "third": "él ella ellos eso esto",
    "when": r"""ayer|anteayer|recientemente|hace poco|por fin|finalmente|definitivamente|del todo|por completo
        |(?:el|la|en|desde|a principios de|a finales de|est[ae]) (?:pasad[oa] |últim[oa] )?(?:semana|mes|año|fin de semana|primavera|verano|otoño|invierno|{days}|(?:19|20)\d\d)(?: pasad[oa]| de (?:19|20)\d\d)?
        |hace .{1,20}|(?:porque|por culpa de|debido a|a causa de) .+|a (?:una?|mi) .+""",
    "days": "lunes|martes|miércoles|jueves|viernes|sábados?|domingos?|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre",
    "numbers": "(?:dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce|quince|veinte|treinta)(?: ve(?:z|ces))?|una ve(?:z|ces)",
    "articles": "el|l[ao]s?",
    "indefinite": "una?",
    "copulas": "(?:es|está)(?: (?:en|de))?|son|se llama|(?:vive|trabaja|estudia)n? (?:en|para)",
    "and_words": "y",
    "but_words": "sino|pero",
    "joins": "y|o|pero|cuando|porque|con",
    "now_words": "ahora|desde hoy",
    "again_words": "ahora|de nuevo|otra vez|desde .+",
    "interjections": "ay|uy",
    "conditions": "si|supongamos|imagina",
    "forwarded": "mensaje (?:reenviado|original)",
    "headers": "de|asunto",
    "greetings": "hola|estimad[oa]s?|querid[oa]s?",
    "closings": "saludos|un saludo|atentamente",
    "wrote": r"el\b[^\n]{5,120}escribió",
    "please": "por favor",
    "rework": "traduc(?:e|ir)|resum(?:e|ir)|corrig(?:e|ir)|reescrib[ea]",
    "preference": r"""\b(?:prefiero|preferiría|detesto|odio)\b|\bme (?:gusta|gustan|encanta|encantan|gustaría más)\b|\bmis? .{0,20}\b(?:favorit|preferid)[oa]s?\b
        |\b(?:de ahora en adelante|a partir de ahora|en el futuro|por defecto)\b""",
    "decision": r"\b(?:hemos|he) (?:decidido|elegido|acordado|optado)\b|\bdecidimos\b|\b(?:usaremos|decisión:)|\bvamos (?:a usar|a utilizar|con)\b",
    "lasting": r"\b(?:alérgic[oa]|nací|hablo|me llamo)",
    "about_user": r"\b(?:usuario|cliente)\w*|\bprefieres\b",
    "orders": r"\b(?:ignora\w*|olvida\w*|recuerda\w*|siempre|nunca|instruccion\w*)\b",
}

RULES = {
    "own": r"""\b(?:yo|nosotr[oa]s|me|mi|mis|nos|nuestr[oa]s?|mí)\b""",
    "people": """hermana hermano madre padre mamá papá mujer marido esposa esposo hijo hija hijos amigo amiga compañero compañera pareja primo prima vecino
        vecina tía tío abuela abuelo sobrino sobrina suegra novia novio padres abuelos""",
    "drops_subjects": True,
    "names_are_cased": True,
    "hypothetical": r"""\b(?:si|supongamos|imagina\w*|quizás?|tal\svez|a\slo\smejor|probablemente|podría\w*|gustaría|querría|haría\w*|sería\w*|tendría\w*|viviría\w*|usaría\w*
        |planea\w*|pienso|pensando\sen|pensamos|quiero|queremos|quisiera|(?:voy|vamos|va)\sa\s\w+[aei]r(?:se|me|nos)?\b|ojalá|espero|próxim[oa]|algún\sdía
        |hubiera\w*|mudaría\w*|cambiaría\w*|pongamos)\b""",
    "reported": r"""\b(?:dice|dicen|diciendo|decir\sque|comenta|dijo|dijeron|cree|creen|según|piensa|piensan|afirma\w*|cuenta\sque|contó|asegura\w*|escribió|insiste|jura
        |sostiene|opina)\b""",
    "temporary": r"""\b(?:(?<!desde\s)hoy|mañana|est[ae]\s(?:semana|mes|tarde|noche|verano|invierno|finde|fin\sde\ssemana)|temporal\w*|provisional\w*|por\sahora
        |de\smomento|por\sel\smomento|hasta|durante|mientras|sólo\spor|solo\spor|unos\sdías|de\svacaciones|de\svisita)\b""",
    "addition": r"""\b(?:también|además|asimismo|otro|otra|ambos|ambas|a\sveces|segund[oa]|tampoco)\b""",
    "correction": r"""^\W*(?:(?:no|perdón|perdone?|perdona|lo\ssiento|error|errata|espera|ay|uy|ups|mal|disculpa)(?:\s*[,.:;!—–-]|\s+(?=perdón|espera|no\b|perdona))
        |(?:corrección|corrijo|rectifico|en\srealidad|mejor\sdicho|fe\sde\serratas)\b)|\b(?:quise\sdecir|quería\sdecir|me\sequivoqué|me\she\sequivocado
        |eso\s(?:está|estaba)\smal|no\ses\s(?:correcto|así|cierto)|era\sun\serror|me\sconfundí|(?:dije|puse|escribí)\s.+\s(?:pero|quise|quería))\b""",
    "now": r"""(?:(?<=\bmi\s)|(?<=\bnuestro\s)|(?<=\bnuestra\s))nuev[oa]\b(?!\s(?:compañer|amig|vecin|proyecto|client))|\b(?:ahora|ya|actualmente|desde|otra\svez|de\snuevo|de\svuelta|hoy\sen\sdía|(?:de|en\seste)\smomento)\b""",
    "changed": r"""(?<![\w\u0900-\u094f])(?:mud\w+|volv\w+|vuelto|cambi\w+|pas[aéóo]\w*|migr\w+|trasla\w+|sub[eií]\w*|baj\w+|aument\w+|redu\w+|mov\w+|aplaz\w+|fui|fuimos|fue|movi\w+)
        |\b(?:empecé|empezado|entré|comencé|retras\w+|adelant\w+|reprogram\w+)\b""",
    "moves": (r"(?:del?|desde) (?:la |los |las )?{old} (?:a|al|hacia|hasta|por) {new}",),
    "swaps": (
        r"{new},? (?:y )?no (?:en |el |la |a |con |de )?{old}",
        "{old} (?:fue|ha sido) (?:reemplazad[oa]|sustituid[oa]) por {new}",
        r"renombr\w+ {old}",
        r"en (?:vez|lugar) del? {old}",
        r"(?:cambi\w+|reemplaz\w+|sustitu\w+) (?:el |la |los |las |mi )?{old} por {new}",
        r"no {old},? sino {new}",
        r"dej\w+ (?:el |la )?{old} por {new}",
    ),
    "shifts": (
        r"(?:sub|actualiz|migr|pas)(?:imos|amos|í|é)(?: de \S+)? (?:a|al) {thing} (?=\d){new}",
        "{thing} (?:se |fue |fueron |ha sido |ha |se ha )?(?:movi|cambi|pas|aplaz|retras|adelant|sub|baj|reprogram|traslad|aument)(?:ó|ado|ada|ido|ida|aron|ieron)(?: de .{1,20})? (?:al|a la|a las|a los|a|para el|para la|para) {new}",
        "(?:mov|cambi|pas|aplaz|retras|adelant|sub|baj|traslad)(?:ieron|aron|imos|amos|ió|ó|é|í|ido|ado) (?:el |la |los |las |mi |nuestr[oa] )?{thing}(?: de .{1,20})? (?:al|a la|a las|a los|a|para el|para la|para) {new}",
    ),
    "ended": r"""\bya\sno\b|\bno\b(?=[^.;!?]*\bmás\b)|\b(?:dej(?:é|amos|ó|aron)\sde|he\sdejado\sde|vendí|vendimos|cancel(?:é|amos)|dej(?:é|amos|ó)|abandon(?:é|amos)|regal(?:é|amos)|d(?:i|imos)\sde\sbaja|cancelad[oa]|suspendid[oa]|anulad[oa]|renunci(?:é|amos))\b
        |\b(?:dimit(?:í|imos)|renunci(?:é|amos)|despidieron|romp(?:í|imos)|cort(?:é|amos)|muri(?:ó|eron)|falleci(?:ó|eron)|tir(?:é|amos)|cerr(?:é|amos|ó|aron)|cerrad[oa]|apag(?:amos|ué|aron)|desinstal(?:é|amos)|elimin(?:é|amos|aron|ad[oa])|borr(?:é|amos)|caducó|descontinuad[oa])\b
        |\b(?:devolv(?:í|imos)|quit(?:é|amos|aron)|retir(?:é|amos|aron|ado|ada)|desactiv(?:é|amos|aron|ado|ada)|acab(?:é|amos)\scon|me\sdeshice\sde|nos\sdeshicimos\sde|me\ssalí\sde|se\sacabó|separamos|divorci\w+)\b|\b(?:present(?:é|amos)\s(?:mi|la)\s(?:renuncia|dimisión))\b""",
    "negation": r"""\b(?:no|ya|nunca|más|dejé|dejado|dejamos)\b""",
    "verbs": """tomo tomamos bebo como uso usamos usa volví volvimos vuelto mudé mudamos mudado mudo cambié cambiamos cambiado pasé pasamos pasado vivo
        vivimos vive trabajo trabajamos trabaja ahora finalmente semana mes pasada ayer hoy desde nuevo vuelta vez lugar está estamos está migramos
        migrado""",
    "single": (
        (
            "lives_in",
            r"(?:(?P<subject>.+?)\sse|me|nos)\s(?:he\s|hemos\s|ha\s)?(?:mud|traslad)(?:é|amos|ó|ado)\sa\s(?P<object>.+)",
        ),
        (
            "works_at",
            r"(?:empecé|he\sempezado|entré|comencé)\sa\strabajar\s(?:en|para)\s(?P<object>.+)",
        ),
        (
            "lives_in",
            r"(?:(?P<subject>.+?)\s)?(?:ahora\s|ya\s)?(?:viv(?:o|e|imos|en)|resid\w+)\s(?:ahora\s|de\snuevo\s|otra\svez\s)*en\s(?P<object>.+)",
        ),
        (
            "works_at",
            r"(?:(?P<subject>.+?)\s)?(?:ahora\s)?trabaj(?:o|a|amos|an)\s(?:ahora\s)?(?:en|para)\s(?P<object>.+)",
        ),
    ),
}
