"""smolagents with the model of ours: what the model is sent, and what the agent keeps."""

from __future__ import annotations

import ast
import json
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("smolagents", reason="pip install hippocampus-context[smolagents]")

from integrations import scenario
from smolagents import ChatMessage, CodeAgent, LogLevel, Model, Tool, ToolCallingAgent, tool
from smolagents.models import (
    ChatMessageStreamDelta,
    ChatMessageToolCall,
    ChatMessageToolCallFunction,
    ChatMessageToolCallStreamDelta,
    MessageRole,
)

from hippocampus import Hippocampus
from hippocampus.integrations.smolagents import remember
from hippocampus.testing import call

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")

JOINED = 0.75
"""The results of parallel calls are one text, of which each stands in full while it is new."""


@tool
def list_orders(page: int) -> str:
    """List the orders of a page.

    Args:
        page: The number of the page.
    """
    return scenario.list_orders(page)


def as_chat(messages: Any) -> list[dict[str, Any]]:
    """Write the messages as chat messages; the results of a step are one text."""
    written: list[dict[str, Any]] = []
    ids: list[str] = []
    for message in messages:
        text = "".join(block["text"] for block in message.content)
        if message.role == MessageRole.TOOL_CALL:
            calls = ast.literal_eval(text.removeprefix("Calling tools:\n"))
            for each in calls:
                each["function"]["arguments"] = json.dumps(each["function"]["arguments"])
            ids = [each["id"] for each in calls]
            written.append({"role": "assistant", "content": None, "tool_calls": calls})
        elif message.role == MessageRole.TOOL_RESPONSE:
            for number, each in enumerate(ids):
                content = "" if number else text
                written.append({"role": "tool", "tool_call_id": each, "content": content})
        else:
            written.append({"role": message.role.value, "content": text})
    return written


class Scripted(Model):
    """A model of smolagents that a script decides for."""

    def __init__(self, mind: Any) -> None:
        super().__init__()
        self.mind = mind

    def _decided(self, messages: Any, tools: Any) -> list[Any]:
        [item] = self.mind(as_chat(messages), [{"name": each.name} for each in tools or ()])
        if not item.get("tool_calls"):
            final = {"name": "final_answer", "arguments": json.dumps({"answer": item["content"]})}
            return [{"id": "final", "function": final}]
        return list(item["tool_calls"])

    def generate(
        self, messages: Any, *_: Any, tools_to_call_from: Any = None, **__: Any
    ) -> ChatMessage:
        calls = [
            ChatMessageToolCall(
                ChatMessageToolCallFunction(**each["function"]), each["id"], "function"
            )
            for each in self._decided(messages, tools_to_call_from)
        ]
        return ChatMessage(MessageRole.ASSISTANT, None, calls)

    def generate_stream(
        self, messages: Any, *_: Any, tools_to_call_from: Any = None, **__: Any
    ) -> Iterator[Any]:
        for number, each in enumerate(self._decided(messages, tools_to_call_from)):
            function = ChatMessageToolCallFunction(**each["function"])
            made = ChatMessageToolCallStreamDelta(number, each["id"], "function", function)
            yield ChatMessageStreamDelta(tool_calls=[made])


def agent(mind: Any, memory: Hippocampus, session_id: str = "orders", **more: Any) -> Any:
    model, recall = remember(Scripted(mind), memory, session_id)
    tools = [list_orders, recall]
    fields = {"max_steps": 100, "verbosity_level": LogLevel.OFF, "tools": tools, **more}
    return ToolCallingAgent(model=model, **fields)


def characters(made: Any) -> int:
    return sum(len(each["content"] or "") for each in as_chat(made.write_memory_to_messages()))


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_the_view_is_sent_and_the_memory_is_whole(state: Path, stream: bool) -> None:
    memory, mind = scenario.memory_in(state), scenario.mind()
    made = agent(mind, memory, stream_outputs=stream)
    assert made.run(scenario.QUESTION) == scenario.DONE
    kept = as_chat(made.write_memory_to_messages())
    assert "Observation:\n" + scenario.list_orders(0) in [each["content"] for each in kept]
    scenario.check(mind, characters(made), share=JOINED)
    memory.close()


def resume(state: Path, mind: Any) -> None:
    memory, saved = scenario.memory_in(state), state / "steps"
    made = agent(mind, memory)
    if saved.exists():
        made.memory.steps = pickle.loads(saved.read_bytes())
    made.run(scenario.QUESTION, reset=not saved.exists())
    saved.write_bytes(pickle.dumps(made.memory.steps))
    memory.close()


def test_a_new_process_resumes_the_agent(state: Path) -> None:
    raw_characters = scenario.CALLS * len(scenario.list_orders(0))
    scenario.check(scenario.resumed(__file__, state), raw_characters, share=JOINED)


def test_a_managed_agent_is_a_session_of_its_own(state: Path) -> None:
    memory, inner = scenario.memory_in(state), scenario.mind()
    outer = scenario.delegating(call("clerk", task=scenario.QUESTION))
    clerk = agent(inner, memory, "orders/clerk", name="clerk", description="Looks for orders.")
    agent(outer, memory, managed_agents=[clerk]).run(scenario.QUESTION)
    scenario.check_delegated(memory, outer, inner, share=JOINED)


def test_a_code_agent_calls_recall_in_its_code(state: Path) -> None:
    memory, seen = scenario.memory_in(state), []
    steps = iter(
        ["print(list_orders(2))", "print(recall(entry_id='{}', path='$[41]'))", "final_answer('x')"]
    )

    class Coder(Model):
        def generate(self, messages: Any, *_: Any, **__: Any) -> ChatMessage:
            seen.append("".join(block["text"] for each in messages for block in each.content))
            found = scenario.entry_ids([seen[-1]]) or [""]
            code = next(steps).format(found[-1])
            return ChatMessage(MessageRole.ASSISTANT, f"<code>\n{code}\n</code>")

    model, recall = remember(Coder(), memory, "code")
    made = CodeAgent([list_orders, recall], model, verbosity_level=LogLevel.OFF)
    assert made.run(scenario.QUESTION) == "x"
    assert scenario.WANTED in seen[-1]
    assert scenario.list_orders(2) not in seen[-1]
    memory.close()


def test_a_memory_that_fails_lets_the_agent_go_on(state: Path) -> None:
    memory, mind = scenario.failed(state)
    assert agent(mind, memory).run(scenario.QUESTION) == scenario.DONE
    scenario.check_failed(mind)


def test_whatever_a_tool_returns_is_sent_shortened(check_results: Any) -> None:

    def ask(mind: Any, memory: Hippocampus, find: Any) -> None:
        class Find(Tool):
            name, description, inputs, output_type = "find", "Find the orders.", {}, "any"
            forward = staticmethod(find)
            skip_forward_signature_validation = True

        agent(mind, memory, tools=[Find()], max_steps=2).run(scenario.QUESTION)

    check_results(f"{__name__}.as_chat", ask)


def test_the_program_of_the_page_runs(run_page: Any) -> None:
    run_page("smolagents.md", Scripted, 'OpenAIModel("gpt-5.4-mini")')
