"""Microsoft Agent Framework: a chat middleware that sends the view, and the recall tool."""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable
from typing import Any

from agent_framework import (
    ChatContext,
    ChatMiddleware,
    Content,
    FunctionInvocationContext,
    FunctionTool,
    Message,
)

from hippocampus.formats.conversation import Item
from hippocampus.integrations import adapter
from hippocampus.memory import Hippocampus


class HippocampusChatMiddleware(ChatMiddleware):  # type: ignore[misc]
    """Sends the view of an agent session; its history keeps all messages. `recall` is the tool."""

    def __init__(self, memory: Hippocampus) -> None:
        """Take the memory; an `AgentSession` is one of its sessions."""
        self._adapter = adapter.ConversationAdapter(
            memory, _read, _edit, lambda role, text: Message(role, [text]), "contents"
        )

        async def answer(ctx: FunctionInvocationContext, **arguments: Any) -> str:
            if ctx.session is None:
                return "recall failed: the agent runs without a session"
            return await self._adapter.aanswer(ctx.session.session_id, arguments)

        answer.__annotations__["ctx"] = FunctionInvocationContext
        name, words, schema = adapter.RECALL
        self.recall = FunctionTool(name=name, description=words, func=answer, input_model=schema)

    async def process(self, context: ChatContext, call_next: Callable[[], Awaitable[None]]) -> None:
        """Put the view in place of the messages of one model call."""
        session = context.session
        if session is not None and session.service_session_id is None:
            context.messages = await self._adapter.aview(session.session_id, context.messages)
        await call_next()


def _read(message: Message) -> list[Item]:
    results = [part for part in message.contents if part.type == "function_result"]
    if results:
        return [adapter.chat_result(result.call_id, str(result.result or "")) for result in results]
    calls = [part for part in message.contents if part.type == "function_call"]
    named = [(call.call_id, call.name, call.arguments) for call in calls]
    return [adapter.chat_message(message.role, message.text, named)]


def _edit(message: Message, kind: str, place: int, text: str) -> Message:
    own = {"call": "function_call", "result": "function_result"}.get(kind, "text")
    places = [at for at, part in enumerate(message.contents) if part.type == own]
    edited, at = copy.copy(message), places[place]
    part = copy.copy(message.contents[at])
    edited.contents = adapter.with_value(message.contents, at, part)
    if kind == "call":
        part.arguments = text
    elif kind == "result":
        part.result, part.items = text, [Content.from_text(text)]
    else:
        part.text = text
        edited.contents = [part for n, part in enumerate(edited.contents) if n not in places[1:]]
    return edited
