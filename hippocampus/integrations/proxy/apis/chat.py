"""OpenAI Chat Completions: its stream, its whole answers, and the requests that are not managed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from hippocampus.formats import openai_chat
from hippocampus.formats.conversation import Item, ToolResult, text_of
from hippocampus.integrations.proxy.apis.answer import Block, ModelAnswer, Round, expected_blocks
from hippocampus.integrations.proxy.events import Event, event_bytes

MAX_CALLS = 1_024
"""More than a model makes in one answer; a stream that counts further passes as it is."""


class ChatAnswer(ModelAnswer):
    """An answer of the Chat Completions API: the first block is the message, and each other one a call."""

    ITEMS: ClassVar = "messages"
    ADAPTER: ClassVar = openai_chat
    TO_ANSWER: ClassVar = frozenset({"tool_calls", "stop"})

    def _begin(self) -> None:
        super()._begin()
        self.blocks = [{"role": "assistant", "content": None}]
        self._places: dict[int, int] = {}
        """By the index of a call in the stream, its block."""

    @classmethod
    def unmanaged(cls, request: dict[str, Any]) -> str:
        return "several choices" if (request.get("n") or 1) > 1 else ""

    def feed(self, event: Event) -> Iterator[bytes]:
        self.usage = event.data.get("usage") or self.usage
        choice = next(iter(event.data.get("choices") or ()), None)
        if choice is None:  # the usage, `[DONE]`, or a comment
            if not self.is_inside:
                yield event.content
            return
        delta, reason = choice.get("delta") or {}, choice.get("finish_reason")
        passed = self._take_delta(delta)
        self.reason = reason or self.reason
        shown = None if reason and self.is_inside else reason
        if passed == delta and shown == reason:
            yield event.content
        elif passed.keys() - {"role"} or shown:
            changed = {**choice, "delta": passed, "finish_reason": shown}
            yield event_bytes({**event.data, "choices": [changed, *event.data["choices"][1:]]})

    def _take_delta(self, delta: dict[str, Any]) -> dict[str, Any]:
        """Take a delta into the round, and return the part of it that the host may see."""
        message = self.blocks[0]
        for name, value in delta.items():
            if isinstance(value, str) and name != "role":
                message[name] = (message.get(name) or "") + value
            elif isinstance(value, list) and name != "tool_calls":
                message[name] = [*message.get(name, ()), *value]
        left_out = {"tool_calls", "role"} if self.rounds else {"tool_calls"}
        passed = {name: value for name, value in delta.items() if name not in left_out}
        calls = [call for call in map(self._take_piece, delta.get("tool_calls") or ()) if call]
        return {**passed, "tool_calls": calls} if calls else passed

    def _take_piece(self, piece: Block) -> Block | None:
        """Take a piece of a call; return it as the host may see it, or nothing if it is ours."""
        index = int(piece.get("index") or 0)
        if not 0 <= index < MAX_CALLS:
            raise ValueError(f"a call of an answer has the number {index}")
        place, call_id = self._places.get(index), piece.get("id")
        is_named = bool(self.called(piece).get("name") and call_id)
        # Some servers give all calls of an answer one index, and others each piece an id of its own.
        if place is None or (is_named and self.blocks[place].get("id") not in {None, call_id}):
            place = self._places[index] = len(self.blocks)
            self.blocks.append({"type": "function"})
        block = self.blocks[place]
        for field in ("function", "custom"):
            for name, value in (piece.get(field) or {}).items():
                inner = block.setdefault(field, {})
                inner[name] = inner.get(name, "") + (value or "")
        block.update({name: piece[name] for name in ("id", "type") if piece.get(name)})
        if self.is_ours(block):
            return None
        before = sum(number < place for number in self.held)
        return {**piece, "index": max(0, index - before)} if before else piece

    def take(self, body: dict[str, Any]) -> None:
        choice = body["choices"][0]
        self.blocks = expected_blocks(self.blocks_of([choice["message"]]))
        self.reason = str(choice.get("finish_reason"))
        self.usage = body.get("usage") or {}

    def merge(self, body: dict[str, Any]) -> dict[str, Any]:
        first, *others = body["choices"]
        return {**body, "choices": [{**first, "message": self.as_item()[0]}, *others]}

    @staticmethod
    def blocks_of(message: Sequence[Item]) -> list[Block]:
        own = {name: value for name, value in message[0].items() if name != "tool_calls"}
        return [{"role": "assistant", **own}, *(message[0].get("tool_calls") or ())]

    @classmethod
    def message_of(cls, blocks: list[Block], message: Sequence[Item] = ()) -> list[Item]:  # noqa: ARG003
        calls = [block for block in blocks if cls.is_call(block)]
        *earlier, last = [block for block in blocks if not cls.is_call(block)]
        text = "".join(cls.mark(block) for block in earlier)
        found = {**last, "content": text + cls.mark(last) or None} if text else last
        return [{**found, "tool_calls": calls} if calls else found]

    @staticmethod
    def is_call(block: Block) -> bool:
        return "role" not in block

    @staticmethod
    def called(block: Block) -> Block:
        function = block.get("function")
        return function if isinstance(function, dict) else {}

    @classmethod
    def mark(cls, block: Block) -> str:
        return str(block.get("id")) if cls.is_call(block) else text_of(block.get("content"))

    def closed_round(self, results: Sequence[ToolResult]) -> Round:
        return super().closed_round(results)._replace(message=self.blocks[0])

    @classmethod
    def divide(cls, blocks: list[Block], closed: Round) -> tuple[list[Block], list[Block]]:
        # A host has the texts of all rounds as one.
        message, *calls = blocks
        [text], content = closed.seen, message.get("content")
        first = closed.message or {"role": "assistant", "content": text or None}
        if not text:
            return [first], blocks
        if not str(content).startswith(text):  # the host has changed it, and has it still
            return [{**first, "content": None}], blocks
        rest = {**message, "content": str(content).removeprefix(text) or None}
        return [first], [rest, *calls]
