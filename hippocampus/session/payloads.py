"""The payloads of a list: which parts are large, which texts cite them, and which are due. No I/O.

The tables grow with the list. Nothing is decided here; `arrival` takes new messages in.
"""

from __future__ import annotations

import re
from array import array
from collections import defaultdict
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from hippocampus.entries import decay
from hippocampus.entries.entry import ARGUMENTS, ID, Entry, Record, Stage, content_key, storable
from hippocampus.entries.origin import PartOrigin
from hippocampus.formats import json_text
from hippocampus.formats.conversation import Message, Part
from hippocampus.formats.tool_calls import (
    file_read,
    files_written,
    normal,
    reads_whole,
    writes_whole,
)
from hippocampus.indexing.extraction import identifiers, kept_by_hash
from hippocampus.models import tokens
from hippocampus.policy import NO_RULES, Policy, Redaction, Resolution
from hippocampus.session.history import History, Rendered, Span
from hippocampus.session.turn_rules import CONSTANTS, Rules
from hippocampus.storage.ledger import NotedPart, NotedPayload, noted

if TYPE_CHECKING:
    import numpy as np
    from numpy import typing as npt

    Floats = npt.NDArray[np.float64]

CITED_ID = re.compile(rf"\b{ID}\b")
MAX_HOLDERS = 3
"""A name that more payloads have cites none."""
MIN_PACKED, PACKED_PART = 2_000, 8
"""Names are packed once they are this many, and an eighth of the packed ones."""


class IdentifierIndex:
    """The payloads of a list by the identifiers in them, numbered in order of arrival.

    It grows with the list.
    """

    def __init__(self) -> None:
        self._recent = tuple(dict[str, int]() for _ in range(MAX_HOLDERS + 1))
        """By a name the first payload that has it, in the next table the second, and so on."""
        self._keys, self._values = array("q"), array("i")
        """The packed names, at 12 bytes where a dict of texts has about 150: their hashes in ascending
        order, and their payloads."""
        self._is_sorted = True
        self._written = defaultdict[str, list[int]](list)
        """The messages in which the assistant wrote an identifier, the last one at the end."""

    def pack(self) -> None:
        """Pack the names, once they are many, or where packed ones are not sorted."""
        many = max(MIN_PACKED, len(self._keys) // PACKED_PART)
        if self._is_sorted and len(self._recent[0]) <= many:
            return
        import numpy as np

        columns = [(np.asarray(self._keys), np.asarray(self._values))]
        for recent in self._recent:
            keys = np.fromiter(map(hash, recent), np.int64, len(recent))
            columns.append((keys, np.fromiter(recent.values(), np.int32, len(recent))))
            recent.clear()
        keys, values = map(np.concatenate, zip(*columns, strict=True))
        order = keys.argsort()  # a stable one takes five times as long
        self._keys, self._values = array("q", keys[order].tobytes()), array("i")
        self._values.frombytes(values[order].tobytes())
        self._is_sorted = True

    def write(self, message: int, names: Iterable[str]) -> None:
        """Note the names that the assistant wrote in a message."""
        for name in names:
            self._written[name].append(message)

    def add(self, number: int, names: AbstractSet[str]) -> None:
        """Add the names of a payload."""
        for recent in self._recent:
            known = names & recent.keys()
            recent.update(dict.fromkeys(names - known, number))
            names = known

    def add_packed(self, number: int, names: Collection[str]) -> None:
        """Add the names of a payload before all others that `add` gets: many at once take less time."""
        import numpy as np

        self._keys.frombytes(np.fromiter(map(hash, names), np.int64, len(names)).tobytes())
        self._values += array("i", [number]) * len(names)
        self._is_sorted = False

    def holders_of(self, names: Collection[str]) -> dict[str, list[int]]:
        """Return the payloads that have a name, for some names; a common one has over `MAX_HOLDERS`."""
        found: dict[str, list[int]] = {name: [] for name in names}
        if not self._is_sorted:
            self.pack()
        if self._keys and found:
            import numpy as np

            keys, hashes = np.asarray(self._keys), np.fromiter(map(hash, found), np.int64)
            starts, ends = (keys.searchsorted(hashes, side).tolist() for side in ("left", "right"))
            for numbers, start, end in zip(found.values(), starts, ends, strict=True):
                numbers.extend(sorted(self._values[start:end]))
        for recent in self._recent:
            for name in found.keys() & recent.keys():
                found[name].append(recent[name])
        return found

    def held_elsewhere(self, names: Collection[str], own: int) -> set[str]:
        """Return the names that payloads other than one have."""
        held = self.holders_of(names).items()
        return {name for name, numbers in held if numbers and numbers != [own]}

    def cited_by(self, texts: Iterable[str]) -> set[int]:
        """Return the payloads that texts cite by an id, or by a name that few payloads have."""
        names = {name for text in texts for name in identifiers(text) | set(CITED_ID.findall(text))}
        holders = self.holders_of(names).values()
        return {number for numbers in holders if len(numbers) <= MAX_HOLDERS for number in numbers}

    def cited_since(self, message: int, text: str) -> set[str]:
        """Return the identifiers of a text that the assistant has written from a message on."""
        names = identifiers(text) & self._written.keys()
        return {name for name in names if self._written[name][-1:] >= [message]}


class Payload(NamedTuple):
    """A result, the arguments of a call, or words of the user, in full or as an entry."""

    record: Record
    message: int
    """The number of its message in the list."""
    part: int
    weight: int
    """The tokens of its text in the view."""
    due_turn: int
    """The first turn at which it may be shortened."""
    large: bool
    """Whether its size makes it an entry; else it has to fade first."""
    resolution: Resolution = NO_RULES
    """The policy's rules for it."""
    batch: int | None = None
    """The number of the batch of reads that it came in (`Payloads.batches`)."""
    note: str = ""
    """A line that its entry opens with: superseded, stale, a repeat."""
    twin: int | None = None
    """The number of an earlier payload with the same content, which the note names."""
    shorter: Record | None = None
    """Its next record, once that is written."""
    shorter_weight: int = 0
    """The tokens of the text of that record."""
    file: str = ""
    """The file that it has text of: the result of a read, or the arguments of a change."""
    is_folded: bool = False
    """Whether a digest replaces its message."""

    @property
    def id(self) -> str:
        """Return the id of its entry."""
        return self.record.id

    @property
    def site(self) -> tuple[int, int]:
        """Return its place in the list, by which payloads are ordered: message and part."""
        return self.message, self.part

    @property
    def is_full(self) -> bool:
        """Return whether the view shows it in full."""
        return self.record.stage is Stage.FULL

    @property
    def rendered(self) -> Rendered:
        """Return the text of its entry, in place of its part; the images of a result leave with it."""
        # The text of a large one becomes an entry before the model has seen its images.
        without_images = not self.large or self.record.stage is Stage.DORMANT
        return Rendered(self.message, self.part, self.record.shown, without_images)

    @property
    def is_pinned(self) -> bool:
        """Return whether a rule or the host keeps it at its stage."""
        modifiers = self.record.entry.modifiers
        by_host = modifiers.priority == "critical" and modifiers.encoding == "manual"
        return bool(self.resolution.pin) or by_host

    @property
    def is_fresh(self) -> bool:
        """Return whether it is read first, and not shortened on arrival."""
        return self.due_turn > self.record.entry.lifecycle.created

    @property
    def is_superseded(self) -> bool:
        """Return whether something newer replaces it."""
        return bool(self.note) and not self.due_turn

    def part_in(self, history: History) -> Part:
        """Return the part of a list that it is."""
        return history.raw[self.message].parts[self.part]

    def original(self, history: History) -> bytes:
        """Return the bytes to keep of it: as its message holds it."""
        return original_of(history.raw[self.message], self.part_in(history))[1]

    def accessed(self, turn: int, strength: float, exponent: float = decay.EXPONENT) -> Payload:
        """Return it with at least a strength from this turn on, or from a later one that is known."""
        entry = self.record.entry
        if turn < entry.decay.last_access:
            return self
        return self._with_entry(decay.accessed(entry, turn, strength, exponent))

    def _with_entry(self, entry: Entry) -> Payload:
        """Return it with a changed entry: a text of the next stage would have the fields of the old one."""
        if entry == self.record.entry:
            return self
        return self._replace(record=replace(self.record, entry=entry), shorter=None)

    def associated(self, others: Iterable[str]) -> Payload:
        """Return it with the ids of entries that were used together with it."""
        return self._with_entry(self.record.entry.associated(others))

    def superseded(self, note: str) -> Payload:
        """Return it due at once, since something newer replaces it."""
        return self._replace(note=note, shorter=None, due_turn=0)


class Files(NamedTuple):
    """The files that a call writes or reads."""

    written: Sequence[str] = ()
    read: str = ""
    """Empty where files are written."""
    is_whole: bool = False
    """Whether the call has or asks for the whole text of the file."""

    @property
    def paths(self) -> Sequence[str]:
        """Return all their paths."""
        return self.written or ((self.read,) if self.read else ())


NO_FILES = Files()


@kept_by_hash
def files_of(arguments: str, tool: str) -> Files:
    """Return the files that a call writes, or else reads."""
    if written := files_written(tool, arguments):
        return Files(written, is_whole=writes_whole(tool, arguments))
    read = file_read(tool, arguments)
    return Files(read=read, is_whole=reads_whole(arguments)) if read else NO_FILES


class FileText(NamedTuple):
    """A payload with text of a file."""

    path: str
    number: int


class Arrival(NamedTuple):
    """What a part of a message brought to the tables of payloads.

    A recall, its answer, and words of the user that are kept bring only their place.
    """

    message: int
    part: int
    result: int | None = None
    """The number of the payload that it is."""
    key: bytes = b""
    """Of a result, `superseding_key`."""
    arguments: int | None = None
    """The number of the payload that the arguments of its call are."""
    files: Files = NO_FILES


class PartSite(NamedTuple):
    """A part of a message, and its place; calls as they may be quoted."""

    message: int
    at: int
    part: Part


@dataclass(frozen=True, slots=True)
class Payloads:
    """The payloads of a list, numbered in order of arrival.

    A list that grows and a turn change these tables in place: a turn that fails drops them, and the list is
    read again.
    """

    items: list[Payload] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)
    """By the entry's id, the number of a payload that no digest replaces."""
    sites: dict[tuple[int, int], int] = field(default_factory=dict)
    """By message and part, the number of the payload there."""
    ranks: dict[PartOrigin, int] = field(default_factory=dict)
    """How many parts have the same content under the same call id."""
    calls: dict[str, PartSite] = field(default_factory=dict)
    recalls: defaultdict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    """By message, the parts that are recalls and our answers to them."""
    recall_tokens: dict[int, int] = field(default_factory=dict)
    """By message, the tokens of its recalls and answers, once a turn has needed these."""
    redactions: dict[tuple[int, int], Redaction] = field(default_factory=dict)
    latest: dict[bytes, int] = field(default_factory=dict)
    """By `superseding_key`, the newest result."""
    files: dict[str, tuple[FileText, ...]] = field(default_factory=dict)
    """By the last part of a path, the payloads with text of such a file."""
    batches: list[tuple[int, ...]] = field(default_factory=lambda: [()])
    """The newest reads of files between two writes: an agent uses them together."""
    index: IdentifierIndex = field(default_factory=IdentifierIndex)
    due_turns: array[float] = field(default_factory=lambda: array("d"))
    """By payload, the first turn at which it may be due."""
    cold_turns: array[float] = field(default_factory=lambda: array("d"))
    """By payload, the turn from which a digest may replace it."""
    messages: array[int] = field(default_factory=lambda: array("q"))
    """By payload, the number of its message."""
    firsts: dict[str, int] = field(default_factory=dict)
    """By content, the result that repeats name."""
    arrivals: list[Arrival] = field(default_factory=list)

    def call_of(self, result: Part) -> tuple[str, str]:
        """Return the tool and the arguments of the call that a result answers."""
        called = self.calls.get(result.call_id)
        tool, arguments = (called.part.tool, called.part.text) if called else ("", "")
        return result.tool or tool, arguments

    def outside_digests(self) -> Iterator[Payload]:
        """Yield the payloads that no digest replaces."""
        return (self.items[number] for number in self.numbers.values())

    def due(self, turn: int, view_tokens: int, rules: Rules) -> list[int]:
        """Return the numbers of the payloads that may leave the view now, in the order of the list."""
        fading = view_tokens >= rules.policy.fade_view_tokens
        awake = [number for number in self.numbers.values() if self.due_turns[number] <= turn]
        due = [n for n in awake if fading or (self.items[n].is_full and self.items[n].large)]
        return sorted(due, key=lambda n: self.items[n].site)

    def cold_from(self, turns: Sequence[int], policy: Policy) -> Floats:
        """Return by message the turn from which a digest may replace it; infinite is never.

        `turns` are those in which the messages came. A message is cold when its payloads are.
        """
        import numpy as np

        rate, initial = policy.decay_rates["message"], policy.initial_strength
        usual = decay.turns_until(policy.digest_below, rate, policy.exponent, initial)
        cold = np.array(turns, np.float64) + usual
        messages, own = np.array(self.messages), np.array(self.cold_turns)
        inside = messages < len(cold)
        np.maximum.at(cold, messages[inside], own[inside])
        return cold

    def hot_tokens(self, spans: Sequence[Span], turn: int) -> int:
        """Return the tokens of the texts of files in some messages that a digest will show whole."""
        return sum(
            payload.record.tokens
            for payload in self.outside_digests()
            if payload.file
            and payload.record.kind != ARGUMENTS
            and not payload.note
            and turn - payload.record.entry.decay.last_access <= CONSTANTS.whole_turns
            and any(span.start <= payload.message < span.end for span in spans)
        )

    def change(self, changes: Mapping[int, Payload], rules: Rules) -> None:
        """Replace payloads by changed ones."""
        for number, payload in changes.items():
            self.items[number] = payload
        self.set_turns(changes, rules)

    def set_turns(self, numbers: Iterable[int], rules: Rules) -> None:
        """Set in place the turns of payloads that changed, and of new ones at the end."""
        new = range(len(self.messages), len(self.items))
        self.messages.extend(self.items[number].message for number in new)
        for turns in (self.due_turns, self.cold_turns):
            turns.extend([inf] * len(new))
        for number in {*numbers, *new}:
            self.due_turns[number] = due_from(self.items[number], rules.policy)
            self.cold_turns[number] = cold_from(self.items[number], rules.policy)

    def update(self, record: Record, rules: Rules) -> None:
        """Give the payload of an entry the entry's new record."""
        number = self.numbers.get(record.id)
        if number is None:  # a digest may replace it, and its next access begins with this record
            found = (at for at, payload in enumerate(self.items) if payload.id == record.id)
            number = next(found, None)
        if number is None:
            return
        payload = self.items[number]
        shown = payload.record.shown if record.stage is Stage.FULL else record.shown
        weight = payload.weight if shown == payload.record.shown else tokens.count(shown)
        # A text that was written before an access would bring back what the entry was before it.
        shorter = payload.shorter if record.entry == payload.record.entry else None
        own = payload._replace(record=replace(record, shown=shown), weight=weight, shorter=shorter)
        self.change({number: own}, rules)

    def move_on(self, chosen: Iterable[str], rules: Rules) -> list[Payload]:
        """Bring the chosen entries to their next stage, and return their payloads."""
        moved: dict[int, Payload] = {}
        for number in map(self.numbers.__getitem__, chosen):
            payload = self.items[number]
            if payload.shorter:
                weight = payload.shorter_weight
                moved[number] = payload._replace(
                    record=payload.shorter, shorter=None, weight=weight
                )
        self.change(moved, rules)
        return list(moved.values())

    def fold(self, spans: Iterable[Span], rules: Rules) -> list[str]:
        """Note that digests replace spans of the view; return the entries that these leave out of it."""
        folded = {number for span in spans for number in range(*span)}
        newly = {
            number: payload._replace(is_folded=True)
            for number, payload in enumerate(self.items)
            if payload.message in folded and not payload.is_folded
        }
        self.change(newly, rules)
        gone = [named for named, number in self.numbers.items() if self.items[number].is_folded]
        for named in gone:
            del self.numbers[named]
        return gone

    def add_recall(self, message: int, part: int) -> None:
        """Add a recall, or our answer to one."""
        self.recalls[message].add(part)
        self.recall_tokens.pop(message, None)
        self.arrivals.append(Arrival(message, part))

    def notes_of(self, span: Span, history: History, known: Container[str]) -> list[NotedPart]:
        """Return what the messages of a span brought, as notes of its digest; `known` are the ledger's entries."""

        def noted_payload(number: int | None) -> NotedPayload | None:
            if number is None:
                return None
            payload = self.items[number]
            names = " ".join(sorted(identifiers(payload.part_in(history).text)))
            is_known = payload.id in known
            columns = [] if is_known else noted(replace(payload.record, shown=""))
            return NotedPayload(*payload.site, payload.id, names, columns)

        return [
            NotedPart(
                arrival.message,
                arrival.part,
                noted_payload(arrival.result),
                arrival.key.hex(),
                noted_payload(arrival.arguments),
                arrival.files if arrival.files != NO_FILES else None,
            )
            for arrival in self.arrivals
            if span.start <= arrival.message < span.end
        ]

    def are_unchanged(self, start: int, end: int, history: History) -> bool:
        """Return whether payloads in messages that were read again have the bytes that they had."""
        return start == end or all(
            content_key(payload.original(history)) == payload.record.content
            for payload in self.items
            if start <= payload.message < end and payload.is_full and not payload.is_folded
        )


def due_from(payload: Payload, policy: Policy) -> float:
    """Return the first turn at which a payload may be due at its stage; infinite is never.

    Content shown in full is due once its strength has fallen to `fade_below`, and an entry once it
    has fallen to `sleep_below`. Large content that was not asked for is due on arrival.
    """
    stage = payload.record.stage
    full = stage is Stage.FULL
    if payload.is_folded or stage is Stage.DORMANT or payload.is_pinned:
        return inf
    if full and policy.keeps_whole(payload.resolution):
        return inf
    if not full and not payload.large:
        return inf
    is_read = payload.is_fresh and payload.record.kind != ARGUMENTS
    if full and (payload.is_superseded or (payload.large and not is_read)):
        return payload.due_turn
    below = policy.fade_below if full else policy.sleep_below
    weak = weak_from(payload.record.entry, policy, below)
    return max(payload.due_turn, weak) if full and payload.large else weak


def has_faded(payload: Payload, turn: int, policy: Policy) -> bool:
    """Return whether a result that saves too little as a usual entry is weak enough for a short one."""
    record = payload.record
    if not (payload.shorter and payload.large and payload.is_full) or record.kind == ARGUMENTS:
        return False
    is_worth = policy.is_worth_shortening(payload.weight, payload.shorter_weight, record.kind)
    return not is_worth and weak_from(record.entry, policy, policy.fade_below) <= turn


def cold_from(payload: Payload, policy: Policy) -> float:
    """Return the turn from which a digest may replace a payload; infinite is never."""
    if payload.is_folded:
        return -inf
    if payload.is_pinned or policy.keeps_whole(payload.resolution):
        return inf
    if payload.file:  # a digest shows it whole while it is strong
        return payload.record.entry.lifecycle.created + policy.read_turns
    return weak_from(payload.record.entry, policy, policy.digest_below)


def weak_from(entry: Entry, policy: Policy, below: float) -> float:
    """Return the turn from which an entry has at most a strength under a policy; infinite is never."""
    return decay.weak_from(entry, below, policy.exponent, policy.initial_strength)


def original_of(message: Message, part: Part) -> tuple[str, bytes]:
    """Return how the message holds a part's content (`text`, `blocks`, `object`), and its bytes."""
    value = message.held(part)
    if part.kind == "image":  # hosts move marks about
        value = [{key: inner for key, inner in value.items() if key != "cache_control"}]
    if isinstance(value, str):
        return "text", value.encode("utf-8", "surrogatepass")
    form = "blocks" if isinstance(value, list) else "object"
    return form, json_text.written_exactly(value).encode("utf-8", "surrogatepass")


def origin_of(part: Part, text: str) -> PartOrigin:
    """Return the identity of a part with a text in its conversation, but for its rank.

    The text counts and not the blocks that hold it, since hosts move `cache_control` marks about.
    """
    key = content_key(text.encode("utf-8", "surrogatepass"))
    return PartOrigin(part.kind, storable(part.call_id), key, 0)


def superseding_key(payload: Payload, tool: str, arguments: str) -> bytes:
    """Return a hash of the fields that a result shares with those that it supersedes.

    The result of a failed call has another `source.type`, so it supersedes no good one.
    """
    source = payload.record.entry.source.type
    match payload.resolution.superseded_by:
        case "source.type":
            common = [source]
        case "tool":
            common = [source, tool]
        case _:
            common = [source, tool, normal(arguments)]
    return tokens.digest(repr(common))
