"""An outline written as an extraction: names with their lines, then the source's own lines.

The names come packed, since they answer most for their size; the excerpt gives each its text. Pure.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from hippocampus.indexing.code.outline import Outline, Symbol, qualified
from hippocampus.indexing.excerpt import WORDLESS, TextRow, excerpt, rows_of
from hippocampus.indexing.extraction import EntryLine, Extraction
from hippocampus.indexing.lines import counted, lines_in, packed, ranked
from hippocampus.indexing.thin import thinned


@dataclass(frozen=True, slots=True)
class SourceWeights:
    """What the lines of a source are worth, relative to each other; chosen by reading."""

    title: float = 6.0
    names: float = 20.0
    """Packed lists of the names that others may use."""
    private: float = 2.0
    """Packed lists of names that begin with an underscore."""
    imports: float = 3.0
    constants: float = 3.0
    fields: float = 1.5
    definition: float = 0.6
    constant: float = 0.5
    line: float = 0.35
    comment: float = 0.25
    bare: float = 0.02
    task: float = 0.8
    """A note of open work."""


WEIGHTS = SourceWeights()
FEW_HOLDING = 3
"""Up to here classes stand with their methods only, and not in a list of their own."""
LABELS = {"class": "class", "type": "type", "def": "def", "section": "section", "test": "test"}
NOUNS = {
    "class": ("class", "classes"),
    "type": ("type", "types"),
    "def": ("function", "functions"),
    "test": ("test", "tests"),
    "const": ("constant", "constants"),
    "section": ("section", "sections"),
}
MOST_ALIKE = 4
"""Of more symbols with one name (the rows that a script inserts) the first stands, and their number."""
VALUE_CHARACTERS = 40
MANY_METHODS = 8
"""From here on methods are counted, since not all of them may stand."""
COMMENT = re.compile(r"\s*(?://|/?\*|#(?!include|define|\[)|--\s|<!--)")
TASK_NOTE = re.compile(r"\b(?:TODO|FIXME|XXX|HACK)\b")


def write_outline(text: str, outline: Outline, first_line: int = 1) -> Extraction:
    """Return the extraction of a source."""
    symbols = outline.symbols
    last = first_line + lines_in(text) - 1
    lines = (
        [EntryLine(f"about: {outline.title}", WEIGHTS.title, keep=True)] if outline.title else []
    )
    lines += _overview(symbols)
    _add_members(lines, symbols)
    lines += _imports(symbols)
    lines += excerpt(rows_of(text, first_line), _weigher(symbols))
    counts = Counter[str](symbol.kind for symbol in symbols)
    parts = [counted(counts[kind], *NOUNS[kind]) for kind in NOUNS if counts[kind]]
    summary = f"{outline.language} source, {_span(first_line, last)}"
    summary += f": {', '.join(parts)}" if parts else ""
    data = {"language": outline.language, "lines": [first_line, last], "symbols": len(symbols)}
    selectors = (f"lines=[{first_line}, {last}]", *_named_selector(symbols))
    return Extraction("code", summary, thinned(lines), data, selectors, "names")


def _span(first: int, last: int) -> str:
    """Return the size of a source; a part of a file by the numbers of its lines."""
    return counted(last, "line") if first == 1 else f"lines {first}-{last} of the file"


def _named_selector(symbols: list[Symbol]) -> Iterator[str]:
    """Yield the selector of one symbol: a recall takes each of them by its name."""
    made = (each for each in symbols if each.kind in ("def", "class", "type"))
    if (symbol := next(made, None)) is not None:
        yield f'path="{symbol.name}"'


def _overview(symbols: list[Symbol]) -> Iterator[EntryLine]:
    """Yield lists of the names that belong to the whole source, with their lines."""
    holding = {symbol.parent for symbol in symbols if symbol.kind == "def"}
    for kind, label in LABELS.items():
        at_top = [
            symbol
            for number, symbol in enumerate(symbols)
            if symbol.parent is None
            and symbol.kind == kind
            and (number not in holding or kind == "def" or len(holding) > FEW_HOLDING)
        ]
        yield from _named(at_top, label)
    constants = [
        f"{symbol.name} {symbol.line}{_value(symbol)}"
        for symbol in symbols
        if symbol.parent is None and symbol.kind == "const"
    ]
    yield from ranked(packed(constants, "const", weight=WEIGHTS.constants, count=0))


def _named(symbols: list[Symbol], label: str, at: int | None = None) -> Iterator[EntryLine]:
    """Yield names with their lines, those that others may use first."""
    often = Counter(each.name for each in symbols)
    found: dict[str, str] = {}
    for each in symbols:
        times = often[each.name]
        key = each.name if times > MOST_ALIKE else f"{each.name} {each.line}"
        more = f" and {times - 1} more" if times > MOST_ALIKE else ""
        found.setdefault(key, f"{each.name} {each.line}{more}")
    public = [shown for shown in found.values() if shown[:1] != "_"]
    private = [shown for shown in found.values() if shown[:1] == "_"]
    yield from ranked(packed(public, label, weight=WEIGHTS.names, count=0, at=at))
    yield from ranked(packed(private, label, weight=WEIGHTS.private, count=0))


def _value(symbol: Symbol) -> str:
    """Return a constant's value, where that is short and on its line."""
    value = symbol.signature.strip()
    whole = value.startswith(("=", ":")) and "…" not in value
    return f" {value}" if whole and len(value) <= VALUE_CHARACTERS else ""


def _add_members(lines: list[EntryLine], symbols: list[Symbol]) -> None:
    """Add, for each class and its like, the list of its members."""
    held: dict[int, list[Symbol]] = {}
    for symbol in symbols:
        if symbol.parent is not None and symbol.kind not in ("import", "const"):
            held.setdefault(symbol.parent, []).append(symbol)
    held_constants: dict[int, list[Symbol]] = {}
    for symbol in symbols:
        if symbol.parent is not None and symbol.kind == "const":
            held_constants.setdefault(symbol.parent, []).append(symbol)
            held.setdefault(symbol.parent, [])
    for number, inside in held.items():
        holder = symbols[number]
        if holder.kind != "def":
            is_short = holder.kind == "class" and len(holder.signature) < VALUE_CHARACTERS
            bases = holder.signature if is_short and holder.signature[:1] == "(" else ""
            label = f"{holder.kind} {qualified(symbols, number)}{bases} {holder.line}"
            defs = sum(each.kind == "def" for each in inside)
            label += f" ({defs} methods)" if defs > MANY_METHODS else ""
            lines += _named(inside, label, len(lines))
            fields = [f"{each.name} {each.line}" for each in held_constants.get(number, ())]
            lines += packed(fields, f"fields of {label}", weight=WEIGHTS.fields, count=0)


def _imports(symbols: list[Symbol]) -> Iterator[EntryLine]:
    imported = dict.fromkeys(
        f"{symbol.name}{symbol.signature if symbol.signature[:2] == ' (' else ''}"
        for symbol in symbols
        if symbol.kind == "import"
    )
    return ranked(packed(imported, "import", weight=WEIGHTS.imports, count=0))


def _weigher(symbols: list[Symbol]) -> Callable[[TextRow], float]:
    """Return what weighs a line of the source by the symbol that it defines."""
    by_line = {
        symbol.line: WEIGHTS.constant if symbol.kind in ("const", "import") else WEIGHTS.definition
        for symbol in symbols
    }

    def weigh(row: TextRow) -> float:
        known = by_line.get(row.number)
        if known is not None:
            return known
        if WORDLESS.fullmatch(row.text[:200]):
            return WEIGHTS.bare
        if TASK_NOTE.search(row.text[:200]):
            return WEIGHTS.task
        return WEIGHTS.comment if COMMENT.match(row.text[:200]) else WEIGHTS.line

    return weigh


def write_settings(text: str, first_line: int = 1) -> Extraction:
    """Return the extraction of a configuration file: its lines."""
    last = first_line + lines_in(text) - 1
    lines = thinned(list(excerpt(rows_of(text, first_line))))
    selectors = (f"lines=[{first_line}, {last}]",)
    summary = f"configuration, {_span(first_line, last)}"
    return Extraction("config", summary, lines, {"lines": [first_line, last]}, selectors)
