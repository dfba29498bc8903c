"""The strategies that replay compares: each is `messages -> messages`, as a host's loop calls it.

The defaults are those of the tools named in the docstrings. A strategy is made afresh for each
recording and is called before each recorded answer.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from dataclasses import dataclass

from hippocampus.formats.conversation import Item, Message, Part, with_texts
from hippocampus.formats.reader import Reading, read_on, write
from hippocampus.models import tokens
from hippocampus.replay.measure import ViewFunction
from hippocampus.replay.recording import Recording
from hippocampus.replay.uses import lines_of, uses, values_of
from hippocampus.session.digest import opening_end

Position = tuple[int, int]
"""Number of the message, and of the part in it."""
Result = tuple[Position, Part]

OFFLOAD_CHARACTERS = 4_000
EVICT_CHARACTERS = 80_000
EVICT_LINE_CHARACTERS = 1_000
EVICT_LINES = 5
MASK_CHARACTERS = 250
FLOOR_TOKENS = 150


class EditedList:
    """A growing list and its view: an edit of the view stays once it is made."""

    def __init__(self) -> None:
        self._reading = Reading()
        self.view: list[Message] = []
        self._weights: list[int] = []
        self.results: list[Result] = []

    def read(self, items: list[Item]) -> list[Message]:
        """Read the list of this call and return the messages that are new."""
        reading = self._reading = read_on(self._reading, items)
        fresh = reading.messages[len(self.view) :]
        for message in fresh:
            number = len(self.view)
            self.view.append(message)
            self._weights.append(tokens.count_message(message))
            parts = enumerate(message.parts)
            self.results += [((number, at), part) for at, part in parts if part.kind == "result"]
        return list(fresh)

    def replace(self, place: Position, text: str) -> None:
        """Replace the text of a part, from this call on."""
        number, at = place
        self.view[number] = with_texts(self.view[number], {at: text}, (at,))
        self._weights[number] = tokens.count_message(self.view[number])

    def tokens(self) -> int:
        """Return the tokens of the view."""
        return sum(self._weights)

    def weight(self, number: int) -> int:
        """Return the tokens of one message of the view."""
        return self._weights[number]


def send_everything() -> ViewFunction:
    """Send the list as it is."""
    return list


def sliding_window(keep_tokens: int = 32_000) -> ViewFunction:
    """Send the system messages, the first user message and as many newest ones as fit.

    Source: the trimming of message histories that LangChain's `trim_messages` does. A result whose
    call has left the window leaves with it, so the window starts at a message of the user or the
    assistant.
    """
    edited = EditedList()

    def view(items: list[Item]) -> list[Item]:
        edited.read(items)
        kept = opening_end(edited.view)
        start, total = len(edited.view), 0
        for number in range(len(edited.view) - 1, kept - 1, -1):
            total += edited.weight(number)
            if total > keep_tokens:
                break
            role, parts = edited.view[number].role, edited.view[number].parts
            if role == "assistant" or (role == "user" and all(p.kind != "result" for p in parts)):
                start = number
        return write([*edited.view[:kept], *edited.view[start:]])

    return view


def _shortened(
    choose: Callable[[EditedList, list[Result]], list[Result]], shorten: Callable[[str], str]
) -> ViewFunction:
    """Shorten, once, the results that `choose` takes from those that stand as they came."""
    edited, done = EditedList(), set[Position]()

    def view(items: list[Item]) -> list[Item]:
        edited.read(items)
        for place, part in choose(edited, [each for each in edited.results if each[0] not in done]):
            done.add(place)
            if part.text and (short := shorten(part.text)) != part.text:
                edited.replace(place, short)
        return write(edited.view)

    return view


def clear_old(over_tokens: int = 100_000, keep: int = 3, at_least: int = 0) -> ViewFunction:
    """Clear all but the last results once the view is over a trigger, and again on each call.

    Source: LangChain `ClearToolUsesEdit` and Anthropic's `clear_tool_uses_20250919`, whose defaults
    these are (100,000 tokens, 3 kept).
    """

    def choose(edited: EditedList, results: list[Result]) -> list[Result]:
        old = results[:-keep] if edited.tokens() > over_tokens else []
        return old if sum(tokens.count(part.text) for _, part in old) >= at_least else []

    return _shortened(choose, lambda _: "[cleared]")


def mask_observations(keep: int = 10, step: int = 1) -> ViewFunction:
    """Mask all results but the first and the last 10, each by one line.

    Source: JetBrains' "The Complexity Trap" (Lindenbauer et al. 2025) and SWE-agent's
    `last_n_observations`; `step` is how many are masked at a time (SWE-agent's `polling`).
    """

    def choose(_: EditedList, results: list[Result]) -> list[Result]:
        old = results[1:-keep]
        return old if len(old) >= step else []

    def shorten(text: str) -> str:
        lines = text.count("\n") + 1
        return f"Old output omitted ({lines} lines)"

    return _shortened(choose, shorten)


def offload_on_arrival(over_tokens: int = 2_500) -> ViewFunction:
    """Keep the first 4,000 characters of a large result and a notice, from its arrival on.

    Source: Strands Agents' tool-result offloading (2,500 tokens, a preview of 1,000).
    """

    def shorten(text: str) -> str:
        if tokens.count(text) <= over_tokens:
            return text
        return f"{text[:OFFLOAD_CHARACTERS]}\n[offloaded: {len(text)} characters in all]"

    return _shortened(lambda _, results: results, shorten)


def evict_large() -> ViewFunction:
    """Keep the first and last five lines of results over 80,000 characters.

    Source: LangChain deepagents' filesystem middleware (20,000 tokens at 4 characters each).
    """

    def shorten(text: str) -> str:
        if len(text) <= EVICT_CHARACTERS:
            return text
        lines = [line[:EVICT_LINE_CHARACTERS] for line in text.splitlines()]
        if len(lines) > 2 * EVICT_LINES:
            lines = [*lines[:EVICT_LINES], "[…]", *lines[-EVICT_LINES:]]
        return "\n".join(lines)

    return _shortened(lambda _, results: results, shorten)


def protect_and_mask(
    protected: int = 50_000, together: int = 30_000, large: int = 200
) -> ViewFunction:
    """Mask results beyond the newest 50,000 tokens when they come to 30,000 together.

    Source: gemini-cli's tool-output masking. Results over 200 tokens are masked, and keep their
    first and last 250 characters.
    """

    def choose(_: EditedList, results: list[Result]) -> list[Result]:
        weights = [tokens.count(part.text) for _, part in results]
        newer = itertools.accumulate(reversed(weights))
        sizes = zip(reversed(results), reversed(weights), newer, strict=True)
        old = [
            (each, weight) for each, weight, sent in sizes if sent > protected and weight > large
        ]
        return [each for each, _ in old] if sum(weight for _, weight in old) >= together else []

    def shorten(text: str) -> str:
        if len(text) <= 2 * MASK_CHARACTERS:
            return text
        return f"{text[:MASK_CHARACTERS]}\n[… masked …]\n{text[-MASK_CHARACTERS:]}"

    return _shortened(choose, shorten)


def floor(recording: Recording) -> ViewFunction:
    """Keep of each large result and argument only the values and lines that a later call uses.

    It knows the future: the least that a strategy could send without hiding anything that the agent
    then wrote.
    """
    edited = EditedList()
    whole = EditedList().read(recording.messages)
    later_values, later_lines = _used_later(whole, values_of), _used_later(whole, lines_of)

    def keep(number: int, text: str) -> str:
        lines = "\n".join(sorted(lines_of(text) & later_lines[number]))
        values = sorted(values_of(text) & later_values[number])
        return "\n".join([lines, " ".join(each for each in values if each not in lines)]).strip()

    def view(items: list[Item]) -> list[Item]:
        start = len(edited.view)
        fresh = edited.read(items)
        for number, message in enumerate(fresh, start=start):
            for at, part in enumerate(message.parts):
                if part.kind in ("result", "call") and tokens.count(part.text) > FLOOR_TOKENS:
                    kept = keep(number, part.text)
                    if isinstance(
                        message.held(part), dict
                    ):  # the provider demands an object of arguments
                        kept = json.dumps({"values": kept}, ensure_ascii=False)
                    edited.replace((number, at), kept)
        return write(edited.view)

    return view


def _used_later(messages: list[Message], terms_of: Callable[[str], set[str]]) -> list[set[str]]:
    """Return for each message the values, or lines, that any later assistant message uses."""
    used = uses(messages, terms_of)
    later: list[set[str]] = [set() for _ in messages]
    seen: set[str] = set()
    for number in range(len(messages) - 1, -1, -1):
        later[number] = set(seen)
        seen |= used.get(number, frozenset())
    return later


@dataclass(frozen=True, slots=True)
class Strategy:
    """A strategy with the name under which reports list it."""

    name: str
    make: Callable[[Recording], ViewFunction]


BASELINES = (
    Strategy("send everything", lambda _: send_everything()),
    Strategy("sliding window 32k", lambda _: sliding_window()),
    Strategy("clear over 100k, keep 3", lambda _: clear_old()),
    Strategy("clear over 40k, at least 20k", lambda _: clear_old(40_000, 3, 20_000)),
    Strategy("mask all but 10", lambda _: mask_observations()),
    Strategy("mask all but 10, by 10", lambda _: mask_observations(step=10)),
    Strategy("offload over 2.5k", lambda _: offload_on_arrival()),
    Strategy("evict over 20k", lambda _: evict_large()),
    Strategy("protect 50k, mask 30k", lambda _: protect_and_mask()),
)
FLOOR = Strategy("floor (clairvoyant)", floor)
EVERYTHING = BASELINES[0]
