"""A proxy between real client packages and a scripted provider, all on loopback."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("prometheus_client")
from proxy.upstream import Items, Upstream, provider, served

from hippocampus.proxy.app import proxy_app
from hippocampus.testing import Decided, call, entry_ids

KEY = "sk-not-to-be-kept-4711"
ROWS = json.dumps([{"id": f"row-{n}", "state": "late" if n == 417 else "open"} for n in range(900)])
TOOLS = ["list_orders"]


def recalling(items: Items) -> Decided:
    """List orders, recall one row, recall another in one answer with the host's tool, and end."""
    made = len(calls_and_results(items)[0])
    if made == 0:
        return call("list_orders", page=1)
    recalled = call("recall", entry_id=entry_ids(items)[0], pattern=f"row-{416 + made}")
    steps: dict[int, Decided] = {1: recalled, 2: [recalled, call("list_orders", page=2)]}
    return steps.get(made, "Order row-417 is late.")


@contextmanager
def proxied(
    state: Path, decide: Callable[[Items], Decided], **options: Any
) -> Iterator[tuple[Upstream, str]]:
    with ExitStack() as stack:
        upstream = stack.enter_context(provider(Upstream(decide, **options)))
        url = stack.enter_context(served(proxy_app(upstream.url, state, "default", 5.0)))
        yield upstream, url


class ChatHost:
    """A loop on the `openai` package, Chat Completions."""

    def __init__(self, url: str, *, stream: bool) -> None:
        openai = pytest.importorskip("openai")
        self.client = openai.OpenAI(base_url=f"{url}/v1", api_key=KEY, max_retries=0)
        self.stream = stream
        self.items: Items = [
            {"role": "system", "content": "You find late orders."},
            {"role": "user", "content": "Which order is late?"},
        ]
        function = {
            "name": "list_orders",
            "description": "List.",
            "parameters": {"type": "object", "properties": {}},
        }
        self.tools: Any = [{"type": "function", "function": function}]

    def ask(self) -> list[tuple[str, str]]:
        """Send the list, append the answer, and return its calls as ids and names."""
        given: Any = {"model": "gpt-5", "messages": self.items, "tools": self.tools}
        if self.stream:
            with self.client.chat.completions.stream(**given) as stream:
                message = stream.get_final_completion().choices[0].message
        else:
            message = self.client.chat.completions.create(**given).choices[0].message
        item = message.model_dump(exclude_none=True)
        for each in item.get("tool_calls") or ():
            each["function"].pop("parsed_arguments", None)
            each.pop("index", None)
        item.pop("parsed", None)
        self.items.append(item)
        self.text = message.content
        return [(each.id, each.function.name) for each in message.tool_calls or ()]

    def give(self, call_id: str, text: str) -> None:
        self.items.append({"role": "tool", "tool_call_id": call_id, "content": text})


class ResponsesHost:
    """A loop on the `openai` package, Responses."""

    def __init__(self, url: str, *, stream: bool) -> None:
        openai = pytest.importorskip("openai")
        self.client = openai.OpenAI(base_url=f"{url}/v1", api_key=KEY, max_retries=0)
        self.stream = stream
        self.items: Items = [{"role": "user", "content": "Which order is late?"}]
        self.tools: Any = [
            {
                "type": "function",
                "name": "list_orders",
                "parameters": {"type": "object"},
                "strict": False,
            }
        ]

    def ask(self) -> list[tuple[str, str]]:
        given: Any = {"model": "gpt-5", "input": self.items, "tools": self.tools, "store": False}
        if self.stream:
            with self.client.responses.stream(**given) as stream:
                response = stream.get_final_response()
        else:
            response = self.client.responses.create(**given)
        for each in response.output:
            item = each.model_dump(exclude_none=True)
            item.pop("parsed_arguments", None)
            for part in item.get("content") or ():
                part.pop("parsed", None)
            self.items.append(item)
        self.text = response.output_text
        return [
            (each.call_id, each.name) for each in response.output if each.type == "function_call"
        ]

    def give(self, call_id: str, text: str) -> None:
        self.items.append({"type": "function_call_output", "call_id": call_id, "output": text})


class MessagesHost:
    """A loop on the `anthropic` package."""

    def __init__(self, url: str, *, stream: bool) -> None:
        anthropic = pytest.importorskip("anthropic")
        self.client = anthropic.Anthropic(base_url=url, api_key=KEY, max_retries=0)
        self.stream = stream
        self.items: Items = [{"role": "user", "content": "Which order is late?"}]
        self.tools: Any = [{"name": "list_orders", "input_schema": {"type": "object"}}]

    def ask(self) -> list[tuple[str, str]]:
        given: Any = {
            "model": "claude-sonnet-5-5",
            "max_tokens": 1_000,
            "messages": self.items,
            "tools": self.tools,
        }
        if self.stream:
            with self.client.messages.stream(**given) as stream:
                message = stream.get_final_message()
        else:
            message = self.client.messages.create(**given)
        content = [block.model_dump(exclude_none=True) for block in message.content]
        for each in content:
            each.pop("parsed_output", None)
        self.items.append({"role": "assistant", "content": content})
        self.text = "".join(block.text for block in message.content if block.type == "text")
        return [(block.id, block.name) for block in message.content if block.type == "tool_use"]

    def give(self, call_id: str, text: str) -> None:
        block = {"type": "tool_result", "tool_use_id": call_id, "content": text}
        if self.items[-1]["role"] == "assistant":
            self.items.append({"role": "user", "content": []})
        self.items[-1]["content"].append(block)


HOSTS = [ChatHost, ResponsesHost, MessagesHost]


def run(host: Any) -> None:
    """Run a host's loop to its end."""
    while calls := host.ask():
        assert {name for _, name in calls} <= set(TOOLS)
        for call_id, _ in calls:
            host.give(call_id, ROWS)
    host.client.close()


def calls_and_results(items: Items) -> tuple[list[str], list[str]]:
    """Return the ids of a list's calls, and of its results, in order."""
    calls, results = [], []
    for item in items:
        calls += [each["id"] for each in item.get("tool_calls") or ()]
        results += [item["tool_call_id"]] if "tool_call_id" in item else []
        if item.get("type") == "function_call":
            calls.append(item["call_id"])
        if item.get("type") == "function_call_output":
            results.append(item["call_id"])
        blocks = item.get("content") if isinstance(item.get("content"), list) else []
        calls += [each["id"] for each in blocks if each["type"] == "tool_use"]
        results += [each["tool_use_id"] for each in blocks if each["type"] == "tool_result"]
    return calls, results


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("kind", HOSTS)
def test_recalls_are_answered_inside_and_stay_in_the_conversation(
    kind: Any, stream: bool, state: Path
) -> None:
    with proxied(state, recalling, thinking="Hm.") as (upstream, url):
        host = kind(url, stream=stream)
        run(host)
    assert "Order row-417 is late." in host.text
    assert "recall" not in json.dumps(host.items)
    assert len(upstream.sent) == 4
    for sent in upstream.sent:
        calls, results = calls_and_results(sent.items)
        assert sorted(calls) == sorted(results)
        names = [each.get("name") or each["function"]["name"] for each in sent.body["tools"]]
        assert names == ["list_orders", "recall"]
    last = json.dumps(upstream.sent[-1].items)
    assert last.count("row-417") >= 2
    assert len(last) < len(json.dumps(host.items)) / 2
    for before, after in zip(upstream.sent, upstream.sent[1:], strict=False):
        same = len(before.items)
        assert after.items[:same] == before.items
