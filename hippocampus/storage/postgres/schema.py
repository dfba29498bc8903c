"""Every table on PostgreSQL, in the words of `storage.schema`. SQL text only.

Each row belongs to a tenant, which a transaction names first; without one there are no rows. A
migration that has shipped is never edited; a change is a further one.
"""

from __future__ import annotations

SCHEMA = "hippocampus"
TENANT = "hippocampus.tenant"
OF_TENANT = f"nullif(current_setting('{TENANT}', true), '')"
OWNED = f"tenant text NOT NULL DEFAULT {OF_TENANT}"
NUMBERED = "number bigint GENERATED ALWAYS AS IDENTITY"
OF_SESSION = f"""{OWNED}, session bigint NOT NULL,
    FOREIGN KEY (tenant, session) REFERENCES session (tenant, number) ON DELETE CASCADE"""
TABLES = f"""
-- Texts that a host or a model wrote are bytes: text holds no NUL. context_load: NULL until it is settled.
CREATE TABLE session (
    {OWNED},
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL,
    agent text NOT NULL DEFAULT '',
    active_at double precision NOT NULL,
    mark text NOT NULL DEFAULT '',
    changes bigint NOT NULL DEFAULT 0,
    consolidated bigint NOT NULL DEFAULT 0,
    encoding text NOT NULL DEFAULT '',
    context_load bytea,
    context_load_tokens bigint NOT NULL DEFAULT 0,
    UNIQUE (tenant, name),
    UNIQUE (tenant, number)
);
CREATE INDEX session_by_agent ON session (tenant, agent, active_at);
CREATE TABLE entry (
    {OF_SESSION},
    {NUMBERED},
    id text NOT NULL,
    origin bytea NOT NULL,
    content text NOT NULL,
    form text NOT NULL,
    kind text NOT NULL,
    tool bytea NOT NULL,
    arguments bytea NOT NULL,
    tokens bigint NOT NULL,
    stage text NOT NULL,
    shown bytea NOT NULL,
    entry bytea NOT NULL,
    is_pinned boolean NOT NULL,
    PRIMARY KEY (session, id)
);
CREATE UNIQUE INDEX entry_of_origin ON entry (session, sha256(origin));
CREATE INDEX entry_by_id ON entry (tenant, id);
CREATE TABLE candidate (
    {OF_SESSION},
    {NUMBERED},
    id text NOT NULL,
    stage text NOT NULL,
    shown bytea NOT NULL,
    entry bytea NOT NULL,
    note bytea NOT NULL,
    PRIMARY KEY (session, id)
);
CREATE TABLE conversation (
    {OF_SESSION},
    {NUMBERED},
    lines bytea NOT NULL,
    PRIMARY KEY (session, number)
);
CREATE TABLE decision (
    {OF_SESSION},
    {NUMBERED},
    entry_id text NOT NULL,
    turn bigint NOT NULL,
    stage text NOT NULL,
    reason bytea NOT NULL,
    saves bigint NOT NULL,
    costs double precision NOT NULL,
    PRIMARY KEY (session, number)
);
CREATE INDEX decision_of_entry ON decision (session, entry_id, stage);
CREATE TABLE call (
    {OF_SESSION},
    turn bigint NOT NULL,
    messages bigint NOT NULL,
    raw_tokens bigint NOT NULL,
    sent_tokens bigint NOT NULL,
    raw_cost double precision NOT NULL,
    sent_cost double precision NOT NULL,
    edit_cost double precision NOT NULL,
    marks text NOT NULL,
    PRIMARY KEY (session, turn)
);
CREATE TABLE sent (
    {OF_SESSION},
    number bigint NOT NULL,
    key text NOT NULL,
    tokens bigint NOT NULL,
    PRIMARY KEY (session, number)
);
CREATE TABLE measure (
    {OF_SESSION},
    digest bytea NOT NULL,
    encoding text NOT NULL,
    tokens bigint NOT NULL,
    kind text NOT NULL,
    PRIMARY KEY (session, digest)
);
-- packed: zstandard, sealed where HIPPOCAMPUS_KEY is set.
CREATE TABLE content (
    {OWNED},
    key text NOT NULL,
    put_at double precision NOT NULL,
    packed bytea NOT NULL,
    PRIMARY KEY (tenant, key)
);
ALTER TABLE content ALTER COLUMN packed SET STORAGE EXTERNAL;
CREATE TABLE tombstone (
    {OWNED},
    content text NOT NULL,
    removed text NOT NULL,
    rule text NOT NULL,
    PRIMARY KEY (tenant, content)
);
"""
OF_PROXY = f"""{OWNED}, session text NOT NULL,
    FOREIGN KEY (tenant, session) REFERENCES proxy_conversation (tenant, session) ON DELETE CASCADE"""
PROXY = f"""
CREATE TABLE proxy_conversation (
    {OWNED},
    session text NOT NULL,
    tip text NOT NULL,
    sent double precision NOT NULL,
    PRIMARY KEY (tenant, session)
);
CREATE INDEX proxy_by_tip ON proxy_conversation (tenant, tip);
CREATE INDEX proxy_by_time ON proxy_conversation (tenant, sent);
CREATE TABLE proxy_chain ({OF_PROXY}, chain text NOT NULL, PRIMARY KEY (tenant, chain));
CREATE TABLE proxy_rounds (
    {OF_PROXY}, chain text NOT NULL, rounds text NOT NULL, PRIMARY KEY (tenant, chain)
);
"""


def _secured(*tables: str) -> str:
    """Return what binds tables to the tenant of a transaction."""
    named = ", ".join(f"'{table}'" for table in tables)
    return f"""
DO $$
DECLARE named text;
BEGIN
    FOREACH named IN ARRAY ARRAY[{named}]
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', named);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', named);
        EXECUTE format($q$CREATE POLICY of_tenant ON %I USING (tenant = {OF_TENANT})$q$, named);
    END LOOP;
END $$
"""


SESSIONS = ("session", "entry", "candidate", "conversation", "decision", "call", "sent", "measure")
MIGRATIONS = (
    ("state", TABLES + _secured(*SESSIONS, "content", "tombstone")),
    ("proxy", PROXY + _secured("proxy_conversation", "proxy_chain", "proxy_rounds")),
)
"""Each with its name, in the order in which they are applied."""
