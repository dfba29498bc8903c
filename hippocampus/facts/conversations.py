"""Search over what was said: our archive of messages, and a table of the user's.

The user's table is only read. Full text, no model.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hippocampus.entries.text import storable
from hippocampus.errors import StoreError
from hippocampus.facts.database import Database, Row
from hippocampus.facts.errors import FactError
from hippocampus.facts.models import EVERY_AGENT, Clock
from hippocampus.facts.timestamps import Moment, optional_seconds
from hippocampus.facts.words import content_words, indexed, match_of

TEXT_COLUMNS = ("content", "text", "body", "message")


@dataclass(frozen=True, slots=True)
class PastTurn:
    """One message that was found."""

    session: str
    turn: int
    role: str
    content: str
    at: float | None
    score: float
    """BM25; higher is better, comparable within one search only."""


class Conversations:
    """The archive of messages, and the user's table if one is named."""

    def __init__(self, database: Database, clock: Clock, agent: str, table: str | None) -> None:
        self._db = database
        self._clock = clock
        self._agent = agent
        self._table = table

    @property
    def table(self) -> str | None:
        """The name of the user's table, where there is one."""
        return self._table

    def archive(
        self,
        session: str,
        messages: Iterable[tuple[int, str, str]],
        *,
        at: Moment | None = None,
        agent: str | None = None,
    ) -> int:
        """Keep messages as (turn, role, text); return how many were not there yet.

        Raises:
            ValueError: a message is something else, such as a provider's dictionary.

        """
        said = [_checked(message) for message in messages]
        when = optional_seconds(at)
        when = self._clock() if when is None else when
        with self._db.transaction():
            return sum(
                self._keep((agent or self._agent, session, turn, role, storable(text)), when)
                for turn, role, text in said
            )

    def _keep(self, message: tuple[str, str, int, str, str], at: float) -> int:
        text = message[-1]
        with self._db.guarded():
            added = self._db.connection.execute(
                "INSERT OR IGNORE INTO said (agent, session, turn, role, content, indexed, at)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (*message, indexed(text), at),
            )
        if added.rowcount:
            self._db.run(
                "INSERT INTO said_text (rowid, body) VALUES (?, ?)",
                (added.lastrowid, indexed(text) or text),
            )
        return added.rowcount

    def search(self, query: str, *, limit: int = 10, agent: str | None = None) -> list[PastTurn]:
        """Return the messages that best match a query: of the user's table if named, else archived.

        Raises:
            FactError: the user's table is missing or has no column of text.

        """
        if not content_words(query):
            return []
        if self._table is not None:
            return self._search_table(self._table, query, limit)
        agent = agent or self._agent
        found = self._db.rows(
            "SELECT session, turn, role, content, at, -bm25(said_text) FROM said_text"
            " JOIN said ON said.row = said_text.rowid WHERE said_text MATCH ? AND (? OR agent = ?)"
            " ORDER BY bm25(said_text), said.row DESC LIMIT ?",
            (match_of(query), agent == EVERY_AGENT, agent, limit),
        )
        return [PastTurn(*row) for row in found]

    def _search_table(self, table: str, query: str, limit: int) -> list[PastTurn]:
        columns = [row[1] for row in self._db.rows("SELECT * FROM pragma_table_info(?)", (table,))]
        if not columns:
            raise FactError(f"there is no table {table!r} in {self._db.path}")
        text = next((name for name in TEXT_COLUMNS if name in columns), None)
        if text is None:
            raise FactError(f"table {table!r} has none of the columns {', '.join(TEXT_COLUMNS)}")
        index = self._index_of(table)
        rows = (
            self._ranked(table, index, text, query, limit)
            if index
            else self._containing(table, text, query, limit)
        )
        return [_said(dict(zip(columns, row[1:], strict=True)), text, row[0]) for row in rows]

    def _index_of(self, table: str) -> str | None:
        """Return the FTS5 table of the user's over a table: itself, or `<table>_fts`."""
        found: str | None = self._db.value(
            "SELECT name FROM sqlite_schema WHERE name IN (?, ?) AND sql LIKE '%fts5%'",
            (table, f"{table}_fts"),
        )
        return found

    def _ranked(self, table: str, index: str, text: str, query: str, limit: int) -> list[Row]:
        match = match_of(query)
        sql = (
            f"SELECT -bm25({_quoted(index)}), t.* FROM {_quoted(index)} JOIN {_quoted(table)} t"  # noqa: S608 - names of ours
            f" ON t.rowid = {_quoted(index)}.rowid WHERE {_quoted(index)} MATCH ?"
            f" ORDER BY bm25({_quoted(index)}) LIMIT ?"
        )
        try:
            return self._db.rows(sql, (match, limit))
        except StoreError:  # an index of the user's that has other rows than the table
            return self._containing(table, text, query, limit)

    def _containing(self, table: str, text: str, query: str, limit: int) -> list[Row]:
        """Rank by how many of the query's words a message contains."""
        column = f"t.{_quoted(text)}"
        words = content_words(query)[:20]
        score = " + ".join([f"({column} LIKE ? ESCAPE '\\')"] * len(words))
        values = [f"%{_escaped(word)}%" for word in words]
        return self._db.rows(
            f"SELECT * FROM (SELECT {score} AS score, t.* FROM {_quoted(table)} t)"  # noqa: S608 - names of ours
            " WHERE score > 0 ORDER BY score DESC LIMIT ?",
            (*values, limit),
        )


def _said(row: dict[str, object], text: str, score: float) -> PastTurn:
    at = row.get("at") or row.get("created_at") or row.get("timestamp")
    turn = str(row.get("turn") or row.get("id") or 0)
    return PastTurn(
        session=str(
            row.get("session") or row.get("session_id") or row.get("conversation_id") or ""
        ),
        turn=int(turn) if turn.isdigit() else 0,
        role=str(row.get("role") or row.get("sender") or ""),
        content=str(row[text]),
        at=float(at) if isinstance(at, int | float) else None,
        score=float(score),
    )


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _escaped(word: str) -> str:
    return word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _checked(message: object) -> tuple[int, str, str]:
    match message:
        case (int(turn), str(role), str(text)):
            return turn, role, text
    shape = "(turn, role, text), such as (1, 'user', 'The boiler is in the cellar.')"
    raise ValueError(f"a message to archive is {shape}; given was {str(message)[:80]}")
