"""A scripted model: it answers from a list of steps, for examples and for tests of an agent loop.

No network and no provider SDK; nothing else of the package depends on it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

ENTRY = re.compile(r"\[([a-z2-7]{8,12}) (?:·|\\+u00b7) ")


@dataclass(frozen=True, slots=True)
class ScriptedCall:
    """One tool call of a scripted model."""

    tool: str
    arguments: dict[str, Any]


Decided = str | ScriptedCall | Sequence[ScriptedCall]
"""A final text, one tool call, or several tool calls in one answer."""
Step = Decided | Callable[[list[Any]], Decided]
"""What the model does in one call: decided in advance, or by a function of the messages."""


def call(tool: str, **arguments: Any) -> ScriptedCall:
    """Return a step that calls a tool."""
    return ScriptedCall(tool, arguments)


def entry_ids(messages: Iterable[Any]) -> list[str]:
    """Return the ids of the index entries in a message list, in the order of their appearance."""
    text = json.dumps(list(messages), ensure_ascii=False, default=str)
    return list(dict.fromkeys(ENTRY.findall(text)))


class ScriptedModel:
    """A model that takes one step of its script for each call.

    A step is a text (the final answer), a tool call (`call("name", key=value)`), a sequence of tool
    calls, or a function that takes the messages of the request and returns one of these.
    `format_name` is `openai` (Chat Completions), `responses` or `anthropic`.
    """

    def __init__(self, *steps: Step, format_name: str = "openai") -> None:
        """Take the script.

        Raises:
            ValueError: another format.
        """
        if format_name not in ANSWERS:
            raise ValueError(f"unknown format {format_name!r}; known: {', '.join(ANSWERS)}")
        self._steps = steps
        self._answer = ANSWERS[format_name]
        self.requests: list[list[Any]] = []
        """The messages of each call so far, in order."""

    def __call__(self, messages: Iterable[Any], tools: Iterable[Any] = ()) -> list[dict[str, Any]]:
        """Return the items of the next answer, which the loop appends to its message list.

        Raises:
            IndexError: the script has no further step.
            ValueError: the step calls a tool that `tools` does not offer.
        """
        request = list(messages)
        self.requests.append(request)
        number = len(self.requests)
        if number > len(self._steps):
            raise IndexError(f"the script has {len(self._steps)} steps, and this is call {number}")
        step = self._steps[number - 1]
        decided = step(request) if callable(step) else step
        if isinstance(decided, str):
            return self._answer(decided, [])
        calls = [decided] if isinstance(decided, ScriptedCall) else list(decided)
        offered = [each.get("name") or each["function"]["name"] for each in tools]
        missing = [each.tool for each in calls if each.tool not in offered]
        if missing:
            names = ", ".join(offered) or "none"
            raise ValueError(f"step {number} calls {missing[0]!r}; the tools offered are: {names}")
        named = [(f"call_{number}_{place}", each) for place, each in enumerate(calls, start=1)]
        return self._answer("", named)


def orders_agent() -> tuple[ScriptedModel, list[dict[str, Any]], Callable[[Any], list[Any]]]:
    """Return the agent of the README: a model that looks for a late order, its tools, and their runner.

    The runner takes an answer of the model and returns the messages with its tools' results.
    """
    rows = [{"id": f"A-{at}", "state": "late" if at == 417 else "paid"} for at in range(900)]
    model = ScriptedModel(
        call("list_orders"),
        lambda view: call("recall", entry_id=entry_ids(view)[0], pattern="late"),
        "Order A-417 is late.",
    )

    def run(answer: Any) -> list[Any]:
        return [
            {"role": "tool", "tool_call_id": each["id"], "content": json.dumps(rows)}
            for each in answer.get("tool_calls", ())
            if each["function"]["name"] == "list_orders"
        ]

    function = {"name": "list_orders", "parameters": {"type": "object"}}
    return model, [{"type": "function", "function": function}], run


Named = list[tuple[str, ScriptedCall]]


def _chat(text: str, calls: Named) -> list[dict[str, Any]]:
    if not calls:
        return [{"role": "assistant", "content": text}]
    functions = [
        {
            "id": call_id,
            "type": "function",
            "function": {"name": each.tool, "arguments": json.dumps(each.arguments)},
        }
        for call_id, each in calls
    ]
    return [{"role": "assistant", "content": None, "tool_calls": functions}]


def _responses(text: str, calls: Named) -> list[dict[str, Any]]:
    if not calls:
        content = [{"type": "output_text", "text": text, "annotations": []}]
        return [{"type": "message", "role": "assistant", "content": content}]
    return [
        {
            "type": "function_call",
            "call_id": call_id,
            "name": each.tool,
            "arguments": json.dumps(each.arguments),
        }
        for call_id, each in calls
    ]


def _anthropic(text: str, calls: Named) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = [
        {"type": "tool_use", "id": call_id, "name": each.tool, "input": each.arguments}
        for call_id, each in calls
    ]
    return [{"role": "assistant", "content": blocks or [{"type": "text", "text": text}]}]


ANSWERS: dict[str, Callable[[str, Named], list[dict[str, Any]]]] = {
    "openai": _chat,
    "responses": _responses,
    "anthropic": _anthropic,
}
