"""The memory of one state directory: where its sessions, contents and policy come together.

Opens what sessions share; what a session does with it is not here.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hippocampus import policy, prices, tokens
from hippocampus.consolidation import inputs
from hippocampus.consolidation.outcome import Outcome
from hippocampus.consolidation.scheduler import Consolidations
from hippocampus.errors import StoreError
from hippocampus.policy import Policy
from hippocampus.prices import Prices
from hippocampus.recall.sources import RepeatableTools, known_sources
from hippocampus.recall.sources import Source as Fetcher
from hippocampus.recall.sources.tools import Tool
from hippocampus.session.resources import Means, Start
from hippocampus.session.session import Session
from hippocampus.session.summaries import Summaries
from hippocampus.storage import ledger
from hippocampus.storage.content_store import DiskStore
from hippocampus.storage.state_dir import DEFAULT_AGENT, StateDir

if TYPE_CHECKING:
    from hippocampus.consolidation.memory_file import Synced
    from hippocampus.consolidation.memory_lines import Line
    from hippocampus.facts import Facts

SUMMARY_SECONDS = 2.0
"""How long a turn waits for a summary at most."""


class Hippocampus:
    """The memory of one state directory: its sessions, and the contents that they put away."""

    def __init__(  # noqa: PLR0913 - each is one thing that a user may want to set
        self,
        state_dir: str | Path,
        *,
        policy: str | Path | Policy = "default",
        model: str | None = None,
        prices: Prices | None = None,
        summarise: Callable[[str], str] | None = None,
        summary_seconds: float = SUMMARY_SECONDS,
        complete: Callable[[str], str] | None = None,
        render_memory: Callable[[Sequence[Line]], str] | None = None,
        agent: str = "",
    ) -> None:
        """Open (and make, where it is missing) a state directory.

        `policy` is a shipped policy's name or a file's path. `model` sets prices, context window
        and tokenizer; without it prices are Anthropic's for its 5-minute cache. `summarise` may
        write an entry's summary line: it is called in a thread, beside the turn, and a turn waits
        for it `summary_seconds` at most (0 takes what is ready); where it fails or is late the
        entry keeps the line that is written without a model. `complete` answers a prompt: a
        consolidation asks it once, within the policy's `model_seconds`, for facts in what the user
        said. `render_memory` writes the memory file in a format of yours. `agent` is whose sessions
        and facts these are, where a session names nobody else.

        Raises:
            PolicyError: the policy cannot be read; every problem is told.
            ModelError: no model of that name is known.
            StoreError: the directory cannot be used.

        """
        state = StateDir(Path(state_dir))
        declared = policy if isinstance(policy, Policy) else _load_policy(policy)
        encoding = tokens.encoding_for(model or declared.model)
        costs = prices or _prices_of(declared, model)
        self._state = state
        self._tools = RepeatableTools()
        self._sources = known_sources(self._tools)
        self._facts: Facts | None = None
        self._opening_facts = threading.Lock()
        self._agent = agent
        self._store = DiskStore(state.contents)
        means = inputs.Means(declared, lambda: self.facts, complete, render_memory)
        self._consolidations = Consolidations(state, self._store, means)
        self._means = Means(
            state=state,
            store=self._store,
            policy=declared,
            prices=costs,
            encoding=encoding,
            summaries=Summaries(summarise, summary_seconds) if summarise else None,
            consolidations=self._consolidations,
            loads=inputs.Sources(
                state, self._store, declared, encoding, self._known_facts, self._read_edits
            ),
            sources=self._sources,
        )

    def session(
        self, session_id: str, *, agent: str | None = None, context_time: float | None = None
    ) -> Session:
        """Return the session of an id; the same id after a restart is the same session.

        `agent` is whose it is, where it is not this memory's. `context_time`, in seconds since
        1970, is when it starts, as its context load tells it; without it that is the present.

        Raises:
            StoreError: the session's ledger cannot be opened.
            ValueError: the session belongs to another agent.

        """
        started = time.time() if context_time is None else context_time
        return Session(
            session_id, self._means, Start(self._agent if agent is None else agent, started)
        )

    def unconsolidated(self) -> list[str]:
        """Return the sessions that ended without a consolidation, or are still open somewhere."""
        return ledger.unconsolidated(self._state)

    def consolidate(self, session_id: str | None = None) -> list[Outcome]:
        """Finish a session that ended without its consolidation; without an id, every one.

        Without an id, what a person changed in the memory files is taken in too.

        Raises:
            StoreError: what is on disk of one cannot be read or written; the others are finished.

        """
        outcomes: list[Outcome] = []
        failures: list[StoreError] = []
        for name in self.unconsolidated() if session_id is None else [session_id]:
            try:
                outcomes.append(self._consolidations.recover(name))
            except StoreError as failure:
                failures.append(failure)
        if session_id is None:
            self.read_edits()
        if failures:
            raise failures[0]
        return outcomes

    def read_edits(self) -> list[str]:
        """Take in what people changed in the memory files; return the ids of the facts that this moved.

        A file that cannot be read is logged, and read at the next time.
        """
        own = [self._agent] if self._agent else []
        found = [self._read_edits(agent) for agent in dict.fromkeys([*self._state.agents(), *own])]
        return [fact_id for each in found for fact_id in (*each.added, *each.retired)]

    def _read_edits(self, agent: str) -> Synced:
        from hippocampus.consolidation.publish import edits_read

        return edits_read(self._state, lambda: self.facts, agent or self._agent, self._means.policy)

    def _known_facts(self) -> Facts | None:
        """Return the long-term memory where there is one: looking for memories makes no file."""
        known = self._facts is not None or self._state.facts.exists()
        return self.facts if known else None

    def repeatable(self, name: str) -> Callable[[Tool], Tool]:
        """Say that a tool may be called again by a recall: `@memory.repeatable("list_orders")`.

        It takes the call's arguments by name, only reads, and may be a coroutine function. It is
        called where a rule of the policy has `source: tool` for its results, and by recalls alone.
        """

        def registered(tool: Tool) -> Tool:
            self._tools.register(name, tool)
            return tool

        return registered

    def source(self, name: str) -> Callable[[Fetcher], Fetcher]:
        """Name a function as a source that rules may declare: `@memory.source("tickets")`.

        It takes what is wanted (`tool`, `arguments`) and the plan (`options[name]` has what the
        rule says beside the name), and returns text or raises `hippocampus.recall.sources.Unavailable`.
        """
        return self._sources(name)

    @property
    def facts(self) -> Facts:
        """Return the long-term memory of this directory: facts and memories in one SQLite file.

        Raises:
            FactError: the file cannot be opened.

        """
        with self._opening_facts:
            if self._facts is None:
                from hippocampus.facts import Facts
                from hippocampus.facts.settings import settings_of

                settings = settings_of(self._means.policy.facts)
                agent = self._agent or DEFAULT_AGENT
                self._facts = Facts(self._state.facts, settings=settings, agent=agent)
        return self._facts

    def close(self) -> None:
        """Close the stores; a summary under way is not waited for, a consolidation a bounded time."""
        with contextlib.ExitStack() as closing:  # each is closed, whatever another one raises
            if self._means.summaries:
                closing.callback(self._means.summaries.close)
            if self._facts is not None:
                closing.callback(self._facts.close)
            closing.callback(self._store.close)
            closing.callback(self._consolidations.close)


def _load_policy(named: str | Path) -> Policy:
    return policy.load(named)


def _prices_of(declared: Policy, model: str | None) -> Prices:
    """Return the caller's model's prices, else what the policy names, else Anthropic's."""
    if model is None and declared.prices is None and declared.model is None:
        return prices.TABLES["anthropic-5m"]
    return prices.prices_for(declared.prices, model or declared.model)
