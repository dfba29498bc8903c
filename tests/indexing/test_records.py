"""Lists of like records: their columns once, their rows whole, and what holds over all of them."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hippocampus.indexing.cells import cell, flat, packed, short_names
from hippocampus.indexing.records import table

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


def told(records: list[Any], name: str = "orders") -> list[str]:
    return [line.text for line in table(name, records)]


def test_a_small_table_reads_well() -> None:
    assert told([{"id": "a-1", "name": "Ann", "on": 1}, {"id": "b-2", "name": "Bob", "on": 1}]) == [
        "orders: 2 rows",
        "each: on=1",
        "id | name",
        "a-1 | Ann",
        "b-2 | Bob",
    ]


def test_many_rows_are_told_together_first() -> None:
    lines = told(ORDERS)
    assert "each: kind=order" in lines
    assert "all rows: state paid=39 failed=1" in lines
    assert "all rows: cents 100 (Box 0)..1621 (Box 39)" in lines


def test_the_row_that_differs_is_told_with_its_id_and_label() -> None:
    assert "state=failed, tries=3, code=E_CARD: ord-017 Box 17" in told(ORDERS)


def test_the_row_that_differs_weighs_more_than_others() -> None:
    weights = {line.text.split(" | ")[0]: line.weight for line in table("orders", ORDERS)}
    assert weights["ord-017"] > weights["ord-018"]


def test_few_rows_have_no_overview() -> None:
    assert not any(line.startswith("all rows") for line in told(ORDERS[:9]))


def test_rows_of_other_keys_make_tables_of_their_own() -> None:
    people = [{"name": "Ann", "born": "1990-01-01"}, {"name": "Bob", "born": "1980-01-01"}]
    files = [{"path": "src/a.py", "size": 5}, {"path": "src/b.py", "size": 7}]
    assert {"name | born", "path | size"} <= set(told([*people, *files]))


@given(ids=st.lists(st.uuids().map(str), min_size=2, max_size=60, unique=True))
def test_every_id_stands_whole_in_a_row_of_its_own(ids: list[str]) -> None:
    rows = table("list", [{"id": each, "n": 7} for each in ids])
    assert [line.text for line in rows if line.text in ids] == ids
    assert sum(line.count for line in rows) == len(ids)


def test_a_record_is_made_flat() -> None:
    record = {"a": {"b": 1}, "tags": ["x", "y"], "one": [{"c": 2}], "many": [{"d": 3}, {"d": 4}]}
    assert dict(flat(record)) == {
        "a.b": 1,
        "tags": "x, y",
        "one.c": 2,
        "many": [{"d": 3}, {"d": 4}],
    }


def test_identifiers_are_never_cut_and_long_words_are() -> None:
    path = "/srv/" + "deep/" * 30 + "file.txt"
    assert cell(path) == path
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
