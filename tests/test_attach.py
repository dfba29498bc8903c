"""A session with its tools, memory's tools and instructions from one call."""

from __future__ import annotations

import json

import pytest

from hippocampus import Hippocampus

FORMATS = ("openai", "responses", "anthropic")


def called(name, **arguments):
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"id": "c1", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def names(tools):
    return [each.get("name") or each["function"]["name"] for each in tools]


@pytest.mark.parametrize("format_name", FORMATS)
def test_a_session_offers_the_tools_of_memory_only_where_they_are_asked_for(tmp_path, format_name):
    memory = Hippocampus(tmp_path)
    session = memory.session("a")
    assert len(session.tools(format_name)) == 1
    assert names(session.tools(format_name, memory=True))[1:] == [
        "append_memory_block",
        "replace_memory_block",
        "recall_memory_block",
        "memory_remember",
        "memory_recall",
        "memory_forget",
    ]
    memory.close()


def test_an_attached_session_answers_calls_of_memory_and_knows_what_was_said_before(tmp_path):
    memory = Hippocampus(tmp_path)
    memory.facts.remember("I prefer short answers.")
    session, tools, instructions = memory.attach("a", "openai")
    assert "I prefer short answers." in instructions
    assert "memory_recall" in names(tools)
    messages = [
        {"role": "user", "content": "Keep this: the boiler is in the cellar."},
        called("memory_remember", content="The boiler is in the cellar."),
    ]
    (answer,) = session.handle(messages)
    assert answer["tool_call_id"] == "c1"
    assert answer["content"].startswith("added")
    assert "cellar" in memory.facts.recall("where is the boiler")[0].memory.content
    memory.close()


def test_a_session_without_the_tools_of_memory_leaves_their_calls_to_the_host(tmp_path):
    memory = Hippocampus(tmp_path)
    session = memory.session("a")
    assert session.handle([{"role": "user", "content": "x"}, called("memory_recall")]) == []
    memory.close()
