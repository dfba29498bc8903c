"""CrewAI with a model that sends the view: what it is sent, and what the executor keeps."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

os.environ |= {"CREWAI_DISABLE_TELEMETRY": "true", "CREWAI_TRACING_ENABLED": "false"}
pytest.importorskip("crewai", reason="pip install hippocampus-context[crewai]")

from crewai import Agent, BaseLLM, Crew, Task
from crewai.tools import tool
from integrations import scenario
from pydantic import PrivateAttr

from hippocampus import Hippocampus
from hippocampus.integrations.crewai import remember
from hippocampus.testing import call

pytestmark = pytest.mark.filterwarnings("ignore")
list_orders = tool(scenario.list_orders)


def as_chat(messages: Any) -> list[dict[str, Any]]:
    """Copy the messages, which are chat messages."""
    return list(json.loads(json.dumps(messages)))


class Scripted(BaseLLM):
    """A model of CrewAI that a script decides for."""

    _mind: Any = PrivateAttr()
    _raw: Any = PrivateAttr(default=())

    def __init__(self, mind: Any, **fields: Any) -> None:
        super().__init__(**{"model": "scripted", **fields})
        self._mind = mind

    def call(self, messages: Any, tools: Any = None, *_: Any, **__: Any) -> Any:
        [item] = self._mind(as_chat(messages), tools or ())
        return item.get("tool_calls") or item["content"]

    async def acall(self, messages: Any, tools: Any = None, *_: Any, **__: Any) -> Any:
        return self.call(messages, tools)

    def get_context_window_size(self) -> int:
        return 40_000  # less than the raw messages, more than any view

    def supports_function_calling(self) -> bool:
        return True


def agent(mind: Any, memory: Hippocampus, session_id: str = "orders", **more: Any) -> Agent:
    llm, recall = remember(Scripted(mind), memory, session_id)
    tools = [list_orders, recall, *more.pop("tools", ())]
    fields = {"role": "clerk", "goal": "Answer.", "backstory": "A clerk.", "max_iter": 100, **more}
    return Agent(llm=llm, tools=tools, **fields)


def crew(made: Agent) -> Crew:
    task = Task(description=scenario.QUESTION, expected_output="An answer.", agent=made)
    return Crew(agents=[made], tasks=[task])


def raw_characters() -> int:
    return scenario.CALLS * len(scenario.list_orders(0))


def test_the_view_is_sent_and_the_executor_keeps_all(state: Path) -> None:
    memory, mind = scenario.memory_in(state), scenario.mind()
    made = agent(mind, memory)
    assert crew(made).kickoff().raw == scenario.DONE
    kept = [each.get("content") for each in made.agent_executor.messages]
    assert scenario.list_orders(0) in kept
    scenario.check(mind, raw_characters())
    memory.close()


def test_an_asynchronous_crew_sends_the_same_bytes(tmp_path: Path) -> None:
    minds = [scenario.mind(), scenario.mind()]
    memory = scenario.memory_in(tmp_path / "one")
    crew(agent(minds[0], memory)).kickoff()
    memory.close()
    memory = scenario.memory_in(tmp_path / "two")
    asyncio.run(crew(agent(minds[1], memory)).akickoff())
    assert minds[0].requests == minds[1].requests
    memory.close()


def resume(state: Path, mind: Any) -> None:
    memory, saved = scenario.memory_in(state), state / "messages"
    known = json.loads(saved.read_text("utf-8")) if saved.exists() else []
    done = agent(mind, memory).kickoff([*known, {"role": "user", "content": scenario.QUESTION}])
    kept = [each for each in done.messages if each["role"] != "system"]
    saved.write_text(json.dumps(kept), "utf-8")
    memory.close()


def test_a_new_process_resumes_the_messages(state: Path) -> None:
    scenario.check(scenario.resumed(__file__, state), raw_characters())


def test_a_coworker_is_a_session_of_its_own(state: Path) -> None:
    memory, inner = scenario.memory_in(state), scenario.mind()
    outer = scenario.delegating(
        call(
            "delegate_work_to_coworker",
            task=scenario.QUESTION,
            context="None.",
            coworker="helper",
        )
    )
    helper = agent(inner, memory, "orders/helper", role="helper")
    clerk = agent(outer, memory, allow_delegation=True)
    task = Task(description=scenario.QUESTION, expected_output="An answer.", agent=clerk)
    assert Crew(agents=[clerk, helper], tasks=[task]).kickoff().raw == scenario.DONE
    scenario.check(inner, raw_characters())
    assert scenario.order(99, 41)["id"] in outer.requests[-1][-1]["content"]
    assert len(memory.unconsolidated()) == 2
    memory.close()


def test_a_memory_that_fails_lets_the_agent_go_on(state: Path) -> None:
    memory, mind = scenario.failed(state)
    assert crew(agent(mind, memory)).kickoff().raw == scenario.DONE
    scenario.check_failed(mind)


def test_whatever_a_tool_returns_is_sent_shortened(check_results: Any) -> None:

    def ask(mind: Any, memory: Hippocampus, find: Any) -> None:
        crew(agent(mind, memory, tools=[tool(find)])).kickoff()

    check_results(f"{__name__}.as_chat", ask)


def test_the_program_of_the_page_runs(run_page: Any) -> None:
    run_page("crewai.md", Scripted, 'LLM("openai/gpt-5.4-mini")')
