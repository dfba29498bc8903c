"""Pydantic AI: a capability that sends the view and registers recall."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pydantic_ai import FunctionToolset, RunContext, Tool
from pydantic_ai import messages as of
from pydantic_ai.capabilities import AbstractCapability

from hippocampus.formats.conversation import Item
from hippocampus.integrations import adapter
from hippocampus.memory import Hippocampus

MAKE = {
    "user": lambda text: of.ModelRequest([of.UserPromptPart(text)]),
    "assistant": lambda text: of.ModelResponse([of.TextPart(text)]),
}


class HippocampusCapability(AbstractCapability[Any]):  # type: ignore[misc]
    """Sends the view of a conversation; the message history keeps all of it."""

    def __init__(self, memory: Hippocampus) -> None:
        """Take the memory; each `conversation_id` is one of its sessions."""
        super().__init__()
        cut = lambda own, start, end: replace(own, parts=own.parts[start:end])  # noqa: E731
        self._adapter = adapter.ConversationAdapter(memory, _read, _edit, MAKE, cut)

    async def prepare_model_request(self, ctx: RunContext[Any], request_context: Any) -> Any:
        """Put the view in place of the messages of one request."""
        view = await self._adapter.aview(str(ctx.conversation_id), request_context.messages)
        return replace(request_context, messages=view)

    def get_toolset(self) -> FunctionToolset[Any]:
        """Return the recall tool."""

        async def answer(ctx: RunContext[Any], **arguments: Any) -> str:
            return await self._adapter.aanswer(str(ctx.conversation_id), arguments)

        return FunctionToolset([Tool.from_schema(answer, *adapter.RECALL, takes_ctx=True)])


def _read(message: Any) -> list[Item]:
    """Return one chat message for an answer, and one for each part of a request."""
    if isinstance(message, of.ModelRequest):
        return [_read_part(part) for part in message.parts] or [{"role": "user", "content": ""}]
    item: Item = {"role": "assistant", "content": []}
    for part in message.parts:
        if isinstance(part, of.TextPart):
            item["content"].append({"type": "text", "text": part.content})
        elif isinstance(part, of.ToolCallPart):
            call = adapter.chat_call(part.tool_call_id, part.tool_name, part.args)
            item.setdefault("tool_calls", []).append(call)
    return [item]


def _read_part(part: Any) -> Item:
    own = getattr(part, "content", None)
    if isinstance(part, of.ToolReturnPart):
        text = own if isinstance(own, str) else part.model_response_str(wrap_if_error=False)
        return {"role": "tool", "tool_call_id": part.tool_call_id, "content": text}
    role = "user" if isinstance(part, of.UserPromptPart) else "system"
    return {"role": role, "content": adapter.text_in(own)}


def _edit(message: Any, changes: adapter.Numbered) -> Any:
    parts = list(message.parts)
    for number, change in changes:
        kind = of.ToolCallPart if change.kind == "call" else of.TextPart
        own = [at for at, part in enumerate(parts) if isinstance(part, kind)]
        at = own[change.part] if isinstance(message, of.ModelResponse) else number
        if change.kind == "call":
            parts[at] = replace(parts[at], args=change.text)
        else:
            given = getattr(parts[at], "files", None) or parts[at].content
            parts[at] = replace(parts[at], content=adapter.with_text(given, change.text))
    return replace(message, parts=parts)
