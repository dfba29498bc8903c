"""The prompt cache: what marks read, where ours stand, and what an edit costs with each."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from hippocampus.formats.reader import read
from hippocampus.prices import TABLES, model_prices
from hippocampus.prices.prompt_cache import LOOK_BACK, MarkPositions, Prompt, PromptCache, place

PRICES = TABLES["anthropic-5m"]
TEXT = "a line of output that is long enough to count. " * 40


def rounds(count: int, **shortened: str) -> list[dict[str, Any]]:
    """A conversation of `count` tool calls; `r3="short"` replaces the third result."""
    items: list[dict[str, Any]] = [{"role": "user", "content": TEXT * 4}]
    for number in range(count):
        use = {"type": "tool_use", "id": f"c{number}", "name": "get", "input": {"n": number}}
        text = shortened.get(f"r{number}", f"{number} {TEXT}")
        answer = {"type": "tool_result", "tool_use_id": f"c{number}", "content": text}
        items += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [answer]}]
    return items


def prompt(items: list[dict[str, Any]]) -> Prompt:
    return Prompt().extended(read(items), 0)


def reads(views: list[list[dict[str, Any]]], own: int, seconds: float = 10.0) -> list[int]:
    """The tokens that each request reads, with this many marks of ours."""
    cache = PromptCache(PRICES, own)
    return [cache.send(prompt(each), at * seconds) for at, each in enumerate(views)]


GROWING = [rounds(count) for count in range(1, 30)]
EDITED = [*GROWING, rounds(30, r18="short")]


def test_a_growing_list_is_read_up_to_the_last_request() -> None:
    totals = [prompt(each).total for each in GROWING]
    assert reads(GROWING, 0) == [0, *totals[:-1]]
    assert reads(GROWING, 2) == [0, *totals[:-1]]


def test_an_edit_far_from_the_tail_mark_loses_everything_without_marks_of_ours() -> None:
    assert reads(EDITED, 0)[-1] == 0


def test_a_mark_of_ours_reads_nearly_all_that_stands_before_the_edit() -> None:
    before, after = prompt(EDITED[-2]), prompt(EDITED[-1])
    unchanged = after.tokens_to(before.common(after) - 1)
    assert 0.9 * unchanged < reads(EDITED, 2)[-1] <= unchanged


def test_entries_that_no_request_touched_within_their_time_are_gone() -> None:
    """The recent mark stood in each request; the ends of old requests did not."""
    calls = int(PRICES.cache_seconds)
    assert reads(EDITED, 2, seconds=calls - 1)[-1] < reads(EDITED, 2)[-1]
    assert reads(GROWING[:3], 2, seconds=calls + 1) == [0, 0, 0]


def test_parallel_calls_and_results_are_one_position() -> None:
    uses = [{"type": "tool_use", "id": f"c{n}", "name": "get", "input": {}} for n in range(30)]
    results = [{"type": "tool_result", "tool_use_id": f"c{n}", "content": TEXT} for n in range(30)]
    first = rounds(1)
    second = [
        *first,
        {"role": "assistant", "content": uses},
        {"role": "user", "content": results},
    ]
    assert prompt(second).blocks[-1].position == prompt(first).blocks[-1].position + 2
    assert reads([first, second], 0)[1] == prompt(first).total


def test_more_new_positions_than_a_mark_looks_back_are_a_miss_for_the_tail_alone() -> None:
    first = rounds(2)
    texts = [{"type": "text", "text": f"{n} {TEXT}"} for n in range(LOOK_BACK + 1)]
    views = [first, rounds(3), [*rounds(3), {"role": "user", "content": texts}]]
    assert reads(views, 0)[2] == 0
    assert reads(views, 2)[2] == prompt(rounds(3)).total


def test_marks_move_forward_only_and_stand_on_ends_of_requests() -> None:
    standing, before, seen = MarkPositions(), Prompt(), []
    ends = set()
    for each in map(prompt, GROWING):
        standing = place(standing, before, each, own=2, look_back=LOOK_BACK)
        seen.append(standing.recent)
        assert standing.recent == -1 or standing.recent in ends
        assert standing.recent == -1 or each.distance(standing.recent, each.last) <= LOOK_BACK
        before = each
        ends.add(each.last)
    assert all(one <= other for one, other in pairwise(seen))


def test_the_same_request_again_keeps_its_marks() -> None:
    standing, before = MarkPositions(), Prompt()
    for each in map(prompt, EDITED):
        standing = place(standing, before, each, own=2, look_back=LOOK_BACK)
        assert place(standing, each, each, own=2, look_back=LOOK_BACK) == standing
        assert len(standing.blocks()) <= 2
        before = each


def test_no_marks_of_ours_where_none_are_free() -> None:
    one, other = prompt(GROWING[5]), prompt(GROWING[6])
    assert place(MarkPositions(1, 2), one, other, own=0, look_back=LOOK_BACK) == MarkPositions()
    assert place(MarkPositions(1, 2), one, other, own=1, look_back=LOOK_BACK).blocks() == [2]


def test_breakpoints_match_at_their_own_place_only() -> None:
    breakpoints = replace(PRICES, cache="breakpoints")
    cache = PromptCache(breakpoints)
    views = [*GROWING, rounds(30, r20="short")]
    found = [cache.send(prompt(each), at) for at, each in enumerate(views)]
    assert found[-1] in {prompt(each).total for each in GROWING[:20]}


def test_a_prompt_is_extended_as_if_read_whole() -> None:
    grown = Prompt()
    for count in range(6):
        messages = read(rounds(count))
        grown = grown.extended(messages, min(len(grown.starts), len(messages)))
        assert grown == prompt(rounds(count))
    cut = read(rounds(2, r1="short"))
    assert grown.extended(cut, 4) == prompt(rounds(2, r1="short"))


@pytest.mark.parametrize(
    ("model", "kind", "least", "seconds"),
    [
        ("claude-sonnet-5-5", "marks", 1_024, 300),
        ("claude-opus-5", "marks", 512, 300),
        ("claude-opus-4-6", "marks", 4_096, 300),
        ("gpt-5.5", "prefix", 1_024, 3_600),
        ("gpt-5.6", "breakpoints", 1_024, 1_800),
        ("gemini-2.5-pro", "prefix", 1_024, 3_600),
    ],
)
def test_a_model_brings_its_cache(model: str, kind: str, least: int, seconds: float) -> None:
    prices = model_prices(model)
    found = prices.cache, prices.smallest_prefix_tokens, prices.cache_seconds
    assert found == (kind, least, seconds)
