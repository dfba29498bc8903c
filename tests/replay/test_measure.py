"""The measures, against figures worked out by hand and against a slow obvious oracle."""

from __future__ import annotations

import json
from typing import Any

import pytest
from conversations import EAGER, Rounds, any_rounds, reading
from hypothesis import given, settings

from hippocampus import tokens
from hippocampus.formats.reader import read
from hippocampus.prices import TABLES
from hippocampus.replay.managed import measure_ours
from hippocampus.replay.measure import SLICE_TOKENS, MeasuredCall, measure, prepare, unpaired
from hippocampus.replay.recording import Recording
from hippocampus.replay.strategies import BASELINES, EVERYTHING, FLOOR
from hippocampus.replay.summary import Summary, percent, raw_of, totals
from hippocampus.replay.values import uses, values_of

PRICES = TABLES["anthropic-5m"]
ID = "row_4711-a"
PADDING = "so it goes on and on and on here. " * 150


def call(number: int, **arguments: Any) -> dict[str, Any]:
    function = {"name": "get", "arguments": json.dumps(arguments)}
    made = {"id": f"c{number}", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [made]}


def result(number: int, content: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": f"c{number}", "content": content}


ITEMS = [
    {"role": "user", "content": "Find it."},
    call(1),
    result(1, f"{PADDING}{ID}"),
    call(2, id=ID),
    result(2, "done_1"),
    {"role": "assistant", "content": f"It is {ID}, and Find it."},
]


def recording(items: list[dict[str, Any]], model: str | None = None) -> Recording:
    return Recording("folder/file.json", "file", "openai", items, model)


def size(*texts: str) -> int:
    return 4 + sum(map(tokens.count, texts))


def test_sending_everything_by_hand() -> None:
    """Three calls: sizes, prefixes, uses and costs worked out from the parts."""
    measured = measure(prepare(recording(ITEMS)), list)
    user, first = size("Find it."), size("get", "{}")
    large = size(f"{PADDING}{ID}")
    second, small = size("get", json.dumps({"id": ID})), size("done_1")
    assert [each.tokens for each in measured.calls] == [
        user,
        user + first + large,
        user + first + large + second + small,
    ]
    assert [each.prefix_tokens for each in measured.calls] == [0, user, user + first + large]
    assert [each.uses for each in measured.calls] == [0, 1, 1]
    assert [each.hidden for each in measured.calls] == [(), (), ()]
    assert user + first + large > 1_024 > user
    cost = 1.25 * user + 1.25 * (user + first + large)
    cost += 0.1 * (user + first + large) + 1.25 * (second + small)
    assert measured.cost(PRICES) == pytest.approx(cost)
    assert measured.result_tokens == measured.shown_tokens == large - 4 + small - 4
    assert (measured.invalid_views, measured.problems) == (0, ())


def test_a_hidden_use_is_charged_one_recall() -> None:
    """The view once more at the read price and 400 tokens at the write price."""

    def hide(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{**each, "content": "gone"} if each["role"] == "tool" else each for each in items]

    measured = measure(prepare(recording(ITEMS)), hide)
    second, third = measured.calls[1:]
    assert second.hidden == (ID,)
    assert second.cost(PRICES) == pytest.approx(1.35 * second.tokens + 1.25 * SLICE_TOKENS)
    assert second.charged_tokens == 2 * second.tokens + 400
    assert third.hidden == ()
    assert measured.shown_tokens == 0
    together = totals(measured, PRICES)
    assert (together.uses, together.hidden, together.recalls) == (2, 1, 1)
    assert together.tokens == together.view_tokens + second.tokens + 400
    assert together.visible_percent == 50


def test_a_use_is_a_value_that_stood_in_a_result_first() -> None:
    found = uses(read(ITEMS))
    assert [sorted(found[number]) for number in (1, 3, 5)] == [[], [ID], [ID]]
    said_first = [{"role": "user", "content": f"Find {ID}."}, *ITEMS[1:]]
    assert [sorted(found) for found in uses(read(said_first)).values()] == [[], [], []]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("plain words only, and Capital", set()),
        (
            "camelCase a_b_c_d x1y2z3 a/b/c/d v1.2.3",
            {"camelCase", "a_b_c_d", "x1y2z3", "a/b/c/d", "v1.2.3"},
        ),
        ("end.of.it. (src/a.py:12):", {"end.of.it", "src/a.py:12"}),
        ("1,234.50 and 12345", {"1,234.50", "12345"}),
        ("short a1 ab_c", set()),
        ("Ends. with-dash-", set()),
    ],
)
def test_values_are_the_designs(text: str, values: set[str]) -> None:
    assert values_of(text) == values


def naive(items: list[dict[str, Any]], strategy: Any) -> list[MeasuredCall]:
    """Everything from scratch at every call."""
    messages = read(items)
    used = uses(messages)
    calls, last, end = [], [], 0
    for number, message in enumerate(messages):
        if message.role == "assistant":
            view = read(strategy(items[:end]))
            same = 0
            while same < min(len(last), len(view)) and last[same].raw == view[same].raw:
                same += 1
            text = "\0".join(text for each in view for text in each.texts())
            hidden = tuple(sorted(value for value in used[number] if value not in text))
            prefix = sum(tokens.count_message(each) for each in view[:same])
            total = sum(tokens.count_message(each) for each in view)
            calls.append(MeasuredCall(total, prefix, len(used[number]), hidden))
            last = view
        end += len(message.raw)
    return calls


@given(any_rounds())
def test_the_gauge_agrees_with_the_naive_oracle(rounds: Rounds) -> None:
    items = [item for each in rounds for item in each]
    each = recording(items)
    strategies = [EVERYTHING, BASELINES[1], BASELINES[4]]
    for strategy in strategies:
        measured = measure(prepare(each), strategy.make(each))
        expected = naive(items, strategy.make(each))
        assert [c.hidden for c in measured.calls] == [c.hidden for c in expected]
        for got, want in zip(measured.calls, expected, strict=True):
            assert (got.tokens, got.uses) == (want.tokens, want.uses) or _ambiguous(items)
            assert got.prefix_tokens == want.prefix_tokens or _ambiguous(items)


def _ambiguous(items: list[dict[str, Any]]) -> bool:
    """Opaque blocks of a list weigh otherwise before its format is known."""
    return "from_the_future" in json.dumps(items) or "input_file" in json.dumps(items)


@given(any_rounds())
@settings(max_examples=15)
def test_ours_hides_nothing_for_good_and_breaks_no_view(rounds: Rounds) -> None:
    items = [item for each in rounds for item in each]
    script = prepare(recording(items))
    measured, lives = measure_ours(script, EAGER, PRICES)
    everything = measure(script, list)
    assert measured.recoverable == sum(len(each.hidden) for each in measured.calls)
    assert measured.invalid_views <= everything.invalid_views
    for ours, raw in zip(measured.calls, everything.calls, strict=True):
        assert ours.tokens <= raw.tokens
    assert len({life.entry_id for life in lives}) == len(lives)


def test_what_became_of_an_entry_is_told() -> None:
    items = [*reading(1)]
    items += [call(8, path="/srv/app_7/file1.py"), result(8, "ok"), call(9, path="row_14")]
    items += [result(9, "ok")]
    measured, [life] = measure_ours(prepare(recording(items)), EAGER, PRICES)
    assert (life.tool, life.arrived, life.shortened) == ("read", 1, 1)
    assert life.used == (1, 2)
    assert set(life.recalled) <= set(life.used)
    assert life.saves > 0
    assert len(measured.calls) == 3


@given(any_rounds())
@settings(max_examples=25)
def test_the_floor_hides_nothing(rounds: Rounds) -> None:
    items = [item for each in rounds for item in each]
    each = recording(items)
    measured = measure(prepare(each), FLOOR.make(each))
    assert not [call.hidden for call in measured.calls if call.hidden]


def test_halves_without_each_other_are_named() -> None:
    assert unpaired(read(ITEMS)) == []
    assert unpaired(read(ITEMS[2:])) == ["result 'c1' has no call before it"]
    assert unpaired(read(ITEMS[:2])) == ["call 'c1' has no result"]


def test_raw_figures_say_where_the_tokens_are() -> None:
    script = prepare(recording([{"role": "system", "content": "Be brief."}, *ITEMS]))
    raw = raw_of(script, measure(script, list))
    assert raw.system_tokens == tokens.count("Be brief.")
    assert raw.user_tokens == tokens.count("Find it.")
    assert (raw.results, raw.results_never_used) == (2, 1)
    assert raw.tokens_never_used == tokens.count("done_1")


def test_summaries_are_ratios_of_sums() -> None:
    script = prepare(recording(ITEMS))
    everything = totals(measure(script, list), PRICES)
    half = totals(measure(script, lambda items: items[:1]), PRICES)
    summary = Summary()
    for _ in range(2):
        summary.add(raw_of(script, measure(script, list)), [("all", everything), ("half", half)])
    figures = summary.figures("all", PRICES)["strategies"]
    assert figures["all"]["calls"] == 6
    assert figures["all"]["cost_percent"] == 100
    assert figures["half"]["tokens_percent"] == percent(half.tokens, everything.tokens)
    assert figures["all"]["peak_tokens"] == everything.peak_tokens
    assert summary.best_other("all", "all", "none") == "half"
    assert percent(0, 0) == 100
