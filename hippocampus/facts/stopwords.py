"""Words that say nothing of what a text is about, by language. A table only."""

from __future__ import annotations

_TABLE = {
    "en": """a about above after again all also am an and any are aren't as at be been before being
        both but by can can't could couldn't did didn't do does doesn't doing don't down during each few for
        from further had hadn't has hasn't have haven't having he her here hers him his how i if in into is
        isn't it it's its itself just me more most my no nor not of off on once only or other our out
        over own same she should shouldn't so some such than that that's the their them then there
        these they this those through to too under until up very was wasn't we were weren't what when
        where which while who whom whose why will with won't would wouldn't you your yours s t d ll m re ve
        don doesn didn isn wasn aren might must shall may let get got tell please know
        goes going gone went many much kind kinds""",
    "de": """aber alle als also am an auch auf aus bei bin bis bist da damit dann das dass dein dem den
        der des die dies diese dieser doch dort du ein eine einem einen einer eines er es euer für
        hat hatte habe haben hier ich ihm ihn ihr im in ist ja jede jeder kann kein keine können man
        mein mit nach nicht noch nun nur ob oder ohne sehr sein seine sich sie sind so über um und
        uns unser unter vom von vor wann war waren warum was wer wem wen welche welcher wenn werden
        wie wieder wir wird wo wohin woher zu zum zur""",
    "fr": """à au aux avec ce ces cet cette dans de des du elle elles en est et eu eux il ils je la
        le les leur lui ma mais me même mes moi mon ne nos notre nous on ou où par pas pour qu que
        quel quelle quels quelles qui quoi quand comment pourquoi sa sans se ses son sont sur ta te
        tes toi ton tu un une vos votre vous c d j l m n s t y été être a ont avait fait""",
    "es": """a al algo como con cuál cuáles cuando cuándo cómo de del desde donde dónde el ella ellas
        ellos en entre era es esa ese eso esta este esto están está fue ha han hasta hay la las le
        les lo los más me mi mis muy no nos o para pero por porque que qué quien quién se sin sobre
        son su sus también te tiene tu un una uno unos y ya yo""",
    "it": """a ad al alla alle ai agli anche che chi ci come con cosa cui da dal dalla dei del della
        delle di dove e è ed era gli ha hanno ho i il in io la le lei li lo loro lui ma mi mio nel
        nella no noi non o per perché più qual quale quali quando quanto sei si sono su sua sul suo
        ti tra tu un una uno vi voi""",
    "pt": """a ao aos as à às com como da das de do dos e é ela ele eles em era essa esse esta este
        está eu foi há isso já lhe mais mas me meu minha muito na nas não no nos nós o onde os ou
        para pela pelo por porque qual quais quando quanto que quem se sem ser seu seus sua suas só
        são também te tem um uma você""",
    "nl": """aan al als bij dan dat de deze die dit door dus een en er haar had hebben heb heeft hem
        het hier hij hoe hun ik in is je kan maar me met mijn naar niet nog nu of om omdat onder ons
        ook op over te tot uit uw van veel voor waar wanneer waren waarom was wat we wel welke werd
        wie wij wordt ze zich zij zijn zo zou""",
    "ru": """а без бы был была были было быть в вам вас весь во вот все всё вы где да для до его ее
        её если есть еще ещё же за здесь и из или им их к как какая какие какой когда которая который
        кто ли меня мне мой моя мы на над наш не него нет но о об он она они от по под почему при с
        со так там тебя то тоже только ты у уже чего чей что чтобы эта эти это этот я""",
    "uk": """а але б без був була були було в ви від він вона вони все де для до його її є же за з
        зі і із й їх коли мене мені ми на над не ні о один по під при про с та так там те ти то
        тільки у хто це цей чи що щоб я як яка який які""",
    "pl": """a aby ale bo był była były być co czy dla do gdy gdzie go i ich im ja jak jaka jaki
        jakie jego jej jest już kiedy kto która który mnie mi mój na nad nie o od on ona oni po pod
        przy się są ta tak tam te tego ten to tu ty tym w we wy z za ze że""",
    "sv": """alla att av de den det dig din där du efter ej eller en er ett för från ha han har hade
        hon hur här i inte jag kan man med men mig min mot mycket ni nu när och om oss på sig sin
        som så till under upp ut vad var varför vem vi vid vilken är""",
    "tr": """ama bu bir biri çok da daha de değil diye en gibi ha hangi hem her için ile ise kadar
        ki kim mi mı mu mü nasıl ne neden nerede niçin o olan olarak şu ve veya ya""",
    "ar": """أن أو إلى إن الى التي الذي الذين عن على في كان كانت كل كيف لا لم لن له لها ما متى مع من
        هذا هذه هل هو هي هم و يا أين ماذا لماذا""",
    "hi": """और का की के को क्या कौन कब कहाँ क्यों कैसे जो तक तो था थी थे न नहीं ने पर भी में मैं यह
        या ये वह से है हैं हो""",
    "el": """από για δεν είναι και με μου να ο η το οι τα του της των που πως πού ποιος πότε σε στο
        στη στην τι τον την""",
}

STOP_WORDS: dict[str, frozenset[str]] = {
    language: frozenset(words.split()) for language, words in _TABLE.items()
}
STOP_CHARACTERS = frozenset("的了是在吗呢吧啊么什哪谁怎个有和与把被这那我你他她它们")
"""Characters of Chinese that are grammar more than content."""
