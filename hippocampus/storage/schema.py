"""Every table of a state directory's database, `state.sqlite3`. SQL text only.

A migration that has shipped is never edited; a change is a further one.
"""

from __future__ import annotations

from hippocampus.storage.migrations import Migration, Schema

SESSIONS = """
-- active_at: the last change. consolidated: how many of the changes are. encoding: which counted `sent`.
-- context_load: the text in front of the first message, NULL until it is settled.
CREATE TABLE session (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    agent TEXT NOT NULL DEFAULT '',
    active_at REAL NOT NULL,
    changes INTEGER NOT NULL DEFAULT 0,
    consolidated INTEGER NOT NULL DEFAULT 0,
    encoding TEXT NOT NULL DEFAULT '',
    context_load TEXT,
    context_load_tokens INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX session_by_agent ON session (agent, active_at);
CREATE TABLE holder (
    session INTEGER NOT NULL REFERENCES session(number) ON DELETE CASCADE,
    process TEXT NOT NULL,
    UNIQUE (session, process)
) STRICT;
-- content: the key of its payload. form: text, blocks, object, or messages for a digest. arguments: of
-- the call. shown: its text in the view. entry: the `Entry` as JSON. Both are packed (`packing.packed_text`)
-- with the id, the tool and, for `entry`, the content.
CREATE TABLE entry (
    number INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES session(number) ON DELETE CASCADE,
    id TEXT NOT NULL,
    origin TEXT NOT NULL,
    content TEXT NOT NULL,
    form TEXT NOT NULL,
    kind TEXT NOT NULL,
    tool TEXT NOT NULL,
    arguments TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    stage TEXT NOT NULL,
    shown BLOB NOT NULL,
    entry BLOB NOT NULL,
    is_pinned INTEGER NOT NULL,
    UNIQUE (id, session),
    UNIQUE (session, origin)
) STRICT;
-- The next text of an entry that was weighed and not committed, shown and entry packed with the id. A
-- process that goes on with the session weighs the same. entry: its `NEXT_FIELDS`. note: the line of the text that is not of the entry.
CREATE TABLE candidate (
    number INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES session(number) ON DELETE CASCADE,
    id TEXT NOT NULL,
    stage TEXT NOT NULL,
    shown BLOB NOT NULL,
    entry BLOB NOT NULL,
    note TEXT NOT NULL,
    UNIQUE (session, id)
) STRICT;
-- The raw conversation, appended by each turn. lines: JSON lines (`archive.records`), packed once the session
-- has ended.
CREATE TABLE conversation (
    number INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES session(number) ON DELETE CASCADE,
    lines BLOB NOT NULL
) STRICT;
CREATE INDEX conversation_of_session ON conversation (session);
CREATE TABLE decision (
    number INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES session(number) ON DELETE CASCADE,
    entry_id TEXT NOT NULL,
    turn INTEGER NOT NULL,
    stage TEXT NOT NULL,
    reason TEXT NOT NULL,
    saves INTEGER NOT NULL,
    costs REAL NOT NULL
) STRICT;
CREATE INDEX decision_of_entry ON decision (session, entry_id, stage);
-- The last request of each turn, and the account up to it. marks: where our cache marks stand.
CREATE TABLE call (
    session INTEGER NOT NULL REFERENCES session(number) ON DELETE CASCADE,
    turn INTEGER NOT NULL,
    messages INTEGER NOT NULL,
    raw_tokens INTEGER NOT NULL,
    sent_tokens INTEGER NOT NULL,
    raw_cost REAL NOT NULL,
    sent_cost REAL NOT NULL,
    edit_cost REAL NOT NULL,
    marks TEXT NOT NULL,
    UNIQUE (session, turn)
) STRICT;
-- message: its number. key: a hash of its words.
CREATE TABLE reactivation (
    number INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES session(number) ON DELETE CASCADE,
    message INTEGER NOT NULL,
    key TEXT NOT NULL,
    entry_id TEXT NOT NULL,
    turn INTEGER NOT NULL,
    shown TEXT NOT NULL
) STRICT;
CREATE INDEX reactivation_of_session ON reactivation (session);
-- The messages of the last request. key: a hash of the words. tokens: 0 is not known.
CREATE TABLE sent (
    session INTEGER NOT NULL REFERENCES session(number) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    key TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    PRIMARY KEY (session, number)
) STRICT, WITHOUT ROWID;
-- digest: of a long text (BLAKE2b, 16 bytes). kind: empty where no turn asked for it.
CREATE TABLE measure (
    session INTEGER NOT NULL REFERENCES session(number) ON DELETE CASCADE,
    digest BLOB NOT NULL,
    encoding TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    kind TEXT NOT NULL,
    PRIMARY KEY (session, digest)
) STRICT, WITHOUT ROWID;
-- text: empty once a message is in the fact store. outcome: empty until the fact store has the item.
CREATE TABLE outbox (
    number INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES session(number) ON DELETE CASCADE,
    key TEXT NOT NULL,
    text TEXT NOT NULL,
    kind TEXT NOT NULL,
    origin TEXT NOT NULL,
    turn INTEGER NOT NULL,
    entry_id TEXT,
    word_by_word INTEGER NOT NULL,
    fact_id TEXT NOT NULL,
    outcome TEXT NOT NULL,
    UNIQUE (session, key)
) STRICT
"""
TOMBSTONES = """
CREATE TABLE tombstone (content TEXT PRIMARY KEY, removed TEXT NOT NULL, rule TEXT NOT NULL) STRICT
"""
EDGES = """
CREATE TABLE proxy_conversation (
    session TEXT PRIMARY KEY, tip TEXT NOT NULL, sent REAL NOT NULL
) STRICT;
CREATE TABLE proxy_chain (chain TEXT PRIMARY KEY, session TEXT NOT NULL) STRICT;
CREATE TABLE proxy_rounds (
    chain TEXT PRIMARY KEY, session TEXT NOT NULL, rounds TEXT NOT NULL
) STRICT;
CREATE TABLE caller_key (secret BLOB NOT NULL) STRICT;
INSERT INTO caller_key VALUES (randomblob(32));
CREATE TABLE hook_event (
    number INTEGER PRIMARY KEY, at REAL NOT NULL, session TEXT NOT NULL, fields TEXT NOT NULL
) STRICT;
CREATE INDEX hook_event_of_session ON hook_event (session)
"""
SCHEMA = Schema("state", (Migration("state", f"{SESSIONS};{TOMBSTONES};{EDGES}"),))
