"""Search over a table of the user's messages in the same file, which is only read. No model."""

from __future__ import annotations

from hippocampus.facts.database import Database
from hippocampus.facts.errors import FactError
from hippocampus.facts.timestamps import day
from hippocampus.facts.words import content_words

TEXT_COLUMNS = ("content", "text", "body", "message")
MAX_WORDS = 20


def search(db: Database, table: str, query: str, limit: int) -> list[str]:
    """Return a line for each message of a table that contains most words of a query: day, role, text.

    Raises:
        FactError: the table is missing or has no column of text.

    """
    columns = [row[1] for row in db.rows("SELECT * FROM pragma_table_info(?)", (table,))]
    if not columns:
        raise FactError(f"there is no table {table!r} in {db.path}")
    text = next((name for name in TEXT_COLUMNS if name in columns), None)
    if text is None:
        raise FactError(f"table {table!r} has none of the columns {', '.join(TEXT_COLUMNS)}")
    wanted = content_words(query)[:MAX_WORDS]
    score = " + ".join(["0", *[f"(instr(lower({text}), ?) > 0)"] * len(wanted)])
    named = table.replace('"', '""')
    found = db.rows(
        f'SELECT * FROM (SELECT {score} AS score, t.* FROM "{named}" t)'  # noqa: S608 - a name of the user's, quoted
        " WHERE score > 0 ORDER BY score DESC LIMIT ?",
        (*wanted, limit),
    )
    lines = []
    for _, *values in found:
        row = dict(zip(columns, values, strict=True))
        at = row.get("at") or row.get("created_at") or row.get("timestamp")
        when = f"{day(at)} " if isinstance(at, int | float) else ""
        lines.append(f"- [{when}{row.get('role') or row.get('sender') or ''}] {row[text]}")
    return lines
