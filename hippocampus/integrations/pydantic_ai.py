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


class HippocampusCapability(AbstractCapability[Any]):  # type: ignore[misc]
    """Sends the view of a conversation; the message history keeps all of it."""

    def __init__(self, memory: Hippocampus) -> None:
        """Take the memory; a `conversation_id` is one of its sessions."""
        super().__init__()
        self._adapter = adapter.ConversationAdapter(memory, _read, _edit, _make, "parts")

    async def prepare_model_request(self, ctx: RunContext[Any], request_context: Any) -> Any:
        """Put the view in place of the messages of one request."""
        view = await self._adapter.aview(str(ctx.conversation_id), request_context.messages)
        return replace(request_context, messages=view)

    def get_toolset(self) -> FunctionToolset[Any]:
        """Return the recall tool."""

        async def answer(ctx: RunContext[Any], **arguments: Any) -> str:
            return await self._adapter.aanswer(str(ctx.conversation_id), arguments)

        return FunctionToolset([Tool.from_schema(answer, *adapter.RECALL, takes_ctx=True)])


def _make(role: str, text: str) -> Any:
    if role == "user":
        return of.ModelRequest([of.UserPromptPart(text)])
    return of.ModelResponse([of.TextPart(text)])


def _read(message: Any) -> list[Item]:
    """Return one chat message for an answer, and one per part of a request."""
    if isinstance(message, of.ModelRequest):
        return [_read_part(part) for part in message.parts] or [adapter.chat_message("user", "")]
    texts = [part.content for part in message.parts if isinstance(part, of.TextPart)]
    calls = [part for part in message.parts if isinstance(part, of.ToolCallPart)]
    blocks = [{"type": "text", "text": text} for text in texts]
    named = [(call.tool_call_id, call.tool_name, call.args) for call in calls]
    return [adapter.chat_message("assistant", blocks, named)]


def _read_part(part: Any) -> Item:
    if isinstance(part, of.ToolReturnPart):
        return adapter.chat_result(part.tool_call_id, part.model_response_str(wrap_if_error=False))
    role = "user" if isinstance(part, of.UserPromptPart) else "system"
    return adapter.chat_message(role, adapter.text_in(getattr(part, "content", None)))


def _edit(message: Any, kind: str, place: int, text: str) -> Any:
    at = place
    if isinstance(message, of.ModelResponse):
        own = of.ToolCallPart if kind == "call" else of.TextPart
        at = [n for n, part in enumerate(message.parts) if isinstance(part, own)][place]
    part = message.parts[at]
    if kind == "call":
        changed = replace(part, args=text)
    elif kind == "result":
        changed = replace(part, content=[text, *part.files] if part.files else text)
    else:
        changed = replace(part, content=adapter.with_text(part.content, text))
    return replace(message, parts=adapter.with_value(message.parts, at, changed))
