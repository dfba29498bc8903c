"""What is due: the table in columns says what asking each content says, and rates move it."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippocampus.entries.decay import strength
from hippocampus.entries.entry import Decay, Entry, Lifecycle, Modifiers, Record, Source, Stage
from hippocampus.policy import Policy, Treatment
from hippocampus.session.due import DueTable, first_turn
from hippocampus.session.payload import Held

POLICY = Policy(fade_after_turns=6, sleep_after_turns=20, fade_view_tokens=100)
RATE = POLICY.decay_rates["tool_result"]


def held(number: int = 0, stage: Stage = Stage.FULL, **changes: object) -> Held:
    entry = Entry(
        id=f"e{number}",
        type="tool_result",
        source=Source(type="tool", ref="", turn=0),
        summary="",
        decay=Decay(rate=RATE, last_access=0),
    )
    record = Record(
        entry, f"p{number}", "key", "text", "json", "tool", "", 900, stage, "some words " * 200
    )
    made = Held(record, number, 0, due_turn=1, large=stage is not Stage.FULL)
    for name, value in changes.items():
        if name in {"rate", "last_access"}:
            decay = record.entry.decay.model_copy(update={name: value})
            entry = record.entry.model_copy(update={"decay": decay})
        elif name == "expires":
            entry = record.entry.model_copy(update={"lifecycle": Lifecycle(expires=value)})
        else:
            entry = record.entry.model_copy(update={"modifiers": Modifiers(**{name: value})})
        record = replace(record, entry=entry)
    made.record = record
    return made


@pytest.mark.parametrize(
    ("changes", "turn"),
    [
        ({}, 6),
        ({"rate": 2 * RATE}, 3),
        ({"rate": RATE / 2}, 12),
        ({"rate": 0.0}, inf),
        ({"priority": "low"}, 3),
        ({"priority": "high"}, 20),
        ({"priority": "critical"}, inf),
        ({"encoding": "manual"}, 12),
        ({"last_access": 10}, 16),
    ],
)
def test_who_fades_faster_is_due_earlier(changes: dict[str, object], turn: float) -> None:
    """All become due at the same strength, whatever their rate and factors."""
    made = held(**changes)
    assert first_turn(made, POLICY) == pytest.approx(turn)
    if turn < inf:
        at_due = strength(made.record.entry, int(turn))
        assert at_due == pytest.approx(strength(held().record.entry, 6))


def test_an_entry_that_expires_sleeps_no_later() -> None:
    assert first_turn(held(stage=Stage.INDEXED), POLICY) == 20
    assert first_turn(held(stage=Stage.INDEXED, expires=7), POLICY) == 8
    assert first_turn(held(stage=Stage.DORMANT), POLICY) == inf


@st.composite
def contents(draw: st.DrawFn) -> list[Held]:
    """Contents of all stages, some of them accessed, superseded or pinned."""
    found = []
    for number in range(draw(st.integers(0, 150))):
        made = held(number, draw(st.sampled_from(list(Stage))), rate=draw(st.floats(0, 2)))
        made.large = draw(st.booleans())
        made.due_turn = draw(st.integers(0, 30))
        made.note = draw(st.sampled_from(["", "superseded at turn 2"]))
        found.append(made)
    return found


@given(contents(), st.integers(0, 60), st.sampled_from([0, 50_000]))
def test_the_table_says_what_asking_each_says(
    many: list[Held], turn: int, view_tokens: int
) -> None:
    table = DueTable(POLICY, len)
    for each in many:
        table.add(each)
    for each in many[::3]:
        each.touch(turn, 1.0)
        table.note(each)
    fading = view_tokens >= POLICY.fade_view_tokens
    expected = [
        each
        for each in many
        if first_turn(each, POLICY) <= turn
        and (fading or (each.large and each.record.stage is Stage.FULL))
    ]
    assert table.due(turn, view_tokens) == expected
    strengths = table.strengths(many, turn, [False] * len(many))
    assert strengths == pytest.approx([strength(each.record.entry, turn) for each in many])


def test_what_a_digest_tells_changes_no_row_of_what_is_left() -> None:
    """Messages still name contents that have left the table."""
    table = DueTable(POLICY, len)
    gone, left = held(0), held(1)
    table.refill([gone, left])
    table.refill([left])
    gone.touch(50, 1.0)
    table.note(gone)
    assert table.due(6, 1_000) == [left]


def test_a_floor_above_the_strength_of_the_others_keeps_an_entry() -> None:
    """After 6 turns the usual entry has strength 0.79."""
    made = held()
    for floor, turn in ((0.7, 6), (0.9, inf)):
        entry = made.record.entry
        decay = entry.decay.model_copy(update={"floor": floor})
        made.record = replace(made.record, entry=entry.model_copy(update={"decay": decay}))
        assert first_turn(made, POLICY) == turn


def test_nothing_fades_where_nothing_is_forgotten() -> None:
    assert first_turn(held(), POLICY.model_copy(update={"exponent": 0.0})) == inf


@pytest.mark.parametrize("said", [Treatment(index=False), Treatment(compression="none")])
def test_what_a_rule_never_indexes_stays_as_it_is(said: Treatment) -> None:
    made = held()
    made.treatment = said
    made.note, made.due_turn = "superseded at turn 3", 0
    assert first_turn(made, POLICY) == inf
