"""What a server has besides the tables of `storage.schema`: payloads, words of facts, functions, tenants. SQL text only.

A migration that has shipped is never edited; a change is a further one.
"""

from __future__ import annotations

from hippocampus.storage.postgres.dialect import OF_TENANT, tables
from hippocampus.storage.schema import TABLES

SCHEMA = "hippocampus"
OF_SERVERS = """
-- packed: zstandard, sealed where HIPPOCAMPUS_KEY is set, or, where it is shorter than packed_bytes, its first
-- 16 bytes and the name of its object.
CREATE TABLE content (key TEXT PRIMARY KEY, put_at REAL NOT NULL, packed_bytes INTEGER NOT NULL, packed BLOB NOT NULL) STRICT;
ALTER TABLE content ALTER COLUMN packed SET STORAGE EXTERNAL;
-- length: the words of the whole memory.
CREATE TABLE memory_word (
    word TEXT COLLATE "C" NOT NULL,
    memory INTEGER NOT NULL,
    count INTEGER NOT NULL,
    length INTEGER NOT NULL,
    PRIMARY KEY (word, memory)
) STRICT;
CREATE INDEX word_of_memory ON memory_word (memory);
CREATE TABLE memory_total (number INTEGER PRIMARY KEY, memories INTEGER NOT NULL, words INTEGER NOT NULL) STRICT
"""
FUNCTIONS = """
-- What statements of both engines take from SQLite.
CREATE FUNCTION max(integer, integer) RETURNS integer
    LANGUAGE sql IMMUTABLE AS 'SELECT greatest($1, $2)';
CREATE FUNCTION max(bigint, bigint) RETURNS bigint
    LANGUAGE sql IMMUTABLE AS 'SELECT greatest($1, $2)';
CREATE FUNCTION max(double precision, double precision) RETURNS double precision
    LANGUAGE sql IMMUTABLE AS 'SELECT greatest($1, $2)';
CREATE FUNCTION folded(text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT lower($1)';
CREATE FUNCTION instr(text, text) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT strpos($1, $2)';
CREATE FUNCTION json_each(list text) RETURNS TABLE (key bigint, value text) LANGUAGE sql IMMUTABLE AS $q$
    -- A NUL, which no text has here, is left out.
    SELECT place - 1, value FROM json_array_elements_text(CASE
        WHEN strpos(list, '\\u0000') = 0 THEN list
        ELSE regexp_replace(list, '(?<!\\\\)((\\\\\\\\)*)\\\\u0000', '\\1', 'g')
    END::json) WITH ORDINALITY AS given (value, place)
$q$;

-- The text index: words are counted by the worker that writes.
CREATE FUNCTION index_memory(bigint, bigint, text) RETURNS void LANGUAGE sql AS $q$
    INSERT INTO memory_word (word, memory, count, length)
        SELECT key, $1, value::bigint, $2 FROM json_each_text($3::json);
    INSERT INTO memory_total AS known (number, memories, words) VALUES (1, 1, $2)
        ON CONFLICT (tenant, number) DO UPDATE SET memories = known.memories + 1, words = known.words + $2;
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
-- Refuses the payloads of a worker whose key is not the one of a tenant's encrypted payloads.
CREATE FUNCTION expect_key(marker text) RETURNS void LANGUAGE plpgsql AS $q$
BEGIN
    IF EXISTS (SELECT FROM meta WHERE key = 'sealed' AND value != marker) THEN
        RAISE 'is encrypted, and not written without its key: set HIPPOCAMPUS_KEY to the key under which it was written';
    END IF;
END $q$;
-- Row-level security binds every table to the tenant of a transaction.
DO $$
DECLARE named text;
BEGIN
    FOR named IN SELECT tablename FROM pg_tables WHERE schemaname = 'hippocampus' AND tablename != 'migration'
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', named);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', named);
        EXECUTE format($q$CREATE POLICY of_tenant ON %I USING (tenant = {OF_TENANT})$q$, named);
    END LOOP;
END $$
"""
CONFLICT = "HC001"
"""The state of SQL with which `expect_changes` fails."""
EXPECT_CHANGES = f"""
CREATE FUNCTION expect_changes(bigint, bigint) RETURNS void LANGUAGE plpgsql AS $q$
BEGIN
    IF NOT EXISTS (SELECT FROM session WHERE number = $1 AND changes = $2) THEN
        RAISE 'another worker has changed the session' USING ERRCODE = '{CONFLICT}';
    END IF;
END $q$
"""
SCRIPTS = (
    f"{tables(TABLES)};{tables(OF_SERVERS)};{FUNCTIONS}".replace("{OF_TENANT}", OF_TENANT),
    EXPECT_CHANGES,
)
"""In the order in which they are applied."""
