"""What a session has put away: its entries, what was committed when and why, on disk.

One SQLite file for each session, so that sessions never wait for each other. SQL and nothing else:
what to commit is the plan's, how it reads the index's.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass
from pathlib import Path
from urllib.parse import quote

from hippocampus.entry import Entry, Record, Stage, storable
from hippocampus.errors import StoreError
from hippocampus.plan import Decision

BUSY_SECONDS = 10.0
LONGEST_NAME = 80

MIGRATIONS = (
    """
    CREATE TABLE session (name TEXT PRIMARY KEY) STRICT;
    CREATE TABLE entry (
        id TEXT PRIMARY KEY,
        place TEXT NOT NULL UNIQUE,
        content TEXT NOT NULL,
        form TEXT NOT NULL,
        kind TEXT NOT NULL,
        tool TEXT NOT NULL,
        arguments TEXT NOT NULL,
        tokens INTEGER NOT NULL,
        stage TEXT NOT NULL,
        shown TEXT NOT NULL,
        entry TEXT NOT NULL
    ) STRICT;
    CREATE TABLE decision (
        number INTEGER PRIMARY KEY,
        entry_id TEXT NOT NULL REFERENCES entry(id),
        turn INTEGER NOT NULL,
        stage TEXT NOT NULL,
        reason TEXT NOT NULL,
        saves INTEGER NOT NULL,
        costs REAL NOT NULL
    ) STRICT;
    CREATE TABLE call (
        turn INTEGER PRIMARY KEY,
        messages INTEGER NOT NULL,
        raw_tokens INTEGER NOT NULL,
        sent_tokens INTEGER NOT NULL
    ) STRICT;
    """,
    """
    ALTER TABLE call ADD COLUMN raw_cost REAL NOT NULL DEFAULT 0;
    ALTER TABLE call ADD COLUMN sent_cost REAL NOT NULL DEFAULT 0
    """,
)
"""Each runs once, in a transaction, in this order; `user_version` counts the ones that ran."""
SAVE = """
    INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET stage = excluded.stage, shown = excluded.shown,
        entry = excluded.entry
"""
"""An entry keeps its row, and so its rank by age; what it stands for never changes."""


@dataclass(frozen=True, slots=True)
class Call:
    """One request as it was sent."""

    turn: int
    messages: int
    raw_tokens: int
    sent_tokens: int
    raw_cost: float = 0.0
    """What all calls up to this one would have cost without us, in base input tokens."""
    sent_cost: float = 0.0
    """What they have cost."""


class Ledger:
    """The entries and commitments of one session."""

    def __init__(self, folder: Path, session: str) -> None:
        self._path = folder / file_name(session)
        with _as_store_error(self._path):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._db = sqlite3.connect(
                self._path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._migrate()
            self._db.execute("INSERT OR IGNORE INTO session VALUES (?)", (storable(session),))

    def _migrate(self) -> None:
        """Bring the file up to date; of two processes that open it at once, one does the work."""
        with self._transaction():
            (version,) = self._db.execute("PRAGMA user_version").fetchone()
            for number, script in enumerate(MIGRATIONS[version:], start=version + 1):
                for statement in script.split(";"):
                    self._db.execute(statement)
                self._db.execute(f"PRAGMA user_version = {number}")

    def records(self) -> list[Record]:
        """Return every entry of the session, oldest first."""
        with _as_store_error(self._path):
            rows = self._db.execute("SELECT * FROM entry ORDER BY rowid").fetchall()
        return [_record(row) for row in rows]

    def decisions(self) -> list[tuple[int, Decision]]:
        """Return every decision with its turn, in the order of commitment."""
        with _as_store_error(self._path):
            rows = self._db.execute(
                "SELECT turn, entry_id, stage, reason, saves, costs FROM decision ORDER BY number"
            ).fetchall()
        return [
            (turn, Decision(entry_id, Stage(stage), reason, saves, costs))
            for turn, entry_id, stage, reason, saves, costs in rows
        ]

    def last_call(self, before_turn: int | None = None) -> Call | None:
        """Return the request that was sent last, in any turn or before one."""
        bound = before_turn if before_turn is not None else 1 << 62
        sql = "SELECT * FROM call WHERE turn < ? ORDER BY turn DESC LIMIT 1"
        with _as_store_error(self._path):
            row = self._db.execute(sql, (bound,)).fetchone()
        return Call(*row) if row else None

    def commit(self, records: Iterable[Record], decisions: Iterable[Decision], call: Call) -> None:
        """Write entries, decisions and the call in one transaction.

        Calls of later turns belong to a list that its owner has since cut short, and go.

        Raises:
            StoreError: the file is locked, full, damaged or gone; then nothing was written.

        """
        with _as_store_error(self._path), self._transaction():
            self._db.executemany(SAVE, [_row(record) for record in records])
            self._db.executemany(
                "INSERT INTO decision (turn, entry_id, stage, reason, saves, costs)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                [(call.turn, d.entry_id, d.stage, d.reason, d.saves, d.costs) for d in decisions],
            )
            self._db.execute("DELETE FROM call WHERE turn > ?", (call.turn,))
            self._db.execute(
                "INSERT OR REPLACE INTO call VALUES (?, ?, ?, ?, ?, ?)",
                astuple(call),
            )

    def save(self, record: Record) -> None:
        """Write one entry again, after an access."""
        with _as_store_error(self._path), self._transaction():
            self._db.execute(SAVE, _row(record))

    def check(self) -> list[str]:
        """Return a sentence for each thing that is wrong with the file; empty when all is well."""
        with _as_store_error(self._path):
            found = [row[0] for row in self._db.execute("PRAGMA integrity_check")]
            orphans = self._db.execute(
                "SELECT entry_id FROM decision WHERE entry_id NOT IN (SELECT id FROM entry)"
            ).fetchall()
        problems = [f"{self._path}: {text}" for text in found if text != "ok"]
        return problems + [f"{self._path}: decision on unknown entry {row[0]}" for row in orphans]

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._path.stat()  # SQLite would go on writing into a file that was removed
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")


def owner_of(folder: Path, entry_id: str) -> str | None:
    """Return the name of the session in this folder that has an entry of that id."""
    for path in sorted(folder.glob("*.sqlite3")):
        address = f"file:{quote(str(path))}?mode=ro"
        with (
            contextlib.suppress(sqlite3.Error),
            contextlib.closing(sqlite3.connect(address, uri=True)) as db,
        ):
            found = db.execute("SELECT 1 FROM entry WHERE id = ?", (entry_id,)).fetchone()
            if found:
                return str(db.execute("SELECT name FROM session").fetchone()[0])
    return None


def file_name(session: str) -> str:
    """Return the file's name for a session of any name."""
    digest = hashlib.sha256(session.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    readable = quote(session, safe="", errors="replace")[:LONGEST_NAME]
    return f"{readable}-{digest}.sqlite3"


def _row(record: Record) -> tuple[str | int, ...]:
    return (
        record.entry.id,
        record.place,
        record.content,
        record.form,
        record.kind,
        record.tool,
        record.arguments,
        record.tokens,
        record.stage,
        record.shown,
        json.dumps(record.entry.model_dump()),  # pydantic's own writes no lone surrogates
    )


def _record(row: tuple[str, str, str, str, str, str, str, int, str, str, str]) -> Record:
    _, place, content, form, kind, tool, arguments, tokens, stage, shown, entry = row
    return Record(
        Entry.model_validate(json.loads(entry)),
        place,
        content,
        form,
        kind,
        tool,
        arguments,
        tokens,
        Stage(stage),
        shown,
    )


@contextlib.contextmanager
def _as_store_error(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, sqlite3.Error) as failure:
        raise StoreError(f"ledger {path}: {failure}") from failure
