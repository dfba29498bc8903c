"""What the fact store knows of languages: a table for each, which `table` reads.

Every language has stop words, most have rules too. Nothing here decides what a statement means
for stored ones.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from pathlib import Path

from hippocampus.facts.languages.table import SpokenLanguage

CODES = (
    *("en", "de", "fr", "es", "it", "pt", "ru", "ar", "hi", "zh", "ja", "ko"),
    *("nl", "uk", "pl", "sv", "tr", "el"),
)
"""In the order in which ties are broken; of the last six there are stop words only, which keep a text from being read by another language's."""
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
    languages = [language(name) for name in ([code] if code else CODES)]
    while re.search(_FIELD, text):  # a field may name another one
        text = re.sub(
            _FIELD, lambda field: "|".join(getattr(one, field[1]) for one in languages), text
        )
    return re.compile(text, re.IGNORECASE)


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
