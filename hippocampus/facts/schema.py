"""The tables of the fact store: an append-only list of migrations.

SQL text only. A migration that has shipped is never edited; a change is a further one.
"""

from __future__ import annotations

from hippocampus.storage.migrations import Migration, Schema

FIRST = """
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
    until REAL AS (min(coalesce(valid_until, ended), coalesce(ended, valid_until))) VIRTUAL,
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
CREATE VIEW memory_body AS SELECT row, coalesce(indexed, content) AS body FROM memory;
CREATE VIRTUAL TABLE memory_text USING fts5(
    body, content='memory_body', content_rowid='row',
    tokenize='porter unicode61 remove_diacritics 2'
);
CREATE TABLE entity (
    id INTEGER PRIMARY KEY,
    agent TEXT NOT NULL,
    name TEXT NOT NULL
) STRICT;
CREATE TABLE entity_name (
    agent TEXT NOT NULL,
    key TEXT NOT NULL,
    entity INTEGER NOT NULL REFERENCES entity(id),
    PRIMARY KEY (agent, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE triple (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    subject INTEGER NOT NULL REFERENCES entity(id),
    predicate TEXT NOT NULL,
    object INTEGER NOT NULL REFERENCES entity(id),
    scope TEXT NOT NULL,
    memory INTEGER NOT NULL REFERENCES memory(row),
    valid_from REAL NOT NULL,
    valid_until REAL,
    ended REAL,
    until REAL AS (min(coalesce(valid_until, ended), coalesce(ended, valid_until))) VIRTUAL,
    known_from REAL NOT NULL,
    known_until REAL
) STRICT;
CREATE INDEX triple_subject ON triple (subject, predicate);
CREATE INDEX triple_object ON triple (object);
CREATE INDEX triple_memory ON triple (memory);
CREATE TABLE vector (row INTEGER PRIMARY KEY REFERENCES memory(row), exact BLOB NOT NULL) STRICT;
CREATE TABLE block (
    agent TEXT NOT NULL,
    scope TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    updated REAL NOT NULL,
    PRIMARY KEY (agent, scope, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE receipt (key TEXT PRIMARY KEY, memory TEXT NOT NULL, action TEXT NOT NULL)
STRICT, WITHOUT ROWID;
CREATE TABLE forgotten (id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID
"""
"""`forgotten` has the ids of memories that were deleted for good: an id in no table belongs to another store."""

SCHEMA = Schema("fact store", (Migration("first", FIRST),))
