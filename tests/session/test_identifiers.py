"""The index of identifiers: the payloads that have a name, of a list that grows and of its earlier versions."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippocampus.session import identifiers
from hippocampus.session.identifiers import MAX_HOLDERS, IdentifierIndex

NAMES = [f"name_{number}" for number in range(12)]
SOME_NAMES = st.frozensets(st.sampled_from(NAMES))


@pytest.fixture(autouse=True, scope="module")
def _packs_early() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(identifiers, "MIN_PACKED", 4)
        yield


def grown(index: IdentifierIndex, first: int, added: list[frozenset[str]]) -> IdentifierIndex:
    """Return an index with a message and a payload in it for each set of names."""
    for number, names in enumerate(added, first):
        index = index.at(number, number)
        index.begin(number)
        index.write(number, names)
        index.add(number, names)
    return index


@given(st.lists(SOME_NAMES), st.lists(SOME_NAMES), st.lists(SOME_NAMES, min_size=1))
def test_an_earlier_version_goes_on_as_if_nothing_had_been_added_to_it(
    first: list[frozenset[str]], lost: list[frozenset[str]], second: list[frozenset[str]]
) -> None:
    index = grown(IdentifierIndex(), 0, first)
    grown(index, len(first), lost)
    index = grown(index.at(len(first), len(first)), len(first), second)
    for name in NAMES:
        wanted = [n for n, names in enumerate([*first, *second]) if name in names]
        found = index.holders_of([name])[name]
        assert found == wanted if len(wanted) <= MAX_HOLDERS else len(found) > MAX_HOLDERS
        newest = wanted[-1] if wanted else -1
        assert index.cited_since(newest, name) == ({name} if wanted else set())
        assert not index.cited_since(newest + 1, name)


def test_a_name_is_known_that_another_payload_has() -> None:
    index = grown(IdentifierIndex(), 2, [frozenset({"ORD-17", "ORD-18"}), frozenset({"ORD-18"})])
    assert index.held_elsewhere({"ORD-17", "ORD-18", "ORD-19"}, 2) == {"ORD-18"}
