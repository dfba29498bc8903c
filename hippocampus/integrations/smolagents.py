"""smolagents: a model that sends the view to another model, and the recall tool."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from smolagents import ChatMessage, Model, Tool
from smolagents.models import MessageRole

from hippocampus.formats.conversation import Item
from hippocampus.integrations import adapter
from hippocampus.memory import Hippocampus

CALLS, RESULT = "Calling tools:\n", "Observation:\n"
"""How smolagents begins the texts of calls and of their results: it has no fields for them."""


class StepMessage(NamedTuple):
    """A message with the id that it shares with the calls or the results of its step."""

    message: ChatMessage
    call_id: str


MAKE = {
    "user": lambda text: StepMessage(_said(MessageRole.USER, text), ""),
    "assistant": lambda text: StepMessage(_said(MessageRole.ASSISTANT, text), ""),
}


class HippocampusModel(Model):  # type: ignore[misc]
    """Sends the view of one agent's messages to a model; the agent's memory keeps all of them.

    `recall` is the tool for that agent.
    """

    def __init__(self, model: Model, memory: Hippocampus, session_id: str) -> None:
        """Take the model, the memory, and the id under which the agent goes on after a restart."""
        self._model, self._session_id = model, session_id
        self._adapter = adapter.ConversationAdapter(memory, _read, _edit, MAKE)
        self.recall = SmolRecall(memory, session_id)
        if hasattr(model, "generate_stream"):
            self.generate_stream = lambda messages, *rest, **more: model.generate_stream(
                self._view(messages), *rest, **more
            )

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_model"], name)

    def generate(self, messages: Sequence[ChatMessage], *rest: Any, **more: Any) -> ChatMessage:
        """Ask the model with the view."""
        return self._model.generate(self._view(messages), *rest, **more)

    def _view(self, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
        steps, numbered, is_open = 0, [], False
        for message in messages:
            steps += message.role == MessageRole.TOOL_CALL
            is_answer = is_open and message.role == MessageRole.TOOL_RESPONSE
            is_open = message.role == MessageRole.TOOL_CALL
            numbered.append(StepMessage(message, f"step-{steps}" if is_open or is_answer else ""))
        return [each.message for each in self._adapter.view(self._session_id, numbered)]


class SmolRecall(Tool):  # type: ignore[misc]
    """The recall tool."""

    name, description, _schema = adapter.RECALL
    inputs = {key: {**each, "nullable": True} for key, each in _schema["properties"].items()}  # noqa: RUF012
    output_type = "string"
    skip_forward_signature_validation = True

    def __init__(self, memory: Hippocampus, session_id: str) -> None:
        """Take the memory, and the session whose payloads it reads."""
        super().__init__()
        self._memory, self._session_id = memory, session_id

    def forward(self, **arguments: Any) -> str:
        """Answer a call."""
        return adapter.answer(self._memory, self._session_id, arguments)


def _said(role: MessageRole, text: str) -> ChatMessage:
    return ChatMessage(role, [{"type": "text", "text": text}])


def _read(own: StepMessage) -> list[Item]:
    role, text = own.message.role, adapter.text_in(own.message.content)
    if not own.call_id:
        known = (MessageRole.SYSTEM, MessageRole.ASSISTANT)
        return [{"role": role.value if role in known else "user", "content": text}]
    if role == MessageRole.TOOL_RESPONSE:
        content = text.removeprefix(RESULT)
        return [{"role": "tool", "tool_call_id": own.call_id, "content": content}]
    functions = [each["function"] for each in ast.literal_eval(text.removeprefix(CALLS))]
    given = [each["arguments"] for each in functions]
    arguments = given[0] if len(given) == 1 else {"calls": given}
    call = adapter.chat_call(own.call_id, functions[0]["name"], arguments)
    return [{"role": "assistant", "content": "", "tool_calls": [call]}]


def _edit(own: StepMessage, changes: adapter.Numbered) -> StepMessage:
    [(_, change)] = changes
    front = {"call": CALLS, "result": RESULT}.get(change.kind, "")
    text = adapter.with_text(own.message.content, front + change.text)
    return own._replace(message=replace(own.message, content=text))
