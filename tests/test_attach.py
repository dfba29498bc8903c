"""A session with its tools, those of long-term memory and the instructions from one call."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conversations import chat_call

from hippocampus import Hippocampus
from hippocampus.facts import tools as facts_tools
from hippocampus.policy import load

FORMATS = ("openai", "responses", "anthropic", "bedrock", "gemini")


def called(name: str, **arguments: str) -> dict[str, Any]:
    return chat_call("c1", name, arguments)


@pytest.mark.parametrize("format_name", FORMATS)
def test_the_tools_of_memory_come_only_where_they_are_asked_for(
    tmp_path: Path, format_name: str
) -> None:
    with Hippocampus(tmp_path) as memory:
        session = memory.session("a")
        [recall] = session.tools(format_name)
        offered = session.tools(format_name, memory=True)
        assert offered == [recall, *facts_tools.tools(format_name)]


def test_an_attached_session_answers_calls_of_memory_and_has_what_it_holds(tmp_path: Path) -> None:
    with Hippocampus(tmp_path) as memory:
        memory.facts.remember("I prefer short answers.")
        session, tools, instructions = memory.attach("a", "openai", agent="")
        assert instructions.startswith(facts_tools.INSTRUCTIONS)
        assert "I prefer short answers." in instructions
        assert "memory_recall" in json.dumps(tools)
        messages = [
            {"role": "user", "content": "Keep this: the boiler is in the cellar."},
            called("memory_remember", content="The boiler is in the cellar."),
        ]
        [answer] = session.handle(messages)
        assert answer["tool_call_id"] == "c1"
        assert answer["content"].startswith("added")
        assert "cellar" in memory.facts.recall("where is the boiler")[0].memory.content
        [answer] = session.handle([messages[0], called("memory_remember", words="x")])
        assert "bad_arguments" in answer["content"]


def test_the_view_and_the_instructions_do_not_both_have_what_the_memory_holds(
    tmp_path: Path,
) -> None:
    policy = load("default")
    block = policy.consolidation.model_copy(update={"context_load_tokens": 500})
    policy = policy.model_copy(update={"consolidation": block})
    with Hippocampus(tmp_path, policy=policy) as memory:
        memory.facts.remember("I prefer short answers.")
        session, _, instructions = memory.attach("a", "openai")
        assert instructions == facts_tools.INSTRUCTIONS
        assert "short answers" in json.dumps(session([{"role": "user", "content": "hello"}]))


def test_the_memory_of_an_agent_is_its_own(tmp_path: Path) -> None:
    with Hippocampus(tmp_path) as memory:
        memory.facts.remember("I prefer short answers.", agent="other")
        session, _, instructions = memory.attach("a", "openai", agent="mine")
        assert "short answers" not in instructions
        ask = [{"role": "user", "content": "x"}, called("memory_recall", query="short answers")]
        [answer] = session.handle(ask)
        assert "short answers" not in answer["content"]


def test_a_session_without_the_tools_of_memory_leaves_their_calls_to_the_host(
    tmp_path: Path,
) -> None:
    with Hippocampus(tmp_path) as memory:
        session = memory.session("a")
        assert session.handle([{"role": "user", "content": "x"}, called("memory_recall")]) == []
