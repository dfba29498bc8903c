"""JSON documents: what is said of the whole, of its scalars, and of the lists in it."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hippocampus import indexing
from hippocampus.indexing import ExtractionContext, Price, json_documents

PRICE = Price(carry=2.75, recall=1_700.0, least_tokens=300, most_tokens=4_000)

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=40,
)


def shown(value: Any) -> list[str]:
    return [line.numbered() for line in json_documents.read(value).lines]


def test_an_answer_keeps_its_order() -> None:
    lines = shown({"items": [{"id": "a-1"}, {"id": "b-2"}], "next_cursor": "c-3", "total": 90})
    assert lines == ["items: 2 records: id", "[0] a-1", "[1] b-2", "next_cursor=c-3, total=90"]


def test_the_summary_counts_records_by_their_path() -> None:
    extraction = json_documents.read({"a": [{"n": 1}, {"n": 2}, {"n": 3}], "b": 1})
    assert extraction.summary == "JSON, 3 records: a 3"
    assert extraction.selectors == ('path="$.a[0]"',)


def test_a_key_of_any_length_is_not_repeated_in_each_line_below_it() -> None:
    fields = {f"a{at}": at for at in range(500)}
    long = "k" * 10_000
    for value in ({long: fields}, [{long: fields}] * 2, {long: [[fields, fields]] * 9}):
        assert sum(map(len, shown(value))) < 200_000


def test_a_row_shows_its_own_columns_in_the_order_of_the_table() -> None:
    rows = [{"id": f"r-{at}", "b": "x" * 99, "a": "y" * 99} for at in range(3)]
    [*_, last] = shown([*rows, {"a": "1" * 99, f"only{3}": 4, "b": "2" * 99, "id": "r-3"}])
    assert last == f"  b={'2' * 99}, a={'1' * 99}, only3=4"


def test_a_short_list_of_scalars_stands_in_its_place() -> None:
    assert shown({"name": "x", "tags": ["red", "blue"]}) == ["name=x, tags=[red, blue]"]


def test_a_long_list_of_scalars_is_counted_and_whole() -> None:
    lines = shown({"tags": [f"tag-{at}" for at in range(40)]})
    assert lines[0] == "tags: 40 items"
    assert ", ".join(lines[1:]).replace("  ", "").count("tag-") == 40


def test_lists_of_other_records_in_a_list_are_tables_of_their_own() -> None:
    """As two JSON blocks of one result are, which MCP servers return."""
    rows = [{"id": n, "city": f"Berlin {n}"} for n in range(3)]
    value = [rows, [{"x": 10 * n} for n in range(3)]]
    written = shown(value)
    assert {"[0] 0 | Berlin 0", "[2] 2 | Berlin 2", "[1] 10", "[2] 20"} <= set(written)
    [selector] = json_documents.read(value).selectors
    assert selector == 'path="$[0][0]"'


def test_a_long_text_stands_by_its_lines_below_its_key() -> None:
    text = "## Steps\n" + "\n".join(f"{at}. Open page {at} and press the button" for at in range(9))
    lines = shown({"title": "Broken", "body": text})
    assert lines[1].startswith("body: text, 10 lines")
    assert "  2: 0. Open page 0 and press the button" in lines


def test_facts_for_code_have_the_cursor_and_the_total() -> None:
    extraction = json_documents.read({"next_page_token": "t-9", "total": 4, "name": "x"})
    assert extraction.key_data == {"next_page_token": "t-9", "total": 4}


@given(value=st.dictionaries(st.text(max_size=8), values) | st.lists(values))
def test_any_document_is_read_and_its_parents_come_first(value: Any) -> None:
    lines = json_documents.read(json.loads(json.dumps(value))).lines
    assert all(line.parent is None or line.parent < at for at, line in enumerate(lines))


def test_deep_nesting_never_raises() -> None:
    for depth in (10, 500, 950):
        value: Any = 1
        for at in range(depth):
            value = {"k": value} if at % 2 else [value]
        assert json_documents.read([value]).kind == "json"


def test_lists_in_lists_are_read_to_the_bound_of_all_values() -> None:
    lines = json_documents.read([[[at, [at]]] * 3 for at in range(30_000)]).lines
    assert json_documents.MAX_VALUES < len(lines) < 2 * json_documents.MAX_VALUES


def issue(body: str) -> str:
    user = {"login": "ana-b", "id": 5_171, "type": "User", "site_admin": False}
    item = {
        "id": 8_812,
        "number": 41,
        "state": "open",
        "title": "[BUG] Export writes the header twice when the sheet is empty",
        "user": user,
        "node_id": "I_kwDOPhXccc7HCFYu",
        "body": body,
        "comments": 2,
        "created_at": "2025-08-20T18:59:46Z",
    }
    return json.dumps({"total_count": 1, "items": [item]})


def test_an_entry_with_a_long_text_has_the_title_and_the_text_once() -> None:
    parts = (f"## Part {n}\n\nThe export of sheet {n} fails in step {n * 7}.\n" for n in range(40))
    entry = indexing.index(issue("\n".join(parts)), ExtractionContext(), PRICE)
    text = "\n".join(entry.lines)
    assert "title=[BUG] Export writes the header twice when the sheet is empty" in text
    assert text.count("## Part 1\n") == 1
