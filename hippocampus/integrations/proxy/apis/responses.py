"""OpenAI Responses: its stream, its whole answers, and the requests that are not managed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from hippocampus.formats import openai_responses
from hippocampus.formats.conversation import Item, text_of
from hippocampus.integrations.proxy.apis.answer import Block, ModelAnswer, expected_blocks
from hippocampus.integrations.proxy.events import Event, event_bytes

BEGINNINGS = {"response.created", "response.in_progress", "response.queued"}
CHANGED_ITEMS = {"response.output_item.added", "response.output_item.done"}
ENDS = {"response.completed", "response.incomplete", "response.failed"}
ANSWERED = ("_output", "_approval_response")
"""The endings of the types of items that answer a call."""
RUN_BY_THE_PROVIDER = {
    "web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call",
    "mcp_call",
}  # fmt: skip


class ResponsesAnswer(ModelAnswer):
    """An answer of the Responses API; its blocks are the output items."""

    ITEMS: ClassVar = "input"
    ADAPTER: ClassVar = openai_responses
    BLOCKS: ClassVar = "output"
    REASON: ClassVar = "status"
    CALL_ID: ClassVar = "call_id"
    TO_ANSWER: ClassVar = frozenset({"completed"})

    def __init__(self, tool: str) -> None:
        super().__init__(tool)
        self._events = 0
        """How many events were passed on, as the API numbers them."""
        self._id = ""
        """The id under which the host knows the answer: that of the first round."""

    @classmethod
    def unmanaged(cls, request: dict[str, Any]) -> str:
        if request.get("background"):
            return "in the background"
        # Where the provider stores the answer, the agent's next request may send only the new items.
        items = request.get("input")
        begins = isinstance(items, str) or not any(map(cls.is_answer, items or ()))
        return "first and stored" if begins and request.get("store") is not False else ""

    @staticmethod
    def is_answer(item: Item) -> bool:
        kind = str(item.get("type"))
        return item.get("role", "assistant") == "assistant" and not kind.endswith(ANSWERED)

    def feed(self, event: Event) -> Iterator[bytes]:
        data, kind = event.data, str(event.data.get("type"))
        if kind in BEGINNINGS:
            self._id = self._id or data["response"]["id"]
        elif kind in CHANGED_ITEMS:
            at = data["output_index"]
            self.blocks[at : at + 1] = expected_blocks([data["item"]])
        elif kind in ENDS:
            self.take(data["response"])
        index = data.get("output_index")
        is_begun, goes_on = kind in BEGINNINGS and self.rounds, kind in ENDS and self.is_inside
        if is_begun or goes_on or index in self.held:
            return
        if not self.is_changed or not data:
            yield event.content
        else:
            # The provider's own numbers would have gaps, and begin anew with each round.
            changed = {**data, "sequence_number": self._events}
            if index is not None:
                changed["output_index"] = self.place(index)
            if kind in ENDS:
                changed["response"] = self.merge(data["response"])
            yield event_bytes(changed, kind)
        self._events += 1

    def merge(self, body: dict[str, Any]) -> dict[str, Any]:
        return {**super().merge(body), "id": self._id or body["id"]}

    @staticmethod
    def blocks_of(message: Sequence[Item]) -> list[Block]:
        return list(message)

    @staticmethod
    def message_of(blocks: list[Block], message: Sequence[Item] = ()) -> list[Item]:  # noqa: ARG004
        return blocks

    @staticmethod
    def is_call(block: Block) -> bool:
        kind = str(block.get("type"))
        return kind.endswith(("_call", "_approval_request")) and kind not in RUN_BY_THE_PROVIDER

    @staticmethod
    def mark(block: Block) -> str:
        text = text_of(block.get("content")) or block.get("encrypted_content")
        return f"{block.get('type', 'message')} {str(text or block.get('id')).strip()}"
