"""LangChain, LangGraph and deepagents: a middleware that sends the view and registers recall."""

from __future__ import annotations

import json
from typing import Any

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain.tools import ToolRuntime
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langchain_core.tools import StructuredTool

from hippocampus.formats.conversation import Item
from hippocampus.integrations import adapter
from hippocampus.memory import Hippocampus

ROLES = {"ai": "assistant", "tool": "tool", "system": "system"}
MAKE = {"user": HumanMessage, "assistant": AIMessage}


class HippocampusMiddleware(AgentMiddleware):  # type: ignore[misc]
    """Sends the view of a thread's messages; state and checkpoints keep all of them."""

    def __init__(self, memory: Hippocampus) -> None:
        """Take the memory; a thread, or a sub-graph's run in it, is one of its sessions."""
        super().__init__()
        self._adapter = adapter.ConversationAdapter(memory, _read, _edit, MAKE)

        def answer(runtime: ToolRuntime, **arguments: Any) -> str:
            return self._adapter.answer(_session_id(runtime, runtime.state), arguments)

        answer.__annotations__["runtime"] = ToolRuntime  # LangGraph looks for the class itself
        name, words, schema = adapter.RECALL
        self.tools = [StructuredTool(name=name, description=words, args_schema=schema, func=answer)]

    def wrap_model_call(self, request: ModelRequest, handler: Any) -> ModelResponse:
        """Call the model with the view."""
        where = _session_id(request.runtime, request.state)
        return handler(request.override(messages=self._adapter.view(where, request.messages)))

    async def awrap_model_call(self, request: ModelRequest, handler: Any) -> ModelResponse:
        """Call the model with the view, which is made in a thread."""
        where = _session_id(request.runtime, request.state)
        view = await self._adapter.aview(where, request.messages)
        return await handler(request.override(messages=view))


def _session_id(runtime: Any, state: Any) -> str:
    """Return the thread and the sub-graph's run in it; without a thread, the first message's id."""
    place, first = runtime.execution_info, next(iter(state["messages"]), None)
    namespace = place.checkpoint_ns.rpartition("|")[0]
    return f"{place.thread_id or getattr(first, 'id', '')}|{namespace}".rstrip("|")


def _read(message: AnyMessage) -> list[Item]:
    item: Item = {
        "role": ROLES.get(message.type, "user"),
        "content": adapter.text_in(message.content),
    }
    if message.type == "tool":
        item["tool_call_id"] = message.tool_call_id
    elif message.type == "ai" and message.tool_calls:
        item["tool_calls"] = [
            adapter.chat_call(c["id"], c["name"], c["args"]) for c in message.tool_calls
        ]
    return [item]


def _edit(message: AnyMessage, changes: adapter.Numbered) -> AnyMessage:
    changed: dict[str, Any] = {}
    for _, change in changes:
        if change.kind == "call":
            calls = changed.setdefault("tool_calls", list(message.tool_calls))
            calls[change.part] = {**calls[change.part], "args": json.loads(change.text)}
        else:
            changed["content"] = adapter.with_text(message.content, change.text)
    return message.model_copy(update=changed)
