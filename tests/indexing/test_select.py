"""Which lines of an extraction stand: within the bound, with their headings, the most telling first."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippocampus.indexing import ExtractionContext, Price, index
from hippocampus.indexing.extraction import EntryLine, Extraction, kept_by_hash
from hippocampus.indexing.select import _Chosen, chances_of, choose
from hippocampus.models import tokens

HINTS = ExtractionContext(content_tokens=2_000)


def priced(most: int, *, carry: float = 2.0, recall: float = 1_500.0, least: int = 0) -> Price:
    return Price(carry, recall, least, most)


def extraction(*lines: EntryLine) -> Extraction:
    return Extraction("text", "", lines)


words = st.text("abcde 0123/_", min_size=1, max_size=60)
extractions = st.lists(
    st.builds(EntryLine, words, st.floats(0.01, 9), st.booleans(), st.none(), st.integers(0, 3)),
    max_size=40,
).map(lambda lines: extraction(*lines))


@given(read=extractions, most=st.integers(0, 400), least=st.integers(0, 400))
def test_what_is_chosen_fits_and_keeps_its_order(read: Extraction, most: int, least: int) -> None:
    chosen = choose(read, HINTS, priced(most, least=least))
    assert sum(tokens.count(line) + 1 for line in chosen) <= most
    known = iter(line.text for line in read.lines)
    assert all(line in known for line in chosen if not line.startswith("… "))


@given(read=extractions, most=st.integers(0, 400))
def test_the_same_draft_gives_the_same_lines(read: Extraction, most: int) -> None:
    assert choose(read, HINTS, priced(most)) == choose(read, HINTS, priced(most))


@given(
    texts=st.lists(
        st.text(st.sampled_from("ab 19.-/é句\n\ud800'"), max_size=30)
        | st.sampled_from(["    it's x_1 = f(2)", "a1b2c3d4 | open | 12", "!!\n/ x"]),
        max_size=20,
    ),
    most=st.integers(0, 120),
)
def test_what_fits_is_told_as_if_every_text_were_counted(texts: list[str], most: int) -> None:
    chosen, spent = _Chosen((), most), 0
    for text in texts:
        cost = tokens.count(text) + 1
        assert chosen.take([text]) is (spent + cost <= most)
        spent += cost if spent + cost <= most else 0
        assert chosen.left == most - spent


def test_a_line_stands_below_its_heading() -> None:
    read = extraction(EntryLine("the heading", 0.01), EntryLine("order-771 failed", 9.0, parent=0))
    assert choose(read, HINTS, priced(200)) == ["the heading", "order-771 failed"]


def test_what_must_be_kept_comes_before_what_weighs_more() -> None:
    read = extraction(EntryLine("heavy_line " * 5, 9.0), EntryLine("the error", 0.01, keep=True))
    assert choose(read, HINTS, priced(6)) == ["the error"]


def test_a_gap_says_how_much_was_left_out() -> None:
    read = extraction(
        EntryLine("total: 9_000", 9.0), *(EntryLine("dull words", 0.01) for _ in range(30))
    )
    assert choose(read, HINTS, priced(60)) == ["total: 9_000", "… 30 more lines"]


def test_what_the_agent_has_cited_stands_whatever_the_budget() -> None:
    context = ExtractionContext(cited={"ord-17"}, content_tokens=2_000)
    assert choose(extraction(EntryLine("ord-17 is late")), context, priced(0)) == [
        "used before: ord-17"
    ]


def test_each_signal_moves_the_chance_as_it_should() -> None:
    read = extraction(EntryLine("id-1001 open"), EntryLine("id-2002 open"))
    task = ExtractionContext(
        task="what of id-2002, the one on the open_list?", content_tokens=2_000
    )
    known = ExtractionContext(known={"id-1001"}.intersection, content_tokens=2_000)
    larger = ExtractionContext(content_tokens=50_000)
    base = chances_of(read, HINTS)
    assert base[0] == base[1]
    assert chances_of(read, task)[1] > base[1]
    assert chances_of(read, known)[0] < base[0]
    assert chances_of(read, larger)[0] < base[0]
    assert chances_of(extraction(EntryLine("id-1001 open", 3.0)), HINTS)[0] > base[0]


def test_hits_below_files_that_were_left_out_are_counted() -> None:
    lines = [
        EntryLine(
            f"file{at}.py" if at % 3 == 0 else f" hit {at}",
            parent=at // 3 * 3 if at % 3 else None,
            count=at % 3 > 0,
        )
        for at in range(30)
    ]
    shown = choose(extraction(*lines), HINTS, priced(20, recall=0.0))
    assert shown == ["file0.py", "… 20 more lines"]


def test_what_is_left_out_of_a_list_is_counted_after_all_lines_of_its_last_record() -> None:
    lines = [
        EntryLine(
            f"record {at // 2}" if at % 2 == 0 else f"  url of record {at // 2}",
            weight=90.0 if at % 2 and at < 4 else 0.1,
            parent=None if at % 2 == 0 else at - 1,
            count=at % 2 == 0,
            unit="records" if at % 2 == 0 else "",
        )
        for at in range(20)
    ]
    shown = choose(extraction(*lines), HINTS, priced(40, recall=0.0))
    assert shown[-2:] == ["  url of record 0", "… 9 more records"]


def test_a_cut_list_inside_a_record_counts_what_it_leaves_out() -> None:
    options = [{"name": f"shade number {at} of the paint", "id": f"k{at}x"} for at in range(40)]
    text = json.dumps({"properties": {"paint": {"options": options}}, "title": "Walls"}, indent=1)
    lines = index(text, ExtractionContext(content_tokens=900), Price(0.0, 1.0, 250, 250)).lines
    shown = sum(f"shade number {at} of" in line for line in lines for at in range(40))
    left = [int(line.split()[1]) for line in lines if line.startswith("… ")]
    assert 0 < shown < 40
    assert shown + sum(left) == 40


def test_a_long_error_shows_its_status_and_its_last_sentence_before_what_it_echoes() -> None:
    echo = ", ".join(f"file_{at}: some text that was sent" for at in range(200))
    text = f"Error: call of put_files({echo}) returned 409 Shelf is locked {echo}. Unlock it first."
    context = ExtractionContext(is_error=True, content_tokens=2_000)
    shown = "\n".join(index(text, context, Price(0.0, 1.0, 400, 400)).lines)
    assert "409 Shelf is locked" in shown
    assert "Unlock it first." in shown


class Turn(int):
    """A number at which another thread asks for further texts, each time that it is looked up."""

    ask: Callable[[], object] = int

    def __hash__(self) -> int:
        type(self).ask()
        return super().__hash__()


def test_what_is_kept_by_hash_is_returned_where_another_thread_empties_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("hippocampus.indexing.extraction.MAX_BY_HASH", 1)

    @kept_by_hash
    def size(text: str, /, turn: int) -> int:
        return len(text) + turn

    assert size("ab", Turn(1)) == 3
    is_found = iter([True, False])
    monkeypatch.setattr(Turn, "ask", lambda: next(is_found, True) or size("abc", 0))
    assert size("ab", Turn(1)) == 3


OF_WORDS = """
from hippocampus.indexing import ExtractionContext
from hippocampus.indexing.extraction import EntryLine, Extraction
from hippocampus.indexing.select import chances_of
words = [f"word{n}" for n in range(40)]
texts = [" ".join(words[n * n % 31 : n * n % 31 + 2 + n % 4]) for n in range(200)]
read = Extraction("text", "", tuple(EntryLine(text, 1.0) for text in texts))
print(chances_of(read, ExtractionContext(task=" ".join(words), content_tokens=2_000)))
"""


def test_the_chances_of_lines_are_the_same_in_every_process() -> None:
    """Of two equal lines one is shown: which, no process may decide by the order of its sets."""
    shown = {
        subprocess.run(
            [sys.executable, "-c", OF_WORDS],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in "123"
    }
    assert len(shown) == 1
