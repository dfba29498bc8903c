"""smolagents: a model that sends the view to another model, and the recall tool."""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

from smolagents import ChatMessage, Model, Tool
from smolagents.models import MessageRole as Role

from hippocampus.formats.conversation import Item
from hippocampus.integrations import adapter
from hippocampus.memory import Hippocampus

CALL, RESULT = Role.TOOL_CALL, Role.TOOL_RESPONSE
STEP = {(Role.ASSISTANT, CALL), (CALL, RESULT)}
FORMS = {"call": (CALL, "Calling tools:\n"), "result": (RESULT, "Observation:\n")}
"""Which message follows which in a step, and how those with calls and with results begin."""
FAILED = "[{'id': 'failed', 'function': {'name': 'step', 'arguments': {}}}]"
"""The calls of a step that failed: smolagents keeps only its error, as a result."""


@dataclass(frozen=True)
class Step:
    """The messages of a step by their roles, or one other message."""

    messages: dict[Role, ChatMessage]


def remember(model: Model, memory: Hippocampus, session_id: str) -> tuple[Model, Tool]:
    """Return a model that sends the view of one agent's messages, and the agent's recall tool."""
    conversations = adapter.ConversationAdapter(memory, _read, _edit, _make)

    def asked(ask: Any, messages: list[ChatMessage], *rest: Any, **more: Any) -> Any:
        roles = [None, *(message.role for message in messages)]
        starts = [at for at, pair in enumerate(pairwise(roles)) if pair not in STEP]
        pieces = (messages[at:end] for at, end in pairwise([*starts, len(messages)]))
        steps = [Step({message.role: message for message in piece}) for piece in pieces]
        view = conversations.view(session_id, steps)
        return ask([message for step in view for message in step.messages.values()], *rest, **more)

    class SmolRecall(Tool):  # type: ignore[misc]
        name, description, schema = adapter.RECALL
        inputs = {key: {**field, "nullable": True} for key, field in schema["properties"].items()}  # noqa: RUF012
        output_type = "string"
        skip_forward_signature_validation = True

        def forward(self, **arguments: Any) -> str:
            return conversations.answer(session_id, arguments)

    remembering = copy.copy(model)
    for name in {"generate", "generate_stream"}.intersection(dir(model)):
        setattr(remembering, name, partial(asked, getattr(model, name)))
    return remembering, SmolRecall()


def _make(role: str, text: str) -> Step:
    return Step({Role(role): ChatMessage(Role(role), [{"type": "text", "text": text}])})


def _read(step: Step) -> list[Item]:
    texts = {role: adapter.text_in(message.content) for role, message in step.messages.items()}
    if not texts.keys() & {CALL, RESULT}:
        return [adapter.chat_message(*pair) for pair in texts.items()]
    text = {kind: texts.get(role, "").removeprefix(front) for kind, (role, front) in FORMS.items()}
    calls = ast.literal_eval(text["call"] or FAILED)
    given = [call["function"]["arguments"] for call in calls]
    call = calls[0]["id"], calls[0]["function"]["name"], {"calls": given} if given[1:] else given[0]
    said = adapter.chat_message("assistant", texts.get(Role.ASSISTANT, ""), [call])
    return [said, adapter.chat_result(call[0], text["result"])]


def _edit(step: Step, kind: str, _: int, text: str) -> Step:
    role, front = FORMS.get(kind, (next(iter(step.messages)), ""))
    message = step.messages[role]
    edited = replace(message, content=adapter.with_text(message.content, front + text))
    return Step({**step.messages, role: edited})
