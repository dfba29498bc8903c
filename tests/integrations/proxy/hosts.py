"""Agents on the real client packages: each keeps its own list and answers its own tool's calls."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hippocampus.testing import Decided, call, entry_ids

Items = list[dict[str, Any]]
KEY = "sk-not-to-be-kept-4711"
ROWS = json.dumps([{"id": f"row-{n}", "state": "late" if n == 417 else "open"} for n in range(900)])
QUESTION = "Which order is late?"
TOOL = "list_orders"


class ChatHost:
    """An agent on the `openai` package, Chat Completions."""

    path = "/v1/chat/completions"
    model = "gpt-5"

    def __init__(self, url: str, *, stream: bool = False, **options: Any) -> None:
        openai = pytest.importorskip("openai")
        self.client = openai.OpenAI(base_url=f"{url}/v1", api_key=KEY, max_retries=0, **options)
        self.stream = stream
        self.items: Items = [
            {"role": "system", "content": "You find late orders."},
            {"role": "user", "content": QUESTION},
        ]
        function = {"name": TOOL, "parameters": {"type": "object", "properties": {}}}
        self.tools: Any = [{"type": "function", "function": function}]

    @property
    def body(self) -> dict[str, Any]:
        return {"model": self.model, "messages": self.items, "tools": self.tools}

    def ask(self) -> list[tuple[str, str]]:
        """Send the list, append the answer, and return its calls as ids and names."""
        if self.stream:
            with self.client.chat.completions.stream(**self.body) as stream:
                message = stream.get_final_completion().choices[0].message
        else:
            message = self.client.chat.completions.create(**self.body).choices[0].message
        item: dict[str, Any] = {"role": message.role, "content": message.content}
        calls = [
            {
                "id": each.id,
                "type": "function",
                "function": {"name": each.function.name, "arguments": each.function.arguments},
            }
            for each in message.tool_calls or ()
        ]
        self.items.append({**item, "tool_calls": calls} if calls else item)
        self.text = message.content or ""
        return [(each["id"], each["function"]["name"]) for each in calls]

    def give(self, call_id: str, text: str) -> None:
        self.items.append({"role": "tool", "tool_call_id": call_id, "content": text})


class ResponsesHost:
    """An agent on the `openai` package, Responses."""

    path = "/v1/responses"
    model = "gpt-5"

    def __init__(self, url: str, *, stream: bool = False, **options: Any) -> None:
        openai = pytest.importorskip("openai")
        self.client = openai.OpenAI(base_url=f"{url}/v1", api_key=KEY, max_retries=0, **options)
        self.stream = stream
        self.items: Items = [{"role": "user", "content": QUESTION}]
        self.tools: Any = [
            {"type": "function", "name": TOOL, "parameters": {"type": "object"}, "strict": False}
        ]

    @property
    def body(self) -> dict[str, Any]:
        return {"model": self.model, "input": self.items, "tools": self.tools, "store": False}

    def ask(self) -> list[tuple[str, str]]:
        if self.stream:
            with self.client.responses.stream(**self.body) as stream:
                response = stream.get_final_response()
        else:
            response = self.client.responses.create(**self.body)
        for each in response.output:
            item = each.model_dump(exclude_none=True, exclude={"parsed_arguments"})
            for part in item.get("content") or ():
                part.pop("parsed", None)
            self.items.append(item)
        self.text = response.output_text
        calls = [each for each in response.output if each.type == "function_call"]
        return [(each.call_id, each.name) for each in calls]

    def give(self, call_id: str, text: str) -> None:
        self.items.append({"type": "function_call_output", "call_id": call_id, "output": text})


class MessagesHost:
    """An agent on the `anthropic` package."""

    path = "/v1/messages"
    model = "claude-sonnet-5-5"

    def __init__(self, url: str, *, stream: bool = False, **options: Any) -> None:
        anthropic = pytest.importorskip("anthropic")
        self.client = anthropic.Anthropic(base_url=url, api_key=KEY, max_retries=0, **options)
        self.stream = stream
        self.items: Items = [{"role": "user", "content": QUESTION}]
        self.tools: Any = [{"name": TOOL, "input_schema": {"type": "object"}}]

    @property
    def body(self) -> dict[str, Any]:
        given = {"model": self.model, "messages": self.items, "tools": self.tools}
        return {**given, "max_tokens": 1_000}

    def ask(self) -> list[tuple[str, str]]:
        if self.stream:
            with self.client.messages.stream(**self.body) as stream:
                message = stream.get_final_message()
        else:
            message = self.client.messages.create(**self.body)
        content = [
            each.model_dump(exclude_none=True, exclude={"parsed_output"})
            for each in message.content
        ]
        self.items.append({"role": "assistant", "content": content})
        self.text = "".join(block["text"] for block in content if block["type"] == "text")
        calls = [block for block in content if block["type"] == "tool_use"]
        return [(block["id"], block["name"]) for block in calls]

    def give(self, call_id: str, text: str) -> None:
        block = {"type": "tool_result", "tool_use_id": call_id, "content": text}
        if self.items[-1]["role"] == "assistant":
            self.items.append({"role": "user", "content": []})
        self.items[-1]["content"].append(block)


HOSTS = [ChatHost, ResponsesHost, MessagesHost]


def run(host: Any, steps: int = 100, result: str = ROWS) -> None:
    """Run an agent to its end, or for some steps."""
    for _ in range(steps):
        calls = host.ask()
        if not calls:
            break
        assert {name for _, name in calls} == {TOOL}
        for call_id, _ in calls:
            host.give(call_id, result)
    host.client.close()


def calls_and_results(items: Items) -> tuple[list[str], list[str]]:
    """Return the ids of a list's calls, and of its results, in order."""
    calls, results = [], []
    for item in items:
        content = item.get("content")
        blocks = content if isinstance(content, list) else []
        calls += [each["id"] for each in item.get("tool_calls") or ()]
        calls += [each["id"] for each in blocks if each["type"] == "tool_use"]
        calls += [item["call_id"]] if item.get("type") == "function_call" else []
        results += [each["tool_use_id"] for each in blocks if each["type"] == "tool_result"]
        results += [item["tool_call_id"]] if "tool_call_id" in item else []
        results += [item["call_id"]] if item.get("type") == "function_call_output" else []
    return calls, results


def recalling(items: Items) -> Decided:
    """List orders, recall one row, recall another in one answer with the agent's tool, and end."""
    made = len(calls_and_results(items)[0])
    if made == 0:
        return call(TOOL, page=1)
    recalled = call("recall", entry_id=entry_ids(items)[0], pattern=f"row-{416 + made}")
    steps: dict[int, Decided] = {1: recalled, 2: [recalled, call(TOOL, page=2)]}
    return steps.get(made, "Order row-417 is late.")


def listing(steps: int) -> Any:
    """Return a model that lists orders some times, and ends."""

    def decide(items: Items) -> Decided:
        made = len(calls_and_results(items)[0])
        return call(TOOL, page=made) if made < steps else "Done."

    return decide
