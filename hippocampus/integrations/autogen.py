"""AutoGen: a model context that returns the view, and the recall tool."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from autogen_core import CancellationToken
from autogen_core.model_context import UnboundedChatCompletionContext
from autogen_core.models import (
    AssistantMessage,
    FunctionExecutionResultMessage,
    LLMMessage,
    SystemMessage,
    UserMessage,
)
from autogen_core.tools import BaseTool

from hippocampus import recall
from hippocampus.formats.conversation import Item
from hippocampus.integrations import adapter
from hippocampus.memory import Hippocampus

MAKE = {
    "user": lambda text: UserMessage(content=text, source="hippocampus"),
    "assistant": lambda text: AssistantMessage(content=text, source="hippocampus"),
}


class HippocampusContext(UnboundedChatCompletionContext):  # type: ignore[misc]
    """The messages of one agent: the model is sent the view, and the saved state has all of them.

    `recall` is the tool for that agent.
    """

    def __init__(self, memory: Hippocampus, session_id: str) -> None:
        """Take the memory, and the id under which the agent goes on after a restart."""
        super().__init__()
        self._session_id = session_id
        self._adapter = adapter.ConversationAdapter(memory, _read, _edit, MAKE, _cut)
        self.recall = AutogenRecall(memory, session_id)

    async def get_messages(self) -> list[LLMMessage]:
        """Return the view."""
        return await self._adapter.aview(self._session_id, self._messages)


class AutogenRecall(BaseTool[recall.RecallRequest, str]):  # type: ignore[misc]
    """The recall tool."""

    def __init__(self, memory: Hippocampus, session_id: str) -> None:
        """Take the memory, and the session whose payloads it reads."""
        super().__init__(recall.RecallRequest, str, recall.TOOL_NAME, recall.DESCRIPTION)
        self._memory, self._session_id = memory, session_id

    async def run(self, args: recall.RecallRequest, cancellation_token: CancellationToken) -> str:  # noqa: ARG002
        """Answer a call."""
        given = args.model_dump(exclude_none=True)
        return await asyncio.to_thread(adapter.answer, self._memory, self._session_id, given)


def _read(message: LLMMessage) -> list[Item]:
    if isinstance(message, FunctionExecutionResultMessage):
        return [
            {"role": "tool", "tool_call_id": each.call_id, "content": each.content}
            for each in message.content
        ]
    role = "system" if isinstance(message, SystemMessage) else "user"
    if not isinstance(message, AssistantMessage):
        return [{"role": role, "content": adapter.text_in(message.content)}]
    item: Item = {"role": "assistant", "content": adapter.text_in(message.content)}
    if isinstance(message.content, list):
        named = [(each.id, each.name, each.arguments) for each in message.content]
        item["tool_calls"] = [adapter.chat_call(*each) for each in named]
    return [item]


def _edit(message: LLMMessage, changes: adapter.Numbered) -> LLMMessage:
    content: Any = message.content
    for number, change in changes:
        if change.kind == "call":
            content = list(content)
            content[change.part] = replace(content[change.part], arguments=change.text)
        elif change.kind == "result":
            content = list(content)
            content[number] = content[number].model_copy(update={"content": change.text})
        else:
            content = adapter.with_text(content, change.text)
    return message.model_copy(update={"content": content})


def _cut(message: LLMMessage, start: int, end: int) -> LLMMessage:
    return message.model_copy(update={"content": message.content[start:end]})
