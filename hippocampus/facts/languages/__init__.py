"""What the fact store knows of languages: one file of data a language, read by this module alone.

Every file has stop words. `WordingRules` are there only for languages whose held-out statements pass.
Nothing here decides what a statement means for what is stored.
"""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Sequence
from typing import NamedTuple

CODES = (
    "en",
    "de",
    "fr",
    "es",
    "it",
    "pt",
    "nl",
    "ru",
    "uk",
    "pl",
    "sv",
    "tr",
    "ar",
    "hi",
    "el",
    "zh",
)
"""In the order in which ties are broken."""
SCRIPTS = (
    ("zh", re.compile("[\u4e00-\u9fff]")),
    ("ar", re.compile("[\u0600-\u06ff]")),
    ("hi", re.compile("[\u0900-\u097f]")),
    ("el", re.compile("[\u0370-\u03ff]")),
)
LETTERS = {"de": re.compile("[äöüß]"), "es": re.compile("[ñ¿¡íóú]"), "fr": re.compile("[èêçœûî]")}
"""Letters that tell languages of one script apart, where few words do."""
_OTHER = re.compile("[\u3040-\u30ff\uac00-\ud7af]")
"""Kana and Hangul: scripts of languages without a file, which may hold Han characters too."""


class WordingRules(NamedTuple):
    """How a language words what may end an earlier statement; regular expressions, none may be empty."""

    own: str
    """Any word of the first person."""
    people: str
    """Persons other than the speaker, as the speaker names them."""
    modifiers_follow: bool
    """Whether what tells two things of one name apart stands behind the name."""
    drops_subjects: bool
    """Whether a sentence of the speaker's may have no word of the first person."""
    first_person: str
    """Pronouns of the speaker as a subject."""
    possessive: str
    """Words before the name of what belongs to the speaker, or an article."""
    hypothetical: str
    """A condition, a wish, a plan or a guess."""
    reported: str
    """Somebody else's words."""
    temporary: str
    """A state that ends by itself."""
    addition: str
    """What is said holds next to what was said."""
    correction: str
    """An opening that says that what was said is wrong."""
    now: str
    """That something became so, or is so again."""
    swaps: Sequence[str]
    """The old value and the new one, as groups `old` and `new`; `new` may be missing."""
    contrast: str
    """What joins a wrong value and the right one where nothing else says that it is a correction."""
    corrections: Sequence[str]
    """The same where the old value was never true."""
    ended: str
    """That something is so no longer."""
    negation: str
    """Words of a denial."""
    verbs: str
    """Words of change and of use, which name no topic."""
    single: Sequence[tuple[str, str]]
    """Relations with one value at a time: a name, and a clause with the groups `subject` and `object`."""
    copula: str
    """What joins a role and who or what fills it."""


class SpokenLanguage(NamedTuple):
    """One language."""

    code: str
    stop_words: frozenset[str]
    rules: WordingRules | None = None


@functools.cache
def language(code: str) -> SpokenLanguage:
    """Return the language of a code."""
    data = importlib.import_module(f"{__name__}.{code}")
    rules = getattr(data, "RULES", None)
    return SpokenLanguage(
        code, frozenset(data.STOP_WORDS.split()), WordingRules(**rules) if rules else None
    )


@functools.cache
def _codes() -> dict[str, list[int]]:
    """Return for each small word the places of its languages in `CODES`."""
    found: dict[str, list[int]] = {}
    for place, code in enumerate(CODES):
        spoken = language(code)
        for word in spoken.stop_words | _verbs(spoken):
            found.setdefault(word, []).append(place)
    return found


def _verbs(spoken: SpokenLanguage) -> frozenset[str]:
    return frozenset(spoken.rules.verbs.split()) if spoken.rules else frozenset()


def language_of(text: str, words: Sequence[str]) -> SpokenLanguage:
    """Return the language of a text: by its script, else by the most function words; else English."""
    if not text.isascii():
        if _OTHER.search(text):
            return NONE
        for code, script in SCRIPTS:
            if script.search(text):
                return language(code)
    known, counts = _codes(), [0] * len(CODES)
    for word in words:
        for part in word.split("'") if "'" in word else (word,):
            for place in known.get(part, ()):
                counts[place] += 1
    if not text.isascii():
        for code, letters in LETTERS.items():
            counts[CODES.index(code)] += bool(
                counts[CODES.index(code)] and letters.search(text.lower())
            )
    most = max(counts)
    return language(CODES[counts.index(most)] if most else "en")


@functools.cache
def pattern(text: str) -> re.Pattern[str]:
    """Return a rule's compiled expression; it may be laid out over lines."""
    return re.compile("".join(part.strip() for part in text.split("\n")), re.IGNORECASE)


def word_set(text: str) -> frozenset[str]:
    """Return the words of a table that is written as text."""
    return frozenset(text.split())


NONE = SpokenLanguage("", frozenset())
