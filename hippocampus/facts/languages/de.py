"""German: data alone."""

from __future__ import annotations

STOP_WORDS = """
aber alle als also am an auch auf aus bei bin bis bist da damit dann das dass dein dem den der
des die dies diese dieser doch dort du ein eine einem einen einer eines er es euer für hat
hatte habe haben hier ich ihm ihn ihr im in ist ja jede jeder kann kein keine können man mein
mit nach nicht noch nun nur ob oder ohne sehr sein seine sich sie sind so über um und uns
unser unter vom von vor wann war waren warum was wer wem wen welche welcher wenn werden wie
wieder wir wird wo wohin woher zu zum zur
"""

PHRASES = {
    "first": "ich wir",
    "third": "er sie es das dies",
    "when": r"""(?:erst |gerade )?(?:vor kurzem|kürzlich|neulich|gestern|vorgestern|endlich|leider|endgültig|komplett)
        |(?:(?:anfang|ende|mitte|im|am|seit|ab|letzte[nrs]?|vorige[nrs]?|diese[nrs]?|vergangene[nrs]?|dem|des|zum) )+(?:woche|monats?|jahre?s?|jahresende|monatsende|wochenende|frühling|frühjahr|sommer|herbst|winter|{days}|(?:19|20)\d\d)(?: (?:19|20)\d\d)?
        |vor (?:einem|einer|ein paar|zwei|drei|vier|einigen|\d+) (?:tag|woche|monat|jahr)e?n?|(?:wegen|weil|aus) .+|an (?:einen?|meinen?|unseren?) .+""",
    "days": "(?:mon|diens|donners|frei|sams|sonn)tags?|mittwochs?|januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember",
    "numbers": "zwei(?:mal)?|drei(?:mal)?|vier(?:mal|t)?|fünf(?:mal|t)?|sechs(?:mal|t)?|sieben(?:mal|t)?|acht(?:mal|t)?|neun(?:mal|t)?|zehn(?:mal|t)?|elf|zwölf|einmal|zweit|dritt|siebt|halbe?",
    "articles": "der|die|das|dem|den",
    "indefinite": "eine?[nrm]?",
    "copulas": "(?:ist|sind)(?: (?:in|bei))?|heißt",
    "and_words": "und",
    "but_words": "sondern|aber",
    "joins": "und|oder|aber|wenn|weil|mit",
    "now_words": "jetzt",
    "again_words": "jetzt|wieder|inzwischen|mittlerweile|seit .+",
    "interjections": "nein|ne+|nö|ach|äh",
    "conditions": "wenn|falls|angenommen|stell dir vor",
    "forwarded": "weitergeleitete nachricht|ursprüngliche nachricht",
    "headers": "von|betreff",
    "greetings": r"hallo|liebe[rs]?|sehr geehrte\w*|guten tag",
    "closings": r"(?:viele|beste|liebe|herzliche) grüße|mit freundlichen[^\n]*",
    "wrote": r"am\b[^\n]{5,120}schrieb[^\n:]*",
    "please": "bitte",
    "rework": r"übersetz\w*|fasse?|formulier(?:e|en)?|kürzen?",
    "preference": r"""\bich (?:mag|bevorzuge|hasse|liebe|möchte lieber|hätte (?:es )?lieber)\b
        |\bmir (?:gefällt|gefallen|(?:wäre|ist) .{0,40}\blieber)\b|\bmeine?n? (?:liebling|bevorzugt)\w*
        |\b(?:ab (?:jetzt|sofort)|von nun an|in zukunft|künftig|standardmäßig)\b""",
    "decision": r"""\b(?:wir|ich) (?:haben?|hab) .{0,80}(?:entschieden|beschlossen|gewählt)\b|\bEntscheidung:
        |\bwir (?:nehmen|verwenden|nutzen|bleiben bei|setzen auf)\b|\b(?:nehmen|verwenden) wir\b""",
    "lasting": r"\b(?:allergisch|geboren|ich spreche|ich heiße)",
    "about_user": r"\b(?:der |die )?(?:nutzer|benutzer|anwender|kunde)\w*|\bdu (?:magst|bevorzugst|willst)|\bsie (?:bevorzugen|mögen|wünschen)",
    "orders": r"\b(?:ignorier\w*|vergiss|merke?|immer|nie(?:mals)?|anweisung\w*)\b",
    "forgotten": r"\bich merke\b|\bich kann mir (?:das |es )?nicht merken\b",
}

RULES = {
    "own": r"""\b(?:ich|wir|mir|mich|uns|mein\w*|unser\w*)\b""",
    "people": """schwester bruder mutter vater mama papa frau mann sohn tochter kinder kind freund freundin chefin kollege kollegin partner partnerin cousin
        cousine nachbar nachbarin tante onkel oma opa mitbewohner nichte neffe schwager schwägerin eltern großeltern""",
    "drops_subjects": False,
    "names_are_cased": False,
    "hypothetical": r"""\b(?:wenn|falls|würde\w*|wäre\w*|hätte\w*|könnte\w*|möchte\w*|vielleicht|eventuell|wahrscheinlich|angenommen|stell\sdir|geplant|plane?n?|überlege\w*
        |werde|werden|vorhabe\w*|will|wollen|hoffe\w*|nächste\w*|irgendwann|vermutlich|mal\sangenommen|gesetzt)\b""",
    "reported": r"""(?<!ich\s)\b(?:sagt|sagte|sagen|meint|meinte|glaubt|glaubte|behauptet\w*|erzählt\w*|findet|schreibt|schrieb|laut|angeblich|zufolge|denkt|dachte
        |hält\smich)\b""",
    "temporary": r"""\b(?:(?<!seit\s)(?<!ab\s)heute|morgen|diese\w?\s(?:woche|monat|wochenende|tage|sommer|winter)|vorübergehend|zeitweise|gerade\snur|nur\sfür
        |für\s(?:ein\spaar|diese|zwei|drei|eine)\s\w+|bis\s(?:\w+\s)?(?:zum|ende|nächste\w*|freitag|montag|sonntag|\d)|im\surlaub|während|solange
        |zu\sbesuch)\b""",
    "addition": r"""\b(?:auch|außerdem|zusätzlich|ebenfalls|noch\sein\w*|sowohl|daneben|manchmal|nebenbei|zweite\w*|dazu)\b""",
    "correction": r"""^\W*(?:(?:nein|ne+|nee|nö|falsch|quatsch|sorry|moment|ups|oh|ach|halt|äh|stopp)(?:\s*[,.:;!—–-]|\s+(?=nicht\b|falsch|moment|sorry|doch))
        |(?:korrektur|berichtigung|korrigiere|stimmt\snicht|verbesserung|richtigstellung|eigentlich)\b)|\b(?:ich\smeinte|ich\s(?:sagte|schrieb)\b.+\b(?:aber|doch)
        |ich\shabe?\smich\s(?:vertan|verschrieben|geirrt|vertippt)|(?:das|es)\s(?:war|ist|stimmt)\s(?:falsch|nicht(?:\srichtig)?)|mein\sfehler
        |hab\smich\s(?:vertan|verschrieben|geirrt|vertippt)|verwechselt|verschrieben|vertippt|versprochen|tippfehler|mein(?:t)?e\saber|(?:geschrieben|gesagt|angegeben),?\s(?:ich\s)?(?:aber|doch|mein\w*))\b""",
    "now": r"""(?:(?<=\bmein\s)|(?<=\bmeine\s)|(?<=\bunser\s)|(?<=\bunsere\s))neue[rs]?\b(?!\s(?:kolleg|freund|nachbar|mitbewohner|projekt|kund|hobby))|\b(?:jetzt|nun|inzwischen|mittlerweile|neuerdings|seit\w*|aktuell|derzeit|wieder|ab\ssofort|nunmehr)\b""",
    "changed": r"""(?<![\w\u0900-\u094f])(?:(?:um)?(?:ge)?zogen|zieh\w*|zog\w*|zurück\w*|(?:ge)?wechsel\w*|\w*(?:ge)?stieg\w*|\w*steig\w*|\w*gestellt|stell\w*|migrier\w*|verschob\w*|verschieb\w*
        |verleg\w*|(?:ge)?änder\w*|erhöht|gesenkt|gefallen|getauscht)
        |\b(?:angefangen|eingestiegen)\b""",
    "moves": (r"(?:von|vom|aus) {old} (?:nach|auf|zu|zum|zur|in die|ins) {new}",),
    "swaps": (
        r"{new}, (?:und )?nicht (?:in |im |am |um |auf |bei |mit |von |an )?(?:der |die |das |dem |den )?{old}",
        r"nicht (?:in |im |am |um |auf |bei |mit |von )?(?:der |die |das |dem |den )?{old}[;:,] (?:es ist|sondern|das ist|er ist|sie ist) {new}",
        r"{old} (?:wurde|ist|wird) (?:\w+ )?durch {new} (?:ersetzt|abgelöst)",
        "{old} in {new} umbenannt",
        r"(?:anstelle von|anstatt|statt) {old}",
        r"{old} (?:wurde |haben wir |habe ich )?(?:durch|gegen) {new} (?:ersetzt|getauscht|eingetauscht)",
        r"(?:ersetz\w+|tausch\w+) {old} (?:durch|gegen) {new}",
        r"nicht {old},? sondern {new}",
    ),
    "shifts": (
        r"{thing} (?:wurde|ist|sind|hat sich|haben wir) (?:\w+ )?(?:auf|nach|in|um|zu) (?:den |die |das )?{new} (?:verschoben|verlegt|geändert|erhöht|gesenkt|angehoben|vorgezogen|umgestellt|gestiegen|gefallen|reduziert|verlängert|umgezogen)",
        "(?:haben|hat|habe) (?:den |die |das |meinen? |unseren? )?{thing} (?:auf|nach|um) (?:den |die |das )?{new} (?:verschoben|verlegt|geändert|erhöht|gesenkt|angehoben|vorgezogen|umgestellt|reduziert|verlängert|umgebucht)",
        r"(?:wir|ich|sind|haben|bin|habe) (?:\w+ ){0,3}?(?:auf|zu) {thing} (?=\d){new} (?:aktualisiert|umgestiegen|gewechselt|migriert|geupdatet|upgegradet|umgestellt)",
    ),
    "ended": r"""\b(?:nicht|kein\w*|nie)\b(?=[^.;!?]*\bmehr\b)|\b(?:aufgehört|aufgegeben|gekündigt|abgeschafft|verkauft|abgesetzt|abgegeben|verlassen|weggegeben|verschenkt|ausgetreten|getauscht)\b
        |\b(?:beendet|eingestellt|abgeschaltet|stillgelegt|gelöscht|deinstalliert|abbestellt|abgesagt|aufgelöst|gestorben|verstorben|eingeschläfert|ausgezogen|entlassen|abgelaufen|weggeworfen|entsorgt|storniert|abgebrochen|geschlossen)\b
        |\b(?:abgemeldet|ausgelaufen|ausgemustert|entfernt|rausgeworfen|weggefallen|eingestampft|abgebaut|zurückgegeben|abgeschlossen|vorbei|getrennt|abgeschaltet|ausgeschaltet|aufgelassen|ausgestiegen|rausgenommen|abgewöhnt)\b|\b(?:kündigung\seingereicht)\b""",
    "negation": r"""\b(?:nicht|kein\w*|mehr|nie)\b""",
    "verbs": """hab haben hat hatte wurde wurden schon noch nutze nutzen benutze benutzen verwende verwenden gezogen umgezogen gewechselt umgestiegen
        umgestellt wohne wohnen wohnt arbeite arbeiten arbeitet lebe leben jetzt endlich letzte letzten woche monat wochenende gestern heute seit
        wieder statt neu neuen läuft laufen sind bin haben habe inzwischen mittlerweile zurück""",
    "single": (
        (
            "lives_in",
            r"(?:bin|ist|sind)\s(?P<subject>\S+(?:\s\S+)?)\s(?:nach|in)\s(?P<object>.+?)\s(?:um|zurück)?gezogen",
        ),
        (
            "lives_in",
            r"(?P<subject>.+?)\s(?:bin|ist|sind)\s(?:\S+\s){0,3}?(?:nach|in)\s(?P<object>.+?)\s(?:um|zurück)?gezogen",
        ),
        (
            "works_at",
            r"(?P<subject>ich)\s(?:habe?|bin)\s(?:\S+\s){0,3}?bei\s(?P<object>\S+(?:\s(?-i:[A-ZÄÖÜ])\S+)?)\s(?:angefangen|eingestiegen|eingestellt)",
        ),
        (
            "lives_in",
            r"(?P<subject>.+?)\s(?:wohn|leb)(?:e|t|en|st)?\s(?:jetzt\s|nun\s|inzwischen\s|mittlerweile\s|wieder\s|seit\s\w+\s)*in\s(?P<object>.+)",
        ),
        (
            "works_at",
            r"(?P<subject>.+?)\s(?:arbeite[tn]?)\s(?:jetzt\s|nun\s|inzwischen\s|wieder\s)*(?:bei|für)\s(?P<object>.+)",
        ),
    ),
}
