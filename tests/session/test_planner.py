"""Old turns told in short: where carrying them has cost what the edit does, and within the share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conversations import no_fallback

from hippocampus import Hippocampus, Policy
from hippocampus.formats.reader import read
from hippocampus.prices import TABLES
from hippocampus.replay.measure import unpaired
from hippocampus.session.costs import EDITS_SHARE
from hippocampus.session.planner import REASON

POLICY = Policy(fade_view_tokens=2_000)


def errands(rounds: int) -> list[dict[str, Any]]:
    """Many small turns, none large enough for an entry of its own."""
    items: list[dict[str, Any]] = [{"role": "user", "content": "Run these errands."}]
    for number in range(rounds):
        call = {"name": "go", "arguments": f'{{"place": "place_{number}"}}'}
        items += [
            {
                "role": "assistant",
                "content": f"Off to place_{number}. " + "It is not far from here. " * 8,
                "tool_calls": [{"id": f"c{number}", "type": "function", "function": call}],
            },
            {"role": "tool", "tool_call_id": f"c{number}", "content": f"shop_{number} was open"},
        ]
    return items


@pytest.mark.parametrize("table", sorted(TABLES))
def test_edits_stay_a_small_share_of_what_was_paid(tmp_path: Path, table: str) -> None:
    """At every call, and old turns are told in short within it."""
    items = errands(320)
    memory = Hippocampus(tmp_path, policy=POLICY, prices=TABLES[table])
    with memory.session("s") as session, no_fallback():
        for end in range(1, len(items), 2):
            view = session(items[:end])
            costs = session._state.costs
            assert costs.edits <= EDITS_SHARE * costs.sent + 1e-6
            assert unpaired(read(view)) == []
        assert {decision.reason for _, decision in session.decisions()} == {REASON}
        digest = next(record for record in session.records() if record.kind == "digest")
        assert "shop_0" in digest.shown
        assert "shop_3 was open" in session.recall(digest.entry.id, pattern="shop_3 ")
    memory.close()


def test_with_zero_turns_none_is_told_in_short(tmp_path: Path) -> None:
    items = errands(320)
    policy = POLICY.model_copy(update={"tell_after_turns": 0})
    memory = Hippocampus(tmp_path, policy=policy, prices=TABLES["none"])
    with memory.session("s") as session, no_fallback():
        assert session(items[:-1]) == items[:-1]
        assert session.decisions() == []
    memory.close()
