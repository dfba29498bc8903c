"""What the fact store knows of languages: a table a language, with its words, and the few shapes of rules.

Every language has stop words, most have rules too; a new one is a file. A paragraph of a
table is a field: its name, the shape of its words, and the words, separated by bars. Without a shape each
line is a regular expression, in which `<name>` is replaced by a list of the table. Nothing here decides
what a statement means for stored ones.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hippocampus.patterns import paragraphs

_FIRST = ("en", "de", "fr", "es", "it", "pt", "ru", "ar", "hi", "zh", "ja", "ko")
CODES = tuple(
    dict.fromkeys([*_FIRST, *sorted(path.stem for path in Path(__file__).parent.glob("??.txt"))])
)
"""The tables, in the order in which ties are broken."""
OTHER_SCRIPTS = frozenset({"ru", "uk", "ar", "hi", "zh", "ja", "ko", "el"})
"""Languages that have no word of ASCII letters."""
SCRIPTS = (
    ("ja", "[\u3040-\u30fb\u30fd-\u30ff]"),
    ("ko", "[\uac00-\ud7af]"),
    ("zh", "[\u4e00-\u9fff]"),
    ("ar", "[\u0600-\u06ff]"),
    ("hi", "[\u0900-\u097f]"),
    ("el", "[\u0370-\u03ff]"),
)
"""In this order: Japanese has Han characters too."""
CYRILLIC = "[\u0400-\u04ff]"
LETTERS = {
    "de": "[äöüß]",
    "es": "[ñ¿¡íóú]",
    "fr": "[èêçœûî]",
    "it": "[òùìè]",
    "pt": "[ãõç]",
}
"""Letters that tell languages of one script apart, where few words do."""
_FIELD = r"\{([a-z_]+)\}"
_WORD = r"(?:[^\s,.:;!?()，。；：！？、،؛؟।]|(?<=\w)\.(?=\w)){1,30}?"
_PART = r"(?:[^,.;:!?()，。；：！？、،؛؟।]|(?<=\d)[.:,](?=\s?\w))"
_VALUE = {
    "{thing}": rf"(?P<thing>{_WORD}(?: {_WORD}){{0,4}}?)",
    "{old}": rf"(?P<old>{_WORD}(?: {_WORD}){{0,3}}?)",
    "{new}": rf"(?P<new>{_PART}{{1,60}})",
}
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
    "openings": r"^\W*(?:{})",
}
"""How a list of words is looked for."""
LISTED = frozenset(
    ("stop_words", "first", "labels", "people", "verbs", "endings", "verb_endings", "last_vowels")
)
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
_FILLED = {
    "year": r"(?:19|20)\d\d",
    "subject": "(?P<subject>.+?)",
    "object": "(?P<object>.+)",
    "pause": r"\s*[،,.:;؛!।—–-]",
}
_NAMED = r"(?<!\(\?P)<(\w+)>"


class SpokenLanguage:
    r"""How a language words things: the fields of its table by name, which `README.txt` describes.

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
        self._table: dict[str, dict[str, list[str]]] = defaultdict(dict)
        for head, lines in paragraphs(text):
            field, _, shape = head.partition(" ")
            self._table[field][shape] = " ".join(lines).split(" | ") if shape else lines
        lists = self._table.pop("list", {}).items()
        self._parts = _FILLED | {name: f"(?:{'|'.join(words)})" for name, words in lists}

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
            expressions = list(shapes.get("", ()))
            for shape, words in shapes.items():
                if shape:
                    listed = "|".join(words).replace(" ", r"\s")
                    expressions.append(SHAPES[shape].replace("{}", listed))
            value = _filled("|".join(expressions), self._parts) or NOTHING
        setattr(self, field, value)
        return value


def _filled(text: str, parts: dict[str, str]) -> str:
    while re.search(_NAMED, text):
        text = re.sub(_NAMED, lambda part: parts[part[1]], text)
    return text


@functools.cache
def language(code: str) -> SpokenLanguage:
    """Return the language of a code."""
    return SpokenLanguage(code, Path(__file__).with_name(f"{code}.txt").read_text(encoding="utf-8"))


@functools.cache
def _codes(*, is_ascii: bool) -> dict[str, list[int]]:
    """Return for each small word the places of its languages in `CODES`; of ASCII words, or of all."""
    found: dict[str, list[int]] = {}
    for place, code in enumerate(CODES):
        if is_ascii and code in OTHER_SCRIPTS:
            continue
        spoken = language(code)
        for word in spoken.stop_words | spoken.telling:
            found.setdefault(word, []).append(place)
    return found


def language_of(text: str, words: Sequence[str]) -> SpokenLanguage:
    """Return the language of a text: by its script, else by the most function words; else Russian or English."""
    if not text.isascii():
        for code, script in SCRIPTS:
            if re.search(script, text):
                return language(code)
    known, counts = _codes(is_ascii=text.isascii()), [0] * len(CODES)
    for word in words:
        for part in word.split("'") if "'" in word else (word,):
            for place in known.get(part, ()):
                counts[place] += 1
    if not text.isascii():
        for code, letters in LETTERS.items():
            counts[CODES.index(code)] += bool(
                counts[CODES.index(code)] and re.search(letters, text.lower())
            )
    if not (most := max(counts)):
        return language("ru" if re.search(CYRILLIC, text) else "en")
    return language(CODES[counts.index(most)])


@functools.cache
def pattern(text: str) -> re.Pattern[str]:
    """Return a rule's compiled expression."""
    return re.compile(text, re.IGNORECASE)


@functools.cache
def words_of_any(field: str) -> frozenset[str]:
    """Return the words of a field of any language."""
    return frozenset().union(*(getattr(language(code), field) for code in CODES))


@functools.cache
def expression(text: str, code: str = "") -> re.Pattern[str]:
    """Return an expression with `{name}` replaced by that field of the phrases of a language, or of all.

    >>> expression("({and_words}) ({now_words})").search("und jetzt")[2]
    'jetzt'
    >>> expression("({and_words}) ({now_words})", "en").search("und jetzt")
    """
    return re.compile(filled(text, code), re.IGNORECASE)


def filled(text: str, code: str = "") -> str:
    """Return the text of such an expression, for one that knows capitals."""
    languages = [language(name) for name in ([code] if code else CODES)]
    while re.search(_FIELD, text):  # a field may name another one
        text = re.sub(
            _FIELD, lambda field: "|".join(getattr(one, field[1]) for one in languages), text
        )
    return text


@functools.cache
def template(text: str) -> re.Pattern[str]:
    """Return the expression of a wording with `{old}`, `{new}` and `{thing}` in their places.

    >>> found = template("from {old} to {new}").search("We moved from Hull to Derby, at last")
    >>> found["old"], found["new"]
    ('Hull', 'Derby')
    """
    for name, value in _VALUE.items():
        at_end = text.endswith(name)
        text = text.replace(name, value.replace("}?", "}") if at_end else value)
    edge = (
        ""
        if re.search("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]", text)
        else r"(?<![\w\u0900-\u094f])"
    )
    return re.compile(edge + text.replace(" ", r"\s+"), re.IGNORECASE)
