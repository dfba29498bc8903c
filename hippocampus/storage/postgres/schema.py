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
OF_MEMORY = """memory bigint NOT NULL,
    FOREIGN KEY (tenant, memory) REFERENCES memory (tenant, row)"""
TRUE_UNTIL = """valid_until double precision,
    ended double precision,
    until double precision GENERATED ALWAYS AS (least(valid_until, ended)) STORED"""
FACTS = f"""
CREATE TABLE meta ({OWNED}, key text NOT NULL, value text NOT NULL, PRIMARY KEY (tenant, key));
CREATE TABLE memory (
    {OWNED},
    row bigint GENERATED ALWAYS AS IDENTITY,
    id text NOT NULL,
    kind text NOT NULL,
    type text NOT NULL,
    content text NOT NULL,
    indexed text,
    hash bigint NOT NULL,
    intensity double precision NOT NULL,
    agent text NOT NULL,
    scope text NOT NULL,
    tags text NOT NULL,
    session text NOT NULL,
    turn bigint,
    entry_id text NOT NULL,
    created double precision NOT NULL,
    accessed double precision NOT NULL,
    accesses bigint NOT NULL,
    encounters bigint NOT NULL,
    valid_from double precision NOT NULL,
    {TRUE_UNTIL},
    known_until double precision,
    superseded_by text,
    removed text,
    embedding_model text,
    raw text NOT NULL,
    metadata text NOT NULL,
    role text NOT NULL DEFAULT '',
    PRIMARY KEY (tenant, row),
    UNIQUE (tenant, id)
);
CREATE INDEX memory_hash ON memory (tenant, hash);
CREATE INDEX memory_turn ON memory (tenant, session, turn);
CREATE INDEX memory_superseded ON memory (tenant, superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX memory_agent ON memory (tenant, agent, type);
-- length: the words of the whole memory.
CREATE TABLE memory_word (
    {OWNED},
    word text COLLATE "C" NOT NULL,
    memory bigint NOT NULL,
    count bigint NOT NULL,
    length bigint NOT NULL,
    PRIMARY KEY (tenant, word, memory)
);
CREATE INDEX word_of_memory ON memory_word (tenant, memory);
CREATE TABLE memory_total (
    {OWNED}, memories bigint NOT NULL, words bigint NOT NULL, PRIMARY KEY (tenant)
);
CREATE TABLE entity (
    {OWNED},
    id bigint GENERATED ALWAYS AS IDENTITY,
    agent text NOT NULL,
    name text NOT NULL,
    PRIMARY KEY (tenant, id)
);
CREATE TABLE entity_name (
    {OWNED},
    agent text NOT NULL,
    key text NOT NULL,
    entity bigint NOT NULL,
    FOREIGN KEY (tenant, entity) REFERENCES entity (tenant, id),
    PRIMARY KEY (tenant, agent, key)
);
CREATE INDEX name_of_entity ON entity_name (tenant, entity);
CREATE TABLE triple (
    {OWNED}, {OF_MEMORY},
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    subject bigint NOT NULL,
    predicate text NOT NULL,
    object bigint NOT NULL,
    scope text NOT NULL,
    valid_from double precision NOT NULL,
    {TRUE_UNTIL},
    known_from double precision NOT NULL,
    known_until double precision,
    FOREIGN KEY (tenant, subject) REFERENCES entity (tenant, id),
    FOREIGN KEY (tenant, object) REFERENCES entity (tenant, id)
);
CREATE INDEX triple_subject ON triple (tenant, subject, predicate);
CREATE INDEX triple_object ON triple (tenant, object);
CREATE INDEX triple_memory ON triple (tenant, memory);
CREATE TABLE vector (
    {OWNED},
    row bigint NOT NULL,
    exact bytea NOT NULL,
    FOREIGN KEY (tenant, row) REFERENCES memory (tenant, row),
    PRIMARY KEY (tenant, row)
);
CREATE TABLE block (
    {OWNED},
    agent text NOT NULL,
    scope text NOT NULL,
    key text NOT NULL,
    value text NOT NULL,
    updated double precision NOT NULL,
    PRIMARY KEY (tenant, agent, scope, key)
);
CREATE TABLE forgotten ({OWNED}, id text NOT NULL, PRIMARY KEY (tenant, id));
-- A worker that consolidates a session claims it: until when, in seconds since 1970.
ALTER TABLE session ADD COLUMN claimed_until double precision NOT NULL DEFAULT 0;
CREATE TABLE hook_event (
    {OWNED},
    {NUMBERED},
    at double precision NOT NULL,
    session text NOT NULL,
    fields text NOT NULL,
    PRIMARY KEY (tenant, number)
);
-- What consolidations have read of a session; rowid: in which order.
CREATE TABLE consolidated (
    {OF_SESSION},
    rowid bigint GENERATED ALWAYS AS IDENTITY,
    key text NOT NULL,
    shown text,
    PRIMARY KEY (session, key)
);

-- What the statements of `storage.facts` take from SQLite.
CREATE FUNCTION max(integer, integer) RETURNS integer
    LANGUAGE sql IMMUTABLE AS 'SELECT greatest($1, $2)';
CREATE FUNCTION max(double precision, double precision) RETURNS double precision
    LANGUAGE sql IMMUTABLE AS 'SELECT greatest($1, $2)';
CREATE FUNCTION instr(text, text) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT strpos($1, $2)';
CREATE FUNCTION json_each(list text) RETURNS TABLE (value text) LANGUAGE sql IMMUTABLE AS $q$
    -- A NUL, which no text has here, is left out.
    SELECT json_array_elements_text(CASE
        WHEN strpos(list, '\\u0000') = 0 THEN list
        ELSE regexp_replace(list, '(?<!\\\\)((\\\\\\\\)*)\\\\u0000', '\\1', 'g')
    END::json)
$q$;

-- The text index: words are counted by the worker that writes.
CREATE FUNCTION index_memory(bigint, bigint, text) RETURNS void LANGUAGE sql AS $q$
    INSERT INTO memory_word (word, memory, count, length)
        SELECT key, $1, value::bigint, $2 FROM json_each_text($3::json);
    INSERT INTO memory_total AS known (memories, words) VALUES (1, $2)
        ON CONFLICT (tenant) DO UPDATE SET memories = known.memories + 1, words = known.words + $2;
$q$;
CREATE FUNCTION unindex_memories(text) RETURNS void LANGUAGE sql AS $q$
    WITH gone AS (
        DELETE FROM memory_word WHERE memory IN (SELECT value::bigint FROM json_each($1))
        RETURNING memory, length
    ), one AS (SELECT DISTINCT memory, length FROM gone)
    UPDATE memory_total SET memories = memories - (SELECT count(*) FROM one),
        words = words - (SELECT coalesce(sum(length), 0) FROM one)
$q$;
-- asked: parts, each with ranges of words. The words that are found, one row a range and memory.
CREATE FUNCTION word_hits(asked text)
RETURNS TABLE (part bigint, range bigint, memory bigint, often double precision, length bigint)
LANGUAGE sql STABLE AS $q$
    SELECT part.at, range.at, found.memory, sum(found.count)::double precision, found.length
    FROM json_array_elements(asked::json) WITH ORDINALITY AS part (ranges, at)
        CROSS JOIN json_array_elements(part.ranges) WITH ORDINALITY AS range (ends, at)
        CROSS JOIN LATERAL (  -- the offset lets each range ask the index
            SELECT * FROM memory_word WHERE word BETWEEN range.ends ->> 0 AND range.ends ->> 1 OFFSET 0
        ) AS found
    GROUP BY part.at, range.at, found.memory, found.length
$q$;
-- BM25 as FTS5 has it: k1 1.2, b 0.75, no weight below a millionth, and the best one the lowest; of
-- those alike, the first row. Whole billionths, since the order of a sum changes its last digits.
CREATE FUNCTION found_by(asked text) RETURNS TABLE (rowid bigint, rank bigint[])
LANGUAGE sql STABLE AS $q$
    WITH hit AS (
        SELECT *, count(*) OVER (PARTITION BY part, range) AS known FROM word_hits(asked)
    ), total AS (SELECT memories, words::double precision / memories AS mean FROM memory_total)
    SELECT memory, ARRAY[-sum(
        greatest(0.000001, ln(greatest(0.000001, (memories - known + 0.5) / (known + 0.5))))
        * often * 2.2 / (often + 1.2 * (0.25 + 0.75 * length / mean)) * 1e9
    )::bigint, memory]
    FROM hit CROSS JOIN total
    GROUP BY memory HAVING count(DISTINCT part) = json_array_length(asked::json)
$q$;
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
FACT_TABLES = (
    "meta", "memory", "memory_word", "memory_total", "entity", "entity_name", "triple", "vector",
    "block", "forgotten", "consolidated", "hook_event",
)  # fmt: skip
MIGRATIONS = (
    ("state", TABLES + _secured(*SESSIONS, "content", "tombstone")),
    ("proxy", PROXY + _secured("proxy_conversation", "proxy_chain", "proxy_rounds")),
    ("facts", FACTS + _secured(*FACT_TABLES)),
    (
        "folded",
        "CREATE FUNCTION folded(text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT lower($1)'",
    ),
)
"""Each with its name, in the order in which they are applied."""
