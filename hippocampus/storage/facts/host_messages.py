"""The messages in a table of the host's, next to the fact store's own tables in one file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hippocampus.errors import FactError
from hippocampus.storage.database import Database

TEXT_COLUMNS = ("content", "text", "body", "message")


def messages(
    db: Database, table: str, words: Sequence[str], limit: int
) -> list[tuple[str, dict[str, Any]]]:
    """Return the text and the columns of the messages that contain most of some words, best first.

    Raises:
        FactError: the table is missing or has no column of text.
    """
    columns = [row[1] for row in db.rows("SELECT * FROM pragma_table_info(?)", (table,))]
    if not columns:
        raise FactError(f"there is no table {table!r} in {db.path}")
    text = next((name for name in TEXT_COLUMNS if name in columns), None)
    if text is None:
        raise FactError(f"table {table!r} has none of the columns {', '.join(TEXT_COLUMNS)}")
    score = " + ".join(["0", *[f"(instr(lower({text}), ?) > 0)"] * len(words)])
    named = table.replace('"', '""')
    found = db.rows(
        f'SELECT * FROM (SELECT {score} AS score, t.* FROM "{named}" t)'
        " WHERE score > 0 ORDER BY score DESC LIMIT ?",
        (*words, limit),
    )
    rows = [dict(zip(columns, values, strict=True)) for _, *values in found]
    return [(row[text], row) for row in rows]
