"""Text of no known kind is its own lines, with their numbers."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippocampus import indexing
from hippocampus.indexing import Price, plain
from hippocampus.indexing.extraction import Extraction, ExtractionContext


def read(text: str) -> Extraction:
    extraction = plain.extract(text)
    assert extraction is not None
    return extraction


def test_an_empty_text_is_nothing() -> None:
    assert plain.extract(" \n\n").kind == "empty"


@given(
    lines=st.lists(st.text(st.characters(codec="ascii", exclude_categories=["Cc"]), max_size=80))
)
def test_every_line_with_a_word_is_shown_as_it_is_with_its_number(lines: list[str]) -> None:
    extraction = plain.extract("\n".join(lines))
    shown = [
        (line.number + at, text)
        for line in (extraction.lines if extraction else ())
        for at, text in enumerate(line.text.split("\n"))
    ]
    worded = [(at, line.rstrip()) for at, line in enumerate(lines, 1) if re.search(r"[^\W_]", line)]
    assert shown == worded


def test_the_last_lines_show_how_a_run_ended() -> None:
    steps = "".join(f"#{n} exporting layer sha256:{n:040x} 0.{n}s done\n" for n in range(90))
    rows = (
        "NAME  IMAGE  STATUS\nshop-app  shop:1  Up Less than a second\nshop-db  pg:14  Up (healthy)"
    )
    lines = indexing.index(f"{steps}{rows}", ExtractionContext(), Price(9.0, 1.0, 0, 200)).lines
    assert lines[-2:] == rows.split("\n")[-2:] or lines[-2].endswith(rows.split("\n")[1])


def test_signs_that_fill_a_terminal_are_not_shown_and_a_message_is_shown_once() -> None:
    wide = "test_room.py::test_door ERROR" + " " * 560 + "[ 16%]"
    text = "\n".join(["=" * 300 + " test session starts " + "=" * 300, wide, "exit code 1"])
    context = ExtractionContext(is_error=True)
    shown = "\n".join(indexing.index(text, context, Price(9.0, 1.0, 0, 300)).lines)
    assert "====" not in shown
    assert "test_room.py::test_door ERROR   [ 16%]" in shown
    assert shown.count("test_door ERROR") == 1


def test_lines_of_one_form_weigh_less_each_time() -> None:
    lines = read("start\n" * 8 + "loaded 3 of 9\nloaded 4 of 9\nloaded 5 of 9\nend\n" * 4).lines
    weights = [line.weight for line in lines if line.text.startswith("loaded")]
    assert weights[0] > weights[1] > weights[2]


def test_results_and_names_weigh_more() -> None:
    words = ["plain words here", "owner: Ann", "job_77/ab12"]
    filler = "\n".join("abcdefghi")
    lines = read("\n".join([filler, *words, filler])).lines
    weights = {line.text: line.weight for line in lines}
    assert weights["owner: Ann"] > weights["plain words here"]
    assert weights["job_77/ab12"] > weights["plain words here"]


def test_one_long_address_stands_whole() -> None:
    url = "https://example.org/f?" + "&".join(f"key{at}=value{at}" for at in range(90))
    assert read(url).lines[0].text == url


def test_one_long_line_is_read_in_pieces_that_lose_nothing() -> None:
    text = " ".join(f"word{at}" for at in range(2_000))
    assert " ".join(line.text for line in read(text).lines) == text


def test_a_long_line_is_read_by_sentences() -> None:
    text = " ".join(f"Task {at} is to count the cars on bridge {at}." for at in range(40))
    assert read(text).lines[3].text == "Task 3 is to count the cars on bridge 3."


def test_an_initial_ends_no_sentence() -> None:
    text = "A. Smith, B. Jones et al. wrote it. " + "They count the cars on a bridge. " * 20
    assert read(text).lines[0].text == "A. Smith, B. Jones et al. wrote it."


def test_a_tools_own_notice_always_stands() -> None:
    text = "\n".join(f"word {at}" for at in range(50)) + "\n[Showing 1-50 of 2377, use offset=51]"
    kept = [line.text for line in read(text).lines if line.keep]
    assert kept[-1] == "[Showing 1-50 of 2377, use offset=51]"
    assert re.match(r"51 lines", read(text).summary)


def test_alike_lines_with_new_names_leave_room_for_the_others() -> None:
    variables = "\n".join(f"      VAR_{n}:  value-{n}" for n in range(60))
    events = "\n".join(f"  Warning  Failed   {n}m    node-{n} refused the image" for n in range(15))
    text = f"Name:  svc-7\nStatus:  Pending\nReason:  ImagePullBackOff\nEnvironment:\n{variables}\nEvents:\n{events}"
    entry = indexing.index(text, ExtractionContext(), Price(2.75, 1_700.0, 300, 600))
    shown = "\n".join(entry.lines)
    assert all(word in shown for word in ("svc-7", "Pending", "ImagePullBackOff", "Events:"))


def test_few_failures_of_a_log_stay_with_the_line_below() -> None:
    """Each line of a build server has a time of its own, which makes it look new."""
    stamp = "test\tUNKNOWN STEP\t2026-02-04T07:15:{:02}.5080603Z "
    lines = [
        stamp.format(n % 60) + f"go: downloading example.org/lib{n}/v2 v2.{n}.1" for n in range(90)
    ]
    lines[60] = stamp.format(0) + "    --- FAIL: TestDoor/opens_when_unlocked (0.00s)"
    lines[61] = stamp.format(0) + "        door_test.go:67: Open() = false, want true"
    price = Price(0.0, 1.0, 150, 150)
    shown = indexing.index("\n".join(lines), ExtractionContext(content_tokens=4_000), price).lines
    assert any("TestDoor/opens_when_unlocked" in line for line in shown)
    assert any("door_test.go:67" in line for line in shown)


@pytest.mark.parametrize("marks", ["", "    ~~~~~~^^^^^^^^^^\n"])
def test_a_traceback_in_a_log_keeps_its_last_frame(marks: str) -> None:
    frames = "".join(
        f'  File "/srv/m{n}.py", line {n}, in f{n}\n    return step_{n}(n)\n{marks}'
        for n in range(90)
    )
    log = "".join(f"2026-01-01 10:00:{n:02} INFO row {n}\n" for n in range(60))
    text = f"{log}Traceback (most recent call last):\n{frames}ValueError: bad voltage in row 88"
    price = Price(0.0, 1.0, 150, 150)
    shown = indexing.index(text, ExtractionContext(content_tokens=4_000), price).lines
    assert all(any(end in line for line in shown) for end in ("m89.py", "step_89", "row 88"))
