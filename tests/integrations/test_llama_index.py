"""LlamaIndex with the agent of ours: what the model is sent, and what the context keeps."""

from __future__ import annotations

import asyncio
import base64
import json
import pickle
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("llama_index.core", reason="pip install hippocampus-context[llama-index]")

from integrations import scenario
from llama_index.core.agent.workflow import AgentStream
from llama_index.core.base.llms.types import ChatMessage, ImageBlock, TextBlock, ToolCallBlock
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.workflow import Context

from hippocampus import Hippocampus
from hippocampus.integrations import llama_index as adapter
from hippocampus.integrations.llama_index import HippocampusAgent
from hippocampus.testing import call

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")


def as_chat(messages: Any) -> list[dict[str, Any]]:
    """Write LlamaIndex's messages as chat messages."""
    written = []
    for message in messages:
        item: dict[str, Any] = {"role": message.role.value, "content": message.content or ""}
        for block in message.blocks:
            if isinstance(block, ToolCallBlock):
                function = {"name": block.tool_name, "arguments": json.dumps(block.tool_kwargs)}
                made = {"id": block.tool_call_id, "type": "function", "function": function}
                item.setdefault("tool_calls", []).append(made)
        if item["role"] == "tool":
            item["tool_call_id"] = message.additional_kwargs["tool_call_id"]
        written.append(item)
    return written


def scripted(mind: Any) -> MockFunctionCallingLLM:
    """A model of LlamaIndex that a script decides for."""

    def respond(messages: Any, tools: Any = (), **_: Any) -> ChatMessage:
        named = [{"name": each.metadata.name} for each in tools]
        [item] = mind(as_chat(messages), named)
        calls = [
            ToolCallBlock(
                tool_call_id=each["id"],
                tool_name=each["function"]["name"],
                tool_kwargs=json.loads(each["function"]["arguments"]),
            )
            for each in item.get("tool_calls", ())
        ]
        return ChatMessage(role="assistant", blocks=calls or [TextBlock(text=item["content"])])

    return MockFunctionCallingLLM(response_generator=respond)


def agent(mind: Any, memory: Hippocampus, **more: Any) -> HippocampusAgent:
    fields = {"tools": [scenario.list_orders], "llm": scripted(mind), "name": "clerk", **more}
    return HippocampusAgent(hippocampus=memory, **fields)


async def run(made: HippocampusAgent, ctx: Any = None, kept: Any = None) -> str:
    handler = made.run(scenario.QUESTION, ctx=ctx, memory=kept, max_iterations=200)
    return str(await handler)


def everything() -> ChatMemoryBuffer:
    return ChatMemoryBuffer.from_defaults(token_limit=10**9)


@pytest.mark.parametrize("streaming", [True, False], ids=["stream", "whole"])
def test_the_view_is_sent_and_the_chat_memory_is_whole(state: Path, streaming: bool) -> None:
    memory, mind, kept = scenario.memory_in(state), scenario.mind(), everything()
    answer = asyncio.run(run(agent(mind, memory, streaming=streaming), kept=kept))
    assert answer == scenario.DONE
    contents = [each.content for each in kept.get_all()]
    assert scenario.list_orders(0) in contents
    scenario.check(mind, sum(len(each or "") for each in contents))
    memory.close()


def test_a_stream_has_the_events_of_the_framework(state: Path) -> None:
    memory, mind = scenario.memory_in(state), scenario.mind()

    async def streamed() -> list[str]:
        handler = agent(mind, memory).run(scenario.QUESTION, max_iterations=200)
        events = [each async for each in handler.stream_events()]
        return [each.delta for each in events if isinstance(each, AgentStream) and each.delta]

    assert "".join(asyncio.run(streamed())) == scenario.DONE
    memory.close()


def resume(state: Path, mind: Any) -> None:
    memory, saved = scenario.memory_in(state), state / "context"
    made, kept = agent(mind, memory), everything()
    before = pickle.loads(saved.read_bytes()) if saved.exists() else {}
    kept.set(before.get("messages", []))

    async def once() -> Any:
        ctx = Context.from_dict(made, before["context"]) if before else Context(made)
        await run(made, ctx, kept)
        return ctx.to_dict()

    saved.write_bytes(pickle.dumps({"context": asyncio.run(once()), "messages": kept.get_all()}))
    memory.close()


def test_a_new_process_resumes_the_context(state: Path) -> None:
    scenario.check(scenario.resumed(__file__, state), scenario.CALLS * len(scenario.list_orders(0)))


def test_an_agent_in_a_tool_is_a_session_of_its_own(state: Path) -> None:
    memory, inner = scenario.memory_in(state), scenario.mind()
    outer = scenario.delegating(call("clerk"))

    async def clerk() -> str:
        """Look for orders."""
        return await run(agent(inner, memory))

    asyncio.run(run(agent(outer, memory, tools=[scenario.list_orders, clerk])))
    scenario.check_delegated(memory, outer, inner)


def test_a_memory_that_fails_lets_the_agent_go_on(state: Path) -> None:
    memory, mind = scenario.failed(state)
    assert asyncio.run(run(agent(mind, memory))) == scenario.DONE
    scenario.check_failed(mind)


def test_whatever_a_tool_returns_is_sent_shortened(check_results: Any) -> None:
    lines, image = scenario.RESULTS["text"], base64.b64decode(scenario.PIXEL)
    more = {"text and image": [TextBlock(text=lines), ImageBlock(image=image)]}

    def ask(mind: Any, memory: Hippocampus, find: Any) -> None:
        asyncio.run(run(agent(mind, memory, tools=[find])))

    check_results(f"{__name__}.as_chat", ask, more)


def test_edits_are_made_in_copies() -> None:
    block = ToolCallBlock(tool_call_id="b", tool_name="write", tool_kwargs={"x": "long"})
    said = ChatMessage(role="assistant", blocks=[TextBlock(text="a"), block, TextBlock(text="b")])
    edited = adapter._edit(said, "call", 0, json.dumps({"x": "short"}))
    edited = adapter._edit(edited, "text", 0, "c")
    assert edited.content == "c"
    assert edited.blocks[1].tool_kwargs == {"x": "short"}
    assert said.content == "a\nb"
    assert block.tool_kwargs == {"x": "long"}


def test_the_program_of_the_page_runs(run_page: Any) -> None:
    run_page("llama-index.md", scripted, "Settings.llm")
