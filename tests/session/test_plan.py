"""The plan: arrivals at once, the past only where its edit pays, and the same answer every time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippocampus.entries.entry import Decision
from hippocampus.policy import Policy
from hippocampus.prices import TABLES, Prices, model_prices
from hippocampus.session.plan import FORCED, Candidate, PlanInput, plan

POLICY = Policy()
PRICES = TABLES["anthropic-5m"]
IN_STEPS = model_prices("gpt-5.4-mini")
"""Of a provider that caches a prefix in steps of 128 tokens."""


def candidate(
    message: int, full: int, indexed: int = 50, carried: float = 1e9, risk: float = 0
) -> Candidate:
    return Candidate(f"e{message}", message, full, indexed, risk, carried=carried)


def decided(
    candidates: Sequence[Candidate], standing: PlanInput, prices: Prices = PRICES
) -> list[Decision]:
    return plan(candidates, None, standing, prices, POLICY).decisions


def test_what_has_not_been_sent_is_shortened_at_once() -> None:
    [decision] = decided([candidate(2, 1_000)], PlanInput(1, 2, [10, 10, 1_000]))
    assert (decision.saves, decision.costs) == (950, 0)


def test_what_saves_little_stays() -> None:
    waiting = [candidate(2, 99)]
    assert decided(waiting, PlanInput(1, 2, [10, 10, 1_000])) == []


@pytest.mark.parametrize(("turn", "edits"), [(1, 0), (108, 0), (109, 1)])
def test_the_past_is_left_alone_until_the_edit_pays(turn: int, edits: int) -> None:
    """9,050 are written at 1.25 instead of 10,000 read at 0.1, and each call saves 950 at 0.1."""
    found = decided([candidate(0, 1_000)], PlanInput(turn, 2, [1_000, 9_000]))
    assert len(found) == edits


@pytest.mark.parametrize(("carried", "edits"), [(103_000, 0), (103_200, 1)])
def test_an_edit_waits_until_carrying_has_cost_as_much(carried: float, edits: int) -> None:
    """Ski rental: the edit of the test above costs 10,312.5, which 103,125 tokens read cost too."""
    waiting = [candidate(0, 1_000, carried=carried)]
    assert len(decided(waiting, PlanInput(1_000, 2, [1_000, 9_000]))) == edits


def test_no_edit_costs_more_than_the_balance() -> None:
    standing = PlanInput(1_000, 2, [1_000, 9_000], balance=10_312)
    assert decided([candidate(0, 1_000)], standing) == []
    assert len(decided([candidate(0, 1_000)], replace(standing, balance=10_313))) == 1


@pytest.mark.parametrize(("carried", "edits"), [(203_000, 0), (203_200, 1)])
def test_a_risk_over_the_balance_waits_until_carrying_has_cost_as_much(
    carried: float, edits: int
) -> None:
    """The edit costs 10,312.5, and hiding the content 10,000 more."""
    waiting = [candidate(0, 1_000, carried=carried, risk=10_000)]
    standing = PlanInput(1_000, 2, [1_000, 9_000], balance=10_313)
    assert len(decided(waiting, standing)) == edits


def test_an_edit_in_front_of_a_mark_is_priced_as_a_write_from_the_mark_before_it() -> None:
    standing = PlanInput(900, 2, [6_000, 4_000])
    waiting = [candidate(1, 4_000, 2_000)]
    [anywhere] = decided(waiting, standing)
    [marked] = decided(waiting, replace(standing, mark_tokens=[5_000, 9_000]))
    assert marked.costs - anywhere.costs == pytest.approx(1_000 * (PRICES.write - PRICES.read))


def test_what_is_small_does_not_starve_what_is_large() -> None:
    """A small edit at the end pays at each call by itself; the large one goes along with it."""
    standing = PlanInput(300, 3, [20_000, 3_000, 400])
    waiting = [candidate(0, 20_000), candidate(2, 400)]
    assert [each.entry_id for each in decided(waiting[1:], standing)] == ["e2"]
    assert {each.entry_id for each in decided(waiting, standing)} == {"e0", "e2"}


def test_a_last_message_is_edited_as_soon_as_it_is_due() -> None:
    [decision] = decided([candidate(1, 4_000)], PlanInput(3, 2, [9_000, 4_000]))
    assert "pays over the 3 calls" in decision.reason


def test_where_a_digest_saves_more_than_the_payloads_in_it_it_takes_their_place() -> None:
    sizes = [1_000] * 6
    inside = [candidate(at, 1_000) for at in (1, 2)]
    fold = Candidate("", 1, 4_000, 300, spans=((1, 5),), carried=1e9)
    standing = PlanInput(900, 6, sizes)
    found = plan(inside, fold, standing, PRICES, POLICY)
    assert found == ([], True)
    poor = fold._replace(indexed_tokens=3_000)
    found = plan(inside, poor, standing, PRICES, POLICY)
    assert ({each.entry_id for each in found.decisions}, found.is_folded) == ({"e1", "e2"}, False)


@st.composite
def standings(draw: st.DrawFn) -> tuple[list[Candidate], PlanInput, Prices]:
    sizes = draw(st.lists(st.integers(1, 20_000), min_size=1, max_size=12))
    chosen = draw(st.sets(st.integers(0, len(sizes) - 1)))
    candidates = [
        candidate(
            at,
            sizes[at],
            draw(st.integers(1, sizes[at])),
            risk=draw(st.integers(0, 30_000)),
            carried=draw(st.integers(0, 300_000)),
        )
        for at in sorted(chosen)
    ]
    sent, balance = draw(st.integers(0, len(sizes))), draw(st.integers(0, 100_000))
    standing = PlanInput(draw(st.integers(0, 300)), sent, sizes, balance)
    return candidates, standing, draw(st.sampled_from([*TABLES.values(), IN_STEPS]))


@given(standings())
def test_the_batch_is_the_best_of_all_tails(
    drawn: tuple[list[Candidate], PlanInput, Prices],
) -> None:
    """A slow sum for each tail of the due entries is the oracle."""
    candidates, standing, prices = drawn
    decisions = {each.entry_id for each in decided(candidates, standing, prices)}
    due = [c for c in candidates if POLICY.is_worth_shortening(c.full_tokens, c.indexed_tokens)]
    fresh = {c.entry_id for c in due if c.message >= standing.sent_messages}
    cached = [c for c in due if c.message < standing.sent_messages]
    assert fresh <= decisions
    calls = max(1, standing.turn)

    def gain(tail: list[Candidate]) -> float:
        if not tail:
            return 0.0
        saved = sum(c.saves for c in tail)
        before = sum(standing.message_tokens[: tail[0].message])
        total = sum(standing.message_tokens[: standing.sent_messages])
        once = prices.call_cost(before, total - saved) - prices.call_cost(total, total)
        spent, risk = prices.read * sum(c.carried for c in tail), sum(c.risk for c in tail)
        if once > min(spent, standing.balance) or once + risk > max(spent, standing.balance):
            return 0.0
        return calls * prices.read * saved - once - risk

    best = max(gain(cached[at:]) for at in range(len(cached) + 1))
    chosen = [c for c in cached if c.entry_id in decisions]
    assert gain(chosen) == pytest.approx(max(0.0, best), abs=1e-6)
    assert chosen == cached[len(cached) - len(chosen) :]


def test_what_keeps_nearly_all_of_a_content_is_no_entry() -> None:
    waiting = [candidate(2, 1_000, indexed=800)]
    assert decided(waiting, PlanInput(1, 2, [10, 10, 1_000])) == []


def test_with_a_cold_cache_all_that_is_due_goes() -> None:
    standing = PlanInput(1, 2, [1_000, 9_000], cold=True)
    [decision] = decided([candidate(0, 1_000, carried=0)], standing)
    assert (decision.reason, decision.costs) == ("the cache is cold", 0)


def test_with_a_cold_cache_no_payload_is_edited_that_a_digest_takes() -> None:
    inside = [candidate(at, 1_000) for at in (1, 2, 5)]
    fold = Candidate("", 1, 4_000, 300, spans=((1, 5),), carried=1e9)
    found = plan(inside, fold, PlanInput(900, 6, [1_000] * 6, cold=True), PRICES, POLICY)
    assert ([each.entry_id for each in found.decisions], found.is_folded) == (["e5"], True)


@given(standings())
def test_after_the_plan_is_carried_out_there_is_nothing_left_to_do(
    drawn: tuple[list[Candidate], PlanInput, Prices],
) -> None:
    """A second call at the same turn makes no second edit."""
    candidates, standing, prices = drawn
    decisions = {each.entry_id: each for each in decided(candidates, standing, prices)}
    sizes = list(standing.message_tokens)
    for each in candidates:
        if each.entry_id in decisions:
            sizes[each.message] -= each.saves
    left = [each for each in candidates if each.entry_id not in decisions]
    again = replace(standing, sent_messages=len(sizes), message_tokens=sizes)
    assert decided(left, again, prices) == []


def test_over_its_limit_the_weakest_go_first_and_make_room() -> None:
    """What pays by itself is not asked for; the batch goes down to three quarters of the limit."""
    weak = [Candidate(f"e{at}", at, 4_000, 2_000, risk=100 - at) for at in range(10)]
    forced = decided(weak, PlanInput(1, 10, [4_000] * 10, limit_tokens=39_000))
    assert [each.entry_id for each in forced] == ["e9", "e8", "e7", "e6", "e5", "e4"]
    assert all(each.reason == FORCED and each.costs > 0 for each in forced)


def test_where_what_is_due_makes_no_room_nothing_is_forced() -> None:
    standing = PlanInput(1, 2, [30_000, 30_000], limit_tokens=20_000)
    assert decided([candidate(0, 300)], standing) == []
