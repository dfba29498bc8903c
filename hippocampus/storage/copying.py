"""Copies sessions between a directory and a server: payloads first, a session's rows in one transaction.

Sessions of the same hash are left as they are, so that a copy that was stopped can go on.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from hippocampus.entries.entry import storable
from hippocampus.errors import DamageError, StoreError
from hippocampus.storage import ledger, salvage, schema, sqlite
from hippocampus.storage.archive import readable
from hippocampus.storage.consolidated import SESSION
from hippocampus.storage.content_store import ContentStore
from hippocampus.storage.database import Database, Row
from hippocampus.storage.deadline import bounded
from hippocampus.storage.facts.memories import NAMES
from hippocampus.storage.state import StateStore

FIRST = ("name", "consolidated", "changes", "id", "origin", "content")
"""The columns that are read here come first in their tables, in this order."""
CONSOLIDATED, CHANGES, CONTENT = 1, 2, 2
"""Their positions in `session`, of which the first two are not its content, and in `entry`."""
OF_ONE_STATE = {"session", "claimed_until"}
REMOVED = "SELECT content, removed, rule FROM tombstone WHERE content"
BURIED = "INSERT INTO tombstone (content, removed, rule) VALUES {(?, ?, ?)} ON CONFLICT (content) DO NOTHING"
SECONDS = 60.0
"""How long a payload or a session takes at most on a server: no turn waits for it."""
Rows = Mapping[str, Sequence[Row]]
"""The rows of one session by their tables."""


class Copied(NamedTuple):
    """The outcome for one session."""

    session: str
    outcome: Literal["copied", "unchanged", "newer there"]
    payloads: int = 0
    lost: tuple[str, ...] = ()
    """The keys of payloads that are damaged at the source, or gone from it and not by garbage collection."""


def copied(source: StateStore, target: StateStore) -> Iterator[Copied]:
    """Copy every session of a state into another one, and yield the outcomes.

    A session that has changed since at the source replaces its copy; one that the target has of its
    own, or that was continued there, stays. A copy that differs from its source is a `StoreError`.
    """
    with contextlib.ExitStack() as stack:
        contents, copies = (stack.enter_context(state.contents()) for state in (source, target))
        source.open(SECONDS)
        target.open(SECONDS)
        db, other = stack.enter_context(source.reading()), target.database()
        for (name,) in db.rows("SELECT name FROM session ORDER BY number"):
            rows, before = _read(db, name), _read(other, name)
            is_same = _digest(rows) == _digest(before)
            if is_same and set(rows["consolidated"]) <= set(before["consolidated"]):
                yield Copied(name, "unchanged")
            elif before["session"] and not is_same and not _is_continued(rows, before):
                yield Copied(name, "newer there")
            else:
                # Payloads first: a copy that is stopped leaves orphans, and no row without its payload.
                keys = dict.fromkeys(row[CONTENT] for row in rows["entry"])
                results = {key: _copy_payload(contents, copies, key) for key in keys}
                missing = [key for key, result in results.items() if result != "copied"]
                gone = [key for key in missing if results[key] == "gone"]
                removed = db.rows(f"{REMOVED} IN {NAMES}", (json.dumps(gone),))
                other.insert(BURIED, removed)
                buried = {key for key, *_ in removed}
                lost = tuple(key for key in missing if key not in buried)
                _write(other, name, rows, before)
                if _digest(_read(other, name)) != _digest(rows):
                    raise StoreError(f"session {name!r}: the copy is not what was written")
                yield Copied(name, "copied", len(keys) - len(missing), lost)


@functools.cache
def columns_of_sessions() -> dict[str, list[str]]:
    """Return the columns of `session`, which is the first, and of the tables with the rows of one."""
    found = {"session": list[str]()}
    with contextlib.closing(schema.migrated(sqlite.IN_MEMORY)) as db:
        for table, columns in salvage.columns_of(db).items():
            parents = [row[2] for row in db.execute(f"PRAGMA foreign_key_list({table})")]
            if table == "session" or "session" in parents:
                keys = [row[1] for row in db.execute(f"PRAGMA table_info({table})") if row[5]]
                own = OF_ONE_STATE.union(keys if len(keys) == 1 else ())
                first = [name for name in FIRST if name in columns]
                others = [name for name in columns if name not in (*FIRST, *own)]
                found[table] = first + others
    return found


def _is_continued(rows: Rows, before: Rows) -> bool:
    """Return whether rows are those of a session that was continued since its copy was made."""
    is_later = rows["session"][0][CHANGES] > before["session"][0][CHANGES]
    known = {row[:2] for row in rows["entry"]}
    return is_later and known.issuperset(row[:2] for row in before["entry"])


def _copy_payload(
    contents: ContentStore, copies: ContentStore, key: str
) -> Literal["copied", "gone", "damaged"]:
    """Copy a payload that the target does not have; return whether the source has it."""
    with bounded(SECONDS):
        with contextlib.suppress(DamageError):  # a damaged copy is written again
            if copies.get(key) is not None:
                return "copied"
        try:
            content = contents.get(key)
        except DamageError:
            return "damaged"
        if content is None:
            return "gone"
        return "copied" if copies.put(content) == key else "damaged"


def _digest(rows: Rows) -> bytes:
    """Return the hash of the content of a session, packed and consolidated or not.

    Its name is left out, in which a server writes a NUL in another way.
    """
    found = {table: list(rows[table]) for table in columns_of_sessions()}
    found["session"] = [row[CHANGES:] for row in rows["session"]]
    del found["consolidated"]
    lines = b"".join(readable(lines) for *_, lines in found.pop("conversation"))
    return hashlib.sha256(repr(found).encode() + lines).digest()


def _read(db: Database, name: str) -> Rows:
    """Return the rows of a session at one moment; nothing for one that is not there."""
    queries = []
    for table, columns in columns_of_sessions().items():
        own = "number" if table == "session" else "session"
        query = f"SELECT {', '.join(columns)} FROM {table} WHERE {table}.{own} = {SESSION} ORDER BY number"
        queries.append((query, [storable(name)]))
    with bounded(SECONDS):
        return dict(zip(columns_of_sessions(), db.together(*queries), strict=True))


def _write(db: Database, name: str, rows: Rows, before: Rows) -> None:
    """Replace the rows of a session; it stays as far consolidated as before."""
    name = storable(name)
    ledger.expect_closed(db, name)
    [own] = rows["session"]
    done = max(row[CONSOLIDATED] for row in (own, *before["session"]))
    marks = {row[0]: row for row in (*before["consolidated"], *rows["consolidated"])}
    given = {
        **{table: [(*row, name) for row in found] for table, found in rows.items()},
        "session": [(name, done, *own[CHANGES:])],
        "consolidated": [(*row, name) for row in marks.values()],
    }
    with bounded(SECONDS), db.transaction():
        db.run("DELETE FROM session WHERE name = ?", (name,))
        for table, columns in columns_of_sessions().items():
            places = dict.fromkeys(columns, "?")
            if table != "session":
                places["session"] = SESSION
            named, values = ", ".join(places), ", ".join(places.values())
            db.insert(f"INSERT INTO {table} ({named}) VALUES {{({values})}}", given[table])
