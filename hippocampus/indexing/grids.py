"""Tables in text, read into rows: CSV and its relatives, Markdown, and what databases print. Pure, linear."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from hippocampus.indexing.extraction import EntryLine, Extraction, counted, cut, with_lines_before
from hippocampus.indexing.json_documents import MAX_ROWS, Table, TableRow, lines_of

SEPARATORS = ("\t", ",", ";", "|")
BARS = str.maketrans("│┃║", "|||")
RULES = "|+-=: \t─━═┌┐└┘├┤┬┴┼╞╡╪│╔╗╚╝╠╣╦╩╬╭╮╰╯║┃"
FILLER = re.compile(r"[\s|+=─━│┌┐└┘├┤┬┴┼╭╮╰╯-]*|\s*\(?\d+ rows?\)?[^|,]*")
"""A line around a table that has no word of its own: a rule, or the count of its rows."""
SAMPLE_CHARACTERS, SAMPLE_LINES = 20_000, 60
MIN_ROWS, MAX_COLUMNS = 2, 2_000
PIPED_SHARE = 0.5
SEPARATED_SHARE, SAME_SHARE = 0.6, 0.85
"""The share of a table's lines that have its separator, and that of its rows with as many cells."""
PROSE_SHARE, MIN_PAIRS = 0.5, 6
"""The share of cells with a blank before them that prose has, and the rows that pairs take."""
MAX_CONFIDENCE = 0.95
"""Bars with a rule between them; no other form is as sure."""
SURE, LESS_SURE, UNNAMED = 0.9, 0.7, 0.3
"""How sure rows between separators are, two commas a row or one, and how much less without a header."""
OUTSIDE = 1.5
"""How much less sure a share of lines outside of the table makes it."""
MAX_NAME = 80
"""A longer cell is no name of a column."""
NAME_CHARACTERS, NOTE_CHARACTERS, MAX_NOTES = 60, 200, 40


def recognises(text: str) -> float:
    """Return how surely a text is a table."""
    sample = text[:SAMPLE_CHARACTERS]
    if len(text) > SAMPLE_CHARACTERS:
        sample = sample[: sample.rfind("\n") + 1]
    table = table_in(sample)
    if table is None or table.total < MIN_ROWS:
        return 0.0
    filled = sum(1 for line in sample.split("\n") if line.strip())
    outside = sum(FILLER.fullmatch(note) is None for note in table.notes)
    return table.confidence * max(0.0, 1 - OUTSIDE * outside / max(1, filled))


def extract(text: str) -> Extraction | None:
    """Return the columns and the rows of a table."""
    table = table_in(text, MAX_ROWS)
    if table is None:
        return None
    summary = f"{counted(table.total, 'row')}, {counted(len(table.header), 'column')}"
    notes = [cut(note, NOTE_CHARACTERS) for note in table.notes if not FILLER.fullmatch(note)]
    names = [cut(name, NAME_CHARACTERS) for name in table.header[:MAX_NOTES]]
    facts = {"rows": table.total, "columns": names}
    selectors = (f"lines=[{table.numbers[0]}, {table.numbers[-1]}]", 'path="$[0]"')
    found = Extraction("table", summary, tuple(lines_of(table)), facts, selectors, "rows")
    return with_lines_before(found, [EntryLine(note) for note in notes[:MAX_NOTES]])


def table_in(text: str, most_rows: int | None = None) -> Table | None:
    """Return the table that most lines of a text belong to, with `most_rows` of its rows."""
    lines = text.split("\n")
    sample = [line for line in lines[: 2 * SAMPLE_LINES] if line.strip()][:SAMPLE_LINES]
    for read in (_piped, _separated):
        table = read(lines, sample, most_rows)
        if table is not None and table.rows and len(table.header) <= MAX_COLUMNS:
            return table
    return None


def _piped(lines: Sequence[str], sample: Sequence[str], most_rows: int | None) -> Table | None:
    """Read Markdown, `psql` and boxes: cells between bars, a rule below or around the header."""
    barred = sum(_cells(line) is not None and not _is_rule(line) for line in sample)
    if barred < 2:
        return None
    rules = sum(_is_rule(line) for line in sample)
    if not rules or barred + rules < PIPED_SHARE * len(sample):
        return None
    cells: list[list[str]] = []
    numbers: list[int] = []
    notes: list[str] = []
    for number, line in enumerate(lines, 1):
        row = _cells(line)
        if _is_rule(line):
            continue
        if row is None or (cells and len(cells[0]) > 1 and len(row) == 1):
            notes.append(line)
        else:
            cells.append(row)
            numbers.append(number)
    if len(cells) < 2:
        return None
    notes = [note for note in notes if note.strip()]
    table = _table(cells[0], cells[1:], numbers[1:], most_rows)
    return replace(table, notes=notes, confidence=MAX_CONFIDENCE)


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


def _separated(lines: Sequence[str], sample: Sequence[str], most_rows: int | None) -> Table | None:
    """Read CSV, TSV and their relatives: the separator that gives equal rows of cells."""
    if len(sample) <= MIN_ROWS:
        return None
    widths = ((separator, _even_width(sample, separator)) for separator in SEPARATORS)
    separator, width = next((found for found in widths if found[1]), ("", 0))
    if not width:
        return None
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
        number += 1 + "".join(row).count("\n")
    if len(rows) < 2:
        return None
    # A header has neither numbers nor dates nor a long text, and no name twice.
    named = len(set(rows[0])) == len(rows[0]) and all(
        cell.strip() and len(cell) < MAX_NAME and not cell.strip()[:1].isdigit() for cell in rows[0]
    )
    header = rows[0] if named else [f"column {at}" for at in range(1, width + 1)]
    sure = SURE if width > 2 or separator == "\t" else LESS_SURE
    sure -= 0.0 if named else UNNAMED
    table = _table(header, rows[named:], numbers[named:], most_rows)
    return replace(table, notes=notes, confidence=sure)


def _even_width(sample: Sequence[str], separator: str) -> int:
    """Return how many cells the sample's rows have, or 0 where they differ or read as prose."""
    if sum(separator in line for line in sample) < SEPARATED_SHARE * len(sample):
        return 0
    rows = _parse(sample, separator)
    width = len(rows[0]) if rows else 0
    same = sum(len(row) == width for row in rows)
    if not any(cell.strip() for row in rows for cell in row):
        return 0
    # A separator before a blank, or inside of brackets, is one of a sentence or of a place in a file.
    wordy = sum(
        cell[:1] == " " or cell.count("(") != cell.count(")") for row in rows for cell in row
    )
    least = 2 if separator in ("\t", ";") else 3
    prose = separator == "," and wordy > PROSE_SHARE * max(1, sum(map(len, rows)) - len(rows))
    if width < least and not (width == 2 and same == len(rows) >= MIN_PAIRS and not wordy):
        return 0
    return width if same >= SAME_SHARE * len(rows) and not prose else 0


def _parse(lines: Sequence[str], separator: str) -> list[list[str]]:
    try:
        return list(csv.reader(lines, delimiter=separator))
    except csv.Error:
        return []


def _table(
    first: Iterable[str], cells: Sequence[list[str]], numbers: Sequence[int], most_rows: int | None
) -> Table:
    """Return a table with the names of its columns from its first row, none twice."""
    header: list[str] = []
    known: set[str] = set()  # a row may have 100,000 cells
    for at, cell in enumerate(first, 1):
        name = cell.strip() or f"column {at}"
        header.append(f"{name} {at}" if name in known else name)
        known.add(header[-1])
    records = (zip(header, map(str.strip, row), strict=False) for row in cells[:most_rows])
    rows = [TableRow(dict(record)) for record in records]
    return Table("table", rows, numbers, len(cells), noun="row", header=header)
