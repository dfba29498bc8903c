"""What in a text is a secret, by its form or by the words before it, in many languages. Pure.

What happens to a text that holds one is decided where texts are remembered.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from hippocampus.facts.languages import word_set

LEFT_OUT = "[{} left out]"
"""Stands in a text, with what it was, where a secret stood."""


Holds = Callable[[str, re.Match[str]], bool]


class Secret(NamedTuple):
    """Where a secret stands in a text, and what it is."""

    start: int
    end: int
    kind: str


PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [^\n]*-----|\Z)"
    r"|PuTTY-User-Key-File-\d(?s:.*)\Z|\bAGE-SECRET-KEY-1\w{20,}"
)
ISSUED = re.compile(
    r"""\b(?:sk|pk|rk)[-_](?:[A-Za-z0-9]+[-_]){0,4}(?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{16,}
    |\b(?:sk|pk)\.eyJ[\w-]{8,}\.[\w-]+|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*
    |\b(?:AKIA|ASIA|AGPA|AIDA|AROA)[0-9A-Z]{16}\b|\bAIza[\w-]{30,}|\bya29\.[\w-]{20,}
    |\bGOCSPX-[\w-]{20,}|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}
    |\bxox[abeprs]-[A-Za-z0-9-]{10,}|\bxapp-[\w-]{20,}
    |\bhooks\.slack\.com/services/[\w/]{20,}|\bdiscord(?:app)?\.com/api/webhooks/[\w/-]{20,}
    |\bwhsec_\w{20,}|\bSK[0-9a-f]{32}\b|\bSG\.[\w-]{16,}\.[\w-]{16,}|\bkey-[0-9a-f]{32}\b
    |\bnpm_[A-Za-z0-9]{30,}|\bpypi-[\w-]{20,}|\bhf_[A-Za-z0-9]{20,}|\bdo[opr]_v1_[0-9a-f]{20,}
    |\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{20,}|\bEAAA[\w-]{20,}|\b\d{8,10}:AA[\w-]{30,}
    |\b[MNO][A-Za-z\d]{20,}\.[\w-]{6}\.[\w-]{25,}|\b(?:gsk|xai|pplx|lin_api|sbp|ntn|napi|rnd|nfp)[-_]\w{20,}
    |\br8_\w{30,}|\bsecret_[A-Za-z0-9]{32,}|\bPMAK-[\w-]{20,}|\bhv[sbr]\.[\w-]{20,}|\bdapi[0-9a-f]{30,}
    |\bHRKU-[\w-]{20,}|\bFlyV1\s\w{20,}|\bAccountKey=[\w+/=]{20,}|\bSharedAccessKey=[\w+/=]{20,}""",
    re.VERBOSE,
)
HEADER = re.compile(
    r"(?i)\b(?:bearer|basic)\s+(?=\S*[\d=])[A-Za-z0-9._~+/=-]{12,}"
    r"|\b(?:set-)?cookie:\s*\S+=\S{6,}|\bcurl\b[^\n]*\s-u\s+\S+:\S+|\bmysql\b[^\n]*\s-p[^\s]{4,}"
    r"|\bsshpass\s+-p\s*\S+|\botpauth://\S+"
)
IN_ADDRESS = re.compile(
    r"\b[A-Za-z][A-Za-z0-9+.-]*://[^\s:/@]*:[^\s@/]{3,}@"
    r"|[?&](?i:(?:access_|auth_|id_|refresh_)?token|api_?key|key|sig|signature|secret|password|passwd|auth)"
    r"=[^\s&\"']{8,}"
)
ASSIGNED = re.compile(
    r"""(?i)(?:passw(?:or)?d|passphrase|passwort|pwd|secret|token|api[_\ -]?key|access[_\ -]?key
    |private[_\ -]?key|credentials?)[\w-]*\\?["']?\s*(?:=|:(?!//))\s*\\?["']?(?P<value>[^\s"',;]{5,})""",
    re.VERBOSE,
)
"""A name and a value, as in settings, environments and code."""
_LABELS = "|".join(
    """passwords? passwd passphrase passcode pwd pins? passwort kennwort losung mot\\ de\\ passe
    code\\ secret contraseña contrasena clave parola\\ d[’']ordine senha palavra-passe wachtwoord hasło hasla
    парол[ьяюе]м? şifre\\w* parola\\w* lösenord\\w* adgangskode passord κωδικ[όο]ς?ύ? salasana jelszó heslo
    mật\\ khẩu kata\\ sandi كلمة\\ المرور كلمة\\ السر पासवर्ड סיסמה""".replace("\\ ", "~").split()
).replace("~", r"\ ")
_GLUED = "비밀번호|암호|密码|密碼|口令|パスワード|暗証番号|รหัสผ่าน"
"""Words to which a particle clings, and of scripts without spaces."""
_COPULAS = """is|are|was|ist|lautet|war|est|es|era|è|é|to|jest|är|er|είναι|on|adalah|là|=|:|：|—|–|-|是|为|為|は|가|이|는|은
    |هي|هو|है"""
SPOKEN = re.compile(
    rf"""(?i)(?:(?<![^\W_])(?P<label>{_LABELS})(?![^\W_a-z])
    (?!\s(?:manager|policy|generator|hash|reset|field|length))|{_GLUED})
    (?:[^\n.!?。！？=:：]{{0,40}}?(?<![a-z])(?:{_COPULAS})\s*|\s+)
    ["'“„«「]?(?P<value>(?=[^\s]*[\d!@\#$%^&*_+~])[^\s"'“”„«»「」]{{4,}})""",
    re.VERBOSE,
)
"""A word for a password, and near after it a value that holds a digit or a sign."""
KEYED = re.compile(
    r"(?i)\b(?:secret|token|key|clé|schlüssel|clave|chiave|chave|ключ|токен)\b[^\n.!?]{0,30}?\s"
    r"(?:is|ist|est|es|è|é|=|:|—)\s*[\"'“]?(?P<value>[A-Za-z0-9_+/=\-]{12,})|(?:密钥|令牌|秘钥)[是为:：]?\s*(?P<hans>[\w+/=-]{12,})"
)
OWNED = re.compile(
    r"""(?i)\b(?:(?:my|our|his|her|their|[^\W\d_]+['’]s)\s(?:\w+\s)?(?:password|passphrase|passcode|pin)\s(?:is|was)
    |mein(?:e)?\s(?:passwort|kennwort)\s(?:ist|lautet)|mon\smot\sde\spasse\sest|mi\s(?:contraseña|clave)\ses
    |la\smia\spassword\sè|(?:a\s)?minha\ssenha\sé|mijn\swachtwoord\sis|мой\sпароль\s?[—-]?)
    \s?["'“„«]?(?P<value>[^\s"'“”„«».!?,;]{4,})["'”“»]?\s*[.!]?\s*$""",
    re.VERBOSE | re.MULTILINE,
)
"""Whose password it is, and one last word."""
PHRASE = re.compile(
    r"(?i)\b(?:passphrase|(?:seed|recovery|mnemonic)\s(?:phrase|words?))\b[^\n.!?]{0,20}?\s?(?:is|are|:|=)\s"
    r"(?:[a-z]+[ ,]+){3,}[a-z]+"
)
LONG = re.compile(r"[\w-]{16}")
"""Every issued key has so many characters in a row."""
DIGITS = re.compile(r"\d{3}")
CARD = re.compile(r"\b(?:\d[ -]?){12,18}\d\b")
CARD_WORDS = re.compile(
    r"(?i)card|visa|amex|karte|carte|tarjeta|carta|cartão|карт|卡|カード|카드|cvv|cvc"
)
_PLAIN = word_set(
    """required expired weak strong wrong invalid stored saved hashed encrypted rotated reset
    changed disabled enabled missing empty needed short long safe secure unique secret private
    unknown forgotten incorrect correct valid leaked compromised exposed optional mandatory
    protected masked hidden this that what where when there here none null true false
    undefined string something nothing abgelaufen falsch schwach stark sicher nötig
    erforderlich gespeichert geheim obligatoire expiré faible perdu obligatoria débil segura
    caducada obbligatoria scaduta debole obrigatória fraca expirada verplicht verlopen
    обязателен истёк слабый same different easy hard good bad"""
)


def found(text: str) -> list[Secret]:
    """Return the secrets of a text in order; none overlaps another."""
    kept: list[Secret] = []
    for one in sorted(_found(text), key=lambda one: (one.start, -one.end)):
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    return kept


def redacted(text: str) -> str:
    """Return a text that says for each secret what stood there.

    >>> redacted("Ann works at IBM. Her password is hunter2!")
    'Ann works at IBM. Her password is [a password left out]!'
    """
    pieces, end = [], 0
    for one in found(text):
        pieces += [text[end : one.start], LEFT_OUT.format(one.kind)]
        end = one.end
    return "".join([*pieces, text[end:]])


def told(text: str) -> str:
    """Return which kinds of secrets a text holds, as words; empty where it holds none."""
    kinds = [*_STOOD.findall(text), *(one.kind for one in found(text))]
    return " and ".join(dict.fromkeys(kinds))


def _found(text: str) -> Iterator[Secret]:
    folded = text.casefold()
    for pattern, kind, hints in FORMS:
        if _hinted(folded, hints):
            yield from (Secret(*match.span(), kind) for match in pattern.finditer(text))
    if LONG.search(text):
        yield from (Secret(*match.span(), ISSUED_KEY) for match in ISSUED.finditer(text))
    for pattern, kind, holds, hints in VALUES:
        if _hinted(folded, hints):
            yield from _valued(text, pattern, kind, holds)
    if DIGITS.search(text) and CARD_WORDS.search(text):
        for match in CARD.finditer(text):
            if _is_card(match[0]):
                yield Secret(*match.span(), CARD_NUMBER)


def _hinted(folded: str, hints: tuple[str, ...]) -> bool:
    return any(map(folded.__contains__, hints))


def _valued(text: str, pattern: re.Pattern[str], kind: str, holds: Holds) -> Iterator[Secret]:
    """Yield the values that a name or a word says to be secret."""
    for match in pattern.finditer(text):
        name = "value" if match["value"] else "hans"
        value = match[name]
        if holds(value, match):
            start = match.start(name)
            yield Secret(start, start + len(value.rstrip(".!?,;。！？")), kind)


def _is_value(value: str, _: re.Match[str]) -> bool:
    return value[0] not in "<${[(*" and value.rstrip(".").casefold() not in _PLAIN


def _is_password(value: str, match: re.Match[str]) -> bool:
    """Say whether a value mixes letters with digits or signs, or is the digits of a PIN."""
    plain = value.rstrip(".!?,;。！？")
    if (match["label"] or "").casefold() in {"pin", "pins"} or "暗証" in match[0]:
        return plain.isdecimal() and 4 <= len(plain) <= 8
    return any(sign.isalpha() for sign in plain) and not plain.startswith(("/", "http"))


def _is_word(value: str, _: re.Match[str]) -> bool:
    plain = value.casefold()
    return plain not in _PLAIN and not plain.endswith(("ed", "able", "ing"))


def _is_key(value: str, _: re.Match[str]) -> bool:
    return any(sign.isdigit() for sign in value) and any(sign.isalpha() for sign in value)


def _is_card(text: str) -> bool:
    """Say whether digits add up as those of a payment card do (Luhn, ISO/IEC 7812-1)."""
    digits = [int(each) for each in reversed(text) if each.isdigit()]
    doubled = [sum(divmod(2 * each, 10)) for each in digits[1::2]]
    return (sum(digits[::2]) + sum(doubled)) % 10 == 0


def _hints(text: str) -> tuple[str, ...]:
    return tuple(each.replace("_", " ") for each in text.split())


CARD_NUMBER = "a payment card's number"
ISSUED_KEY = "an API key or token"
FORMS = (
    (PRIVATE_KEY, "a private key", _hints("private_key putty-user age-secret")),
    (HEADER, "a credential", _hints("bearer basic cookie curl mysql sshpass otpauth")),
    (IN_ADDRESS, "a credential in an address", _hints(":// ? &")),
    (PHRASE, "a passphrase", _hints("phrase seed recovery mnemonic")),
)
"""What a secret is by its form alone; texts without any of the hints are not searched for it."""
_PASSWORDS = _hints("""passw passp passc pwd pin kennwort losung mot_de_passe code_secret contrase clave
    parola senha palavra wachtwoord hasł hasl парол şifre lösenord adgangskode κωδικ salasana jelszó heslo
    mật sandi 비밀번호 암호 كلمة पासवर्ड סיסמה 密码 密碼 口令 パスワード 暗証番号 รหัสผ่าน""")
VALUES: tuple[tuple[re.Pattern[str], str, Holds, tuple[str, ...]], ...] = (
    (ASSIGNED, "a credential", _is_value, _hints("pass pwd secret token key credential")),
    (SPOKEN, "a password", _is_password, _PASSWORDS),
    (OWNED, "a password", _is_word, _PASSWORDS),
    (
        KEYED,
        ISSUED_KEY,
        _is_key,
        _hints(
            "secret token key clé schlüssel schluessel clave chiave chave ключ токен 密钥 令牌 秘钥"
        ),
    ),
)
"""What the words before a value say, and which values are then believed."""
_KINDS = "|".join(
    dict.fromkeys([CARD_NUMBER, ISSUED_KEY, *(f[1] for f in FORMS), *(v[1] for v in VALUES)])
)
_STOOD = re.compile(rf"\[({_KINDS}) left out\]")
