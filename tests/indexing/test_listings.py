"""Listings are recognised, and each hit of a search keeps its file and line."""

from __future__ import annotations

import argparse
import inspect

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippocampus.indexing import Price, index, kinds, listings
from hippocampus.indexing.extraction import Extraction, ExtractionContext

LONG = """total 24
drwxr-xr-x  3 ann staff  4096 Jan  5 10:22 src
-rw-r--r--  1 ann staff  1234 Jan  5 10:22 README.md
-rwxr-xr-x  1 ann staff    99 2024-01-05 10:22 run me.sh
lrwxrwxrwx  1 ann staff     7 Jan  5  2023 docs -> ../docs
"""
TREE = """.
├── README.md
├── src
│   ├── main.py
│   └── deep
│       └── inner.py
└── test.py

2 directories, 4 files
"""
HITS = """src/a.py:12:def load(path):
src/a.py:40:    load(x)
src/b.py:3:from a import load
"""
CONTEXT = """src/a.py-11-
src/a.py:12:def load(path):
src/a.py-13-    return path
--
src/b.py:3:load()
"""
HEADED = """src/a.py
12:def load(path):
40:    load(x)

src/b.py
3:from a import load
"""
LOG = """commit 4f1c2d3e4f5a6b7c8d9e0f1a2b3c4d5e6f7a8b9c (HEAD -> main)
Author: Ann <ann@example.org>
Date:   Fri Jan 5 10:22:00 2024 +0100

    Read files lazily

    They were read twice.

 src/a.py | 12 ++++++------
 1 file changed, 6 insertions(+), 6 deletions(-)

commit aaaabbbbccccddddeeeeffff0000111122223333
Author: Bob <bob@example.org>
Date:   Thu Jan 4 09:00:00 2024 +0100

    Begin
"""
SAMPLES = [LONG, TREE, HITS, CONTEXT, HEADED, LOG]


def extraction_of(text: str) -> Extraction:
    extraction = listings.extract(text)
    assert extraction is not None
    return extraction


@pytest.mark.parametrize("text", SAMPLES)
def test_a_listing_is_recognised_by_itself(text: str) -> None:
    assert listings.recognises(text) >= 0.6


@pytest.mark.parametrize("text", [HITS, CONTEXT, HEADED])
def test_each_hit_has_its_file_and_line(text: str) -> None:
    extraction = extraction_of(text)
    assert extraction.kind == "hits"
    shown = {line.text for line in extraction.lines}
    assert {"src/a.py:12: def load(path):", "src/b.py:3: from a import load"} <= shown or (
        {"src/a.py:12: def load(path):", "src/a.py-13- return path", "src/b.py:3: load()"} <= shown
    )


def test_an_entry_of_hits_counts_them_and_shows_one_of_each_file_before_more_of_one() -> None:
    calls = [
        f"src/part{file}.py:{at * 7}:    call({file * at})"
        for file in range(1, 9)
        for at in range(1, 2 * file)
    ]
    price = Price(2.75, 1_700.0, 200, 200)
    shown = index("\n".join(calls), ExtractionContext(content_tokens=1_000), price).lines
    assert shown[0] == "64 hits in 8 files"
    hits = [line for line in shown[1:] if line in {each.replace("    ", " ") for each in calls}]
    assert len({line.partition(":")[0] for line in hits}) == 8  # of each file before more of one
    assert shown[-1] == f"… {64 - len(hits)} more hits"


def test_the_state_of_a_working_tree_stands_as_its_own_lines() -> None:
    changed = [f"\tmodified:   src/a{at}.py" for at in range(40)]
    extraction = extraction_of(
        "\n".join(["On branch main", "Changes not staged for commit:", *changed])
    )
    assert extraction.kind == "text"
    assert changed[7] in [line.text for line in extraction.lines]


@given(st.text(alphabet="ab/.:-12 \n\tcommit├─│rwx~*", max_size=400))
def test_no_text_makes_it_fail(text: str) -> None:
    assert listings.extract(text) == listings.extract(text)
    assert 0 <= listings.recognises(text) <= 1


@given(
    st.lists(st.sampled_from([line for text in SAMPLES for line in text.split("\n")]), max_size=40)
)
def test_no_mixture_of_listings_makes_it_fail(lines: list[str]) -> None:
    extraction = listings.extract("\n".join(lines))
    for line in extraction.lines if extraction else ():
        assert line.parent is None or extraction.lines[line.parent].parent is None


@pytest.mark.parametrize(
    "text", ["a/b\n" * 3 + "a/" * 300_000, "x.y:1:z\n" * 3 + ":" * 300_000, " " * 500_000]
)
def test_hostile_listings_are_survived(text: str) -> None:
    listings.extract(text)


def test_prose_and_code_are_no_listing() -> None:
    assert listings.recognises("It was the best of times.\nIt was the worst of times.\n") == 0
    assert listings.recognises(inspect.getsource(argparse)) == 0


def test_lines_with_the_commit_that_wrote_them_are_no_log() -> None:
    line = "{:08x} src/a.py (A B 2026-11-2{} 10:11:12 +0000 {:3}) value_{} = {}"
    blamed = "\n".join(line.format(0x3BDF4828 + n, n % 9, n, n, n * 7) for n in range(60))
    assert listings.recognises(blamed) == 0.0


def test_a_log_with_numbers_is_no_listing_of_windows():
    log = "\n".join(f"2026/03/01 10:{n:02} 12{n} requests served" for n in range(30))
    assert listings.recognises(log) == 0


def test_hits_below_their_files_as_gemini_cli_prints_them_have_file_and_line() -> None:
    files = {"src/store.py": (3, 18, 41, 77), "src/app.py": (9, 30, 52, 64)}
    lines = ['Found 8 matches for pattern "def " in the workspace directory:', "---"]
    for name, numbers in files.items():
        lines += [f"File: {name}", *(f"L{n}:     def f{n}(self):" for n in numbers), "---"]
    shown = kinds.extraction_of("\n".join(lines), ExtractionContext())
    assert shown.kind == "hits"
    assert shown.summary == "8 hits in 2 files"
    assert any("src/app.py:52: def f52(self):" in line.text for line in shown.lines)


def test_commits_and_paths_are_their_own_lines() -> None:
    commits = [f"{at * 7:07x} Read files lazily in part {at}" for at in range(11, 30)]
    paths = [f"./src/part_{at}/main.py" for at in range(20)]
    for kind, lines in (("commits", commits), ("listing", paths)):
        extraction = extraction_of("\n".join(lines))
        assert extraction.kind == kind
        assert [line.text for line in extraction.lines] == lines
