"""Deep compaction: under a budget old turns become digests, and everything comes back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conversations import Rounds, any_rounds, growing, no_fallback, reading
from hypothesis import given, settings

from hippocampus import Hippocampus, Policy
from hippocampus.digest import transcript
from hippocampus.messages import read
from hippocampus.prices import TABLES
from hippocampus.replay.measure import unpaired
from hippocampus.tokens import weigh

TIGHT = Policy(budget_tokens=1_500)
WINDOW = replace(TABLES["anthropic-5m"], window_tokens=8_000)


def size(items: list[dict[str, Any]]) -> int:
    return sum(map(weigh, read(items)))


def long_talk(rounds: int) -> list[dict[str, Any]]:
    """Many small turns, none large enough for an entry of its own."""
    items: list[dict[str, Any]] = [{"role": "user", "content": "Count the rooms of the house."}]
    for number in range(rounds):
        call = {"name": "look", "arguments": f'{{"room": "room_{number}"}}'}
        items += [
            {
                "role": "assistant",
                "content": f"Looking into room_{number} next, as asked.",
                "tool_calls": [{"id": f"c{number}", "type": "function", "function": call}],
            },
            {"role": "tool", "tool_call_id": f"c{number}", "content": f"door_{number} " * 20},
        ]
    return items


def test_a_long_talk_stays_within_the_window(tmp_path: Path) -> None:
    """0.8 of the window at each call, and the first words of the user stay."""
    items = long_talk(120)
    memory = Hippocampus(tmp_path, prices=WINDOW)
    with memory.session("s") as session, no_fallback():
        for end in range(1, len(items), 2):
            view = session(items[:end])
            assert size(view) <= 0.8 * WINDOW.window_tokens
            assert unpaired(read(view)) == []
            assert view[0] == items[0]
        assert size(items) > WINDOW.window_tokens
    memory.close()


def test_a_digest_gives_back_what_it_stands_for(tmp_path: Path) -> None:
    items = long_talk(120)
    memory = Hippocampus(tmp_path, prices=WINDOW)
    with memory.session("s") as session, no_fallback():
        for end in range(1, len(items), 2):
            session(items[:end])
        digests = [record for record in session.records() if record.kind == "digest"]
        assert digests
        for record in digests:
            _, start, end, _ = record.place.split(":")
            told = items[int(start) : int(end)]
            assert session.content(record.entry.id) == told
            assert session.text(record.entry.id) == transcript(read(told))
        assert "door_3 " in session.recall(digests[-1].entry.id, pattern="door_3 ")
    memory.close()


def test_a_digest_is_the_same_after_a_restart(tmp_path: Path) -> None:
    items = long_talk(90)
    memory = Hippocampus(tmp_path, prices=WINDOW)
    with memory.session("s") as session:
        for end in range(1, len(items) + 1, 2):
            before = session(items[:end])
    memory.close()
    again = Hippocampus(tmp_path, prices=WINDOW)
    with again.session("s") as session, no_fallback():
        assert session(items) == before
        assert any("· digest ·" in str(item["content"]) for item in before)
    again.close()


@pytest.mark.parametrize("cut", [5, 61, 131])
def test_a_list_cut_inside_a_digest_is_shown_again(tmp_path: Path, cut: int) -> None:
    items = long_talk(100)
    memory = Hippocampus(tmp_path, prices=WINDOW)
    with memory.session("s") as session, no_fallback():
        for end in range(1, len(items), 2):
            session(items[:end])
        view = session(items[:cut])
        assert unpaired(read(view)) == []
        assert size(view) <= size(items[:cut])
    memory.close()


@settings(max_examples=40, deadline=None)
@given(any_rounds())
def test_views_stay_valid_under_a_tight_budget(rounds: Rounds) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        memory = Hippocampus(folder, policy=TIGHT)
        with memory.session("s") as session, no_fallback():
            for items in growing(rounds):
                view = session(items)
                raw = unpaired(read(items))
                assert len(unpaired(read(view))) <= len(raw)
                assert size(view) <= size(items)
                assert session(items) == view
        memory.close()


def test_reading_under_a_budget_recalls_every_row(tmp_path: Path) -> None:
    items = reading(30)
    memory = Hippocampus(tmp_path, policy=TIGHT)
    with memory.session("s") as session, no_fallback():
        for end in range(1, len(items) + 1):
            session(items[:end])
        for record in session.records():
            assert session.content(record.entry.id)
    memory.close()


def test_a_digest_may_be_worded_by_somebody_else(tmp_path: Path) -> None:
    items = long_talk(120)
    memory = Hippocampus(tmp_path, prices=WINDOW, summarise=lambda _: "walked through the house")
    with memory.session("s") as session, no_fallback():
        for end in range(1, len(items), 2):
            view = session(items[:end])
        assert "walked through the house" in str(view[1]["content"])
    memory.close()
