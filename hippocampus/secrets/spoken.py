"""The values that sentences give after the words for secrets of many languages, in `words.txt`. Pure.

Sentences are read around these words only; settings and code are read elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from hippocampus.patterns import table
from hippocampus.secrets import issued

_WORDS = {head: "|".join(lines) for head, lines in table(__package__, "words.txt").items()}
PASSWORD = re.compile(
    rf"""(?i)(?:(?<![^\W_])(?P<label>{_WORDS["labels"].replace(" ", "[ ]")})(?!\w)
    (?!\s(?:manager|policy|generator|hash|reset|field|length))|{_WORDS["glued"]})
    (?:[^\n.!?。！？=:：]{{0,40}}?(?:[:：]|(?<![a-z])(?:{_WORDS["copulas"]}))\s*|\s+)
    ["'“„«「]?(?P<value>(?=[^\s]*[\d!@\#$%^&*_+~])[^\s"'“”„«»「」]{{4,}})""",
    re.VERBOSE,
)
"""A word for a password, and near after it a value that holds a digit or a sign."""
KEY = re.compile(
    rf"(?i)\b(?:{_WORDS['keys']})\b[^\n.!?]{{0,30}}?\s"
    r"(?:is|ist|est|es|è|é|=|:|—)\s*[\"'“]?(?P<value>[A-Za-z0-9_+/=\-]{12,})"
    rf"|(?:{_WORDS['keys within words']})[是为:：]?\s*(?P<hans>[\w+/=-]{{12,}})"
)
OWNED = re.compile(
    rf"""(?i)\b(?:{_WORDS["owned"]})
    \s?["'“„«]?(?P<value>[^\s"'“”„«».!?,;]{{4,}})["'”“»]?\s*[.!]?\s*$""",
    re.VERBOSE | re.MULTILINE,
)
"""Whose password it is, and one last word."""
PHRASE = re.compile(
    r"(?i)\b(?:passphrase|(?:seed|recovery|mnemonic)\s(?:phrase|words?))\b[^\n.!?]{0,20}?\s?(?:is|are|:|=)\s"
    r"(?P<value>(?:[a-z]+[ ,]+){3,}[a-z]+)"
)
HINTS = f"(?i){_WORDS['hints']}"
"""RE2: the words without one of which no sentence names a secret."""
NAMED = re.compile(
    rf"(?i)(?<![^\W_])(?:{_WORDS['named']})(?![^\W_])|{_WORDS['named within words']}"
)
"""A word for a secret, whatever its value looks like."""
PLAIN = frozenset(_WORDS["plain"].split("|"))
"""What sentences say of a secret, in place of the secret."""
CODE = re.compile(
    r"^(?:[\\\[/<({$*#-]|https?:|[a-z]+(?:_[a-z]+)+$)|[()\[\]{}<>|]|:\**$|::|\.\w+\.|_{2}"
)
"""What no password begins with or has: a path, an address, a call, an index, a name of a program."""
PIN = re.compile(r"\d{4,8}")
BEFORE, AFTER = 60, 240
"""How far around a word for a secret a sentence is read, in characters."""
BLOCK, MAX_HINT = 240, 20
"""The size in characters of a block that is searched once, and of the longest word."""


def values(text: str, hint: Callable[[str], Any]) -> Iterator[tuple[int, int, str]]:
    """Yield where sentences around words for a secret have one: start, end and its kind.

    `hint` returns the match of `HINTS` in a text, or nothing.
    """
    done = 0
    for at in range(0, len(text), BLOCK):
        found = hint(text[at : at + BLOCK + MAX_HINT])
        if not found:
            continue
        begin = max(done, at + found.start() - BEFORE)
        done = min(len(text), at + BLOCK + MAX_HINT + AFTER)
        for pattern, kind, holds in PATTERNS:
            for match in pattern.finditer(text, begin, done):
                group = "value" if match["value"] else "hans"
                value = match[group]
                if holds(value, match):
                    start = match.start(group)
                    yield start, start + len(value.rstrip(".!?,;。！？")), kind


def _is_password(value: str, match: re.Match[str]) -> bool:
    """Return whether a value mixes letters with digits or signs, or is the digits of a PIN."""
    plain = value.rstrip(".!?,;。！？")
    if (match["label"] or "").casefold() in {"pin", "pins"} or "暗証" in match[0]:
        return PIN.fullmatch(plain) is not None
    return any(sign.isalpha() for sign in plain) and not CODE.search(plain)


def _is_word(value: str, _: re.Match[str]) -> bool:
    plain = value.casefold()
    return plain not in PLAIN and not plain.endswith(("ed", "able", "ing")) and plain[0] != "["


PATTERNS = (
    (PASSWORD, "a password", _is_password),
    (OWNED, "a password", _is_word),
    (KEY, "an API key or token", lambda value, _match: issued.is_mixed(value)),
    (PHRASE, "a passphrase", lambda _value, _match: True),
)
