"""The baselines, each on a small case that its description decides."""

from __future__ import annotations

import functools
from typing import Any

from conversations import Rounds, any_rounds, chat_step, growing
from hypothesis import given

from hippocampus.formats.reader import read
from hippocampus.models import tokens
from hippocampus.replay import strategies
from hippocampus.replay.measure import unpaired
from hippocampus.replay.recording import Recording
from hippocampus.replay.strategies import BASELINES

WORD = "word "


def agent(*contents: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    for number, content in enumerate(contents):
        items += chat_step(f"c{number}", "f", {}, content)
    return items


def results(items: list[dict[str, Any]]) -> list[str]:
    return [item["content"] for item in items if item["role"] == "tool"]


def played(view: Any, items: list[dict[str, Any]]) -> list[str]:
    """Call before each answer, as a host does, and return the results of the last view."""
    for end in range(1, len(items), 2):
        view(items[:end])
    return results(view(items))


def test_clearing_starts_over_the_trigger_and_keeps_the_last() -> None:
    items = agent(*(WORD * 100 for _ in range(6)))
    assert results(strategies.clear_old(10_000)(items)) == results(items)
    cleared = results(strategies.clear_old(550)(items))
    assert cleared == ["[cleared]"] * 3 + results(items)[3:]


def test_clearing_waits_until_it_is_worth_it() -> None:
    items = agent(*(WORD * 100 for _ in range(6)))
    assert played(strategies.clear_old(550, at_least=320), items) == results(items)
    assert "[cleared]" in played(strategies.clear_old(550, at_least=250), items)


def test_masking_keeps_the_first_and_the_last_ten() -> None:
    items = agent(*(f"one\ntwo {n}" for n in range(13)))
    masked = played(strategies.mask_observations(), items)
    assert masked[1:3] == ["Old output omitted (2 lines)"] * 2
    assert masked[0] == "one\ntwo 0"
    assert masked[3:] == results(items)[3:]


def test_masking_in_steps_waits_for_a_whole_step() -> None:
    for count, hidden in ((20, 0), (21, 10), (30, 10), (31, 20)):
        items = agent(*(f"result {n}" for n in range(count)))
        masked = played(strategies.mask_observations(step=10), items)
        assert sum("omitted" in text for text in masked) == hidden


def test_offloading_keeps_four_thousand_characters() -> None:
    items = agent(WORD * 2_400, WORD * 2_600)
    small, large = played(strategies.offload_on_arrival(), items)
    assert small == WORD * 2_400
    assert large.startswith((WORD * 2_600)[:4_000] + "\n[")
    assert len(large) < 4_100


def test_evicting_keeps_five_lines_of_each_end() -> None:
    lines = [f"{number} {'x' * 2_000}" for number in range(50)]
    items = agent("y" * 80_000, "\n".join(lines))
    small, large = played(strategies.evict_large(), items)
    assert small == "y" * 80_000
    assert [line.split(" ")[0] for line in large.split("\n") if " " in line] == [
        "0", "1", "2", "3", "4", "45", "46", "47", "48", "49",
    ]  # fmt: skip
    assert max(map(len, large.split("\n"))) == 1_000


def test_protecting_masks_what_is_beyond_the_newest_once_it_is_enough() -> None:
    items = agent(*(f"{n} {WORD * 10_000}" for n in range(9)))
    masked = played(strategies.protect_and_mask(), items)
    assert [len(text) < 600 for text in masked] == [True] * 4 + [False] * 5 or [
        len(text) < 600 for text in masked
    ] == [True] * 3 + [False] * 6
    assert "masked" in masked[0]
    assert played(strategies.protect_and_mask(), items[:13]) == results(items[:13])


def test_the_window_keeps_the_task_and_the_newest_that_fit() -> None:
    items = agent(*(f"{n} {WORD * 100}" for n in range(9)))
    view = strategies.sliding_window(500)(items)
    assert view[0] == items[0]
    assert view[-1] == items[-1]
    assert 1 < len(results(view)) < 5
    assert unpaired(read(view)) == []


def test_the_floor_keeps_just_the_values_that_are_used() -> None:
    items = agent(f"{WORD * 200} id_one {WORD} id_two", "short")
    items.append({"role": "assistant", "content": "It is id_two."})
    [large, short] = results(strategies.floor(Recording("f", "f", "openai", items))(items))
    assert (large, short) == ("id_two", "short")


@given(rounds=any_rounds())
def test_no_baseline_breaks_a_conversation(rounds: Rounds) -> None:
    """No call loses its result, no caller's list is changed, and a copy gives the same view."""
    whole = [item for each in rounds for item in each]
    made = Recording("f", "f", "openai", whole)
    makes = {**BASELINES, strategies.FLOOR: functools.partial(strategies.floor, made)}
    for name, make in makes.items():
        one, two = make(), make()
        for items in growing(rounds):
            before = repr(items)
            view = one(items)
            assert repr(items) == before
            assert view == two(items)
            if not unpaired(read(items)) and "window" not in name:
                assert unpaired(read(view)) == [], name
                assert len(view) == len(items)


def test_only_the_window_drops_messages() -> None:
    items = agent(*(f"{n} {WORD * 9_000}" for n in range(9)))
    for name, make in BASELINES.items():
        view = make()(items)
        assert (len(view) < len(items)) is ("window" in name)
        assert sum(map(tokens.count_message, read(view))) <= sum(
            map(tokens.count_message, read(items))
        )
