"""Text of no known kind, as an excerpt. The last reader; it takes any text that is not empty. Pure."""

from __future__ import annotations

from hippocampus.indexing.excerpt import excerpt, rows_of
from hippocampus.indexing.extraction import Extraction, ExtractionContext, kept
from hippocampus.indexing.lines import counted, lines_in
from hippocampus.indexing.thin import thinned


def extract(text: str, _context: ExtractionContext, first_number: int = 1) -> Extraction | None:
    """Read any text into its lines."""
    return _extracted(text, first_number)


@kept
def _extracted(text: str, first_number: int) -> Extraction | None:
    if not text.strip():
        return None
    total = lines_in(text)
    lines = list(excerpt(rows_of(text, first_number)))
    last = first_number + total - 1
    data = {"lines": total, "characters": len(text)}
    summary = f"{counted(total, 'line')}, {counted(len(text), 'character')}"
    return Extraction("text", summary, thinned(lines), data, (f"lines=[{first_number}, {last}]",))
