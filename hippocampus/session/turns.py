"""A session's turns: each takes the list from one call to the next and commits what changed.

Joins the pure middle and the stores; recall, and what a host may ask and say, is the session's.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from hippocampus.consolidation import inputs
from hippocampus.entries.decision import Decision
from hippocampus.entries.entry import Record, content_key, storable
from hippocampus.errors import StoreError
from hippocampus.formats.conversation import Item, Message
from hippocampus.formats.reader import Reading
from hippocampus.indexing import frame
from hippocampus.recall.retrieval import Retrieval
from hippocampus.session import compaction, digest, planner, reactivation
from hippocampus.session.account import Account
from hippocampus.session.cached_prefix import Sent, unshortened
from hippocampus.session.digest import Run
from hippocampus.session.payloads import Holdings, Shown
from hippocampus.session.plan import Candidate, Standing, first_open, plan
from hippocampus.session.resources import Means, Start
from hippocampus.session.view import Past, Window
from hippocampus.storage import archive
from hippocampus.storage.ledger import Call, Ledger, Reactivation

LOG = logging.getLogger("hippocampus")
LIMIT_REASON = "the view passed its limit: old turns told in short"
EXCESS = "the view passes its limit, and nothing more may be shortened"
LARGEST_TOLD = 3
UNREAD_REASON = "the view passes its limit: there is no room to read it in full first"


class Committed(NamedTuple):
    """What a turn changed in the view, and why."""

    decisions: list[Decision]
    records: list[Record]
    again: list[Reactivation]
    compacted: bool
    """Whether old turns were told as digests."""


class Turns:
    """The calls of one session: the list as it was read, the view, and what was committed."""

    def __init__(self, session_id: str, means: Means, retrieval: Retrieval, start: Start) -> None:
        self._session = session_id
        self._opening: str | None = None
        self._means = means
        self._retrieval = retrieval
        self.ledger = Ledger(means.state, session_id)
        self._has_past = self.ledger.pending() > 0
        """Whether an earlier run has left something that no consolidation has seen."""
        self._is_kept = True
        """Whether a consolidation has seen all that this run has read."""
        self._begun = Start(self.ledger.agent(start.agent), start.context_time)
        self.records = {record.place: record for record in self.ledger.records()}
        """Every entry of the session by its place, oldest first."""
        self._journal = archive.journal_of(means.state, session_id, means.policy)
        self._again: dict[tuple[int, str], list[Reactivation]] = {}
        """What was shown again, by the number of its message and what that says."""
        self._remember(self.ledger.reactivations())
        last = self.ledger.last_call()
        self._told_excess = False
        self.account = _account_at(last)
        self._start(last.messages if last else 0, self.ledger.sent())

    def restart(self) -> None:
        """Forget the list, and read it whole at the next call: after a failure."""
        self._start(self.window.sent, self._sent.last()[: self.window.sent])

    def send_raw(self, items: Sequence[Item]) -> None:
        """Count a call that failed and sent the list as it is; it is read whole at the next one.

        Raises:
            MessagesError: the list is in no known format.
            StoreError: the ledger cannot be read.

        """
        window = self.window.reading(items)
        account, keys = self._account_before(window.turn), self._sent.last()
        call, own = unshortened(window, self.window, keys, account, self._means.prices)
        self.account = _account_at(call)
        self._start(call.messages, own)
        self.ledger.commit([], [], call, sent=(0, own))

    def _start(self, sent: int, keys: list[str]) -> None:
        """Begin with an empty list, of whose view so many messages have been sent already."""
        means = self._means
        self._sent = Sent(keys)
        self.window = Window(means.encoding, sent)
        self.holdings = Holdings(
            self._session,
            self.window,
            self.records,
            means.policy,
            means.prices,
            means.encoding,
            means.summaries,
        )

    def save(self, record: Record) -> None:
        """Write an entry down as it stands after an access, or as the host wants it.

        Raises:
            StoreError: the ledger cannot be written.

        """
        self.records[record.place] = record
        self.holdings.update(record)
        self.ledger.save(record)

    def _hear(self) -> None:
        """Take up what another process has committed, as a session does that starts."""
        self.records.update({record.place: record for record in self.ledger.records()})
        self._again.clear()
        self._remember(self.ledger.reactivations())
        last = self.ledger.last_call()
        self._start(last.messages if last else 0, self.ledger.sent())

    def limit_tokens(self) -> int:
        """Return the tokens that no view should pass; 0 knows no limit."""
        policy = self._means.policy
        threshold = int(policy.context_threshold * self._means.prices.window_tokens)
        limits = [each for each in (policy.budget_tokens, threshold) if each]
        return min(limits, default=0)

    def take(self, items: Sequence[Item], *, cold: bool) -> list[Item]:
        """Return the view of a list, committed; `cold` says that no provider has it cached.

        Raises:
            MessagesError: the list is in no known format.
            StoreError: what leaves the view cannot be put on disk; then nothing has left it.

        """
        if self.ledger.hears():
            self._hear()
        past = Past(self.window.raw, self.window.told)
        reading = self._read(items)
        sent_before = sum(self.window.shown_tokens[: self.window.sent])
        made = self._change(cold=cold)
        self.account.add(self.window, self._means.prices, 0 if cold else sent_before)
        self._commit(made, reading)
        self._tell_excess()
        self.window.sent = len(self.window.raw)
        self._consolidate_beside(past, compacted=made.compacted)
        return self.window.write(items)

    def end(self, items: Sequence[Item]) -> None:
        """Take in a list as it ended, with what came behind its last call; no view is made of it.

        Raises:
            MessagesError: the list is in no known format.
            StoreError: what the user wants to be kept cannot be put on disk.

        """
        past = Past(list(self.window.raw), self.window.told)
        reading = self._read(items)
        if reading.kept == len(past.raw) == len(self.window.raw):
            return
        noted = self._noted()
        self.ledger.save(*noted)
        self._know(noted)
        messages = self.window.telling(0, len(self.window.raw))
        name, turn = reading.adapter.NAME, self.window.turn
        self._archive(lambda journal: journal.end(messages, reading.kept, name, turn))
        self._consolidate_beside(past, compacted=False)

    def _read(self, items: Sequence[Item]) -> Reading:
        """Read what is new, and let what was committed stand where it stood."""
        before = len(self.window.raw)
        reading = self._read_items(items)
        window, kept, known = self.window, reading.kept, len(self._sent.keys)
        self._is_kept = self._is_kept and kept == before == len(window.raw)
        window.sent = self._sent.read(reading, window.sent)
        self._open()
        self._show(self.holdings.again(kept, known))
        for number in range(known, len(window.raw)):
            self._show(self.holdings.take(number))
        for number in range(kept, len(window.raw)):
            self._show_again(number)
        self._fold_again(reading.kept)
        window.unchanged = window.sent  # what stands for these messages stood there when sent
        return reading

    def _read_items(self, items: Sequence[Item]) -> Reading:
        """Read a list; one that says something else than before is read whole, as after a restart.

        So is one of which a digest would have to stand again.
        """
        window = self.window
        before, folded = len(window.raw), window.folded_end
        reading = window.read(items)
        kept = reading.kept
        if kept == before or (
            kept >= folded and self._sent.is_repeated(reading) and self.holdings.stand(kept, before)
        ):
            return reading
        self._start(window.sent, self._sent.last())
        return self.window.read(items)

    def _change(self, *, cold: bool) -> Committed:
        """Decide what else changes in the view, put on disk what leaves it, and show the rest."""
        window, means = self.window, self._means
        self.account = self._account_before(window.turn)
        account, limit = self.account, self.limit_tokens()
        standing = Standing(
            window.turn,
            window.sent,
            window.shown_tokens,
            account.balance,
            account.edits_left,
            limit,
            cold,
        )
        retold = self._retell(standing)
        if retold:
            standing = replace(standing, rewritten_from=window.unchanged)
        decisions = plan(self._candidates(standing), standing, means.prices, means.policy)
        left = self._shorten(decisions)
        digests = self._compact()
        late = self._last_resort()
        left += self._shorten(late)
        again, reasons = self._reactivate()
        return Committed(
            [*decisions, *late, *(told for _, told in (*retold, *digests)), *reasons],
            [*left, *(record for record, _ in (*retold, *digests)), *self._noted()],
            again,
            compacted=bool(digests),
        )

    def _candidates(self, standing: Standing) -> list[Candidate]:
        due = self.holdings.due()
        first = first_open([held.message for held in due], standing, self._means.prices)
        return self.holdings.prepared([held for held in due if held.message >= first])

    def _consolidate_beside(self, past: Past, *, compacted: bool) -> None:
        """Start on what is to last where the view was compacted, or the host has cut its list."""
        cut = past.messages() if len(self.window.raw) < len(past.raw) else None
        if compacted or cut is not None:  # the protocol's `context_threshold`
            self._means.consolidations.start(self.session(cut), last=cut is not None)

    def _open(self) -> None:
        """Let memories of earlier sessions stand in front of the first words, the same each time."""
        place = self.window.first_words()
        if place is None or self._opening == "":
            return
        if self._opening is None:
            self._opening = self._settled(*place)
        self.window.open_with(self._opening)

    def _settled(self, number: int, part: int) -> str:
        """Return what stands there for the whole session; one that began without goes on so."""
        known = self.ledger.opening()
        if known is not None:
            return known
        wanted = self._means.policy.consolidation.context_load_tokens
        if not wanted or self.ledger.last_call() is not None:
            return ""
        from hippocampus.consolidation.context_load import settled

        said = self.window.raw[number].parts[part].text
        begun = self._begun
        setting = inputs.Setting(self._session, begun.agent, said, begun.context_time)
        text = settled(setting, self.ledger, self._means.loads)
        self.records.update({record.place: record for record in self.ledger.records()})
        return text

    def is_whole(self) -> bool:
        """Say whether the list has all that no consolidation has seen: nothing is on disk alone."""
        return bool(self.window.raw) and not self._has_past and not self.ledger.is_shared()

    def kept(self) -> None:
        """Say that a consolidation has seen all that was read so far."""
        self._is_kept = True

    def session(self, messages: Sequence[Message] | None = None) -> inputs.Session:
        """Return the session as a consolidation takes it, with these messages or those it has."""
        window = self.window
        said = window.telling(0, len(window.raw)) if messages is None else messages
        records = list(self.records.values())
        return inputs.Session(self._session, self._begun.agent, window.turn, said, records)

    def _account_before(self, turn: int) -> Account:
        """Return the sums before a turn: a second call in it decides by the same as the first."""
        return _account_at(self.ledger.last_call(turn))

    def _shorten(self, decisions: list[Decision]) -> list[Record]:
        """Put on disk what leaves the view, show what stands for it, and return it."""
        leaving = self.holdings.leave([decision.entry_id for decision in decisions])
        for held in leaving:
            self._means.store.put(self.holdings.original(held))
        self._show([Shown(each.message, each.part, each.record.shown) for each in leaving])
        return [held.record for held in leaving]

    def _last_resort(self) -> list[Decision]:
        """Return what must be shortened before the model has read it, since nothing else is left."""
        excess, chosen = self.excess_tokens(), []
        for each in sorted(self.holdings.unread(), key=lambda each: -each.saves) if excess else ():
            if excess > 0 < each.saves:
                chosen.append(Decision(each.entry_id, each.stage, UNREAD_REASON, each.saves, 0.0))
                excess -= each.saves
        return chosen

    def excess_tokens(self) -> int:
        """Return by how much the view passes its limit; 0 where it fits or there is none."""
        limit = self.limit_tokens()
        return max(0, self.window.shown_total - limit) if limit else 0

    def _retell(self, standing: Standing) -> list[tuple[Record, Decision]]:
        """Tell old turns as digests where that pays, and return these."""
        prices, policy = self._means.prices, self._means.policy
        if not planner.may_pay(self.window, standing, prices, policy):
            return []
        kept = self.holdings.staying(planner.newest_due(standing.turn, policy))
        found = planner.worth(self.window, standing, prices, policy, kept)
        return self._tell(found, planner.REASON)

    def _compact(self) -> list[tuple[Record, Decision]]:
        """Tell old turns as digests where the view passes its limit, and return these."""
        if not self.excess_tokens():
            return []
        found = compaction.folding(self.window, self.limit_tokens(), self.holdings.pinned())
        return self._tell(found, LIMIT_REASON)

    def _tell(self, folding: compaction.Folding, reason: str) -> list[tuple[Record, Decision]]:
        """Put runs on disk, show digests in place of them, and return these."""
        window = self.window
        taken = {record.entry.id for record in self.records.values()}
        digests = []
        costs = self._rewritten(min((run.start for run in folding.runs), default=0))
        for run, room in zip(*folding, strict=True):
            original = compaction.original_of(window, run)
            self._means.store.put(original)
            record = self.records.get(compaction.place_of(run, content_key(original)))
            if record is None:
                ids = self.holdings.ids(run)
                record = compaction.record_of(self._session, window, run, ids, taken, room)
                record = self._worded(record, run)
            taken.add(record.entry.id)
            weight = sum(window.shown_tokens[run.start : run.end])
            self._fold(run, record)
            digests.append((record, weight - window.shown_tokens[run.start]))
        costs /= max(1, len(digests))
        return [
            (record, Decision(record.entry.id, record.stage, reason, saves, costs))
            for record, saves in digests
        ]

    def _rewritten(self, start: int) -> float:
        """Return what it costs to write again what was sent from a message on."""
        prices = self._means.prices
        cached = sum(self.window.shown_tokens[start : self.window.sent])
        return (prices.write - prices.read) * cached

    def _worded(self, record: Record, run: Run) -> Record:
        """Return a digest with a summary by somebody else, where there is one in time."""
        summaries = self._means.summaries
        if summaries is None:
            return record
        told = self.window.telling(run.start, run.end)
        summaries.ask(record.place, digest.transcript(told))
        line = summaries.take(record.place)
        if line is None:
            return record
        opening, rest = record.shown.split("\n", 1)
        shown = "\n".join((opening, storable(frame.as_content(line)), rest))
        return replace(record, shown=shown)

    def too_large(self) -> list[str]:
        """Return the largest messages of a view that passes its limit, in words; else nothing."""
        if not self.excess_tokens():
            return []
        weights = enumerate(self.window.shown_tokens)
        largest = sorted(weights, key=lambda each: -each[1])[:LARGEST_TOLD]
        shown = self.window.shown
        return [f"message {at} ({shown[at].role}): {weight:,} tokens" for at, weight in largest]

    def _tell_excess(self) -> None:
        """Say once, until a view fits again, that one does not and why."""
        told = self.too_large()
        if told and not self._told_excess:
            LOG.warning("session %s: %s: %s", self._session, EXCESS, "; ".join(told))
        self._told_excess = bool(told)

    def _fold(self, run: Run, record: Record) -> None:
        self.window.fold(run.start, run.end, record.shown)
        self.holdings.fold(run)

    def _fold_again(self, kept: int) -> None:
        """Show the digests that were committed, wherever turns that were just read are unchanged.

        Of one inside another the longer one stands, whichever of the two was made on this branch.
        """
        told = [record for record in self.records.values() if record.kind == compaction.KIND]
        end = len(self.window.raw)
        runs = ((compaction.run_of(record), record) for record in reversed(told))
        fitting = [(run, each) for run, each in runs if run and kept < run.end <= end]
        for run, record in sorted(fitting, key=lambda pair: pair[0].start - pair[0].end):
            content = content_key(compaction.original_of(self.window, run))
            if content == record.content and not self.window.cuts_fold(run.start, run.end):
                self._fold(run, record)

    def _show_again(self, number: int) -> None:
        """Let what was shown again behind a message stand there, with the same bytes."""
        if self._again:
            key = reactivation.key_of(self.window.raw[number])
            for each in self._again.get((number, key), ()):
                self.window.stand(number, each.shown)

    def _reactivate(self) -> tuple[list[Reactivation], list[Decision]]:
        """Show again, behind the last message, what new messages point at."""
        window, means, limit = self.window, self._means, self.limit_tokens()
        if limit and window.shown_total + means.policy.reactivate_tokens > limit:
            return [], []
        found = reactivation.reactivated(
            window, self.holdings.names, window.sent, means.policy, means.prices, means.encoding
        )
        for each, _ in found:
            window.stand(each.message, each.shown)
        return [each for each, _ in found], [reason for _, reason in found]

    def _remember(self, again: Iterable[Reactivation]) -> None:
        for each in again:
            self._again.setdefault((each.message, each.key), []).append(each)

    def _commit(self, made: Committed, reading: Reading) -> None:
        """Write down what was changed and why; a failure sends the raw list."""
        window, account = self.window, self.account
        call = Call(
            window.turn,
            len(window.raw),
            window.raw_total,
            window.shown_total,
            account.raw_cost,
            account.sent_cost,
            account.edit_cost,
        )
        sent = self._sent.unwritten()
        self.ledger.commit(made.records, made.decisions, call, made.again, sent)
        self._sent.stored = len(window.raw)
        self._remember(made.again)
        self._know(made.records)
        messages, name = window.telling(0, len(window.raw)), reading.adapter.NAME
        self._archive(
            lambda journal: journal.append(
                messages, reading.kept, name, call, made.decisions, made.records
            )
        )

    def _know(self, records: Sequence[Record]) -> None:
        """Take up entries that are written down."""
        self.records.update({record.place: record for record in records})
        self._retrieval.fill({record.entry.id: record for record in records})

    def _archive(self, write: Callable[[archive.Journal], None]) -> None:
        """Append what is new to the archive; a turn is committed whether or not that works."""
        if self._journal is None:
            return
        try:
            write(self._journal)
        except Exception:  # law 3: an audit's copy is nothing that a turn may fail for
            LOG.exception("session %s: this call is not in the archive yet", self._session)

    def is_changed(self) -> bool:
        """Say whether there is something that no consolidation has seen, and a memory to keep it.

        What another process has consolidated meanwhile may be less than this one has read. Of calls
        whose words are nowhere, neither here nor in an archive, nothing would be kept: these are
        left to whoever has the list.
        """
        if self._means.consolidations.closed or not (self.ledger.pending() or not self._is_kept):
            return False
        is_here = bool(self.window.raw) or self.ledger.last_call() is None
        return is_here or archive.is_kept(self._means.state, self._session)

    def close(self) -> None:
        """Pack the archive and close the ledger."""
        try:
            if self._journal is not None:
                self._journal.close()
        except StoreError:  # the journal is still there, and packed when the session ends again
            LOG.exception("session %s: the archive is not packed", self._session)
        self.ledger.close()

    def _noted(self) -> list[Record]:
        """Put on disk what the user wants to be kept, and return it."""
        noted, self.holdings.noted = self.holdings.noted, []
        for _, original in noted:
            self._means.store.put(original)
        return [record for record, _ in noted]

    def _show(self, texts: Sequence[Shown]) -> None:
        """Let texts stand in the view in place of what they stand for."""
        for shown in texts:
            self.window.show(*shown)


def _account_at(call: Call | None) -> Account:
    """Return the sums as they were after a call."""
    return Account(call.raw_cost, call.sent_cost, call.edit_cost) if call else Account()
