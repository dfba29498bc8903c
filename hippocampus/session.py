"""The one place that joins the pure middle and the stores: a session over a growing message list.

Law 3 stands here, in `Session.__call__`: whatever fails inside, the loop gets its own messages.
"""

from __future__ import annotations

import itertools
import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from hippocampus import ledger, messages, policy, prices, recall, tokens
from hippocampus.content import text_of, without_envelope
from hippocampus.conversation import Item, Message, Part, with_texts
from hippocampus.entry import Decay, Entry, Lifecycle, Source, Stage, content_key, entry_id
from hippocampus.errors import RecallError, StoreError, nearest
from hippocampus.indexing import arguments as call_arguments
from hippocampus.indexing import frame, index
from hippocampus.indexing.sniff import kind_of
from hippocampus.ledger import Call, Ledger, Record
from hippocampus.plan import Candidate, Decision, Standing, plan
from hippocampus.policy import Policy
from hippocampus.prices import Prices
from hippocampus.store import ContentStore, DiskStore

LOG = logging.getLogger("hippocampus")
CONTENTS_FOLDER = "contents"
SESSIONS_FOLDER = "sessions"


class Hippocampus:
    """The memory of one state directory: its sessions, and the contents that they put away."""

    def __init__(
        self,
        state_dir: str | Path,
        *,
        policy: str | Path | Policy = "default",
        model: str | None = None,
        prices: Prices | None = None,
    ) -> None:
        """Open (and make, where it is missing) a state directory.

        `policy` is a shipped policy's name or a file's path. `model` sets prices, context window
        and tokenizer; without it prices are Anthropic's for its 5-minute cache.

        Raises:
            PolicyError: the policy cannot be read; every problem is told.
            ModelError: no model of that name is known.
            StoreError: the directory cannot be used.

        """
        self._folder = Path(state_dir)
        self._policy = policy if isinstance(policy, Policy) else _load_policy(policy)
        self._prices = prices or _prices_of(model)
        self._encoding = tokens.encoding_for(model)
        self._store = DiskStore(self._folder / CONTENTS_FOLDER)

    def session(self, session_id: str) -> Session:
        """Return the session of an id; the same id after a restart is the same session.

        Raises:
            StoreError: the session's ledger cannot be opened.

        """
        folder = self._folder / SESSIONS_FOLDER
        return Session(session_id, folder, self._store, self._policy, self._prices, self._encoding)

    def close(self) -> None:
        """Close the content store."""
        self._store.close()


def _load_policy(named: str | Path) -> Policy:
    return policy.load(named)


def _prices_of(model: str | None) -> Prices:
    return prices.TABLES["anthropic-5m"] if model is None else prices.model_prices(model)


@dataclass(slots=True)
class _Held:
    """A large content of the list: its record, where it stands, what it would become."""

    record: Record
    message: int
    part: int
    due_turn: int
    original: bytes


class Session:
    """One agent's conversation: `session(messages)` returns the messages to send."""

    def __init__(  # noqa: PLR0913, PLR0917 - made by `Hippocampus.session` alone
        self,
        session_id: str,
        folder: Path,
        store: ContentStore,
        policy: Policy,
        prices: Prices,
        encoding: str,
    ) -> None:
        self.id = session_id
        self._folder = folder
        self._store = store
        self._policy = policy
        self._prices = prices
        self._encoding = encoding
        self._ledger = Ledger(folder, session_id)
        self._records = {record.place: record for record in self._ledger.records()}
        self._sent = last.messages if (last := self._ledger.last_call()) else 0
        self._forget_list()

    def __call__(self, items: Sequence[Item]) -> list[Item]:
        """Return the view of a message list: what to send instead of it.

        The list is not changed. It may be in OpenAI Chat, OpenAI Responses or Anthropic format,
        and the view has the same. Never raises because of its own failures: then it returns the
        messages as they are, and logs why.
        """
        try:
            return self._view(items)
        except Exception:  # law 3: a failure of the memory never breaks the agent's loop
            LOG.exception("session %s: sending the messages as they are", self.id)
            self._forget_list()
            return list(items)

    def _view(self, items: Sequence[Item]) -> list[Item]:
        reading = self._reader.read(items)
        self._drop_from(reading.kept)
        for message in reading.messages[reading.kept :]:
            self._take(message)
        decisions = plan(self._candidates(), self._standing(), self._prices, self._policy)
        self._commit(decisions)
        self._sent = len(self._raw)
        return self._write(items)

    # What stands in the list

    def _forget_list(self) -> None:
        self._reader = messages.RunningReader()
        self._raw: list[Message] = []
        self._shown: list[Message] = []
        self._raw_tokens: list[int] = []
        self._shown_tokens: list[int] = []
        self._turns: list[int] = []
        self._held: list[_Held] = []
        self._calls: dict[str, tuple[int, int, Part]] = {}

    def _drop_from(self, kept: int) -> None:
        """Forget the messages behind the first that changed."""
        if kept == len(self._raw):
            return
        self._sent = min(self._sent, kept)
        for column in (self._raw, self._shown, self._raw_tokens, self._shown_tokens, self._turns):
            del column[kept:]
        self._held = [held for held in self._held if held.message < kept]

    def _take(self, message: Message) -> None:
        """Add one message that is new in the list."""
        number = len(self._raw)
        weight = tokens.weigh(message, self._encoding)
        before = self._turns[-1] if self._turns else 0
        self._turns.append(before + (message.role == "assistant"))
        self._raw.append(message)
        self._shown.append(message)
        self._raw_tokens.append(weight)
        self._shown_tokens.append(weight)
        for at, part in enumerate(message.parts):
            if part.kind == "call":
                self._calls[part.call_id] = (number, at, part)
            elif part.kind == "result":
                self._take_result(number, at, part)

    def _take_result(self, number: int, at: int, part: Part) -> None:
        call_number, call_at, call = self._calls.get(part.call_id, (number, at, part))
        named = replace(part, tool=part.tool or call.tool)
        argued = call.text if call is not part else ""
        if self._weigh(part.text) > self._policy.index_over_tokens:
            self._hold(number, at, named, argued)
        if call is not part and self._weigh(call.text) > self._policy.arguments_over_tokens:
            self._hold(call_number, call_at, call, "")

    def _weigh(self, text: str) -> int:
        return tokens.count(text, self._encoding)

    def _hold(self, number: int, at: int, part: Part, argued: str) -> None:
        """Note a large content: known ones as they were committed, others as candidates."""
        form, original = _original(self._raw[number], part)
        content = content_key(original)
        place = f"{part.kind}:{part.call_id}:{content}"
        record = self._records.get(place)
        if record is None:
            record = self._new_record(number, part, argued, place, content, form)
        held = _Held(record, number, at, self._due_turn(number, record), original)
        if record.stage is Stage.FULL:
            self._held.append(held)
        else:
            self._show(held)

    def _new_record(  # noqa: PLR0913, PLR0917 - the fields of a record
        self, number: int, part: Part, argued: str, place: str, content: str, form: str
    ) -> Record:
        turn = self._turns[number]
        entry = Entry(
            id=self._free_id(place, content),
            type="tool_result",
            source=Source(type=part.tool or "tool", ref=content, turn=turn),
            summary="",
            decay=Decay(last_access=turn),
            lifecycle=Lifecycle(created=turn),
        )
        weight = self._weigh(part.text)
        kind = "arguments" if part.kind == "call" else kind_of(part.text)
        return Record(
            entry, place, content, form, kind, part.tool, argued, weight, Stage.FULL, part.text
        )

    def _free_id(self, place: str, content: str) -> str:
        taken = {record.entry.id for record in self._records.values()}
        taken.update(held.record.entry.id for held in self._held)
        tries = (entry_id(self.id, place, content, attempt) for attempt in itertools.count())
        return next(candidate for candidate in tries if candidate not in taken)

    def _due_turn(self, number: int, record: Record) -> int:
        return self._turns[number] + self._policy.fresh_turns_of(record.kind, record.tokens)

    # What leaves it

    def _standing(self) -> Standing:
        return Standing(self._turns[-1] if self._turns else 0, self._sent, self._shown_tokens)

    def _candidates(self) -> list[Candidate]:
        turn = self._standing().turn
        for held in self._held:
            if held.due_turn <= turn and not held.record.entry.summary:
                held.record = self._indexed(held)
        return [
            Candidate(
                held.record.entry.id,
                held.message,
                held.record.tokens,
                self._weigh(held.record.shown),
                held.due_turn,
            )
            for held in self._held
        ]

    def _indexed(self, held: _Held) -> Record:
        """Return the record with its entry written; its stage is still `full`."""
        record = held.record
        part = self._raw[held.message].parts[held.part]
        kept = index(part.text, self._policy.entry_tokens)
        lines = part.text.count("\n") + 1
        turn = record.entry.source.turn
        opening = frame.first_line(record.entry.id, record.tool, turn, record.tokens, record.kind)
        if part.kind == "call":
            shown = call_arguments.shorten(part.text, opening)
        else:
            closing = frame.last_line(record.entry.id, lines)
            shown = "\n".join((opening, *kept.lines, closing))
        entry = record.entry.model_copy(
            update={"summary": kept.summary, "key_data": kept.key_data or None}
        )
        return replace(record, entry=entry, shown=shown)

    def _commit(self, decisions: list[Decision]) -> None:
        """Put on disk what leaves, write it down, and only then change the view."""
        chosen = {decision.entry_id for decision in decisions}
        leaving = [held for held in self._held if held.record.entry.id in chosen]
        for held in leaving:
            self._store.put(held.original)
            held.record = replace(held.record, stage=Stage.INDEXED)
        saved = sum(decision.saves for decision in decisions)
        sent_tokens = sum(self._shown_tokens) - saved
        turn = self._standing().turn
        call = Call(turn, len(self._raw), sum(self._raw_tokens), sent_tokens)
        self._ledger.commit([held.record for held in leaving], decisions, call)
        self._held = [held for held in self._held if held.record.stage is Stage.FULL]
        for held in leaving:
            self._records[held.record.place] = held.record
            self._show(held)

    def _show(self, held: _Held) -> None:
        """Let an entry stand in the view in place of its content."""
        edited = with_texts(self._shown[held.message], {held.part: held.record.shown})
        self._shown[held.message] = edited
        self._shown_tokens[held.message] = tokens.weigh(edited, self._encoding)

    def _write(self, items: Sequence[Item]) -> list[Item]:
        """Return the caller's own items, and copies of the edited ones."""
        view: list[Item] = []
        for raw, shown in zip(self._raw, self._shown, strict=True):
            start = len(view)
            if raw is shown:
                view.extend(items[start : start + len(raw.raw)])
            else:
                view.extend(messages.snapshot(item) for item in shown.raw)
        return view

    # What comes back

    def tools(self, format_name: str) -> list[dict[str, Any]]:
        """Return the recall tool for `tools=…`: format `openai`, `responses` or `anthropic`.

        Raises:
            ValueError: another format.

        """
        return [recall.tool(format_name)]

    def recall(  # noqa: PLR0913 - each is one way to name a slice
        self,
        entry_id: str,
        *,
        pattern: str | None = None,
        lines: tuple[int, int] | None = None,
        head: int | None = None,
        tail: int | None = None,
        max_tokens: int | None = None,
    ) -> str:
        """Return a slice of what an entry stands for, within `max_tokens` (the policy's default).

        `lines` counts from 1 and includes both ends; `pattern` is an RE2 expression. Without a
        selector the whole content comes back, byte for byte, where it fits.

        Raises:
            RecallError: nothing can be served; `reason` says why.

        """
        text = self.text(entry_id)
        record = self._record_of(entry_id)
        turn = self._standing().turn
        bound = self._policy.recall_tokens if max_tokens is None else max_tokens
        request = recall.Request(pattern, lines, head, tail)
        found = recall.take(text, request, max(1, bound))
        self._touch(record, turn)
        return found

    def content(self, entry_id: str) -> Any:
        """Return the whole content of an entry exactly as the message list held it.

        Raises:
            RecallError: nothing can be served; `reason` says why.

        """
        record = self._record_of(entry_id)
        original = self._read(record).decode("utf-8", "surrogatepass")
        return original if record.form == "text" else json.loads(original)

    def text(self, entry_id: str) -> str:
        """Return the whole text of an entry's content as the model would read it.

        Raises:
            RecallError: nothing can be served; `reason` says why.

        """
        record = self._record_of(entry_id)
        original = self._read(record).decode("utf-8", "surrogatepass")
        if record.form == "blocks":
            original = text_of(json.loads(original))
        return without_envelope(original)

    def _record_of(self, entry_id: str) -> Record:
        known = {record.entry.id: record for record in self._records.values()}
        if entry_id in known:
            return known[entry_id]
        owner = ledger.owner_of(self._folder, entry_id)
        if owner is not None:
            told = f"entry {entry_id} belongs to session {owner!r}, not to this one; do not retry"
            raise RecallError("other_session", told, entry_id)
        near = ", ".join(nearest(entry_id, known)) or "none"
        told = f"entry {entry_id} never existed here; entries with a like id: {near}; do not retry"
        raise RecallError("never_existed", told, entry_id)

    def _read(self, record: Record) -> bytes:
        try:
            original = self._store.get(record.content)
        except StoreError as damage:
            raise RecallError("expired", f"{damage}; call {record.tool} again") from damage
        if original is None:
            told = (
                f"the content of {record.entry.id} is no longer stored; call {record.tool} again "
                f"with {record.arguments or 'the same arguments'}"
            )
            raise RecallError("expired", told, record.entry.id)
        return original

    def _touch(self, record: Record, turn: int) -> None:
        """An access resets the strength."""
        fresh = record.entry.decay.model_copy(update={"last_access": turn})
        entry = record.entry.model_copy(update={"strength": 1.0, "decay": fresh})
        self._records[record.place] = replace(record, entry=entry)
        self._ledger.save(self._records[record.place])

    # What is known of it

    def entries(self) -> list[Entry]:
        """Return the entries that left the view, oldest first."""
        return [record.entry for record in self._records.values()]

    def records(self) -> list[Record]:
        """Return the entries with what stands in the view for them, oldest first."""
        return list(self._records.values())

    def decisions(self) -> list[tuple[int, Decision]]:
        """Return every change made to the view, with the turn in which it was made."""
        return self._ledger.decisions()

    def status(self) -> dict[str, int]:
        """Return the sizes of the list and of its view in tokens, and the number of entries."""
        return {
            "turn": self._standing().turn,
            "raw_tokens": sum(self._raw_tokens),
            "sent_tokens": sum(self._shown_tokens),
            "entries": len(self._records),
        }

    def close(self) -> None:
        """End the session; the same id opens it again."""
        self._ledger.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()


def _original(message: Message, part: Part) -> tuple[str, bytes]:
    """Return how the message holds a content, and its exact bytes."""
    value: Any = message.raw
    for key in part.place:
        value = value[key]
    if isinstance(value, str):
        return "text", value.encode("utf-8", "surrogatepass")
    form = "blocks" if isinstance(value, list) else "object"
    return form, json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
