"""Words for search: names split, endings removed, stop words left out. Pure."""

from __future__ import annotations

import re

CAMEL = re.compile(r"(?<=[a-z\d])(?=[A-Z])")
CJK = re.compile(r"([\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])")
WORD = re.compile(r"[^\W_]+")
ESCAPED = re.compile(r"\\[nrt]|\\u[0-9a-fA-F]{4}")
ENDINGS = ("ings", "ing", "edly", "es", "ed", "s")
MIN_STEM = 3
MAX_WORD = 64
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
    """Return the words of a text in order, in lower case and without endings."""
    found = (word for word in WORD.findall(spread(text).lower()) if len(word) <= MAX_WORD)
    return [stem(word) for word in found if word not in STOP_WORDS]


def stem(word: str) -> str:
    """Return a word without its ending; `themes` becomes `theme`, but `labelled` not `label`."""
    if word.endswith(("ies", "ied")):
        return f"{word[:-3]}y" if len(word) > MIN_STEM + 1 else word
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= MIN_STEM:
            word = word[: -len(ending)]
            break
    return word[:-1] if word.endswith("e") and len(word) > MIN_STEM else word
