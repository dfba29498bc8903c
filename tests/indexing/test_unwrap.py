"""What content comes wrapped in, taken off."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from hippocampus.indexing import unwrap


def json_value(text: str) -> object:
    return unwrap.json_and_words(text)[0]


@given(numbers=st.lists(st.integers(), min_size=unwrap.MIN_INNER))
def test_json_in_a_json_string_in_a_block_is_found(numbers: list[int]) -> None:
    text = json.dumps([{"type": "text", "text": json.dumps({"data": json.dumps(numbers)})}])
    assert json_value(text) == [{"data": numbers}]


def test_words_around_json_are_no_hindrance_where_it_is_most_of_the_text() -> None:
    rows = json.dumps([{"id": at} for at in range(40)])
    assert json_value(f"Found 40 rows:\n{rows}\nDone.")[3] == {"id": 3}
    assert json_value("Much prose with no value in it. " * 20 + '{"a": 1}') is None


def test_text_blocks_become_their_text() -> None:
    blocks = [{"type": "text", "text": "one line"}, {"type": "text", "text": "and another"}]
    assert json_value(json.dumps(blocks)) == ["one line", "and another"]


def test_the_two_forms_of_a_tool_result_are_one_value() -> None:
    rows = [{"name": "actor_id", "type": "integer"}, {"name": "last_name", "type": "text"}]
    block = {"type": "text", "text": json.dumps(rows), "annotations": None, "_meta": None}
    for structured in ({"result": rows}, {"result": json.dumps(rows)}, {"result": [block]}, None):
        result = {"meta": None, "content": [block], "structuredContent": structured}
        assert json_value(json.dumps({**result, "isError": False})) == rows


def test_words_around_json_are_returned() -> None:
    rows = [{"id": at} for at in range(40)]
    value, words = unwrap.json_and_words(f"Showing 40 of 900 rows:\n{json.dumps(rows)}")
    assert (value, words) == (rows, ["Showing 40 of 900 rows:"])


def test_colours_progress_and_fences_come_off() -> None:
    assert unwrap.plain("\x1b[31mred\x1b[0m\r\n") == "red\n"
    assert unwrap.plain("10%\r50%\rdone\n") == "done\n"
    assert unwrap.plain("10%\r50%\r") == "50%\r"
    assert unwrap.plain("```python\nx = 1\n```") == "x = 1"


@given(text=st.text())
def test_nothing_raises(text: str) -> None:
    unwrap.plain(text)
    json_value(text)


def test_deep_nesting_never_raises() -> None:
    for depth in (100, 600, 900, 100_000):
        json_value("[" * depth + "]" * depth)
        json_value('{"a":' * depth + "1" + "}" * depth)


def test_a_reminder_after_a_numbered_dump_is_no_line_of_it() -> None:
    dump = "\n".join(f"{number:6}→    call({number})" for number in range(40, 52))
    note = "<system-reminder>\nOne.\n\nTwo.\nThree.\n</system-reminder>"
    found = unwrap.output_of(f"{dump}\n\n{note}\n")
    assert found.is_numbered
    assert found.first_number == 40
    assert found.body.split("\n")[-1] == "    call(51)"
    assert "Two." in found.notes


def test_a_note_after_a_short_numbered_part_makes_no_table_of_its_numbers() -> None:
    part = "\n".join(f"{number}\t| GET | /rooms/{number} |" for number in range(154, 162))
    found = unwrap.output_of(f"{part}\n[result-id: r58]")
    assert (found.is_numbered, found.first_number) == (True, 154)
    assert found.body.startswith("| GET | /rooms/154 |\n")


DUMP = "".join(f"{number:6}\tline {number}\n" for number in range(1, 61))


def test_the_lines_that_a_dump_leaves_out_are_bounded_together() -> None:
    gaps = "".join(f"{100_000 * number:6}\tx\n" for number in range(1, 99))
    assert unwrap.output_of(DUMP + gaps).body.count("\n") < unwrap.MAX_MISSING + 200


def test_lines_without_a_number_join_the_numbered_one_before_them() -> None:
    output = unwrap.output_of(DUMP + "and more\n  of it\n\n    62\tline 62\n")
    assert output.body.split("\n")[59:] == ["line 60 and more of it", "", "line 62"]


def test_the_advice_of_a_tool_that_cut_an_output_is_no_note() -> None:
    text = (
        "<returncode>1</returncode>\n<warning>\nThe output of your last command was too long.\n"
        "Please try a different command.\n</warning><output_head>\nstart\n</output_head>\n"
        "<elided_chars>\n900 characters elided\n</elided_chars>\n<output_tail>\nend\n</output_tail>"
    )
    output = unwrap.output_of(text)
    assert output.notes[0] == "<returncode>1</returncode>"
    assert not any("command" in note for note in output.notes)
    assert output.body.startswith("start\n")
    assert (output.cut_line, output.body.split("\n")[-1]) == (2, "end")
