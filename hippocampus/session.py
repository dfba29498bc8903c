"""The one place that joins the pure middle and the stores: a session over a growing message list.

Law 3 stands here, in `Session.__call__`: whatever fails inside, the loop gets its own messages.
"""

from __future__ import annotations

import copy
import json
import logging
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Self, cast

from hippocampus import (
    compaction,
    digest,
    messages,
    recall,
    retrieval,
    tokens,
)
from hippocampus.account import Account
from hippocampus.conversation import Item, Message
from hippocampus.decay import accessed
from hippocampus.digest import Run
from hippocampus.entry import (
    Decay,
    Entry,
    Lifecycle,
    Modifiers,
    Record,
    Source,
    Stage,
    content_key,
    storable,
)
from hippocampus.entry import entry_id as make_id
from hippocampus.errors import RecallError, StoreError
from hippocampus.held import Held
from hippocampus.holdings import Holdings, Shown
from hippocampus.indexing import frame
from hippocampus.ledger import Call, Ledger
from hippocampus.plan import Decision, Standing, plan
from hippocampus.policy import Policy
from hippocampus.prices import Prices
from hippocampus.recall import pending
from hippocampus.store import ContentStore
from hippocampus.summaries import Summaries
from hippocampus.window import Window

LOG = logging.getLogger("hippocampus")
LIMIT_REASON = "the view passed its limit: old turns told in short"
CACHE_SECONDS = 300.0
"""How long a provider keeps a prefix at least; behind that its cache is taken to be cold."""
RECALLS_BOUND = 4
"""A model may ask for so many times what one recall returns by the policy."""


@dataclass(frozen=True, slots=True)
class Means:
    """What the sessions of one memory share."""

    folder: Path
    store: ContentStore
    policy: Policy
    prices: Prices
    encoding: str
    summaries: Summaries | None


def _text_in(record: Record, content: bytes) -> str:
    """Return the text of a content as the model would read it."""
    if record.form == "messages":
        return digest.transcript(
            messages.read(json.loads(content.decode("utf-8", "surrogatepass")))
        )
    return retrieval.text_in(record, content)


class Session:
    """One agent's conversation: `session(messages)` returns the messages to send."""

    def __init__(self, session_id: str, means: Means) -> None:
        """Open the ledger of a session; made by `Hippocampus.session` alone."""
        self.id = session_id
        self.failures = 0
        """How often a call of this session failed inside and sent the messages as they were."""
        self._means = means
        self._lock = threading.RLock()
        self._ledger = Ledger(means.folder, session_id)
        self._records = {record.place: record for record in self._ledger.records()}
        last = self._ledger.last_call()
        self._retrieval = retrieval.Retrieval(
            means.folder.parent, session_id, means.store, _text_in
        )
        self._account = Account(last.raw_cost, last.sent_cost) if last else Account()
        self._start(last.messages if last else 0)

    def _start(self, sent: int) -> None:
        """Begin with an empty list, of whose view so many messages have been sent already."""
        means = self._means
        self._window = Window(means.encoding, sent)
        self._holdings = Holdings(
            self.id,
            self._window,
            self._records,
            means.policy,
            means.prices,
            means.encoding,
            means.summaries,
        )

    def __call__(self, items: Sequence[Item], *, idle_seconds: float = 0.0) -> list[Item]:
        """Return the view of a message list: what to send instead of it.

        The list is not changed. It may be in OpenAI Chat, OpenAI Responses or Anthropic format,
        and the view has the same. `idle_seconds` since the last call tell whether the provider's
        cache has gone cold, so that an edit of the past costs nothing. Never raises because of its own failures: then it returns the
        messages as they are, and logs why.
        """
        with self._lock:
            try:
                return self._view(items, cold=idle_seconds > CACHE_SECONDS)
            except Exception:  # law 3: a failure of the memory never breaks the agent's loop
                LOG.exception("session %s: sending the messages as they are", self.id)
                self.failures += 1
                self._start(self._window.sent)
                return cast("list[Item]", copy.copy(items))

    def _view(self, items: Sequence[Item], *, cold: bool) -> list[Item]:
        window, holdings, means = self._window, self._holdings, self._means
        before = len(window.raw)
        reading = window.read(items)
        if reading.kept < before:
            holdings.drop_from(reading.kept)
        for number in range(reading.kept, len(window.raw)):
            self._show(holdings.take(number))
        if reading.kept == 0:
            self._fold_again()
        self._account = self._account_before(window.turn)
        balance = self._account.balance
        standing = Standing(window.turn, window.sent, window.shown_tokens, balance, cold)
        decisions = plan(holdings.candidates(), standing, means.prices, means.policy)
        leaving = self._keep(decisions)
        self._show([Shown(each.message, each.part, each.record.shown) for each in leaving])
        digests = self._compact()
        self._commit(decisions, [held.record for held in leaving], digests)
        window.sent = len(window.raw)
        return window.write(items)

    def _account_before(self, turn: int) -> Account:
        """Return the sums before a turn: a second call in it decides by the same as the first."""
        last = self._ledger.last_call(turn)
        return Account(last.raw_cost, last.sent_cost) if last else Account()

    def _keep(self, decisions: list[Decision]) -> list[Held]:
        """Put on disk what leaves the view, and return it."""
        leaving = self._holdings.leave({decision.entry_id for decision in decisions})
        for held in leaving:
            self._means.store.put(self._holdings.original(held))
        return leaving

    def _limit(self) -> int:
        """Return the tokens that no view should pass; 0 knows no limit."""
        policy = self._means.policy
        threshold = int(policy.context_threshold * self._means.prices.window_tokens)
        limits = [each for each in (policy.budget_tokens, threshold) if each]
        return min(limits, default=0)

    def _compact(self) -> list[Record]:
        """Tell old turns as digests where the view passes its limit, and return these."""
        window, limit = self._window, self._limit()
        if not limit or sum(window.shown_tokens) <= limit:
            return []
        taken = {record.entry.id for record in self._records.values()}
        digests = []
        for run in compaction.old_runs(window, limit):
            self._means.store.put(compaction.original_of(window, run))
            record = compaction.record_of(self.id, window, run, self._holdings.ids(run), taken)
            record = self._worded(record, run)
            taken.add(record.entry.id)
            digests.append(record)
            self._fold(run, record)
        return digests

    def _worded(self, record: Record, run: Run) -> Record:
        """Return a digest with a summary by somebody else, where there is one in time."""
        summaries = self._means.summaries
        if summaries is None:
            return record
        told = self._window.telling(run.start, run.end)
        summaries.ask(record.place, digest.transcript(told))
        line = summaries.take(record.place)
        if line is None:
            return record
        opening, rest = record.shown.split("\n", 1)
        shown = "\n".join((opening, storable(frame.as_content(line)), rest))
        return replace(record, shown=shown)

    def _fold(self, run: Run, record: Record) -> None:
        self._window.fold(run.start, run.end, record.shown)
        self._holdings.fold(run)

    def _fold_again(self) -> None:
        """Show the newest digests that were committed, wherever their turns stand unchanged."""
        for record in reversed(self._records.values()):
            run = compaction.run_of(record)
            if run is None or run.end > len(self._window.raw) or self._window.is_folded(run.start):
                continue
            content = content_key(compaction.original_of(self._window, run))
            if content == record.content:
                self._fold(run, record)

    def _commit(self, decisions: list[Decision], left: list[Record], digests: list[Record]) -> None:
        """Write down what was changed and why; a failure sends the raw list."""
        window, account = self._window, self._account
        account.add(window, self._means.prices)
        call = Call(
            window.turn,
            len(window.raw),
            sum(window.raw_tokens),
            sum(window.shown_tokens),
            account.raw_cost,
            account.sent_cost,
        )
        told = [
            Decision(each.entry.id, each.stage, LIMIT_REASON, each.tokens, 0.0) for each in digests
        ]
        records = [*left, *digests, *self._noted()]
        self._ledger.commit(records, [*decisions, *told], call)
        self._records.update({record.place: record for record in records})
        self._retrieval.fill({record.entry.id: record for record in records})

    def _noted(self) -> list[Record]:
        """Put on disk what the user wants to be kept, and return it."""
        noted, self._holdings.noted = self._holdings.noted, []
        for _, original in noted:
            self._means.store.put(original)
        return [record for record, _ in noted]

    def _show(self, texts: Sequence[Shown]) -> None:
        """Let texts stand in the view in place of what they stand for."""
        for shown in texts:
            self._window.show(*shown)

    # What comes back

    def tools(self, format_name: str) -> list[dict[str, Any]]:
        """Return the recall tool for `tools=…`: format `openai`, `responses` or `anthropic`.

        Raises:
            ValueError: another format.

        """
        return [recall.tool(format_name)]

    def recall(  # noqa: PLR0913 - each is one way to name a slice
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
        """Return a slice of what an entry stands for, within `max_tokens` (the policy's default).

        `lines` counts from 1 and includes both ends; `pattern` is an RE2 expression, shown with
        `context` lines around each match; `path` names a part of JSON (`$.items[3].id`), of a table
        (`rows[3]`, `columns.name`), of code (a symbol) or of a page (a ref, a selector, a heading);
        `query` are words. Without a selector the whole content comes back, byte for byte, where it
        fits. Without an id, `query` searches everything that was put away.

        Raises:
            RecallError: nothing can be served; `reason` says why, and the text what to do instead.

        """
        request = recall.Request(pattern, lines, path, head, tail, query, context)
        bound = self._means.policy.recall_tokens if max_tokens is None else max_tokens
        if entry_id is None:
            return self._search(query, bound)
        record = self._record_of(entry_id)
        found = self._retrieval.take(record, request, bound)
        self._accessed([record])
        return found

    def _search(self, query: str | None, bound: int) -> str:
        """Return the best lines of everything that was put away."""
        if not query:
            raise RecallError("bad_request", "name an entry_id, or a query to search everything")
        known = self._known()
        with self._lock:
            texts = [text for each in self._window.shown for text in each.texts()]
        shown = set().union(*map(recall.names_in, texts))
        found = self._retrieval.search(query, known, bound, shown)
        self._accessed([known[entry_id] for entry_id in found.entry_ids if entry_id in known])
        return found.text

    def handle(self, items: Sequence[Item]) -> list[Item]:
        """Return the messages to append that answer the recalls pending at the end of a list.

        Each call is answered: what cannot be served is told in words. In Anthropic's format, where
        all results of an answer belong into one message, put your own tools' results into it.

        Raises:
            MessagesError: the list is in none of the three formats.

        """
        return retrieval.handle(items, self._serve)

    def _serve(self, call: pending.Call) -> str:
        most = self._means.policy.recall_tokens
        bound = most if call.max_tokens is None else min(call.max_tokens, RECALLS_BOUND * most)
        asked = {each.name: getattr(call.request, each.name) for each in fields(call.request)}
        return self.recall(call.entry_id, **asked, max_tokens=bound)

    def _accessed(self, records: Sequence[Record]) -> None:
        with self._lock:
            turn = self._window.turn
            for record in records:
                self._touch(record, turn)

    def content(self, entry_id: str) -> Any:
        """Return the whole content of an entry exactly as the message list held it.

        Raises:
            RecallError: nothing can be served; `reason` says why.

        """
        record = self._record_of(entry_id)
        original = self._retrieval.original(record).decode("utf-8", "surrogatepass")
        return original if record.form == "text" else json.loads(original)

    def text(self, entry_id: str) -> str:
        """Return the whole text of an entry's content as the model would read it.

        Raises:
            RecallError: nothing can be served; `reason` says why.

        """
        return self._retrieval.text(self._record_of(entry_id))

    def _known(self) -> dict[str, Record]:
        """Return the entries by id, those that another process put away too."""
        known = {record.entry.id: record for record in self._ledger.records()}
        return known | {record.entry.id: record for record in self._records.values()}

    def _record_of(self, entry_id: str) -> Record:
        known = {record.entry.id: record for record in self._records.values()}
        if entry_id not in known:  # another process may have put it away
            known = self._known()
        return self._retrieval.record_of(entry_id, known)

    def _touch(self, record: Record, turn: int) -> None:
        """An access resets the strength."""
        entry = accessed(record.entry, turn, self._means.policy.initial_strength)
        try:
            self._save(replace(record, entry=entry))
        except StoreError as failure:  # the content was found; that counts more than its strength
            LOG.warning("session %s: access not written down: %s", self.id, failure)

    # What the host says

    def pin(self, entry_id: str) -> None:
        """Keep an entry as it stands: it does not fade any more, and it outlives the session.

        Raises:
            RecallError: there is no such entry.

        """
        with self._lock:
            record = self._record_of(entry_id)
            told = record.entry.modifiers.model_copy(
                update={"priority": "critical", "encoding": "manual"}
            )
            lasting = record.entry.lifecycle.model_copy(update={"persist": True})
            pinned = record.entry.model_copy(update={"modifiers": told, "lifecycle": lasting})
            self._save(replace(record, entry=pinned))

    def associate(self, *entry_ids: str) -> None:
        """Declare that entries belong together: a strong one slows the fading of the others.

        Raises:
            RecallError: one of them does not exist.

        """
        with self._lock:
            for record in [self._record_of(entry_id) for entry_id in entry_ids]:
                others = [each for each in entry_ids if each != record.entry.id]
                known = dict.fromkeys([*record.entry.modifiers.associations, *others])
                told = record.entry.modifiers.model_copy(update={"associations": list(known)})
                entry = record.entry.model_copy(update={"modifiers": told})
                self._save(replace(record, entry=entry))

    def state(self, text: str) -> str:
        """Note the state of the task, such as `deploying to staging`; return its entry's id.

        Raises:
            StoreError: it cannot be written down.

        """
        with self._lock:
            content = self._means.store.put(text.encode("utf-8", "surrogatepass"))
            turn = self._window.turn
            place = f"state:{turn}:{content}"
            entry = Entry(
                id=make_id(self.id, place, content),
                type="state",
                source=Source(type="state", ref=content, turn=turn),
                summary=storable(text),
                decay=Decay(rate=self._means.policy.decay_rate_of("state"), last_access=turn),
                modifiers=Modifiers(encoding="manual"),
                lifecycle=Lifecycle(created=turn),
            )
            weight = tokens.count(text, self._means.encoding)
            self._save(
                Record(entry, place, content, "text", "state", "", "", weight, Stage.FULL, "")
            )
            return entry.id

    def _save(self, record: Record) -> None:
        self._records[record.place] = record
        self._holdings.update(record)
        self._ledger.save(record)

    # What is known of it

    def entries(self) -> list[Entry]:
        """Return the entries that left the view, oldest first."""
        return [record.entry for record in self._records.values()]

    def records(self) -> list[Record]:
        """Return the entries with what stands in the view for them, oldest first."""
        return list(self._records.values())

    def beside(self) -> list[tuple[Message, Message]]:
        """Return each message of the list beside what is shown of it; of folded ones, nothing."""
        return list(zip(self._window.raw, self._window.shown, strict=True))

    def decisions(self) -> list[tuple[int, Decision]]:
        """Return every change made to the view, with the turn in which it was made."""
        return self._ledger.decisions()

    def status(self) -> dict[str, Any]:
        """Return the live figures of the session.

        Turn and failures; tokens of the list and of its view; what all calls would have cost
        without us and what they cost, in base input tokens, and the difference in dollars; entries
        by stage; contents that are due but not shortened, since the edit does not pay yet; and the
        tokens by which the view passes its limit, 0 where it fits.
        """
        window, account = self._window, self._account
        sent, limit = sum(window.shown_tokens), self._limit()
        stages = Counter(str(record.stage) for record in self._records.values())
        return {
            "turn": window.turn,
            "failures": self.failures,
            "raw_tokens": sum(window.raw_tokens),
            "sent_tokens": sent,
            "raw_cost": round(account.raw_cost, 1),
            "sent_cost": round(account.sent_cost, 1),
            "saved_dollars": self._means.prices.dollars(account.raw_cost - account.sent_cost),
            "entries": len(self._records),
            "stages": dict(stages),
            "due": len(self._holdings.candidates()),
            "over_limit_tokens": max(0, sent - limit) if limit else 0,
        }

    def close(self) -> None:
        """End the session; the same id opens it again."""
        self._retrieval.close()
        self._ledger.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()
