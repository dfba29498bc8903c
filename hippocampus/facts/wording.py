"""How people word a preference, a decision and a correction, and what type a sentence has. Tables only."""

from __future__ import annotations

import functools
import re


class Wording:
    """Some ways to word one thing, searched together."""

    def __init__(self, *forms: str) -> None:
        self._forms = forms

    def search(self, sentence: str) -> bool:
        """Return whether a sentence is worded in one of these ways."""
        return _pattern(self._forms).search(sentence) is not None


@functools.cache
def _pattern(forms: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(forms), re.IGNORECASE)


PREFERENCE = Wording(
    r"\bI(?: (?:really|much|strongly|still|also|generally|usually))* (?:prefer|like|love|hate|dislike|enjoy"
    r"|don['’]t like|do not like|can['’]t stand|favou?r)\b",
    r"\bI(?:['’]d| would) (?:rather|prefer)\b",
    r"\b(?:my|our) (?:favou?rite|preferred|preference)\b",
    r"\b(?:from now on|in (?:the )?future|by default|going forward|whenever you|each time you)\b",
    r"\bich (?:mag|bevorzuge|hasse|liebe|möchte lieber|hätte (?:es )?lieber)\b",
    r"\bmir (?:gefällt|gefallen|(?:wäre|ist) .{0,40}\blieber)\b|\bmeine?n? (?:liebling|bevorzugt)\w*",
    r"\b(?:ab (?:jetzt|sofort)|von nun an|in zukunft|künftig|standardmäßig)\b",
    r"\b(?:prefiero|preferiría|detesto|odio)\b|\bme (?:gusta|gustan|encanta|encantan|gustaría más)\b",
    r"\bmis? .{0,20}\b(?:favorit|preferid)[oa]s?\b",
    r"\b(?:de ahora en adelante|a partir de ahora|en el futuro|por defecto)\b",
    r"\bje (?:préfère|préférerais|déteste|n['’]aime pas|adore)\b|\bj['’](?:aime|adore|aimerais mieux)\b",
    r"\bm(?:on|a|es) .{0,20}\bpréférée?s?\b",
    r"\b(?:désormais|dorénavant|à partir de maintenant|à l['’]avenir|par défaut)\b",
    r"\b(?:preferisco|odio|adoro|mi piace|mi piacciono|d['’]ora in poi|in futuro)\b",
    r"\b(?:prefiro|gosto de|adoro|detesto|de agora em diante|daqui para a frente)\b",
    r"\bя (?:\w+ )?(?:предпочитаю|люблю|ненавижу|не люблю)\b|\bмне (?:\w+ )?(?:не )?нрав[ия]тся\b",
    r"\bмо[йяё] любим\w+|\b(?:впредь|отныне|с этого момента|в будущем|по умолчанию)\b",
    r"我(?:更|比较|比較|很|最|也)?(?:喜欢|喜歡|偏好|讨厌|討厭|不喜欢|不喜歡|爱用)|我(?:宁愿|更愿意|寧願)",
    r"从现在(?:开始|起)|從現在(?:開始|起)|今后|今後|以后(?:都|请)|默认(?:用|使用)",
    r"(?:が|の方が|のほうが)(?:大)?(?:好き|嫌い|いい|良い)|を好みます|これからは|デフォルトで",
)
"""What the user likes, or wants from now on."""

DECISION = Wording(
    r"\b(?:we|I)(?:['’]ve| have)? (?:finally |now )?(?:decided|chosen|chose|agreed|settled on)\b",
    r"\blet['’]?s (?:go with|use|stick (?:with|to)|switch to|keep)\b|\b(?:I|we)['’]ll (?:go with|take|stick)\b",
    r"\bwe(?:['’]ll| will|['’]re going to| are going to) (?:use|go with|keep|switch|adopt|drop)\b",
    r"\b(?:go|going) with (?:option|the|plan|variant)\b|\b(?:final )?decision(?: is|:)",
    r"\b(?:wir|ich) (?:haben?|hab) .{0,80}(?:entschieden|beschlossen|gewählt)\b|\bEntscheidung:",
    r"\bwir (?:nehmen|verwenden|nutzen|bleiben bei|setzen auf)\b|\b(?:nehmen|verwenden) wir\b",
    r"\b(?:hemos|he) (?:decidido|elegido|acordado|optado)\b|\bdecidimos\b|\b(?:usaremos|decisión:)",
    r"\bvamos (?:a usar|a utilizar|con)\b",
    r"\b(?:nous avons|on a|j['’]ai) (?:décidé|choisi|convenu|opté)\b|\bdécision ?:",
    r"\b(?:utilisons|prenons|gardons)\b|\bon (?:part sur|va utiliser|va prendre)\b",
    r"\babbiamo (?:deciso|scelto)\b|\b(?:usiamo|useremo)\b|\b(?:decidimos|escolhemos|vamos usar)\b",
    r"\b(?:мы |я )?(?:решили|решил|решила|выбрали|договорились)\b|\bбудем использовать\b",
    r"\bдавай(?:те)? (?:использовать|возьм\w+|остановимся)|\bрешение:",
    r"(?:我们|我們|我)?(?:已经|已經)?(?:决定|決定)|(?:我们|我們)(?:就|选|選)?(?:用|采用|採用)|就用.{1,30}吧",
    r"(?:に|と)(?:決め(?:た|ました)|決定)|を(?:使い|採用し)ましょう|にしましょう|することにした",
)
"""That something is settled."""

CORRECTION = Wording(
    r"\A\W*(?:no|nope|wrong|correction|not quite)\s*[,.:;!—-]|\A\W*actually\b",
    r"\bthat(?:['’]s| is| was) (?:wrong|incorrect|not (?:right|correct|true|what I))\b",
    r"\bI meant\b|\byou(?:['’]ve| have)? (?:misunderstood|got (?:it|that|this) wrong)\b|\bnot .{1,40}, but\b",
    r"\A\W*(?:nein|falsch|korrektur|eigentlich|stimmt nicht)\b",
    r"\bdas (?:ist|war|stimmt) (?:falsch|nicht(?: richtig| korrekt)?)\b|\bich meinte\b|\bnicht .{1,40}, sondern\b",
    r"\A\W*(?:no|en realidad|corrección|incorrecto)\s*[,.:;]|\beso (?:está mal|no es (?:correcto|así))\b",
    r"\bquise decir\b|\bno .{1,40}, sino\b",
    r"\A\W*(?:non|en fait|faux|correction)\b|\bc['’]est (?:faux|inexact)\b|\bje voulais dire\b",
    r"\A\W*(?:no|sbagliato|in realtà)\s*[,.:;]|\b(?:è|era) sbagliat[oa]\b|\bnon è (?:vero|giusto|corretto)\b",
    r"\bvolevo dire\b|\bnon .{1,40}, (?:ma|bensì)\b",
    r"\A\W*(?:não|errado|correção|na verdade)\s*[,.:;!—-]|\best(?:á|ava) errad[oa]\b",
    r"\bnão (?:é|está) (?:verdade|certo|correto)\b|\beu quis dizer\b|\bnão .{1,40}, (?:mas|e) sim\b",
    r"\A\W*(?:нет|неверно|на самом деле|исправление)\b|\bэто (?:неверно|неправильно|не так)\b",
    r"\bя имел[аи]? в виду\b|\bне .{1,40}, а\b",
    r"\A\W*(?:不对|不對|错了|錯了|更正)|我的意思是|不是.{1,30}而是",
    r"\A\W*(?:いいえ|違います|違う|訂正)|という意味です|ではなく",
)
"""That what was said or done before is not so."""

FORMS = (("correction", CORRECTION), ("decision", DECISION), ("preference", PREFERENCE))
_OF_OTHERS = re.compile(
    r"^(?:the )?(?:user|[A-Z][\w-]+) (?:really |always |strongly )*(?:prefers?|likes?|loves?|hates?|dislikes?|enjoys?|does(?:n't| not) like)\b"
)
_ERROR = re.compile(r"\b(?:failed|fails|crashed|exception|traceback|error)\b", re.IGNORECASE)


def type_of(sentence: str) -> str:
    """Return the type that a sentence's own words name; `fact` where they name none.

    >>> type_of("I prefer tabs"), type_of("User prefers dark mode"), type_of("Ann lives in Rome")
    ('preference', 'preference', 'fact')
    """
    for kind, form in FORMS:
        if form.search(sentence):
            return kind
    if _OF_OTHERS.search(sentence):
        return "preference"
    return "error" if _ERROR.search(sentence) else "fact"
