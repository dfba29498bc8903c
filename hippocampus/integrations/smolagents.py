"""smolagents: a model that sends the view to another model, and the recall tool."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from smolagents import ChatMessage, Model, Tool
from smolagents.models import MessageRole

from hippocampus.formats.conversation import Item
from hippocampus.integrations import adapter
from hippocampus.memory import Hippocampus

ROLES = {MessageRole.SYSTEM: "system", MessageRole.ASSISTANT: "assistant"}
CALLS, RESULT = "Calling tools:\n", "Observation:\n"
"""How smolagents begins the texts of calls and of their results: it has no fields for them."""


class StepMessage(NamedTuple):
    """A message with the id that it shares with the calls or the results of its step."""

    message: ChatMessage
    call_id: str


MAKE = {
    role: lambda text, role=role: StepMessage(
        ChatMessage(MessageRole(role), [{"type": "text", "text": text}]), ""
    )
    for role in ("user", "assistant")
}


class HippocampusModel(Model):  # type: ignore[misc]
    """Sends the view of one agent's messages to a model; the agent's memory keeps all of them.

    `recall` is the tool for that agent.
    """

    def __init__(self, model: Model, memory: Hippocampus, session_id: str) -> None:
        """Take the model, the memory, and the id under which the agent goes on after a restart."""
        self._model, self._session_id = model, session_id
        self._adapter = adapter.ConversationAdapter(memory, _read, _edit, MAKE)
        self.recall = SmolRecall(partial(self._adapter.answer, session_id))
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

    def __init__(self, answer: Callable[[Any], str]) -> None:
        """Take the function that answers in the session of its agent."""
        super().__init__()
        self._answer = answer

    def forward(self, **arguments: Any) -> str:
        """Answer a call."""
        return self._answer(arguments)


def _read(own: StepMessage) -> list[Item]:
    role, text = own.message.role, adapter.text_in(own.message.content)
    if not own.call_id:
        return [adapter.chat_message(ROLES.get(role, "user"), text)]
    if role == MessageRole.TOOL_RESPONSE:
        return [adapter.chat_result(own.call_id, text.removeprefix(RESULT))]
    functions = [each["function"] for each in ast.literal_eval(text.removeprefix(CALLS))]
    given = [each["arguments"] for each in functions]
    arguments = given[0] if len(given) == 1 else {"calls": given}
    return [adapter.chat_message("assistant", "", [(own.call_id, functions[0]["name"], arguments)])]


def _edit(own: StepMessage, kind: str, _: int, text: str) -> StepMessage:
    front = {"call": CALLS, "result": RESULT}.get(kind, "")
    content = adapter.with_text(own.message.content, front + text)
    return own._replace(message=replace(own.message, content=content))
