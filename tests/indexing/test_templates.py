"""Lines that differ in their digits only are few in kind, and are asked about once."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from hippocampus.indexing.templates import map_alike

some_lines = st.lists(st.sampled_from(["a 1", "a 2", "a 30", "b", "", "é 4", "\ud800 5"]))


@given(lines=some_lines)
def test_what_does_not_read_digits_is_told_of_each_line_as_if_it_were_asked(
    lines: list[str],
) -> None:
    def tell(line: str) -> list[str]:
        return re.findall(r"\w+ \d", line)

    assert list(map(len, map_alike(lines, tell))) == [len(tell(line)) for line in lines]


def test_lines_that_differ_in_their_digits_are_asked_about_once() -> None:
    asked: list[str] = []
    assert map_alike(["row 1", "row 2", "end"], lambda line: asked.append(line) or "") == [""] * 3
    assert len(asked) == 2
