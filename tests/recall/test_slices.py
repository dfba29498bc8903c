"""Slices: the whole byte for byte where it fits, else the right lines, always bounded."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator

import pytest
import re2
from conversations import text as texts
from hypothesis import given
from hypothesis import strategies as st

from hippocampus.errors import RecallError
from hippocampus.formats.json_paths import at_path
from hippocampus.models import tokens
from hippocampus.recall import RecallRequest as Request
from hippocampus.recall import take, tool
from hippocampus.recall.lines import records

LINES = "\n".join(f"line {number} of id_{number:03d}" for number in range(1, 101))


@given(texts())
def test_a_content_that_fits_comes_back_byte_for_byte(content: str) -> None:
    assert take(content, Request(), 100_000) == content


requests = st.builds(
    Request,
    pattern=st.none() | st.sampled_from(["", "row_", "x*", r"\d+", "(?i)USER", "[", "\ud800"]),
    lines=st.none() | st.tuples(st.integers(-5, 200), st.integers(-5, 200)),
    head=st.none() | st.integers(-5, 200),
    tail=st.none() | st.integers(-5, 200),
    query=st.none() | st.sampled_from(["", "row user name", "the", "\ud800"]),
    path=st.none()
    | st.sampled_from(["", "$", "$[0]", "$[0].id", "$[*].id", "main", "#x", "e1", "["]),
    context=st.integers(-1, 3),
)


@given(texts() | st.text("\U0001f9e0\u6f22x ", min_size=200), requests, st.integers(1, 300))
def test_a_slice_is_bounded_or_says_why_there_is_none(
    content: str, request: Request, bound: int
) -> None:
    try:
        found = take(content, request, bound)
    except RecallError as told:
        assert told.reason in ("bad_request", "no_match", "too_large")  # noqa: PT017 - each is right
    else:
        assert tokens.count(found) <= bound
        assert take(content, request, bound) == found


@pytest.mark.parametrize("sign", ["#", "=", "-", " ", "\t", "a", "\u6f22"])
def test_a_line_of_one_sign_is_bounded_though_few_tokens_stand_for_many_of_them(sign: str) -> None:
    for wanted in (Request(), Request(pattern="."), Request(head=1), Request(tail=1)):
        assert tokens.count(take(sign * 20_000 + "\nlast", wanted, 100)) <= 100


LONG_TEXTS = [
    "<h1>" * 50_000, "<h1 " * 50_000, "<h1>" + "<h2 a>" * 40_000, '- heading "x' * 20_000,
    "# a\n" * 50_000, "<div class=a>" * 15_000, "[" * 200_000, "|" * 200_000, 'a,"' * 60_000,
]  # fmt: skip
PATHS = ["div", ".a", "#x", "e1", "a heading", "$[3]", "f", "$.a"]


@pytest.mark.parametrize("number", range(len(LONG_TEXTS)))
def test_no_content_makes_a_path_take_long(number: int) -> None:
    """A path that took more than linear time would not come back."""
    for path in (2 * PATHS)[number : number + 3]:
        with contextlib.suppress(RecallError):
            take(LONG_TEXTS[number], Request(path=path), 200)


@pytest.mark.parametrize("path", ["a" * 90_000, "$" + ".b" * 40_000, "$." + "[" * 50_000])
def test_a_path_of_any_length_is_answered_in_a_short_sentence(path: str) -> None:
    for text in ('{"a": {"b": 1}}', '[{"b": [1]}]', "plain"):
        with pytest.raises(RecallError) as told:
            take(text, Request(path=path), 200)
        assert len(str(told.value)) < 600


@given(st.data(), texts().filter(lambda text: len(text.strip()) > 5))
def test_a_value_of_a_content_is_found_by_itself(data: st.DataObject, content: str) -> None:
    line = data.draw(st.sampled_from([part for part in content.split("\n") if part.strip()]))
    value = line.strip()[:30]
    if not value.isprintable():
        return
    assert value in take(content, Request(pattern=re2.escape(value)), 2_000)


def test_lines_come_with_their_numbers() -> None:
    assert take(LINES, Request(lines=(3, 4)), 100) == "3: line 3 of id_003\n4: line 4 of id_004"
    assert take(LINES, Request(head=1), 100) == "1: line 1 of id_001"
    assert take(LINES, Request(tail=1), 100) == "100: line 100 of id_100"
    assert take(LINES, Request(pattern="id_007"), 100) == "7: line 7 of id_007"


def test_what_does_not_fit_says_where_to_go_on() -> None:
    found = take(LINES, Request(), 100)
    assert found.startswith("1: line 1 of id_001\n")
    at = int(found.rsplit("[", 1)[1].split(",")[0])
    assert found.endswith(f"(lines {at} to 100 are left out; ask for lines=[{at}, 100])")
    assert f"{at - 1}: line" in found


def test_matches_that_do_not_fit_are_counted() -> None:
    found = take(LINES, Request(pattern="of"), 100)
    shown, left = re.search(r"\((\d+) lines shown, (\d+) left out", found).groups()
    assert int(shown) + int(left) == 100


def test_a_bound_too_small_for_anything_says_so() -> None:
    with pytest.raises(RecallError, match="ask for 64 or more") as told:
        take(LINES, Request(), 1)
    assert told.value.reason == "too_large"


def test_a_part_of_a_file_keeps_its_own_line_numbers() -> None:
    text = "\n".join(f"{number:>6}\tx = {number}" for number in range(200, 260))
    assert take(text, Request(lines=(210, 211)), 500).startswith("210:    210\tx = 210\n211:")
    assert take(text, Request(pattern="x = 222$"), 500).startswith("222: ")
    with pytest.raises(RecallError, match=r"ask \[200, 259\]"):
        take(text, Request(lines=(1, 2)), 500)


ORDERS = {
    "orders": [{"id": f"A-{n}", "state": "late" if n == 417 else "paid"} for n in range(900)],
    "note": "one of it\ntwo of it\n" * 40,
}


def test_a_match_in_json_on_one_line_is_its_path_and_its_record() -> None:
    text = json.dumps(ORDERS, separators=(",", ":"))
    found = take(text, Request(pattern="late"), 500)
    assert found == '$.orders[417]: {"id": "A-417", "state": "late"}'


def test_a_match_in_one_of_several_json_blocks_is_its_path_and_its_record() -> None:
    blocks = [json.dumps([{"id": f"{name}-{n}"} for n in range(400)]) for name in "abc"]
    assert take("\n".join(blocks), Request(pattern="c-77"), 500) == '$[2][77]: {"id": "c-77"}'


def test_the_context_of_a_match_in_json_is_the_records_around_it() -> None:
    found = take(json.dumps(ORDERS), Request(pattern="late", context=1), 500).split("\n")
    assert [line.split(" ")[0] for line in found] == [
        "$.orders[416]-",
        "$.orders[417]:",
        "$.orders[418]-",
    ]


def test_a_long_text_in_json_is_paged_by_its_own_lines() -> None:
    found = take(json.dumps(ORDERS), Request(pattern="^two of it$"), 100)
    assert found.startswith("$.note: two of it\n$.note: two of it\n")


def test_a_record_of_many_long_fields_has_its_short_ones_together() -> None:
    rows = [{"id": n, "body": f"b{n} " * 400, "state": f"s{n}"} for n in range(9)]
    found = take(json.dumps(rows), Request(pattern="s7"), 500)
    assert found == '$[7]: {"id": 7, "state": "s7"}'


def test_the_lines_of_a_written_file_have_the_numbers_of_the_file() -> None:
    lines = [f"def room_{n}(guests): return guests + {n}" for n in range(60)]
    text = json.dumps({"file_path": "/srv/a.py", "content": "\n".join(lines)})
    assert take(text, Request(lines=(12, 13)), 500) == f"12: {lines[11]}\n13: {lines[12]}"


def test_a_definition_in_braces_goes_on_behind_a_raw_string_at_its_margin() -> None:
    source = (
        'func Fill(t *T) {\n\tput(t, `{\n"a": 1\n}`)\n\tcheck(t)\n}\n\nfunc Next() {\n\tgo()\n}'
    )
    assert take(source, Request(path="Fill"), 500).endswith("5: \tcheck(t)\n6: }")
    assert take(source, Request(path="Next"), 500).endswith("9: \tgo()\n10: }")
    assert take("func Last() {", Request(path="Last"), 500) == "1: func Last() {"


def test_lines_past_the_end_of_a_written_file_are_those_of_the_file() -> None:
    lines = [f"def room_{n}(guests): return guests + {n}" for n in range(30)]
    call = json.dumps({"file_path": "/srv/a.py", "content": "\n".join(lines)})
    numbered = "\n".join(f"{number}: {line}" for number, line in enumerate(lines, 1))
    assert take(call, Request(lines=(1, 400)), 900).startswith(numbered)
    assert take(call, Request(), 900) == call


def test_a_record_without_short_fields_has_the_lines_of_its_long_ones() -> None:
    text = json.dumps({"data": {"rows": [{"id": f"r{n}", "x": "y" * 90} for n in range(40)]}})
    assert take(text, Request(lines=(1, 1)), 500).startswith('1: {"id": "r0"')


def test_plain_items_share_a_line_whose_path_is_a_slice() -> None:
    text = json.dumps({"ids": [f"id_{number:04}" for number in range(2_000)]})
    found = take(text, Request(pattern="id_1234"), 2_000)
    assert take(text, Request(path=found.split(":")[0] + ":" + found.split(":")[1]), 5_000).count(
        "id_"
    )
    assert found.startswith("$.ids[1")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20) | st.text("ab \n", min_size=300, max_size=900),
    lambda inner: st.lists(inner, max_size=12) | st.dictionaries(st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=8), inner, max_size=12),
    max_leaves=60,
)  # fmt: skip


def leaves(value: object) -> Iterator[object]:
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from leaves(inner)
    else:
        yield value


@given(json_values)
def test_each_line_of_json_has_a_path_that_leads_to_its_value(value: object) -> None:
    lines = list(records(value))
    for path, _ in lines:
        assert "…" in path or list(at_path(value, path))
    shown = "\n".join(line for _, line in lines)
    for leaf in leaves(value):
        assert json.dumps(leaf, ensure_ascii=False) in shown or str(leaf) in shown


@pytest.mark.parametrize("text", [
    '{"a":' * 900 + json.dumps([[]] * 60_000) + "}" * 900,
    json.dumps({f"key {number}": number for number in range(60_000)}),
    json.dumps([[[{"a": "x" * 500}] * 3]] * 300),
], ids=["deep", "wide", "nested"])  # fmt: skip
def test_no_json_takes_long_to_page(text: str) -> None:
    with contextlib.suppress(RecallError):
        take(text, Request(pattern="zebra"), 200)


def test_the_words_around_json_are_its_last_lines() -> None:
    rows = json.dumps([{"id": f"row_{number}"} for number in range(90)])
    second = json.dumps([{"other": f"column_{number}"} for number in range(9)])
    text = f"90 of 120 rows, next cursor abcd77: {rows} quota at 93%\n{second}"
    assert take(text, Request(lines=(1, 1)), 500) == '1: {"id": "row_0"}'
    assert take(text, Request(lines=(91, 92)), 500).startswith("91: 90 of 120 rows, next cursor")
    for query in ("cursor", "quota", "column_7"):
        assert query in take(text, Request(query=query), 2_000)


def test_half_an_emoji_in_json_is_returned_as_it_is_escaped_there() -> None:
    text = json.dumps([{"id": number, "cut": "\ud83d"} for number in range(40)])
    for request in (Request(lines=(1, 2)), Request(path="$[0].cut"), Request(path="$[0]")):
        assert "\\ud83d" in take(text, request, 500)


def test_a_tail_that_does_not_fit_keeps_the_end() -> None:
    found = take(LINES, Request(tail=80), 100)
    assert found.endswith("100: line 100 of id_100")
    at = int(found.split("[21, ", 1)[1].split("]")[0])
    assert found.startswith(
        f"(lines 21 to {at} are left out; ask for lines=[21, {at}])\n{at + 1}: "
    )


def test_context_lines_stand_beside_each_match_once() -> None:
    found = take(LINES, Request(pattern="id_0(10|12|50)", context=2), 2_000)
    numbers = " ".join(line.split()[0] for line in found.split("\n"))
    assert numbers == "8- 9- 10: 11- 12: 13- 14- -- 48- 49- 50: 51- 52-"


def test_a_query_finds_the_passages_with_its_words() -> None:
    text = "\n\n".join(f"## Part {n}\n" + f"filler number{n} " * 20 for n in range(50))
    text += "\n\n## Refunds\nA refund is paid within 14 days to the card that was charged."
    assert "14 days" in take(text, Request(query="when are refunds paid"), 200)
    with pytest.raises(RecallError, match="no word"):
        take(text, Request(query="zebra"), 200)


def test_lines_that_a_query_finds_have_the_numbers_by_which_they_are_recalled() -> None:
    part = "\n".join(f"{n:6}\tword{n} = {n}" for n in range(500, 540))
    found = take(part, Request(query="word512"), 200)
    number = int(next(line for line in found.split("\n") if "word512" in line).split(":")[0])
    assert "word512" in take(part, Request(lines=(number, number)), 200)


def test_of_a_long_line_only_the_surroundings_of_a_match_come() -> None:
    content = f"{'a' * 5_000} needle_1 {'b' * 5_000} needle_2 {'c' * 5_000}"
    found = take(content, Request(pattern="needle_"), 2_000)
    assert [line.count("needle_") for line in found.split("\n")] == [1, 1]
    assert len(found) < 1_000


@pytest.mark.parametrize("lines", [(5, 3), (0, 0), (-9, -1), (101, 200), (500, 500)])
def test_lines_that_are_no_range_say_which_are(lines: tuple[int, int]) -> None:
    with pytest.raises(RecallError, match=r"ask \[1, 100\]") as told:
        take(LINES, Request(lines=lines), 100)
    assert told.value.reason == "bad_request"


def test_a_wrong_pattern_is_told_and_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(RecallError, match="no regular expression") as told:
        take(LINES, Request(pattern="("), 100)
    assert told.value.reason == "bad_request"
    assert capfd.readouterr() == ("", "")


def test_a_pattern_without_matches_is_told() -> None:
    with pytest.raises(RecallError, match="nothing") as told:
        take(LINES, Request(pattern="zzz"), 100)
    assert told.value.reason == "no_match"


GO = "".join(
    f"func Door{n}(room string) error {{\n\tlog(room, {n})\n\treturn nil\n}}\n" for n in range(20)
)


def test_what_a_call_writes_comes_before_what_it_replaces() -> None:
    """An entry numbers the lines of the new text, and so does a recall of it."""
    arguments = json.dumps(
        {"path": "a.go", "old_string": GO.replace("Door", "Gate"), "new_string": GO}
    )
    assert take(arguments, Request(lines=(1, 2)), 100).splitlines()[:2] == [
        "1: func Door0(room string) error {",
        "2: \tlog(room, 0)",
    ]
    assert take(arguments, Request(path="Door3"), 100).startswith("13: func Door3(room string)")
    assert "Gate7" in take(arguments, Request(pattern="Gate7"), 100)


def test_lone_surrogates_stay_in_a_slice() -> None:
    content = "one \ud800 two\nthree"
    assert take(content, Request(pattern="two"), 100) == "1: one \ud800 two"
    long = "x" * 500 + "\ud800needle" + "y" * 500
    assert "\ud800needle" in take(long, Request(pattern="needle"), 500)


def test_the_tool_has_the_shape_of_each_format() -> None:
    assert tool("openai")["function"]["name"] == "recall"
    assert "required" not in tool("responses")["parameters"]
    assert tool("anthropic")["input_schema"]["type"] == "object"
    assert tool("bedrock")["toolSpec"]["inputSchema"]["json"]["type"] == "object"
    assert tool("gemini")["functionDeclarations"][0]["parameters"]["type"] == "object"
    with pytest.raises(ValueError, match="'responses', 'openai', 'anthropic', 'bedrock', 'gemini'"):
        tool("mistral")
