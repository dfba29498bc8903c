"""The scripted model that ships: its answers are valid in each format, its mistakes are named."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hippocampus import Hippocampus
from hippocampus.formats import reader
from hippocampus.testing import ScriptedModel, call, entry_ids

ROWS = json.dumps([{"id": f"row-{number}", "state": "paid"} for number in range(900)])
FORMATS = ["openai", "responses", "anthropic"]


def result_of(item: dict[str, Any], format_name: str) -> dict[str, Any]:
    """Return the result of the call in an answer, as a loop appends it."""
    if format_name == "openai":
        return {"role": "tool", "tool_call_id": item["tool_calls"][0]["id"], "content": ROWS}
    if format_name == "responses":
        return {"type": "function_call_output", "call_id": item["call_id"], "output": ROWS}
    block = {"type": "tool_result", "tool_use_id": item["content"][0]["id"], "content": ROWS}
    return {"role": "user", "content": [block]}


@pytest.mark.parametrize("format_name", FORMATS)
def test_a_scripted_conversation_is_valid_and_is_shortened(
    format_name: str, memory: Hippocampus
) -> None:
    session = memory.session(f"scripted-{format_name}")
    model = ScriptedModel(
        call("list_rows", customer=7),
        lambda view: call("recall", entry_id=entry_ids(view)[0], lines=[1, 3]),
        "done",
        format_name=format_name,
    )
    tools = [{"name": "list_rows"}, *session.tools(format_name)]
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Which rows are there?"}]
    messages += model(session(messages), tools)
    messages.append(result_of(messages[-1], format_name))
    messages += model(session(messages), tools)
    messages += session.handle(messages)
    messages += model(session(messages), tools)
    assert [message.role for message in reader.read(messages)].count("assistant") == 3
    assert "row-0" in json.dumps(messages[-2])
    assert "done" in json.dumps(messages[-1])
    assert session.report.failures == 0
    assert len(model.requests) == 3
    assert json.dumps(ROWS)[1:-1] not in json.dumps(model.requests[1])
    session.close()


def test_several_calls_stand_in_one_answer() -> None:
    [answer] = ScriptedModel([call("one"), call("two")])([], [{"name": "one"}, {"name": "two"}])
    assert [each["function"]["name"] for each in answer["tool_calls"]] == ["one", "two"]


def test_ids_of_entries_are_read_from_texts_and_arguments() -> None:
    arguments = json.dumps({"content": "[ty6ksvqz · 4412 tokens]\nx"})
    messages = [{"content": "[kq3v7a2c · read · turn 4]"}, {"arguments": arguments}]
    assert entry_ids(messages) == ["kq3v7a2c", "ty6ksvqz"]
    assert entry_ids([{"content": "[a list · of words]"}]) == []


def test_a_call_after_the_last_step_is_an_index_error() -> None:
    model = ScriptedModel("done")
    model([])
    with pytest.raises(IndexError, match="the script has 1 steps, and this is call 2"):
        model([])


def test_a_call_of_a_tool_that_is_not_offered_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="step 1 calls 'recal'; the tools offered are: recall"):
        ScriptedModel(call("recal"))([], [{"name": "recall"}])


def test_an_unknown_format_lists_the_known_ones() -> None:
    with pytest.raises(ValueError, match="known: openai, responses, anthropic"):
        ScriptedModel(format_name="chat")
