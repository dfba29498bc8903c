"""The exam itself: twenty questions a kind, none answered by nothing, and whole words only."""

from __future__ import annotations

import pytest

from hippocampus.models import tokens
from tests.bench.compression import corpus
from tests.bench.compression.measure import PROTOCOL_TOKENS
from tests.bench.compression.question import beside, says
from tests.bench.compression.questions import ASKED, questions

SIZES = {
    "browser snapshot": 52_000,
    "web page (HTML)": 52_000,
    "configuration schema": 285_000,
    "directory listing (find)": 31_000,
    "source file": 8_000,
    "JSON response": 12_000,
}
FOUND_IN_THE_CONTENT = 5
each_kind = pytest.mark.parametrize("kind", corpus.BUILDERS)


@each_kind
def test_there_are_twenty_distinct_questions(kind: str) -> None:
    asked = questions(kind)
    assert len(asked) == len(set(asked)) == 20


@each_kind
def test_nothing_answers_nothing(kind: str) -> None:
    assert not any(question.answers("") for question in questions(kind))


@each_kind
def test_some_answers_can_be_read_off_the_content(kind: str) -> None:
    content = corpus.content(kind)
    assert sum(question.answers(content) for question in questions(kind)) >= FOUND_IN_THE_CONTENT


@pytest.mark.parametrize("kind", SIZES)
def test_contents_have_the_protocol_s_sizes(kind: str) -> None:
    assert tokens.count(corpus.content(kind)) == pytest.approx(SIZES[kind], rel=0.12)


def test_every_content_is_asked_about() -> None:
    assert set(ASKED) == set(corpus.BUILDERS) >= set(PROTOCOL_TOKENS)


@pytest.mark.parametrize(
    ("label", "value", "entry", "is_answered"),
    [
        ("rows", 8, "rows: 8", True),
        ("rows", 8, "8 rows, 3 columns", True),
        ("rows", 8, "rows: 18", False),
        ("rows", 8, "rows: 8.5", False),
        ("rows", 1284, "1,284 rows", True),
        ("rows", 284, "1,284 rows", False),
        ("rows", 8, "rows:\n8", False),
        ("rows", 8, "rows" + " x" * 200 + " 8", False),
        ("os.py", 237, "os.py,(top),39504,1125,237,11", True),
        ("HEAD", "11f39de*", "11f39de5c22 (HEAD -> main)", True),
        ("next|cursor", "cur_1", "cursor=cur_1", True),
    ],
)
def test_an_answer_is_whole_and_beside_its_label(
    label: str, value: object, entry: str, is_answered: bool
) -> None:
    assert beside("?", label, value).answers(entry) is is_answered


def test_words_are_found_in_any_line_and_case() -> None:
    assert says("?", "Connection refused", "exit code").answers("Exit code 1\nconnection refused")
