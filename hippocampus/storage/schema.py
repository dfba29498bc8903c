"""Every table of a state, in the SQL of SQLite, and how a file gets them; `postgres.schema` spells it for a server.

A column has a line of its own, or is in a table of one line. A migration that has shipped is never
edited; a change is a further one.
"""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from hippocampus.errors import StoreError
from hippocampus.storage.sqlite import FAILURES, connected, reading, transaction

TABLES = """
-- Texts that a host or a model wrote are bytes: text holds no NUL on a server. active_at: the last change. consolidated: how many of the changes are.
-- context_load: the text in front of the first message, NULL until it is settled. mark: opens the ids of entries.
-- failures: calls that failed inside and sent the raw list, and raw_calls: all that did, up to the last change.
-- model: whose prices the last call was weighed at, empty for none. claimed_until: until when a worker has it for its consolidation, in seconds since 1970.
CREATE TABLE session (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    agent TEXT NOT NULL DEFAULT '',
    active_at REAL NOT NULL,
    mark TEXT NOT NULL DEFAULT '',
    changes INTEGER NOT NULL DEFAULT 0,
    consolidated INTEGER NOT NULL DEFAULT 0,
    failures INTEGER NOT NULL DEFAULT 0,
    raw_calls INTEGER NOT NULL DEFAULT 0,
    model TEXT NOT NULL DEFAULT '',
    context_load BLOB,
    context_load_tokens INTEGER NOT NULL DEFAULT 0,
    claimed_until REAL NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX session_by_agent ON session (agent, active_at);
CREATE INDEX session_unconsolidated ON session (active_at) WHERE changes > consolidated;
-- content: the key of its payload. form: text, blocks, object, or messages for a digest. arguments: of
-- the call. shown: its text in the view. entry: the `Entry` as JSON. Both are packed (`packing.packed_text`)
-- with the id, the tool and, for `entry`, the content.
CREATE TABLE entry (
    number INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES session(number) ON DELETE CASCADE,
    id TEXT NOT NULL,
    origin BLOB NOT NULL,
    content TEXT NOT NULL,
    form TEXT NOT NULL,
    kind TEXT NOT NULL,
    tool BLOB NOT NULL,
    arguments BLOB NOT NULL,
    tokens INTEGER NOT NULL,
    stage TEXT NOT NULL,
    shown BLOB NOT NULL,
    entry BLOB NOT NULL,
    is_pinned INTEGER NOT NULL,
    UNIQUE (id, session)
) STRICT;
CREATE INDEX entry_of_session ON entry (session);
CREATE INDEX entry_of_origin ON entry (session, substr(origin, -12));
-- The next text of an entry that was weighed and not committed, shown and entry packed with the id. A
-- process that goes on with the session weighs the same. entry: its `NEXT_FIELDS`. note: the line of the text that is not of the entry.
CREATE TABLE candidate (
    number INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES session(number) ON DELETE CASCADE,
    id TEXT NOT NULL,
    stage TEXT NOT NULL,
    shown BLOB NOT NULL,
    entry BLOB NOT NULL,
    note BLOB NOT NULL,
    UNIQUE (session, id)
) STRICT;
-- What each request brought, with the account up to it. number: of the change of its session. turn: NULL once
-- a later row has its turn or an earlier one. marks: where our cache marks stand. sent, measures, decisions are
-- JSON lists: messages from `first` on, each as a hash of its words and its tokens, digests of long texts
-- (BLAKE2b, 16 bytes) with tokens and kind (empty where no turn asked for it), and changes of the view with turn,
-- entry, stage, reason, savings and costs. notes: `ledger.DigestNotes` of the call's digests as JSON, packed, if it
-- made some.
CREATE TABLE call (
    session INTEGER NOT NULL REFERENCES session(number) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    turn INTEGER,
    messages INTEGER NOT NULL,
    raw_tokens INTEGER NOT NULL,
    sent_tokens INTEGER NOT NULL,
    raw_cost REAL NOT NULL,
    sent_cost REAL NOT NULL,
    edit_cost REAL NOT NULL,
    recall_cost REAL NOT NULL,
    marks TEXT NOT NULL,
    first INTEGER NOT NULL,
    sent TEXT NOT NULL,
    measures TEXT NOT NULL,
    decisions TEXT NOT NULL,
    notes BLOB,
    PRIMARY KEY (session, number)
) STRICT;
-- The raw conversation, appended by each turn. number: of the change of its session. list: the host's list as the
-- row leaves it, by which another process recognises it without reading lines: how many messages, a hash of these
-- and of all marks, and the hashes of those with marks, as JSON, empty if unknown. crc: CRC-32 of lines. lines:
-- JSON lines (`archive`), packed on a server, and in a file once the session has ended.
CREATE TABLE conversation (
    session INTEGER NOT NULL REFERENCES session(number) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    list TEXT NOT NULL,
    crc INTEGER NOT NULL,
    lines BLOB NOT NULL,
    PRIMARY KEY (session, number)
) STRICT;
-- What consolidations have read, by key. shown: what files show of it, as JSON, empty for nothing, NULL once
-- they do.
CREATE TABLE consolidated (
    number INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES session(number) ON DELETE CASCADE,
    key TEXT NOT NULL,
    shown TEXT,
    UNIQUE (session, key)
) STRICT;
CREATE TABLE tombstone (content TEXT PRIMARY KEY, removed TEXT NOT NULL, rule TEXT NOT NULL) STRICT;
CREATE TABLE proxy_conversation (session TEXT PRIMARY KEY, tip TEXT NOT NULL, sent REAL NOT NULL) STRICT;
CREATE INDEX proxy_by_tip ON proxy_conversation (tip);
CREATE INDEX proxy_by_time ON proxy_conversation (sent);
-- rounds: the recalls before the answer at the end of the chain, as JSON, NULL where there were none.
CREATE TABLE proxy_chain (
    chain TEXT PRIMARY KEY,
    session TEXT NOT NULL REFERENCES proxy_conversation(session) ON DELETE CASCADE,
    rounds TEXT
) STRICT;
CREATE INDEX proxy_chain_of_session ON proxy_chain (session);
CREATE TABLE hook_event (
    number INTEGER PRIMARY KEY,
    at REAL NOT NULL,
    session TEXT NOT NULL,
    fields TEXT NOT NULL
) STRICT;
CREATE INDEX hook_event_of_session ON hook_event (session);
-- Values under keys: the embedding model, the facts that a run of defrag promoted or took away, the key by which a proxy hashes the
-- names of callers.
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE memory (
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL CHECK (kind IN ('fact', 'memory')),
    type TEXT NOT NULL,
    content TEXT NOT NULL,
    indexed TEXT,
    hash INTEGER NOT NULL,
    intensity REAL NOT NULL,
    agent TEXT NOT NULL,
    scope TEXT NOT NULL,
    tags TEXT NOT NULL,
    session TEXT NOT NULL,
    turn INTEGER,
    entry_id TEXT NOT NULL,
    created REAL NOT NULL,
    accessed REAL NOT NULL,
    accesses INTEGER NOT NULL,
    encounters INTEGER NOT NULL,
    valid_from REAL NOT NULL,
    valid_until REAL,
    ended REAL,
    until REAL GENERATED ALWAYS AS (CASE WHEN ended < valid_until OR valid_until IS NULL THEN ended ELSE valid_until END) STORED,
    known_until REAL,
    superseded_by TEXT,
    removed TEXT,
    embedding_model TEXT,
    raw TEXT NOT NULL,
    metadata TEXT NOT NULL,
    role TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX memory_hash ON memory (hash);
CREATE INDEX memory_turn ON memory (session, turn) WHERE turn IS NOT NULL;
CREATE INDEX memory_superseded ON memory (superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX memory_agent ON memory (agent, type);
-- The relations that a memory states, with its agent and scope. A key is the form in which names are compared.
CREATE TABLE triple (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    agent TEXT NOT NULL,
    scope TEXT NOT NULL,
    subject TEXT NOT NULL,
    subject_key TEXT NOT NULL,
    predicate TEXT NOT NULL,
    object TEXT NOT NULL,
    object_key TEXT NOT NULL,
    memory INTEGER NOT NULL REFERENCES memory(row)
) STRICT;
CREATE INDEX triple_subject ON triple (subject_key, predicate, agent);
CREATE INDEX triple_memory ON triple (memory);
CREATE TABLE vector (row INTEGER PRIMARY KEY REFERENCES memory(row), exact BLOB NOT NULL) STRICT;
CREATE TABLE block (
    agent TEXT NOT NULL,
    scope TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    updated REAL NOT NULL,
    PRIMARY KEY (agent, scope, key)
) STRICT;
-- The ids of memories that were deleted for good: an id in no table belongs to another store.
CREATE TABLE forgotten (id TEXT PRIMARY KEY) STRICT
"""
OF_FILES = """
CREATE VIEW memory_body AS SELECT row, coalesce(indexed, content) AS body FROM memory;
CREATE VIRTUAL TABLE memory_text USING fts5(
    body, content='memory_body', content_rowid='row',
    tokenize='porter unicode61 remove_diacritics 2'
)
"""
SCRIPTS = (f"{TABLES};{OF_FILES}",)
"""Append-only: SQL statements with `;` between them. A script runs once, in one transaction with its
row in the table `migration`."""
RECORD = "CREATE TABLE IF NOT EXISTS migration (number INTEGER PRIMARY KEY, name TEXT)"
NAMES = "SELECT name FROM sqlite_schema WHERE type = 'table'"


def name_of(script: str) -> str:
    """Return the name under which a script is known to have run: a hash of its SQL without comments."""
    text = " ".join(re.sub(r"--.*", "", script).split())
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def migrate(db: sqlite3.Connection, path: str, scripts: Sequence[str] = SCRIPTS) -> None:
    """Bring a file up to date, if `applied` accepts it; of two processes at once, one does the work."""
    if len(applied(db, path, scripts)) == len(scripts):
        return
    with transaction(db, path):
        done = len(applied(db, path, scripts))
        db.execute(RECORD)
        for number, script in enumerate(scripts[done:], done):
            for statement in script.split(";"):  # `executescript` would commit what came before it
                db.execute(statement)
            db.execute("INSERT INTO migration VALUES (?, ?)", (number, name_of(script)))


def migrated(path: Path | str, *, is_shared: bool = False) -> sqlite3.Connection:
    """Open a file with its tables up to date; one that `is_shared` may have tables of a host's.

    It raises what `connected` and `migrate` do.
    """
    db = connected(path)
    try:
        db.execute("PRAGMA foreign_keys = ON")
        db.execute("PRAGMA secure_delete = ON")
        if is_shared:
            db.execute(RECORD)
        migrate(db, str(path))
    except BaseException:
        db.close()
        raise
    return db


def is_state(path: Path) -> bool:
    """Return whether a file is the database of a state, under any name."""
    if not path.is_file():
        return False
    try:
        with reading(path) as db:
            return bool(applied(db, str(path)))
    except (StoreError, *FAILURES):
        return False


def applied(db: sqlite3.Connection, path: str, scripts: Sequence[str] = SCRIPTS) -> list[str]:
    """Return the names of the scripts that a file has seen.

    Raises:
        StoreError: it is of another kind or a later version, or has tables that were never released.
    """
    known = [name_of(script) for script in scripts]
    tables = {name for (name,) in db.execute(NAMES)}
    if not tables:
        return []
    if "migration" not in tables:
        raise StoreError(f"state {path}: a SQLite file of something else; name another")
    names = [name for (name,) in db.execute("SELECT name FROM migration ORDER BY number")]
    if names == known[: len(names)]:
        return names
    if names[: len(known)] == known:
        raise StoreError(
            f"state {path} was written by a later version of hippocampus: upgrade "
            "hippocampus, or name another file or state directory"
        )
    raise StoreError(
        f"state {path} has the tables of another checkout, which exports it (hippocampus store "
        "export, hippocampus memory export); or move it away to begin a new one"
    )
