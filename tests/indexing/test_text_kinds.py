"""What holds of every extractor for text: whatever it is given, it is true, bounded and calm."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippocampus.indexing import grids, html, listings, plain
from hippocampus.indexing.extraction import Extraction
from hippocampus.indexing.kinds import kind_of

RECOGNISERS = (
    plain.is_diff, plain.is_prose, plain.is_binary, plain.is_log, grids.recognises,
    listings.recognises, html.recognises,
)  # fmt: skip
EXTRACTORS = (grids, listings, html, plain)
PIECES = (
    "Traceback (most recent call last):\n", '  File "a.py", line 3, in f\n', "    at f (a.js:3:4)\n",
    "ValueError: no\n", "a.c:3:4: error: no\n", "FAILED t.py::t - no\n", "2 failed in 1s\n", "exit code 2\n",
    "diff --git a/x b/x\n", "--- a/x\n", "+++ b/x\n", "@@ -1,2 +1,2 @@ f\n", "+new\n", "-old\n", " same\n",
    "*** Begin Patch\n", "*** Update File: x\n", "@@ f\n", "| a | b |\n", "|---|---|\n", "a,b,c\n", '1,"x\n',
    "a\tb\n", " a | b \n---+---\n", "# T\n", "- item\n", "[a](http://b.c)\n", "```\n", "==\n", "句子。", "\x00",
    "\udc80", "\ud800", "data:image/png;base64,", "iVBORw0KGgo" * 40, "\r", "\x1b[31m", "1e999,", "٣٤\n", "\n",
)  # fmt: skip
hostile = st.one_of(
    st.text(st.characters(), max_size=400),
    st.lists(st.sampled_from(PIECES), max_size=30).map("".join),
    st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=9)), max_size=30).map("".join),
)
each = pytest.mark.parametrize("kind", EXTRACTORS, ids=lambda kind: kind.__name__.split(".")[-1])


def extraction(kind: ModuleType, text: str) -> Extraction | None:
    found: Extraction | None = kind.extract(text)
    return found and replace(found, lines=tuple(found.lines))


@pytest.mark.parametrize("recognises", RECOGNISERS, ids=lambda each: each.__qualname__)
@given(text=hostile)
def test_how_sure_a_kind_is_of_a_text_is_a_share_and_twice_the_same(
    recognises: Callable[[str], float], text: str
) -> None:
    assert 0.0 <= recognises(text) <= 1.0
    assert recognises(text) == recognises(text)


@each
@given(text=hostile)
def test_any_text_is_read_twice_alike_and_each_parent_before_its_line(
    kind: ModuleType, text: str
) -> None:
    found = extraction(kind, text)
    assert found == extraction(kind, text)
    for at, line in enumerate(found.lines if found else ()):
        assert line.parent is None or 0 <= line.parent < at
        assert line.weight > 0
        assert line.count >= 0


@pytest.mark.parametrize(
    "unit",
    ["x", " ", "a\n", "[", "a/", "=", "|\n", '"', "a::", "\r", "aB3/", "Error", "(a", "[a](http://x ", "- ", "1 ", "a.b."],
)  # fmt: skip
def test_hostile_text_costs_linear_time(unit: str) -> None:
    """Quadratic time for it would be minutes."""
    text = unit * (200_000 // len(unit))
    assert all(recognises(text) <= 1.0 for recognises in RECOGNISERS)
    for kind in EXTRACTORS:
        found = extraction(kind, text)
        assert sum(len(line.text) for line in (found.lines if found else ())) < 600_000


@each
def test_bytes_read_as_text_are_read_without_an_error(kind: ModuleType) -> None:
    data = random.Random(7).randbytes(20_000)
    for text in (data.decode("latin-1"), data.decode("utf-8", "surrogateescape")):
        assert extraction(kind, text) == extraction(kind, text)


@each
def test_a_long_draft_stays_bounded(kind: ModuleType) -> None:
    text = "".join(f"{number},{number * 7 % 13},word{number}\n" for number in range(30_000))
    found = extraction(kind, text)
    assert found is None or len(found.lines) < 6_000


def test_names_notes_and_tables_are_no_bytes_and_no_log() -> None:
    names = "Test_that_a_session_keeps_all_of_its_messages_where_the_host_restarts\n" * 9
    notes = "- 2026-01-02 10:03 met with Ann about the parser, and we agreed on the plan.\n" * 9
    table = "| time | event |\n|---|---|\n" + "| 2026-01-02 10:03:00 | the deploy went well |\n" * 9
    assert [kind_of("# Notes\n\n" + notes), kind_of(names), kind_of(table)] == [
        "prose",
        "text",
        "table",
    ]


def test_the_packages_of_a_test_run_are_a_log_whose_failures_stay() -> None:
    rows = [f"?   \tshop/part{n}\t[no test files]\nok  \tshop/unit{n}\t0.1{n}s" for n in range(5)]
    run = "\n".join([*rows, "FAIL\tshop/basket\t0.53s", "FAIL"])
    assert kind_of(run) == "log"
    found = plain.extract_log(run)
    assert found is not None
    assert "FAIL\tshop/basket\t0.53s" in [line.text for line in found.lines if line.keep]
