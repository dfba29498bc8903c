"""Words for search: names split, stop words left out. Pure."""

from __future__ import annotations

import re

CAMEL = re.compile(r"(?<=[a-z\d])(?=[A-Z])")
CJK = re.compile(r"([\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])")
WORD = re.compile(r"[^\W_]+")
ESCAPED = re.compile(r"\\[nrt]|\\u[0-9a-fA-F]{4}")
STOP_WORDS = frozenset(
    "a about after all also an and any are as at be been before but by can could did do does done "  # noqa: SIM905 - reads better so
    "for from get had has have here how i if in into is it its just let like ll may me more most "
    "my need next no not now of on one only or other our out over perfect please s same see should "
    "so some such t than that the their them then there these they this those to too true false "
    "null none up us use used using very want was we were what when where which while who why will "
    "with would you your".split()
)


def spread(text: str) -> str:
    """Return a text with its names split: `getUserName` into three words, each Han character alone."""
    if "\\" in text:
        text = ESCAPED.sub(" ", text)
    if not text.isascii():
        text = CJK.sub(r" \1 ", text)
    return CAMEL.sub(" ", text)


def terms(text: str) -> list[str]:
    """Return the words of a text in order, in lower case and without stop words."""
    return [word for word in WORD.findall(spread(text).lower()) if word not in STOP_WORDS]
