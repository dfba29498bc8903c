"""Finds what a path names in content: a part of JSON, a row, a symbol, an element, a section. Pure.

The content decides how a path is read; the first finder with a result counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from hippocampus.errors import RecallError, nearest
from hippocampus.recall import markup, parts, sections, symbols
from hippocampus.recall.fitting import NumberedLine, decoded

Finder = Callable[[str, str], list[NumberedLine]]
FINDERS: tuple[Finder, ...] = (parts.find_in_table, markup.find, symbols.find, sections.find)
LISTS: tuple[Callable[[str], Sequence[str]], ...] = (
    parts.names_in_table,
    symbols.names,
    sections.names,
)
"""Each lists the names in a text; used where a path finds nothing."""
MAX_LISTED = 12


def lines_at(text: str, path: str) -> Iterator[NumberedLine]:
    """Yield the lines that a path names.

    Raises:
        RecallError: it is not a path, or names nothing here; the error lists existing names.

    """
    value = decoded(text)
    if isinstance(value, dict | list):
        yield from parts.find(value, path)
        return
    if path.lstrip().startswith("$"):
        text = "this content is not JSON; ask by lines or by a pattern"
        raise RecallError("bad_request", text)
    inner = value if isinstance(value, str) else text
    found = next(filter(None, (find(inner, path) for find in FINDERS)), None)
    if found is None:
        known = list(dict.fromkeys(name for names in LISTS for name in names(inner)))
        near = list(nearest(path, known, MAX_LISTED)) or known[:MAX_LISTED]
        listed = f"; there are {', '.join(name[:60] for name in near)}" if near else ""
        reason = f"nothing here is named {path[:60]!r}{listed}; or ask by a pattern"
        raise RecallError("no_match", reason)
    yield from found
