"""What a path names in a content: a part of JSON, a row, a symbol, an element, a section. Pure.

The kind of content decides how a path is read; the first reading that finds something counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from hippocampus.errors import RecallError, nearest
from hippocampus.recall import markup, parts, sections, symbols, tabular
from hippocampus.recall.fitting import Shown
from hippocampus.recall.paging import decoded

Finder = Callable[[str, str], list[Shown]]
FINDERS: tuple[Finder, ...] = (tabular.find, markup.find, symbols.find, sections.find)
LISTS: tuple[Callable[[str], Sequence[str]], ...] = (
    tabular.names,
    symbols.names,
    sections.names,
)
"""Each lists what may be named; asked when a path found nothing."""
MOST_LISTED = 12


def at(text: str, path: str) -> Iterator[Shown]:
    """Yield the lines of what a path names.

    Raises:
        RecallError: it is no path, or names nothing here; the text lists what there is.

    """
    value = decoded(text)
    if isinstance(value, dict | list):
        yield from parts.find(value, path)
        return
    if path.lstrip().startswith("$"):
        raise RecallError("bad_request", "this content is no JSON; ask by lines or by a pattern")
    inner = value if isinstance(value, str) else text
    found = next(filter(None, (find(inner, path) for find in FINDERS)), None)
    if found is None:
        raise RecallError("no_match", _nothing(inner, path))
    yield from found


def _nothing(text: str, path: str) -> str:
    known = list(dict.fromkeys(name for names in LISTS for name in names(text)))
    near = list(nearest(path, known, MOST_LISTED)) or known[:MOST_LISTED]
    listed = f"; there are {', '.join(name[:60] for name in near)}" if near else ""
    return f"nothing here is named {path[:60]!r}{listed}; or ask by a pattern"
