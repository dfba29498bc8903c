"""Our own text in a host's list: answers to recalls, entries and digests never become entries."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conversations import EAGER, Item, no_fallback, reading, rows

from hippocampus import Hippocampus


def called(tool: str, arguments: Item, result: str) -> list[Item]:
    """Return a call and its result."""
    call = {"name": tool, "arguments": json.dumps(arguments)}
    calls = [{"id": f"r-{tool}", "type": "function", "function": call}]
    return [
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": f"r-{tool}", "content": result},
    ]


@pytest.mark.parametrize("tool", ["recall", "mcp__hippocampus__recall", "stored"])
def test_an_answer_to_a_recall_is_never_shortened_or_stored(tmp_path: Path, tool: str) -> None:
    memory = Hippocampus(tmp_path, policy=EAGER)
    with memory.session("s") as session, no_fallback():
        session.tools("openai", name="stored" if tool == "stored" else "recall")
        items = reading(1)
        session(items)
        [entry] = session.entries()
        for arguments in ({"entry_id": f"[{entry.id}]", "max_tokens": 8_000}, {"query": "row"}):
            items += called(tool, arguments, session.answer(arguments))
        assert session(items)[3:] == items[3:]
        assert len(session.entries()) == 1
    memory.close()


def test_a_hosts_own_tool_of_this_name_is_a_tool_as_others(tmp_path: Path) -> None:
    memory = Hippocampus(tmp_path, policy=EAGER)
    with memory.session("s") as session, no_fallback():
        items = [*reading(1), *called("recall", {"query": "all"}, rows(5, 400))]
        assert session(items)[4]["content"].startswith("[")
        assert len(session.entries()) == 2
    memory.close()
