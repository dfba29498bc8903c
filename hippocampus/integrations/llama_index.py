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
KEY = "hippocampus_session"
MAKE = {
    role: lambda text, role=role: ChatMessage(text, role=role) for role in ("user", "assistant")
}


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
        self._adapter = adapter.ConversationAdapter(hippocampus, _read, _edit, MAKE)

    async def _session_id(self, ctx: Any) -> str:
        known = await ctx.store.get(KEY, default=None) or uuid.uuid4().hex
        await ctx.store.set(KEY, known)
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
    item: Item = {"role": message.role.value, "content": message.content or ""}
    calls = [each for each in message.blocks if isinstance(each, ToolCallBlock)]
    if message.role == "tool":
        item["tool_call_id"] = message.additional_kwargs.get("tool_call_id")
    elif calls:
        named = [(each.tool_call_id, each.tool_name, each.tool_kwargs) for each in calls]
        item["tool_calls"] = [adapter.chat_call(*each) for each in named]
    return [item]


def _edit(message: ChatMessage, changes: adapter.Numbered) -> ChatMessage:
    blocks = list(message.blocks)
    for _, change in changes:
        kind = ToolCallBlock if change.kind == "call" else TextBlock
        places = [at for at, block in enumerate(blocks) if isinstance(block, kind)]
        if change.kind == "call":
            at = places[change.part]
            blocks[at] = blocks[at].model_copy(update={"tool_kwargs": json.loads(change.text)})
        else:
            blocks[places[0]] = TextBlock(text=change.text)
            blocks = [each for at, each in enumerate(blocks) if at not in places[1:]]
    return message.model_copy(update={"blocks": blocks})
