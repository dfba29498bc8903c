"""Strength: the power law over turns, never rising with age, never outside its bounds."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippocampus.entries.decay import accessed, explained, strength, turns_until, weak_from
from hippocampus.entries.entry import Decay, Entry, Lifecycle, Modifiers, Source, entry_id
from hippocampus.entries.origin import MemoryOrigin

PRIORITIES = ["critical", "high", "normal", "low"]


@st.composite
def entries(draw: st.DrawFn) -> Entry:
    share = st.floats(0, 1)
    return Entry(
        id="e",
        type="tool_result",
        source=Source(type="t", ref="", turn=0),
        summary="",
        strength=draw(share),
        decay=Decay(
            rate=draw(st.floats(0, 10)), floor=draw(share), last_access=draw(st.integers(0, 50))
        ),
        modifiers=Modifiers(
            priority=draw(st.sampled_from(PRIORITIES)),
            encoding=draw(st.sampled_from(["manual", "auto"])),
            associations=draw(st.sampled_from([[], ["other"]])),
        ),
        lifecycle=Lifecycle(
            created=draw(st.integers(0, 50)), expires=draw(st.none() | st.integers(0, 3_000))
        ),
    )


TURNS = st.integers(0, 2_000)
EXPONENTS = st.floats(0, 3)


@given(entries(), TURNS, TURNS, EXPONENTS)
def test_strength_never_rises_with_age(
    entry: Entry, turn: int, later: int, exponent: float
) -> None:
    assert strength(entry, turn + later, exponent) <= strength(entry, turn, exponent)


@given(entries(), st.floats(0.01, 0.99), st.floats(0.1, 3), st.floats(0, 1))
def test_weak_from_is_the_inverse_of_strength(
    entry: Entry, below: float, exponent: float, initial: float
) -> None:
    """From the last access on, the strength is over the bound before that turn, and not after it."""
    weak = weak_from(entry, below, exponent, initial)
    seen = max(entry.decay.last_access, entry.lifecycle.created)
    if weak < math.inf:
        after = max(seen, math.ceil(weak))
        assert strength(entry, after, exponent, initial) <= below + 1e-9
    before = min(10_000, math.ceil(weak) - 1) if weak < math.inf else 10_000
    if before >= seen:
        assert strength(entry, before, exponent, initial) > below - 1e-9


def test_two_traces_fade_and_the_stronger_counts() -> None:
    """At the rate 0.5 and the exponent 1: made at turn 0 with 1, mentioned at turn 10 with 0.3."""
    source = Source(type="t", ref="", turn=0)
    made = Entry(id="e", type="tool_result", source=source, summary="", decay=Decay(rate=0.5))
    mentioned = accessed(made, 10, 0.3, 1.0)
    assert strength(made, 10, 1.0) == pytest.approx(1 / 6)
    assert strength(mentioned, 10, 1.0) == pytest.approx(0.3)
    assert strength(mentioned, 12, 1.0) == pytest.approx(0.15)
    assert strength(mentioned, 100, 1.0) == strength(made, 100, 1.0) == pytest.approx(1 / 51)


@given(entries(), st.integers(50, 2_000), st.floats(0, 1), st.floats(0, 3))
def test_a_mention_never_weakens(
    entry: Entry, turn: int, mentioned: float, exponent: float
) -> None:
    after = accessed(entry, turn, mentioned, exponent)
    assert strength(after, turn, exponent) >= strength(entry, turn, exponent)


def test_a_mention_after_a_recall_leaves_the_strength_of_the_recall() -> None:
    source = Source(type="t", ref="", turn=0)
    made = Entry(id="e", type="tool_result", source=source, summary="", decay=Decay(rate=0.5))
    recalled = accessed(made, 10)
    assert accessed(recalled, 11, 0.3, 1.0) == recalled


def test_a_strength_is_explained_by_what_it_is_made_of() -> None:
    source = Source(type="t", ref="", turn=0)
    modifiers = Modifiers(priority="high", associations=["other"])
    decay = Decay(rate=0.5, floor=0.1)
    made = Entry(
        id="e", type="tool_result", source=source, summary="", decay=decay, modifiers=modifiers
    )
    found = explained(made, 10, 1.0)
    assert found.factors == {"priority high": 0.3, "associated": 0.9}
    assert found.strength == pytest.approx(strength(made, 10, 1.0), abs=1e-4)
    assert found.in_ten_turns == pytest.approx(strength(made, 20, 1.0), abs=1e-4)
    assert str(found) == (
        "strength 0.43, 0.27 in ten turns: rate 0.5 × 0.3 (priority high) × 0.9 (associated),"
        " floor 0.1, made at turn 0, last access at turn 0"
    )


def test_what_is_never_that_weak_has_no_turn() -> None:
    assert turns_until(0.5, 0.0) == turns_until(0.5, 1.0, exponent=0.0) == math.inf
    assert turns_until(0.0, 1.0) == math.inf
    assert turns_until(0.5, 1.0, initial=0.5) == 0


@given(entries(), TURNS)
def test_strength_stays_between_its_floor_and_one(entry: Entry, turn: int) -> None:
    kept = replace(entry, lifecycle=Lifecycle())
    assert entry.decay.floor <= strength(kept, turn) <= 1


@given(entries(), TURNS)
def test_nothing_is_left_of_what_has_expired(entry: Entry, turn: int) -> None:
    gone = replace(entry, lifecycle=Lifecycle(expires=turn))
    assert strength(gone, turn + 1) == 0
    assert strength(gone, turn) >= entry.decay.floor


@given(entries(), st.integers(50, 2_000))
def test_a_recall_makes_it_as_strong_as_can_be(entry: Entry, turn: int) -> None:
    fresh = replace(accessed(entry, turn), lifecycle=Lifecycle())
    assert strength(fresh, turn) == 1
    assert accessed(fresh, turn) == fresh


@given(entries(), TURNS)
def test_exponent_zero_forgets_nothing(entry: Entry, turn: int) -> None:
    kept = replace(entry, lifecycle=Lifecycle())
    assert strength(kept, turn, 0, 0) == max(entry.strength, entry.decay.floor)


@given(entries(), TURNS)
def test_association_and_care_slow_the_fading(entry: Entry, turn: int) -> None:
    def changed(**modifiers: object) -> float:
        return strength(replace(entry, modifiers=Modifiers(**modifiers)), turn)

    assert changed(associations=["other"]) >= changed()
    assert changed(encoding="manual") >= changed()
    by_priority = [changed(priority=each) for each in PRIORITIES]
    assert by_priority == sorted(by_priority, reverse=True)


def test_what_is_critical_does_not_fade() -> None:
    entry = Entry(
        id="e",
        type="state",
        source=Source(type="t", ref="", turn=0),
        summary="",
        modifiers=Modifiers(priority="critical"),
    )
    assert strength(entry, 10_000) == 1


def test_the_threshold_of_the_protocol_is_reached_after_990_turns() -> None:
    """Rate x turns = 99 brings strength 0.1."""
    source = Source(type="t", ref="", turn=0)
    entry = Entry(id="e", type="tool_result", source=source, summary="", decay=Decay(rate=0.1))
    assert strength(entry, 990) == pytest.approx(0.1)


@given(st.text(), st.text(), st.integers(0, 9))
def test_ids_are_the_same_on_every_run_and_short(place: str, content: str, taken: int) -> None:
    made: list[str] = []
    for _ in range(taken + 1):
        made.append(entry_id("xy", "s", MemoryOrigin(place), content, made.__contains__))
    assert made[0] == entry_id("xy", "s", MemoryOrigin(place), content)
    assert [len(named) for named in made] == [min(8 + number, 12) for number in range(taken + 1)]
    assert all(named.startswith("xy") and named.isalnum() for named in made)
    assert [named.lower() for named in made] == made
