"""The OpenAI Agents SDK with the filter: what the model is sent, and what its session keeps."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("agents.testing", reason="pip install hippocampus-context[openai-agents]")

from agents import (
    Agent,
    RunConfig,
    Runner,
    SQLiteSession,
    ToolOutputImage,
    ToolOutputText,
    function_tool,
)
from agents.testing import ModelStep, ScriptedModel, assistant_message, function_call
from integrations import scenario

from hippocampus import Hippocampus
from hippocampus.integrations.openai_agents import HippocampusFilter, recall_tool
from hippocampus.testing import call

LIST_ORDERS = function_tool(scenario.list_orders)


def scripted(mind: Any, steps: int) -> ScriptedModel:
    """A model of the SDK that a script decides for."""

    def respond(asked: Any) -> list[Any]:
        tools = [{"name": each.name} for each in asked.tools]
        [item] = mind(as_chat(asked.input), tools)
        if item.get("tool_calls"):
            named = [(each["id"], each["function"]) for each in item["tool_calls"]]
            return [function_call(each["name"], each["arguments"], call_id=i) for i, each in named]
        return [assistant_message(item["content"], item_id=f"message-{len(mind.requests)}")]

    return ScriptedModel([ModelStep.respond(respond)] * steps)


def as_chat(items: Any) -> list[dict[str, Any]]:
    """Write Responses items as chat messages."""
    messages: list[dict[str, Any]] = []
    for item in [{"role": "user", "content": items}] if isinstance(items, str) else items:
        kind = item.get("type", "message")
        if kind == "function_call":
            function = {"name": item["name"], "arguments": item["arguments"]}
            made = {"id": item["call_id"], "type": "function", "function": function}
            if messages[-1].get("tool_calls"):
                messages[-1]["tool_calls"].append(made)
            else:
                messages.append({"role": "assistant", "content": None, "tool_calls": [made]})
        elif kind == "function_call_output":
            answer = {"role": "tool", "tool_call_id": item["call_id"], "content": item["output"]}
            messages.append(answer)
        else:
            content = item["content"]
            if not isinstance(content, str):
                content = "".join(block["text"] for block in content)
            messages.append({"role": item["role"], "content": content})
    return messages


def agent(mind: Any, steps: int = 100, **more: Any) -> Agent[Any]:
    tools = [LIST_ORDERS, recall_tool]
    return Agent(name="clerk", model=scripted(mind, steps), **{"tools": tools, **more})


def config(memory: Hippocampus, session_id: str = "orders") -> RunConfig:
    chosen = HippocampusFilter(memory, session_id)
    return RunConfig(call_model_input_filter=chosen, tracing_disabled=True)


def run(made: Agent[Any], memory: Hippocampus, session: Any = None) -> Any:
    asked = Runner.run(
        made, scenario.QUESTION, run_config=config(memory), session=session, max_turns=100
    )
    return asyncio.run(asked)


def characters(items: list[Any]) -> int:
    return sum(len(each.get("output", "")) for each in items)


def test_the_view_is_sent_and_the_session_is_whole(state: Path) -> None:
    memory, mind = scenario.memory_in(state), scenario.mind()
    session = SQLiteSession("orders")
    done = run(agent(mind), memory, session)
    kept = asyncio.run(session.get_items())
    assert done.final_output == scenario.DONE
    assert scenario.list_orders(0) in [each.get("output") for each in kept]
    scenario.check(mind, characters(kept))
    memory.close()
    session.close()


def test_a_streamed_run_sends_the_same_bytes(tmp_path: Path) -> None:
    minds = [scenario.mind(), scenario.mind()]
    memory = scenario.memory_in(tmp_path / "one")
    run(agent(minds[0]), memory)
    memory.close()

    async def streamed() -> None:
        memory = scenario.memory_in(tmp_path / "two")
        result = Runner.run_streamed(
            agent(minds[1]), scenario.QUESTION, run_config=config(memory), max_turns=100
        )
        kinds = {event.type async for event in result.stream_events()}
        assert "raw_response_event" in kinds
        memory.close()

    asyncio.run(streamed())
    assert minds[0].requests == minds[1].requests


def resume(state: Path, mind: Any) -> None:
    memory, session = scenario.memory_in(state), SQLiteSession("orders", state / "agents.db")
    run(agent(mind), memory, session)
    session.close()
    memory.close()


def test_a_new_process_resumes_the_session(state: Path) -> None:
    raw_characters = scenario.CALLS * len(scenario.list_orders(0))
    scenario.check(scenario.resumed(__file__, state), raw_characters)


def test_an_agent_that_is_a_tool_is_a_session_of_its_own(state: Path) -> None:
    memory, inner = scenario.memory_in(state), scenario.mind()
    outer = scenario.delegating(call("clerk", input=scenario.QUESTION + " All of them."))
    clerk = agent(inner).as_tool("clerk", "Looks for orders.", max_turns=100)
    run(agent(outer, tools=[LIST_ORDERS, clerk, recall_tool]), memory)
    scenario.check_delegated(memory, outer, inner)


def test_a_memory_that_fails_lets_the_run_go_on(state: Path) -> None:
    memory, mind = scenario.failed(state)
    assert run(agent(mind), memory).final_output == scenario.DONE
    scenario.check_failed(mind)


def test_whatever_a_tool_returns_is_sent_shortened(check_results: Any) -> None:
    lines, url = scenario.RESULTS["text"], f"data:image/png;base64,{scenario.PIXEL}"
    more = {"text and image": [ToolOutputText(text=lines), ToolOutputImage(image_url=url)]}

    def ask(mind: Any, memory: Hippocampus, find: Any) -> None:
        run(agent(mind, tools=[function_tool(find), recall_tool]), memory)

    check_results(f"{__name__}.as_chat", ask, more)


def test_the_program_of_the_page_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_AGENTS_DISABLE_TRACING", "1")
    mind = scenario.mind(*scenario.PAGE_SCRIPT)
    scenario.run_page("openai-agents.md", scripted(mind, 9), '"gpt-5.4-mini"')
    assert capsys.readouterr().out == "Order A-417 is late.\n"
    assert "A-417" in mind.requests[-1][-1]["content"]
