"""A scripted agent that recalls in a loop, in parallel, wrongly and with hostile patterns, in each format.

The conversation stays valid, every call is answered once, and no answer is larger than its bound.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conversations import EAGER

from hippocampus import Hippocampus, recall
from hippocampus.formats.conversation import ToolResult
from hippocampus.formats.reader import appended, read, tool_results
from hippocampus.models import tokens
from hippocampus.recall import calls
from hippocampus.recall.calls import handle, unanswered
from hippocampus.replay.measure import unpaired

FORMATS = ("openai", "responses", "anthropic")
ROWS = json.dumps(
    [{"id": f"row_{n:04}", "owner": f"user {n % 9}", "size": n * 17} for n in range(400)]
)
BOUND = 600
ASKED: list[dict[str, Any]] = [
    {"entry_id": "ID", "pattern": "row_0123"},
    {"entry_id": "ID", "path": "$[7].id"},
    {"entry_id": "ID", "query": "owner user 7"},
    {"query": "row_0399 owner"},
    {"entry_id": "nosuchid", "head": 3},
    {"entry_id": "ID", "pattern": "(a+)+(((b*)*)*)*$|("},
    {"entry_id": "ID", "pattern": "(.*.*)*x{900}y"},
    {"entry_id": "ID", "max_tokens": 1},
    {"entry_id": "ID", "lines": [900_000, -4]},
    {"entry_id": "ID", "path": "$[12].owner.deeper"},
    {"entry_id": "ID", "lines": "all"},
    {"page": 4},
    {"entry_id": "ID"},
]


def assistant(
    format_name: str, number: int, calls: list[tuple[str, dict[str, Any]]]
) -> list[dict[str, Any]]:
    """What the model answers in turn `number`: calls of tools by name."""
    named = [(f"call_{number}_{at}", name, asked) for at, (name, asked) in enumerate(calls)]
    if format_name == "openai":
        told = [
            {
                "id": id_,
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(asked)},
            }
            for id_, name, asked in named
        ]
        return [{"role": "assistant", "content": None, "tool_calls": told}]
    if format_name == "responses":
        return [
            {"type": "function_call", "call_id": id_, "name": name, "arguments": json.dumps(asked)}
            for id_, name, asked in named
        ]
    blocks = [
        {"type": "tool_use", "id": id_, "name": name, "input": asked} for id_, name, asked in named
    ]
    return [{"role": "assistant", "content": blocks}]


def own_result(format_name: str, call_id: str, text: str) -> list[dict[str, Any]]:
    """What the host's own tool gives back."""
    example = assistant(format_name, 0, [("recall", {})])
    return tool_results(example, [ToolResult(call_id, text)])


class Contents:
    """Stands for a session: one content under one id."""

    def __init__(self) -> None:
        self.entry_id = "ID"

    def handle(self, items: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return handle(items, self._serve, lambda _: (), {"recall"}, {})

    def _serve(self, request: recall.RecallRequest) -> str:
        if request.entry_id not in (None, "ID"):
            raise calls.never_existed(str(request.entry_id), ["ID"])
        return recall.take(ROWS, request, min(request.max_tokens or BOUND, BOUND))


def converse(format_name: str, held: Any, first: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Let the agent ask everything twice: each alone beside another tool, then all in parallel."""
    items = first
    for number, asked in enumerate([*ASKED, None], start=1):
        wanted = ASKED if asked is None else [asked]
        named = [
            {**each, **({"entry_id": held.entry_id} if each.get("entry_id") == "ID" else {})}
            for each in wanted
        ]
        items = [
            *items,
            *assistant(format_name, number, [("recall", each) for each in named] + [("clock", {})]),
        ]
        waiting = sum(call.tool == "recall" for call in unanswered(items))
        added = held.handle(items)
        assert waiting == len(wanted)
        items = appended(items, added)
        items = appended(items, own_result(format_name, f"call_{number}_{len(wanted)}", "12:00"))
        assert held.handle(items) == []
        for message in read(added):
            assert all(tokens.count(part.text) <= BOUND + 100 for part in message.parts)
    return items


@pytest.mark.parametrize("format_name", FORMATS)
def test_whatever_an_agent_asks_the_conversation_stays_valid(format_name: str) -> None:
    first = [{"role": "user", "content": "which row is it?"}]
    items = converse(format_name, Contents(), first)
    assert unpaired(read(items)) == []
    again = converse(format_name, Contents(), first)
    assert again == items


@pytest.mark.parametrize("format_name", FORMATS)
def test_the_view_stays_bounded_while_an_agent_recalls(format_name: str, tmp_path: Path) -> None:
    memory = Hippocampus(tmp_path, policy=EAGER.model_copy(update={"recall_tokens": BOUND // 4}))
    with memory.session("s") as session:
        items = [
            {"role": "user", "content": "which row is it?"},
            *assistant(format_name, 0, [("list_rows", {"all": True})]),
            *own_result(format_name, "call_0_0", ROWS),
        ]
        session(items)
        session.entry_id = session.entries[0].id
        items = converse(format_name, session, items)
        view = session(items)
        assert unpaired(read(view)) == []
        assert sum(tokens.count_message(each) for each in read(view)) < sum(
            tokens.count_message(each) for each in read(items)
        )
        tools = {record.tool for record in session.report.records()}
        assert recall.TOOL_NAME not in tools
        assert session.report.failures == 0
    memory.close()
