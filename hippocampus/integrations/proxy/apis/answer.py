"""One answer of a model, in which calls of our recall tool are held back; common to all APIs.

Pure: the calls are answered, and requests are sent, elsewhere.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, NamedTuple

from hippocampus.formats.conversation import Item, ToolResult
from hippocampus.formats.reader import Adapter
from hippocampus.integrations.proxy.events import Event

Block = dict[str, Any]
"""A piece of an answer in the form of its API: content block, tool call or output item."""


class Round(NamedTuple):
    """One part of an answer that ended with calls of recall, which the host has not seen."""

    seen: list[str]
    """The marks of its blocks that the host has seen."""
    calls: list[Block]
    results: Sequence[ToolResult]
    is_joined: bool = False
    """Whether the host has calls of the same round to answer: then the results of both go together."""
    message: Block | None = None
    """In Chat Completions, the message that its blocks are of, with the provider's own fields."""


def expected_blocks(found: Any) -> list[Block]:
    """Return the blocks of an answer.

    Raises:
        TypeError: they are no list of objects.
    """
    if not isinstance(found, list) or not all(isinstance(block, dict) for block in found):
        raise TypeError("the blocks of an answer are no list of objects")
    return found


class ModelAnswer(ABC):
    """The answer to one request: the rounds in which recall was answered, and the present one.

    Of a stream, `feed` takes an event and returns the bytes to pass on; otherwise `take` takes the
    whole body and `merged` returns the one to pass on. When a round has ended and `is_inside`, it is
    answered without the host: `turn` returns the messages to append to the request, and the answer
    goes on with `next_round`.
    """

    ITEMS: ClassVar[str]
    """The name of the request's member that has the messages."""
    ADAPTER: ClassVar[Adapter]
    BLOCKS: ClassVar[str]
    """The name of an answer's member that has its blocks."""
    REASON: ClassVar[str]
    """The name of an answer's member that has the reason to end."""
    CALL_ID: ClassVar[str] = "id"
    """The name of a call's member that has its id."""
    ARGUMENTS: ClassVar[str] = "arguments"
    """The name of a call's member that has its arguments."""
    TO_ANSWER: ClassVar[frozenset[str]]
    """The reasons to end at which the model waits for the results of its calls."""

    def __init__(self, tool: str) -> None:
        self.tool = tool
        self.rounds: list[Round] = []
        self.earlier: list[Block] = []
        """The blocks of earlier rounds that the host has seen."""
        self._begin()

    def _begin(self) -> None:
        self.blocks: list[Block] = []
        """The blocks of this round."""
        self.reason = ""
        """Why the round ended."""
        self.usage: dict[str, Any] = {}
        """The usage that the provider reported of this round."""

    @classmethod
    def unmanaged(cls, request: dict[str, Any]) -> str:  # noqa: ARG003 - for those of one API
        """Return why a request of this API is not managed; empty if it is."""
        return ""

    @staticmethod
    def is_answer(item: Item) -> bool:
        """Return whether an item of a request is the model's."""
        return item.get("role") == "assistant"

    @abstractmethod
    def feed(self, event: Event) -> Iterable[bytes]:
        """Yield the bytes to pass on for an event of a stream."""

    def take(self, body: dict[str, Any]) -> None:
        """Read a whole answer as the present round."""
        self.reason = str(body.get(self.REASON))
        self.usage = body.get("usage") or {}
        self.blocks = expected_blocks(body.get(self.BLOCKS) or self.blocks)

    def merge(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the last round's body with what the host may see of all rounds."""
        return {**body, self.BLOCKS: [*self.earlier, *self.seen]}

    @staticmethod
    @abstractmethod
    def blocks_of(message: Sequence[Item]) -> list[Block]:
        """Return the blocks of an answer as a request has it."""

    @staticmethod
    @abstractmethod
    def message_of(blocks: list[Block], message: Sequence[Item] = ()) -> list[Item]:
        """Return blocks as an answer in a request, with the other fields of a message of the host."""

    @staticmethod
    @abstractmethod
    def is_call(block: Block) -> bool:
        """Return whether a block is a call that waits for a result from outside the provider."""

    @staticmethod
    @abstractmethod
    def mark(block: Block) -> str:
        """Return what identifies a block in a later request; empty for one without content."""

    @staticmethod
    def called(block: Block) -> Block:
        """Return the part of a call with the name of its tool and its arguments."""
        return block

    @classmethod
    def call_ids(cls, blocks: Iterable[Block]) -> list[str]:
        """Return the ids of the calls among blocks."""
        return [str(block.get(cls.CALL_ID)) for block in blocks if cls.is_call(block)]

    def is_ours(self, block: Block) -> bool:
        """Return whether a block is a call of our tool."""
        return self.is_call(block) and self.called(block).get("name") == self.tool

    @property
    def held(self) -> set[int]:
        """Return the numbers of the blocks of this round that are held back, as the API counts them."""
        return {number for number, block in enumerate(self.blocks) if self.is_ours(block)}

    def place(self, number: int) -> int:
        """Return the number under which the host sees a block of this round."""
        return len(self.earlier) + number - sum(index < number for index in self.held)

    @property
    def calls(self) -> list[tuple[str, Any]]:
        """Return the calls of recall in the present round: their ids, and their arguments as the model wrote them."""
        own = [block for block in self.blocks if self.is_ours(block)]
        arguments = [self.called(block).get(self.ARGUMENTS) or "{}" for block in own]
        return [*zip(self.call_ids(own), arguments, strict=True)]

    @property
    def seen(self) -> list[Block]:
        """Return the blocks of the present round that the host may see."""
        return [block for block in self.blocks if not self.is_ours(block)]

    @property
    def is_inside(self) -> bool:
        """Return whether the round waits for results of recall, and for nothing else."""
        return self._waits and not any(map(self.is_call, self.seen))

    @property
    def is_mixed(self) -> bool:
        """Return whether the round waits for results of recall and of the host's tools."""
        return self._waits and any(map(self.is_call, self.seen))

    @property
    def _waits(self) -> bool:
        return self.reason in self.TO_ANSWER and bool(self.calls)

    @property
    def is_changed(self) -> bool:
        """Return whether the host sees another answer than the provider sent."""
        return bool(self.rounds or self.held)

    def closed_round(self, results: Sequence[ToolResult]) -> Round:
        """Return the present round, to be restored in later requests."""
        calls = [block for block in self.blocks if self.is_ours(block)]
        return Round([self.mark(block) for block in self.seen], calls, results, self.is_mixed)

    def next_round(self, results: Sequence[ToolResult]) -> None:
        """Begin the next round, once the present one was answered inside."""
        self.rounds.append(self.closed_round(results))
        self.earlier += self.seen
        self._begin()

    def turn(self, results: Sequence[ToolResult]) -> list[Item]:
        """Return the present round and the results of its calls as messages of a request."""
        return [*self.message_of(self.blocks), *self.ADAPTER.tool_results(results)]

    def as_item(self) -> list[Item]:
        """Return the answer so far as the host has it in its next request."""
        return self.message_of([*self.earlier, *self.seen])

    @classmethod
    def restore(cls, message: Sequence[Item], rounds: Sequence[Round]) -> list[Item]:
        """Return the host's message with the rounds before it that the host has not seen.

        The last message has the calls of a joined round; the caller adds their results.
        """
        items, rest = list[Item](), cls.blocks_of(message)
        for closed in rounds:
            if closed.is_joined:
                rest += closed.calls
                continue
            seen, rest = cls.divide(rest, closed)
            items += cls.message_of([*seen, *closed.calls])
            items += cls.ADAPTER.tool_results(closed.results)
        is_empty = not any(map(cls.mark, rest))
        return items if is_empty else [*items, *cls.message_of(rest, message)]

    @classmethod
    def divide(cls, blocks: list[Block], closed: Round) -> tuple[list[Block], list[Block]]:
        """Return the first blocks, which have the marks of a round, and the rest.

        A host may leave some of them out, such as thinking.
        """
        count = 0
        for mark in closed.seen:
            count += count < len(blocks) and cls.mark(blocks[count]) == mark
        return blocks[:count], blocks[count:]
