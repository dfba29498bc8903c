"""Runs a strategy over a recording, and measures its views by SPEC's definitions.

A recording and a view function in, numbers out: no files, formats or tables.
"""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from hippocampus import indexing
from hippocampus.formats.conversation import Item, Message, Part, unpaired
from hippocampus.formats.reader import Reading, read, read_on
from hippocampus.formats.tool_calls import asks_to_read
from hippocampus.indexing.kinds import KINDS
from hippocampus.models import tokens
from hippocampus.prices import TABLES, Prices
from hippocampus.prices.prompt_cache import (
    CALL_SECONDS,
    OWN_MARKS,
    MarkPlacement,
    Prompt,
    PromptCache,
)
from hippocampus.replay.recording import Recording
from hippocampus.replay.uses import (
    decisive_steps,
    finder,
    lines_of,
    searchable,
    unnumbered,
    uses,
    values_of,
)

SLICE_TOKENS = 400
"""The slice of a recall of hidden values, the same for all strategies."""
LINE_SLICE_TOKENS = 2_000
"""The slice of a recall of hidden lines, with or without hidden values."""
READ_TOKENS = 1_000
"""A result of at least this size counts as read, if the agent asked for it and its kind is one to read."""
MAX_PROBLEMS = 10

ViewFunction = Callable[[list[Item]], list[Item]]
"""Takes the list so far and returns the list to send."""
Recover = Callable[[str], bool]
"""Returns whether one recall returns a hidden value."""


@dataclass(frozen=True, slots=True)
class MeasuredCall:
    """A call under a strategy."""

    tokens: int
    prefix_tokens: int
    """Tokens read from the provider's cache; an ideal cache reads all leading messages that are
    byte-identical with those of the last request."""
    uses: int
    hidden: tuple[str, ...]
    """The values that the agent wrote and that the view did not show."""
    line_uses: int = 0
    hidden_lines: tuple[str, ...] = ()
    """The lines that the agent wrote and that the view did not show."""
    unread: tuple[int, ...] = ()
    """Tokens of the results that the agent asked to read and that the view did not show in full."""
    own_uses: int = 0
    """Lines that the agent wrote again, after a call of its own; hidden ones are charged no recall."""
    own_hidden: int = 0

    @property
    def slice_tokens(self) -> int:
        """The tokens of the call's recall: one slice for everything hidden, 0 if nothing is hidden."""
        if self.hidden_lines:
            return LINE_SLICE_TOKENS
        return SLICE_TOKENS if self.hidden else 0

    def cost(self, prices: Prices) -> float:
        """Return the cost of the call in base input tokens, with its recall if it needs one."""
        cost = prices.call_cost(self.prefix_tokens, self.tokens)
        recalled = self.slice_tokens
        return cost + prices.recall_cost(self.tokens, recalled) if recalled else cost

    def cost_if_read(self, prices: Prices) -> float:
        """Return the cost if the agent also recalls the unread results in full, one per call."""
        recalls = (prices.recall_cost(self.tokens, size) for size in self.unread)
        return self.cost(prices) + sum(recalls)

    @property
    def charged_tokens(self) -> int:
        """The tokens sent for the call and its recall."""
        recalled = self.slice_tokens
        return 2 * self.tokens + recalled if recalled else self.tokens


@dataclass(frozen=True, slots=True)
class Measured:
    """The measures of a strategy on a recording."""

    calls: tuple[MeasuredCall, ...]
    recoverable: int = 0
    """Hidden values that one recall returns; counted only for strategies with a recall tool."""
    invalid_views: int = 0
    problems: tuple[str, ...] = ()

    def cost(self, prices: Prices) -> float:
        """Return the cost of the whole recording in base input tokens."""
        return sum(call.cost(prices) for call in self.calls)


class Script:
    """A recording as it is measured: its calls, and the terms that they use, each found when it is needed."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.messages = read(recording.messages)
        self.searchable = functools.cache(searchable)
        self.unnumbered = functools.cache(unnumbered)
        """The functions of `uses`, cached for all strategies."""
        self.answers = [
            number for number, sent in enumerate(self.messages) if sent.role == "assistant"
        ]
        """By call, the number of the assistant message."""
        starts = [*itertools.accumulate((len(sent.raw) for sent in self.messages), initial=0)]
        self.call_ends = [starts[number] for number in self.answers]
        """By call, the number of list items before the assistant message."""

    @functools.cached_property
    def uses(self) -> tuple[frozenset[str], ...]:
        """By call, the values that the assistant message took from tool results."""
        return tuple(uses(self.messages, values_of).values())

    @functools.cached_property
    def line_uses(self) -> tuple[frozenset[str], ...]:
        """By call, the lines that the assistant message took from tool results."""
        return tuple(uses(self.messages, lines_of).values())

    @functools.cached_property
    def own_uses(self) -> tuple[frozenset[str], ...]:
        """By call, the lines that the assistant message repeated from earlier calls of the agent."""
        return tuple(uses(self.messages, lines_of, "call").values())

    @functools.cached_property
    def values_in(self) -> Callable[[str], frozenset[str]]:
        """Returns the values of `uses` that a text contains."""
        return finder(itertools.chain.from_iterable(self.uses))

    @functools.cached_property
    def lines_in(self) -> Callable[[str], frozenset[str]]:
        """Returns the lines of `line_uses` and `own_uses` that a text contains."""
        find = finder(itertools.chain(*self.line_uses, *self.own_uses))
        return lambda text: find(self.searchable(text))

    @functools.cached_property
    def asked(self) -> list[list[Part]]:
        """By call, the new results that the agent asked to read."""
        calls: dict[str, Part] = {}
        asked: list[list[Part]] = [[]]
        for message in self.messages:
            if message.role == "assistant":
                asked.append([])
            for part in message.parts:
                call = calls.get(part.call_id)
                if part.kind == "call":
                    calls[part.call_id] = part
                elif (
                    part.kind == "result"
                    and call is not None
                    and asks_to_read(call.tool, call.text)
                    and tokens.count(part.text) >= READ_TOKENS
                    and KINDS[indexing.kind_of(part.text)].is_reading
                ):
                    asked[-1].append(part)
        return asked[: len(self.answers)]  # no call sends what comes after the last answer

    @functools.cached_property
    def asked_tokens(self) -> int:
        """The tokens of all results that the agent asked to read."""
        return sum(tokens.count(part.text) for parts in self.asked for part in parts)

    def unread(self, call: int, view: Sequence[Message]) -> Iterator[int]:
        """Yield the tokens of the call's results that the agent asked to read and a view cuts."""
        for part in self.asked[call]:
            wanted = part.text, self.unnumbered(part.text)
            results = (p.text for sent in reversed(view) for p in sent.parts if p.kind == "result")
            # A view may leave out the line numbers of a file, which is still read in full.
            shown = (text for result in results for text in (result, self.unnumbered(result)))
            if not any(text in found for found in shown for text in wanted):
                yield tokens.count(part.text)

    @functools.cached_property
    def decisive(self) -> tuple[int, ...]:
        """The calls that wrote the submitted patch, from 0."""
        answers = {call: self.messages[at] for call, at in enumerate(self.answers)}
        return decisive_steps(self.recording.submission, answers, self.searchable)


class ShownTerms:
    """The terms that a view shows, as its messages change."""

    def __init__(self, terms_in: Callable[[str], frozenset[str]]) -> None:
        self._terms_in = terms_in
        self._by_message: list[frozenset[str]] = []
        self._counts: Counter[str] = Counter()
        """The number of messages that contain a term."""

    def replace(self, kept: int, view: Sequence[Message]) -> None:
        """Replace all but the first `kept` messages by those of the next view."""
        self._counts.subtract(itertools.chain.from_iterable(self._by_message[kept:]))
        texts = (message.texts() for message in view[kept:])
        found = [frozenset[str]().union(*map(self._terms_in, parts)) for parts in texts]
        self._counts.update(itertools.chain.from_iterable(found))
        self._by_message[kept:] = found

    def hidden(self, wanted: frozenset[str]) -> tuple[str, ...]:
        """Return the wanted terms that no message contains, sorted."""
        return tuple(sorted(term for term in wanted if not self._counts[term]))


class Pairs:
    """The calls and results of a view, as its messages change."""

    def __init__(self) -> None:
        self._open: list[int] = []
        """By message, the calls that are open after it."""
        self._wrong: list[str] = []

    def replace(self, kept: int, view: Sequence[Message]) -> list[str]:
        """Replace all but the first `kept` messages, and return a sentence per call or result without its pair."""
        # In a view that was valid, every call has its result: only what follows the last message
        # before the change after which no call was open is paired.
        start = 0 if self._wrong else kept
        while start and self._open[start - 1]:
            start -= 1
        self._wrong = unpaired(view[start:])
        parts = (message.parts for message in view[kept:])
        _go_on(self._open, kept, (sum(p.opens_call - p.closes_call for p in own) for own in parts))
        return self._wrong


def _go_on(sums: list[int], kept: int, added: Iterable[int]) -> None:
    """Replace all but the first `kept` of running sums."""
    before = sums[kept - 1] if kept else 0
    sums[kept:] = itertools.islice(itertools.accumulate(added, initial=before), 1, None)


@dataclass(frozen=True, slots=True)
class CacheModel:
    """The provider's cache that a replay assumes: its prices, and the marks in requests."""

    prices: Prices = TABLES["anthropic-5m"]
    marks: MarkPlacement = "ideal"

    def cache(self) -> PromptCache | None:
        """Return a new cache with marks; None if the provider reads leading messages without marks."""
        if self.marks == "ideal" or self.prices.cache == "prefix":
            return None
        return PromptCache(self.prices, OWN_MARKS if self.marks == "ours" else 0)


IDEAL = CacheModel()


def measure(
    script: Script, view: ViewFunction, recover: Recover | None = None, model: CacheModel = IDEAL
) -> Measured:
    """Call a strategy before every recorded answer, and measure the views that it returns."""
    cache, prompt, reading = model.cache(), Prompt(), Reading()
    sizes = list[int]()  # by message of the view, the tokens up to its end
    values, lines, pairs = ShownTerms(script.values_in), ShownTerms(script.lines_in), Pairs()
    calls, problems = list[MeasuredCall](), list[str]()
    recovered = invalid = 0
    for number, end in enumerate(script.call_ends):
        reading = read_on(reading, view(script.recording.messages[:end]))
        kept, sent = reading.kept, reading.messages
        read = sizes[kept - 1] if kept else 0
        _go_on(sizes, kept, map(tokens.count_message, sent[kept:]))
        values.replace(kept, sent)
        lines.replace(kept, sent)
        wrong = pairs.replace(kept, sent)
        invalid += bool(wrong)
        problems += [f"call {number}: {sentence}" for sentence in wrong]
        used, quoted, own = script.uses[number], script.line_uses[number], script.own_uses[number]
        missing = values.hidden(used)
        if recover:
            recovered += sum(map(recover, missing))
        if cache is not None:
            prompt = prompt.extended(sent, kept)
            read = cache.send(prompt, number * CALL_SECONDS)
        calls.append(
            MeasuredCall(
                tokens=sizes[-1] if sizes else 0,
                prefix_tokens=read,
                uses=len(used),
                hidden=missing,
                line_uses=len(quoted),
                hidden_lines=lines.hidden(quoted),
                unread=tuple(script.unread(number, sent)),
                own_uses=len(own),
                own_hidden=len(lines.hidden(own)),
            )
        )
    return Measured(tuple(calls), recovered, invalid, tuple(problems[:MAX_PROBLEMS]))
