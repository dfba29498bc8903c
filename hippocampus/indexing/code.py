"""Source code and configuration: which texts are, in which language, and which lines define something.

Bounded: a sample shows what a text is, whatever its length. Nothing is run and no file is opened. Pure.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from hippocampus import patterns

SAMPLE_CHARACTERS = 20_000
SAMPLE_LINES = 150
LINE_CHARACTERS = 160
SETTING = re.compile(
    r"^\s*(?:- )?(?:[\w.\"'/$@*-]{1,60}(?: ?= ?\S|: *[^\s,;{(\\]|:\s*$)|\[\[?[\w.\"' -]+\]\]?$)|^\s*- [\w\"'./]"
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
MODIFIERS = (
    r"(?:(?:export|default|public|private|protected|internal|static|async|pub|abstract|final|override|"
    r"inline|virtual|unsafe|open|data|sealed|const|declare)\b[ \t(]*(?:crate\)[ \t]*)?)*"
)
MADE = re.compile(
    rf"^[ \t]{{0,60}}{MODIFIERS}(?:def|class|fn|func|function|fun|interface|type|struct|enum|trait|impl|"
    r"module|namespace|mod|record|object|test|it|describe|sub|create|CREATE|import|from|use|using|package|"
    r"require|include|#include|const|let|var|val)\b[ \t(]*[\w\"'<{*.@$]",
    re.MULTILINE,
)
"""A line that defines or imports a name, in any language."""
SURE = 0.95
"""From here on a part of a source needs no definition to be known as one."""
SIGNS_IN_OUTPUT = frozenset({"rust", "sql"})
"""Languages with signs (`::`, `create`) that programs print, too."""
LINES_PER_NAME = 120
"""A source of a language defines or imports a name at least this often."""
INSIDE = re.compile(
    r"[})\]]?\s*(?:if|elif|else|for|foreach|while|until|unless|switch|match|case|when|try|catch|except|rescue"
    r"|finally|with|using|do|select|default|loop|return|yield|raise|throw|await|go|defer)\b|.*,$"
)
"""A line, without blanks around it, that opens a block and defines nothing."""
CONFIG = "configuration"
REMEMBERED = 8
_TABLE = patterns.table(__package__, "programming_languages.txt")
_FLOW = "|".join(_TABLE.pop("flow"))
"""Marks of a function's inside, for parts of a file that name nothing."""
LANGUAGES = {
    name: re.compile("|".join(marks).replace("<flow>", _FLOW)) for name, marks in _TABLE.items()
}
"""By language, or by family that is written alike, marks that most of its lines have, and few of others;
the last is any other language."""


def is_code(text: str) -> float:
    """Return how surely a text is source code; without names it is not."""
    language, confidence = language_of(text)
    if language == CONFIG:
        return 0.0
    if confidence >= SURE and language not in SIGNS_IN_OUTPUT:
        return confidence
    made = len(MADE.findall(text))
    return confidence if made and LINES_PER_NAME * made >= text.count("\n") else 0.0


def is_config(text: str) -> float:
    """Return how surely a text is a configuration file."""
    language, confidence = language_of(text)
    return confidence if language == CONFIG else 0.0


@functools.lru_cache(REMEMBERED)
def language_of(text: str) -> tuple[str, float]:
    """Return the language of a text, or `CONFIG`, and how sure that is: 0 for another text."""
    lines = [
        line[:LINE_CHARACTERS] for line in text[:SAMPLE_CHARACTERS].split("\n") if line.strip()
    ]
    lines = lines[:: 1 + len(lines) // SAMPLE_LINES]  # also after a long comment at the head
    if len(lines) < MIN_LINES:
        return "", 0.0
    set_lines = (
        SETTING.match(line)
        and not line.rstrip().endswith(PROGRAM_ENDS)
        and not SENTENCE.match(line)
        for line in lines
    )
    settings = sum(map(bool, set_lines)) / len(lines)
    if settings >= SETTINGS_SHARE:
        return CONFIG, CONFIG_CONFIDENCE * settings
    found = Counter(itertools.chain.from_iterable(map(_languages_in(), lines)))
    names = list(LANGUAGES)
    *named, unnamed = (found[number] / len(lines) for number in range(len(names)))
    most = max(named)
    best = names[named.index(most)]
    if most < MIN_NAMED_SHARE and unnamed > most:
        best, most = names[-1], unnamed
    confidence = min(1.0, most / CERTAIN_SHARE)
    if confidence > MIN_CONFIDENCE:
        prose = (SENTENCE.match(line) and not LANGUAGES[best].search(line) for line in lines)
        confidence *= max(0.0, 1 - PROSE * sum(map(bool, prose)) / len(lines))
    if confidence > MIN_CONFIDENCE:
        quoted = sum(TOOL_OUTPUT.search(line) is not None for line in lines)
        confidence *= QUOTED if quoted > TOOL_SHARE * len(lines) else 1.0
    return (best, confidence) if confidence > MIN_CONFIDENCE else ("", 0.0)


@functools.cache
def _languages_in() -> Callable[[str], Sequence[int]]:
    """Return a function from a line to the numbers of the languages that have marks in it."""
    return patterns.numbers_in(marks.pattern for marks in LANGUAGES.values())


# Outlines


class Definition(NamedTuple):
    """A line that opens a block."""

    at: int
    """Its place among the lines."""
    depth: int
    """The characters by which it is indented."""


def depth_of(line: str) -> int:
    """Return the characters by which a line is indented."""
    return len(line) - len(line.lstrip())


def definitions(lines: Sequence[str]) -> Iterator[Definition]:
    """Yield the lines below which others are indented further, but for control flow."""
    numbered = enumerate(lines)
    filled = [(at, depth_of(line)) for at, line in numbered if any(map(str.isalnum, line))]
    for (at, depth), (_, below) in itertools.pairwise(filled):
        if below > depth and not INSIDE.match(lines[at].strip()):
            yield Definition(at, depth)
