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


def test_flags_are_counted_also_where_few_rows_have_one() -> None:
    rows = [
        {"id": f"u-{at}", "on": True, **({"suspended": True} if at % 4 else {}), "paid": at < 3}
        for at in range(40)
    ]
    assert shown(rows)[1:3] == ["all: on=true", "true: paid 3 [0] [1] [2], suspended 30"]


def test_the_row_that_differs_is_named_and_weighs_more_than_others() -> None:
    assert any(line.startswith("state=failed") and "ord-017" in line for line in shown(ORDERS))
    weights = {line.text.split(" | ")[0]: line.weight for line in table("orders", ORDERS)}
    assert weights["ord-017"] > weights["ord-018"]


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


def test_who_edited_a_record_is_in_no_row() -> None:
    rows = [
        {"id": f"p-{at}", "last_edited_by": {"id": f"u-{at % 3}x9"}, "name": f"Lamp {at}"}
        for at in range(9)
    ]
    assert shown(rows)[0] == "orders: 9 records: id | name"
