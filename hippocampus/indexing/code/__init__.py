"""Source code and configuration read into an outline with line numbers.

Every language, and every partial read, by keywords and indentation: parsers
answered no more in any measure. Nothing is run and no file is opened.
"""

from __future__ import annotations

from hippocampus.indexing.code import keywords
from hippocampus.indexing.code.languages import Language
from hippocampus.indexing.code.outline import Outline
from hippocampus.indexing.code.recognition import read_language
from hippocampus.indexing.code.writing import write_outline, write_settings
from hippocampus.indexing.extraction import Extraction, ExtractionContext, kept

__all__ = ["extract", "outline_of", "recognises"]

MAKING = frozenset({"class", "type", "def", "test", "section", "import"})
SURE = 0.95
"""From here on a part of a source needs no definition to be known as one."""
SIGNS_IN_OUTPUT = frozenset({"rust", "sql"})
"""Languages whose signs (`::`, `create`) stand in what programs print."""
LINES_PER_NAME = 120
"""A source of a language defines or imports a name at least this often."""


def recognises(text: str, context: ExtractionContext | None = None) -> float:
    """Return how sure it is, from 0 to 1, that a text is source code or configuration.

    A file's name in the call's arguments makes it surer, and where both agree no comment counts.
    """
    reading = read_language(text, context)
    return reading.confidence if reading else 0.0


def extract(text: str, context: ExtractionContext, first_line: int = 1) -> Extraction | None:
    """Return the extraction of source code whose first line has this number in its file.

    A text that names nothing is none, unless the call read a file of that language.
    """
    reading = read_language(text, context)
    if reading is None:
        return None
    if reading.language is None:
        return write_settings(text, first_line)
    outline = _outline(text, reading.language, first_line)
    is_sure = reading.confidence >= SURE and reading.language.name not in SIGNS_IN_OUTPUT
    is_sure = is_sure or reading.is_named
    if not is_sure and not _names_enough(outline, text):
        return None
    return _written(text, reading.language, first_line)


@kept
def _outline(text: str, language: Language, first_line: int) -> Outline:
    return keywords.outline(text, language, first_line)


@kept
def _written(text: str, language: Language, first_line: int) -> Extraction:
    return write_outline(text, _outline(text, language, first_line), first_line)


def _names_enough(outline: Outline, text: str) -> bool:
    """Return whether a text without a file's name defines things, as output with code in it does not."""
    made = sum(each.kind in MAKING for each in outline.symbols)
    return made > 0 and LINES_PER_NAME * made >= text.count("\n")


def outline_of(text: str) -> Outline | None:
    """Return the names that a source makes, with their lines, or nothing where a text is none."""
    reading = read_language(text)
    if reading is None or reading.language is None:
        return None
    return keywords.outline(text, reading.language)
