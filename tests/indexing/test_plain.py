"""Text of no known kind is told by its head, its labelled values and its repeats."""

from __future__ import annotations

from hippocampus.indexing import plain
from hippocampus.indexing.extraction import Extraction, ExtractionContext


def read(text: str) -> Extraction:
    extraction = plain.extract(text, ExtractionContext())
    assert extraction is not None
    return extraction


def test_an_empty_text_is_nothing() -> None:
    assert plain.extract(" \n\n", ExtractionContext()) is None


def test_every_filled_line_is_accounted_for_and_repeats_are_counted() -> None:
    text = "alpha\n" + "loaded 3 of 9\n" * 40 + "\nbeta\n"
    extraction = read(text)
    assert sum(line.count for line in extraction.lines) == 42
    assert [line.text for line in extraction.lines] == [
        "1: alpha",
        "2: loaded 3 of 9 ×40",
        "43: beta",
    ]


def test_labelled_and_distinctive_values_weigh_more() -> None:
    words = [
        "word",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "plain words",
        "owner: Ann",
        "job_77/ab12",
    ]
    weights = {
        line.text.split(": ", 1)[1]: line.weight for line in read("\n".join([*words, *"xyz"])).lines
    }
    assert weights["owner: Ann"] > weights["plain words"]
    assert weights["job_77/ab12"] > weights["plain words"]


def test_one_long_address_stands_whole() -> None:
    url = "https://example.org/f?" + "&".join(f"key{at}=value{at}" for at in range(90))
    assert read(url).lines[0].text == f"1: {url}"


def test_one_long_line_is_read_in_pieces() -> None:
    extraction = read(" ".join(f"word{at}" for at in range(2_000)))
    assert len(extraction.lines) > 3
    assert all(len(line.text) < 260 for line in extraction.lines)
