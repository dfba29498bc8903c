"""Microsoft Agent Framework with the middleware: what the model is sent, and what the session keeps."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("agent_framework", reason="pip install hippocampus-context[agent-framework]")

from agent_framework import (
    Agent,
    AgentSession,
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationLayer,
    InMemoryHistoryProvider,
    Message,
    ResponseStream,
    tool,
)
from integrations import scenario

from hippocampus import Hippocampus
from hippocampus.integrations.agent_framework import HippocampusChatMiddleware
from hippocampus.testing import call

LIST_ORDERS = tool(scenario.list_orders)


def as_chat(messages: Any) -> list[dict[str, Any]]:
    """Write the messages as chat messages."""
    written: list[dict[str, Any]] = []
    for message in messages:
        calls = []
        for each in message.contents:
            if each.type == "function_result":
                text = "".join(part.text for part in each.items)
                assert text == each.result
                written.append({"role": "tool", "tool_call_id": each.call_id, "content": text})
            elif each.type == "function_call":
                function = {"name": each.name, "arguments": each.arguments}
                calls.append({"id": each.call_id, "type": "function", "function": function})
            elif each.type == "text":
                written.append({"role": message.role, "content": each.text})
        if calls:
            written.append({"role": "assistant", "content": None, "tool_calls": calls})
    return written


class Scripted(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):
    """A chat client of the framework that a script decides for."""

    def __init__(self, mind: Any) -> None:
        super().__init__(function_invocation_configuration={"max_iterations": 100})
        self.mind = mind

    def _inner_get_response(self, *, messages: Any, stream: bool, options: Any, **_: Any) -> Any:
        [item] = self.mind(as_chat(messages), [{"name": each.name} for each in options["tools"]])
        contents = [
            Content.from_function_call(
                each["id"], each["function"]["name"], arguments=each["function"]["arguments"]
            )
            for each in item.get("tool_calls", ())
        ]
        if stream:

            async def updates() -> Any:
                words = [Content.from_text(word + " ") for word in (item["content"] or "").split()]
                for each in contents or words:
                    yield ChatResponseUpdate(contents=[each], role="assistant")

            return ResponseStream(updates(), finalizer=ChatResponse.from_updates)

        async def whole() -> ChatResponse:
            made = Message("assistant", contents or [item["content"]])
            return ChatResponse(messages=[made])

        return whole()


def agent(mind: Any, memory: Hippocampus, **more: Any) -> Agent:
    ours = HippocampusChatMiddleware(memory)
    tools = [LIST_ORDERS, ours.recall, *more.pop("tools", ())]
    history = [InMemoryHistoryProvider()]
    return Agent(Scripted(mind), tools=tools, middleware=[ours], context_providers=history, **more)


def run(made: Agent, session: AgentSession) -> str:
    return asyncio.run(made.run(scenario.QUESTION, session=session)).text


def test_the_view_is_sent_and_the_session_is_whole(state: Path) -> None:
    memory, mind, session = scenario.memory_in(state), scenario.mind(), AgentSession(session_id="s")
    assert run(agent(mind, memory), session) == scenario.DONE
    kept = json.dumps(session.to_dict())
    assert json.dumps(scenario.list_orders(0)) in kept
    scenario.check(mind, scenario.CALLS * len(scenario.list_orders(0)))
    memory.close()


def test_a_stream_sends_the_same_bytes(tmp_path: Path) -> None:
    minds = [scenario.mind(), scenario.mind()]
    memory = scenario.memory_in(tmp_path / "one")
    run(agent(minds[0], memory), AgentSession(session_id="s"))
    memory.close()
    memory = scenario.memory_in(tmp_path / "two")

    async def streamed() -> list[str]:
        made = agent(minds[1], memory)
        updates = made.run(scenario.QUESTION, session=AgentSession(session_id="s"), stream=True)
        return [each.text async for each in updates if each.text]

    assert len(asyncio.run(streamed())) > 2
    assert minds[0].requests == minds[1].requests
    memory.close()


def resume(state: Path, mind: Any) -> None:
    memory, saved = scenario.memory_in(state), state / "session"
    known = json.loads(saved.read_text("utf-8")) if saved.exists() else None
    session = AgentSession.from_dict(known) if known else AgentSession(session_id="s")
    run(agent(mind, memory), session)
    saved.write_text(json.dumps(session.to_dict()), "utf-8")
    memory.close()


def test_a_new_process_resumes_the_session(state: Path) -> None:
    raw_characters = scenario.CALLS * len(scenario.list_orders(0))
    scenario.check(scenario.resumed(__file__, state), raw_characters)


def test_an_agent_in_a_tool_is_a_session_of_its_own(state: Path) -> None:
    memory, inner = scenario.memory_in(state), scenario.mind()
    outer = scenario.delegating(call("clerk"))

    @tool
    async def clerk() -> str:
        """Look for orders."""
        return (await agent(inner, memory).run(scenario.QUESTION, session=AgentSession())).text

    run(agent(outer, memory, tools=[clerk]), AgentSession(session_id="s"))
    scenario.check_delegated(memory, outer, inner)


def test_a_memory_that_fails_lets_the_agent_go_on(state: Path) -> None:
    memory, mind = scenario.failed(state)
    assert run(agent(mind, memory), AgentSession(session_id="s")) == scenario.DONE
    scenario.check_failed(mind)


def test_whatever_a_tool_returns_is_sent_shortened(check_results: Any) -> None:
    more = {"error": ValueError("late")}  # its message has the error, which no model is sent

    def ask(mind: Any, memory: Hippocampus, find: Any) -> None:
        run(agent(mind, memory, tools=[tool(find)]), AgentSession())

    check_results(f"{__name__}.as_chat", ask, more)


def test_the_program_of_the_page_runs(run_page: Any) -> None:
    run_page("agent-framework.md", Scripted, "OpenAIChatClient(MODEL)")
