"""AG2: a plugin that sends the view and registers recall."""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from typing import Any

from ag2 import Plugin, tools
from ag2 import events as of
from ag2.middleware import BaseMiddleware, Middleware

from hippocampus.formats.conversation import Item
from hippocampus.integrations import adapter
from hippocampus.memory import Hippocampus

MAKE = {
    "user": lambda text: of.ModelRequest([of.TextInput(text)]),
    "assistant": lambda text: of.ModelResponse(of.ModelMessage(text)),
}
TEXTS = of.TextInput, of.DataInput
NAME, DESCRIPTION, SCHEMA = adapter.RECALL


class HippocampusAg2Plugin(Plugin):  # type: ignore[misc]
    """Sends the view of a stream's events; its history keeps all of them."""

    def __init__(self, memory: Hippocampus) -> None:
        """Take the memory; each stream is one of its sessions, by its id."""
        conversations = adapter.ConversationAdapter(memory, _read, _edit, MAKE, "results")
        recall = tools.tool(_unanswered, name=NAME, description=DESCRIPTION, schema=SCHEMA)
        middleware = Middleware(ViewMiddleware, conversations=conversations)
        super().__init__(tools=[recall], middleware=[middleware])


def _unanswered() -> str:
    return "recall failed: the middleware of the plugin is not in place"


class ViewMiddleware(BaseMiddleware):  # type: ignore[misc]
    """Sends the view of each model call, and answers recall."""

    def __init__(self, event: of.BaseEvent, context: Any, *, conversations: Any) -> None:
        """Take the adapter, and what AG2 passes for a turn."""
        super().__init__(event, context)
        self._conversations = conversations

    async def on_llm_call(
        self, call_next: Any, events: Sequence[of.BaseEvent], context: Any
    ) -> Any:
        """Call the model with the view."""
        view = await self._conversations.aview(str(context.stream.id), list(events))
        return await call_next(view, context)

    async def on_tool_execution(self, call_next: Any, event: of.ToolCallEvent, context: Any) -> Any:
        """Answer a recall; other tools run."""
        if event.name != NAME:
            return await call_next(event, context)
        found = await self._conversations.aanswer(str(context.stream.id), event.arguments)
        return of.ToolResultEvent.from_call(event, found)


def _read(event: of.BaseEvent) -> list[Item]:
    if isinstance(event, of.ModelRequest):
        return [adapter.chat_message("user", _text_of(event.parts))]
    if isinstance(event, of.ModelResponse):
        calls = [(each.id, each.name, each.arguments) for each in event.tool_calls.calls]
        text = event.message.content if event.message else ""
        return [adapter.chat_message("assistant", text, calls)]
    if isinstance(event, of.ToolResultsEvent):
        named = [(each.parent_id, _text_of(each.result.parts)) for each in event.results]
        return [adapter.chat_result(*each) for each in named]
    return []  # a record of usage, of a tool that began: no model is sent it


def _text_of(parts: Sequence[of.Input]) -> str:
    own = [each for each in parts if isinstance(each, TEXTS)]
    return "\n".join(getattr(each, "content", None) or json.dumps(each.data) for each in own)


def _edit(event: Any, kind: str, place: int, text: str) -> Any:
    edited = copy.deepcopy(event)
    if kind == "call":
        edited.tool_calls.calls[place].arguments = text
    elif isinstance(event, of.ModelResponse):
        edited.message.content = text
    else:
        own = edited.results[place].result if kind == "result" else edited
        others = [each for each in own.parts if not isinstance(each, TEXTS)]
        own.parts = [of.TextInput(text), *others]
    return edited
