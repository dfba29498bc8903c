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
DO $$
DECLARE named text;
BEGIN
    FOREACH named IN ARRAY ARRAY['session', 'entry', 'candidate', 'conversation', 'decision', 'call',
        'sent', 'measure', 'content', 'tombstone']
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', named);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', named);
        EXECUTE format($q$CREATE POLICY of_tenant ON %I USING (tenant = {OF_TENANT})$q$, named);
    END LOOP;
END $$
"""
MIGRATIONS = (("state", TABLES),)
"""Each with its name, in the order in which they are applied."""
