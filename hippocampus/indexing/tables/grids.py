"""Rows and cells of a table in text: separated, piped or boxed. Pure, linear."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

SEPARATORS = ("\t", ",", ";", "|")
BARS = str.maketrans("│┃║", "|||")
RULES = "|+-=: \t─━═┌┐└┘├┤┬┴┼╞╡╪│╔╗╚╝╠╣╦╩╬╭╮╰╯║┃"
TRAILER = re.compile(r"\(?\d+ rows?\)?[^|,]*")
SAMPLE_LINES = 60
MOST_COLUMNS = 2_000
PIPED_SHARE = 0.5
SAME_SHARE = 0.85
SUREST = 0.95
"""Bars with a rule between them; no other form is as sure."""


@dataclass(frozen=True, slots=True)
class Grid:
    """A table as its cells."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str]
    """Lines around it."""
    sure: float
    """How surely the text is a table."""
    first_line: int = 1
    """The line of its header."""
    numbers: Sequence[int] = ()
    """The lines of its rows, where each is one line."""


def grid_of(text: str) -> Grid | None:
    """Return the table that most lines of a text belong to."""
    lines = text.split("\n")
    for read in READERS:
        grid = read(lines)
        if grid is not None and grid.rows and len(grid.header) <= MOST_COLUMNS:
            return grid
    return None


def _piped(lines: Sequence[str]) -> Grid | None:
    """Read Markdown, `psql` and boxes: cells between bars, a rule below or around the header."""
    sample = [line for line in lines[: 4 * SAMPLE_LINES] if line.strip()][:SAMPLE_LINES]
    barred = sum(_cells(line) is not None and not _is_rule(line) for line in sample)
    if barred < 2:
        return None
    rules = sum(_is_rule(line) for line in sample)
    if not rules or barred + rules < PIPED_SHARE * len(sample):
        return None
    return _read_piped(lines)


def _read_piped(lines: Sequence[str]) -> Grid | None:
    cells: list[list[str]] = []
    numbers: list[int] = []
    notes: list[str] = []
    first = 0
    for number, line in enumerate(lines, 1):
        row = _cells(line)
        if _is_rule(line[:20]) and _is_rule(line):
            continue
        if row is None or (cells and len(cells[0]) > 1 and len(row) == 1):
            notes.append(line)
        else:
            first = first or number
            cells.append(row)
            numbers.append(number)
    if len(cells) < 2:
        return None
    return Grid(
        _clean(cells[0]),
        cells[1:],
        [note for note in notes if note.strip()],
        SUREST,
        first,
        numbers[1:],
    )


def _cells(line: str) -> list[str] | None:
    """Return the cells of a barred line, or nothing where it has no bars."""
    if not line.isascii():
        line = line.translate(BARS)
    if "|" not in line:
        return None
    body = line.strip().removeprefix("|")
    if "\\|" in body:
        body = body.replace("\\|", "\N{BROKEN BAR}")
    return body.removesuffix("|").split("|")


def _is_rule(line: str) -> bool:
    """Return whether a line is a rule between rows: dashes, crosses and bars only."""
    bare = line.strip()
    return len(bare) > 2 and not bare.strip(RULES) and any(dash in bare for dash in "-─━═=")


def _separated(lines: Sequence[str]) -> Grid | None:
    """Read CSV, TSV and their relatives: the separator that gives equal rows of cells."""
    sample = [line for line in lines[: 2 * SAMPLE_LINES] if line.strip()][:SAMPLE_LINES]
    if len(sample) < 3:
        return None
    for separator in SEPARATORS:
        width = _even_width(sample, separator)
        if width:
            return _read_separated(lines, separator, width)
    return None


def _even_width(sample: Sequence[str], separator: str) -> int:
    """Return how many cells the sample's rows have, or 0 where they differ or read as prose."""
    if sum(separator in line for line in sample) < SAME_SHARE * len(sample) * 0.7:
        return 0
    rows = _parse(sample, separator)
    width = len(rows[0]) if rows else 0
    same = sum(len(row) == width for row in rows)
    if not any(cell.strip() for row in rows for cell in row):
        return 0
    wordy = sum(cell[:1] == " " for row in rows for cell in row)
    least = 2 if separator in ("\t", ";") else 3
    prose = separator == "," and wordy > 0.5 * max(1, sum(map(len, rows)) - len(rows))
    if width < least and not (width == 2 and same == len(rows) > 5 and not wordy):
        return 0
    return width if same >= SAME_SHARE * len(rows) and not prose else 0


def _parse(lines: Sequence[str], separator: str) -> list[list[str]]:
    try:
        return list(csv.reader(lines, delimiter=separator))
    except csv.Error:
        return []


def _read_separated(lines: Sequence[str], separator: str, width: int) -> Grid | None:
    rows: list[list[str]] = []
    notes: list[str] = []
    numbers: list[int] = []
    number = 1
    for row in _parse([f"{line}\n" for line in lines], separator):
        if len(row) == width or (len(row) > 1 and rows):
            rows.append(row)
            numbers.append(number)
        elif row:
            notes.append(separator.join(row))
        number += 1 + sum(cell.count("\n") for cell in row)
    if len(rows) < 2:
        return None
    named = _names(rows[0])
    header = rows[0] if named else [f"column {at}" for at in range(1, width + 1)]
    sure = 0.9 if width > 2 or separator == "\t" else 0.7
    lines_of_rows = numbers[named:]
    return Grid(
        _clean(header),
        rows[named:],
        notes,
        sure if named else sure - 0.3,
        numbers[0],
        lines_of_rows,
    )


def _clean(row: Sequence[str]) -> list[str]:
    return [cell.strip() for cell in row]


def _names(header: Sequence[str]) -> bool:
    """Return whether a first row names columns: distinct, filled, no numbers, no dates."""
    plain = all(
        cell.strip() and len(cell) < 80 and not cell.strip()[:1].isdigit() for cell in header
    )
    return plain and len(set(header)) == len(header)


READERS: tuple[Callable[[Sequence[str]], Grid | None], ...] = (_piped, _separated)
