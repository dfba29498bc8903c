"""JSON documents: what is said of the whole, of its scalars, and of the lists in it."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hippocampus.indexing import documents

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=40,
)


def told(value: Any) -> list[str]:
    return [line.text for line in documents.read(value).extraction.lines]


def test_an_answer_with_paging_tells_its_cursor_before_its_rows() -> None:
    lines = told({"items": [{"id": "a-1"}, {"id": "b-2"}], "next_cursor": "c-3", "total": 90})
    assert lines == ["next_cursor=c-3, total=90", "items: 2 rows", "id", "a-1", "b-2"]


def test_the_summary_counts_keys_and_records() -> None:
    extraction = documents.read({"a": [{"n": 1}, {"n": 2}, {"n": 3}], "b": 1}).extraction
    assert extraction.summary == "JSON, 2 keys, 3 records in 1 lists"


def test_a_value_that_comes_again_is_told_once() -> None:
    assert "\n".join(told({"a": {"id": "x-17"}, "b": {"id": "x-17"}})).count("x-17") == 1


def test_a_list_of_scalars_is_counted_and_told() -> None:
    assert told({"tags": ["red", "blue", "green"]}) == [
        "tags: 3 items",
        "  red, blue, green",
    ]


def test_a_map_of_like_records_is_a_table() -> None:
    lines = told({f"u-{at}": {"name": f"Ann {at}", "age": at} for at in range(5)})
    assert "list: 5 rows" in lines
    assert any({"u-3", "Ann 3"} <= set(line.split(" | ")) for line in lines)


def test_long_texts_are_kept_by_path() -> None:
    text = "word " * 200
    document = documents.read({"body": {"text": text}})
    assert document.texts == [("body.text", text)]


def test_facts_for_code_have_the_cursor_and_the_total() -> None:
    extraction = documents.read({"next_page_token": "t-9", "total": 4, "name": "x"}).extraction
    assert extraction.key_data == {"next_page_token": "t-9", "total": 4}


@given(value=st.dictionaries(st.text(max_size=8), values) | st.lists(values))
def test_any_document_is_read_and_its_parents_come_first(value: Any) -> None:
    lines = documents.read(json.loads(json.dumps(value))).extraction.lines
    assert all(line.parent is None or line.parent < at for at, line in enumerate(lines))


def test_deep_nesting_never_raises() -> None:
    for depth in (10, 500, 950):
        value: Any = 1
        for at in range(depth):
            value = {"k": value} if at % 2 else [value]
        assert documents.read([value]).extraction.kind == "json"
