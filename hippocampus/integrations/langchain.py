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


class HippocampusMiddleware(AgentMiddleware):  # type: ignore[misc]
    """Sends the view of a thread's messages; state and checkpoints keep them all."""

    def __init__(self, memory: Hippocampus) -> None:
        """Take the memory; a thread, or a sub-graph's run in it, is one of its sessions."""
        super().__init__()
        self._adapter = adapter.ConversationAdapter(memory, _read, _edit, _make)

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


def _make(role: str, text: str) -> AnyMessage:
    return HumanMessage(text) if role == "user" else AIMessage(text)


def _read(message: AnyMessage) -> list[Item]:
    text = adapter.text_in(message.content)
    if message.type == "tool":
        return [adapter.chat_result(message.tool_call_id, text)]
    calls = message.tool_calls if message.type == "ai" else ()
    named = [(call["id"], call["name"], call["args"]) for call in calls]
    role = "assistant" if message.type == "ai" else message.type
    return [adapter.chat_message(role, text, named)]


def _edit(message: AnyMessage, kind: str, place: int, text: str) -> AnyMessage:
    if kind != "call":
        content = adapter.with_text(message.content, text)
        return message.model_copy(update={"content": content})
    call = {**message.tool_calls[place], "args": json.loads(text)}
    calls = adapter.with_value(message.tool_calls, place, call)
    return message.model_copy(update={"tool_calls": calls})
