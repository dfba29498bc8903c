"""AutoGen with the context of ours: what the model is sent, and what the agent's state keeps."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("autogen_agentchat", reason="pip install hippocampus-context[autogen]")

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.tools import AgentTool
from autogen_core import FunctionCall
from autogen_core.models import CreateResult, FunctionExecutionResultMessage, RequestUsage
from autogen_ext.models.replay import ReplayChatCompletionClient
from integrations import scenario

from hippocampus import Hippocampus
from hippocampus.integrations.autogen import HippocampusContext
from hippocampus.testing import call

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")
ROLES = {"SystemMessage": "system", "UserMessage": "user", "AssistantMessage": "assistant"}


def as_chat(messages: Any) -> list[dict[str, Any]]:
    """Write AutoGen's messages as chat messages."""
    written: list[dict[str, Any]] = []
    for message in messages:
        if isinstance(message, FunctionExecutionResultMessage):
            written += [
                {"role": "tool", "tool_call_id": each.call_id, "content": each.content}
                for each in message.content
            ]
            continue
        item: dict[str, Any] = {"role": ROLES[message.type], "content": message.content}
        if isinstance(message.content, list):
            named = [
                (each.id, {"name": each.name, "arguments": each.arguments})
                for each in message.content
            ]
            calls = [{"id": i, "type": "function", "function": function} for i, function in named]
            item |= {"content": None, "tool_calls": calls}
        written.append(item)
    return written


class Scripted(ReplayChatCompletionClient):
    """A client of AutoGen that a script decides for."""

    def __init__(self, mind: Any) -> None:
        info = {"vision": False, "function_calling": True, "json_output": False}
        more = {"family": "unknown", "structured_output": False, "multiple_system_messages": True}
        super().__init__([], model_info={**info, **more})
        self.mind = mind

    async def create(self, messages: Any, *, tools: Any = (), **_: Any) -> CreateResult:
        named = [each if isinstance(each, dict) else {"name": each.name} for each in tools]
        [item] = self.mind(as_chat(messages), named)
        calls = [
            FunctionCall(id=each["id"], **each["function"]) for each in item.get("tool_calls", ())
        ]
        return CreateResult(
            content=calls or item["content"],
            finish_reason="function_calls" if calls else "stop",
            usage=RequestUsage(0, 0),
            cached=False,
        )

    async def create_stream(
        self, messages: Any, *, tools: Any = (), **_: Any
    ) -> AsyncIterator[Any]:
        result = await self.create(messages, tools=tools)
        if isinstance(result.content, str):
            for word in result.content.split(" "):
                yield word + " "
        yield result


def agent(
    mind: Any, memory: Hippocampus, session_id: str = "orders", **more: Any
) -> AssistantAgent:
    context = HippocampusContext(memory, session_id)
    tools = [scenario.list_orders, context.recall, *more.pop("tools", ())]
    fields = {"tools": tools, "model_context": context, "max_tool_iterations": 100, **more}
    return AssistantAgent(fields.pop("name", "clerk"), Scripted(mind), **fields)


def run(made: AssistantAgent) -> str:
    return asyncio.run(made.run(task=scenario.QUESTION)).messages[-1].content


def kept(made: AssistantAgent) -> str:
    return json.dumps(asyncio.run(made.save_state()))


def test_the_view_is_sent_and_the_state_is_whole(state: Path) -> None:
    memory, mind = scenario.memory_in(state), scenario.mind()
    made = agent(mind, memory)
    assert run(made) == scenario.DONE
    assert json.dumps(scenario.list_orders(0)) in kept(made)
    scenario.check(mind, scenario.CALLS * len(scenario.list_orders(0)))
    memory.close()


def test_a_stream_sends_the_same_bytes(tmp_path: Path) -> None:
    minds = [scenario.mind(), scenario.mind()]
    memory = scenario.memory_in(tmp_path / "one")
    run(agent(minds[0], memory))
    memory.close()
    memory = scenario.memory_in(tmp_path / "two")
    made = agent(minds[1], memory, model_client_stream=True)

    async def streamed() -> list[str]:
        events = [each async for each in made.run_stream(task=scenario.QUESTION)]
        return [type(each).__name__ for each in events]

    assert asyncio.run(streamed()).count("ModelClientStreamingChunkEvent") > 2
    assert minds[0].requests == minds[1].requests
    memory.close()


def resume(state: Path, mind: Any) -> None:
    memory, saved = scenario.memory_in(state), state / "agent"
    made = agent(mind, memory)
    if saved.exists():
        asyncio.run(made.load_state(json.loads(saved.read_text("utf-8"))))
    run(made)
    saved.write_text(kept(made), "utf-8")
    memory.close()


def test_a_new_process_resumes_the_state(state: Path) -> None:
    raw_characters = scenario.CALLS * len(scenario.list_orders(0))
    scenario.check(scenario.resumed(__file__, state), raw_characters)


def test_an_agent_that_is_a_tool_is_a_session_of_its_own(state: Path) -> None:
    memory, inner = scenario.memory_in(state), scenario.mind()
    outer = scenario.delegating(call("helper", task=scenario.QUESTION))
    helper = agent(inner, memory, "orders/helper", name="helper", description="Looks for orders.")
    run(agent(outer, memory, tools=[AgentTool(helper)]))
    scenario.check_delegated(memory, outer, inner)


def test_a_memory_that_fails_lets_the_agent_go_on(state: Path) -> None:
    memory, mind = scenario.failed(state)
    assert run(agent(mind, memory)) == scenario.DONE
    scenario.check_failed(mind)


def test_whatever_a_tool_returns_is_sent_shortened(check_results: Any) -> None:

    def ask(mind: Any, memory: Hippocampus, find: Any) -> None:
        run(agent(mind, memory, tools=[find]))

    check_results(f"{__name__}.as_chat", ask)


def test_the_program_of_the_page_runs(run_page: Any) -> None:
    client = 'OpenAIChatCompletionClient(model="gpt-5.4-mini")'
    run_page("autogen.md", Scripted, client)
