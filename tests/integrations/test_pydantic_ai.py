"""Pydantic AI with the capability: what the model is sent, and what the history keeps."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip(
    "pydantic_ai.capabilities", reason="pip install hippocampus-context[pydantic-ai]"
)

from integrations import scenario
from pydantic_ai import Agent, ModelRetry
from pydantic_ai.messages import (
    BinaryContent,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturn,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel
from pydantic_ai.usage import UsageLimits

from hippocampus import Hippocampus
from hippocampus.integrations import pydantic_ai as adapter
from hippocampus.integrations.pydantic_ai import HippocampusCapability
from hippocampus.testing import call

LIMITS = UsageLimits(request_limit=200)


def as_chat(messages: list[Any]) -> list[dict[str, Any]]:
    """Write Pydantic AI's messages as chat messages."""
    written: list[dict[str, Any]] = []
    for message in messages:
        calls = []
        for part in message.parts:
            if isinstance(part, ToolReturnPart):
                content = part.model_response_str()
                written.append(
                    {"role": "tool", "tool_call_id": part.tool_call_id, "content": content}
                )
            elif isinstance(part, ToolCallPart):
                function = {"name": part.tool_name, "arguments": part.args_as_json_str()}
                calls.append({"id": part.tool_call_id, "type": "function", "function": function})
            else:
                role = "assistant" if isinstance(part, TextPart) else "user"
                written.append({"role": role, "content": part.content})
        if calls:
            written.append({"role": "assistant", "content": None, "tool_calls": calls})
    return written


def model(mind: Any) -> FunctionModel:
    """A model of Pydantic AI that a script decides for."""

    def decided(messages: list[Any], info: AgentInfo) -> dict[str, Any]:
        [item] = mind(as_chat(messages), [{"name": each.name} for each in info.function_tools])
        return dict(item)

    def respond(messages: list[Any], info: AgentInfo) -> ModelResponse:
        item = decided(messages, info)
        calls = [
            ToolCallPart(each["function"]["name"], each["function"]["arguments"], each["id"])
            for each in item.get("tool_calls", ())
        ]
        return ModelResponse(calls or [TextPart(item["content"])])

    async def stream(messages: list[Any], info: AgentInfo) -> AsyncIterator[Any]:
        item = decided(messages, info)
        for number, each in enumerate(item.get("tool_calls", ())):
            function = each["function"]
            yield {
                number: DeltaToolCall(
                    function["name"], function["arguments"], tool_call_id=each["id"]
                )
            }
        for word in (item["content"] or "").split():
            yield word + " "

    return FunctionModel(respond, stream_function=stream)


def agent(mind: Any, memory: Hippocampus) -> Agent[Any, str]:
    capabilities = [HippocampusCapability(memory)]
    return Agent(model(mind), tools=[scenario.list_orders], capabilities=capabilities)


def run(made: Agent[Any, str], history: Any = None) -> Any:
    given = {"message_history": history} if history else {"conversation_id": "orders"}
    return asyncio.run(made.run(scenario.QUESTION, usage_limits=LIMITS, **given))


def characters(messages: list[Any]) -> int:
    return sum(len(each["content"] or "") for each in as_chat(messages))


def test_the_view_is_sent_and_the_history_is_whole(state: Path) -> None:
    memory, mind = scenario.memory_in(state), scenario.mind()
    done = run(agent(mind, memory))
    assert done.output == scenario.DONE
    history = as_chat(done.all_messages())
    assert scenario.list_orders(0) in [each["content"] for each in history]
    scenario.check(mind, characters(done.all_messages()))
    memory.close()


def test_a_streamed_run_sends_the_same_bytes(tmp_path: Path) -> None:
    minds = [scenario.mind(), scenario.mind()]
    memory = scenario.memory_in(tmp_path / "one")
    run(agent(minds[0], memory))
    memory.close()

    async def streamed() -> None:
        memory = scenario.memory_in(tmp_path / "two")
        made = agent(minds[1], memory)
        where = {"conversation_id": "orders", "usage_limits": LIMITS}
        async with made.run_stream(scenario.QUESTION, **where) as result:
            words = [each async for each in result.stream_text(delta=True, debounce_by=None)]
        assert len(words) > 1
        memory.close()

    asyncio.run(streamed())
    assert minds[0].requests == minds[1].requests


def resume(state: Path, mind: Any) -> None:
    memory, saved = scenario.memory_in(state), state / "messages"
    known = ModelMessagesTypeAdapter.validate_json(saved.read_bytes()) if saved.exists() else None
    saved.write_bytes(run(agent(mind, memory), known).all_messages_json())
    memory.close()


def test_a_new_process_resumes_the_conversation(state: Path) -> None:
    raw_characters = scenario.CALLS * len(scenario.list_orders(0))
    scenario.check(scenario.resumed(__file__, state), raw_characters)


def test_an_agent_in_a_tool_is_a_session_of_its_own(state: Path) -> None:
    memory, inner = scenario.memory_in(state), scenario.mind()
    outer = scenario.delegating(call("clerk"))
    made = agent(outer, memory)

    @made.tool_plain
    async def clerk() -> str:
        """Look for orders."""
        done = await agent(inner, memory).run(scenario.QUESTION, usage_limits=LIMITS)
        return done.output

    run(made)
    scenario.check_delegated(memory, outer, inner)


def test_a_memory_that_fails_lets_the_run_go_on(state: Path) -> None:
    memory, mind = scenario.failed(state)
    assert run(agent(mind, memory)).output == scenario.DONE
    scenario.check_failed(mind)


def test_whatever_a_tool_returns_is_sent_shortened(check_results: Any) -> None:
    image = BinaryContent(base64.b64decode(scenario.PIXEL), media_type="image/png")
    lines = scenario.RESULTS["text"]
    more = {
        "text and image": [lines, image],
        "rows and image": [*scenario.RESULT_ROWS, image],
        "error": ModelRetry(lines),
        "tool return": ToolReturn(scenario.RESULT_ROWS, content="The orders."),
    }

    def ask(mind: Any, memory: Hippocampus, find: Any) -> None:
        capabilities = [HippocampusCapability(memory)]
        run(Agent(model(mind), tools=[find], capabilities=capabilities))

    check_results(f"{__name__}.as_chat", ask, more)


def test_edits_are_made_in_copies_and_keep_files() -> None:
    image = BinaryContent(b"x", media_type="image/png")
    own = ModelRequest([ToolReturnPart("t", ["long", image], "a"), UserPromptPart([image, "long"])])
    edited = adapter._edit(adapter._edit(own, "result", 0, "short"), "text", 1, "brief")
    assert [each.content for each in edited.parts] == [["short", image], [image, "brief"]]
    assert own.parts[1].content == [image, "long"]
    assert adapter._read(own)[1]["content"] == "long"
    said = ModelResponse([TextPart("a"), ToolCallPart("write", {"x": "long"}, "b")])
    edited = adapter._edit(said, "call", 0, json.dumps({"x": "s"}))
    assert edited.parts[1].args_as_dict() == {"x": "s"}
    assert said.parts[1].args_as_dict() == {"x": "long"}


def test_the_program_of_the_page_runs(run_page: Any) -> None:
    run_page("pydantic-ai.md", model, '"anthropic:claude-sonnet-5-5"')
