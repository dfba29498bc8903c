"""Strength: the power law over turns, never rising with age, never outside its bounds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippocampus.decay import strength
from hippocampus.entry import Decay, Entry, Modifiers, Source, entry_id

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
    )


@given(entries(), st.integers(0, 2_000), st.integers(0, 2_000), st.booleans())
def test_strength_never_rises_with_age(
    entry: Entry, turn: int, later: int, associated: bool
) -> None:
    now = strength(entry, turn, associated=associated)
    assert strength(entry, turn + later, associated=associated) <= now


@given(entries(), st.integers(0, 2_000))
def test_strength_stays_between_its_floor_and_one(entry: Entry, turn: int) -> None:
    assert entry.decay.floor <= strength(entry, turn) <= 1


@given(entries(), st.integers(0, 2_000))
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
    made = entry_id("s", place, content, attempt)
    assert made == entry_id("s", place, content, attempt)
    assert len(made) == min(8 + attempt, 12)
    assert made.isalnum()
    assert made == made.lower()
