"""Old turns become digests: the weakest runs, where carrying them has cost what the edit does."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from conversations import chat_step, managed
from states import stored_sessions

from hippocampus import Policy
from hippocampus.formats.reader import read
from hippocampus.prices import TABLES
from hippocampus.replay.measure import unpaired
from hippocampus.session.compaction import PAYS_REASON

POLICY = Policy(fade_view_tokens=2_000)


def errands(rounds: int) -> list[dict[str, Any]]:
    """Many small turns, none large enough for an entry of its own."""
    items: list[dict[str, Any]] = [{"role": "user", "content": "Run these errands."}]
    for number in range(rounds):
        place, said = f"place_{number}", "It is not far from here. " * 8
        called = f"c{number}", "go", {"place": place}, f"shop_{number} was open"
        items += chat_step(*called, f"Off to {place}. {said}")
    return items


SLOW_TABLES = [pytest.param(each, marks=pytest.mark.slow) for each in ("openai", "gemini", "none")]


@pytest.mark.one_process  # it keeps no text of a digest that another one replaced
@pytest.mark.parametrize("table", ["anthropic-5m", *SLOW_TABLES])
def test_old_turns_become_digests_within_the_stake(tmp_path: Path, table: str) -> None:
    """Where a write costs twice an input token, the stake of so short a session buys no edit."""
    items = errands(320)
    with managed(tmp_path, policy=POLICY, prices=TABLES[table]) as session:
        for end in range(1, len(items), 2):
            view = session(items[:end])
            last = session._run.state.last
            assert last
            assert last.sent_cost <= last.raw_cost * (1 + POLICY.stake) + 1
            assert unpaired(read(view)) == []
        assert {decision.reason for _, decision in session.report.decisions()} == {PAYS_REASON}
        digests = [record for record in session.report.records() if record.kind == "digest"]
        *earlier, digest = digests
        assert not any(record.shown for record in earlier)  # the ledger has what no view shows
        last = len(re.findall(r"shop_\d+ was open", session.entries.text(digest.entry.id))) - 1
        assert f"Off to place_{last}" in digest.shown
        assert "shop_3 was open" in session.recall(digest.entry.id, pattern="shop_3 ")


def test_without_a_bound_no_turn_becomes_a_digest(tmp_path: Path) -> None:
    items = errands(320)
    policy = POLICY.model_copy(update={"digest_below": 0.0})
    with managed(tmp_path, policy=policy, prices=TABLES["none"]) as session:
        assert session(items[:-1]) == items[:-1]
        assert session.report.decisions() == []


def test_digests_take_the_weak_runs_and_leave_what_was_just_used(tmp_path: Path) -> None:
    """A result in the middle is named again and again: the turns around it become digests."""
    items = errands(40)
    items[42]["content"] = "the harbour_office has room_911 for us, and a view of the sea. " * 12
    policy = Policy.model_validate(
        {"fade_view_tokens": 0, "fade_below": 0, "exponent": 1.0, "digest_below": 0.25}
        | {"decay_rates": {"tool_result": 0.5, "message": 0.5}}
    )
    with managed(tmp_path, policy=policy, prices=TABLES["none"]) as session:
        for end in range(1, len(items), 2):
            if end > 43:
                items[end]["content"] += " We meet in room_911 of harbour_office."
            view = session(items[:end])
        kept = [each for each in view if each == items[42]]
    [stored] = stored_sessions(tmp_path)
    rates = {each.entry.decay.rate for each in stored.records if each.kind == "digest"}
    assert len(kept) == 1
    assert rates == {0.5}
