"""The fact store: one SQLite file of memories, triples and blocks, and all that is done with it.

It works without any model; `embed`, `complete` and `rerank` make it better. How each thing is done
is in the modules beside this one; here it is named, and callers' dates and defaults are read.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from hippocampus.errors import HippocampusError
from hippocampus.facts.blocks import Blocks
from hippocampus.facts.claims import Relation, name_of
from hippocampus.facts.conversations import Conversations
from hippocampus.facts.database import Database
from hippocampus.facts.errors import FactError
from hippocampus.facts.extraction import Draft
from hippocampus.facts.fact_tables import Matrix, Rooms
from hippocampus.facts.forgetting import Forgetting
from hippocampus.facts.loading import Loading
from hippocampus.facts.looking import Looking
from hippocampus.facts.models import (
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
    Rerank,
    Weights,
)
from hippocampus.facts.predicates import is_single
from hippocampus.facts.recalling import Asked, Recalling, weights_of
from hippocampus.facts.remembering import Remembering
from hippocampus.facts.timestamps import Moment, first_moment, optional_seconds, seconds
from hippocampus.facts.upkeep import Upkeep

NOWHERE = Origin()
NOTHING: Mapping[str, Any] = {}
log = logging.getLogger(__name__)


class Facts(Looking):
    """Long-term memory in one SQLite file, made and migrated on first use.

    `path` may be `":memory:"`. `agent` is whose memory it is where a call names no other; one file
    holds many agents, and `"*"` asks for all. `messages_table` names a table of the user's in the
    same file, which `conversations.search` then reads.

    Raises:
        StoreError: the file cannot be opened, is damaged, or is of a later version.
        EmbeddingModelError: the file was embedded with another model than `embed`'s.

    """

    def __init__(  # noqa: PLR0913 - each is one thing to say
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
        self.agent = agent
        self.policy = settings or FactPolicy()
        self._database = Database(path)
        try:
            self._rooms = Rooms(self._database, self.policy, embed, clock, locked=not reembedding)
        except BaseException:
            self._database.close()
            raise
        self._remembering = Remembering(self._rooms, complete)
        self._recalling = Recalling(self._rooms, rerank)
        self._forgetting = Forgetting(self._rooms, self._recalling)
        self._loading = Loading(self._recalling)
        self._upkeep = Upkeep(self._rooms, complete)
        self.blocks = Blocks(self._database, self.policy, self._rooms.clock, agent)
        self.conversations = Conversations(self._database, self._rooms.clock, agent, messages_table)

    # Remembering --------------------------------------------------------------------------------

    def remember(  # noqa: PLR0913 - each is one thing to say
        self,
        text: str,
        *,
        type: str | None = None,  # noqa: A002 - the word of the schema
        intensity: float | None = None,
        agent: str | None = None,
        scope: str = "",
        tags: Sequence[str] = (),
        origin: Origin = NOWHERE,
        at: Moment | None = None,
        valid_from: Moment | None = None,
        valid_until: Moment | None = None,
        metadata: Mapping[str, Any] = NOTHING,
    ) -> list[Outcome]:
        """Take the claims out of a text and keep each: added, strengthened, superseding or apart.

        At most two completions (one extracts, one judges what rules leave open) and one embedding
        a fact. `at` is when it was said, `valid_from` when it became true.
        """
        item = Item(
            text,
            type,
            intensity,
            scope,
            tuple(tags),
            origin,
            optional_seconds(at),
            first_moment(valid_from, at),
            optional_seconds(valid_until),
            metadata,
        )
        drafts = self._remembering.drafts(text)
        return self._remembering.remember(item, drafts, agent or self.agent)

    def remember_many(
        self, items: Iterable[Item | str], *, agent: str | None = None
    ) -> list[Outcome]:
        """Remember each item as one claim, as it is; a thousand to a transaction.

        Each sees those before it. No completion extracts; one a thousand judges what is open.
        """
        wanted = (self._remembering.claim(_item(item)) for item in items)
        return self._remembering.keep(wanted, agent or self.agent)

    def remember_triple(  # noqa: PLR0913 - each is one thing to say
        self,
        subject: str,
        predicate: str,
        object: str,  # noqa: A002 - the word of the schema
        *,
        agent: str | None = None,
        scope: str = "",
        origin: Origin = NOWHERE,
        raw: str = "",
        at: Moment | None = None,
        valid_from: Moment | None = None,
        valid_until: Moment | None = None,
        changed: bool = False,
    ) -> Outcome:
        """Keep one relation as a fact; of a single-valued predicate, or `changed`, the old one ends."""
        name = name_of(predicate)
        content = f"{subject} {name.replace('_', ' ')} {object}"
        relation = Relation(subject, name, object, single=changed or is_single(name))
        item = Item(
            content,
            "fact",
            scope=scope,
            origin=origin,
            at=optional_seconds(at),
            valid_from=first_moment(valid_from, at),
            valid_until=optional_seconds(valid_until),
        )
        raw = self._remembering.without_secrets(raw)
        draft = Draft(content, "fact", relations=(relation,), raw=raw)
        return self._remembering.remember(item, [draft], agent or self.agent)[0]

    def store(  # noqa: PLR0913 - each is one thing to say
        self,
        content: str,
        *,
        type: str | None = None,  # noqa: A002 - the word of the schema
        intensity: float | None = None,
        agent: str | None = None,
        scope: str = "",
        tags: Sequence[str] = (),
        origin: Origin = NOWHERE,
        at: Moment | None = None,
        valid_until: Moment | None = None,
        metadata: Mapping[str, Any] = NOTHING,
    ) -> Outcome:
        """Keep a content word by word; the same content again strengthens what is there."""
        item = Item(
            content,
            type,
            intensity,
            scope,
            tuple(tags),
            origin,
            optional_seconds(at),
            valid_until=optional_seconds(valid_until),
            metadata=metadata,
        )
        return self.store_many([item], agent=agent)[0]

    def store_many(self, items: Iterable[Item | str], *, agent: str | None = None) -> list[Outcome]:
        """Store each item word by word, a thousand to a transaction."""
        wanted = (self._remembering.content(_item(item)) for item in items)
        return self._remembering.keep(wanted, agent or self.agent)

    def update(self, memory_id: str, content: str) -> Memory:
        """Put another content in a memory's place, with its vector and triples, in one transaction.

        Raises:
            FactError: there is no memory of that id, or the content is empty.

        """
        return self._forgetting.update(memory_id, content)

    def confirm(self, memory_ids: Iterable[str]) -> int:
        """Say that recalled memories were useful: they fade from now, a little stronger."""
        found = self._rooms.memories.by_id(memory_ids)
        return self._recalling.confirm((m for _, m in found.values()), self._rooms.clock())

    # Forgetting ---------------------------------------------------------------------------------

    def delete(self, memory_ids: Iterable[str]) -> list[Memory]:
        """Delete for good, bring back what these had superseded, and return what was deleted."""
        return self._forgetting.delete(memory_ids)

    def forget(  # noqa: PLR0913 - each is one thing to say
        self,
        query: str,
        *,
        threshold: float = 0.7,
        max_deleted: int = 10,
        dry_run: bool = False,
        agent: str | None = None,
        scopes: Sequence[str] | None = None,
    ) -> list[Recalled]:
        """Delete what a query means, or the memory of an id, and return what is deleted.

        `threshold` is a cosine where there are embeddings, else the share of the query's words that
        a memory has. `dry_run` deletes nothing.
        """
        asked = self._asked(agent, scopes=scopes)
        return self._forgetting.forget(query, asked, threshold, max_deleted, dry_run=dry_run)

    def compact(self, *, dry_run: bool = False, agent: str | None = None) -> Compaction:
        """Take away what faded and what another memory says; restorable until `purge`."""
        return self._upkeep.compact(agent or self.agent, dry_run=dry_run)

    def restore(self, memory_ids: Iterable[str]) -> list[Memory]:
        """Bring back what was superseded, or removed by `compact`."""
        return self._upkeep.restore(memory_ids)

    def purge(
        self, *, before: Moment | None = None, agent: str | None = None, dry_run: bool = False
    ) -> list[Memory]:
        """Delete for good what is superseded or removed, and return it."""
        return self._upkeep.purge(agent or self.agent, optional_seconds(before), dry_run=dry_run)

    # Recalling ----------------------------------------------------------------------------------

    def recall(  # noqa: PLR0913 - each is one thing to say
        self,
        query: str = "",
        *,
        limit: int | None = None,
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
        token_budget: int | None = None,
        preset: str | Weights | None = None,
        include_superseded: bool = False,
    ) -> list[Recalled]:
        """Return what best answers a query, best first; of an empty query, the strongest.

        `limit` -1 is all. `scopes` none is all, [] nothing. `types` takes `!note` for all but notes,
        `roles` `!tool` for all that no tool said.
        `since` and `until` bound when a memory became true. `as_of` asks what was true then,
        `known_as_of` what was known then. One embedding where there is a model.
        """
        asked = self._asked(
            agent,
            as_of,
            known_as_of,
            scopes=scopes,
            types=types,
            tags=tags,
            kinds=kinds,
            roles=roles,
            since=optional_seconds(since),
            until=optional_seconds(until),
            include_superseded=include_superseded,
        )
        return self._recalling.recall(
            query,
            asked,
            limit=self.policy.limit if limit is None else limit,
            budget=token_budget,
            weights=weights_of(preset or self.policy.preset),
        )

    def context_load(
        self,
        *,
        token_budget: int = 2000,
        context_time: Moment | None = None,
        limit: int | None = None,
        agent: str | None = None,
        scopes: Sequence[str] | None = None,
    ) -> str:
        """Return all preferences and the strongest others as a `<memory>` text, within a budget."""
        asked = self._asked(agent, scopes=scopes)
        at = asked.now if context_time is None else seconds(context_time)
        limit = self.policy.limit if limit is None else limit
        return self._loading.context(asked, token_budget, limit, at)

    def retrieve(  # noqa: PLR0913 - each is one thing to say
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
            asked = self._asked(agent, scopes=scopes)
            at = asked.now if context_time is None else seconds(context_time)
            limit = self.policy.limit if limit is None else limit
            weights = weights_of(self.policy.preset)
            return self._loading.relevant(prompt, asked, token_budget, limit, at, weights)
        except HippocampusError as failure:  # an agent's prompt never waits for its memory
            log.warning("retrieve failed: %s", failure)
            return ""

    def alias(self, name: str, other: str, *, agent: str | None = None) -> None:
        """Say that two names are one entity."""
        self._rooms.triples.alias(agent or self.agent, name, other)

    def import_memories(
        self,
        memories: Iterable[Memory],
        embeddings: Mapping[str, Matrix] = NOTHING,
        model: str | None = None,
    ) -> list[Outcome]:
        """Write memories as they are, with ids, dates and counts; an id that is there is refused.

        `embeddings` are of `model`; where none is named, of the model of the file or of `embed`.
        """
        return self._forgetting.take_in(memories, embeddings, model)

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def __enter__(self) -> Self:
        """Return the store itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self.close()

    def _asked(
        self,
        agent: str | None,
        as_of: Moment | None = None,
        known_as_of: Moment | None = None,
        **filters: Any,
    ) -> Asked:
        for name, value in filters.items():
            if isinstance(value, str):
                raise FactError(f"{name} is a list of texts; {value!r} is one text")
        now = self._rooms.clock()
        return Asked(
            agent or self.agent,
            now if as_of is None else seconds(as_of),
            now if known_as_of is None else seconds(known_as_of),
            now,
            **filters,
        )

    def tools(self, format_name: str) -> list[dict[str, Any]]:
        """Return an agent's tools: `openai`, `responses` or `anthropic`."""
        from hippocampus.facts import tools

        return tools.tools(format_name, conversation=self.conversations.table is not None)

    def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | str,
        *,
        agent: str = "",
        scope: str = "",
        scopes: Sequence[str] | None = None,
    ) -> str:
        """Run a tool of an agent and return what the model reads; a failure is told as text.

        Writes go to `scope`, recalls see `scopes` (none is all).
        """
        from hippocampus.facts import tools

        return tools.call(self, name, arguments, tools.Reach(agent or None, scope, scopes))

    @property
    def instructions(self) -> str:
        """What to add to an agent's system prompt, once, where it has these tools."""
        from hippocampus.facts import tools

        return tools.INSTRUCTIONS


def _item(item: Item | str) -> Item:
    return Item(item) if isinstance(item, str) else item
