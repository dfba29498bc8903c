"""Which language a text is in, and how sure that is, from its first lines.

Bounded: it looks at a sample, whatever the length of the text.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from hippocampus import patterns

SAMPLE_CHARACTERS = 20_000
SAMPLE_LINES = 150
LINE_CHARACTERS = 160
PLAIN_COMMENT = re.compile(r"^\s*(?://|/\*|\*/?(?:\s|$)|#(?!#)|--\s)")
SETTING = re.compile(
    r"^\s*(?:- )?(?:[\w.\"'/$@*-]{1,60}(?: ?= ?\S|: *[^\s,;{(]|:\s*$)|\[\[?[\w.\"' -]+\]\]?$)|^\s*- [\w\"'./]"
)
TOOL_OUTPUT = re.compile(
    r"\b(?:error|warning)\b(?: \w{1,12})?:|^Traceback \(|^(?:\+\+\+|---|@@) ", re.IGNORECASE
)
"""Compilers and diffs quote code and are not code."""
PROGRAM_ENDS = (";", "{", "}", "(", ")")
CERTAIN_SHARE = 0.45
"""From this share of telling lines on, a text is surely code."""
SETTINGS_SHARE = 0.85
"""From this share of lines that set something on, a text is a configuration."""
CONFIG_CONFIDENCE = 0.8
SENTENCE = re.compile(
    r"(?:[-*>•] +|\d+[.)] +|#+ +)?(?:[\"'(*`“]{0,3}[^\W\d_]['’\w-]*[\"')*`”,.:]{0,3} ){6}"
)
"""Six words in a row: how people write, and code seldom, comments apart."""
TOOL_SHARE, QUOTED = 0.05, 0.4
"""From this share of lines of compilers on, code is quoted, and this much less sure."""
PROSE = 3
"""How much less sure a share of sentences makes a text."""
MIN_NAMED_SHARE = 0.15
"""Under this share of telling lines, a text may be in a language that has no marks here."""
MIN_CONFIDENCE = 0.2
MIN_LINES = 3


class Language(NamedTuple):
    """One language, or a family that is written alike."""

    name: str
    marks: re.Pattern[str]
    """Found in most lines of it, and in few of others."""


_TABLE = patterns.table(__package__, "languages.txt")
_FLOW = "|".join(_TABLE.pop("flow"))
"""Marks of a function's inside, for parts of a file that name nothing."""
LANGUAGES = [
    Language(name, re.compile("|".join(marks).replace("<flow>", _FLOW)))
    for name, marks in _TABLE.items()
]
"""The last is any other language."""


class LanguageGuess(NamedTuple):
    """What a text is read as."""

    language: Language | None
    """Nothing for a configuration file."""
    confidence: float


@functools.lru_cache(maxsize=8)
def read_language(text: str) -> LanguageGuess | None:
    """Return the language of a text, or nothing for another text."""
    lines = [
        line[:LINE_CHARACTERS] for line in text[:SAMPLE_CHARACTERS].split("\n") if line.strip()
    ]
    lines = lines[:: 1 + len(lines) // SAMPLE_LINES]  # also after a long comment at the head
    if len(lines) < MIN_LINES:
        return None
    written = [line for line in lines if not PLAIN_COMMENT.match(line)]
    count = max(MIN_LINES, len(written))
    settings = sum(map(_sets, written)) / count
    if settings >= SETTINGS_SHARE:
        return LanguageGuess(None, CONFIG_CONFIDENCE * settings)
    found = Counter(itertools.chain.from_iterable(map(_languages_in(), lines)))
    *named, unnamed = (found[number] / count for number in range(len(LANGUAGES)))
    most = max(named)
    best = LANGUAGES[named.index(most)]
    if most < MIN_NAMED_SHARE and unnamed > most:
        best, most = LANGUAGES[-1], unnamed
    confidence = min(1.0, most / CERTAIN_SHARE)
    if confidence > MIN_CONFIDENCE:
        prose = (SENTENCE.match(line) and not best.marks.search(line) for line in lines)
        confidence *= max(0.0, 1 - PROSE * sum(map(bool, prose)) / len(lines))
    if confidence > MIN_CONFIDENCE:
        quoted = sum(TOOL_OUTPUT.search(line) is not None for line in lines)
        confidence *= QUOTED if quoted > TOOL_SHARE * len(lines) else 1.0
    return LanguageGuess(best, confidence) if confidence > MIN_CONFIDENCE else None


def _sets(line: str) -> bool:
    is_setting = SETTING.match(line) and not line.rstrip().endswith(PROGRAM_ENDS)
    return bool(is_setting) and not SENTENCE.match(line)


@functools.cache
def _languages_in() -> Callable[[str], Sequence[int]]:
    """Return a function from a line to the numbers of the languages that have marks in it."""
    return patterns.numbers_in(language.marks.pattern for language in LANGUAGES)
