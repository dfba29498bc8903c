"""AutoGen: a model context that returns the view, and the recall tool."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import Any

from autogen_core import CancellationToken
from autogen_core import models as of
from autogen_core.model_context import UnboundedChatCompletionContext
from autogen_core.tools import BaseTool

from hippocampus import recall
from hippocampus.formats.conversation import Item
from hippocampus.integrations import adapter
from hippocampus.memory import Hippocampus


class HippocampusContext(UnboundedChatCompletionContext):  # type: ignore[misc]
    """The messages of one agent: the model is sent the view, and the saved state has them all.

    `recall` is the tool for that agent.
    """

    def __init__(self, memory: Hippocampus, session_id: str) -> None:
        """Take the memory, and the id under which the agent goes on after a restart."""
        super().__init__()
        self._session_id = session_id
        self._adapter = adapter.ConversationAdapter(memory, _read, _edit, _make, "content")
        self.recall = AutogenRecall(partial(self._adapter.aanswer, session_id))

    async def get_messages(self) -> list[of.LLMMessage]:
        """Return the view."""
        return await self._adapter.aview(self._session_id, self._messages)


class AutogenRecall(BaseTool[recall.RecallRequest, str]):  # type: ignore[misc]
    """The recall tool."""

    def __init__(self, answer: Callable[[Any], Awaitable[str]]) -> None:
        """Take the function that answers in the session of its agent."""
        super().__init__(recall.RecallRequest, str, recall.TOOL_NAME, recall.DESCRIPTION)
        self._answer = answer

    async def run(self, args: recall.RecallRequest, cancellation_token: CancellationToken) -> str:  # noqa: ARG002
        """Answer a call."""
        return await self._answer(args.model_dump(exclude_none=True))


def _make(role: str, text: str) -> of.LLMMessage:
    kind = of.UserMessage if role == "user" else of.AssistantMessage
    return kind(content=text, source="hippocampus")


def _read(message: of.LLMMessage) -> list[Item]:
    if isinstance(message, of.FunctionExecutionResultMessage):
        return [adapter.chat_result(result.call_id, result.content) for result in message.content]
    role = message.type.removesuffix("Message").lower()
    calls = message.content if isinstance(message, of.AssistantMessage) else ""
    named = [(call.id, call.name, call.arguments) for call in calls if not isinstance(call, str)]
    return [adapter.chat_message(role, adapter.text_in(message.content), named)]


def _edit(message: of.LLMMessage, kind: str, place: int, text: str) -> of.LLMMessage:
    content: Any = message.content
    if kind == "call":
        content = adapter.with_value(content, place, replace(content[place], arguments=text))
    elif kind == "result":
        result = content[place].model_copy(update={"content": text})
        content = adapter.with_value(content, place, result)
    else:
        content = adapter.with_text(content, text)
    return message.model_copy(update={"content": content})
