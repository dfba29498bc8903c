"""Strength: the power law over turns, never rising with age, never outside its bounds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippocampus.entries.decay import accessed, columns, strength, strengths
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
        ),
        lifecycle=Lifecycle(expires=draw(st.none() | st.integers(0, 3_000))),
    )


TURNS = st.integers(0, 2_000)
EXPONENTS = st.floats(0, 3)


@given(entries(), TURNS, TURNS, st.booleans(), EXPONENTS)
def test_strength_never_rises_with_age(
    entry: Entry, turn: int, later: int, associated: bool, exponent: float
) -> None:
    now = strength(entry, turn, associated=associated, exponent=exponent)
    assert strength(entry, turn + later, associated=associated, exponent=exponent) <= now


@given(st.lists(st.tuples(entries(), st.booleans()), max_size=8), TURNS, EXPONENTS)
def test_many_at_once_are_as_strong_as_each_by_itself(
    drawn: list[tuple[Entry, bool]], turn: int, exponent: float
) -> None:
    rows = columns([entry for entry, _ in drawn])
    mask = np.array([associated for _, associated in drawn], dtype=bool)
    one_by_one = [
        strength(entry, turn, associated=associated, exponent=exponent)
        for entry, associated in drawn
    ]
    assert strengths(rows, turn, mask, exponent) == pytest.approx(one_by_one, rel=1e-12)


@given(st.lists(entries(), max_size=8), TURNS, TURNS)
def test_many_at_once_never_rise_with_age(many: list[Entry], turn: int, later: int) -> None:
    rows = columns(many)
    assert np.all(strengths(rows, turn + later) <= strengths(rows, turn))


@given(entries(), TURNS)
def test_strength_stays_between_its_floor_and_one(entry: Entry, turn: int) -> None:
    kept = entry.model_copy(update={"lifecycle": Lifecycle()})
    assert entry.decay.floor <= strength(kept, turn) <= 1


@given(entries(), TURNS)
def test_nothing_is_left_of_what_has_expired(entry: Entry, turn: int) -> None:
    gone = entry.model_copy(update={"lifecycle": Lifecycle(expires=turn)})
    assert strength(gone, turn + 1) == 0
    assert strength(gone, turn) >= entry.decay.floor


@given(entries(), TURNS, st.floats(0, 1))
def test_an_access_makes_it_as_strong_as_at_first(entry: Entry, turn: int, initial: float) -> None:
    fresh = accessed(entry, turn, initial).model_copy(update={"lifecycle": Lifecycle()})
    assert strength(fresh, turn) == max(initial, entry.decay.floor)
    assert accessed(fresh, turn, initial) == fresh


@given(entries(), TURNS)
def test_exponent_zero_forgets_nothing(entry: Entry, turn: int) -> None:
    kept = entry.model_copy(update={"lifecycle": Lifecycle()})
    assert strength(kept, turn, exponent=0) == max(entry.strength, entry.decay.floor)


@given(entries(), TURNS)
def test_association_and_care_slow_the_fading(entry: Entry, turn: int) -> None:
    assert strength(entry, turn, associated=True) >= strength(entry, turn)
    by_priority = [
        strength(entry.model_copy(update={"modifiers": Modifiers(priority=each)}), turn)
        for each in PRIORITIES
    ]
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
def test_ids_are_the_same_on_every_run_and_short(place: str, content: str, attempt: int) -> None:
    made = entry_id("s", MemoryOrigin(place), content, attempt)
    assert made == entry_id("s", MemoryOrigin(place), content, attempt)
    assert len(made) == min(8 + attempt, 12)
    assert made.isalnum()
    assert made == made.lower()
