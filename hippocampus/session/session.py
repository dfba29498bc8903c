"""A session over a growing message list: its views, its recalls and its reports.

Law 3 holds in `Session.__call__`: where anything inside fails, the loop gets its own messages.
"""

from __future__ import annotations

import functools
import logging
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Self

from hippocampus import recall
from hippocampus.entries.entry import Record, Source, Stage, storable
from hippocampus.entries.entry import entry_id as make_id
from hippocampus.entries.origin import StateOrigin
from hippocampus.errors import HippocampusError, StoreError
from hippocampus.formats import reader
from hippocampus.formats.conversation import Item, Message, ToolResult
from hippocampus.formats.reader import Reading
from hippocampus.formats.usage import cache_miss_of, usage_of
from hippocampus.models import tokens
from hippocampus.policy import NO_RULES, new_entry
from hippocampus.recall import calls
from hippocampus.session.billing import Bill, CountedCall
from hippocampus.session.guard import Guard
from hippocampus.session.recalls import SessionEntries, SessionRecalls
from hippocampus.session.renderer import redacted_list
from hippocampus.session.report import SessionReport, Status
from hippocampus.session.resources import (
    END_SECONDS,
    MANAGED,
    BillReport,
    ConsolidationOutcome,
    Observer,
    ReportSource,
    Resources,
    SessionInfo,
    ToolReport,
    ViewReport,
)
from hippocampus.session.run import SessionRun
from hippocampus.session.view import Change, changes_between, changes_of
from hippocampus.storage.deadline import bounded
from hippocampus.storage.ledger import NO_CALL, ModelCall

LOG = logging.getLogger("hippocampus")
IMAGES_NOTE = "(its images are not in this text)"


class Session:
    """One agent's conversation: `session(messages)` returns the messages to send."""

    def __init__(self, session_id: str, resources: Resources, info: SessionInfo) -> None:
        """Open the ledger if possible; only `Hippocampus.session` makes sessions."""
        self.id = session_id
        self._resources = resources
        self._guard = Guard(session_id, resources.disk_problems)
        self._run = SessionRun(session_id, resources, info, self._guard)
        self._lock = self._run.lock
        self.report = SessionReport(self._run, self._guard)
        """Its rows, and the outcomes of its calls."""
        self._is_closed = False
        self._last_items: list[Item] = []
        """The list of the last call that did not fail."""
        self._reading: Reading | None = None
        """The reading of that list; None where no view was sent for it."""
        self._format = ""
        """The format of the last list with a view; empty before the first."""
        self._unread_lists: list[Any] = []
        """After a failed or interrupted call its list, and the last list, to read if that one cannot be read."""
        self._ended_at = time.perf_counter()
        """When the last call ended."""
        self._calls = 0
        """The number of calls that did not fail."""
        self._idle_seconds = 0.0
        """The pause before the last call."""
        self._paused_seconds = 0.0
        """The pauses since the last view, before calls that sent raw messages."""
        self._bill = Bill(resources.prices)
        self._tool_names: dict[str, None] = {}
        """The names of the recall tool that hosts asked for, in order."""
        self._memory_calls: Mapping[str, Callable[[str], str]] = {}
        """By name, the tools of long-term memory, once a host asked for them."""
        self._recalls = SessionRecalls(self._run, resources, self._guard, self._report_recall)
        self.entries = SessionEntries(self._run, resources, self._recalls)
        """The entries that left the view, oldest first."""
        try:
            self._run.open()
        except StoreError as failure:  # law 3: an agent that restarts starts
            self._guard.problem = str(failure)
            self._guard.log_disk_problem("sending messages as they are until it opens", failure)

    # A call

    def __call__(
        self,
        items: Iterable[Any],
        *,
        idle_seconds: float = 0.0,
        request: Mapping[str, Any] | None = None,
    ) -> list[Any]:
        """Return the view of a message list: what to send instead of it.

        The list is not changed. It may be in any of the formats of `tools`, and the view has the
        same; an SDK's objects are read by their `model_dump`, and the view has the same objects
        unless it shortens them. `idle_seconds` since the last call decide whether the provider's
        cache has gone cold, so that an edit of the past costs nothing. A message of a long list
        that its owner edits in place is noticed within a call per 250 messages, a new object in
        its place at once. `request` are the other parameters of the provider's call: where these
        or the list show that the provider holds or edits the conversation itself, the raw list is
        sent. Never raises because of its own failures: then it logs the reason and returns the raw
        messages, redacted by the policy.
        """
        with self._lock:
            return self._take_turn(items, idle_seconds, request or {})[0]

    def changes(
        self,
        items: Iterable[Any],
        *,
        idle_seconds: float = 0.0,
        request: Mapping[str, Any] | None = None,
    ) -> tuple[Change, ...]:
        """Return the changes that the view makes to a message list, for hosts with objects as messages.

        The parameters are those of a call of the session, and it counts as that call: send the list
        with the changes applied. Apply them from the last to the first, so that no index moves.
        """
        with self._lock:
            given = list(items) if isinstance(items, Iterable) else items
            view, is_taken = self._take_turn(given, idle_seconds, request or {})
            if is_taken:
                return changes_of(self._run.state.view)
            return self._guard.run(
                lambda: changes_between(
                    reader.read(reader.plain(given)), reader.read(reader.plain(view))
                ),
                tuple,
                "nothing of the messages is changed",
            )

    def _take_turn(
        self, items: Iterable[Any], idle_seconds: float, request: Mapping[str, Any]
    ) -> tuple[list[Any], bool]:
        """Take a turn: return the items to send, and whether they are its view."""
        given: Any = items
        paused_seconds = self._paused_seconds
        started, last = time.perf_counter(), self._run.state.last

        def view_of_turn() -> tuple[list[Any], bool]:
            nonlocal given, paused_seconds
            paused_seconds += idle_seconds
            given = reader.listed(items)
            # Items that are the objects of the last call are not read again; some are compared.
            reading, first = self._run.state.history.reading, self._calls * reader.COMPARED
            seen = self._last_items if reading is self._reading else ()
            same = reader.same_start(reading.items, given, seen, first)
            own = reader.plain(given, same)
            # An interrupted call forgets its list, which the end of the session reads again.
            self._unread_lists = [own, self._last_items]
            with self._run.dropping_list():
                is_taken = self._run.take(own, same, request, paused_seconds)
            self._paused_seconds = 0.0 if is_taken else paused_seconds
            self._calls += 1
            self._guard.raw_calls += not is_taken
            self._reading = self._run.state.history.reading if is_taken else None
            if self._reading and self._reading.items:
                self._format = self._reading.adapter.NAME
            view = self._run.view(own) if is_taken else redacted_list(own, self._run.rules)
            self._last_items, self._unread_lists, self._idle_seconds = own, [], idle_seconds
            self._guard.problem = ""
            return reader.given_back(view, own, given), is_taken

        def raw_messages() -> tuple[list[Any], bool]:
            self._guard.failures += 1
            self._guard.raw_calls += 1
            self._paused_seconds = paused_seconds
            self._run.marker.is_lost = True
            # The caller's list may change before the session ends: this keeps its items.
            unread = list(given) if isinstance(given, list) else given
            self._unread_lists = [unread, self._last_items]
            self._guard.raw_reason = f"failed: {self._guard.cause}"
            rules = self._run.rules
            lost = "sending what the policy redacts too" if rules.policy.redacts else ""
            view = self._guard.run(
                lambda: redacted_list(given, rules),
                lambda: [*unread] if isinstance(unread, list) else unread,
                lost,
            )
            return view, False

        found = self._guard.run(view_of_turn, raw_messages, "sending the messages as they are")
        self._ended_at = time.perf_counter()
        self._report_view(self._ended_at - started, last)
        return found

    # Reports to observers

    def _report(self, take: Callable[[Observer], None]) -> None:
        """Pass a report to the observers; a failure of one is only logged."""
        for observer in self._resources.observers:
            problem = self._guard.problem
            self._guard.run(functools.partial(take, observer), lambda: None, "not observed")
            self._guard.problem = problem

    def _report_source(self) -> ReportSource:
        agent, prices = self._run.info.agent, self._resources.prices.name
        return ReportSource(self.id, agent, prices, self._format)

    def _report_recall(self, outcome: str, seconds: float) -> None:
        report = ToolReport(self._report_source(), recall.TOOL_NAME, seconds, outcome)
        self._report(lambda observer: observer.tool(report))

    def _report_view(self, seconds: float, last: ModelCall | None) -> None:
        if not self._resources.observers:
            return
        state, dollars = self._run.state, self._resources.prices.dollars
        before, call = last or NO_CALL, state.last or NO_CALL
        is_managed = not self._guard.raw_reason
        report = ViewReport(
            origin=self._report_source(),
            seconds=seconds,
            outcome=self._guard.raw_reason or MANAGED,
            raw_tokens=state.history.total if is_managed else 0,
            sent_tokens=state.view.shown_total if is_managed else 0,
            raw_dollars=dollars(call.raw_cost - before.raw_cost),
            sent_dollars=dollars(call.sent_cost - before.sent_cost),
            is_edit=is_managed and self._run.is_edit,
        )
        self._report(lambda observer: observer.view(report))

    # What comes back

    def tools(
        self, format_name: str, name: str = recall.TOOL_NAME, *, memory: bool = False
    ) -> list[dict[str, Any]]:
        """Return the recall tool in a format, for `tools=…`; with `memory` the tools of long-term memory too.

        The formats are `openai`, `responses`, `anthropic`, `bedrock` (for `toolConfig`) and `gemini`.

        `name` is another name for it where the host has a tool `recall` of its own: the session
        answers calls of every name that it was given, and never shortens its answers to them. A
        host's prefix before the name, such as `mcp__hippocampus__`, is no other name. From then on
        `handle` answers the calls of all that were returned.

        Raises:
            ValueError: another format.
        """
        self._note_name(name)
        offered = [recall.tool(format_name, name)]
        if memory:
            from hippocampus.facts import tools

            def answer(tool: str, arguments: str) -> str:
                try:
                    facts = self._resources.facts()
                except HippocampusError as failure:
                    return f"{tool} failed: {failure}"
                return tools.call(facts, tool, arguments, tools.Reach(self._run.info.agent or None))

            offered += tools.tools(format_name)
            self._memory_calls = {tool: functools.partial(answer, tool) for tool in tools.TOOLS}
        return offered

    def recall_function(self, name: str = recall.TOOL_NAME) -> Callable[..., str]:
        """Return the recall tool as a function, for frameworks that read its signature.

        Its parameters have types and descriptions, all are optional, and a call returns what
        `answer` returns. `name` is as in `tools`.
        """
        self._note_name(name)
        function: Callable[..., str] = recall.as_function(self.answer, name)
        return function

    def _note_name(self, name: str) -> None:
        with self._lock:
            self._tool_names[name] = None
            self._run.rules = replace(self._run.rules, recall_names=tuple(self._tool_names))

    def recall(  # noqa: PLR0913 - the ways to name a slice
        self,
        entry_id: str | None = None,
        *,
        pattern: str | None = None,
        lines: tuple[int, int] | None = None,
        path: str | None = None,
        query: str | None = None,
        head: int | None = None,
        tail: int | None = None,
        context: int = 0,
        max_tokens: int | None = None,
    ) -> str:
        """Return a slice of the payload of an entry, within `max_tokens` (the policy's default).

        `lines` counts from 1 and includes both ends; `pattern` is an RE2 expression, shown with
        `context` lines around a match; `path` names a part of JSON (`$.items[3].id`), of a table
        (`$[3]`, `$[*].name`), of code (a symbol) or of a page (a ref, a heading);
        `query` are words. Without a selector the whole content comes back, byte for byte, where it
        fits. Without an id, `query` searches every stored payload. Where a rule of the
        policy declares a source, that is asked first; if it has changed, both versions are offered.

        What a model writes in their place is read as `answer` reads it.

        Raises:
            RecallError: nothing can be served; `reason` has the cause, and the text names what to do instead.
        """
        selectors = {"pattern": pattern, "lines": lines, "path": path, "query": query}
        counts = {"head": head, "tail": tail, "context": context, "max_tokens": max_tokens}
        request = calls.read_request({"entry_id": entry_id, **selectors, **counts})
        usual = self._resources.policy.recall_tokens
        return self._recalls.slice(request, request.max_tokens or usual)

    def answer(self, arguments: str | Mapping[str, Any]) -> str:
        """Return the answer to a call of `recall`: a slice, or the reason that none can be served.

        `arguments` are as the model wrote them, JSON text or an object; invalid ones raise nothing.
        """
        found = self.tool_result("", arguments)
        return f"{found.text}\n{IMAGES_NOTE}".lstrip() if found.images else found.text

    def tool_result(self, call_id: str, arguments: str | Mapping[str, Any]) -> ToolResult:
        """Return the answer to a call of `recall` with the image blocks of the entry that it names."""
        return calls.answer(call_id, arguments, self._recalls.serve, self._recalls.images)

    def handle(self, items: Iterable[Any]) -> list[Item]:
        """Return the messages to append that answer the calls of `tools` pending at the end of a list.

        All are answered: one that cannot be served, with the reason. In Anthropic's format, where
        all results of an answer belong into one message, put your own tools' results into it.

        Raises:
            MessagesError: the list is in no known format.
        """
        return calls.handle(
            reader.plain(reader.listed(items)),
            self._recalls.serve,
            self._recalls.images,
            self._run.rules.recall_names,
            self._memory_calls,
        )

    # What the host declares

    def state(self, text: str) -> str:
        """Note the state of the task, such as `deploying to staging`; return its entry's id.

        Raises:
            ValueError: the text has no words.
            StoreError: it cannot be stored, or the session is closed.
        """
        if not text.strip():
            raise ValueError("a state needs words, such as 'deploying to staging'")
        with self._lock, self._run.deadline():
            if self._is_closed:  # before its content is stored, to which nothing would refer
                raise StoreError(f"session {self.id!r} is closed; open it again to note a state")
            content = self._resources.store.put(text.encode("utf-8", "surrogatepass"))
            turn = self._run.state.turn
            origin = StateOrigin(turn, content)
            if known := self._run.state.records.get(origin):
                return known.entry.id
            mark, is_taken = self._run.ledger.mark, self._run.state.by_id.__contains__
            named = make_id(mark, self.id, origin, content, is_taken)
            source = Source(type="state", ref=content, turn=turn)
            new = new_entry(named, "state", source, self._resources.policy, NO_RULES)
            entry, weight = replace(new, summary=storable(text)), tokens.count(text)
            self._run.save(
                Record(
                    entry,
                    origin,
                    content,
                    form="text",
                    kind="state",
                    tokens=weight,
                    stage=Stage.FULL,
                )
            )
            return named

    def pin(self, entry_id: str) -> None:
        """Keep an entry at its stage: it does not fade any more, and it outlives the session.

        Raises:
            RecallError: the id names no entry.
        """
        with self._lock:
            record = self._recalls.record_of(entry_id)
            modifiers = replace(record.entry.modifiers, priority="critical", encoding="manual")
            lifecycle = replace(record.entry.lifecycle, persist=True)
            pinned = replace(record.entry, modifiers=modifiers, lifecycle=lifecycle)
            self._run.save(replace(record, entry=pinned))

    # Reports

    def status(self) -> Status:
        """Return the live figures of the session."""
        with self._lock:
            given = (self._unread_lists or [self._last_items])[0] if self._guard.raw_reason else []
            unmanaged: list[Message] = self._guard.run(
                lambda: reader.read(reader.plain(reader.listed(given))), list, lost=""
            )
            return self.report.status(self._recalls.outcomes, self._bill, unmanaged)

    def billed(self, reported: Any) -> dict[str, Any]:
        """Record what the provider reported for the last call; return the bill next to the prediction.

        `reported` is the response, or its `usage`, in any of the formats, as an object of the SDK or
        as JSON. Call this once per model call, after its response. Earlier calls calibrate the
        token counts; from the eleventh on calls are compared, and a difference of more than ten
        percent is logged once as a warning. `status()["billed"]` has the same figures.
        Reasons of cache misses are counted where the whole response is given and the request has
        asked for them.

        Raises:
            ValueError: it has no token counts.
        """
        usage, miss = usage_of(reported), cache_miss_of(reported)
        with self._lock:
            read_tokens = self._run.marker.read_tokens
            call = CountedCall(self._run.state.shown_tokens, read_tokens, self._idle_seconds)
            was_off = self._bill.is_off
            self._bill.add(call, usage, miss)
            if self._bill.is_off and not was_off:
                LOG.warning("session %s: %s", self.id, self._bill.sentence())
            prices = self._resources.prices
            report = BillReport(
                origin=self._report_source(),
                seconds=time.perf_counter() - self._ended_at,
                usage=usage,
                dollars=prices.dollars(prices.billed_cost(usage)),
            )
            self._report(lambda observer: observer.bill(report))
            return self._bill.figures()

    def consolidate(self, messages: Iterable[Any] | None = None) -> ConsolidationOutcome:
        """Keep the facts worth it in the fact store; where nothing is new, nothing changes.

        `messages` is the final list, with the answer to the last call: it is archived and
        consolidated too. Where it cannot be read, that is logged, and the last list is used.

        Raises:
            StoreError: the session's ledger or archive cannot be read or written.
        """
        with self._lock, bounded(END_SECONDS):
            self._end(messages)
            snapshot, is_whole = self._run.snapshot(), self._run.is_whole()
            history = self._run.state.history
        # Turns go on meanwhile: a model may read for seconds.
        outcome = self._resources.consolidator.consolidate(snapshot, is_whole=is_whole)
        with self._lock:
            if outcome.finished and self._run.state.history is history:
                self._run.is_consolidated = True
        return outcome

    def _end(self, messages: Iterable[Any] | None) -> None:
        """Read the final list, or that of a failed call; where it cannot be read, the last list."""
        lists = self._unread_lists if messages is None else [messages, self._last_items]
        self._unread_lists = []

        def read(items: Iterable[Any]) -> bool:
            with self._run.dropping_list():
                self._run.read(reader.plain(reader.listed(items)))
            return True

        for items in lists:
            work = functools.partial(read, items)
            if self._guard.run(work, lambda: False, "the list as it ended is not taken in"):
                break
        self._run.count_raw()

    def close(self, messages: Iterable[Any] | None = None) -> None:
        """End the session; the same id opens it again.

        Its facts are kept in a thread, which the end waits for two seconds at most; what takes longer
        is done when the memory closes, or at the next start.

        `messages` is the final list: the answer to the last call, and all else that no call has
        sent, is archived and kept too. Never raises because of its own failures: they are logged.
        A second call does nothing.
        """
        with self._lock, bounded(END_SECONDS):
            if not self._is_closed:
                self._is_closed = self._guard.is_quiet = True
                self._end(messages)
                # What fails is finished at the next start.
                self._guard.run(self._run.keep_facts, lambda: None, "not consolidated")
                self._close_files(functools.partial(self._run.close, is_end=True))

    def release(self) -> None:
        """Close the session's files without ending it: the same id continues it, here or elsewhere.

        Its facts are kept when it ends, or by `memory.consolidate()`.
        """
        with self._lock, self._run.deadline():
            if not self._is_closed:
                self._is_closed = self._guard.is_quiet = True
                self._run.count_raw()
                self._close_files(functools.partial(self._run.close, is_end=False))

    def _close_files(self, close: Callable[[], None]) -> None:
        def closed() -> None:
            self._recalls.close()
            close()

        self._guard.run(closed, lambda: None, "its files stay open")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()
