"""Runs one strategy over one recording and measures its views exactly as SPEC defines the measures.

No files, no formats, no tables: a recording and a view function in, numbers out.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from hippocampus import indexing
from hippocampus.formats.conversation import Item, Message, Part, unpaired
from hippocampus.formats.reader import Reading, read, read_on
from hippocampus.formats.reads import asks_to_read
from hippocampus.models import tokens
from hippocampus.prices import TABLES, Prices
from hippocampus.prices.prompt_cache import (
    CALL_SECONDS,
    OWN_MARKS,
    MarkPlacement,
    Prompt,
    PromptCache,
)
from hippocampus.replay.decisive_steps import decisive_steps
from hippocampus.replay.recording import Recording
from hippocampus.replay.uses import lines_of, searchable, unnumbered, uses, values_of

SLICE_TOKENS = 400
"""The slice of a recall that brings hidden values, whichever strategy hid them."""
LINE_SLICE_TOKENS = 2_000
"""The slice of a recall that brings hidden lines, with hidden values or without."""
READ_TOKENS = 1_000
TEXT_KINDS = frozenset(("code", "page", "prose"))
"""A result of this size and one of these kinds is read, if the agent asked for it: no data."""
MAX_PROBLEMS = 10

ViewFunction = Callable[[list[Item]], list[Item]]
"""Takes the list so far and returns the one to send."""
Recover = Callable[[str], bool]
"""Returns whether one recall brings a hidden value back."""


@dataclass(frozen=True, slots=True)
class MeasuredCall:
    """One call under one strategy."""

    tokens: int
    prefix_tokens: int
    """Tokens read from the provider's cache: with an ideal one, those of the leading messages that
    are byte-identical with the last request's."""
    uses: int
    hidden: tuple[str, ...]
    """The values that the agent wrote and that the view did not show."""
    line_uses: int = 0
    hidden_lines: tuple[str, ...] = ()
    """The lines that the agent wrote and that the view did not show."""
    unread: tuple[int, ...] = ()
    """Tokens of each result that the agent asked to read and that the view did not show in full."""
    own_uses: int = 0
    """Lines that the agent wrote and had written before, in a call; hidden ones cost no recall here."""
    own_hidden: int = 0

    @property
    def slice_tokens(self) -> int:
        """Return the slice of the call's recall: one for all that is hidden, 0 where nothing is."""
        if self.hidden_lines:
            return LINE_SLICE_TOKENS
        return SLICE_TOKENS if self.hidden else 0

    def cost(self, prices: Prices) -> float:
        """Return the cost of the call in base input tokens, with its recall if it needed one."""
        cost = prices.call_cost(self.prefix_tokens, self.tokens)
        recalled = self.slice_tokens
        return cost + prices.recall_cost(self.tokens, recalled) if recalled else cost

    def cost_if_read(self, prices: Prices) -> float:
        """Return the cost if the agent also recalls each unread result in full, in one call each."""
        recalls = (prices.recall_cost(self.tokens, each) for each in self.unread)
        return self.cost(prices) + sum(recalls)

    @property
    def charged_tokens(self) -> int:
        """Return the tokens sent for the call, with its recall's."""
        recalled = self.slice_tokens
        return 2 * self.tokens + recalled if recalled else self.tokens


@dataclass(frozen=True, slots=True)
class Measured:
    """One strategy over one recording."""

    calls: tuple[MeasuredCall, ...]
    recoverable: int = 0
    """Hidden values that one recall brings back; counted only where there is a recall tool."""
    invalid_views: int = 0
    problems: tuple[str, ...] = ()

    def cost(self, prices: Prices) -> float:
        """Return the cost of the whole recording in base input tokens."""
        return sum(call.cost(prices) for call in self.calls)

    def cost_if_read(self, prices: Prices) -> float:
        """Return the cost if the agent also recalls each unread result in full."""
        return sum(call.cost_if_read(prices) for call in self.calls)


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
    line_uses: tuple[frozenset[str], ...]
    """The lines that each assistant message took from tool results."""
    own_uses: tuple[frozenset[str], ...]
    """The lines that each assistant message wrote again, after a call of the agent had written them."""
    asked: tuple[tuple[Part, ...], ...]
    """By call, the results new at it that the agent asked to read."""
    decisive: tuple[int, ...]
    """The calls that wrote the submitted patch, from 0."""
    searchable: Callable[[str], str]
    """`uses.searchable`, each distinct text of the recording once for all strategies."""

    @property
    def asked_tokens(self) -> int:
        """Return the tokens of all results that the agent asked to read."""
        return sum(tokens.count(part.text) for parts in self.asked for part in parts)


def prepare(recording: Recording) -> Script:
    """Read a recording once, for all strategies."""
    messages = read(recording.messages)
    used = uses(messages, values_of)
    lines = functools.cache(lines_of)
    used_lines = uses(messages, lines)
    starts = list(itertools.accumulate((len(message.raw) for message in messages), initial=0))
    answers = tuple(used)
    asked = _asked(messages)
    texts = functools.cache(searchable)
    arrivals = itertools.pairwise((0, *answers))
    return Script(
        recording,
        messages,
        answers,
        call_ends=tuple(starts[number] for number in answers),
        uses=tuple(used.values()),
        line_uses=tuple(used_lines.values()),
        own_uses=tuple(uses(messages, lines, "call").values()),
        asked=tuple(
            tuple(part for number in range(start, end) for part in asked.get(number, ()))
            for start, end in arrivals
        ),
        decisive=decisive_steps(
            recording.submission, dict(enumerate(messages[at] for at in answers)), texts
        ),
        searchable=texts,
    )


def _asked(messages: Sequence[Message]) -> dict[int, list[Part]]:
    """Return the results that the agent asked to read, by the number of their message."""
    calls: dict[str, Part] = {}
    asked: dict[int, list[Part]] = {}
    for number, message in enumerate(messages):
        for part in message.parts:
            if part.kind == "call":
                calls[part.call_id] = part
            elif part.kind == "result" and part.call_id in calls:
                call = calls[part.call_id]
                if (
                    asks_to_read(call.tool, call.text)
                    and tokens.count(part.text) >= READ_TOKENS
                    and indexing.kind_of(part.text) in TEXT_KINDS
                ):
                    asked.setdefault(number, []).append(part)
    return asked


@dataclass(frozen=True, slots=True)
class CacheModel:
    """The provider's cache that a replay assumes: its prices, and the marks that requests carry."""

    prices: Prices = TABLES["anthropic-5m"]
    marks: MarkPlacement = "ideal"

    def cache(self) -> PromptCache | None:
        """Return a new cache of marks; None where leading messages are read without them."""
        if self.marks == "ideal" or self.prices.cache == "prefix":
            return None
        return PromptCache(self.prices, OWN_MARKS if self.marks == "ours" else 0)

    @property
    def step_tokens(self) -> int:
        """Return the step to which a prefix that is read is cut; 0 cuts nothing."""
        return 0 if self.marks == "ideal" else self.prices.step_tokens


IDEAL = CacheModel()


def measure(
    script: Script, view: ViewFunction, recover: Recover | None = None, model: CacheModel = IDEAL
) -> Measured:
    """Call a strategy before each recorded answer and measure what it would have sent."""
    cache, prompt, reading = model.cache(), Prompt(), Reading()
    weights, searched = list[int](), list[str]()
    calls, problems = list[MeasuredCall](), list[str]()
    recovered = invalid = 0
    for number, end in enumerate(script.call_ends):
        reading = read_on(reading, view(script.recording.messages[:end]))
        kept, sent = reading.kept, reading.messages
        weights[kept:] = map(tokens.count_message, sent[kept:])
        searched[kept:] = ("\n".join(map(script.searchable, each.texts())) for each in sent[kept:])
        used, lines = script.uses[number], script.line_uses[number]
        values = hidden(used, (text for message in reversed(sent) for text in message.texts()))
        if recover:
            recovered += sum(map(recover, values))
        wrong = unpaired(sent)
        invalid += bool(wrong)
        problems += [f"call {number}: {sentence}" for sentence in wrong]
        read = sum(weights[:kept])
        if cache is not None:
            prompt = prompt.extended(sent, kept)
            read = cache.send(prompt, number * CALL_SECONDS)
        elif step := model.step_tokens:
            read -= read % step
        asked = script.asked[number]
        parts = (part for message in sent for part in message.parts if part.kind == "result")
        shown = [part.text for part in parts] if asked else []
        bare = list(map(unnumbered, shown))
        unread = [
            tokens.count(part.text)
            for part in asked
            if not any(part.text in text for text in reversed(shown))
            and not any(unnumbered(part.text) in text for text in reversed(bare))
        ]
        calls.append(
            MeasuredCall(
                sum(weights),
                read,
                len(used),
                values,
                len(lines),
                hidden(lines, reversed(searched)),
                tuple(unread),
                len(own := script.own_uses[number]),
                len(hidden(own, reversed(searched))),
            )
        )
    return Measured(tuple(calls), recovered, invalid, tuple(problems[:MAX_PROBLEMS]))


def hidden(wanted: frozenset[str], texts: Iterable[str]) -> tuple[str, ...]:
    """Return the values, or lines, that stand in none of some texts, sorted."""
    missing = set(wanted)
    for text in texts:
        if not missing:
            break
        missing -= {each for each in missing if each in text}
    return tuple(sorted(missing))
