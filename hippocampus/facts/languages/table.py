"""The reader of a language's table: its words, and the few shapes in which rules look for them.

A paragraph of a table is a field: its name, the shape of its words, and the words, separated by bars.
Without a shape each line is a regular expression, in which `<name>` is replaced by a list of the table.
"""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from typing import Any

_NOT_BEFORE, _NOT_AFTER = r"(?<![\w\u0900-\u094f])", r"(?![\w\u0900-\u094f])"
"""The edges of a word: vowel signs of Devanagari are no letters to `re`."""
SHAPES = {
    "plain": "{}",
    "words": r"\b(?:{})\b",
    "begins": r"\b(?:{})",
    "whole": _NOT_BEFORE + "(?:{})" + _NOT_AFTER,
    "starts": _NOT_BEFORE + "(?:{})",
    "apart": r"(?<!\S)(?:{})(?![^\s,।.!?;:])",
    "apart_starts": r"(?<!\S)(?:{})",
    "opens": r"^\W*(?:{})" + _NOT_AFTER,
}
"""How a list of words is looked for."""
LISTED = frozenset({"stop_words", "first", "third", "people", "verbs", "irregular"})
"""Fields that are words between spaces."""
TELLING = (
    "own",
    "now",
    "changed",
    "ended",
    "now_words",
    "articles",
    "indefinite",
    "copulas",
    "numbers",
    "days",
)
"""Fields whose plain words tell a language from others, next to its stop words and verbs."""
SEQUENCES = frozenset({"moves", "swaps", "shifts", "single"})
FLAGS = ("drops_subjects", "names_are_cased")
_PARTS = {"year": r"(?:19|20)\d\d", "subject": "(?P<subject>.+?)", "object": "(?P<object>.+)"}
_PART = re.compile(r"(?<!\(\?P)<(\w+)>")
_PAUSE = r"\s*[،,.:;؛!।—–-]"

Table = dict[str, dict[str, list[str]]]


def read(text: str) -> dict[str, Any]:
    r"""Return the stop words, phrases and rules of a table by their names.

    >>> read("own words\n  ich | wir\nsingle\n")["own"]
    '\\b(?:ich|wir)\\b'
    """
    table = _table(text)
    parts = _PARTS | {name: f"(?:{'|'.join(each)})" for name, each in table.pop("list", {}).items()}
    listed = (words for field in TELLING for words in table.get(field, {}).values())
    found: dict[str, Any] = {"telling": frozenset(filter(str.isalpha, itertools.chain(*listed)))}
    for field, shapes in table.items():
        if field in LISTED:
            found[field] = " ".join(shapes[""])
        elif field in SEQUENCES:
            found[field] = tuple(_filled(each, parts) for each in shapes[""])
        elif field in FLAGS:
            found[field] = True
        else:
            found[field] = _filled("|".join(_alternatives(dict(shapes))), parts)
    found["single"] = tuple(tuple(each.split(": ", 1)) for each in found.get("single", ()))
    return dict.fromkeys(FLAGS, False) | found


def _table(text: str) -> Table:
    table: Table = defaultdict(dict)
    for paragraph in re.split(r"\n(?=\S)", text.strip("\n")):
        head, *lines = paragraph.split("\n")
        field, _, shape = head.partition(" ")
        lines = [line[2:] for line in lines]
        table[field][shape] = " ".join(lines).split(" | ") if shape else lines
    return table


def _filled(text: str, parts: dict[str, str]) -> str:
    while _PART.search(text):
        text = _PART.sub(lambda part: parts[part[1]], text)
    return text


def _alternatives(shapes: dict[str, list[str]]) -> list[str]:
    """Return the expressions of a field."""
    found = shapes.pop("", [])
    joined = {name: "|".join(words).replace(" ", r"\s") for name, words in shapes.items()}
    if openings := joined.pop("openings", ""):
        found.append(rf"^\W*(?:{openings})(?:{_PAUSE}|\s+(?={joined.pop('before')}))")
    if following := joined.pop("following", ""):
        barred = "".join(rf"(?<!{word}\s)" for word in joined.pop("not_after").split("|"))
        found.append(barred + SHAPES["whole"].replace("{}", following))
    if new := joined.pop("new", ""):
        after = "|".join(rf"(?<=\b{word}\s)" for word in joined.pop("new_after").split("|"))
        found.append(rf"(?:{after}){new}\b(?!\s(?:{joined.pop('new_before')}))")
    return [*found, *(SHAPES[name].replace("{}", words) for name, words in joined.items())]
