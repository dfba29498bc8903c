"""Italian: data alone."""

from __future__ import annotations

STOP_WORDS = """
a ad al alla alle ai agli anche che chi ci come con cosa cui da dal dalla dei del della delle di
dove e è ed era gli ha hanno ho i il in io la le lei li lo loro lui l ma mi mio mia nel nella no
noi non nostro nostra o per perché più qual quale quali quando quanto sei si sono su sua sul suo
ti tra tu un una uno vi voi d c miei mie nostri nostre questo questa quello quella nell dell all
sull dall siamo abbiamo avevo avevamo hai stato stata fa qui lì allora ancora molto poi così ogni dopo
prima dello degli delle nei negli nelle sui sulla allo
"""

PHRASES = {
    "first": "io noi mio mia nostro nostra",
    "third": "lui lei esso essa loro egli ciò",
    "when": r"""ieri|l'altro ieri|recentemente|da poco|finalmente|purtroppo|definitivamente|del tutto
        |(?:(?:il|la|lo|a|ad|da|dal|dalla|in|nel|quest[oa]|scors[oa]|inizio|fine) )*(?:settimana|mese|anno|weekend|primavera|estate|autunno|inverno|(?:19|20)\d\d)(?: (?:scors[oa]|passat[oa]|(?:19|20)\d\d))?|(?<!\bil )(?<!\bdi )(?:{days})(?: scors[oa])?
        |(?:un|una|due|tre|qualche|pochi|poche|\d+) (?:giorn[oi]|settiman[ae]|mes[ei]|ann[oi]) fa|(?:perché|a causa|per via) .+|a (?:una?|mio|mia) .+""",
    "days": "lunedì|martedì|mercoledì|giovedì|venerdì|sabato|domenica|gennaio|febbraio|marzo|aprile|maggio|giugno|luglio|agosto|settembre|ottobre|novembre|dicembre",
    "numbers": "(?:due|tre|quattro|cinque|sei|sette|otto|nove|dieci|undici|dodici|quindici|venti|trenta)(?: volt[ae])?|una volt[ae]",
    "articles": "il|l[aoe]|gli|i|l'",
    "indefinite": "un[oa]?",
    "copulas": "è(?: (?:a|in|di))?|sono|si chiama|(?:viv|lavor|studi|abit)(?:a|e|ano|ono) (?:a|in|da|per|presso)",
    "and_words": "e|ed",
    "but_words": "ma|bensì|però",
    "joins": "e|o|ma|quando|perché|con",
    "now_words": "ora|adesso",
    "again_words": "ora|adesso|di nuovo|ormai|attualmente|da quando .+",
    "interjections": "no|ah|eh|ops|oddio",
    "conditions": "se|supponiamo|immagina|mettiamo",
    "forwarded": "messaggio (?:inoltrato|originale)",
    "headers": "da|oggetto",
    "greetings": "ciao|buongiorno|gentil[ei]|car[oaie]",
    "closings": "(?:cordiali |distinti )?saluti|cordialmente",
    "wrote": r"il\b[^\n]{5,120}ha scritto",
    "please": "per favore",
    "rework": "traduc[ai]|riassum[ei]|correggi|riformula|riscrivi",
    "preference": r"""\b(?:preferisco|preferirei|odio|adoro|detesto|(?:mi|ci) pia(?:ce|cciono))\b|\bmi[oae]i? .{0,20}\bpreferit[oaie]\b
        |\b(?:d['’]ora in poi|da ora in avanti|in futuro|per impostazione predefinita)\b""",
    "decision": r"\b(?:abbiamo|ho) (?:deciso|scelto|optato)\b|\b(?:usiamo|useremo|decisione:)",
    "lasting": r"\b(?:allergic[oa]|sono nat[oa]|parlo|mi chiamo)\b",
    "about_user": r"\b(?:utent[ei]|client[ei])\b|\btu (?:preferisci|vuoi|ami)",
    "orders": r"\b(?:ignora\w*|dimentica\w*|ricorda\w*|sempre|mai|istruzion[ei])\b",
    "forgotten": r"\bnon ricordo\b",
}

RULES = {
    "own": r"""\b(?:io|noi|me|mi|ci|mi[oae]|miei|nostr[oaie])\b""",
    "people": """sorella fratello madre padre mamma papà moglie marito figlio figlia figli amico amica collega capo compagno compagna cugino cugina
        vicino vicina zia zio nonna nonno nipote suocera suocero fidanzato fidanzata coinquilino coinquilina genitori nonni""",
    "drops_subjects": True,
    "names_are_cased": True,
    "hypothetical": r"""\b(?:se|supponiamo|immagin\w+|forse|magari|probabilmente|potre(?:i|mmo|bbe)|vorre(?:i|mmo)|sare(?:i|mmo|bbe)|avre(?:i|mmo|bbe)|fare(?:i|mmo)
        |vivre\w+|usere(?:i|mmo)|(?:penso|pensiamo|pensando)\s(?:di|a)|progett\w+|pianific\w+|voglio|vogliamo|spero|speriamo|prossim[oa]\s(?:settimana|mese|anno)|(?:settimana|mese|anno)\sprossim[oa]|un\sgiorno|sto\sper
        |intend(?:o|iamo)|sogn\w+|mettiamo)\b""",
    "reported": r"""\b(?:dice|dicono|diceva|(?:ha|hanno)\sdetto|crede|credono|pensa|pensano|secondo|sostiene|sostengono|afferma\w*|racconta|(?:ha|hanno)\sscritto|insiste
        |giura|è\sconvint[oa])\b""",
    "temporary": r"""(?<!da\s)\b(?:oggi|domani|stasera|stanotte|stamattina|quest[oa']\s?(?:settimana|mese|sera|estate|inverno|weekend|fine\ssettimana|anno)
        |temporane\w+|provvisori\w+|per\sora|per\sil\smomento|fino\sa\w*|durante|mentre|solo\sper|qualche\sgiorno|in\s(?:vacanza|ferie|visita|trasferta))\b""",
    "addition": r"""\b(?:anche|inoltre|pure|altr[oaie]|entramb[ie]|a\svolte|qualche\svolta|neanche|nemmeno|oltre\sa\w*)\b""",
    "correction": r"""^\W*(?:(?:no|scusa(?:mi|te)?|aspetta|ops|oops|sbagliato|errore|pardon|mi\sdispiace|ah|ferm[oai])(?:\s*[,.:;!—–-]|\s+(?=scusa|aspetta|non\b|no\b))
        |(?:correzione|rettifica|correggo|in\srealtà|anzi|errata\scorrige|per\sl'esattezza)\b)|\b(?:volevo\sdire|intendevo|mi\s(?:sono|ero)\s(?:sbagliat[oa]|confus[oa])
        |ho\ssbagliato|(?:era|è)\s(?:sbagliat[oa]|un\serrore)|non\sè\s(?:corretto|giusto|vero|così)|ho\sconfuso|ricord(?:at[oa]|avo)\smale|(?:ho|avevo)\s(?:detto|scritto)\s.+\s(?:ma|invece|però)
        |errore\smio|refuso|colpa\smia)\b""",
    "now": r"""(?<=\b(?:mio|mia)\s)nuov[oa]\b(?!\s(?:colleg|amic|vicin|coinquilin|progetto|client))|\b(?:ora|adesso|ormai|attualmente|di\snuovo|nuovamente|d'ora\sin\spoi|diventat[oa])\b""",
    "changed": r"""\b(?:trasferi\w+|trasloc\w+|cambi\w+|pass(?:at\w+|o|iamo|ò)|migra\w+|spost\w+|aument\w+|sal(?:it\w+|ì)|sces\w+|ridott\w+|abbass\w+|rimanda\w+|rinvia\w+
        |anticipa\w+|torn\w+|rientr\w+|sostitui\w+|alza\w+)
        |\b(?:iniziato|cominciato|posticipat\w+|portat\w+)\b""",
    "moves": (
        r"(?:dall'|(?:da|dal|dalla|dallo|dai|dalle) ){old} (?:all'|(?:a|ad|al|alla|allo|ai|alle|in|su|verso) ){new}",
    ),
    "swaps": (
        r"{new},? (?:e )?non (?:in |il |la |a |con |di |da )?{old}",
        "{old} è stat[oa] (?:sostituit[oa]|rimpiazzat[oa]) (?:da |dal |dalla |con ){new}",
        r"rinomin\w+ {old}",
        r"(?:invece|al posto) (?:dell'|d'|d(?:i|el|ella|ello|ei|elle) ){old}",
        r"(?:anziché|invece che) (?:in |a |al |alla |di )?{old}",
        r"lasciat\w+ (?:il |la |lo |l')?{old} per {new}",
        r"(?:sostitui\w+|cambi\w+|scambi\w+) (?:il |la |lo |l'|mio |mia )?{old} con {new}",
        r"(?:non|più) {old},? (?:ma|bensì) {new}",
        r"(?:è|sono|era|in|il|la|alle) {new}, non (?:in |il |la |alle |a )?{old}",
    ),
    "shifts": (
        r"(?:siamo passat[ie]|sono passat[oa]|(?:abbiamo|ho) aggiornato)(?: da \S+)? (?:a|alla) {thing} (?=\d){new}",
        r"{thing} (?:è|sono|è stat[oa]|sono stat[ie]) (?:spostat|rinviat|rimandat|anticipat|cambiat|passat|aumentat|salit|sces|ridott|posticipat|trasferit)[oaie](?: d\S+ \S+)? (?:al |alla |alle |ai |all'|a |in |per il ){new}",
        r"(?:abbiamo|ho|hanno|ha) (?:spostato|rinviato|rimandato|anticipato|cambiato|portato|aumentato|alzato|ridotto|abbassato|trasferito) (?:il |la |lo |l'|le |i )?{thing}(?: d\S+ \S+)? (?:al |alla |alle |ai |all'|a |in |per il ){new}",
    ),
    "ended": r"""\bnon\b(?=[^.;!?]*\bpiù\b)|\b(?:smesso\sdi|lasciat\w+|vendut\w+|disdett\w+|annullat\w+|cancellat\w+|abbandonat\w+|regalat\w+|mollat\w+|dat[oa]\svia|licenziat\w+|saltat\w+|sospes\w+|spent\w+|chius\w+)\b
        |\b(?:mort[oaie]|dimess[oa]\sda\S*|rotto|eliminat\w+|rimoss\w+|dismess\w+|disinstallat\w+|scadut[oa]|buttat\w+|disiscritt[oa]\sda\S*|rinunciat\w+\sa\S*|fatto\s(?:sospendere|smettere))\b
        |\b(?:restituit\w+|ritirat\w+|disattivat\w+|tolt[oaie]|finit[oa]\scon|liberat[oa]\sd\S+|uscit[oa]\sda\S*|lasciati|separat[oi]|divorziat\w+|conclus\w+)\b|\b(?:(?:dato|presentato)\sle\s(?:mie\s)?dimissioni)\b""",
    "negation": r"""\b(?:non|più|mai|smesso)\b""",
    "verbs": """uso usiamo usa usato vivo viviamo vive abito abitiamo abita lavoro lavoriamo lavora trasferito trasferita trasferiti trasferisco passata cambiato cambiata
        cambiamo passato passati passo torno tornato tornata sono siamo è era ho abbiamo ora adesso ormai settimana mese scorso scorsa ieri oggi finalmente
        nuovo nuova invece posto più faccio facciamo vado andiamo spostato spostata""",
    "single": (
        (
            "lives_in",
            r"(?:(?P<subject>.+?)\ssi|mi|ci)\s(?:sono|siamo|è)\strasferit[oaie]\s(?:a|ad|in)\s(?P<object>.+)",
        ),
        (
            "works_at",
            r"ho\s(?:iniziato|cominciato)\sa\slavorare\s(?:per|presso|da|in|a|alla)\s(?P<object>.+)",
        ),
        (
            "lives_in",
            r"(?:(?P<subject>.+?)\s)?(?:ora\s|adesso\s)?(?:viv(?:o|e|iamo|ono)|abit(?:o|a|iamo|ano))\s(?:ora\s|adesso\s|di\snuovo\s)*(?:a|ad|in)\s(?P<object>.+)",
        ),
        (
            "works_at",
            r"(?:(?P<subject>.+?)\s)?(?:ora\s|adesso\s)?lavor(?:o|a|iamo|ano)\s(?:ora\s|adesso\s)?(?:per|presso|da|in|a|alla|al)\s(?P<object>.+)",
        ),
    ),
}
