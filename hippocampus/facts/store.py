"""Long-term memory in one SQLite file, or of one tenant on a server: what a host remembers, recalls and forgets.

It works without any model; `embed`, `complete` and `rerank` make it better. How each thing is done
is in the modules next to this one. Rarer operations are functions of `Facts.tables`: several texts and
relations in `write`, updating, restoring and compacting in `upkeep`; an agent's tools are in `tools`.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, Unpack

from hippocampus.errors import FactError, HippocampusError, StoreError
from hippocampus.facts import query
from hippocampus.facts.models import (
    FORGET_THRESHOLD,
    MAX_DELETED,
    Clock,
    Complete,
    Embed,
    FactPolicy,
    Outcome,
    Recalled,
    Rerank,
)
from hippocampus.facts.rendering import render_memory
from hippocampus.facts.tables import FactTables
from hippocampus.facts.timestamps import Moment, MonotonicClock, optional_seconds, seconds
from hippocampus.facts.words import TEXT_RULES, content_words
from hippocampus.storage.database import Database, SqliteDatabase
from hippocampus.storage.engines import is_address
from hippocampus.storage.facts import memories
from hippocampus.storage.facts.blocks import Blocks
from hippocampus.storage.facts.rows import EVERY_AGENT, Kind, Memory
from hippocampus.storage.facts.search import RecallQuery

if TYPE_CHECKING:
    from hippocampus.facts.write import ItemFields
    from hippocampus.storage.state import StateStore


class Facts:
    """Long-term memory in one SQLite file, made and migrated on first use.

    `path` may be `":memory:"`, or the address of a PostgreSQL server with the name of a `tenant`. `agent` is whose memory it is where a call names no other; one file
    holds many agents, and `"*"` asks for all. `messages_table` names a table of the user's in the
    same file, which the tool `recall_conversation` then searches.

    Raises:
        StoreError: the file cannot be opened, is damaged, or is of a later version.
        EmbeddingModelError: the file was embedded with another model than `embed`'s.
    """

    def __init__(  # noqa: PLR0913 - each is one property of a store
        self,
        path: Path | str | StateStore,
        *,
        settings: FactPolicy | None = None,
        embed: Embed | None = None,
        complete: Complete | None = None,
        rerank: Rerank | None = None,
        clock: Clock = time.time,
        agent: str = "default",
        messages_table: str | None = None,
        reembedding: bool = False,
        tenant: str = "",
    ) -> None:
        if agent == EVERY_AGENT:
            raise FactError(f"{EVERY_AGENT!r} asks for all agents; it is the name of none")
        self.agent = agent
        self.policy = settings or FactPolicy()
        if isinstance(path, str | Path) and not is_address(path):
            is_shared = messages_table is not None
            self._database: Database = SqliteDatabase(path, TEXT_RULES, is_shared=is_shared)
        elif messages_table is not None:
            raise FactError("a table of messages is one of a file, not of a server")
        else:
            from hippocampus.storage.state import StateStore, state_of

            state = path if isinstance(path, StateStore) else state_of(path, tenant)
            self._database = state.database(TEXT_RULES)
        ticking = MonotonicClock(clock)
        self.tables = FactTables(
            self._database, self.policy, ticking, agent, embed, complete, rerank
        )
        try:
            if embed is not None and not reembedding and self.tables.has_vectors:
                self.tables.vectors.require(str(self.tables.embed_model))
        except BaseException:
            self._database.close()
            raise
        self.blocks = Blocks(self._database, ticking, agent, self.tables.refusal_of_secrets)
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

        requests = write.requests_of(self.tables, write.item_of(text, **fields))
        return write.keep(self.tables, requests, agent)

    def store(
        self, content: str, *, agent: str | None = None, **fields: Unpack[ItemFields]
    ) -> Outcome:
        """Keep a text word by word; the same text again strengthens the first."""
        from hippocampus.facts import write

        return write.store_many(self.tables, [write.item_of(content, **fields)], agent=agent)[0]

    def confirm(self, memory_ids: Iterable[str]) -> None:
        """Count an access of memories, as a recall does: they fade later."""
        query.confirm(self.tables, memory_ids, self.tables.clock())

    # Forgetting ---------------------------------------------------------------------------------

    def delete(self, memory_ids: Iterable[str]) -> list[Memory]:
        """Delete for good, bring back those that these had superseded, and return the deleted ones."""
        from hippocampus.facts import upkeep

        gone = upkeep.delete(self.tables, memory_ids)
        with contextlib.suppress(StoreError):  # where a process reads the log, it goes with that
            self.tables.database.wipe()
        return gone

    def forget(  # noqa: PLR0913 - each is one property of a request
        self,
        query: str,
        *,
        threshold: float = FORGET_THRESHOLD,
        max_deleted: int = MAX_DELETED,
        dry_run: bool = False,
        agent: str | None = None,
        scopes: Sequence[str] | None = None,
    ) -> list[Recalled]:
        """Delete the memory of an id, or those that a description certainly means, ended ones too; return them.

        Certain are those with all of its words, or with a cosine of 0.85 and the threshold. `dry_run`
        deletes nothing.
        """
        from hippocampus.facts import upkeep

        if max_deleted < 0:
            raise FactError(f"max_deleted is {max_deleted}; it is 0 or more")
        asked = self._asked(agent=agent, scopes=scopes, include_superseded=True)
        found = upkeep.matching(self.tables, query, asked, threshold)[:max_deleted]
        if not dry_run:
            self.delete([result.memory.id for result in found])
        return found

    # Recalling ----------------------------------------------------------------------------------

    def recall(  # noqa: PLR0913 - each is one filter
        self,
        query_text: str = "",
        *,
        limit: int | None = None,
        token_budget: int | None = None,
        agent: str | None = None,
        scopes: Sequence[str] | None = None,
        types: Sequence[str] = (),
        kinds: Sequence[Kind] = (),
        tags: Sequence[str] = (),
        since: Moment | None = None,
        until: Moment | None = None,
        as_of: Moment | None = None,
        known_as_of: Moment | None = None,
    ) -> list[Recalled]:
        """Return what best answers a query, best first; of an empty query, the strongest.

        Each result is counted as an access, unless the store is busy. `limit` -1 is all, and counts none. One embedding where there is a model. `scopes` None is all, an empty list
        nothing. `types` leave one out with `!` before it (`!note`); a memory has all `tags`. `since` and
        `until` bound when it became true, `as_of` is when it was true, `known_as_of` when it was known.
        """
        asked = self._asked(
            agent=agent,
            scopes=scopes,
            types=types,
            kinds=kinds,
            tags=tags,
            since=optional_seconds(since),
            until=optional_seconds(until),
            as_of=as_of,
            known_as_of=known_as_of,
        )
        most = query.LIMIT if limit is None else limit
        found = query.recall(
            self.tables,
            query_text,
            asked,
            limit=most,
            budget=token_budget,
        )
        if most >= 0:
            query.count_accesses(self.tables, found, asked.now)
        return found

    def context_load(
        self,
        prompt: str = "",
        *,
        token_budget: int = query.CONTEXT_TOKENS,
        limit: int | None = None,
        agent: str | None = None,
        scopes: Sequence[str] | None = None,
    ) -> str:
        """Return what a conversation starts with as a `<memory>` text, with the number of preferences that do not fit.

        It is what fits a prompt, preferences and the strongest others, as `query.load` selects them.
        """
        found, preferences = query.load(
            self.tables,
            prompt,
            token_budget=token_budget,
            limit=limit,
            agent=agent,
            scopes=scopes,
        )
        return render_memory(found, self.tables.clock(), preferences)

    def retrieve(
        self,
        prompt: str,
        *,
        token_budget: int = query.CONTEXT_TOKENS,
        agent: str | None = None,
        scopes: Sequence[str] | None = None,
    ) -> str:
        """Return what a prompt calls for as a `<memory>` text; empty when nothing does, or on failure."""
        try:
            asked = self._asked(agent=agent, scopes=scopes, hearsay=False)
            if not content_words(prompt, or_all=False):
                return ""
            found = query.recall(
                self.tables,
                prompt,
                asked,
                limit=query.LIMIT,
                budget=max(0, token_budget - query.FRAME_TOKENS),
                seconds=query.RETRIEVE_SECONDS,
            )
            return render_memory(query.relevant(found, prompt), asked.now)
        except HippocampusError as failure:  # an agent's prompt never waits for its memory
            import logging

            logging.getLogger(__name__).warning("retrieve failed: %s", failure)
            return ""

    # Looking ------------------------------------------------------------------------------------

    def get(self, memory_id: str) -> Memory | None:
        """Return the memory of an id, or of its end in a MEMORY.md; superseded or removed ones too."""
        return next(iter(memories.named(self._database, memory_id).values()), None)

    def memories(  # noqa: PLR0913 - each is one filter
        self,
        *,
        agent: str | None = None,
        kind: Kind | None = None,
        superseded: bool = False,
        removed: bool = False,
        containing: str = "",
        limit: int = -1,
    ) -> list[Memory]:
        """List memories, newest first, those that contain a text in any case; `superseded` and `removed` add those."""
        return memories.page(
            self._database,
            agent or self.agent,
            kind=kind,
            superseded=superseded,
            removed=removed,
            containing=containing,
            limit=limit,
        )

    def check(self) -> list[str]:
        """Return a sentence for each thing that is wrong with the file; empty when all is well."""
        db, tables = self._database, self.tables
        problems = db.check() + memories.check(db)
        return problems + (tables.vectors.check() if tables.has_vectors else [])

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _asked(
        self,
        *,
        agent: str | None = None,
        as_of: Moment | None = None,
        known_as_of: Moment | None = None,
        **filters: Any,
    ) -> RecallQuery:
        now = self.tables.clock()
        at, known = (now if time is None else seconds(time) for time in (as_of, known_as_of))
        return RecallQuery(agent or self.agent, at, known, now, **filters)
