"""Source code and configuration: which texts are, and which of their lines define a name.

Nothing is run and no file is opened.
"""

from __future__ import annotations

import re

from hippocampus.indexing.code.recognition import read_language

__all__ = ["is_code", "is_config"]

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


def is_code(text: str) -> float:
    """Return how surely a text is source code; without names it is not."""
    reading = read_language(text)
    if reading is None or reading.language is None:
        return 0.0
    if reading.confidence >= SURE and reading.language.name not in SIGNS_IN_OUTPUT:
        return reading.confidence
    made = len(MADE.findall(text))
    return reading.confidence if made and LINES_PER_NAME * made >= text.count("\n") else 0.0


def is_config(text: str) -> float:
    """Return how surely a text is a configuration file."""
    reading = read_language(text)
    return reading.confidence if reading and reading.language is None else 0.0
