"""Runs one strategy over one recording and measures its views exactly as SPEC's measures say.

No files, no formats, no tables: a recording and a view function in, numbers out.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hippocampus import tokens
from hippocampus.formats.conversation import Item, Message, Part
from hippocampus.formats.reader import Reading, read, read_on
from hippocampus.prices import Prices
from hippocampus.replay.recording import Recording
from hippocampus.replay.values import uses

SLICE_TOKENS = 400
"""What a recall is taken to return, whoever answers it."""

MOST_PROBLEMS = 10

View = Callable[[list[Item]], list[Item]]
Recover = Callable[[str], bool]
"""Says whether one recall brings a hidden value back."""


@dataclass(frozen=True, slots=True)
class MeasuredCall:
    """One call under one strategy."""

    tokens: int
    prefix_tokens: int
    """Leading messages that are byte-identical with the last request's."""
    uses: int
    hidden: tuple[str, ...]
    """The values that the agent wrote and that the view did not show."""
    rewritten_tokens: int = 0
    """What the last request held behind the common prefix: the cache has it, for nothing."""

    def edit_cost(self, prices: Prices) -> float:
        """Return what editing the past cost in this call: what was cached is written again."""
        return prices.edit_cost(self.rewritten_tokens, self.tokens - self.prefix_tokens)

    def cost(self, prices: Prices) -> float:
        """Return the cost of the call in base input tokens, with its recall if it needed one."""
        cost = prices.call_cost(self.prefix_tokens, self.tokens)
        return cost + prices.recall_cost(self.tokens, SLICE_TOKENS) if self.hidden else cost

    @property
    def charged_tokens(self) -> int:
        """Return the tokens sent for the call, with its recall's."""
        return 2 * self.tokens + SLICE_TOKENS if self.hidden else self.tokens


@dataclass(frozen=True, slots=True)
class Measured:
    """One strategy over one recording."""

    calls: tuple[MeasuredCall, ...]
    result_tokens: int = 0
    """What all tool results weigh."""
    shown_tokens: int = 0
    """What the results weigh that stood in full in the view in which they arrived."""
    recoverable: int = 0
    """Hidden uses that one recall brings back; counted only where there is a recall tool."""
    invalid_views: int = 0
    problems: tuple[str, ...] = ()
    recalled_full: int = 0
    """Of the recalls of hidden uses, how many had the whole content at hand."""
    recalled_partial: int = 0
    """How many had its summary only; the others failed."""

    def cost(self, prices: Prices) -> float:
        """Return the cost of the whole recording in base input tokens."""
        return sum(call.cost(prices) for call in self.calls)


@dataclass(frozen=True, slots=True)
class Script:
    """A recording prepared for measuring: where its calls are, and what each of them uses."""

    recording: Recording
    messages: list[Message]
    answers: tuple[int, ...]
    """The number of each assistant message."""
    call_ends: tuple[int, ...]
    """How many list items stand before each assistant message."""
    uses: tuple[frozenset[str], ...]
    """The values that each assistant message took from tool results."""

    def arrived(self, call: int) -> list[Message]:
        """Return the messages that are new at a call."""
        start = self.answers[call - 1] if call else 0
        return self.messages[start : self.answers[call]]


def prepare(recording: Recording) -> Script:
    """Read a recording once, for all strategies."""
    messages = read(recording.messages)
    used = uses(messages)
    sizes = itertools.accumulate((len(message.raw) for message in messages), initial=0)
    starts = list(sizes)
    answers = tuple(used)
    ends = tuple(starts[number] for number in answers)
    return Script(recording, messages, answers, ends, tuple(used.values()))


def measure(script: Script, view: View, recover: Recover | None = None) -> Measured:
    """Call a strategy before each recorded answer and measure what it would have sent."""
    gauge = _Gauge(script, recover)
    for number, end in enumerate(script.call_ends):
        gauge.take(number, view(script.recording.messages[:end]))
    return gauge.measured()


class _Gauge:
    """What has been measured of one strategy so far."""

    def __init__(self, script: Script, recover: Recover | None) -> None:
        self._script = script
        self._recover = recover
        self._reading = Reading()
        self._weights: list[int] = []
        self._calls: list[MeasuredCall] = []
        self._problems: list[str] = []
        self._recovered = self._invalid = self._result_tokens = self._shown_tokens = 0

    def take(self, number: int, items: list[Item]) -> None:
        """Measure the view of one call."""
        reading = self._reading = read_on(self._reading, items)
        fresh = reading.messages[reading.kept :]
        before = sum(self._weights)
        self._weights[reading.kept :] = [tokens.count_message(message) for message in fresh]
        used = self._script.uses[number]
        hidden = tuple(hidden_values(used, reading.messages))
        if self._recover:
            self._recovered += sum(map(self._recover, hidden))
        self._check(number, reading.messages)
        self._see_results(number, fresh)
        prefix, total = sum(self._weights[: reading.kept]), sum(self._weights)
        self._calls.append(MeasuredCall(total, prefix, len(used), hidden, before - prefix))

    def _check(self, number: int, view: Sequence[Message]) -> None:
        wrong = unpaired(view)
        self._invalid += bool(wrong)
        self._problems += [f"call {number}: {told}" for told in wrong]

    def _see_results(self, number: int, fresh: Sequence[Message]) -> None:
        """Count the results that arrived with this call, and those that stand there in full."""
        shown = {(part.call_id, part.text) for part in _results(fresh)}
        for part in _results(self._script.arrived(number)):
            weight = tokens.count(part.text)
            self._result_tokens += weight
            self._shown_tokens += weight * ((part.call_id, part.text) in shown)

    def measured(self) -> Measured:
        """Return the figures."""
        return Measured(
            tuple(self._calls),
            self._result_tokens,
            self._shown_tokens,
            self._recovered,
            self._invalid,
            tuple(self._problems[:MOST_PROBLEMS]),
        )


def _results(messages: Sequence[Message]) -> list[Part]:
    return [part for message in messages for part in message.parts if part.kind == "result"]


def hidden_values(wanted: frozenset[str], view: Sequence[Message]) -> list[str]:
    """Return the values that stand nowhere in a view, sorted."""
    missing = set(wanted)
    for message in reversed(view):
        if not missing:
            break
        for text in message.texts():
            missing -= {value for value in missing if value in text}
    return sorted(missing)


def unpaired(view: Sequence[Message]) -> list[str]:
    """Return a sentence for each tool call or result of a view that lacks its other half."""
    open_calls: dict[str, int] = {}
    wrong: list[str] = []
    for number, message in enumerate(view):
        for part in message.parts:
            if part.opens_call:
                open_calls[part.call_id] = number
            elif part.closes_call and open_calls.pop(part.call_id, None) is None:
                wrong.append(f"result {part.call_id!r} has no call before it")
    return wrong + [f"call {call_id!r} has no result" for call_id in open_calls]
