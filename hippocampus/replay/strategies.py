"""The strategies that replay compares: functions `messages -> messages`, as a host's loop calls them.

The defaults are those of the tools named in the docstrings. A recording has a new instance of the
strategy, which is called before every recorded answer.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable

from hippocampus.formats.conversation import Item, Message, Part, with_texts, write
from hippocampus.formats.reader import Reading, read_on
from hippocampus.models import tokens
from hippocampus.replay.measure import ViewFunction
from hippocampus.replay.recording import Recording
from hippocampus.replay.uses import lines_of, uses, values_of
from hippocampus.session.compaction import head_end

Position = tuple[int, int]
"""The numbers of a message and of its part."""
Result = tuple[Position, Part]

SLIDING_TOKENS = 32_000
CLEAR_TOKENS, CLEAR_KEPT = 100_000, 3
MASK_KEPT = 10
OFFLOAD_TOKENS, OFFLOAD_CHARACTERS = 2_500, 4_000
EVICT_CHARACTERS, EVICT_LINES, EVICT_LINE_CHARACTERS = 80_000, 5, 1_000
PROTECTED_TOKENS, PROTECT_TOGETHER, PROTECT_OVER_TOKENS = 50_000, 30_000, 200
PROTECT_CHARACTERS = 250
FLOOR_TOKENS = 150


class EditedList:
    """A growing list and its view, in which edits are permanent."""

    def __init__(self) -> None:
        self._reading = Reading()
        self.view: list[Message] = []
        self.weights: list[int] = []
        """The tokens of each message of the view."""
        self.results: list[Result] = []

    def read(self, items: list[Item]) -> list[Message]:
        """Read the list of this call and return its new messages."""
        reading = self._reading = read_on(self._reading, items)
        fresh = reading.messages[len(self.view) :]
        for message in fresh:
            number = len(self.view)
            self.view.append(message)
            self.weights.append(tokens.count_message(message))
            parts = enumerate(message.parts)
            self.results += [((number, at), part) for at, part in parts if part.kind == "result"]
        return list(fresh)

    def replace(self, place: Position, text: str) -> None:
        """Replace the text of a part, from this call on."""
        number, at = place
        self.view[number] = with_texts(self.view[number], {at: text}, (at,))
        self.weights[number] = tokens.count_message(self.view[number])


def send_everything() -> ViewFunction:
    """Send the list unchanged."""
    return list


def sliding_window(keep_tokens: int = SLIDING_TOKENS) -> ViewFunction:
    """Send the system messages, the first user message and as many of the newest messages as fit.

    Source: LangChain's `trim_messages`. The window starts at a message of the user or the assistant,
    so that no result is without its call.
    """
    edited = EditedList()

    def view(items: list[Item]) -> list[Item]:
        edited.read(items)
        kept = head_end(edited.view)
        start, total = len(edited.view), 0
        for number in range(len(edited.view) - 1, kept - 1, -1):
            total += edited.weights[number]
            if total > keep_tokens:
                break
            role, parts = edited.view[number].role, edited.view[number].parts
            if role == "assistant" or (role == "user" and all(p.kind != "result" for p in parts)):
                start = number
        return write([*edited.view[:kept], *edited.view[start:]])

    return view


def _shortening(
    choose: Callable[[EditedList, list[Result]], list[Result]], shorten: Callable[[str], str]
) -> ViewFunction:
    """Shorten the results that `choose` returns, given the results that were not shortened before."""
    edited, done = EditedList(), set[Position]()

    def view(items: list[Item]) -> list[Item]:
        edited.read(items)
        whole = [result for result in edited.results if result[0] not in done]
        for place, part in choose(edited, whole):
            done.add(place)
            if part.text and (short := shorten(part.text)) != part.text:
                edited.replace(place, short)
        return write(edited.view)

    return view


def clear_old(over_tokens: int = CLEAR_TOKENS, at_least: int = 0) -> ViewFunction:
    """Clear all but the last results in every call whose view is over a trigger.

    Source: LangChain's `ClearToolUsesEdit` and Anthropic's `clear_tool_uses_20250919`, with their
    defaults (100,000 tokens, 3 kept).
    """

    def choose(edited: EditedList, results: list[Result]) -> list[Result]:
        old = results[:-CLEAR_KEPT] if sum(edited.weights) > over_tokens else []
        return old if sum(tokens.count(part.text) for _, part in old) >= at_least else []

    return _shortening(choose, lambda _: "[cleared]")


def mask_observations(step: int = 1) -> ViewFunction:
    """Replace all results but the first and the last 10 by one line.

    Source: JetBrains' "The Complexity Trap" (Lindenbauer et al. 2025) and SWE-agent's
    `last_n_observations`; `step` is the number masked at a time (SWE-agent's `polling`).
    """

    def choose(_: EditedList, results: list[Result]) -> list[Result]:
        old = results[1:-MASK_KEPT]
        return old if len(old) >= step else []

    def shorten(text: str) -> str:
        lines = text.count("\n") + 1
        return f"Old output omitted ({lines} lines)"

    return _shortening(choose, shorten)


def offload_on_arrival() -> ViewFunction:
    """Replace a large result, on arrival, by its first 4,000 characters and a notice.

    Source: Strands Agents' tool-result offloading (2,500 tokens, a preview of 1,000).
    """

    def shorten(text: str) -> str:
        if tokens.count(text) <= OFFLOAD_TOKENS:
            return text
        return f"{text[:OFFLOAD_CHARACTERS]}\n[offloaded: {len(text)} characters in all]"

    return _shortening(lambda _, results: results, shorten)


def evict_large() -> ViewFunction:
    """Keep the first and last five lines of results over 80,000 characters.

    Source: LangChain deepagents' filesystem middleware (20,000 tokens of 4 characters).
    """

    def shorten(text: str) -> str:
        if len(text) <= EVICT_CHARACTERS:
            return text
        lines = [line[:EVICT_LINE_CHARACTERS] for line in text.splitlines()]
        if len(lines) > 2 * EVICT_LINES:
            lines = [*lines[:EVICT_LINES], "[…]", *lines[-EVICT_LINES:]]
        return "\n".join(lines)

    return _shortening(lambda _, results: results, shorten)


def protect_and_mask() -> ViewFunction:
    """Mask results beyond the newest 50,000 tokens once they add up to 30,000.

    Source: gemini-cli's tool-output masking. Results over 200 tokens are masked, and keep their
    first and last 250 characters.
    """

    def choose(_: EditedList, results: list[Result]) -> list[Result]:
        weights = [tokens.count(part.text) for _, part in results]
        newer = itertools.accumulate(reversed(weights))
        sizes = zip(reversed(results), reversed(weights), newer, strict=True)
        old = [
            (found, size)
            for found, size, sent in sizes
            if sent > PROTECTED_TOKENS and size > PROTECT_OVER_TOKENS
        ]
        is_enough = sum(size for _, size in old) >= PROTECT_TOGETHER
        return [found for found, _ in old] if is_enough else []

    def shorten(text: str) -> str:
        if len(text) <= 2 * PROTECT_CHARACTERS:
            return text
        return f"{text[:PROTECT_CHARACTERS]}\n[… masked …]\n{text[-PROTECT_CHARACTERS:]}"

    return _shortening(choose, shorten)


def floor(recording: Recording) -> ViewFunction:
    """Reduce large results and arguments to the values and lines that a later call uses.

    It knows the future: no strategy can send less without hiding something that the agent wrote.
    """
    edited = EditedList()
    whole = EditedList().read(recording.messages)
    later_values, later_lines = _used_later(whole, values_of), _used_later(whole, lines_of)

    def keep(number: int, text: str) -> str:
        lines = "\n".join(sorted(lines_of(text) & later_lines[number]))
        values = sorted(values_of(text) & later_values[number])
        return "\n".join([lines, " ".join(value for value in values if value not in lines)]).strip()

    def view(items: list[Item]) -> list[Item]:
        start = len(edited.view)
        fresh = edited.read(items)
        for number, message in enumerate(fresh, start=start):
            for at, part in enumerate(message.parts):
                if part.kind in ("result", "call") and tokens.count(part.text) > FLOOR_TOKENS:
                    kept = keep(number, part.text)
                    if isinstance(message.held(part), dict):  # arguments have to be an object
                        kept = json.dumps({"values": kept}, ensure_ascii=False)
                    edited.replace((number, at), kept)
        return write(edited.view)

    return view


def _used_later(messages: list[Message], terms_of: Callable[[str], set[str]]) -> list[set[str]]:
    """Return, by message, the values or lines that a later assistant message uses."""
    used = uses(messages, terms_of)
    later: list[set[str]] = [set() for _ in messages]
    seen: set[str] = set()
    for number in range(len(messages) - 1, -1, -1):
        later[number] = set(seen)
        seen |= used.get(number, frozenset())
    return later


OURS, EVERYTHING, FLOOR = "hippocampus", "send everything", "floor (clairvoyant)"
BASELINES: dict[str, Callable[[], ViewFunction]] = {
    EVERYTHING: send_everything,
    "sliding window 32k": sliding_window,
    "clear over 100k, keep 3": clear_old,
    "clear over 40k, at least 20k": lambda: clear_old(40_000, 20_000),
    "mask all but 10": mask_observations,
    "mask all but 10, by 10": lambda: mask_observations(step=10),
    "offload over 2.5k": offload_on_arrival,
    "evict over 20k": evict_large,
    "protect 50k, mask 30k": protect_and_mask,
}
"""What makes a strategy, by its name in reports; `FLOOR` is the name of `floor`."""
