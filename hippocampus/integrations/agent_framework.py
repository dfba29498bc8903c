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

MAKE = {role: lambda text, role=role: Message(role, [text]) for role in ("user", "assistant")}


class HippocampusChatMiddleware(ChatMiddleware):  # type: ignore[misc]
    """Sends the view of an agent session; its history keeps all messages. `recall` is the tool."""

    def __init__(self, memory: Hippocampus) -> None:
        """Take the memory; each `AgentSession` is one of its sessions."""
        self._adapter = adapter.ConversationAdapter(memory, _read, _edit, MAKE, _cut)

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
    results = [each for each in message.contents if each.type == "function_result"]
    if results:
        return [
            {"role": "tool", "tool_call_id": each.call_id, "content": str(each.result or "")}
            for each in results
        ]
    item: Item = {"role": message.role, "content": message.text}
    calls = [each for each in message.contents if each.type == "function_call"]
    if calls:
        named = [(each.call_id, each.name, each.arguments) for each in calls]
        item["tool_calls"] = [adapter.chat_call(*each) for each in named]
    return [item]


def _edit(message: Message, changes: adapter.Numbered) -> Message:
    edited = _cut(message, 0, len(message.contents))
    for number, change in changes:
        kind = {"call": "function_call", "result": "function_result"}.get(change.kind, "text")
        places = [at for at, each in enumerate(message.contents) if each.type == kind]
        at = places[change.part if kind == "function_call" else number]
        part = edited.contents[at] = copy.copy(message.contents[at])
        if kind == "function_call":
            part.arguments = change.text
        elif kind == "function_result":
            part.result, part.items = change.text, [Content.from_text(change.text)]
        else:
            part.text = change.text
            others = places[1:]
            edited.contents = [each for n, each in enumerate(edited.contents) if n not in others]
    return edited


def _cut(message: Message, start: int, end: int) -> Message:
    part = copy.copy(message)
    part.contents = message.contents[start:end]
    return part
