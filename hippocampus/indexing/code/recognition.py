"""Which language a text is in, and how sure that is, from its first lines and a file's name.

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
from hippocampus.indexing.code.languages import BY_EXTENSION, LANGUAGES, SOME_LANGUAGE, Language
from hippocampus.indexing.templates import map_alike

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
"""Compilers and differences quote code and are none."""
PROGRAM_ENDS = (";", "{", "}", "(", ")")
SETTING_EXTENSIONS = frozenset(
    ["yaml", "yml", "toml", "ini", "cfg", "conf", "env", "properties", "editorconfig", "lock"]
)
CERTAIN_SHARE = 0.45
"""From this share of telling lines on, a text is surely code."""
SETTINGS_SHARE, NAMED_SETTINGS_SHARE = 0.85, 0.3
"""From this share of lines that set something on, a text is a configuration: of any file, and of one that
its ending names."""
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
EXTENSION_BONUS = 0.35
MIN_LINES = 3


class LanguageGuess(NamedTuple):
    """What a text is read as."""

    language: Language | None
    """Nothing for a configuration file."""
    confidence: float
    is_named: bool = False
    """Whether the call names a file with the extension of this language."""


def read_language(text: str, file: str = "") -> LanguageGuess | None:
    """Return the language of a text, or nothing where it is none; `file` is its name, if known."""
    _, dot, ending = file.rpartition(".")
    extension = ending.lower() if dot else ""
    sample = _sample(text)
    if len(sample.lines) < MIN_LINES:
        return None
    found = sample.settings
    least = NAMED_SETTINGS_SHARE if extension in SETTING_EXTENSIONS else SETTINGS_SHARE
    if found >= least:
        return LanguageGuess(None, CONFIG_CONFIDENCE * found)
    return _best(sample, BY_EXTENSION.get(extension))


class _Sample:
    """Lines from all over the start of a text, also after a long comment at its head."""

    def __init__(self, text: str) -> None:
        lines = text[:SAMPLE_CHARACTERS].split("\n")
        rendered = [line[:LINE_CHARACTERS] for line in lines if line.strip()]
        self.lines = rendered[:: 1 + len(rendered) // SAMPLE_LINES]
        self._render = [line for line in self.lines if not PLAIN_COMMENT.match(line)]

    @functools.cached_property
    def settings(self) -> float:
        """The share of the lines that set something."""
        if len(self._render) < MIN_LINES:
            return 0.0
        return sum(map_alike(self._render, _sets)) / len(self._render)

    @functools.cached_property
    def shares(self) -> list[float]:
        """The share of telling lines, for each of all languages."""
        found = Counter(itertools.chain.from_iterable(map_alike(self.lines, _languages_in())))
        rest = max(MIN_LINES, len(self._render))
        return [found[number] / rest for number in range(len(ALL_LANGUAGES))]

    @functools.cached_property
    def is_tool_output(self) -> bool:
        """Whether a compiler or a difference quotes the code."""
        found = sum(1 for line in self.lines if TOOL_OUTPUT.search(line))
        return found > TOOL_SHARE * len(self.lines)

    def prose_share(self, language: Language) -> float:
        """Return the share of lines that read as sentences and not as the language."""
        found = map_alike(
            self.lines,
            lambda line: SENTENCE.match(line) is not None and not language.marks.search(line),
        )
        return sum(found) / len(self.lines)


_sample = functools.lru_cache(maxsize=8)(_Sample)
"""A text is looked at for code and for settings, when it arrives and with the name of its file."""


def _sets(line: str) -> bool:
    is_setting = SETTING.match(line) and not line.rstrip().endswith(PROGRAM_ENDS)
    return bool(is_setting) and not SENTENCE.match(line)


ALL_LANGUAGES = (*LANGUAGES, SOME_LANGUAGE)


@functools.cache
def _languages_in() -> Callable[[str], Sequence[int]]:
    """Return a function from a line to the numbers of the languages whose marks are in it."""
    return patterns.numbers_in(
        ("(?i)" if language.marks.flags & re.IGNORECASE else "") + language.marks.pattern
        for language in ALL_LANGUAGES
    )


def _best(sample: _Sample, expected: Language | None) -> LanguageGuess | None:
    shares = list(sample.shares)
    if expected is not None:
        shares[ALL_LANGUAGES.index(expected)] += EXTENSION_BONUS
    *_, unnamed = shares
    most = max(shares[:-1])
    if most < MIN_NAMED_SHARE and unnamed > most:
        best, most = SOME_LANGUAGE, unnamed
    else:
        best = LANGUAGES[shares.index(most)]
    confidence = min(1.0, most / CERTAIN_SHARE)
    if confidence > MIN_CONFIDENCE and best is not expected:
        confidence *= max(0.0, 1 - PROSE * sample.prose_share(best))
    if confidence > MIN_CONFIDENCE and sample.is_tool_output:
        confidence *= QUOTED
    is_named = expected is not None and best is expected
    return LanguageGuess(best, confidence, is_named) if confidence > MIN_CONFIDENCE else None
