"""AG2: a plugin that sends the view and registers recall."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from ag2 import Plugin, tools
from ag2 import events as of
from ag2.middleware import BaseMiddleware, Middleware
from pydantic_core import to_json

from hippocampus.formats.conversation import Item
from hippocampus.integrations import adapter
from hippocampus.memory import Hippocampus

TEXTS = of.TextInput, of.DataInput


class HippocampusAg2Plugin(Plugin):  # type: ignore[misc]
    """Sends the view of a stream's events; its history keeps them all."""

    def __init__(self, memory: Hippocampus) -> None:
        """Take the memory; a stream is one of its sessions, by its id."""
        conversations = adapter.ConversationAdapter(memory, _read, _edit, _make, "results")

        def stub() -> None:
            """Is never called: `answer` takes its calls."""

        async def answer(_: Any, event: of.ToolCallEvent, context: Any) -> Any:
            found = await conversations.aanswer(str(context.stream.id), event.arguments)
            return of.ToolResultEvent.from_call(event, found)

        class ViewMiddleware(BaseMiddleware):  # type: ignore[misc]
            async def on_llm_call(self, call_next: Any, events: Any, context: Any) -> Any:
                view = await conversations.aview(str(context.stream.id), list(events))
                return await call_next(view, context)

        name, words, schema = adapter.RECALL
        recall = tools.tool(stub, name=name, description=words, schema=schema, middleware=[answer])
        super().__init__(tools=[recall], middleware=[Middleware(ViewMiddleware)])


def _make(role: str, text: str) -> of.BaseEvent:
    if role == "user":
        return of.ModelRequest([of.TextInput(text)])
    return of.ModelResponse(of.ModelMessage(text))


def _read(event: of.BaseEvent) -> list[Item]:
    if isinstance(event, of.ModelRequest):
        return [adapter.chat_message("user", _text_of(event.parts))]
    if isinstance(event, of.ModelResponse):
        calls = [(call.id, call.name, call.arguments) for call in event.tool_calls.calls]
        text = event.message.content if event.message else ""
        return [adapter.chat_message("assistant", text, calls)]
    if isinstance(event, of.ToolResultsEvent):
        named = [(result.parent_id, _text_of(result.result.parts)) for result in event.results]
        return [adapter.chat_result(call_id, text) for call_id, text in named]
    return []  # a record of usage, of a tool that began: no model is sent it


def _text_of(parts: Sequence[of.Input]) -> str:
    return "\n".join(
        part.content if isinstance(part, of.TextInput) else to_json(part.data).decode()
        for part in parts
        if isinstance(part, TEXTS)
    )


def _edit(event: Any, kind: str, place: int, text: str) -> Any:
    edited = copy.deepcopy(event)
    if kind == "call":
        edited.tool_calls.calls[place].arguments = text
    elif isinstance(event, of.ModelResponse):
        edited.message.content = text
    else:
        own = edited.results[place].result if kind == "result" else edited
        others = [part for part in own.parts if not isinstance(part, TEXTS)]
        own.parts = [of.TextInput(text), *others]
    return edited
