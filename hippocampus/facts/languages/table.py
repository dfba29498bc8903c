"""The reader of a language's table: its words, and the few shapes in which rules look for them.

A new table needs its code in `CODES` of `languages`.

A paragraph of a table is a field: its name, the shape of its words, and the words, separated by bars.
Without a shape each line is a regular expression, in which `<name>` is replaced by a list of the table.
"""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from typing import Any

from hippocampus.patterns import paragraphs

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
LISTED = frozenset({"stop_words", "first", "labels", "people", "verbs"})
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
"""Fields whose plain words tell a language from others."""
SEQUENCES = frozenset({"moves", "swaps", "shifts", "single", "irregular"})
NOTHING = "(?!)"
"""What a field matches that a language lacks."""
FLAGS = ("drops_subjects", "names_are_cased")
_PARTS = {"year": r"(?:19|20)\d\d", "subject": "(?P<subject>.+?)", "object": "(?P<object>.+)"}
_PART = r"(?<!\(\?P)<(\w+)>"
_PAUSE = r"\s*[،,.:;؛!।—–-]"

Table = dict[str, dict[str, list[str]]]


class SpokenLanguage:
    r"""How a language words things: the fields of its table by name, which `fields.txt` describes.

    A list of words is a set, a list of rules a tuple, and everything else the text of an expression.

    >>> german = SpokenLanguage("de", "own words\n  ich | wir\nfirst\n  ich mich\n")
    >>> german.own, sorted(german.first), german.negation
    ('\\b(?:ich|wir)\\b', ['ich', 'mich'], '(?!)')
    """

    stop_words: frozenset[str]
    verbs: frozenset[str]
    people: frozenset[str]

    def __init__(self, code: str, text: str) -> None:
        self.code = code
        self._table = _table(text)
        lists = self._table.pop("list", {}).items()
        self._parts = _PARTS | {name: f"(?:{'|'.join(words)})" for name, words in lists}

    @property
    def telling(self) -> frozenset[str]:
        """Return the words that tell the language from others, next to its stop words."""
        listed = (words for field in TELLING for words in self._table.get(field, {}).values())
        return (self.verbs | self.people).union(filter(str.isalpha, itertools.chain(*listed)))

    def __getattr__(self, field: str) -> Any:
        """Return a field, read when it is first asked for; empty where the language has none."""
        if field.startswith("__"):
            raise AttributeError(field)
        shapes = self._table.get(field, {})
        value: Any
        if field in FLAGS:
            value = field in self._table
        elif field in LISTED:
            value = frozenset(" ".join(shapes.get("", ())).split())
        elif field in SEQUENCES:
            value = tuple(_filled(line, self._parts) for line in shapes.get("", ()))
        else:
            value = _filled("|".join(_alternatives(dict(shapes))), self._parts) or NOTHING
        setattr(self, field, value)
        return value


def _table(text: str) -> Table:
    table: Table = defaultdict(dict)
    for head, lines in paragraphs(text):
        field, _, shape = head.partition(" ")
        table[field][shape] = " ".join(lines).split(" | ") if shape else lines
    return table


def _filled(text: str, parts: dict[str, str]) -> str:
    while re.search(_PART, text):
        text = re.sub(_PART, lambda part: parts[part[1]], text)
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
    return [*found, *(SHAPES[name].replace("{}", words) for name, words in joined.items())]
