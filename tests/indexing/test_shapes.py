"""The shapes of values: a slow obvious version is the oracle of the fast one."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from hippocampus.indexing.extraction import IDENTIFIER, NAMED, identifiers

PIECES = st.sampled_from(
    ["a", "B", "3", "_", ".", "/", ":", "@", "#", "-", " ", "\n", "é", "中", "\ud800"]
)
RUNS = st.tuples(PIECES, st.integers(1, 130)).map(lambda pair: pair[0] * pair[1])


@given(st.lists(st.one_of(PIECES, RUNS), max_size=60).map("".join))
@example("see src/app.py:12, HTTPServer and worker-a.")
def test_identifiers_are_those_that_the_expressions_find(text: str) -> None:
    assert identifiers(text) == set(filter(NAMED.search, IDENTIFIER.findall(text)))
