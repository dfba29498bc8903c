"""AG2 with the plugin of ours: what the model is sent, and what the stream's history keeps."""

from __future__ import annotations

import asyncio
import json
import pickle
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

pytest.importorskip("ag2", reason="pip install hippocampus-context[ag2]")

from ag2 import Agent, MemoryStream, events
from ag2.testing import TestConfig
from integrations import scenario

from hippocampus import Hippocampus
from hippocampus.integrations.ag2 import HippocampusAg2Plugin
from hippocampus.testing import call

STREAM = UUID(int=7)


def as_chat(history: Iterable[Any]) -> list[dict[str, Any]]:
    """Write the events that a model is sent as chat messages."""
    written: list[dict[str, Any]] = []
    for event in history:
        if isinstance(event, events.ModelRequest):
            written.append({"role": "user", "content": event.parts[0].content})
        elif isinstance(event, events.ModelResponse):
            written.append(event.to_api())
        elif isinstance(event, events.ToolResultsEvent):
            for each in event.results:
                [part] = each.result.parts
                named = {"tool_call_id": each.parent_id, "content": part.content}
                written.append({"role": "tool", **named})
    return written


class Scripted(TestConfig):
    """A model of AG2 that a script decides for, as its client too."""

    def __init__(self, mind: Any) -> None:
        super().__init__()
        self.mind = mind

    def copy(self) -> Any:
        return self

    def create(self) -> Any:
        return self

    async def __call__(
        self, messages: Any, context: Any, *, tools: Any = (), **_: Any
    ) -> events.ModelResponse:
        named = [{"name": each.function.name} for each in tools]
        [item] = self.mind(as_chat(messages), named)
        if not item.get("tool_calls"):
            for word in item["content"].split(" "):
                await context.send(events.ModelMessageChunk(word + " "))
            return events.ModelResponse(events.ModelMessage(item["content"]))
        calls = [
            events.ToolCallEvent(id=each["id"], **each["function"]) for each in item["tool_calls"]
        ]
        return events.ModelResponse(tool_calls=events.ToolCallsEvent(calls))


def agent(mind: Any, memory: Hippocampus, **more: Any) -> Agent:
    tools = [scenario.list_orders, *more.pop("tools", ())]
    plugins = [HippocampusAg2Plugin(memory)]
    return Agent("clerk", config=Scripted(mind), tools=tools, plugins=plugins, **more)


def run(made: Agent, stream: MemoryStream | None = None) -> str:
    return asyncio.run(made.ask(scenario.QUESTION, stream=stream or MemoryStream())).body


def kept(stream: MemoryStream) -> list[Any]:
    return list(asyncio.run(stream.history.get_events()))


def test_the_view_is_sent_and_the_history_is_whole(state: Path) -> None:
    memory, mind, stream = scenario.memory_in(state), scenario.mind(), MemoryStream()
    assert run(agent(mind, memory), stream) == scenario.DONE
    assert scenario.list_orders(0) in [each["content"] for each in as_chat(kept(stream))]
    scenario.check(mind, len(json.dumps(as_chat(kept(stream)))))
    memory.close()


def test_a_streamed_run_sends_the_same_bytes(tmp_path: Path) -> None:
    minds = [scenario.mind(), scenario.mind()]
    memory = scenario.memory_in(tmp_path / "one")
    run(agent(minds[0], memory), MemoryStream(id=STREAM))
    memory.close()
    memory = scenario.memory_in(tmp_path / "two")

    stream, chunks = MemoryStream(id=STREAM), []
    stream.where(events.ModelMessageChunk).subscribe(lambda event: chunks.append(event.content))
    run(agent(minds[1], memory), stream)
    assert "".join(chunks).strip() == scenario.DONE
    assert minds[0].requests == minds[1].requests
    memory.close()


def resume(state: Path, mind: Any) -> None:
    memory, stream, saved = scenario.memory_in(state), MemoryStream(id=STREAM), state / "events"
    if saved.exists():
        asyncio.run(stream.history.replace(pickle.loads(saved.read_bytes())))
    run(agent(mind, memory), stream)
    saved.write_bytes(pickle.dumps(kept(stream)))
    memory.close()


def test_a_new_process_resumes_the_stream(state: Path) -> None:
    scenario.check(scenario.resumed(__file__, state), scenario.CALLS * len(scenario.list_orders(0)))


def test_an_agent_that_is_a_tool_is_a_session_of_its_own(state: Path) -> None:
    memory, inner = scenario.memory_in(state), scenario.mind()
    helper = agent(inner, memory).as_tool(description="Looks for orders.", name="helper")
    outer = scenario.delegating(call("helper", objective=scenario.QUESTION))
    run(agent(outer, memory, tools=[helper]))
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
    run_page("ag2.md", Scripted, 'OpenAIConfig("gpt-5.4-mini")')
