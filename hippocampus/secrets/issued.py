"""The forms of keys and tokens, by issuer, and of secrets that need no words next to them. Pure.

The forms are in `issued.txt`: a prefix or a shape is enough evidence. They are RE2
expressions; where one has a group, the group is the secret.
"""

from __future__ import annotations

import re

from hippocampus.patterns import table

_TABLE = table(__package__, "issued.txt")
PRIVATE_KEY = "|".join(_TABLE["private key"])
DISTINCT = tuple(
    rf"\b(?:{'|'.join(forms)})".replace("<names>", "|".join(_TABLE["names"]))
    for head, forms in _TABLE.items()
    if head.startswith("distinct")
)
"""Forms that no other text has: found wherever they begin as a word.

A short name with a random run, as most issuers write it, is `PREFIXED`.
"""
SIGNED = tuple(_TABLE["signed"])
"""Forms that begin with a sign or within a word."""
HEADERS = (*_TABLE["headers"], "|".join(_TABLE["lines"]))
"""Headers and options of commands; the forms of lines that end soon cost one search."""
ADDRESSES = tuple(_TABLE["addresses"])
PREFIXED = r"\b([A-Za-z][A-Za-z0-9]{1,11}[_-][\w-]{16,})(?:[^\w+/=.-]|\.?\s|\.?$)"
"""A short name and a long run: believed if the run is random, no checksum and no id of an answer."""
KEYS = frozenset(["fc", "key", "pk", "pul", "rk", "sk", "tok"])
"""Names after which hexadecimal digits are a key with either sign."""
IDS = frozenset(["call", "chatcmpl", "file", "msg", "req", "resp", "run", "ses", "thread", "toolu"])


def is_random(value: str) -> bool:
    """Return whether a name goes with a random run: with many changes of case and digits, or a key in hexadecimal.

    >>> is_random("npm_x8Kq2LzV9tRw3BnYd7Hs"), is_random("read-the-docs-of-version-2-first")
    (True, False)
    """
    name, sign, rest = re.split("([_-])", value, maxsplit=1)
    rest = re.sub(r"^(?:[A-Za-z][A-Za-z0-9]{0,8}[_-]){0,2}", "", rest)
    parts = re.split("[_-]+", rest)
    run, longest = "".join(parts), max(parts, key=len)
    if name in IDS or "kwD" in value:  # GitHub's ids of nodes
        return False
    if _HEX.fullmatch(run):
        return len(run) >= MIN_KEY if name in KEYS else sign == "_" and len(longest) >= MIN_HEX
    is_mixed = len(re.findall(r"\d", run)) >= (3 if run.islower() or run.isupper() else 1)
    is_slug = len(longest) * MAX_PARTS < len(run) or _HEX.fullmatch(longest) is not None
    return len(run) >= MIN_RUN and is_mixed and 7 * changes(run) >= 2 * len(run) and not is_slug


def is_mixed(text: str) -> bool:
    """Return whether a text has a digit and a letter."""
    return bool(DIGIT.search(text) and LETTER.search(text))


def changes(text: str) -> int:
    """Return the number of words, abbreviations and numbers that a text is made of."""
    return len(re.findall(r"[A-Z]?[a-z]+|[A-Z]+|\d+", text))


DIGIT, LETTER = re.compile(r"\d"), re.compile(r"[A-Za-z]")
_HEX = re.compile("[0-9a-f]+|[0-9A-F]+")
MIN_RUN, MIN_KEY, MIN_HEX = 16, 20, 32
"""The shortest random run; the same of hexadecimal digits after a key's name, and after another."""
MAX_PARTS = 6
