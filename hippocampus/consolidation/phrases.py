"""How people word what is no request, what is about a user, and orders, in many languages. Tables only.

English, German, Spanish, French, Italian, Portuguese, Russian, Chinese, Japanese. What is done with
a sentence that fits is decided in `extract`; the words of instructions are the policy's.
"""

from __future__ import annotations

from hippocampus.facts.wording import Wording

NO_REQUEST = Wording(
    r"\bI (?:(?:really|just|also) )*(?:(?:do|ca|did|could)n['’]?t|(?:do|did|could) not) (?:\w+ )?remember\b",
    r"\bI (?:cannot|can not|no longer) remember\b|\bI['’]m not sure I remember\b",
    r"\bich merke\b|\bich kann mir (?:das |es )?nicht merken\b",
    r"\b(?:eu )?não me lembro\b|\bnon ricordo\b|\bniet onthouden\b|\bnie pamiętam\b",
)
"""Words of an instruction that are none: what the user has forgotten, or notices."""

ABOUT_USER = Wording(
    r"\b(?:the )?(?:user|customer|operator|owner|admin)s?\b|\byou(?:r)? (?:prefer|like|want|told|asked)",
    r"\b(?:der |die )?(?:nutzer|benutzer|anwender|kunde)\w*|\bdu (?:magst|bevorzugst|willst)",
    r"\bsie (?:bevorzugen|mögen|wünschen)|\b(?:usuario|cliente|utilisateur|utilizador)\w*|\bprefieres\b",
    r"\btu (?:préfères|aimes|veux)|\bvous (?:préférez|aimez|voulez)",
    r"\bпользовател\w*|\b(?:ты|вы) (?:предпочита|хоти|люби)\w*",
    r"MEMORY\.md|\[\d{4}-\d\d-\d\d[^\]]*\]|<memory|用户|用戶|使用者|您|你(?:喜欢|偏好|想)|ユーザー?|あなた",
)
"""Words about the user in somebody else's mouth, and what looks like a memory: hearsay."""
ORDERS = Wording(
    r"\b(?:ignore|disregard|forget|remember|memori[sz]e|always|never|must|instructions?|system prompt)\b",
    r"\b(?:ignorier\w*|vergiss|merke?|immer|nie(?:mals)?|anweisung\w*)\b",
    r"\b(?:ignora\w*|olvida\w*|recuerda\w*|siempre|nunca|instruccion\w*)\b",
    r"\b(?:ignore[rz]?|oublie\w*|souviens|rappelle\w*|toujours|jamais|consignes?)\b",
    r"\b(?:игнориру\w*|забудь\w*|запомни\w*|помни\w*|всегда|никогда|инструкци\w*)\b",
    r"忽略|无视|無視|忘记|忘記|记住|記住|永远|总是|务必|指令|覚えて|必ず|常に|決して|指示",
)
"""Words of an order, which nobody but the user may leave behind."""
