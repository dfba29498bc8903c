"""The kind that a text is recognised as, and its entry, under any wrapping."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippocampus.indexing import Price, index, kind_of
from hippocampus.indexing.extraction import EntryLine, ExtractionContext
from hippocampus.indexing.kinds import extraction_of
from hippocampus.indexing.unwrap import asked_line, output_of

CODE = "import os\n\n\nclass Reader:\n    def read(self, path: str) -> str:\n        return path\n"
DIFF = "diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@\n-a = 1\n+a = 2\n b = 3\n"
CONTENTS = {
    "json": json.dumps({"id": "a-1", "total": 2}),
    "schema": json.dumps({"openapi": "3.0.0", "info": {}, "paths": {"/a": {"get": {}}}}),
    "page": "<!DOCTYPE html><html><body><h1>Hi</h1><a href='/x'>next</a></body></html>",
    "diff": DIFF,
    "code": CODE,
    "table": "name,size,owner\n" + "".join(f"f{at},{at * 7},ann\n" for at in range(12)),
    "log": "".join(f"2024-05-01 10:00:{at:02} INFO served {at}\n" for at in range(20)),
    "listing": "".join(f"./src/part_{at}/main.py\n" for at in range(20)),
    "prose": "# The river\n\nThe river runs from the hills to the sea, and nobody knows why.\n" * 3,
}


@pytest.mark.parametrize("kind", CONTENTS)
def test_each_kind_is_told_from_its_text(kind: str) -> None:
    assert kind_of(CONTENTS[kind]) == kind


@pytest.mark.parametrize("kind", ["diff", "log", "listing", "prose"])
def test_a_text_block_around_it_changes_nothing(kind: str) -> None:
    wrapped = json.dumps([{"type": "text", "text": CONTENTS[kind] * 3}])
    assert kind_of(wrapped) == kind


def test_line_numbers_around_code_are_taken_for_its_lines() -> None:
    dump = "\n".join(f"{at:5}\t{line}" for at, line in enumerate(CODE.split("\n"), 101))
    extraction = extraction_of(dump, ExtractionContext())
    assert extraction.kind == "code"
    assert {line.number: line.text for line in extraction.lines}[104] == "class Reader:"


TABLES = {
    "decimals look like endings": "id,name,amount\n"
    + "\n".join(f"{7 * at},Name {at},{at * 3.5}" for at in range(90)),
    "ids look like line numbers": "id\tname\tamount\n"
    + "\n".join(f"{at + 1}\tName {at}\t{at * 3}" for at in range(90)),
    "days look like hits": "day,open,close\n"
    + "\n".join(f"2025-01-{at + 1:02},{at * 1.5},{at * 1.7:.2f}" for at in range(28)),
}


@pytest.mark.parametrize("text", TABLES.values(), ids=TABLES)
def test_a_table_keeps_its_columns_where(text: str) -> None:
    draft = extraction_of(text, ExtractionContext())
    assert draft.kind == "table"
    assert " | ".join(re.split(r"[,\t]", text.split("\n", 1)[0])) in draft.lines[0].text


@pytest.mark.parametrize(
    "notice", ["... [9034 lines truncated] ...", "[… omitted 9034 of 9100 lines …]"]
)
def test_a_notice_between_lines_that_some_are_missing_is_shown(notice: str) -> None:
    ran = [f"job {at} on node n{at % 5} has taken {at * 7 % 113} s" for at in range(60)]
    draft = extraction_of("\n".join([*ran[:40], notice, *ran[40:]]), ExtractionContext())
    assert EntryLine(f"line 41: {notice}", 0.15, keep=True, count=0) in draft.lines


def test_what_failed_is_shown_before_what_passed() -> None:
    passed = [f"    ✔ Should emit Parcel{at}Sent for carrier_{at}" for at in range(60)]
    failed = ["  60 passing (2s)", "  1 failing", "", "  1) Parcels", "       weighs one:"]
    message = "     AssertionError: expected a parcel of 12 grams, got one of 11 without a sender"
    text = "\n".join(
        [
            "  Parcels",
            *passed,
            *failed,
            message,
            "      at Context.<anonymous> (parcel.test.js:351:7)",
        ]
    )
    shown = index(text, ExtractionContext(content_tokens=1_500), Price(2.75, 1_700.0, 300, 4_000))
    assert "  1 failing" in "\n".join(shown.lines)
    assert any(line.endswith(message) for line in shown.lines)


def test_a_long_text_in_a_document_gives_it_its_kind() -> None:
    document = json.dumps({"sha": "0fae11c2", "content": CONTENTS["log"] * 6})
    extraction = extraction_of(document, ExtractionContext())
    assert extraction.kind == "log"
    assert any("0fae11c2" in line.text for line in extraction.lines)


def test_a_text_in_a_document_follows_the_rest_of_it() -> None:
    hits = [f"src/{name}.py:{number}:total" for name in "ab" for number in range(1, 60)]
    document = json.dumps({"id": 7, "found": "\n".join(hits)})
    extraction = extraction_of(document, ExtractionContext())
    assert extraction.kind == "hits"
    assert [line.text for line in extraction.lines[:2]] == ["id=7", "src/a.py:1: total"]


@given(text=st.text(max_size=400))
def test_every_text_has_a_draft_whose_parents_come_first(text: str) -> None:
    lines = extraction_of(text, ExtractionContext()).lines
    assert all(line.parent is None or line.parent < at for at, line in enumerate(lines))


def test_json_in_a_numbered_dump_is_read_as_json() -> None:
    rows = [{"id": f"row-{n}", "hash": f"{n:064x}"} for n in range(30)]
    lines = json.dumps(rows, indent=1).split("\n")
    dump = "\n".join(f"{number:5}→{line}" for number, line in enumerate(lines, start=1))
    extraction = extraction_of(dump, ExtractionContext())
    assert extraction.kind == "json"
    assert any("row-29" in line.text and f"{29:064x}" in line.text for line in extraction.lines)


def test_rows_that_begin_with_their_key_are_no_numbered_lines() -> None:
    for sign in ("|", "\t"):
        rows = "\n".join(
            sign.join((str(n), f"customer {n}", f"c{n}@shop.example")) for n in range(40)
        )
        entry = index(rows, ExtractionContext(), Price(2.75, 1_700.0, 300, 600))
        assert entry.kind == "table"
        assert any(line.endswith("27 | customer 27 | c27@shop.example") for line in entry.lines)


def test_the_status_of_an_answer_stands_before_its_body() -> None:
    fields = [{"name": f"line_{n}.price", "got": -n} for n in range(80)]
    answer = f"> POST /v1/orders HTTP/1.1\n>\n< HTTP/1.1 422 Unprocessable Entity\n<\n{json.dumps(fields)}"
    entry = index(answer, ExtractionContext(), Price(2.75, 1_700.0, 300, 600))
    assert "< HTTP/1.1 422 Unprocessable Entity" in entry.lines
    assert not {">", "<"}.intersection(entry.lines)


def test_a_numbered_file_with_a_cut_in_it_keeps_its_numbers():
    above = [f"{n}:     total_{n} = add(total_{n - 1}, {n})" for n in range(40, 60)]
    below = [f"{n}:     share_{n} = part(share_{n - 1}, {n})" for n in range(90, 120)]
    text = "\n".join(["Showing lines 40 to 119", *above, "<truncated 1200 bytes>", "_88)", *below])
    output = output_of(text)
    assert (output.is_numbered, output.first_number) == (True, 40)
    assert output.body.split("\n")[90 - 40] == "    share_90 = part(share_89, 90)"
    assert "after line 59: <truncated 1200 bytes>" in output.notes
    assert output.body.split("\n")[59 - 40].endswith("59) … _88)")


def test_matches_of_a_search_are_no_numbered_file():
    text = "\n".join(f"{n}: value_{n} = read({n})" for n in (3, 9, 14, 40, 41, 77))
    assert not output_of(text).is_numbered


def test_the_lines_that_an_edit_names_do_not_number_its_answer():
    edit = '{"replacement_text": "x = 1", "start_line": 1475, "end_line": 1475}'
    assert asked_line(edit) == 1
    read = '{"path": "a.py", "start_line": 1475}'
    assert asked_line(read) == 1475


def test_the_progress_meter_of_curl_is_no_content():
    meter = (
        "  % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current\n"
        "                                 Dload  Upload   Total   Spent    Left  Speed\n\n"
        "  0     0    0     0    0     0      0      0 --:--:-- --:--:-- --:--:--     0\n"
    )
    output = output_of(meter + "a plain answer\nof two lines")
    assert (output.body, output.notes) == ("a plain answer\nof two lines", ())


def test_a_page_with_line_numbers_is_read_as_its_source():
    rows = [f'  <li class="stop"><a href="/stops/{n}">Stop {n}</a></li>' for n in range(60)]
    page = ["<!DOCTYPE html>", "<html><body>", "<ul>", *rows, "</ul>", "</body></html>"]
    text = "\n".join(f"{n}\t{line}" for n, line in enumerate(page, 1))
    assert kind_of("\n".join(page)) == "page"
    source = extraction_of(text, ExtractionContext())
    assert (source.kind, source.selectors) == ("text", ("lines=[1, 65]",))
