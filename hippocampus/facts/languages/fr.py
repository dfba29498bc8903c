"""French: data alone."""

from __future__ import annotations

STOP_WORDS = """
à au aux avec ce ces cet cette dans de des du elle elles en est et eu eux il ils je la le les
leur lui ma mais me même mes moi mon ne nos notre nous on ou où par pas pour qu que quel
quelle quels quelles qui quoi quand comment pourquoi sa sans se ses son sont sur ta te tes toi
ton tu un une vos votre vous c d j l m n s t y été être a ont avait fait
"""

PHRASES = {
    "first": "je j j' nous on",
    "third": "il elle ils ça ce c",
    "when": r"""hier|avant-hier|récemment|enfin|finalement|définitivement|complètement
        |(?:(?:le|la|en|au|depuis|début|fin) )*(?:semaine|mois|année|an|week-end|printemps|automne|(?:19|20)\d\d)(?: (?:dernière?|passée?|(?:19|20)\d\d))?|(?<!\ble )(?:{days})(?: dernier)?
        |l'(?:an|année|été|hiver|automne)(?: dernière?)?|il y a .{1,20}|(?:à cause|parce|car) .+|à (?:mon|ma|un|une|des) .+""",
    "days": "lundis?|mardis?|mercredis?|jeudis?|vendredis?|samedis?|dimanches?|janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre",
    "numbers": "(?:deux|trois|quatre|cinq|six|sept|huit|neuf|dix|onze|douze|quinze|vingt|trente)(?: fois)?|une fois",
    "articles": "les?|la|l'",
    "indefinite": "une?",
    "copulas": "(?:est|sont)(?: (?:à|de|chez))?|s'appelle|(?:habite|vit|travaille|étudie) (?:à|en|chez|pour)",
    "and_words": "et",
    "but_words": "mais",
    "joins": "et|ou|mais|quand|avec",
    "now_words": "maintenant",
    "again_words": "maintenant|désormais|de nouveau|à nouveau|depuis .+",
    "interjections": "non|nan|euh",
    "conditions": "si|supposons|imaginons",
    "forwarded": "message (?:transféré|d'origine)",
    "headers": "de|objet",
    "greetings": "bonjour|ch(?:er|ère)s?",
    "closings": "cordialement|bien à vous",
    "wrote": r"le\b[^\n]{5,120}a écrit",
    "rework": "tradui(?:s|re|sez)|résume[rz]?|reformule[rz]?|corrig(?:e|ez|er)",
    "preference": r"""\bje (?:préfère|préférerais|déteste|n['’]aime pas|adore)\b|\bj['’](?:aime|adore|aimerais mieux)\b|\bm(?:on|a|es) .{0,20}\bpréférée?s?\b
        |\b(?:désormais|dorénavant|à partir de maintenant|à l['’]avenir|par défaut)\b""",
    "decision": r"""\b(?:nous avons|on a|j['’]ai) (?:décidé|choisi|convenu|opté)\b|\bdécision ?:
        |\b(?:utilisons|prenons|gardons)\b|\bon (?:part sur|va utiliser|va prendre)\b""",
    "lasting": r"\b(?:allergique|né[e]? (?:à|le|en)|je parle|je m['’]appelle)",
    "about_user": r"\butilisateur\w*|\btu (?:préfères|aimes|veux)|\bvous (?:préférez|aimez|voulez)",
    "orders": r"\b(?:ignore[rz]?|oublie\w*|souviens|rappelle\w*|toujours|jamais|consignes?)\b",
}

RULES = {
    "own": r"""\b(?:je|nous|on|me|moi|mon|ma|mes|notre|nos)\b|\b[jm]'""",
    "people": """soeur sœur frère mère père maman papa femme mari épouse fils fille enfants enfant ami amie collègue compagnon compagne cousin cousine voisin
        voisine tante oncle grand-mère grand-père neveu nièce parents""",
    "drops_subjects": False,
    "names_are_cased": True,
    "hypothetical": r"""\b(?:si|suppos\w+|imagin\w+|peut-être|sans\sdoute|probablement|pourrai\w*|aimerai\w*|voudrai\w*|serai[st]|aurai[st]|ferai[st]|habiterai[st]
        |envisage\w*|pense\sà|pensons\sà|prévoi\w+|prévu\sde|compte\w*\s|veux|voulons|vais|allons|va\s\w+er|espère\w*|prochaine?|un\sjour|au\scas\soù
        |utiliserai[st]|passerai[st])\b""",
    "reported": r"""(?<!j'ai\s)(?<!je\s)\b(?:dit|disent|disait|pense|pensent|croit|croient|prétend\w*|affirme\w*|selon|d'après|raconte\w*|écrit|soutient|insiste|jure
        |répète)\b(?!\sà)""",
    "temporary": r"""(?<!depuis\s)\b(?:aujourd'hui|demain|ce\s(?:soir|matin|mois|week-end|weekend)|cette\s(?:semaine|année|nuit)|cet\s(?:été|hiver|après-midi)|temporair\w*
        |provisoir\w*|pour\s(?:l'instant|le\smoment|quelques|la\ssemaine)|jusqu\w*|pendant|le\stemps\s(?:de|que)|en\svacances|en\svisite)\b""",
    "addition": r"""\b(?:aussi|également|en\splus|en\soutre|un\sautre|une\sautre|les\sdeux|parfois|deuxième|non\splus|quelquefois)\b""",
    "correction": r"""^\W*(?:(?:non|nan|nope|pardon|désolée?|attends?|oups|euh|faux|zut|mince)(?:\s*[,.:;!—–-]|\s+(?=pardon|pas\b|désolé|attend|en\sfait))
        |(?:correction|rectification|en\sfait|en\sréalité|je\scorrige|erratum|plutôt)\b)|\b(?:je\svoulais\sdire|je\sme\ssuis\s(?:trompée?|emmêlée?)
        |(?:c'est|c'était)\s(?:faux|une\serreur|inexact)|j'ai\sconfondu|j'a(?:i|vais)\s(?:dit|écrit|noté)\s.+\smais|erreur\sde\sma\spart)\b""",
    "now": r"""(?:(?<=\bmon\s)|(?<=\bma\s)|(?<=\bnotre\s))nouve(?:au|lle|l)\b(?!\s(?:coll[èe]gue|ami|copain|copine|voisin|projet|client|coloc))|\b(?:maintenant|désormais|dorénavant|à\sprésent|depuis|de\snouveau|à\snouveau|actuellement)\b""",
    "changed": r"""(?<![\w\u0900-\u094f])(?:déménag\w+|pass\w+|chang\w+|migr\w+|bascul\w+|mut\w+|transfér\w+|augment\w+|baiss\w+|report\w+|déplac\w+|quitt\w+|rev(?:enu|ien)\w*|repass\w+
        |retourn\w+|(?:re)?peint\w*|rédui\w+|mont\w+|descen\w+)
        |\b(?:commenc\w+|rejoin\w+|embauch\w+|emménag\w+|décal\w+|avanc\w+|repouss\w+)\b""",
    "moves": (r"(?:de la |du |de |des |de l'|d'){old} (?:à|au|aux|vers|en|pour|sur) {new}",),
    "swaps": (
        r"{new},? (?:et )?(?:pas|non pas) (?:à |au |en |le |la |du |chez |avec |de )?{old}",
        "{old} (?:a|ont) été remplacée?s? par {new}",
        r"renomm\w+ {old}",
        r"(?:au lieu|à la place) (?:de la |du |de |des |de l'|d'){old}",
        r"(?:remplac\w+|échang\w+|quitt\w+|troqu\w+) (?:le |la |l'|mon |ma )?{old} (?:par|contre|pour) {new}",
        r"(?:pas|plus) {old},? mais {new}",
    ),
    "shifts": (
        r"(?:(?:sommes|suis|est) passée?s?|(?:ai|a|avons) migré)(?: de \S+)? (?:à|vers|sur|en) {thing} (?=\d){new}",
        "{thing} (?:a été|ont été|est|sont) (?:déplacée?s?|reportée?s?|décalée?s?|avancée?s?|repoussée?s?|augmentée?s?|passée?s?|changée?s?|portée?s?) (?:de .{1,20} )?(?:à|au|aux|en) {new}",
        "{thing} (?:a|ont) (?:changé|augmenté|baissé|monté|déménagé) (?:de .{1,20} )?(?:à|au|aux|en) {new}",
        "(?:a|ai|ont|avons) (?:déplacé|reporté|décalé|avancé|repoussé|augmenté|changé|passé|porté) (?:le |la |les |l'|mon |ma |notre |nos )?{thing} (?:de .{1,20} )?(?:à|au|aux|en) {new}",
    ),
    "ended": r"""\bne\b(?=[^.;!?]*\bplus\b)|\bn'(?=[^.;!?]*\bplus\b)|\bplus\s(?:de|du|à)\b|\b(?:arrêtée?\sde|arrêtée?|abandonnée?|vendue?|annulée?|quittée?|lâchée?|résiliée?|démissionné|supprimée?|fermée?|suspendue?)\b
        |\b(?:désabonnée?\sde|désinscrite?\sde|rompu\savec|séparée?\sde|licenciée?\s(?:de|par)|décédée?|morte?|jetée?|désinstallée?|débranchée?|mis\sfin\sà|cess(?:é|ons)\sde|expirée?|renoncé\sà|laissé\stomber)\b
        |\b(?:fini\s(?:avec|de)|terminée?|rendue?|retirée?|désactivée?|débarrassée?\sde|plus\srien\sà\svoir|coupée?|éteinte?|rompu|séparés?|divorcé)\b|\b(?:(?:posé|donné|remis)\sma\sdémission)\b""",
    "negation": r"""\b(?:ne|pas|plus|jamais)\b|\bn'""",
    "verbs": """utilise utilisons utilisent déménagé déménage passé passés passée passons suis changé migré basculé habite habitons vis vivons travaille
        travaillons maintenant enfin semaine mois dernier dernière hier aujourd'hui depuis nouveau place lieu est sommes suis ai avons bosse quitté""",
    "single": (
        (
            "lives_in",
            r"(?P<subject>.+?)(?:\s|(?<='))(?:ai|a|avons)\s(?:\w+\s)?(?:dé|em)ménagé\s(?:à|au|en)\s(?P<object>.+)",
        ),
        (
            "works_at",
            r"(?P<subject>je?)(?:'|\s)(?:ai|suis)\s(?:commencé\s(?:à\stravailler\s)?chez|rejoint|entrée?\schez|(?:été\s)?embauchée?\s(?:chez|par))\s(?P<object>.+)",
        ),
        (
            "lives_in",
            r"(?P<subject>.+?)(?:\s|(?<='))(?:habit(?:e|ons|ent)|vi(?:s|t|vons|vent))\s(?:maintenant\s|désormais\s|à\snouveau\s|de\snouveau\s)*(?:à|au|en|dans)\s(?P<object>.+)",
        ),
        (
            "works_at",
            r"(?P<subject>.+?)\s(?:travaill(?:e|ons|ent)|bosse)\s(?:maintenant\s|désormais\s)*(?:chez|pour|à)\s(?P<object>.+)",
        ),
    ),
}
