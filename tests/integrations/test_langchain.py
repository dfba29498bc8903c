"""LangChain's agents with the middleware: what the model is sent, and what the state keeps."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip(
    "langchain.agents.middleware", reason="pip install hippocampus-context[langchain]"
)

from integrations import scenario
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ToolMessage,
    convert_to_openai_messages,
    messages_from_dict,
    messages_to_dict,
)
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from hippocampus import Hippocampus
from hippocampus.integrations.langchain import HippocampusMiddleware
from hippocampus.testing import ScriptedModel, call


class Scripted(BaseChatModel):
    """A chat model of LangChain that a script decides for."""

    mind: Any
    offered: Any = ()

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        named = [{"name": getattr(each, "name", None) or each["name"]} for each in tools]
        return self.model_copy(update={"offered": named})

    def _answer(self, messages: list[BaseMessage]) -> dict[str, Any]:
        [item] = self.mind(convert_to_openai_messages(messages), self.offered)
        calls = [
            {
                "name": each["function"]["name"],
                "id": each["id"],
                "args": each["function"]["arguments"],
            }
            for each in item.get("tool_calls", ())
        ]
        return {"content": item["content"] or "", "calls": calls}

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        answer = self._answer(messages)
        calls = [{**each, "args": json.loads(each["args"])} for each in answer["calls"]]
        message = AIMessage(answer["content"], tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _stream(self, messages: list[BaseMessage], *_: Any, **__: Any) -> Iterator[Any]:
        answer = self._answer(messages)
        for number, each in enumerate(answer["calls"]):
            chunk = AIMessageChunk("", tool_call_chunks=[{**each, "index": number}])
            yield ChatGenerationChunk(message=chunk)
        for word in answer["content"].split(" "):
            yield ChatGenerationChunk(message=AIMessageChunk(word + " "))


TOOLS = [tool(scenario.list_orders)]
ASKED = {"messages": [("user", scenario.QUESTION)]}


LONG: Any = {"recursion_limit": 200}


def on(thread: str) -> Any:
    return {"configurable": {"thread_id": thread}, **LONG}


def characters(messages: list[BaseMessage]) -> int:
    return sum(len(each.content) for each in messages)


def agent(model: ScriptedModel, middleware: Any, **more: Any) -> Any:
    return create_agent(Scripted(mind=model), TOOLS, middleware=[middleware], **more)


@pytest.mark.parametrize("checkpointer", [True, False], ids=["thread", "no thread"])
def test_the_view_is_sent_and_the_state_is_whole(state: Path, checkpointer: bool) -> None:
    memory, model = scenario.memory_in(state), scenario.mind()
    saver, where = (InMemorySaver(), on("orders")) if checkpointer else (None, LONG)
    made = agent(model, HippocampusMiddleware(memory), checkpointer=saver)
    done = made.invoke(ASKED, where)["messages"]
    assert done[-1].content == scenario.DONE
    results = [each.content for each in done if each.type == "tool"]
    assert results[0] == scenario.list_orders(0)
    scenario.check(model, characters(done))
    memory.close()


def test_the_async_agent_sends_the_same_bytes(state: Path, tmp_path: Path) -> None:
    requests = []
    for name, is_async in (("one", False), ("two", True)):
        memory, model = scenario.memory_in(tmp_path / name), scenario.mind()
        made = agent(model, HippocampusMiddleware(memory), checkpointer=InMemorySaver())
        if is_async:
            asyncio.run(made.ainvoke(ASKED, on("orders")))
        else:
            made.invoke(ASKED, on("orders"))
        requests.append(model.requests)
        memory.close()
    assert requests[0] == requests[1]


def test_a_stream_brings_its_tokens_and_its_recall(state: Path) -> None:
    memory, model = scenario.memory_in(state), scenario.mind()
    made = agent(model, HippocampusMiddleware(memory), checkpointer=InMemorySaver())
    words = [
        chunk.content
        for chunk, where in made.stream(ASKED, on("orders"), stream_mode="messages")
        if where["langgraph_node"] == "model" and chunk.content
    ]
    assert "".join(words).strip() == scenario.DONE
    assert len(words) > 2
    scenario.check(model, scenario.CALLS * len(scenario.list_orders(0)))
    memory.close()


def resume(state: Path, model: Any) -> None:
    memory, saved = scenario.memory_in(state), state / "messages"
    known = messages_from_dict(json.loads(saved.read_text("utf-8"))) if saved.exists() else []
    made = agent(model, HippocampusMiddleware(memory), checkpointer=InMemorySaver())
    done = made.invoke({"messages": [*known, *ASKED["messages"]]}, on("orders"))["messages"]
    saved.write_text(json.dumps(messages_to_dict(done)), "utf-8")
    memory.close()


def test_a_new_process_resumes_the_thread(state: Path) -> None:
    raw_characters = scenario.CALLS * len(scenario.list_orders(0))
    scenario.check(scenario.resumed(__file__, state), raw_characters)


def test_sub_agents_are_sessions_of_their_own(state: Path) -> None:
    memory = scenario.memory_in(state)
    middleware = HippocampusMiddleware(memory)
    minds = [scenario.mind(), scenario.mind()]

    @tool
    def delegate(number: int) -> str:
        """Let a sub-agent look."""
        return str(agent(minds[number], middleware).invoke(ASKED, LONG)["messages"][-1].content)

    model = scenario.mind([call("delegate", number=0), call("delegate", number=1)], scenario.DONE)
    made = create_agent(
        Scripted(mind=model), [delegate], middleware=[middleware], checkpointer=InMemorySaver()
    )
    done = made.invoke(ASKED, on("orders"))["messages"]
    assert [each.content for each in done if each.type == "tool"] == 2 * [scenario.DONE]
    for each in minds:
        scenario.check(each, scenario.CALLS * len(scenario.list_orders(0)))
    assert len({name.partition("|")[2] for name in memory.unconsolidated()}) == 3
    memory.close()


def test_deep_agents_take_it_with_their_own_middleware(state: Path) -> None:
    deepagents = pytest.importorskip("deepagents", reason="pip install deepagents")
    memory, model = scenario.memory_in(state), scenario.mind()
    made = deepagents.create_deep_agent(
        model=Scripted(mind=model),
        tools=TOOLS,
        middleware=[HippocampusMiddleware(memory)],
        checkpointer=InMemorySaver(),
    )
    done = made.invoke(ASKED, on("orders"))["messages"]
    assert done[-1].content == scenario.DONE
    scenario.check(model, characters(done))
    memory.close()


@pytest.mark.filterwarnings("ignore")
def test_a_memory_that_fails_lets_the_agent_go_on(state: Path) -> None:
    memory, model = (
        scenario.memory_in(state),
        scenario.mind(
            call("list_orders", page=1), call("recall", entry_id="kq3v7a2c"), scenario.DONE
        ),
    )
    middleware = HippocampusMiddleware(memory)
    memory.close()
    shutil.rmtree(state)
    state.write_text("no directory")
    done = agent(model, middleware).invoke(ASKED, LONG)["messages"]
    assert done[-1].content == scenario.DONE
    assert model.requests[-1][2]["content"] == scenario.list_orders(1)


def test_whatever_a_tool_returns_is_sent_shortened(check_results: Any) -> None:
    lines, image = scenario.RESULTS["text"], {"type": "image", "base64": scenario.PIXEL}
    more = {"text and image": [lines, {**image, "mime_type": "image/png"}]}
    more["artifact"] = ToolMessage(lines, artifact=image, tool_call_id="call_1_1")

    def ask(mind: Any, memory: Hippocampus, find: Any) -> None:
        middleware = [HippocampusMiddleware(memory)]
        create_agent(Scripted(mind=mind), [tool(find)], middleware=middleware).invoke(ASKED, LONG)

    as_chat = f"{__name__}.convert_to_openai_messages"
    check_results(as_chat, ask, more)


def test_edits_reach_blocks_and_arguments_in_copies() -> None:
    from hippocampus.integrations import langchain

    image = {"type": "image", "base64": "", "mime_type": "image/png"}
    result = ToolMessage([image, {"type": "text", "text": "long"}], tool_call_id="a", id="m")
    edited = langchain._edit(result, "result", 0, "short")
    assert edited.content == [image, {"type": "text", "text": "short"}]
    assert (edited.tool_call_id, edited.id) == ("a", "m")
    assert result.content[1] == {"type": "text", "text": "long"}
    asked = AIMessage("", tool_calls=[{"name": "write", "args": {"text": "long"}, "id": "b"}])
    edited = langchain._edit(asked, "call", 0, json.dumps({"text": "short"}))
    assert edited.tool_calls[0]["args"] == {"text": "short"}
    assert asked.tool_calls[0]["args"] == {"text": "long"}


def test_the_program_of_the_page_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    model = scenario.mind(*scenario.PAGE_SCRIPT)
    scenario.run_page("langchain.md", Scripted(mind=model), '"anthropic:claude-sonnet-5-5"')
    assert capsys.readouterr().out == "Order A-417 is late.\n"
    assert "A-417" in model.requests[-1][-1]["content"]
