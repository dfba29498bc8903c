"""LlamaIndex: a function agent that sends the view and registers recall."""

from __future__ import annotations

import json
import uuid
from contextvars import ContextVar
from typing import Any

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, TextBlock, ToolCallBlock
from llama_index.core.tools import FunctionTool
from llama_index.core.workflow import Context
from pydantic import PrivateAttr

from hippocampus import recall
from hippocampus.formats.conversation import Item
from hippocampus.integrations import adapter
from hippocampus.memory import Hippocampus

CURRENT: ContextVar[str] = ContextVar("hippocampus_session")


class HippocampusAgent(FunctionAgent):  # type: ignore[misc]
    """A `FunctionAgent` that sends the view; scratchpad and chat memory keep all messages."""

    _adapter: Any = PrivateAttr()

    def __init__(self, *, hippocampus: Hippocampus, **fields: Any) -> None:
        """Take the memory; a `Context` and an agent in it are one of its sessions."""

        async def answer(ctx: Context, **arguments: Any) -> Any:
            return await self._adapter.aanswer(await self._session_id(ctx), arguments)

        answer.__annotations__["ctx"] = Context  # LlamaIndex looks for the class itself
        schema = {"fn_schema": recall.RecallRequest, "async_fn": answer}
        tool = FunctionTool.from_defaults(None, recall.TOOL_NAME, recall.DESCRIPTION, **schema)
        super().__init__(**{**fields, "tools": [*(fields.get("tools") or []), tool]})
        self._adapter = adapter.ConversationAdapter(
            hippocampus, _read, _edit, lambda role, text: ChatMessage(text, role=role)
        )

    async def _session_id(self, ctx: Any) -> str:
        known = await ctx.store.get(CURRENT.name, default=None) or uuid.uuid4().hex
        await ctx.store.set(CURRENT.name, known)
        return f"{known}|{self.name}"

    async def take_step(self, ctx: Any, *rest: Any, **more: Any) -> Any:
        """Take a step, of which the two methods below send the messages."""
        CURRENT.set(await self._session_id(ctx))
        return await super().take_step(ctx, *rest, **more)

    async def _get_response(self, given: list[ChatMessage], tools: Any) -> Any:
        return await super()._get_response(await self._adapter.aview(CURRENT.get(), given), tools)

    async def _get_streaming_response(self, ctx: Any, given: list[ChatMessage], tools: Any) -> Any:
        view = await self._adapter.aview(CURRENT.get(), given)
        return await super()._get_streaming_response(ctx, view, tools)


def _read(message: ChatMessage) -> list[Item]:
    text = message.content or ""
    if message.role == "tool":
        return [adapter.chat_result(message.additional_kwargs.get("tool_call_id"), text)]
    calls = [block for block in message.blocks if isinstance(block, ToolCallBlock)]
    named = [(call.tool_call_id, call.tool_name, call.tool_kwargs) for call in calls]
    return [adapter.chat_message(message.role.value, text, named)]


def _edit(message: ChatMessage, kind: str, place: int, text: str) -> ChatMessage:
    own = ToolCallBlock if kind == "call" else TextBlock
    places = [at for at, block in enumerate(message.blocks) if isinstance(block, own)]
    if kind == "call":
        call = message.blocks[places[place]].model_copy(update={"tool_kwargs": json.loads(text)})
        blocks = adapter.with_value(message.blocks, places[place], call)
    else:
        blocks = adapter.with_value(message.blocks, places[0], TextBlock(text=text))
        blocks = [block for at, block in enumerate(blocks) if at not in places[1:]]
    return message.model_copy(update={"blocks": blocks})
