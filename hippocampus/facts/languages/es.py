"""Spanish: data alone."""

from __future__ import annotations

STOP_WORDS = """
a al algo como con cuál cuáles cuando cuándo cómo de del desde donde dónde el ella ellas ellos
en entre era es esa ese eso esta este esto están está fue ha han hasta hay la las le les lo
los más me mi mis muy no nos o para pero por porque que qué quien quién se sin sobre son su
sus también te tiene tu un una uno unos y ya yo
"""

_VALUE = r"[^,.;:!?]+?"
RULES = {
    "own": r"""\b(?:yo|nosotr[oa]s|me|mi|mis|nos|nuestr[oa]s?|mí)\b""",
    "people": "hermana hermano madre padre mamá papá mujer marido esposa esposo hijo hija hijos amigo amiga compañero compañera pareja primo prima vecino vecina tía tío abuela abuelo sobrino sobrina suegra novia novio",
    "modifiers_follow": True,
    "drops_subjects": True,
    "first_person": r"\b(?:yo|nosotr[oa]s)\b",
    "possessive": r"(?:mis?|nuestr[oa]s?|el|la|los|las|un|una)",
    "hypothetical": r"""\b(?:si|supongamos|imagina\w*|quizás?|tal\svez|a\slo\smejor|probablemente|podría\w*|gustaría|querría|haría\w*|sería\w*|tendría\w*
        |viviría\w*|usaría\w*|planea\w*|pienso|pensando\sen|pensamos|quiero|queremos|quisiera|(?:voy|vamos|va)\sa\s\w+[aei]r(?:se|me|nos)?\b|ojalá|espero|próxim[oa]
        |algún\sdía|hubiera\w*|mudaría\w*|cambiaría\w*|pongamos)\b""",
    "reported": r"""\b(?:dice|dicen|diciendo|decir\sque|comenta|dijo|dijeron|cree|creen|según|piensa|piensan|afirma\w*|cuenta\sque|contó|asegura\w*|escribió|insiste|jura|sostiene|opina)\b""",
    "temporary": r"""\b(?:(?<!desde\s)hoy|mañana|est[ae]\s(?:semana|mes|tarde|noche|verano|invierno|finde|fin\sde\ssemana)|temporal\w*|provisional\w*
        |por\sahora|de\smomento|por\sel\smomento|hasta|durante|mientras|sólo\spor|solo\spor|unos\sdías|de\svacaciones|de\svisita)\b""",
    "addition": r"\b(?:también|además|asimismo|otro|otra|ambos|ambas|a\sveces|segund[oa]|tampoco)\b",
    "correction": r"""^\W*(?:(?:no|perdón|perdone?|perdona|lo\ssiento|error|errata|espera|ay|uy|ups|mal|disculpa)(?:\s*[,.:;!—–-]|\s+(?=perdón|espera|no\b|perdona))
        |(?:corrección|corrijo|rectifico|en\srealidad|mejor\sdicho|fe\sde\serratas)\b)
        |\b(?:quise\sdecir|quería\sdecir|me\sequivoqué|me\she\sequivocado|eso\s(?:está|estaba)\smal|no\ses\s(?:correcto|así|cierto)|era\sun\serror|me\sconfundí)\b""",
    "now": r"\b(?:ahora|ya|actualmente|desde|otra\svez|de\snuevo|de\svuelta|hoy\sen\sdía)\b",
    "swaps": (
        r"\b(?:mud\w+|volv\w+|vuelto|cambi\w+|pas\w+|migr\w+|trasla\w+|subi\w+|baj\w+|sub[ei]\w*|aument\w+|redu\w+|mov\w+|aplaz\w+|fu(?:i|imos|e))\b[^.;!?]*?\b(?:de|del|desde)\s(?P<old>"
        + _VALUE
        + r")\s(?:a|al|hacia|hasta|por)\s(?P<new>[^,.;:!?]+)",
        r"\b(?P<new>[\w.+#-]+(?:\s[\w.+#-]+){0,2})\s(?:en\s(?:vez|lugar)\sde|en\svez\sdel)\s(?P<old>[^,.;:!?]+)",
        r"\b(?:vend(?:í|imos|ió)|dej(?:é|amos|ó)|cancel(?:é|amos)|abandon(?:é|amos)|regal(?:é|amos)|me\sfui\sde|nos\sfuimos\sde|di\sde\sbaja)\s(?:el|la|los|las|mi|nuestr[oa])?\s?(?P<old>[\w.+#-]+(?:\s[\w.+#-]+){0,2}?)(?:\s(?:y|por|para|en|a)\b|[,.;!]|$)",
        r"\ben\s(?:vez|lugar)\sdel?\s(?P<old>[\w.+#-]+)\s(?:ahora\s)?(?:usamos|uso|tomo|tomamos|bebo)\s(?P<new>[^,.;:!?]+)",
        r"\b(?:cambi\w+|reemplaz\w+|sustitu\w+)\s(?:el\s|la\s)?(?P<old>"
        + _VALUE
        + r")\spor\s(?:el\s|la\s)?(?P<new>[^,.;:!?]+)",
    ),
    "contrast": r"\bsino\b",
    "corrections": (
        r"\bno\s(?:es\s|era\s)?(?:el\s|la\s|en\s|a\s|las\s|los\s|de\s|con\s|un\s|una\s)*(?P<old>[^,.;:!?]{1,40}?)\s*(?:[:;,—–]\s*(?:sino\s|es\s)?|\ssino\s)(?P<new>[^,.;!?]+)",
        r"\b(?:el\s|la\s|los\s|las\s|a\s|en\s)?(?P<old>[\w-]+(?:\s[\w-]+)?)\sno\s*[:,;]\s*(?:es\s|sino\s)?(?P<new>[^,.;!?]+)",
        r"(?P<new>[^,.;:!?]+?)(?:\s*[,;—–(]\s*|\s+(?=no\b))(?:y\s)?no\s(?:el\s|la\s|en\s|a\s|las\s|los\s|de\s)*(?P<old>\w[^,.;:!?]{0,40}?)(?=[.!)]|$)",
        r"\b(?:dije|puse|escribí|te\sdije)\s(?:que\s)?(?:era\s|es\s)?(?:el\s|la\s)?(?P<old>[^,.;!?]+?),?\s(?:pero)\s(?P<new>[^.;!?]+)",
    ),
    "ended": r"\bya\sno\b|\bno\b(?=[^.;!?]*\bmás\b)|\b(?:dej(?:é|amos|ó|aron)\sde|he\sdejado\sde|vendí|vendimos|cancel(?:é|amos))\b",
    "negation": r"\b(?:no|ya|nunca|más|dejé|dejado|dejamos)\b",
    "verbs": """tomo tomamos bebo como uso usamos usa volví volvimos vuelto mudé mudamos mudado mudo cambié cambiamos cambiado pasé pasamos pasado vivo vivimos vive trabajo trabajamos
        trabaja ahora finalmente semana mes pasada ayer hoy desde nuevo vuelta vez lugar está estamos está migramos migrado""",
    "copula": r"(?:^|\s)(?:es|son|se\sllama|pasa\sa\sser|ha\spasado\sa\s(?:ser)?)\s",
    "single": (
        (
            "lives_in",
            r"(?:(?P<subject>.+?)\s)?(?:ahora\s|ya\s)?(?:viv(?:o|e|imos|en)|resid\w+)\s(?:ahora\s|de\snuevo\s|otra\svez\s)*en\s(?P<object>.+)",
        ),
        (
            "lives_in",
            r"(?:(?P<subject>.+?)\s)?(?:me|nos|se)\s(?:he\s|hemos\s|ha\s)?mud(?:é|amos|ó|ado)\sa\s(?P<object>.+)",
        ),
        (
            "works_at",
            r"(?:(?P<subject>.+?)\s)?(?:ahora\s)?trabaj(?:o|a|amos|an)\s(?:ahora\s)?(?:en|para)\s(?P<object>.+)",
        ),
    ),
}
