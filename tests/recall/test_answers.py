"""Answers: each says not to retry and what to do instead, with the original call."""

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest

from hippocampus.entries.entry import Entry, Record, Source, Stage
from hippocampus.entries.origin import MemoryOrigin
from hippocampus.errors import RecallError, StoreError
from hippocampus.recall import calls

RECORD = Record(
    Entry(id="abcd2345", type="tool_result", source=Source(type="t", ref="r", turn=3), summary="s"),
    MemoryOrigin("m"), "key", form="text", kind="json", tool="list_orders", arguments='{"page": 2}',
    tokens=900, stage=Stage.INDEXED, shown="shown",
)  # fmt: skip
EVERY = {
    "never_existed": calls.never_existed("abcd2346", ["abcd2345", "zzzzzzzz"]),
    "other_session": calls.other_session("abcd2345", "nightly"),
    "expired": calls.expired(RECORD, "2026-01-02T03:04:05+00:00", "sessions idle for over 30 days"),
    "unreadable": calls.unreadable(RECORD, StoreError("database is locked")),
    "stale": calls.stale(RECORD, "efgh2345", "file", "-a\n+b"),
    "too_large": calls.too_large(RECORD, 9_000, 500),
    "no_match": calls.completed(RecallError("no_match", "nothing matches"), RECORD),
    "bad_request": calls.completed(RecallError("bad_request", "no pattern"), RECORD),
}


@pytest.mark.parametrize("reason", EVERY)
def test_each_answer_says_not_to_retry_and_what_to_do_instead(reason: str) -> None:
    problem = EVERY[reason]
    assert problem.reason == reason
    told = calls.render(problem)
    assert told.startswith(f"recall failed ({reason.replace('_', ' ')}): ")
    assert "o not retry" in told
    assert any(way in told for way in ("call ", "search with query", "narrow it"))
    assert vars(pickle.loads(pickle.dumps(problem))) == vars(problem)


@pytest.mark.parametrize("kind", ["message", "state", "memory"])
def test_what_no_call_made_is_not_called_again(kind: str) -> None:
    entry = replace(RECORD.entry, type=kind)
    told = str(calls.expired(replace(RECORD, entry=entry, tool="user", arguments="", kind=kind)))
    assert "call " not in told
    assert "Do not retry; " in told


def test_the_answers_carry_fields() -> None:
    assert EVERY["never_existed"].near == ("abcd2345",)
    assert EVERY["other_session"].owner == "nightly"
    assert "nightly" not in str(EVERY["other_session"])
    assert EVERY["expired"].when.startswith("2026-01-02")
    assert EVERY["expired"].rule == "sessions idle for over 30 days"
    assert len(EVERY["stale"].versions) == 2
    for reason in ("expired", "unreadable", "stale", "too_large", "no_match", "bad_request"):
        assert EVERY[reason].tool == "list_orders"
        assert EVERY[reason].arguments == '{"page": 2}'
        assert EVERY[reason].entry_id == "abcd2345"


@pytest.mark.parametrize("reason", ["expired", "stale", "no_match", "bad_request"])
def test_the_original_call_stands_in_the_text(reason: str) -> None:
    assert 'call list_orders again with {"page": 2}' in str(EVERY[reason])
