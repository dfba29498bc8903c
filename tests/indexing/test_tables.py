"""A table is told by its columns and its rows; counts, ranges and cells are those of the table."""

from __future__ import annotations

import csv
import io
import sqlite3
import zoneinfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippocampus.indexing import tables
from hippocampus.indexing.extraction import Extraction, ExtractionContext

ORDERS = 'id,name,status,amount,day\nord-1,"Ann, B",paid,12.50,2024-01-02\nord-2,Bob,paid,3.10,2024-01-03\nord-3,Cy,failed,1200,2024-02-03\n'
PSQL = " id | name | n \n----+------+---\n  1 | ann  | 5\n  2 | bob  | 7\n(2 rows)\n"
BOXED = "+----+-----+\n| id | who |\n+----+-----+\n|  1 | ann |\n|  2 | bob |\n+----+-----+\n"
DRAWN = "┌────┬─────┐\n│ id │ who │\n├────┼─────┤\n│ 1  │ ann │\n│ 2  │ bob │\n└────┴─────┘\n"
MARKDOWN = "| id | who |\n|:---|----:|\n| 1 | ann |\n| 2 | bob |\n"
TABBED = "id\twho\n1\tann\n2\tbob\n"


def read(text: str) -> Extraction:
    extraction = tables.extract(text, ExtractionContext())
    assert extraction is not None
    return extraction


def rows(extraction: Extraction) -> list[str]:
    return [line.text for line in extraction.lines if line.parent is not None]


def written(count: int) -> str:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["id", "zone", "state", "load"])
    zones = sorted(zoneinfo.available_timezones())
    for at in range(count):
        state = "down" if at == count // 2 else "up"
        load = 9_000 if at == count // 3 else at % 50
        writer.writerow([f"node-{at}", zones[at % len(zones)], state, load])
    return out.getvalue()


@pytest.mark.parametrize(
    "text",
    [PSQL, BOXED, DRAWN, MARKDOWN, TABBED],
    ids=["psql", "boxed", "drawn", "markdown", "tabbed"],
)
def test_each_style_gives_its_rows_under_their_header(text: str) -> None:
    extraction = read(text)
    assert tables.recognises(text) > 0.6
    assert extraction.key_data["rows"] == 2
    assert [row.split(" | ")[:2] for row in rows(extraction)] == [["1", "ann"], ["2", "bob"]]
    assert any(line.text.startswith("rows:") for line in extraction.lines)


def test_columns_have_their_ranges_and_values() -> None:
    lines = [line.text for line in read(written(20)).lines]
    assert any(line.startswith("state: up ×") for line in lines)
    assert "ord-1 | Ann, B | paid | 12.50 | 2024-01-02" in [
        line.text for line in read(ORDERS).lines
    ]


def test_a_small_table_is_its_rows_without_statistics() -> None:
    lines = [line.text for line in read(ORDERS).lines]
    assert not any("distinct" in line for line in lines)
    assert [line.split(" | ")[0] for line in lines[1:]] == ["ord-1", "ord-2", "ord-3"]


def test_values_of_few_kinds_are_counted_and_rare_rows_weigh_more() -> None:
    extraction = read(written(400))
    assert "state: up ×399, down ×1" in [line.text for line in extraction.lines]
    weights = {line.text.split(" | ")[0]: line.weight for line in extraction.lines}
    assert weights["node-200"] > weights["node-201"]
    assert weights["node-133"] > weights["node-134"]


def test_rows_of_a_large_table_are_all_accounted_for() -> None:
    extraction = read(written(5_000))
    assert sum(line.count for line in extraction.lines if line.parent is not None) == 5_000
    assert {"node-0", "node-2500", "node-1666", "node-4999"} <= {
        row.split(" | ")[0] for row in rows(extraction)
    }


def test_a_constant_column_stands_once_and_not_in_each_row() -> None:
    extraction = read("id,kind,n\n" + "".join(f"{at},same,{at * 3}\n" for at in range(9)))
    assert "kind: always same" in [line.text for line in extraction.lines]
    assert rows(extraction)[2] == "2 | 6"


def test_an_identifier_stands_whole_in_its_row() -> None:
    name = "urn:" + "x" * 150
    assert any(name in row for row in rows(read(f"id,who,n\n{name},ann,1\nb,bob,2\nc,cy,3\n")))


def test_what_a_database_prints_agrees_with_what_it_holds() -> None:
    base = sqlite3.connect(":memory:")
    base.execute("create table t (id integer, n integer)")
    base.executemany("insert into t values (?, ?)", [(at, at * at - 40) for at in range(60)])
    low, first, high, last, count = base.execute(
        "select min(n), (select id from t order by n limit 1), max(n),"
        " (select id from t order by n desc limit 1), count(*) from t"
    ).fetchone()
    text = "id | n\n---+---\n" + "".join(f"{a} | {b}\n" for a, b in base.execute("select * from t"))
    base.close()
    extraction = read(text)
    assert extraction.key_data["rows"] == count
    assert f"n: {low} ({first}) to {high} ({last})" in [line.text for line in extraction.lines]


cells = st.text("abcxyz019 ", min_size=1, max_size=6).filter(lambda cell: cell.strip())


@given(st.lists(st.tuples(cells, cells, cells), min_size=3, max_size=30))
def test_any_csv_is_counted_right(values: list[tuple[str, str, str]]) -> None:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([("first", "second", "third"), *values])
    extraction = tables.extract(out.getvalue(), ExtractionContext())
    if extraction is not None:
        assert extraction.key_data["rows"] == len(values)
        assert len(rows(extraction)) == len(values)


def test_prose_with_commas_is_no_table() -> None:
    text = "First, we came, and saw.\nThen, we left, and slept.\nAt last, we woke, and ate.\n" * 4
    assert tables.recognises(text) < 0.5
