"""What is due: the table in columns says what asking each content says, and rates move it."""

from __future__ import annotations

import itertools
from dataclasses import replace
from math import inf

import pytest
from conversations import Rounds, any_rounds, reading
from hypothesis import given
from hypothesis import strategies as st

from hippocampus.entries.decay import strength, turns_until
from hippocampus.entries.entry import Decay, Entry, Lifecycle, Modifiers, Record, Source, Stage
from hippocampus.entries.origin import MemoryOrigin
from hippocampus.policy import Policy, Resolution, load
from hippocampus.prices import TABLES
from hippocampus.session.arrival import with_kind
from hippocampus.session.history import History
from hippocampus.session.payloads import Payload, Payloads, cold_from, due_from
from hippocampus.session.state import State, read
from hippocampus.session.turn_rules import Rules

POLICY = Policy(fade_below=1.6**-0.5, sleep_below=3**-0.5, fade_view_tokens=100)
"""At the usual rate of 0.1 contents fade after 6 turns, and entries sleep after 20."""
RULES = Rules("s", POLICY, TABLES["anthropic-5m"])
RATE = POLICY.decay_rates["tool_result"]


def held(number: int = 0, stage: Stage = Stage.FULL, **changes: object) -> Payload:
    entry = Entry(
        id=f"e{number}",
        type="tool_result",
        source=Source(type="tool", ref="", turn=0),
        summary="",
        decay=Decay(rate=RATE, last_access=0),
    )
    record = Record(
        entry,
        MemoryOrigin(f"p{number}"),
        "key",
        form="text",
        kind="json",
        tool="tool",
        tokens=900,
        stage=stage,
        shown="some words " * 200,
    )
    for name, value in changes.items():
        if name in {"rate", "last_access"}:
            decay = replace(record.entry.decay, **{name: value})
            entry = replace(record.entry, decay=decay)
        elif name == "expires":
            entry = replace(record.entry, lifecycle=Lifecycle(expires=value))
        else:
            entry = replace(record.entry, modifiers=Modifiers(**{name: value}))
        record = replace(record, entry=entry)
    return Payload(record, number, 0, 900, due_turn=1, large=stage is not Stage.FULL)


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
        ({"associations": ["other"]}, 6 / 0.9),
        ({"last_access": 10}, 16),
    ],
)
def test_who_fades_faster_is_due_earlier(changes: dict[str, object], turn: float) -> None:
    """All become due at the same strength, whatever their rate and factors."""
    made = held(**changes)
    assert due_from(made, POLICY) == pytest.approx(turn)
    if turn < inf:
        assert strength(made.record.entry, int(turn)) >= POLICY.fade_below - 1e-9
        assert strength(made.record.entry, int(turn) + 1) < POLICY.fade_below


def test_an_entry_that_expires_sleeps_no_later() -> None:
    assert due_from(held(stage=Stage.INDEXED), POLICY) == pytest.approx(20)
    assert due_from(held(stage=Stage.INDEXED, expires=7), POLICY) == 8
    assert due_from(held(stage=Stage.DORMANT), POLICY) == inf


def test_expiry_ends_what_stands_in_full_too() -> None:
    assert due_from(held(expires=3), POLICY) == 4
    assert cold_from(held(expires=3), POLICY) == 4


def test_priority_critical_alone_pins_nothing() -> None:
    assert not held(priority="critical").is_pinned
    made = held(priority="critical")._replace(large=True, due_turn=0)
    assert due_from(made, POLICY) == 0


@st.composite
def contents(draw: st.DrawFn) -> list[Payload]:
    """Contents of all stages, some of them accessed, superseded or pinned."""
    found = []
    for number in range(draw(st.integers(0, 150))):
        made = held(number, draw(st.sampled_from(list(Stage))), rate=draw(st.floats(0, 2)))
        note = draw(st.sampled_from(["", "superseded at turn 2"]))
        large, due_turn = draw(st.booleans()), draw(st.integers(0, 30))
        found.append(made._replace(large=large, due_turn=due_turn, note=note))
    return found


def table_of(many: list[Payload]) -> Payloads:
    found = Payloads(many, {payload.id: n for n, payload in enumerate(many)})
    found.set_turns((), RULES)
    return found


@given(contents(), st.integers(0, 60), st.sampled_from([0, 50_000]))
def test_the_table_has_what_asking_each_returns(
    many: list[Payload], turn: int, view_tokens: int
) -> None:
    accessed = {n: many[n].accessed(turn, 1.0) for n in range(0, len(many), 3)}
    table = table_of([*many])
    table.change(accessed, RULES)
    now = [accessed.get(n, each) for n, each in enumerate(many)]
    fading = view_tokens >= POLICY.fade_view_tokens
    assert table.due(turn, view_tokens, RULES) == [
        n
        for n, each in enumerate(now)
        if due_from(each, POLICY) <= turn
        and (fading or (each.large and each.record.stage is Stage.FULL))
    ]


def test_what_a_digest_replaces_is_never_due() -> None:
    """Messages still name payloads that have left the view."""
    gone, left = held(0)._replace(is_folded=True), held(1)
    table = table_of([gone, left])
    table.change({0: gone.accessed(50, 1.0)}, RULES)
    assert table.due(100, 1_000, RULES) == [1]


def test_a_floor_above_the_strength_of_the_others_keeps_an_entry() -> None:
    """After 6 turns the usual entry has strength 0.79."""
    made = held()
    for floor, turn in ((0.7, 6), (0.9, inf)):
        entry = made.record.entry
        decay = replace(entry.decay, floor=floor)
        record = replace(made.record, entry=replace(entry, decay=decay))
        made = made._replace(record=record)
        assert due_from(made, POLICY) == pytest.approx(turn)


def test_nothing_fades_where_nothing_is_forgotten() -> None:
    assert due_from(held(), POLICY.model_copy(update={"exponent": 0.0})) == inf


@pytest.mark.parametrize("said", [Resolution(index=False), Resolution(compression="none")])
def test_what_a_rule_never_indexes_stays_as_it_is(said: Resolution) -> None:
    made = held()._replace(resolution=said, note="superseded at turn 3", due_turn=0)
    assert due_from(made, POLICY) == inf


def test_an_exponent_so_small_that_nothing_fades_in_any_session_is_infinite() -> None:
    assert turns_until(0.5, 0.15, 0.0005) == inf


@given(st.one_of(any_rounds(), st.builds(lambda rounds: [reading(rounds)], st.integers(0, 9))))
def test_a_kind_that_is_read_later_changes_nothing(rounds: Rounds) -> None:
    """Neither do the accesses before it is read; read twice, so that files and texts come again."""
    items = list(itertools.chain(*rounds, *rounds[1:]))
    rules, history = Rules("s", load("default"), TABLES["none"]), History().extended(items)
    limited = replace(rules, policy=rules.policy.model_copy(update={"budget_tokens": 1}))
    assert limited.is_folded_first(history.total) == (history.total > 4)
    now, later = (read(State(), history, "", own) for own in (rules, limited))
    assert [
        with_kind(payload, history, later.state.payloads, rules)
        for payload in later.state.payloads.items
    ] == now.state.payloads.items
    assert later.state.view == now.state.view
