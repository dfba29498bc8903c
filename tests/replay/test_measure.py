"""The measures, against figures worked out by hand and against a slow obvious oracle."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conversations import EAGER, Rounds, any_rounds, chat_call, reading
from hypothesis import given
from hypothesis import strategies as st

from hippocampus.formats.reader import read
from hippocampus.formats.tool_calls import asks_to_read
from hippocampus.indexing import kind_of
from hippocampus.indexing.kinds import KINDS
from hippocampus.models import tokens
from hippocampus.prices import TABLES
from hippocampus.replay.measure import (
    LINE_SLICE_TOKENS,
    SLICE_TOKENS,
    CacheModel,
    MeasuredCall,
    Script,
    measure,
    unpaired,
)
from hippocampus.replay.our_strategy import measure_ours
from hippocampus.replay.readers import read_file
from hippocampus.replay.recording import Recording
from hippocampus.replay.strategies import BASELINES, EVERYTHING, floor
from hippocampus.replay.summary import Summary, percent, raw_figures, raw_of, shares, totals
from hippocampus.replay.uses import lines_of, searchable, uses, values_of

PRICES = TABLES["anthropic-5m"]
EXAMPLES = Path(__file__).parents[2] / "examples" / "transcripts"
ID = "row_4711-a"
PADDING = "so it goes on and on and on here. " * 150


def call(number: int, **arguments: Any) -> dict[str, Any]:
    return chat_call(f"c{number}", "get", arguments)


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
    measured = measure(Script(recording(ITEMS)), list)
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
    assert (measured.invalid_views, measured.problems) == (0, ())


@given(st.sets(st.integers(0, 8)))
def test_a_view_is_paired_as_if_it_were_read_from_scratch(broken: set[int]) -> None:
    """A view that loses its results at some calls, grows on from there, and is whole again later."""
    views: list[list[dict[str, Any]]] = []
    items = [ITEMS[0]]
    for number in range(8):
        items += [call(number, at=number), result(number, f"result {number}")]
    items.append({"role": "assistant", "content": "Done."})

    def lose(sent: list[dict[str, Any]]) -> list[dict[str, Any]]:
        lost = [sent[:-1], [each for each in sent if each.get("role") != "tool"]][len(views) % 2]
        views.append(lost if len(views) in broken else list(sent))
        return views[-1]

    measured = measure(Script(recording(items)), lose)
    wrong = [unpaired(read(view)) for view in views]
    assert measured.invalid_views == sum(map(bool, wrong))
    told = [f"call {number}: {each}" for number, found in enumerate(wrong) for each in found]
    assert list(measured.problems) == told[:10]


def test_a_hidden_use_is_charged_one_recall() -> None:
    """The view once more at the read price and 400 tokens at the write price."""

    def hide(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{**each, "content": "gone"} if each["role"] == "tool" else each for each in items]

    script = Script(recording(ITEMS))
    measured = measure(script, hide)
    second, third = measured.calls[1:]
    assert second.hidden == (ID,)
    assert second.cost(PRICES) == pytest.approx(1.35 * second.tokens + 1.25 * SLICE_TOKENS)
    assert second.charged_tokens == 2 * second.tokens + 400
    assert third.hidden == ()
    together = totals(script, measured, PRICES)
    assert (together["uses"], together["hidden"], together["recalls"]) == (2, 1, 1)
    assert together["tokens"] == together["view_tokens"] + second.tokens + 400
    assert shares(together)["visible_percent"] == 50


LINE = "and then the wind turned to the north"
PROSE = "\n".join(
    f"On day {n} the crew of the ship wrote a letter, and no one at home could read it."
    for n in range(90)
)


def test_a_hidden_line_is_charged_one_recall_of_2000_tokens() -> None:
    """The view once more at the read price and 2,000 tokens at the write price."""
    items = [*ITEMS[:2], result(1, f"{PADDING}\n{LINE}"), call(2, old=f"  {LINE} "), ITEMS[4]]
    items += [{"role": "assistant", "content": f"I read:\n{LINE.replace(' ', '  ')}"}]

    def hide(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{**each, "content": "gone"} if each["role"] == "tool" else each for each in items]

    script = Script(recording(items))
    assert script.line_uses == ({*()}, {LINE}, {LINE})
    measured = measure(script, hide)
    assert [each.hidden_lines for each in measured.calls] == [(), (LINE,), ()]
    second = measured.calls[1]
    assert second.cost(PRICES) == pytest.approx(1.35 * second.tokens + 1.25 * LINE_SLICE_TOKENS)
    assert second.charged_tokens == 2 * second.tokens + 2_000
    together = totals(script, measured, PRICES)
    assert (together["line_uses"], together["hidden_lines"], together["recalls"]) == (2, 1, 1)
    shown = shares(together)
    assert (shown["lines_percent"], shown["visible_percent"]) == (50, 100)
    everything = totals(script, measure(script, list), PRICES)
    assert (shares(everything)["lines_percent"], everything["recalls"]) == (100, 0)


@pytest.mark.parametrize(
    ("values", "lines", "slice_tokens"),
    [((), (), 0), (("a_1",), (), 400), ((), ("l",), 2_000), (("a_1",), ("l",), 2_000)],
)
def test_a_call_pays_one_recall_with_the_larger_slice(
    values: tuple[str, ...], lines: tuple[str, ...], slice_tokens: int
) -> None:
    each = MeasuredCall(5_000, 0, 1, values, line_uses=1, hidden_lines=lines)
    recall = 500 + 1.25 * slice_tokens if slice_tokens else 0
    assert each.slice_tokens == slice_tokens
    assert each.cost(PRICES) == pytest.approx(6_250 + recall)
    assert each.charged_tokens == 5_000 + (5_000 + slice_tokens if slice_tokens else 0)


def reading_call(number: int, tool: str, **arguments: Any) -> dict[str, Any]:
    made = call(number, **arguments)
    made["tool_calls"][0]["function"]["name"] = tool
    return made


def test_what_the_agent_asked_to_read_is_measured_by_hand() -> None:
    """Prose that a file, or a command that prints one, brought; no data, no test run, no note."""
    items = [{"role": "user", "content": "Look."}]
    rows = json.dumps([{"id": n, "name": f"row {n}"} for n in range(400)])
    asked = [
        (reading_call(1, "read_file", path="a.md"), PROSE),
        (reading_call(2, "bash", command="cd x && cat a.md | head -90"), PROSE + "\nThe end."),
        (reading_call(3, "bash", command="pytest -q"), PROSE),
        (reading_call(4, "read_file", path="a.json"), rows),
        (reading_call(5, "read_file", path="note.md"), "A note of a few words, and no more."),
    ]
    for number, (made, content) in enumerate(asked, start=1):
        items += [made, result(number, content)]
    items += [{"role": "assistant", "content": "Done."}]
    script = Script(recording(items))
    assert [[part.call_id for part in parts] for parts in script.asked] == [
        [], ["c1"], ["c2"], [], [], []
    ]  # fmt: skip
    first, second = tokens.count(PROSE), tokens.count(PROSE + "\nThe end.")
    assert script.asked_tokens == first + second

    def shorten(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
        short = {"c2": "On day 0 …"}
        return [{**each, "content": short.get(each.get("tool_call_id"), each["content"])}
                if each["role"] == "tool" else each for each in items]  # fmt: skip

    measured = measure(script, shorten)
    assert [each.unread for each in measured.calls] == [(), (), (second,), (), (), ()]
    unread = measured.calls[2]
    more = 0.1 * unread.tokens + 1.25 * second
    assert sum(each.cost_if_read(PRICES) for each in measured.calls) == pytest.approx(
        measured.cost(PRICES) + more
    )
    together = totals(script, measured, PRICES)
    assert (together["asked_tokens"], together["read_tokens"]) == (first + second, first)
    assert shares(together)["read_percent"] == percent(first, first + second)


def test_a_result_that_stands_in_full_elsewhere_in_the_view_is_read() -> None:
    """A second read of the same file, of which the view keeps the first."""
    items = [{"role": "user", "content": "Look."}]
    for number in (1, 2):
        items += [reading_call(number, "read_file", path="a.md"), result(number, PROSE)]
    items += [{"role": "assistant", "content": "Done."}]

    def point(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{**each, "content": "the same as above"} if each.get("tool_call_id") == "c2"
                else each for each in items]  # fmt: skip

    script = Script(recording(items))
    assert shares(totals(script, measure(script, point), PRICES))["read_percent"] == 100


def test_a_use_is_a_value_that_stood_in_a_result_first() -> None:
    found = uses(read(ITEMS), values_of)
    assert [sorted(found[number]) for number in (1, 3, 5)] == [[], [ID], [ID]]
    said_first = [{"role": "user", "content": f"Find {ID}."}, *ITEMS[1:]]
    assert [sorted(found) for found in uses(read(said_first), values_of).values()] == [[], [], []]


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
    used, used_lines = uses(messages, values_of), uses(messages, lines_of)
    own = uses(messages, lines_of, "call")
    calls, last, end, arrived = [], [], 0, 0
    for number, message in enumerate(messages):
        if message.role == "assistant":
            view = read(strategy(items[:end]))
            same = 0
            while same < min(len(last), len(view)) and last[same].raw == view[same].raw:
                same += 1
            text = "\0".join(text for each in view for text in each.texts())
            hidden = tuple(sorted(value for value in used[number] if value not in text))
            found = "\n".join(searchable(text) for each in view for text in each.texts())
            lines = tuple(sorted(line for line in used_lines[number] if line not in found))
            prefix = sum(tokens.count_message(each) for each in view[:same])
            total = sum(tokens.count_message(each) for each in view)
            calls.append(
                MeasuredCall(
                    total,
                    prefix,
                    len(used[number]),
                    hidden,
                    line_uses=len(used_lines[number]),
                    hidden_lines=lines,
                    unread=tuple(naive_unread(messages, arrived, number, view)),
                    own_uses=len(own[number]),
                    own_hidden=sum(line not in found for line in own[number]),
                )
            )
            last, arrived = view, number
        end += len(message.raw)
    return calls


def naive_unread(messages: Any, start: int, end: int, view: Any) -> list[int]:
    """Tokens of the results in a range of messages that were asked for and are not in a view."""
    calls = {p.call_id: p for each in messages[:end] for p in each.parts if p.kind == "call"}
    shown = [part.text for each in view for part in each.parts if part.kind == "result"]
    return [
        tokens.count(part.text)
        for each in messages[start:end]
        for part in each.parts
        if part.kind == "result"
        and part.call_id in calls
        and asks_to_read(calls[part.call_id].tool, calls[part.call_id].text)
        and tokens.count(part.text) >= 1_000
        and KINDS[kind_of(part.text)].is_reading
        and not any(part.text in text for text in shown)
    ]


@given(any_rounds())
def test_the_gauge_agrees_with_the_naive_oracle(rounds: Rounds) -> None:
    items = [item for each in rounds for item in each]
    each = recording(items)
    for name in ("send everything", "sliding window 32k", "mask all but 10"):
        measured = measure(Script(each), BASELINES[name]())
        expected = naive(items, BASELINES[name]())
        assert [c.hidden for c in measured.calls] == [c.hidden for c in expected]
        assert [c.hidden_lines for c in measured.calls] == [c.hidden_lines for c in expected]
        assert [c.line_uses for c in measured.calls] == [c.line_uses for c in expected]
        assert [c.own_hidden for c in measured.calls] == [c.own_hidden for c in expected]
        assert [c.unread for c in measured.calls] == [c.unread for c in expected]
        for got, want in zip(measured.calls, expected, strict=True):
            assert (got.tokens, got.uses) == (want.tokens, want.uses) or _ambiguous(items)
            assert got.prefix_tokens == want.prefix_tokens or _ambiguous(items)


@pytest.mark.parametrize("name", [*BASELINES][::3])
def test_the_gauge_agrees_with_the_naive_oracle_on_a_recorded_session(name: str) -> None:
    [each] = read_file(EXAMPLES / "json-rename.json")
    measured = measure(Script(each), BASELINES[name]()).calls
    expected = naive(each.messages, BASELINES[name]())
    assert sum(call.line_uses for call in measured) > 300
    assert any(call.unread for call in measured) == ("offload" in name)
    assert list(measured) == expected


def _ambiguous(items: list[dict[str, Any]]) -> bool:
    """Opaque blocks of a list weigh otherwise before its format is known."""
    return "from_the_future" in json.dumps(items) or "input_file" in json.dumps(items)


@given(any_rounds())
def test_ours_hides_nothing_for_good_and_breaks_no_view(rounds: Rounds) -> None:
    items = [item for each in rounds for item in each]
    script = Script(recording(items))
    measured, timelines = measure_ours(script, EAGER, CacheModel(PRICES))
    everything = measure(script, list)
    assert measured.recoverable == sum(len(each.hidden) for each in measured.calls)
    assert measured.invalid_views <= everything.invalid_views
    for ours, raw in zip(measured.calls, everything.calls, strict=True):
        assert ours.tokens <= raw.tokens
    assert len({each["entry_id"] for each in timelines}) == len(timelines)


def test_the_timeline_of_an_entry() -> None:
    items = [*reading(1)]
    items += [call(8, path="/srv/app_7/file1.py"), result(8, "ok"), call(9, path="row_14")]
    items += [result(9, "ok")]
    measured, [timeline] = measure_ours(Script(recording(items)), EAGER, CacheModel(PRICES))
    assert (timeline["tool"], timeline["arrived"], timeline["shortened"]) == ("read", 1, 1)
    assert timeline["used"] == [1, 2]
    assert set(timeline["recalled"]) <= set(timeline["used"])
    assert timeline["saves"] > 0
    assert len(measured.calls) == 3


def test_the_strength_of_an_entry_over_the_turns() -> None:
    """It falls, is higher at the turn after which a call named a value, and ends at the last call."""
    items = [*reading(1)]
    for number in range(12):
        named = "/srv/app_7/file1.py" if number == 7 else f"other {number}"
        items += [call(20 + number, path=named), result(20 + number, "ok")]
    _, [timeline, *_] = measure_ours(Script(recording(items)), EAGER, CacheModel(PRICES))
    turns, strengths = zip(*timeline["strength"], strict=True)
    assert timeline["accessed"] == [9]
    assert (turns[0], turns[-1]) == (timeline["arrived"], 12)
    assert list(turns) == sorted(set(turns))
    at = dict(timeline["strength"])
    assert at[1] == 1
    assert at[8] < at[9] > at[12]
    assert all(0 <= each <= 1 for each in strengths)


@given(any_rounds())
def test_the_floor_hides_nothing(rounds: Rounds) -> None:
    items = [item for each in rounds for item in each]
    each = recording(items)
    measured = measure(Script(each), floor(each))
    assert not [call for call in measured.calls if call.hidden or call.hidden_lines]


def test_halves_without_each_other_are_named() -> None:
    assert unpaired(read(ITEMS)) == []
    assert unpaired(read(ITEMS[2:])) == ["result 'c1' has no call before it"]
    assert unpaired(read(ITEMS[:2])) == ["call 'c1' has no result"]


def test_raw_figures_say_where_the_tokens_are() -> None:
    script = Script(recording([{"role": "system", "content": "Be brief."}, *ITEMS]))
    raw = raw_of(script, measure(script, list), PRICES)
    assert raw["system_tokens"] == tokens.count("Be brief.")
    assert raw["user_tokens"] == tokens.count("Find it.")
    assert (raw["results"], raw["results_never_used"]) == (2, 1)
    assert raw["tokens_never_used"] == tokens.count("done_1")
    figures = raw_figures(raw)
    assert figures["never_used_percent"] == 50
    share = percent(raw["tokens_never_used"], raw["result_tokens"])
    assert figures["never_used_tokens_percent"] == share < 1


def test_summaries_are_ratios_of_sums() -> None:
    script = Script(recording(ITEMS))
    everything = totals(script, measure(script, list), PRICES)
    half = totals(script, measure(script, lambda items: items[:1]), PRICES)
    raw = raw_of(script, measure(script, list), PRICES)
    single = Summary(raw, {EVERYTHING: everything, "half": half}).figures()
    row = {**single, "priced_as": {"one": 1}, "unpriced": {}}
    twice = Summary()
    for _ in range(2):
        twice.add(row)
    found = twice.figures()
    figures = found["strategies"]
    assert figures[EVERYTHING]["calls"] == 6
    assert figures[EVERYTHING]["cost_percent"] == 100
    assert figures["half"]["tokens_percent"] == percent(half["tokens"], everything["tokens"])
    assert figures["half"]["mean_cost_percent"] == single["strategies"]["half"]["cost_percent"]
    assert figures[EVERYTHING]["peak_tokens"] == everything["peak_tokens"]
    assert found["priced_as"] == {"one": 2}
    assert found["best_other"] == "half"
    assert percent(0, 0) == 100
