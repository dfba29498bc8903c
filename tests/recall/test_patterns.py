"""Patterns: what they find, with lines around it, in linear time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippocampus.errors import RecallError
from hippocampus.patterns import PatternError, compiled
from hippocampus.recall.lines import Paged, matching

PATTERNS = [
    *(
        "",
        "a",
        "^a",
        "b$",
        "^$",
        "x*",
        r"\d+",
        r"\s",
        "[^x]",
        "é",
        r"a\nb",
        "(?i)A",
        r"\bb\b",
        "漢|x$",
    )
]
LINES = st.text("ab xé漢\n\r1", max_size=120) | st.text("ab \n", min_size=900, max_size=1_500)


@given(LINES, st.sampled_from(PATTERNS), st.integers(1, 3))
def test_context_adds_lines_and_takes_none_away(text: str, pattern: str, context: int) -> None:
    plain = list(matching(Paged(text), pattern))
    around = [each for each in matching(Paged(text), pattern, context) if each.number]
    assert [each for each in around if each.mark == ":"] == plain
    numbers = [each.number for each in around]
    assert numbers == sorted(numbers)


HOSTILE = [
    *(
        "(a+)+$b",
        "(x+x+)+y",
        "(.*)*\\1",
        "(a|a)*c",
        "((a{1,100}){1,100}){1,100}",
        "[a-q][^u-z]{13}x",
        "(" * 900 + "b" + ")" * 900,
        "()" * 900 + "b",
    )
]


@pytest.mark.parametrize("pattern", HOSTILE)
def test_no_pattern_can_take_forever(pattern: str) -> None:
    try:
        assert list(matching(Paged("a" * 200_000), pattern)) == []
    except RecallError as told:
        assert told.reason == "bad_request"  # noqa: PT017 - either outcome is right


def test_groups_cost_nothing_where_no_one_asks_for_them() -> None:
    bare, grouped = compiled("b"), compiled("(" * 900 + "b" + ")" * 900)
    assert (grouped.groups, grouped.programsize) == (0, bare.programsize)


@pytest.mark.parametrize("text", ["a" * 1_000_000, f"{'a' * 99}\n" * 10_000])
def test_a_pattern_of_many_steps_is_refused_for_a_long_text(text: str) -> None:
    with pytest.raises(PatternError, match="too many"):
        next(matching(Paged(text), ".{0,1000}.{0,1000}.{0,1000}x"))
    assert not list(matching(Paged(text), ".{0,200}x"))


def test_a_million_matches_or_lines_are_read() -> None:
    assert len(list(matching(Paged("word some text " * 70_000), "."))) > 1_000
    assert not list(matching(Paged("\n" * 1_000_000), "x"))


def test_a_pattern_of_any_length_is_refused_in_words() -> None:
    with pytest.raises(RecallError, match="longer than 2,000 characters"):
        list(matching(Paged("x"), "x" * 3_000))


def test_what_is_wrong_with_a_pattern_is_told_in_plain_words() -> None:
    with pytest.raises(RecallError) as told:
        list(matching(Paged("x"), "("))
    assert str(told.value).endswith("is no regular expression (RE2): missing ): (")


@pytest.mark.parametrize(
    "pattern", ["def (?!test)", "(?<=id: )x", r"(a)\1", "(?P<a>x)(?P=a)", "a++"]
)
def test_what_re2_lacks_is_named(pattern: str) -> None:
    with pytest.raises(RecallError, match="RE2 has no lookaround and no backreferences"):
        list(matching(Paged("x"), pattern))
