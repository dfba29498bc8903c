"""Search over a table of the user's messages in the same file, which is only read. No model."""

from __future__ import annotations

from dataclasses import dataclass

from hippocampus.facts.database import Database
from hippocampus.facts.errors import FactError
from hippocampus.facts.words import content_words

TEXT_COLUMNS = ("content", "text", "body", "message")
MAX_WORDS = 20


@dataclass(frozen=True, slots=True)
class PastTurn:
    """One message that was found."""

    role: str
    content: str
    at: float | None


def search(db: Database, table: str, query: str, limit: int) -> list[PastTurn]:
    """Return the messages of a table that contain most words of a query.

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
    if not wanted:
        return []
    score = " + ".join([f"(instr(lower({_quoted(text)}), ?) > 0)"] * len(wanted))
    found = db.rows(
        f"SELECT * FROM (SELECT {score} AS score, t.* FROM {_quoted(table)} t)"  # noqa: S608 - names of ours
        " WHERE score > 0 ORDER BY score DESC LIMIT ?",
        (*wanted, limit),
    )
    return [_turn(dict(zip(columns, row[1:], strict=True)), text) for row in found]


def _turn(row: dict[str, object], text: str) -> PastTurn:
    at = row.get("at") or row.get("created_at") or row.get("timestamp")
    role = str(row.get("role") or row.get("sender") or "")
    return PastTurn(role, str(row[text]), float(at) if isinstance(at, int | float) else None)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
