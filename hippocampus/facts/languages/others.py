"""Stop words of the languages without rules: they keep a text from being read by another language's. Data alone."""

from __future__ import annotations

STOP_WORDS = {
    "nl": """aan al als bij dan dat de deze die dit door dus een en er haar had hebben heb heeft hem
        het hier hij hoe hun ik in is je kan maar me met mijn naar niet nog nu of om omdat onder
        ons ook op over te tot uit uw van veel voor waar wanneer waren waarom was wat we wel
        welke werd wie wij wordt ze zich zij zijn zo zou""",
    "uk": """а але б без був була були було в ви від він вона вони все де для до його її є же за з зі
        і із й їх коли мене мені ми на над не ні о один по під при про с та так там те ти то
        тільки у хто це цей чи що щоб я як яка який які""",
    "pl": """a aby ale bo był była były być co czy dla do gdy gdzie go i ich im ja jak jaka jaki
        jakie jego jej jest już kiedy kto która który mnie mi mój na nad nie o od on ona oni po
        pod przy się są ta tak tam te tego ten to tu ty tym w we wy z za ze że""",
    "sv": """alla att av de den det dig din där du efter ej eller en er ett för från ha han har hade
        hon hur här i inte jag kan man med men mig min mot mycket ni nu när och om oss på sig
        sin som så till under upp ut vad var varför vem vi vid vilken är""",
    "tr": """ama bu bir biri çok da daha de değil diye en gibi ha hangi hem her için ile ise kadar ki
        kim mi mı mu mü nasıl ne neden nerede niçin o olan olarak şu ve veya ya""",
    "el": """από για δεν είναι και με μου να ο η το οι τα του της των που πως πού ποιος πότε σε στο
        στη στην τι τον την""",
}
