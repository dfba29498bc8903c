"""The plan: arrivals at once, the past only where its edit pays, and the same answer every time."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from hippocampus.policy import Policy
from hippocampus.prices import TABLES, Prices
from hippocampus.session.plan import (
    CAUTION,
    FORCED,
    LEAST_SHARE,
    SCARCITY,
    Candidate,
    PlanInput,
    first_open,
    plan,
)

POLICY = Policy(smallest_gain_tokens=100)
PRICES = TABLES["anthropic-5m"]


def candidate(message: int, full: int, indexed: int = 50, due: int = 0) -> Candidate:
    return Candidate(f"e{message}", message, full, indexed, due)


def test_what_has_not_been_sent_is_shortened_at_once() -> None:
    [decision] = plan([candidate(2, 1_000)], PlanInput(1, 2, [10, 10, 1_000]), PRICES, POLICY)
    assert (decision.saves, decision.costs) == (950, 0)


def test_what_saves_little_or_is_not_due_stays() -> None:
    waiting = [candidate(2, 149), candidate(2, 1_000, due=5)]
    assert plan(waiting, PlanInput(1, 2, [10, 10, 1_000]), PRICES, POLICY) == []


def test_the_past_is_left_alone_until_the_edit_pays() -> None:
    """950 saved with 9,000 behind: 11.5 x (9,050 / 950) calls, 0.4 of it for caution, and again."""
    sizes = [1_000, 9_000]
    policy = Policy(smallest_gain_tokens=100, horizon_calls=1_000)
    for turn, edits in ((1, 0), (250, 0), (270, 1)):
        found = plan([candidate(0, 1_000)], PlanInput(turn, 2, sizes), PRICES, policy)
        assert len(found) == edits


def test_a_last_message_is_edited_as_soon_as_it_is_due() -> None:
    [decision] = plan([candidate(1, 4_000)], PlanInput(3, 2, [9_000, 4_000]), PRICES, POLICY)
    assert "pays over the 3 calls" in decision.reason


@st.composite
def standings(draw: st.DrawFn) -> tuple[list[Candidate], PlanInput, Prices]:
    sizes = draw(st.lists(st.integers(1, 20_000), min_size=1, max_size=12))
    chosen = draw(st.sets(st.integers(0, len(sizes) - 1)))
    candidates = [
        candidate(at, sizes[at], draw(st.integers(1, sizes[at])), draw(st.integers(0, 3)))
        for at in sorted(chosen)
    ]
    standing = PlanInput(draw(st.integers(0, 300)), draw(st.integers(0, len(sizes))), sizes)
    return candidates, standing, draw(st.sampled_from(list(TABLES.values())))


@given(standings())
def test_the_batch_is_the_best_of_all_tails(
    drawn: tuple[list[Candidate], PlanInput, Prices],
) -> None:
    """A slow sum for each tail of the due entries is the oracle."""
    candidates, standing, prices = drawn
    decisions = {each.entry_id for each in plan(candidates, standing, prices, POLICY)}
    due = [
        c
        for c in candidates
        if c.due_turn <= standing.turn and c.saves >= max(100, LEAST_SHARE * c.full_tokens)
    ]
    arrived = sum(standing.message_tokens[standing.sent_messages :])
    arrived -= sum(c.saves for c in due if c.message >= standing.sent_messages)
    fresh = {c.entry_id for c in due if c.message >= standing.sent_messages}
    cached = [c for c in due if c.message < standing.sent_messages]
    assert fresh <= decisions
    calls = min(POLICY.horizon_calls, max(1, standing.turn))

    def gain(tail: list[Candidate]) -> float:
        if not tail:
            return 0.0
        saved, full = sum(c.saves for c in tail), sum(c.full_tokens for c in tail)
        before = sum(standing.message_tokens[: tail[0].message])
        total = sum(standing.message_tokens[: standing.sent_messages])
        once = prices.call_cost(before, total - saved) - prices.call_cost(total, total)
        edit = prices.edit_cost(total - before, total - before - saved + arrived)
        lost = CAUTION * (prices.write - prices.read) * max(0, total - before - full)
        return calls * prices.read * saved - once - lost - SCARCITY * edit

    best = max(gain(cached[at:]) for at in range(len(cached) + 1))
    chosen = [c for c in cached if c.entry_id in decisions]
    assert abs(gain(chosen) - best) < 1e-6
    assert chosen == cached[len(cached) - len(chosen) :]


@given(standings(), st.floats(0, 50_000), st.sampled_from([0, 5_000]))
def test_what_is_written_again_stays_within_what_is_left_unless_it_must(
    drawn: tuple[list[Candidate], PlanInput, Prices], left: float, limit: int
) -> None:
    candidates, standing, prices = drawn
    standing = replace(standing, edits_left=left, limit_tokens=limit)
    found = plan(candidates, standing, prices, POLICY)
    saves = {each.entry_id: each.saves for each in found if each.reason != FORCED}
    changed = [c for c in candidates if c.entry_id in saves]
    first = min((c.message for c in changed), default=len(standing.message_tokens))
    behind = sum(standing.message_tokens[first : standing.sent_messages])
    written = sum(standing.message_tokens[first:]) - sum(saves.values())
    assert prices.edit_cost(behind, written) <= left + 1e-6


@given(standings(), st.floats(0, 50_000), st.sampled_from([0, 5_000]), st.booleans())
def test_what_stands_before_the_first_open_message_is_in_no_plan(
    drawn: tuple[list[Candidate], PlanInput, Prices], left: float, limit: int, cold: bool
) -> None:
    candidates, standing, prices = drawn
    standing = replace(standing, edits_left=left, limit_tokens=limit, cold=cold)
    first = first_open([each.message for each in candidates], standing, prices)
    open_ones = [each for each in candidates if each.message >= first]
    assert plan(open_ones, standing, prices, POLICY) == plan(candidates, standing, prices, POLICY)


def test_what_keeps_nearly_all_of_a_content_is_no_entry() -> None:
    waiting = [candidate(2, 1_000, indexed=800)]
    assert plan(waiting, PlanInput(1, 2, [10, 10, 1_000]), PRICES, POLICY) == []


def test_behind_another_edit_what_is_due_goes_with_it() -> None:
    sizes = [4_000, 1_000, 9_000]
    standing = PlanInput(1, 3, sizes, edits_left=0.0, rewritten_from=1)
    [decision] = plan([candidate(0, 4_000), candidate(1, 1_000)], standing, PRICES, POLICY)
    assert decision.entry_id == "e1"
    assert "behind another edit" in decision.reason


@given(standings())
def test_after_the_plan_is_carried_out_there_is_nothing_left_to_do(
    drawn: tuple[list[Candidate], PlanInput, Prices],
) -> None:
    """A second call at the same turn makes no second edit."""
    candidates, standing, prices = drawn
    decisions = {each.entry_id: each for each in plan(candidates, standing, prices, POLICY)}
    sizes = list(standing.message_tokens)
    for each in candidates:
        if each.entry_id in decisions:
            sizes[each.message] -= each.saves
    left = [each for each in candidates if each.entry_id not in decisions]
    assert plan(left, PlanInput(standing.turn, len(sizes), sizes), prices, POLICY) == []


def test_over_its_limit_the_weakest_go_first_and_make_room() -> None:
    """What pays by itself is not asked for; the batch goes down to three quarters of the limit."""
    sizes = [4_000] * 10
    weak = [Candidate(f"e{at}", at, 4_000, 2_000, 0, risk=100 - at) for at in range(10)]
    standing = PlanInput(1, 10, sizes, limit_tokens=39_000)
    forced = plan(weak, standing, PRICES, POLICY)
    assert [each.entry_id for each in forced] == ["e9", "e8", "e7", "e6", "e5", "e4"]
    assert all("weakest" in each.reason and each.costs > 0 for each in forced)


def test_where_what_is_due_makes_no_room_nothing_is_forced() -> None:
    standing = PlanInput(1, 2, [30_000, 30_000], limit_tokens=20_000)
    assert plan([candidate(0, 300)], standing, PRICES, POLICY) == []
