"""One SQLite file of memories, triples and blocks, and all that is done with it.

It works without any model; `embed`, `complete` and `rerank` make it better. How each thing is done
is in the modules next to this one; here it is named, and callers' dates and defaults are read.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self, TypedDict, Unpack

from hippocampus.errors import HippocampusError
from hippocampus.facts import memories, query, triples
from hippocampus.facts.blocks import Blocks
from hippocampus.facts.database import Database
from hippocampus.facts.errors import FactError
from hippocampus.facts.models import (
    EVERY_AGENT,
    Clock,
    Compaction,
    Complete,
    Embed,
    FactPolicy,
    Item,
    Kind,
    Memory,
    Origin,
    Outcome,
    Recalled,
    Relation,
    Rerank,
    Stats,
    Triple,
)
from hippocampus.facts.query import RecallQuery
from hippocampus.facts.rendering import rendered
from hippocampus.facts.strength import due_for_pruning
from hippocampus.facts.tables import FactTables
from hippocampus.facts.timestamps import Moment, MonotonicClock, new_id, optional_seconds, seconds
from hippocampus.facts.triples import predicate_of
from hippocampus.facts.words import content_words, key

FRAME_TOKENS = 40
LISTED = frozenset({"scopes", "types", "tags", "kinds", "roles"})
log = logging.getLogger(__name__)


class ItemFields(TypedDict, total=False):
    """What a caller may say of a text besides its words."""

    type: str | None
    intensity: float | None
    scope: str
    tags: Sequence[str]
    origin: Origin
    at: Moment | None
    """When it was said."""
    valid_from: Moment | None
    valid_until: Moment | None
    metadata: Mapping[str, Any]


class Facts:
    """Long-term memory in one SQLite file, made and migrated on first use.

    `path` may be `":memory:"`. `agent` is whose memory it is where a call names no other; one file
    holds many agents, and `"*"` asks for all. `messages_table` names a table of the user's in the
    same file, which the tool `recall_conversation` then searches.

    Raises:
        StoreError: the file cannot be opened, is damaged, or is of a later version.
        EmbeddingModelError: the file was embedded with another model than `embed`'s.

    """

    def __init__(  # noqa: PLR0913 - each is one property of a store
        self,
        path: Path | str,
        *,
        settings: FactPolicy | None = None,
        embed: Embed | None = None,
        complete: Complete | None = None,
        rerank: Rerank | None = None,
        clock: Clock = time.time,
        agent: str = "default",
        messages_table: str | None = None,
        reembedding: bool = False,
    ) -> None:
        if agent == EVERY_AGENT:
            raise FactError(f"{EVERY_AGENT!r} asks for all agents; it is the name of none")
        self.agent = agent
        self.policy = settings or FactPolicy()
        self._database = Database(path)
        ticking = MonotonicClock(clock)
        self.tables = FactTables(self._database, self.policy, ticking, embed, complete, rerank)
        try:
            if embed is not None and not reembedding and self.tables.has_vectors:
                self.tables.vectors.require(str(self.tables.embed_model))
        except BaseException:
            self._database.close()
            raise
        self.blocks = Blocks(self._database, self.policy, ticking, agent)
        self.messages_table = messages_table

    # Remembering --------------------------------------------------------------------------------

    def remember(
        self, text: str, *, agent: str | None = None, **fields: Unpack[ItemFields]
    ) -> list[Outcome]:
        """Keep each statement of a text: added, strengthened, superseding or kept apart.

        At most two completions (one extracts, one decides) and one embedding a statement. `at` is
        when it was said, `valid_from` when it became true.
        """
        from hippocampus.facts import write

        wanted = write.requests_of(self.tables, _made(text, **fields))
        return write.keep(self.tables, wanted, self._writer(agent))

    def remember_many(
        self, items: Iterable[Item | str], *, agent: str | None = None
    ) -> list[Outcome]:
        """Remember each item as one statement, as it is; a thousand to a transaction.

        Each sees those before it. No completion extracts; one a thousand decides.
        """
        from hippocampus.facts import write

        wanted = (write.claim(_item(item)) for item in items)
        return write.keep(self.tables, wanted, self._writer(agent))

    def remember_triple(  # noqa: PLR0913 - each is one property of a relation
        self,
        subject: str,
        predicate: str,
        object: str,  # noqa: A002 - the word of the schema
        *,
        agent: str | None = None,
        raw: str = "",
        changed: bool = False,
        **fields: Unpack[ItemFields],
    ) -> Outcome:
        """Keep one relation as a fact; of a single-valued predicate, or `changed`, the old value ends."""
        from hippocampus.facts import write

        name = predicate_of(predicate)
        content = f"{subject} {name.replace('_', ' ')} {object}"
        fields["type"] = "fact"
        item = _made(content, **fields)
        replaces = changed or name in triples.SINGLE
        stated = (Relation(subject, name, object),)
        raw = self.tables.without_secrets(raw)
        wanted = write.MemoryRequest(item, "fact", "fact", raw, relations=stated, replaces=replaces)
        return write.keep(self.tables, [wanted], self._writer(agent))[0]

    def store(
        self, content: str, *, agent: str | None = None, **fields: Unpack[ItemFields]
    ) -> Outcome:
        """Keep a text word by word; the same text again strengthens the first."""
        return self.store_many([_made(content, **fields)], agent=agent)[0]

    def store_many(self, items: Iterable[Item | str], *, agent: str | None = None) -> list[Outcome]:
        """Store each item word by word, a thousand to a transaction."""
        from hippocampus.facts import write

        wanted = (
            write.MemoryRequest(item, "memory", item.type or self.policy.type)
            for item in map(_item, items)
        )
        return write.keep(self.tables, wanted, self._writer(agent))

    def update(self, memory_id: str, content: str) -> Memory:
        """Put another content in a memory's place, with its vector and triples; `history` has the old one.

        Raises:
            FactError: there is no memory of that id, or the content cannot be kept.

        """
        from hippocampus.facts import upkeep

        db, tables = self._database, self.tables
        if why := tables.refusal(content):
            raise FactError(f"the new content cannot be kept: {why}")
        vectors = tables.embedded([content])
        with db.transaction():
            found = memories.by_id(db, [memory_id])
            if not found:
                raise FactError(f"there is no memory {memory_id!r}")
            row, old = found[memory_id]
            now = tables.clock()
            memories.insert(
                db,
                replace(
                    old,
                    id=new_id(now),
                    valid_until=now,
                    known_until=now,
                    superseded_by=old.id,
                    removed=memories.REWORDED,
                    embedding_model=None,
                ),
            )
            memories.rewrite(db, row, old, content)
            if tables.has_vectors:
                tables.vectors.drop([row])
            if vectors is not None:
                tables.put_vectors({row: vectors[0]})
            memory = memories.by_row(db, [row])[row]
            db.run("DELETE FROM triple WHERE memory = ?", (row,))
            upkeep.relate(tables, row, memory)
        return memory

    def confirm(self, memory_ids: Iterable[str]) -> int:
        """Count recalled memories as used: they fade from now, a little stronger; return how many exist."""
        return query.confirm(self.tables, memory_ids, self.tables.clock())

    # Forgetting ---------------------------------------------------------------------------------

    def delete(self, memory_ids: Iterable[str]) -> list[Memory]:
        """Delete for good, bring back what these had superseded, and return what was deleted."""
        with self._database.transaction():
            gone = dict(memories.by_id(self._database, memory_ids).values())
            self.tables.delete(gone)
        return list(gone.values())

    def forget(  # noqa: PLR0913 - each is one property of a request
        self,
        query: str,
        *,
        threshold: float = 0.7,
        max_deleted: int = 10,
        dry_run: bool = False,
        agent: str | None = None,
        scopes: Sequence[str] | None = None,
    ) -> list[Recalled]:
        """Delete the memory of an id, or those that a description certainly means; return the deleted ones.

        Certain are those with all of its words, or with a cosine of 0.85 and the threshold. `dry_run`
        deletes nothing.
        """
        from hippocampus.facts import upkeep

        if max_deleted < 0:
            raise FactError(f"max_deleted is {max_deleted}; it is 0 or more")
        asked = self._asked(agent=agent, scopes=scopes)
        found = upkeep.meant(self.tables, query, asked, threshold)[:max_deleted]
        if not dry_run:
            self.delete([result.memory.id for result in found])
        return found

    def compact(
        self, *, dry_run: bool = False, agent: str | None = None, keep: Collection[str] = ()
    ) -> Compaction:
        """Remove faded and duplicate memories; restorable until `purge`.

        The ids in `keep` do not fade, and neither does a preference.
        """
        from hippocampus.facts import upkeep

        db, now = self._database, self.tables.clock()
        condition, values = memories.for_agent(agent or self.agent)
        current = memories.select(
            db, f"WHERE {memories.CURRENT} AND {condition} ORDER BY row", (now, *values)
        )
        pruned = {
            row: reason
            for row, each in current.items()
            if each.id not in keep and (reason := due_for_pruning(self.policy, each, now))
        }
        left = {row: memory for row, memory in current.items() if row not in pruned}
        merged = upkeep.twins(self.tables, left)
        if not dry_run:
            with db.transaction():
                gone = [(row, reason, None) for row, reason in pruned.items()]
                twins = [(row, "merged", left[winner].id) for row, winner in merged.items()]
                memories.remove(db, [*gone, *twins], now)
        return Compaction(
            tuple(current[row].id for row in pruned),
            tuple(left[row].id for row in merged),
            len(current) - len(pruned) - len(merged),
            dry_run,
        )

    def restore(self, memory_ids: Iterable[str]) -> list[Memory]:
        """Bring back what was superseded, or removed by `compact`."""
        with self._database.transaction():
            found = memories.by_id(self._database, memory_ids)
            rows = [row for row, each in found.values() if each.superseded_by or each.removed]
            self.tables.reopen(rows)
            return list(memories.by_row(self._database, rows).values())

    def purge(
        self, *, before: Moment | None = None, agent: str | None = None, dry_run: bool = False
    ) -> list[Memory]:
        """Delete superseded and removed memories for good, and return them."""
        condition, values = memories.for_agent(agent or self.agent)
        limit = optional_seconds(before)
        with self._database.transaction():
            gone = memories.select(
                self._database,
                "WHERE (superseded_by IS NOT NULL OR removed IS NOT NULL)"
                f" AND {condition} AND (? IS NULL OR created < ?)",
                (*values, limit, limit),
            )
            if not dry_run:
                self.tables.delete(gone)
        return list(gone.values())

    # Recalling ----------------------------------------------------------------------------------

    def recall(  # noqa: PLR0913 - each is one filter
        self,
        query_text: str = "",
        *,
        limit: int | None = None,
        token_budget: int | None = None,
        preset: str | None = None,
        agent: str | None = None,
        scopes: Sequence[str] | None = None,
        types: Sequence[str] = (),
        tags: Sequence[str] = (),
        kinds: Sequence[Kind] = (),
        roles: Sequence[str] = (),
        since: Moment | None = None,
        until: Moment | None = None,
        as_of: Moment | None = None,
        known_as_of: Moment | None = None,
        include_superseded: bool = False,
    ) -> list[Recalled]:
        """Return what best answers a query, best first; of an empty query, the strongest.

        `limit` -1 is all. One embedding where there is a model. `scopes` None is all, an empty list
        nothing. `types` and `roles` leave one out with `!` in front (`!note`). `since` and `until`
        bound when a memory became true, `as_of` is when it was true, `known_as_of` when it was known.
        """
        asked = self._asked(
            agent=agent,
            scopes=scopes,
            types=types,
            tags=tags,
            kinds=kinds,
            roles=roles,
            since=since,
            until=until,
            as_of=as_of,
            known_as_of=known_as_of,
            include_superseded=include_superseded,
        )
        return query.recall(
            self.tables,
            query_text,
            asked,
            limit=self.policy.limit if limit is None else limit,
            budget=token_budget,
            ranking=preset or self.policy.preset,
        )

    def context_load(  # noqa: PLR0913 - each is one filter
        self,
        *,
        token_budget: int = 2000,
        context_time: Moment | None = None,
        limit: int | None = None,
        agent: str | None = None,
        scopes: Sequence[str] | None = None,
        as_of: Moment | None = None,
    ) -> str:
        """Return preferences and the strongest others as a `<memory>` text, within a budget.

        Preferences get half of the budget before the others, and what these leave.
        """
        asked = self._asked(
            agent=agent, as_of=as_of, scopes=scopes, roles=("!tool", "!assistant"), hearsay=False
        )
        at = asked.now if context_time is None else seconds(context_time)
        budget = token_budget - FRAME_TOKENS
        limit = self.policy.limit if limit is None else limit
        strongest = query.recall(self.tables, "", asked, limit=-1)
        preferences = [each for each in strongest if each.memory.type == "preference"]
        others = [each for each in strongest if each.memory.type != "preference"]
        first = query.within_budget(preferences, budget // 2)
        chosen = [*first, *(others if limit < 0 else others[:limit])]
        known = {each.memory.id for each in chosen}
        rest = [each for each in preferences if each.memory.id not in known]
        return rendered(query.within_budget([*chosen, *rest], budget), at)

    def retrieve(  # noqa: PLR0913 - each is one filter
        self,
        prompt: str,
        *,
        token_budget: int = 2000,
        context_time: Moment | None = None,
        limit: int | None = None,
        agent: str | None = None,
        scopes: Sequence[str] | None = None,
    ) -> str:
        """Return what a prompt calls for as a `<memory>` text; empty when nothing does, or on failure."""
        try:
            asked = self._asked(agent=agent, scopes=scopes, hearsay=False)
            at = asked.now if context_time is None else seconds(context_time)
            if not content_words(prompt, or_all=False):
                return ""
            found = query.recall(
                self.tables,
                prompt,
                asked,
                limit=self.policy.limit if limit is None else limit,
                budget=max(0, token_budget - FRAME_TOKENS),
                ranking=self.policy.preset,
                seconds=query.RETRIEVE_SECONDS,
            )
            return rendered(query.relevant(self.tables, found, prompt), at)
        except HippocampusError as failure:  # an agent's prompt never waits for its memory
            log.warning("retrieve failed: %s", failure)
            return ""

    def alias(self, name: str, other: str, *, agent: str | None = None) -> None:
        """Let two names be one entity."""
        triples.alias(self._database, agent or self.agent, name, other)

    # Looking ------------------------------------------------------------------------------------

    def get(self, memory_id: str) -> Memory | None:
        """Return the memory of an id, superseded or removed ones too."""
        return self.by_ids([memory_id]).get(memory_id)

    def by_ids(self, memory_ids: Iterable[str]) -> dict[str, Memory]:
        """Return the memories of those ids that exist, whatever became of them."""
        found = memories.by_id(self._database, memory_ids)
        return {memory_id: memory for memory_id, (_, memory) in found.items()}

    def memories(  # noqa: PLR0913 - each is one filter
        self,
        *,
        agent: str | None = None,
        kind: Kind | None = None,
        superseded: bool = False,
        removed: bool = False,
        before: Moment | None = None,
        containing: str = "",
        limit: int = -1,
    ) -> list[Memory]:
        """List memories, newest first, those that contain a text in any case; `superseded` and `removed` add those."""
        condition, values = memories.for_agent(agent or self.agent)
        parts = [condition, "(? IS NULL OR kind = ?)", "(? IS NULL OR created < ?)"]
        if not superseded:
            parts.append("(known_until IS NULL OR removed IS NOT NULL)")
        if not removed:
            parts.append("removed IS NULL")
        if containing:
            parts.append("instr(folded(content), folded(?)) > 0")
        limits = (*values, kind, kind, *[optional_seconds(before)] * 2, *filter(None, [containing]))
        order = "ORDER BY created DESC, row DESC LIMIT ?"
        where = f"WHERE {' AND '.join(parts)} {order}"
        return list(memories.select(self._database, where, (*limits, limit)).values())

    def history(self, memory_id: str) -> list[Memory]:
        """Return a memory and all that it superseded, newest first."""
        return memories.history(self._database, memory_id)

    def triples(  # noqa: PLR0913 - each is one filter
        self,
        entity: str = "",
        *,
        predicate: str = "",
        agent: str | None = None,
        as_of: Moment | None = None,
        known_as_of: Moment | None = None,
        history: bool = False,
    ) -> list[Triple]:
        """Return the relations of an entity, newest first; of every entity where none is named."""
        now = self.tables.clock()
        agent = agent or self.agent
        named = (
            "EXISTS (SELECT 1 FROM entity_name n WHERE n.key = :entity AND n.agent = s.agent"
            " AND n.entity IN (triple.subject, triple.object))"
        )
        found = self._database.rows(
            f"{triples.COLUMNS} WHERE (:history OR {triples.KNOWN}) AND (:every OR s.agent = :agent)"
            f" AND (:predicate = '' OR triple.predicate = :predicate) AND (:entity = '' OR {named})"
            " ORDER BY triple.valid_from DESC, triple.id DESC",
            {
                "history": history,
                "at": now if as_of is None else seconds(as_of),
                "known": now if known_as_of is None else seconds(known_as_of),
                "every": agent == EVERY_AGENT,
                "agent": agent,
                "predicate": predicate_of(predicate),
                "entity": key(entity) if entity else "",
            },
        )
        return [Triple(*fields) for *fields, _ in found]

    def count(self, *, agent: str | None = None) -> int:
        """Return how many current memories there are."""
        condition, values = memories.for_agent(agent or self.agent)
        sql = f"SELECT count(*) FROM memory WHERE {memories.CURRENT} AND {condition}"  # noqa: S608 - names of ours
        return int(self._database.value(sql, (self.tables.clock(), *values)))

    def agents(self) -> dict[str, int]:
        """Return how many memories each agent has, superseded ones too; 0 where it has blocks alone."""
        rows = self._database.rows(
            "SELECT agent, sum(number) FROM (SELECT agent, count(*) AS number FROM memory GROUP BY agent"
            " UNION ALL SELECT DISTINCT agent, 0 FROM block) GROUP BY agent ORDER BY agent"
        )
        return dict(rows)

    def stats(self) -> Stats:
        """Return how much is kept."""
        db = self._database
        current = f"SELECT kind, count(*) FROM memory WHERE {memories.CURRENT} GROUP BY kind ORDER BY kind"  # noqa: S608 - names of ours
        replaced = "superseded_by IS NOT NULL AND removed IS NULL"
        return Stats(
            current=dict(db.rows(current, (self.tables.clock(),))),
            superseded=db.value(f"SELECT count(*) FROM memory WHERE {replaced}"),  # noqa: S608 - names of ours
            removed=db.value("SELECT count(*) FROM memory WHERE removed IS NOT NULL"),
            triples=db.value("SELECT count(*) FROM triple"),
            blocks=db.value("SELECT count(*) FROM block"),
            agents=self.agents(),
            embedding_model=db.meta("embedding_model"),
            bytes=db.value("PRAGMA page_count") * db.value("PRAGMA page_size"),
        )

    def check(self) -> list[str]:
        """Return a sentence for each thing that is wrong with the file; empty when all is well."""
        db = self._database
        problems = db.check() + memories.check(db) + triples.check(db)
        return problems + (self.tables.vectors.check() if self.tables.has_vectors else [])

    # An agent's tools --------------------------------------------------------------------------

    def tools(self, format_name: str) -> list[dict[str, Any]]:
        """Return an agent's tools in a format: `openai`, `responses`, `anthropic`, `gemini` or `bedrock`."""
        from hippocampus.facts import tools

        return tools.tools(format_name, conversation=self.messages_table is not None)

    def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | str,
        *,
        agent: str = "",
        scope: str = "",
        scopes: Sequence[str] | None = None,
    ) -> str:
        """Run a tool of an agent and return what the model reads; a failure comes back as text.

        Writes go to `scope`, recalls see `scopes` (none is all).
        """
        from hippocampus.facts import tools

        return tools.call(self, name, arguments, tools.Reach(agent or None, scope, scopes))

    @property
    def instructions(self) -> str:
        """What to add to an agent's system prompt, once, where it has these tools."""
        from hippocampus.facts import tools

        return tools.INSTRUCTIONS

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def __enter__(self) -> Self:
        """Return the store itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self.close()

    def _writer(self, agent: str | None) -> str:
        if agent == EVERY_AGENT:
            raise FactError(f"{EVERY_AGENT!r} asks for all agents; name the one that remembers")
        return agent or self.agent

    def _asked(self, *, agent: str | None = None, **filters: Any) -> RecallQuery:
        for name, value in filters.items():
            if isinstance(value, str) and name in LISTED:
                raise FactError(f"{name} is a list of texts; {value!r} is one text")
        now = self.tables.clock()
        at, known, since, until = (
            optional_seconds(filters.pop(name, None))
            for name in ("as_of", "known_as_of", "since", "until")
        )
        return RecallQuery(
            agent or self.agent,
            now if at is None else at,
            now if known is None else known,
            now,
            since=since,
            until=until,
            **filters,
        )


def _item(item: Item | str) -> Item:
    return Item(item) if isinstance(item, str) else item


def _made(content: str, *, tags: Sequence[str] = (), **fields: Any) -> Item:
    """Return an item of a caller's fields, with its dates read."""
    at, valid_from, valid_until = (
        optional_seconds(fields.pop(name, None)) for name in ("at", "valid_from", "valid_until")
    )
    return Item(
        content,
        at=at,
        valid_from=at if valid_from is None else valid_from,
        valid_until=valid_until,
        tags=tuple(tags),
        **fields,
    )
