"""OpenAI Chat Completions: its stream, its whole answers, and the requests that are not managed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from hippocampus.formats import openai_chat
from hippocampus.formats.conversation import Item, ToolResult
from hippocampus.integrations.proxy.apis.answer import (
    Block,
    ModelAnswer,
    Round,
    expected_blocks,
    results_of,
)
from hippocampus.integrations.proxy.events import Event, written

MAX_CALLS = 1_024
"""More than a model makes in one answer; a stream that counts further passes as it is."""


class ChatAnswer(ModelAnswer):
    """An answer of the Chat Completions API; its blocks are the tool calls."""

    ITEMS: ClassVar = "messages"
    ADAPTER: ClassVar = openai_chat
    TO_ANSWER: ClassVar = frozenset({"tool_calls", "stop"})

    def _begin(self) -> None:
        super()._begin()
        self.message: Item = {"role": "assistant", "content": None}
        """The message of this round, without its calls."""

    @classmethod
    def unmanaged(cls, request: dict[str, Any]) -> str:
        return "several choices" if (request.get("n") or 1) > 1 else ""

    @staticmethod
    def call_ids(item: Item) -> list[str]:
        return [str(call.get("id")) for call in item.get("tool_calls") or ()]

    def feed(self, event: Event) -> Iterator[bytes]:
        self.usage = event.data.get("usage") or self.usage
        choice = next(iter(event.data.get("choices") or ()), None)
        if choice is None:  # the usage, `[DONE]`, or a comment
            if not self.is_inside:
                yield event.content
            return
        delta = choice.get("delta") or {}
        passed = self._take_delta(delta)
        self.reason = choice.get("finish_reason") or self.reason
        if choice.get("finish_reason") and self.is_inside:
            if passed.keys() - {"role"}:
                yield written(_with_delta(event.data, passed, None))
        elif passed == delta:
            yield event.content
        elif passed.keys() - {"role"} or choice.get("finish_reason"):
            yield written(_with_delta(event.data, passed, choice.get("finish_reason")))

    def _take_delta(self, delta: dict[str, Any]) -> dict[str, Any]:
        """Take a delta into the round, and return the part of it that the host may see."""
        for name, value in delta.items():
            if isinstance(value, str) and name != "role":
                self.message[name] = (self.message.get(name) or "") + value
            elif isinstance(value, list) and name != "tool_calls":
                self.message[name] = [*self.message.get(name, ()), *value]
        left_out = {"tool_calls", "role"} if self.rounds else {"tool_calls"}
        passed = {name: value for name, value in delta.items() if name not in left_out}
        calls = [call for call in map(self._take_piece, delta.get("tool_calls") or ()) if call]
        return {**passed, "tool_calls": calls} if calls else passed

    def _take_piece(self, piece: Block) -> Block | None:
        """Take a piece of a call; return it as the host may see it, or nothing if it is ours."""
        index = int(piece.get("index") or 0)
        if not 0 <= index < MAX_CALLS:
            raise ValueError(f"a call of an answer has the number {index}")
        while len(self.blocks) <= index:
            self.blocks.append({"type": "function"})
        block = self.blocks[index]
        for field in ("function", "custom"):
            for name, value in (piece.get(field) or {}).items():
                inner = block.setdefault(field, {})
                inner[name] = inner.get(name, "") + (value or "")
        block.update({name: piece[name] for name in ("id", "type") if piece.get(name)})
        if self.is_ours(block):
            return None
        before = sum(number < index for number in self.held)
        return {**piece, "index": index - before} if before else piece

    def take(self, body: dict[str, Any]) -> None:
        choice = body["choices"][0]
        self.message = {k: v for k, v in choice["message"].items() if k != "tool_calls"}
        self.blocks = expected_blocks(choice["message"].get("tool_calls") or [])
        self.reason = str(choice.get("finish_reason"))
        self.usage = body.get("usage") or {}

    def merged(self, body: dict[str, Any]) -> dict[str, Any]:
        first, *others = body["choices"]
        message = {**self.message, **self.as_item()[0]}
        return {**body, "choices": [{**first, "message": message}, *others]}

    def turn(self, results: Sequence[ToolResult]) -> list[Item]:
        calls = [block for block in self.blocks if self.is_ours(block)]
        return [{**self.message, "tool_calls": calls}, *openai_chat.tool_results(results)]

    def next_round(self, results: Sequence[ToolResult]) -> None:
        text = self.message.get("content") or ""
        super().next_round(results)
        self.rounds[-1].seen[:] = [text]

    def as_item(self) -> list[Item]:
        text = "".join(text for closed in self.rounds for text in closed.seen)
        content = text + (self.message.get("content") or "")
        message: Item = {"role": "assistant", "content": content or None}
        return [{**message, "tool_calls": self.seen} if self.seen else message]

    def is_call(self, block: Block) -> bool:
        return bool(block)

    @staticmethod
    def name_of(block: Block) -> str:
        function = block.get("function")
        return str(function.get("name")) if isinstance(function, dict) else ""

    def call_of(self, block: Block) -> tuple[str, Any]:
        return str(block.get("id")), block["function"].get("arguments") or "{}"

    @staticmethod
    def mark(block: Block) -> str:
        return str(block.get("id"))

    @classmethod
    def restored(cls, message: Sequence[Item], rounds: Sequence[Round]) -> list[Item]:
        rest = message[0]
        items: list[Item] = []
        for closed in rounds:
            if closed.is_joined:
                rest = {**rest, "tool_calls": [*(rest.get("tool_calls") or ()), *closed.calls]}
                continue
            content, [text] = rest.get("content"), closed.seen
            seen = text if text and str(content).startswith(text) else None
            if seen:
                rest = {**rest, "content": str(content).removeprefix(seen) or None}
            items.append({"role": "assistant", "content": seen, "tool_calls": closed.calls})
            items += openai_chat.tool_results(results_of(closed))
        return [*items, rest] if rest.get("content") or rest.get("tool_calls") else items


def _with_delta(chunk: dict[str, Any], delta: dict[str, Any], reason: str | None) -> dict[str, Any]:
    [choice, *others] = chunk["choices"]
    return {**chunk, "choices": [{**choice, "delta": delta, "finish_reason": reason}, *others]}
