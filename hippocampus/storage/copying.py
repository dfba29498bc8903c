"""Copies sessions between a directory and a server: payloads first, each session's rows in one transaction.

Sessions of the same hash are left as they are, so that a copy that was stopped can go on.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from hippocampus.entries.text import storable
from hippocampus.errors import StoreError
from hippocampus.storage import database, ledger
from hippocampus.storage.archive.reader import readable
from hippocampus.storage.content_store import ContentStore
from hippocampus.storage.sqlite import transaction
from hippocampus.storage.state import DirectoryState, StateStore

COLUMNS = {
    "session": "name, agent, active_at, changes, consolidated, encoding, context_load, context_load_tokens, mark",
    "entry": "id, origin, content, form, kind, tool, arguments, tokens, stage, shown, entry, is_pinned",
    "candidate": "id, stage, shown, entry, note",
    "conversation": "lines",
    "decision": "entry_id, turn, stage, reason, saves, costs",
    "call": "turn, messages, raw_tokens, sent_tokens, raw_cost, sent_cost, edit_cost, marks",
    "sent": "number, key, tokens",
    "measure": "digest, encoding, tokens, kind",
    "consolidated": "key, shown",
}
"""The columns of each table of sessions, `session` first."""
BYTES = {"session": {6}, "entry": {1, 5, 6}, "candidate": {4}, "decision": {3}}
"""The places of texts that are bytes on a server."""
CHANGES, CONSOLIDATED, CONTENT, IS_PINNED = 3, 4, 2, 11
"""The places of these columns in `session` and in `entry`."""
ORDER = {"call": "turn", "measure": "digest", "consolidated": "rowid"}
"""What the rows of a table are in the order of, where that is not their number."""
OF_NAME = "(SELECT number FROM session WHERE name = %s)"
SECONDS = 60.0
"""How long a payload or a session takes at most on a server: no turn waits for it."""
Rows = Mapping[str, Sequence[Sequence[Any]]]
"""The rows of one session by their tables."""


class Copied(NamedTuple):
    """What was done for one session."""

    session: str
    outcome: Literal["copied", "unchanged", "newer there"]
    payloads: int = 0
    lost: tuple[str, ...] = ()
    """The keys of payloads that the source does not have, or that are damaged there."""


def copied(source: StateStore, target: StateStore) -> Iterator[Copied]:
    """Copy every session of a state into another one, and yield what was done for each.

    A session that has changed since at the source replaces its copy; one that the target has of its
    own, or that has gone on there, stays.

    Raises:
        StoreError: a state cannot be read or written, or a copy is not what was written.
    """
    with source.contents() as contents, target.contents() as copies:
        source.open(SECONDS)
        target.open(SECONDS)
        [names] = _run(source, [("SELECT name FROM session ORDER BY number", [])])
        for (name,) in names:
            rows, before = _read(source, name), _read(target, name)
            is_read = set(map(tuple, rows["consolidated"])) <= set(
                map(tuple, before["consolidated"])
            )
            is_same = _digest(rows) == _digest(before)
            if is_same and is_read:
                yield Copied(name, "unchanged")
            elif before["session"] and not is_same and not _goes_on(rows, before):
                yield Copied(name, "newer there")
            else:
                keys = dict.fromkeys(row[CONTENT] for row in rows["entry"])
                lost = [key for key in keys if not _copy_payload(contents, copies, key)]
                _write(target, name, rows, before)
                if _digest(_read(target, name)) != _digest(rows):
                    raise StoreError(f"session {name!r}: the copy is not what was written")
                yield Copied(name, "copied", len(keys) - len(lost), tuple(lost))


def _goes_on(rows: Rows, before: Rows) -> bool:
    """Return whether rows are those of a session that has gone on since its copy was made."""
    is_later = rows["session"][0][CHANGES] > before["session"][0][CHANGES]
    known = {tuple(row[:2]) for row in rows["entry"]}
    return is_later and known.issuperset(tuple(row[:2]) for row in before["entry"])


def _copy_payload(contents: ContentStore, copies: ContentStore, key: str) -> bool:
    """Copy a payload that is not there yet; return whether there was one to copy."""
    found: list[bytes | None] = []
    for store in (copies, contents):
        try:
            found.append(store.get(key))
        except StoreError:  # a damaged copy is written again, a damaged original is lost
            found.append(None)
    there, content = found
    return there is not None or (content is not None and copies.put(content) == key)


def _digest(rows: Rows) -> bytes:
    """Return the hash of the content of a session, packed and consolidated or not.

    Its name is left out, which each engine writes in its own way.
    """
    found = {table: [tuple(row) for row in rows[table]] for table in COLUMNS}
    found["session"] = [row[1:CONSOLIDATED] + row[CONSOLIDATED + 1 :] for row in found["session"]]
    del found["consolidated"]
    lines = b"".join(readable(lines) for (lines,) in found.pop("conversation"))
    return hashlib.sha256(repr(found).encode() + lines).digest()


def _read(state: StateStore, name: str) -> Rows:
    """Return the rows of a session as they are at one moment; of one that is not there, none."""
    queries = []
    for table, columns in COLUMNS.items():
        column = "number" if table == "session" else "session"
        own, order = f"{table}.{column} = {OF_NAME}", ORDER.get(table, "number")
        queries.append((f"SELECT {columns} FROM {table} WHERE {own} ORDER BY {order}", [name]))
    found = dict(zip(COLUMNS, _run(state, queries), strict=True))
    for table, rows in found.items():
        for at in BYTES.get(table, ()):
            for row in rows:
                row[at] = row[at].decode() if isinstance(row[at], bytes) else row[at]
    for row in found["entry"]:
        row[IS_PINNED] = int(row[IS_PINNED])
    return found


def _write(state: StateStore, name: str, rows: Rows, before: Rows) -> None:
    """Write the rows of a session, in place of those that it has and as far consolidated as they are."""
    is_directory = isinstance(state, DirectoryState)
    if isinstance(state, DirectoryState):
        ledger.expect_closed(state.layout, name)
    queries: list[tuple[str, list[Any]]] = [("DELETE FROM session WHERE name = %s", [name])]
    for table, columns in COLUMNS.items():
        places = ", ".join(["%s"] * len(columns.split(",")))
        query = f"INSERT INTO {table} ({columns}, session) VALUES ({places}, {OF_NAME})"
        if table == "session":
            query = f"INSERT INTO session ({columns}) VALUES ({places})"
        for given in _read_by_both(rows, before) if table == "consolidated" else rows[table]:
            row = list(given)
            if not is_directory:
                for at in BYTES.get(table, ()):
                    row[at] = row[at].encode() if row[at] is not None else None
            if table == "session":
                row[0] = name
                row[CONSOLIDATED] = max(each[CONSOLIDATED] for each in [row, *before[table]])
            elif table == "entry" and not is_directory:
                row[IS_PINNED] = bool(row[IS_PINNED])
            queries.append((query, row if table == "session" else [*row, name]))
    _run(state, queries)


def _read_by_both(rows: Rows, before: Rows) -> list[Sequence[Any]]:
    """Return what the consolidations of the source or of the target have read."""
    marks = {mark[0]: mark for mark in (*before["consolidated"], *rows["consolidated"])}
    return list(marks.values())


def _run(state: StateStore, queries: Sequence[tuple[str, list[Any]]]) -> list[list[list[Any]]]:
    """Return the rows of statements that run in one transaction."""
    if isinstance(state, DirectoryState):
        is_read = all(text.startswith("SELECT") for text, _ in queries)
        opened = database.reading if is_read else database.opened
        with opened(state.layout) as db, contextlib.nullcontext() if is_read else transaction(db):
            if is_read:
                db.execute("BEGIN")
            found = [
                db.execute(text.replace("%s", "?"), [_named(value) for value in values]).fetchall()
                for text, values in queries
            ]
    else:
        from hippocampus.storage.postgres import PostgresState
        from hippocampus.storage.postgres.session import storable_name

        assert isinstance(state, PostgresState)
        name = lambda value: storable_name(value) if isinstance(value, str) else value  # noqa: E731
        given = [(text, list(map(name, values))) for text, values in queries]
        found = state.connections.rows(state.tenant, SECONDS, *given)
    return [[list(row) for row in rows] for rows in found]


def _named(value: Any) -> Any:
    return storable(value) if isinstance(value, str) else value
