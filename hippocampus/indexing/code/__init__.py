"""Source code and configuration: which texts are, and the names that a source makes, with their lines.

Every language, and every partial read, by keywords and indentation. Nothing is run and no file is
opened.
"""

from __future__ import annotations

from hippocampus.indexing.code import keywords
from hippocampus.indexing.code.outline import Outline
from hippocampus.indexing.code.recognition import read_language

__all__ = ["is_code", "is_config", "outline_of"]

MAKING = frozenset({"class", "type", "def", "test", "section", "import"})
SURE = 0.95
"""From here on a part of a source needs no definition to be known as one."""
SIGNS_IN_OUTPUT = frozenset({"rust", "sql"})
"""Languages whose signs (`::`, `create`) are in what programs print."""
LINES_PER_NAME = 120
"""A source of a language defines or imports a name at least this often."""


def is_code(text: str, file: str = "") -> float:
    """Return how surely a text is source code; the name of its file makes it surer.

    A text that names nothing is none, unless it is a file of that language.
    """
    reading = read_language(text, file)
    if reading is None or reading.language is None:
        return 0.0
    is_sure = reading.confidence >= SURE and reading.language.name not in SIGNS_IN_OUTPUT
    if is_sure or reading.is_named:
        return reading.confidence
    symbols = keywords.outline(text, reading.language).symbols
    made = sum(symbol.kind in MAKING for symbol in symbols)
    return reading.confidence if made and LINES_PER_NAME * made >= text.count("\n") else 0.0


def is_config(text: str, file: str = "") -> float:
    """Return how surely a text is a configuration file."""
    reading = read_language(text, file)
    return reading.confidence if reading and reading.language is None else 0.0


def outline_of(text: str) -> Outline | None:
    """Return the names that a source makes, with their lines, or nothing where a text is none."""
    reading = read_language(text)
    if reading is None or reading.language is None:
        return None
    return keywords.outline(text, reading.language)
