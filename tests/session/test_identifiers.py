"""The index of identifiers: lists by name that grow."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippocampus.session import identifiers
from hippocampus.session.identifiers import Elsewhere, IdentifierIndex, Sums

NAMES = st.sampled_from([f"name_{number}" for number in range(12)])


@pytest.fixture(autouse=True, scope="module")
def _packs_early() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(identifiers, "MAX_UNPACKED", 4)
        yield


@given(st.lists(st.dictionaries(NAMES, st.lists(st.integers(0, 99), max_size=2), max_size=9)))
def test_numbers_stand_in_the_order_in_which_they_came(added: list[dict[str, list[int]]]) -> None:
    sums = Sums()
    wanted: dict[str, list[int]] = {}
    for each in added:
        sums = sums.plus(each)
        wanted |= {name: [*wanted.get(name, []), *own] for name, own in each.items()}
    assert all(sums.get(name) == own for name, own in wanted.items())


def test_a_name_is_known_that_another_payload_has() -> None:
    names = Elsewhere(Sums().plus({"ORD-17": [2], "ORD-18": [2, 5]}), 2)
    assert "ORD-18" in names
    assert "ORD-17" not in names
    assert "ORD-19" not in names


def test_a_text_is_cited_by_what_is_written_after_it() -> None:
    written = {"ORD-17": [4], "ORD-18": [9]}
    index = IdentifierIndex().plus({}, written)
    assert index.cited_since(5, "ORD-17 ORD-18 ORD-19") == {"ORD-18"}
