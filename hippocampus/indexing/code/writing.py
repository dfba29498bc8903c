"""An outline written as a extraction: names with line numbers first, then signatures, then names used.

Pure; which lines stand is chosen elsewhere.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator

from hippocampus.indexing.code.outline import Outline, Symbol, qualified
from hippocampus.indexing.code.settings import ConfigSetting
from hippocampus.indexing.extraction import EntryLine, Extraction
from hippocampus.indexing.lines import counted, cut, packed, ranked

TITLE, TOP, MEMBERS, CONSTANTS = 1.0, 20.0, 20.0, 2.0
PRIVATE = 0.04
"""What names that begin with an underscore weigh of the others."""
FEW_HOLDING = 3
"""So many classes are named where their methods are, and not in a list of their own."""
IMPORTS, FIELDS, SIGNATURE, MEMBER, TASK, USED = 1.2, 1.2, 0.8, 0.6, 0.8, 0.4
"""Weights: lists of names first, details with a larger budget."""
LABELS = {"class": "class", "type": "type", "def": "def", "section": "section", "test": "test"}
NOUNS = {
    "class": ("class", "classes"),
    "type": ("type", "types"),
    "def": ("function", "functions"),
    "test": ("test", "tests"),
    "const": ("constant", "constants"),
    "section": ("section", "sections"),
}
USED_NAME = re.compile(r"[A-Za-z_$][\w$]*+(?:[./:-][\w$]++){0,3}+")
TELLING = re.compile(r"[a-z][A-Z]|[A-Za-z0-9]_[A-Za-z0-9]|\w/\w|\w\.\w+\.|[A-Za-z]-?\d")
SETTING_WEIGHTS = (1.2, 1.0, 0.8, 0.6)
"""By how many sections a setting lies in."""
MOST_USED = 1_500
NAME_CHARACTERS = 60
TASK_NOTE = re.compile(r"\b(?:TODO|FIXME|XXX|HACK)\b[^\n]{0,140}")
MOST_TASKS = 60


def write_outline(text: str, outline: Outline, first_line: int = 1) -> Extraction:
    """Return the extraction of a source."""
    symbols = outline.symbols
    last = first_line + text.count("\n")
    lines = [EntryLine(f"about: {outline.title}", TITLE)] if outline.title else []
    lines += _overview(symbols)
    _add_members(lines, symbols)
    lines += _imports(symbols)
    lines += _signatures(symbols)
    lines += _tasks(text, first_line)
    _add_used(lines, text, symbols, first_line)
    counts = _counts(symbols)
    summary = f"{outline.language} source, lines {first_line}–{last}"
    summary += f": {counts}" if counts else ""
    data = {"language": outline.language, "lines": [first_line, last], "symbols": len(symbols)}
    return Extraction(
        "code", summary, tuple(lines), data, (f"lines=[{first_line}, {last}]",), "names"
    )


def _counts(symbols: list[Symbol]) -> str:
    counts: Counter[str] = Counter(symbol.kind for symbol in symbols)
    return ", ".join(counted(counts[kind], *NOUNS[kind]) for kind in NOUNS if counts[kind])


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
        yield from _named(at_top, label, TOP)
    constants = [
        f"{symbol.name} {symbol.line}{_value(symbol)}"
        for symbol in symbols
        if symbol.parent is None and symbol.kind == "const"
    ]
    yield from packed(constants, "const", weight=CONSTANTS)
    main = [f"main {symbol.line}" for symbol in symbols if symbol.kind == "main"]
    yield from packed(main, weight=MEMBERS)


def _named(
    symbols: list[Symbol], label: str, weight: float, at: int | None = None
) -> Iterator[EntryLine]:
    """Yield names with their lines, those that others may use first."""
    public = [f"{each.name} {each.line}" for each in symbols if each.name[:1] != "_"]
    private = [f"{each.name} {each.line}" for each in symbols if each.name[:1] == "_"]
    yield from ranked(packed(public, label, weight=weight, count=0, at=at))
    yield from packed(private, label, weight=weight * PRIVATE, count=0)


def _value(symbol: Symbol) -> str:
    """Return what a constant is, where that is short and on its line."""
    value = symbol.signature.strip()
    return f" {value}" if value.startswith(("=", ":")) and len(value) <= 40 else ""


def _add_members(lines: list[EntryLine], symbols: list[Symbol]) -> None:
    """Add, for each symbol that holds others, the list of them."""
    held: dict[int, list[Symbol]] = {}
    for symbol in symbols:
        if symbol.parent is not None and symbol.kind != "import":
            held.setdefault(symbol.parent, []).append(symbol)
    for number, inside in held.items():
        weight = MEMBER if symbols[number].kind == "def" else MEMBERS
        label = _holder(symbols, number)
        members = [each for each in inside if each.kind != "const"]
        lines += _named(members, label, weight, len(lines))
        fields = [f"{each.name} {each.line}" for each in inside if each.kind == "const"]
        lines += packed(fields, f"fields of {label}", weight=FIELDS, at=len(lines))


def _holder(symbols: list[Symbol], number: int) -> str:
    """Return what holds others: a class with its bases and its line."""
    symbol = symbols[number]
    bases = symbol.signature if symbol.kind == "class" and len(symbol.signature) < 40 else ""
    word = "in" if symbol.kind == "def" else symbol.kind
    return f"{word} {qualified(symbols, number)}{bases if bases[:1] == '(' else ''} {symbol.line}"


def _imports(symbols: list[Symbol]) -> list[EntryLine]:
    imported = dict.fromkeys(
        f"{symbol.name}{symbol.signature if symbol.signature[:2] == ' (' else ''}"
        for symbol in symbols
        if symbol.kind == "import"
    )
    return packed(imported, "import", weight=IMPORTS)


def _signatures(symbols: list[Symbol]) -> Iterator[EntryLine]:
    """Yield a line for each symbol that has more than its name and line."""
    told_above = {each.parent for each in symbols if each.kind == "def"}
    told_above = {at for at in told_above if at is not None and symbols[at].kind == "class"}
    for number, symbol in enumerate(symbols):
        if symbol.kind in ("import", "const", "main") or number in told_above:
            continue
        rendered = symbol.signature.strip() not in ("", "()", "(self)", "(")
        if rendered or symbol.note:
            weight = SIGNATURE if symbol.parent is None else MEMBER
            note = f" {symbol.note}" if symbol.note else ""
            name = qualified(symbols, number)
            space = " " if symbol.signature[:1].isalnum() else ""
            yield EntryLine(f"{symbol.line} {name}{space}{symbol.signature}{note}", weight)


def _tasks(text: str, first_line: int) -> Iterator[EntryLine]:
    """Yield the notes of open work in the source."""
    line, seen_to = first_line, 0
    for count, match in enumerate(TASK_NOTE.finditer(text)):
        if count == MOST_TASKS:
            break
        line += text.count("\n", seen_to, match.start())
        seen_to = match.start()
        yield EntryLine(f"{line} {cut(match[0], 110)}", TASK)


def _add_used(lines: list[EntryLine], text: str, symbols: list[Symbol], first_line: int) -> None:
    """Add the telling names that a source uses, below the symbol where each first stands."""
    seen = {symbol.name for symbol in symbols}
    imports = " ".join(symbol.name for symbol in symbols if symbol.kind == "import")
    seen.update(USED_NAME.findall(imports))
    left = MOST_USED
    for label, block in _blocks(text, symbols, first_line):
        found = dict.fromkeys(USED_NAME.findall(block))
        fresh = [name for name in found if name not in seen and _tells(name)][:left]
        seen.update(fresh)
        lines += packed(fresh, label, weight=USED, at=len(lines))
        left -= len(fresh)
        if left <= 0:
            return


def _tells(name: str) -> bool:
    return 5 <= len(name) <= NAME_CHARACTERS and TELLING.search(name) is not None


def _blocks(text: str, symbols: list[Symbol], first_line: int) -> Iterator[tuple[str, str]]:
    """Yield the text between one function or class and the next, with what to call it."""
    starts = [
        (symbol.line, f"used in {qualified(symbols, number)} {symbol.line}")
        for number, symbol in enumerate(symbols)
        if symbol.kind not in ("import", "const", "main")
    ]
    lines = text.split("\n")
    marks = [(first_line, "used at the top"), *starts, (first_line + len(lines), "")]
    for (start, label), (end, _) in itertools.pairwise(marks):
        if end > start:
            yield label, "\n".join(lines[start - first_line : end - first_line])


def write_settings(text: str, found: list[ConfigSetting], first_line: int = 1) -> Extraction:
    """Return the extraction of a configuration file."""
    last = first_line + text.count("\n")
    summary = f"configuration, lines {first_line}–{last}: {counted(len(found), 'setting')}"
    lines = [*_sections(found), *_values(found)]
    data = {"lines": [first_line, last], "settings": len(found)}
    return Extraction(
        "config", summary, tuple(lines), data, (f"lines=[{first_line}, {last}]",), "settings"
    )


def _sections(found: list[ConfigSetting]) -> list[EntryLine]:
    opened = [
        f"{each.key or each.path} {each.line}"
        for each in found
        if not each.value and (not each.path or not each.key)
    ]
    return packed(opened, "sections", weight=TOP, count=0)


def _values(found: list[ConfigSetting]) -> Iterator[EntryLine]:
    """Yield the values of each section in one or more lines that open with its path."""
    group: list[str] = []
    opened: tuple[str, int] | None = None
    for setting in found:
        if not setting.value:
            continue
        if opened is None or opened[0] != setting.path:
            yield from _group(opened, group)
            opened, group = (setting.path, setting.line), []
        group.append(f"{setting.key}={setting.value}" if setting.key else setting.value)
    yield from _group(opened, group)


def _group(opened: tuple[str, int] | None, group: list[str]) -> list[EntryLine]:
    if opened is None:
        return []
    path, line = opened
    depth = path.count(".") + 1 if path else 0
    label = f"{line} {path}" if path else str(line)
    return packed(group, label, weight=SETTING_WEIGHTS[min(depth, 3)])
