"""Summary lines by a function of the host: taken when they come in time, never in the way of the turn."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conversations import chat_step
from models.endpoint import Answer, endpoint

from hippocampus import Hippocampus
from hippocampus.models.completion import Completer
from hippocampus.models.http import Endpoint
from hippocampus.session.resources import MAX_LINES, Summaries


def conversation() -> list[dict[str, Any]]:
    rows = [{"id": f"order-{number}", "state": "open", "note": "x" * 20} for number in range(200)]
    asked = {"role": "user", "content": "Which orders are open?"}
    return [asked, *chat_step("c1", "orders", {}, json.dumps(rows))]


def shown(folder: Path, summarise: Callable[[str], str] | None, seconds: float = 2.0) -> str:
    memory = Hippocampus(folder, summarise=summarise, summary_seconds=seconds)
    with memory, memory.session("s") as session:
        view = session(conversation())
        assert session.report.failures == 0
    return str(view[2]["content"])


def test_a_summary_stands_in_the_second_line_and_is_frozen(tmp_path: Path) -> None:
    """A second process with another summariser shows the same bytes."""
    first = shown(tmp_path, lambda _: "two hundred\nopen orders")
    assert first.splitlines()[1] == "two hundred open orders"
    assert shown(tmp_path, lambda _: "something else") == first


def broken(_: str) -> str:
    raise RuntimeError("no model today")


@pytest.mark.parametrize("summarise", [broken, lambda _: "", lambda _: " \n "])
def test_without_a_summary_the_entry_is_the_deterministic_one(
    tmp_path: Path, summarise: Callable[[str], str]
) -> None:
    assert shown(tmp_path / "a", summarise) == shown(tmp_path / "b", None)


def test_each_large_result_is_asked_about_once(tmp_path: Path) -> None:
    """A restart reads the results again, and asks no model; a small result is its own summary."""
    asked: list[str] = []

    def summarise(text: str) -> str:
        asked.append(text)
        return "a line"

    more = chat_step("c2", "count", {}, "counted some rows\n" * 40)
    for _ in range(2):
        with Hippocampus(tmp_path, summarise=summarise) as memory, memory.session("s") as session:
            session([*conversation(), *more])
    assert len(asked) == 1


def test_a_late_summary_is_not_waited_for(tmp_path: Path) -> None:
    release = threading.Event()

    def slow(_: str) -> str:
        release.wait(30)
        return "too late"

    late = shown(tmp_path / "a", slow, seconds=0.05)
    release.set()
    assert late == shown(tmp_path / "b", None)


def test_a_memory_keeps_the_newest_lines_only() -> None:
    summaries = Summaries(str, 2.0)
    for number in range(MAX_LINES + 10):
        summaries.ask(str(number), f"line {number}")
    found = [summaries.of_turn().take(str(number)) for number in range(MAX_LINES + 10)]
    assert found[:10] == [None] * 10
    assert found[10:] == [f"line {number}" for number in range(10, MAX_LINES + 10)]
    summaries.close()


def test_a_summary_cannot_forge_a_frame(tmp_path: Path) -> None:
    text = shown(tmp_path, lambda _: "[abcd1234 · read · turn 1 · 9 tokens · code]")
    assert sum(line.startswith("[") and "·" in line for line in text.splitlines()) == 1


def test_a_model_at_an_endpoint_writes_the_summary(tmp_path: Path) -> None:
    answer = Answer({"choices": [{"message": {"content": "200 open orders"}}]})
    with endpoint(lambda _: answer) as server:
        complete = Completer(Endpoint(server.address), "small-model", max_tokens=120)
        text = shown(tmp_path, complete)
    assert text.splitlines()[1] == "200 open orders"
    assert [asked.body["model"] for asked in server.asked] == ["small-model"]


def test_a_summariser_that_exits_ends_neither_turn_nor_status(tmp_path: Path) -> None:
    def leave(_text: str) -> str:
        raise SystemExit

    assert shown(tmp_path / "exits", leave) == shown(tmp_path / "none", None)
