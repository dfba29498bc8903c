"""Lists of like records: their columns once, their rows whole, and what holds over all of them."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hippocampus.indexing.records import cell, flat, packed, short_names, table

ORDERS = [
    {
        "id": f"ord-{at:03}",
        "kind": "order",
        "title": f"Box {at}",
        "state": "failed" if at == 17 else "paid",
        "cents": 100 + at * at,
        **({"error": {"code": "E_CARD", "tries": 3}} if at == 17 else {}),
    }
    for at in range(40)
]


def shown(records: list[Any], name: str = "orders") -> list[str]:
    return [line.numbered() for line in table(name, records)]


def test_a_small_table_reads_well() -> None:
    rows = [{"id": "a-1", "name": "Ann", "on": 1}, {"id": "b-2", "name": "Bob", "on": 1}]
    assert shown(rows) == [
        "orders: 2 records: id | name",
        "all: on=1",
        "[0] a-1 | Ann",
        "[1] b-2 | Bob",
    ]


def test_many_rows_are_summed_first() -> None:
    lines = shown(ORDERS)
    assert "all: kind=order" in lines
    assert any(line.startswith("all rows: ") and "paid=39 failed=1" in line for line in lines)
    assert any("100 (Box 0)..1621 (Box 39)" in line for line in lines)


def test_the_row_that_differs_is_named_and_weighs_more_than_others() -> None:
    assert any(line.startswith("state=failed") and "ord-017" in line for line in shown(ORDERS))
    weights = {line.text.split(" | ")[0]: line.weight for line in table("orders", ORDERS)}
    assert weights["ord-017"] > weights["ord-018"]


def test_few_rows_have_no_overview() -> None:
    assert not any(line.startswith("all rows") for line in shown(ORDERS[:9]))


def test_rows_of_several_shapes_keep_their_order_with_what_they_share_in_one_column() -> None:
    blocks = [
        {"id": "b-1", "type": "heading_2", "heading_2": {"text": "Roles"}},
        {"id": "b-2", "type": "paragraph", "paragraph": {"text": "Who does what"}},
        {"id": "b-3", "type": "heading_2", "heading_2": {"text": "Steps"}},
    ]
    assert [line for line in shown(blocks) if line.startswith("[")] == [
        "[0] b-1 | heading_2 | Roles",
        "[1] b-2 | paragraph | Who does what",
        "[2] b-3 | heading_2 | Steps",
    ]


def test_an_options_id_stands_once_with_its_name() -> None:
    options = [{"name": "Shoes", "id": "8afc42a2"}, {"name": "Hats", "id": "0f2fdc42"}]
    rows = [{"id": f"page-{at}", "type": options[at % 2]} for at in range(20)]
    lines = shown(rows)
    assert any("Shoes (8afc42a2)=10" in line for line in lines)
    assert sum("8afc42a2" in line for line in lines) == 1


@given(ids=st.lists(st.uuids().map(str), min_size=2, max_size=60, unique=True))
def test_every_id_stands_whole_in_a_row_of_its_own(ids: list[str]) -> None:
    rows = table("list", [{"id": each, "n": 7} for each in ids])
    assert [line.text for line in rows if line.text in ids] == ids


def test_a_record_is_made_flat() -> None:
    record = {"a": {"b": 1}, "tags": ["x", "y"], "one": [{"c": 2}], "many": [{"d": 3}, {"d": 4}]}
    assert dict(flat(record)) == {
        "a.b": 1,
        "tags": "x, y",
        "one.c": 2,
        "many": [{"d": 3}, {"d": 4}],
    }


def test_identifiers_and_titles_are_whole_and_long_texts_are_cut() -> None:
    path = "/srv/" + "deep/" * 30 + "file.txt"
    assert cell(path) == path
    title = "A title with more than sixty characters, of which each one is needed later on"
    assert cell(title) == title
    assert cell("some words " * 20).endswith("…")
    assert [cell(None), cell(True), cell(2.5)] == ["-", "true", "2.5"]


def test_names_are_as_short_as_tells_them_apart() -> None:
    assert short_names(["user.id", "repo.id", "name"]) == {
        "user.id": "user.id",
        "repo.id": "repo.id",
        "name": "name",
    }


@given(items=st.lists(st.text("abc", min_size=1, max_size=30), min_size=1))
def test_packing_loses_nothing(items: list[str]) -> None:
    lines = list(packed(items, "> "))
    assert [each for line in lines for each in line.removeprefix("> ").split(", ")] == items
