"""The outcomes of a fetch: full, else the stored copy, else the summary, else a clear loss."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from hippocampus.policy import Refetch
from hippocampus.recall.sources import (
    FetchRequest,
    StoredCopy,
    Unavailable,
    difference,
    fetch,
    is_part,
    known_sources,
)

WANTED = FetchRequest("orders", {"page": 2})


def captured(stored: str | None = "a\nb", summary: str = "2 lines") -> StoredCopy:
    return StoredCopy(lambda: stored, summary)


def test_the_source_that_a_rule_names_answers(tmp_path: Path) -> None:
    sources = known_sources({"orders": lambda page: f"page {page}"})
    found = fetch(WANTED, captured("page 2"), Refetch(type="tool"), sources)
    assert (found.outcome, found.content, found.source, found.changed) == (
        "full",
        "page 2",
        "tool",
        False,
    )
    plan = Refetch(type="file", roots=(str(tmp_path),))
    failed = fetch(WANTED, captured("page 2"), plan, sources)
    assert (failed.source, failed.failure) == ("store", "file: the call of orders names no path")


def test_what_changed_is_told_with_a_diff() -> None:
    tools = {"orders": lambda page: "a\nc"}
    found = fetch(WANTED, captured(), Refetch(type="tool"), known_sources(tools))
    assert found.changed
    assert "-b\n+c" in found.difference
    assert difference("\n".join("ab" * 9_000), "x").startswith("(changed: ")
    assert difference("x\n" * 500, "y\n" * 500).endswith("(more differs)")


def test_it_degrades_step_by_step() -> None:
    plan, sources = Refetch(type="tool"), known_sources({})
    assert fetch(WANTED, captured(), plan, sources).source == "store"
    gone = fetch(WANTED, captured(None), plan, sources)
    assert (gone.outcome, gone.source) == ("partial", "summary")
    assert "stale" in gone.content
    lost = fetch(WANTED, captured(None, ""), plan, sources)
    assert (lost.outcome, lost.content) == ("failed", "")
    assert lost.failure == "tool: orders is not registered as safe to repeat"


def boom(page: int) -> str:
    raise RuntimeError("no database")


def nested(levels: int) -> list[object]:
    value: list[object] = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("tool", "told"),
    [(boom, "no database"), (lambda page: {1, 2}, "neither text"),
     (lambda page: "x" * 2_000, "more than 1,000"), (lambda: "", "unexpected keyword"),
     (lambda page: nested(100_000), "neither text"), (lambda page: b"bytes", "neither text")],
)  # fmt: skip
def test_a_tool_that_fails_is_one_that_cannot_answer(tool: object, told: str) -> None:
    plan = Refetch(type="tool", timeout_seconds=30, largest_bytes=1_000)
    found = fetch(WANTED, captured(), plan, known_sources({"orders": tool}))
    assert found.source == "store"
    assert told in found.failure


def test_a_tool_that_takes_too_long_is_one_that_cannot_answer() -> None:
    slow = {"orders": lambda page: time.sleep(1)}
    plan = Refetch(type="tool", timeout_seconds=0.2)
    found = fetch(WANTED, captured(), plan, known_sources(slow))
    assert (found.source, found.failure) == ("store", "tool: took over 0.2 seconds")


def test_a_failure_of_many_words_is_cut() -> None:
    def verbose(page: int) -> str:
        raise RuntimeError("no database " * 10_000)

    sources = known_sources({"orders": verbose})
    reason = fetch(WANTED, captured(), Refetch(type="tool"), sources).failure
    assert reason.startswith("tool: failed: RuntimeError: no database")
    assert len(reason) < 400


def test_many_equal_lines_are_compared_in_time_linear_to_them() -> None:
    stored, present = "a\n" * 200_000 + "b", "a\n" * 400_000
    assert not is_part(stored, present)
    assert is_part(stored, f"{present}b\nc")


def test_a_tools_value_is_json() -> None:
    tools = {"orders": lambda page: [{"page": page}]}
    assert (
        fetch(WANTED, captured(), Refetch(type="tool"), known_sources(tools)).content
        == '[{"page": 2}]'
    )


def test_custom_sources_are_found_by_their_names() -> None:
    def tickets(wanted: FetchRequest, plan: Refetch) -> str:
        if plan.options["down"]:
            raise Unavailable("down for the night")
        return f"ticket of {wanted.tool}"

    sources = {"tickets": tickets}
    plan = Refetch(type="tickets", down=False)
    assert fetch(WANTED, captured(), plan, sources).content == "ticket of orders"
    plan = Refetch(type="tickets", down=True)
    assert fetch(WANTED, captured(), plan, sources).failure == "tickets: down for the night"
    missing = fetch(WANTED, captured(), Refetch(type="ticket"), sources).failure
    assert missing == "ticket: there is no source 'ticket'; like it: tickets"


def test_a_custom_source_takes_fields_of_its_own() -> None:
    plan = Refetch.model_validate({"type": "tickets", "project": "x"})
    assert plan.options == {"project": "x"}
