"""Anthropic Messages: its stream, and its whole answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from hippocampus.formats import anthropic, json_text
from hippocampus.formats.conversation import Item
from hippocampus.integrations.proxy.apis.answer import Block, ModelAnswer
from hippocampus.integrations.proxy.events import Event, event_bytes

DELTAS = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}
"""The deltas that append to a text, with the name that the text has in them."""


class MessagesAnswer(ModelAnswer):
    """An answer of the Messages API."""

    ITEMS: ClassVar = "messages"
    ADAPTER: ClassVar = anthropic
    BLOCKS: ClassVar = "content"
    REASON: ClassVar = "stop_reason"
    ARGUMENTS: ClassVar = "input"
    TO_ANSWER: ClassVar = frozenset({"tool_use"})

    def feed(self, event: Event) -> Iterator[bytes]:
        data, kind = event.data, str(event.data.get("type"))
        self._read(kind, data)
        index = data.get("index")
        is_begun = kind == "message_start" and self.rounds
        goes_on = kind in {"message_delta", "message_stop"} and self.is_inside
        if is_begun or goes_on or index in self.held:
            return
        place = index if index is None else self.place(index)
        yield event.content if place == index else event_bytes({**data, "index": place}, kind)

    def _read(self, kind: str, data: dict[str, Any]) -> None:
        """Take an event into the round."""
        if kind == "message_start":
            self.usage = dict(data["message"].get("usage") or {})
        elif kind == "content_block_start":
            self.blocks.append(dict(data["content_block"]))
        elif kind == "content_block_delta":
            _extend(self.blocks[-1], data["delta"])
        elif kind == "content_block_stop":
            # The arguments of a call are whole; unreadable ones stay a text in an object.
            if arguments := self.blocks[-1].pop("partial_json", ""):
                value = json_text.read(arguments)
                is_object = isinstance(value, dict)
                self.blocks[-1]["input"] = value if is_object else {"unreadable": arguments}
        elif kind == "message_delta":
            self.reason = str(data["delta"].get("stop_reason"))
            counts = data.get("usage") or {}
            self.usage.update({name: n for name, n in counts.items() if n is not None})

    @staticmethod
    def blocks_of(message: Sequence[Item]) -> list[Block]:
        content = message[0].get("content") or ()
        return [{"type": "text", "text": content}] if isinstance(content, str) else [*content]

    @staticmethod
    def message_of(blocks: list[Block], message: Sequence[Item] = ()) -> list[Item]:
        given = message[0] if message else {"role": "assistant"}
        return [{**given, "content": blocks}]

    @staticmethod
    def is_call(block: Block) -> bool:
        return block.get("type") == "tool_use"

    @staticmethod
    def mark(block: Block) -> str:
        text = block.get("text") or block.get("signature") or block.get("id") or block.get("data")
        return f"{block.get('type')} {str(text).strip()}"


def _extend(block: Block, delta: dict[str, Any]) -> None:
    """Append a delta to the block that it belongs to."""
    kind = delta.get("type")
    if kind in DELTAS:
        name = DELTAS[kind]
        block[name] = block.get(name, "") + delta[name]
    elif kind == "signature_delta":
        block["signature"] = delta["signature"]
    elif kind == "citations_delta":
        block["citations"] = [*(block.get("citations") or ()), delta["citation"]]
