"""Strands Agents with the plugin: what the model is sent, and what the agent keeps."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("strands.middleware", reason="pip install hippocampus-context[strands]")

from integrations import scenario
from strands import Agent, tool
from strands.agent import NullConversationManager
from strands.models import Model
from strands.session import FileSessionManager

from hippocampus import Hippocampus
from hippocampus.integrations.strands import HippocampusPlugin
from hippocampus.testing import call

LIST_ORDERS = tool(scenario.list_orders)


def as_chat(messages: list[Any]) -> list[dict[str, Any]]:
    """Write Converse messages as chat messages."""
    written: list[dict[str, Any]] = []
    for message in messages:
        calls = []
        for block in message["content"]:
            if "toolResult" in block:
                result = block["toolResult"]
                text = "".join(each["text"] for each in result["content"])
                written.append(
                    {"role": "tool", "tool_call_id": result["toolUseId"], "content": text}
                )
            elif "toolUse" in block:
                use = block["toolUse"]
                function = {"name": use["name"], "arguments": json.dumps(use["input"])}
                calls.append({"id": use["toolUseId"], "type": "function", "function": function})
            else:
                written.append({"role": message["role"], "content": block["text"]})
        if calls:
            written.append({"role": "assistant", "content": None, "tool_calls": calls})
    return written


class Scripted(Model):
    """A model of Strands that a script decides for."""

    def __init__(self, mind: Any) -> None:
        self.mind = mind

    def update_config(self, **_: Any) -> None: ...

    def get_config(self) -> Any:
        return {}

    def structured_output(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    async def stream(
        self, messages: Any, tool_specs: Any = None, *_: Any, **__: Any
    ) -> AsyncIterator[Any]:
        [item] = self.mind(as_chat(messages), tool_specs or [])
        yield {"messageStart": {"role": "assistant"}}
        for each in item.get("tool_calls", ()):
            use = {"toolUseId": each["id"], "name": each["function"]["name"]}
            yield {"contentBlockStart": {"start": {"toolUse": use}}}
            delta = {"toolUse": {"input": each["function"]["arguments"]}}
            yield {"contentBlockDelta": {"delta": delta}}
            yield {"contentBlockStop": {}}
        if item["content"]:
            yield {"contentBlockStart": {"start": {}}}
            for word in item["content"].split(" "):
                yield {"contentBlockDelta": {"delta": {"text": word + " "}}}
            yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use" if item.get("tool_calls") else "end_turn"}}


def agent(mind: Any, memory: Hippocampus, **more: Any) -> Agent:
    tools = more.pop("tools", [LIST_ORDERS])
    plugins = [HippocampusPlugin(memory)]
    more |= {"conversation_manager": NullConversationManager(), "callback_handler": None}
    return Agent(Scripted(mind), tools=tools, plugins=plugins, **more)


def characters(messages: list[Any]) -> int:
    return sum(len(each["content"] or "") for each in as_chat(messages))


def test_the_view_is_sent_and_the_agent_keeps_all(state: Path) -> None:
    memory, mind = scenario.memory_in(state), scenario.mind()
    made = agent(mind, memory)
    assert str(made(scenario.QUESTION)).strip() == scenario.DONE
    assert scenario.list_orders(0) in [each["content"] for each in as_chat(made.messages)]
    scenario.check(mind, characters(made.messages))
    memory.close()


def test_a_stream_brings_its_tokens_and_its_recall(state: Path) -> None:
    memory, mind = scenario.memory_in(state), scenario.mind()

    async def streamed() -> list[str]:
        made = agent(mind, memory)
        return [
            each["data"] async for each in made.stream_async(scenario.QUESTION) if "data" in each
        ]

    words = asyncio.run(streamed())
    assert "".join(words).strip() == scenario.DONE
    assert len(words) > 2
    scenario.check(mind, scenario.CALLS * len(scenario.list_orders(0)))
    memory.close()


def resume(state: Path, mind: Any) -> None:
    memory = scenario.memory_in(state)
    manager = FileSessionManager("orders", storage_dir=str(state / "strands"))
    agent(mind, memory, session_manager=manager)(scenario.QUESTION)
    memory.close()


def test_a_new_process_resumes_the_session(state: Path) -> None:
    raw_characters = scenario.CALLS * len(scenario.list_orders(0))
    scenario.check(scenario.resumed(__file__, state), raw_characters)


def test_an_agent_in_a_tool_is_a_session_of_its_own(state: Path) -> None:
    memory, inner = scenario.memory_in(state), scenario.mind()
    outer = scenario.delegating(call("clerk"))

    @tool
    def clerk() -> str:
        """Look for orders."""
        return str(agent(inner, memory)(scenario.QUESTION))

    agent(outer, memory, tools=[LIST_ORDERS, clerk])(scenario.QUESTION)
    scenario.check_delegated(memory, outer, inner)


def test_a_memory_that_fails_lets_the_agent_go_on(state: Path) -> None:
    memory, mind = scenario.failed(state)
    assert str(agent(mind, memory)(scenario.QUESTION)).strip() == scenario.DONE
    scenario.check_failed(mind)


def test_whatever_a_tool_returns_is_sent_shortened(check_results: Any) -> None:
    lines, image = scenario.RESULTS["text"], base64.b64decode(scenario.PIXEL)
    blocks = [{"text": lines}, {"image": {"format": "png", "source": {"bytes": image}}}]
    more = {"text and image": {"status": "success", "content": blocks}}

    def ask(mind: Any, memory: Hippocampus, find: Any) -> None:
        agent(mind, memory, tools=[tool(find)])(scenario.QUESTION)

    check_results(f"{__name__}.as_chat", ask, more)


def test_the_program_of_the_page_runs(run_page: Any) -> None:
    run_page("strands.md", Scripted, '"global.anthropic.claude-sonnet-5-5"')
