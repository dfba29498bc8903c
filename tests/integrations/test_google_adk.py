"""Google ADK with the plugin: what the model is sent, and what the session keeps."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("google.adk", reason="pip install hippocampus-context[google-adk]")

from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.apps import App
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService, Session
from google.adk.tools.agent_tool import AgentTool
from google.genai import types
from integrations import scenario

from hippocampus import Hippocampus
from hippocampus.integrations.google_adk import HippocampusAdkPlugin
from hippocampus.testing import call

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")


def as_chat(contents: list[Any]) -> list[dict[str, Any]]:
    """Write contents as chat messages; calls without an id are matched by name and order."""
    written: list[dict[str, Any]] = []
    open_ids: dict[str, list[str]] = defaultdict(list)
    for number, content in enumerate(contents):
        calls = []
        for place, part in enumerate(content.parts):
            if part.function_response:
                answered = part.function_response
                text = answered.response["result"]
                call_id = open_ids[answered.name].pop(0)
                written.append({"role": "tool", "tool_call_id": call_id, "content": text})
            elif part.function_call:
                name, call_id = part.function_call.name, f"{number}-{place}"
                open_ids[name].append(call_id)
                function = {"name": name, "arguments": json.dumps(part.function_call.args)}
                calls.append({"id": call_id, "type": "function", "function": function})
            else:
                role = "assistant" if content.role == "model" else "user"
                written.append({"role": role, "content": part.text})
        if calls:
            written.append({"role": "assistant", "content": None, "tool_calls": calls})
    return written


class Scripted(BaseLlm):
    """A model of ADK that a script decides for."""

    mind: Any
    model: str = "scripted"

    async def generate_content_async(
        self, llm_request: Any, stream: bool = False
    ) -> AsyncIterator[Any]:
        tools = [{"name": name} for name in llm_request.tools_dict]
        [item] = self.mind(as_chat(llm_request.contents), tools)
        parts = [
            types.Part.from_function_call(name=f["name"], args=json.loads(f["arguments"]))
            for f in (each["function"] for each in item.get("tool_calls", ()))
        ]
        for word in (item["content"] or "").split(" ") if stream and not parts else ():
            part = types.Part(text=word)
            yield LlmResponse(content=types.Content(role="model", parts=[part]), partial=True)
        parts = parts or [types.Part(text=item["content"])]
        yield LlmResponse(content=types.Content(role="model", parts=parts), partial=False)


def run(
    mind: Any, memory: Hippocampus, sessions: Any = None, tools: Any = None, *, stream: bool = False
) -> list[Any]:
    agent = LlmAgent(name="clerk", model=Scripted(mind=mind), tools=tools or [scenario.list_orders])
    app = App(name="orders", root_agent=agent, plugins=[HippocampusAdkPlugin(memory)])
    sessions = sessions or InMemorySessionService()
    mode = RunConfig(
        streaming_mode=StreamingMode.SSE if stream else StreamingMode.NONE, max_llm_calls=200
    )

    async def asked() -> list[Any]:
        runner = Runner(app=app, session_service=sessions, auto_create_session=True)
        said = types.Content(role="user", parts=[types.Part(text=scenario.QUESTION)])
        where = {"user_id": "u", "session_id": "s"}
        return [each async for each in runner.run_async(**where, new_message=said, run_config=mode)]

    return asyncio.run(asked())


def characters(sessions: Any) -> int:
    kept = asyncio.run(sessions.get_session(app_name="orders", user_id="u", session_id="s"))
    parts = [part for event in kept.events for part in event.content.parts]
    return sum(
        len(each.function_response.response["result"]) for each in parts if each.function_response
    )


def test_the_view_is_sent_and_the_session_is_whole(state: Path) -> None:
    memory, mind, sessions = scenario.memory_in(state), scenario.mind(), InMemorySessionService()
    events = run(mind, memory, sessions)
    assert events[-1].content.parts[0].text == scenario.DONE
    assert characters(sessions) > scenario.CALLS * len(scenario.list_orders(0))
    scenario.check(mind, characters(sessions))
    memory.close()


def test_a_stream_brings_its_tokens_and_its_recall(state: Path) -> None:
    memory, mind = scenario.memory_in(state), scenario.mind()
    events = run(mind, memory, stream=True)
    assert sum(bool(each.partial) for each in events) > 2
    scenario.check(mind, scenario.CALLS * len(scenario.list_orders(0)))
    memory.close()


def resume(state: Path, mind: Any) -> None:
    memory, saved, sessions = scenario.memory_in(state), state / "session", InMemorySessionService()
    if saved.exists():
        sessions.sessions["orders"] = {"u": {"s": Session.model_validate_json(saved.read_text())}}
    run(mind, memory, sessions)
    saved.write_text(sessions.sessions["orders"]["u"]["s"].model_dump_json(), "utf-8")
    memory.close()


def test_a_new_process_resumes_the_session(state: Path) -> None:
    scenario.check(scenario.resumed(__file__, state), scenario.CALLS * len(scenario.list_orders(0)))


def test_an_agent_that_is_a_tool_is_a_session_of_its_own(state: Path) -> None:
    memory, inner = scenario.memory_in(state), scenario.mind()
    outer = scenario.delegating(call("helper", request=scenario.QUESTION))
    helper = LlmAgent(name="helper", model=Scripted(mind=inner), tools=[scenario.list_orders])
    run(outer, memory, tools=[scenario.list_orders, AgentTool(helper)])
    scenario.check_delegated(memory, outer, inner)


def test_a_memory_that_fails_lets_the_agent_go_on(state: Path) -> None:
    memory, mind = scenario.failed(state)
    assert run(mind, memory)[-1].content.parts[0].text == scenario.DONE
    scenario.check_failed(mind)


def test_whatever_a_tool_returns_is_sent_shortened(check_results: Any) -> None:

    def ask(mind: Any, memory: Hippocampus, find: Any) -> None:
        run(mind, memory, tools=[find])

    check_results(f"{__name__}.as_chat", ask)


def test_the_program_of_the_page_runs(run_page: Any) -> None:
    run_page("google-adk.md", lambda mind: Scripted(mind=mind), '"gemini-3.5-flash"')
