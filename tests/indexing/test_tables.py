"""A table has its columns once and its rows whole, be it JSON, CSV or what a database prints."""

from __future__ import annotations

import csv
import io
import sqlite3
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippocampus.indexing import grids
from hippocampus.indexing.extraction import Extraction, packed
from hippocampus.indexing.json_documents import cell, flat, lines_of, table_of

SHEET = 'id,name,status,amount,day\nord-1,"Ann, B",paid,12.50,2024-01-02\nord-2,Bob,paid,3.10,2024-01-03\nord-3,Cy,failed,1200,2024-02-03\n'
PSQL = " id | name | n \n----+------+---\n  1 | ann  | 5\n  2 | bob  | 7\n(2 rows)\n"
BOXED = "+----+-----+\n| id | who |\n+----+-----+\n|  1 | ann |\n|  2 | bob |\n+----+-----+\n"
DRAWN = "┌────┬─────┐\n│ id │ who │\n├────┼─────┤\n│ 1  │ ann │\n│ 2  │ bob │\n└────┴─────┘\n"
MARKDOWN = "| id | who |\n|:---|----:|\n| 1 | ann |\n| 2 | bob |\n"
TABBED = "id\twho\n1\tann\n2\tbob\n"
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
    return [line.numbered() for line in lines_of(table_of(name, records))]


def test_a_small_table_reads_well() -> None:
    rows = [{"id": "a-1", "name": "Ann", "on": 1}, {"id": "b-2", "name": "Bob", "on": 1}]
    assert shown(rows) == [
        "orders: 2 records: id | name",
        "all: on=1",
        "[0] a-1 | Ann",
        "[1] b-2 | Bob",
    ]


@given(ids=st.lists(st.uuids().map(str), min_size=2, max_size=60, unique=True))
def test_every_id_stands_whole_in_a_row_of_its_own(ids: list[str]) -> None:
    rows = lines_of(table_of("list", [{"id": each, "n": 7} for each in ids]))
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


@given(items=st.lists(st.text("abc", min_size=1, max_size=30), min_size=1))
def test_packing_loses_nothing(items: list[str]) -> None:
    lines = packed(items, ">")
    assert [each for line in lines for each in line.text.removeprefix(">: ").split(", ")] == items


def read(text: str) -> Extraction:
    extraction = grids.extract(text)
    assert extraction is not None
    return extraction


def rows(extraction: Extraction) -> list[str]:
    return [line.text for line in extraction.lines if line.unit == "rows"]


@pytest.mark.parametrize(
    "text",
    [PSQL, BOXED, DRAWN, MARKDOWN, TABBED],
    ids=["psql", "boxed", "drawn", "markdown", "tabbed"],
)
def test_each_style_gives_its_rows_under_their_header(text: str) -> None:
    extraction = read(text)
    assert grids.recognises(text) > 0.6
    assert extraction.summary.startswith("2 rows, ")
    assert [row.split(" | ")[:2] for row in rows(extraction)] == [["1", "ann"], ["2", "bob"]]


def test_a_small_sheet_is_its_rows_with_their_lines() -> None:
    assert [line.numbered() for line in read(SHEET).lines] == [
        "table: 3 rows: id | name | status | amount | day",
        "2: ord-1 | Ann, B | paid | 12.50 | 2024-01-02",
        "3: ord-2 | Bob | paid | 3.10 | 2024-01-03",
        "4: ord-3 | Cy | failed | 1200 | 2024-02-03",
    ]


def test_rows_of_a_large_sheet_are_counted() -> None:
    text = "id,n,m\n" + "".join(f"a-{at},{at},{at * 3}\n" for at in range(5_000))
    extraction = read(text)
    assert extraction.summary.startswith("5,000 rows, ")
    assert "(the first 2,000 are read)" in extraction.lines[0].text


def test_what_the_rows_that_are_read_share_is_said_of_those_rows_only() -> None:
    states = ["ok"] * 3_000
    states[2_500] = "blocked"
    text = "id,state,n\n" + "".join(f"{at},{state},{at * 3}\n" for at, state in enumerate(states))
    lines = [line.text for line in read(text).lines]
    assert "the first 2,000: state=ok" in lines
    assert not [line for line in lines if line.startswith("all:")]


def test_a_constant_column_stands_once_and_not_in_each_row() -> None:
    extraction = read("id,kind,n\n" + "".join(f"{at},same,{at * 3}\n" for at in range(9)))
    assert "all: kind=same" in [line.text for line in extraction.lines]
    assert rows(extraction)[2] == "2 | 6"


def test_columns_with_one_name_are_two() -> None:
    assert (
        rows(read("| n | who | n |\n|--|--|--|\n| 1 | ann | 7 |\n| 2 | bob | 8 |\n"))[0]
        == "1 | ann | 7"
    )


def test_an_identifier_stands_whole_in_its_row() -> None:
    name = "urn:" + "x" * 150
    assert any(name in row for row in rows(read(f"id,who,n\n{name},ann,1\nb,bob,2\nc,cy,3\n")))


def test_what_a_database_prints_has_its_rows() -> None:
    base = sqlite3.connect(":memory:")
    base.execute("create table t (id integer, n integer)")
    base.executemany("insert into t values (?, ?)", [(at, at * at - 40) for at in range(60)])
    found = base.execute("select * from t").fetchall()
    base.close()
    text = "id | n\n---+---\n" + "".join(f"{a} | {b}\n" for a, b in found)
    assert rows(read(text)) == [f"{a} | {b}" for a, b in found]


cells = st.text("abcxyz019 ", min_size=1, max_size=6).filter(lambda cell: cell.strip())


@given(st.lists(st.tuples(cells, cells, cells), min_size=3, max_size=30))
def test_any_csv_is_counted_right(values: list[tuple[str, str, str]]) -> None:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([("first", "second", "third"), *values])
    extraction = grids.extract(out.getvalue())
    if extraction is not None:
        assert extraction.key_data["rows"] == len(values)
        assert len(rows(extraction)) == len(values)


def test_prose_with_commas_is_no_table() -> None:
    text = "First, we came, and saw.\nThen, we left, and slept.\nAt last, we woke, and ate.\n" * 4
    assert grids.recognises(text) < 0.5


def test_a_table_of_many_columns_is_read_in_linear_time() -> None:
    rows = "\n".join("|" + f"{each}|" * 40_000 for each in ("a", "-", "b", "b"))
    assert grids.table_in(rows) is None  # more columns than a table has


def test_records_of_many_fields_are_read_in_linear_time() -> None:
    table = table_of("rows", [{f"field {at}": at for at in range(10_000)}] * 3)
    assert lines_of(table)
