"""What content comes wrapped in, taken off."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from hippocampus.indexing import unwrap


@given(numbers=st.lists(st.integers(), min_size=unwrap.SMALLEST_INNER))
def test_json_in_a_json_string_in_a_block_is_found(numbers: list[int]) -> None:
    text = json.dumps([{"type": "text", "text": json.dumps({"data": json.dumps(numbers)})}])
    assert unwrap.json_value(text) == [{"data": numbers}]


def test_words_around_json_are_no_hindrance_where_it_is_most_of_the_text() -> None:
    rows = json.dumps([{"id": at} for at in range(40)])
    assert unwrap.json_value(f"Found 40 rows:\n{rows}\nDone.")[3] == {"id": 3}
    assert unwrap.json_value("Much prose with no value in it. " * 20 + '{"a": 1}') is None


def test_text_blocks_become_their_text() -> None:
    blocks = [{"type": "text", "text": "one line"}, {"type": "text", "text": "and another"}]
    assert unwrap.json_value(json.dumps(blocks)) == ["one line", "and another"]


def test_a_numbered_dump_gives_back_the_file_and_its_first_line() -> None:
    text = "\n".join(f"{at:6}\tline {at}" for at in range(41, 60))
    assert unwrap.numbered_dump(text) == ("\n".join(f"line {at}" for at in range(41, 60)), 41)


def test_numbers_that_do_not_follow_each_other_are_no_dump() -> None:
    assert unwrap.numbered_dump("3: a\n9: b\n12: c") is None


def test_colours_progress_and_fences_come_off() -> None:
    assert unwrap.plain("\x1b[31mred\x1b[0m") == "red"
    assert unwrap.plain("10%\r50%\rdone\n") == "done\n"
    assert unwrap.plain("```python\nx = 1\n```") == "x = 1"


@given(text=st.text())
def test_nothing_raises(text: str) -> None:
    unwrap.plain(text)
    unwrap.numbered_dump(text)
    unwrap.json_value(text)


def test_deep_nesting_never_raises() -> None:
    for depth in (100, 600, 900, 100_000):
        unwrap.json_value("[" * depth + "]" * depth)
        unwrap.json_value('{"a":' * depth + "1" + "}" * depth)
