"""Entities, their names and their relations in SQL. What closes what is decided elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace

from hippocampus.facts.claims import Relation, key
from hippocampus.facts.database import Database, Row
from hippocampus.facts.models import EVERY_AGENT, Memory, Triple
from hippocampus.facts.predicates import KEPT_AS

COLUMNS = """
    SELECT triple.id, s.name, triple.predicate, o.name, triple.valid_from, triple.until,
        triple.known_from, triple.known_until, memory.id, triple.negated, triple.memory
    FROM triple JOIN entity s ON s.id = triple.subject JOIN entity o ON o.id = triple.object
        JOIN memory ON memory.row = triple.memory
"""
ADD = """
    INSERT INTO triple (subject, predicate, object, negated, scope, memory, valid_from, valid_until,
        ended, known_from, known_until)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
KNOWN = """
    triple.known_from <= :known AND triple.valid_from <= :at AND (
        triple.until IS NULL OR triple.until > :at
        OR (triple.known_until IS NOT NULL AND triple.known_until > :known)
    ) AND (memory.removed IS NULL OR memory.removed != 'merged')
"""
"""What faded is still related: triples do not fade."""


class Triples:
    """The triples of one file."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def entity(self, agent: str, name: str) -> int:
        """Return the number of an entity of that name or alias; make it where there is none."""
        found = self.known_entity(agent, name)
        if found is not None:
            return found
        with self._db.guarded():
            added = self._db.connection.execute(
                "INSERT INTO entity (agent, name) VALUES (?, ?)", (agent, name.strip())
            )
            number = int(added.lastrowid or 0)
        self._db.run("INSERT INTO entity_name VALUES (?, ?, ?)", (agent, key(name), number))
        return number

    def known_entity(self, agent: str, name: str) -> int | None:
        """Return the number of an entity of that name or alias, or nothing."""
        found: int | None = self._db.value(
            "SELECT entity FROM entity_name WHERE agent = ? AND key = ?", (agent, key(name))
        )
        return found

    def resolved(self, agent: str, relation: Relation) -> Relation:
        """Return a relation with its entities under the names that they go by."""
        return replace(
            relation,
            subject=self._name(agent, relation.subject),
            object=self._name(agent, relation.object),
        )

    def _name(self, agent: str, name: str) -> str:
        found: str | None = self._db.value(
            "SELECT name FROM entity_name JOIN entity ON id = entity"
            " WHERE entity_name.agent = ? AND key = ?",
            (agent, key(name)),
        )
        return found or name

    def alias(self, agent: str, name: str, other: str) -> None:
        """Let two names be one entity; where both are known, the second becomes the first."""
        with self._db.transaction():
            kept, gone = self.entity(agent, name), self.known_entity(agent, other)
            self._db.run(
                "INSERT OR REPLACE INTO entity_name VALUES (?, ?, ?)", (agent, key(other), kept)
            )
            if gone is None or gone == kept:
                return
            self._db.run("UPDATE entity_name SET entity = ? WHERE entity = ?", (kept, gone))
            self._db.run("UPDATE triple SET subject = ? WHERE subject = ?", (kept, gone))
            self._db.run("UPDATE triple SET object = ? WHERE object = ?", (kept, gone))
            self._db.run("DELETE FROM entity WHERE id = ?", (gone,))

    def add(self, row: int, memory: Memory, relation: Relation) -> None:
        """Write a triple that a memory says, for as long as the memory is true."""
        superseded = memory.superseded_by is not None
        subject = self.entity(memory.agent, relation.subject)
        self._db.run(
            ADD,
            (
                subject,
                relation.predicate,
                self.entity(memory.agent, relation.object),
                int(relation.negated),
                memory.scope,
                row,
                memory.valid_from,
                None if superseded else memory.valid_until,
                memory.valid_until if superseded else None,
                memory.created,
                memory.known_until,
            ),
        )

    def rivals(self, memory: Memory, relation: Relation) -> list[int]:
        """Return the current rows that say something of the same subject and predicate.

        Where the relation names the value that it replaces, rows with that value count too.
        """
        subject = self.known_entity(memory.agent, relation.subject)
        if subject is None:
            return []
        values = (subject, memory.scope, relation.predicate, int(bool(relation.replaces)))
        found = self._db.rows(
            "SELECT DISTINCT memory FROM triple WHERE subject = ? AND scope = ?"
            " AND (predicate = ? OR ?) AND known_until IS NULL ORDER BY id DESC LIMIT 200",
            values,
        )
        return [row for (row,) in found]

    def end(self, row: int, until: float, known: float) -> None:
        """Close the triples of a memory."""
        self._db.run(
            "UPDATE triple SET ended = ?, known_until = ? WHERE memory = ? AND known_until IS NULL",
            (until, known, row),
        )

    def reopen(self, rows: Iterable[int]) -> None:
        """Open the triples of memories again."""
        self._db.run_many(
            "UPDATE triple SET ended = NULL, known_until = NULL WHERE memory = ?",
            [(row,) for row in rows],
        )

    def delete(self, rows: Iterable[int]) -> None:
        """Delete the triples of memories for good."""
        self._db.run_many("DELETE FROM triple WHERE memory = ?", [(row,) for row in rows])

    def of_rows(self, rows: Sequence[int]) -> dict[int, tuple[Triple, ...]]:
        """Return the triples of memories, by row."""
        if not rows:
            return {}
        listed = f"[{','.join(map(str, rows))}]"
        found = self._db.rows(
            f"{COLUMNS} WHERE triple.memory IN (SELECT value FROM json_each(?)) ORDER BY triple.id",  # noqa: S608 - names of ours
            (listed,),
        )
        by_row: dict[int, tuple[Triple, ...]] = {}
        for row in found:
            by_row[row[-1]] = (*by_row.get(row[-1], ()), _triple(row))
        return by_row

    def find(  # noqa: PLR0913 - each is one thing to say
        self, agent: str, entity: str, predicate: str, *, at: float, known: float, history: bool
    ) -> list[Triple]:
        """Return triples, newest first: of an entity, of a predicate, true and known at times."""
        conditions, values = ["1" if history else KNOWN], {"at": at, "known": known}
        found_values: dict[str, object] = dict(values)
        if agent != EVERY_AGENT:
            conditions.append("s.agent = :agent")
            found_values["agent"] = agent
        if predicate:
            starts = [start for start, word in KEPT_AS.items() if word == predicate]
            alike = " OR ".join(f"triple.predicate GLOB '{start}*'" for start in starts)
            conditions.append(f"(triple.predicate = :predicate{f' OR {alike}' if alike else ''})")
            found_values["predicate"] = predicate
        if entity:
            conditions.append(
                "EXISTS (SELECT 1 FROM entity_name n WHERE n.key = :entity AND n.agent = s.agent"
                " AND n.entity IN (triple.subject, triple.object))"
            )
            found_values["entity"] = key(entity)
        with self._db.guarded():
            rows = self._db.connection.execute(
                f"{COLUMNS} WHERE {' AND '.join(conditions)}"
                " ORDER BY triple.valid_from DESC, triple.id DESC",
                found_values,
            ).fetchall()
        return [_triple(row) for row in rows]

    def named(self, agent: str, names: Iterable[str], most: int) -> list[int]:
        """Return the newest rows whose triples have one of these entities as subject or object."""
        listed = json.dumps(sorted(set(names)))
        condition = "" if agent == EVERY_AGENT else "agent = :agent AND "
        sql = f"""
            WITH named AS (SELECT DISTINCT entity FROM entity_name
                WHERE {condition}key IN (SELECT value FROM json_each(:names)))
            SELECT memory FROM (
                SELECT memory FROM triple WHERE subject IN (SELECT entity FROM named)
                UNION SELECT memory FROM triple WHERE object IN (SELECT entity FROM named)
            ) ORDER BY memory DESC LIMIT :most"""  # noqa: S608 - names of ours
        with self._db.guarded():
            found = self._db.connection.execute(
                sql, {"agent": agent, "names": listed, "most": most}
            ).fetchall()
        return [row for (row,) in found]

    def check(self) -> list[str]:
        """Return a sentence for each triple whose memory or entities are missing."""
        loose = self._db.rows(
            "SELECT id FROM triple WHERE memory NOT IN (SELECT row FROM memory)"
            " OR subject NOT IN (SELECT id FROM entity) OR object NOT IN (SELECT id FROM entity)"
        )
        return [f"triple {number} hangs loose" for (number,) in loose]


def _triple(row: Row) -> Triple:
    number, subject, predicate, value, *times, memory_id, negated, _ = row
    valid_from, valid_until, known_from, known_until = times
    return Triple(
        number,
        subject,
        predicate,
        value,
        valid_from,
        valid_until,
        known_from,
        known_until,
        memory_id,
        bool(negated),
    )
