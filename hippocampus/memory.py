"""The memory of one state directory: opens what its sessions share, and the sessions."""

from __future__ import annotations

import contextlib
import functools
import logging
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from hippocampus import prices
from hippocampus.consolidation.scheduler import ConsolidationResources, ConsolidationScheduler
from hippocampus.errors import ModelError, SealedError, StoreError
from hippocampus.policy import Policy
from hippocampus.policy import load as load_policy
from hippocampus.prices import Prices
from hippocampus.prices.prompt_cache import OWN_MARKS
from hippocampus.recall.sources import Source as Fetcher
from hippocampus.recall.sources import Tool, known_sources
from hippocampus.session.guard import Guard
from hippocampus.session.open_sessions import OpenSessions
from hippocampus.session.renderer import redacted_list
from hippocampus.session.resources import (
    DEADLINE_SECONDS,
    ConsolidationOutcome,
    Observer,
    Resources,
    SessionInfo,
    Summaries,
)
from hippocampus.session.session import Session
from hippocampus.session.turn_rules import Rules
from hippocampus.storage.content_store import ContentStore
from hippocampus.storage.state import StateStore, state_of
from hippocampus.storage.state_dir import DEFAULT_AGENT

if TYPE_CHECKING:
    from hippocampus.facts.store import Facts

LOG = logging.getLogger("hippocampus")
SUMMARY_SECONDS = 2.0
"""How long a turn waits for summaries."""
MINUTE = 60
CLAIM_SECONDS = 60.0
"""How long a consolidation has a session for itself, besides the time of its model."""
MAX_OPEN_SESSIONS = 64
"""How many sessions that are named by their id alone stay open between their calls."""
ATTACHED_TOKENS = 1_000
"""The tokens of memories in the instructions of an attached session, at most."""
MAX_MODELS = 256
"""Of more models, one that is named again is logged again."""
CLOSING_SECONDS = 5.0
"""How long the end of a memory ends sessions; the others are left to the next start."""


class Attachment(NamedTuple):
    """What an agent's loop needs of a session."""

    session: Session
    tools: list[dict[str, Any]]
    """The recall tool and those of long-term memory, for `tools=…`."""
    instructions: str
    """For the system prompt: how to use the memory, and what it holds at the start."""


class Hippocampus:
    """The memory of one state directory: its sessions, their stored contents, and the facts."""

    def __init__(  # noqa: PLR0913 - one parameter a setting
        self,
        state_dir: str | Path | StateStore,
        *,
        policy: str | Path | Policy = "default",
        model: str | None = None,
        prices: Prices | str | None = None,
        window_tokens: int = 0,
        summarise: Callable[[str], str] | None = None,
        summary_seconds: float = SUMMARY_SECONDS,
        complete: Callable[[str], str] | None = None,
        agent: str = "",
        store: ContentStore | None = None,
        marks: int = OWN_MARKS,
        tail_mark: bool = False,
        strict: bool = False,
        deadline_seconds: float = DEADLINE_SECONDS,
        tenant: str = "",
        payloads: str = "",
        observers: Sequence[Observer] = (),
    ) -> None:
        """Open a state directory, and make it if it does not exist.

        An address such as `postgresql://host/database` in its place is a state that any number of
        workers share, without memory files; `tenant` names whose sessions it has, and `payloads` object
        storage for large payloads (`s3://bucket/prefix`). `store` holds the payloads in place of the
        state; its maker closes it, and gives it to the commands by `HIPPOCAMPUS_STORE`.

        `policy` is the name of a shipped policy or the path of a file. `model` sets prices and
        context window, under the names that frameworks give it too (`openai/gpt-5`,
        `anthropic:claude-sonnet-5-5`); without it, and for a model that no price list has, which
        is logged, prices are the policy's, else Anthropic's with the 5-minute cache. `prices` sets
        them in its place, by the name of a table such as `anthropic-1h`, and `window_tokens` a
        context window that is not the model's own, or not known.

        `marks` is how many cache marks a session may add to a list in which the host has set one: 2
        need two of the provider's four to be free, of which the host may use one in its system prompt
        or tools; 0 adds none. `tail_mark` means that requests get a mark at their end after the view
        was made, as with automatic caching; in a format that has no marks, the plan takes ours to be set.

        `summarise` writes the summary line of an entry, in a thread; a turn waits `summary_seconds` at
        most (0 takes the summaries that are ready), and else the entry keeps the line that is written
        without a model. `complete` answers a prompt: each consolidation calls it once at most, within
        the policy's `model_seconds`, to decide which of the newest facts the user's sentences end.

        `agent` is the owner of sessions and facts, unless a session names another one. `observers` take
        a report of each view, recall and bill, as `hippocampus.integrations.telemetry` does.

        A directory that cannot be used, because the disk is full, not writable or damaged, is logged:
        sessions send their messages as they are, and use it as soon as that works; with `strict` it is
        an error. So they do where others hold its files for longer than `deadline_seconds` of a call.

        Raises:
            PolicyError: the policy cannot be read; the error lists every problem.
            ModelError: no price table has the name.
            SealedError: the state is encrypted and its key is not set, or the key cannot be used.
            StoreError: the directory cannot be used, and `strict` is set.
            ValueError: a number is less than 0.
        """
        for name, number in (
            ("window_tokens", window_tokens),
            ("summary_seconds", summary_seconds),
            ("marks", marks),
            ("deadline_seconds", deadline_seconds),
        ):
            if number is not None and number < 0:
                raise ValueError(f"Hippocampus({name}={number}): expected 0 or more")
        stored = state_dir
        if isinstance(stored, str | Path):
            stored = state_of(stored, tenant, payloads)
        declared = policy if isinstance(policy, Policy) else load_policy(policy)
        self._prices = prices
        costs = _prices_of(declared, model, prices, window_tokens)
        self._tools: dict[str, Tool] = {}
        self._sources = known_sources(self._tools)
        self._facts: Facts | None = None
        self._opening_facts = threading.Lock()
        self._agent = agent
        self._open_sessions = OpenSessions[str, Session](MAX_OPEN_SESSIONS, Session.release)
        self._made = weakref.WeakSet[Session]()
        """The sessions that a host may still have."""
        self._making = threading.Lock()
        self._closing = contextlib.ExitStack()
        self._closing.callback(stored.close)
        disk_problems: dict[str, float] = {}
        if store is None:
            store = self._closing.enter_context(stored.contents())
        try:
            stored.open(deadline_seconds)
        except StoreError as failure:  # law 3: an agent that restarts starts
            if strict or isinstance(failure, SealedError):  # nothing is written without its key
                self._closing.close()
                raise
            Guard("*", disk_problems).log_disk_problem("sending messages as they are", failure)
        self._store: ContentStore = store
        self._scheduler = ConsolidationScheduler(
            ConsolidationResources(stored, store, declared, lambda: self.facts, complete)
        )
        self._resources = Resources(
            state=stored,
            store=store,
            policy=declared,
            prices=costs,
            summaries=Summaries(summarise, summary_seconds) if summarise else None,
            consolidator=self._scheduler,
            facts=lambda: self.facts,
            sources=self._sources,
            marks=marks,
            tail_mark=tail_mark,
            deadline_seconds=deadline_seconds,
            observers=tuple(observers),
            disk_problems=disk_problems,
        )

    @property
    def observers(self) -> Sequence[Observer]:
        """The observers of this memory's sessions."""
        return self._resources.observers

    def session(  # noqa: PLR0913 - one parameter a setting
        self,
        session_id: str,
        *,
        agent: str | None = None,
        context_time: float | None = None,
        model: str | None = None,
        marks: int | None = None,
        tail_mark: bool | None = None,
    ) -> Session:
        """Return the session of an id; the same id after a restart continues the same session.

        `agent` is its owner; without it, this memory's. `context_time` is its start in seconds since
        1970, as its context load states it; without it, the present time. `model`, `marks`
        and `tail_mark` are those of its requests, where they are not this memory's.

        Where its ledger cannot be opened, it sends messages as they are, and tries again at each
        call; `status()["problem"]` has the reason.

        Raises:
            TypeError: the id is no text.
            ValueError: the session belongs to another agent.
        """
        if not isinstance(session_id, str):
            raise TypeError(f"the id of a session is a text, not {session_id!r}")
        started = time.time() if context_time is None else context_time
        own: dict[str, Any] = {"marks": marks, "tail_mark": tail_mark}
        if model is not None:
            own["prices"] = _prices_of(self._resources.policy, model, self._prices)
        given = {name: value for name, value in own.items() if value is not None}
        info = SessionInfo(self._agent if agent is None else agent, started)
        made = Session(session_id, replace(self._resources, **given), info)
        with self._making:
            self._made.add(made)
        return made

    def attach(self, session_id: str, format_name: str, **settings: Any) -> Attachment:
        """Return a session with its tools, those of long-term memory, and the instructions for them.

        Add the instructions to the system prompt once, before the first call. They end with what the
        memory holds, unless the policy's `context_load_tokens` shows it in the view. `session.handle`
        answers the calls of all tools. The settings are those of `session`.

        Raises:
            FactError: the memory cannot be opened or read.
            ValueError: another format, or the session belongs to another agent.
        """
        from hippocampus.facts.tools import INSTRUCTIONS

        session, loaded = self.session(session_id, **settings), ""
        if not self._resources.policy.consolidation.context_load_tokens:
            agent = settings.get("agent") or self._agent or None
            loaded = self.facts.context_load(token_budget=ATTACHED_TOKENS, agent=agent)
        instructions = "\n\n".join(filter(None, [INSTRUCTIONS, loaded]))
        return Attachment(session, session.tools(format_name, memory=True), instructions)

    def using(self, session_id: str) -> contextlib.AbstractContextManager[Session]:
        """Return the session of an id for a `with` block, from those that this memory holds open.

        For servers and adapters that get a session's id with each request: the last 64 sessions stay
        open between their calls, and older ones are released, not ended. Closing the memory ends
        those that are still open.
        """
        return self._open_sessions.using(session_id, lambda: self.session(session_id))

    def view(
        self,
        session_id: str,
        messages: Iterable[Any],
        *,
        idle_seconds: float = 0.0,
        request: Mapping[str, Any] | None = None,
    ) -> list[Any]:
        """Return the view of a message list in the session of an id, as a call of `Session` does."""
        with self.using(session_id) as session:
            return session(messages, idle_seconds=idle_seconds, request=request)

    def answer(self, session_id: str, arguments: str | Mapping[str, Any]) -> str:
        """Return the answer to a recall in the session of an id, as `Session.answer` does."""
        with self.using(session_id) as session:
            return session.answer(arguments)

    def redacted(self, items: Iterable[Any]) -> list[Any]:
        """Return messages as they are, but for what the policy redacts: for a host that sends no view.

        Raises:
            MessagesError: the list is in no known format.
        """
        return redacted_list(items, Rules("", self._resources.policy, self._resources.prices))

    def unconsolidated(self) -> list[str]:
        """Return the ids of sessions without a consolidation at their end, open ones included."""
        return self._resources.state.unconsolidated()

    def consolidate(self, session_id: str | None = None) -> list[ConsolidationOutcome]:
        """Consolidate a session that ended without it; without an id, every such session.

        Raises:
            StoreError: a session cannot be read or written; the others are consolidated.
        """
        outcomes: list[ConsolidationOutcome] = []
        failures: list[StoreError] = []
        for name in self.unconsolidated() if session_id is None else [session_id]:
            try:
                outcomes.append(self._scheduler.recover(name))
            except StoreError as failure:
                failures.append(failure)
        if failures:
            raise failures[0]
        return outcomes

    def consolidate_idle(self) -> ConsolidationOutcome | None:
        """Consolidate a session that has not changed for the policy's `idle_minutes`, if any.

        Of the workers that do so at once, each gets another session. One that dies loses nothing:
        another one gets its session after a minute, and the time that the policy gives a model.

        Raises:
            StoreError: the state cannot be read or written.
        """
        block = self._resources.policy.consolidation
        seconds = CLAIM_SECONDS + block.model_seconds
        name = self._resources.state.claimed(block.idle_minutes * MINUTE, seconds)
        return self._scheduler.recover(name) if name is not None else None

    def repeatable(self, name: str) -> Callable[[Tool], Tool]:
        """Register a tool that a recall may call again: `@memory.repeatable("list_orders")`.

        The tool takes the call's arguments by name, only reads, and may be a coroutine function. Only
        recalls call it, where a rule of the policy has `source: tool` for its results.
        """

        def registered(tool: Tool) -> Tool:
            self._tools[name] = tool
            return tool

        return registered

    def source(self, name: str) -> Callable[[Fetcher], Fetcher]:
        """Register a source that rules may declare: `@memory.source("tickets")`.

        The function takes the request (`tool`, `arguments`) and the plan (`options[name]` has the
        rule's other fields), and returns text or raises `hippocampus.recall.sources.Unavailable`.
        """

        def registered(source: Fetcher) -> Fetcher:
            self._sources[name] = source
            return source

        return registered

    @property
    def facts(self) -> Facts:
        """Return the long-term memory of this state: facts and memories in its database.

        Raises:
            FactError: the file cannot be opened.
        """
        with self._opening_facts:
            if self._facts is None:
                from hippocampus.facts.models import settings_of
                from hippocampus.facts.store import Facts

                settings = settings_of(self._resources.policy.facts)
                state, agent = self._resources.state, self._agent or DEFAULT_AGENT
                self._facts = Facts(state, settings=settings, agent=agent)
        return self._facts

    def close(self) -> None:
        """Close the stores, after a bounded wait for running consolidations but not for summaries.

        Sessions that their host has not closed are released, not ended.
        """
        with contextlib.ExitStack() as closing:  # each is closed even if another one raises
            if self._resources.summaries:
                closing.callback(self._resources.summaries.close)
            if self._facts is not None:
                closing.callback(self._facts.close)
            closing.callback(self._closing.close)
            closing.callback(self._scheduler.close)
            until = time.monotonic() + CLOSING_SECONDS
            for session in self._open_sessions.close():
                (session.close if time.monotonic() < until else session.release)()
            with self._making:
                left = list(self._made)
            for session in left:
                session.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()


def _prices_of(
    declared: Policy, model: str | None, table: Prices | str | None, window_tokens: int = 0
) -> Prices:
    """Return the prices of the caller's table and model, else of the policy, else Anthropic's; and the caller's window."""
    found = table if isinstance(table, Prices) else _named_prices(declared, model, table)
    if window_tokens:
        return replace(found, window_tokens=window_tokens)
    if found.dollars_per_million and not (found.window_tokens or declared.budget_tokens):
        _warn_of_window(found.name)
    return found


def _named_prices(declared: Policy, model: str | None, table: str | None) -> Prices:
    for kind, name in (("model", model), ("price table", table)):
        if not isinstance(name, str | None):
            raise ModelError(kind, repr(name), () if name is model else prices.TABLES)
    table, named = table or declared.prices, model or declared.model
    if (named and _is_priced(named)) or (table and not named):
        return prices.prices_for(table, named)
    return prices.table_named(table or "anthropic-5m")


@functools.lru_cache(MAX_MODELS)
def _warn_of_window(model: str) -> None:
    """Log once of a model that no limit for its views is known."""
    LOG.warning(
        "no price list has the context window of %s, so its views have no limit: name it with "
        "window_tokens=… of Hippocampus, or `budget_tokens` of a policy",
        model,
    )


@functools.lru_cache(MAX_MODELS)
def _is_priced(model: str) -> bool:
    """Return whether a model has prices; of one that has none, this is logged once."""
    try:
        prices.model_prices(model)
    except ModelError as unknown:
        LOG.warning(
            "%s; it is priced by the policy's table, else as Anthropic's with the five-minute cache, and "
            "has no context window: name them with prices=… and window_tokens=… of Hippocampus, or with "
            "`prices` and `budget_tokens` of a policy",
            unknown,
        )
        return False
    return True
