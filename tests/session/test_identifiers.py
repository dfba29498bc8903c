"""The index of identifiers: the payloads of a list that have a name."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippocampus.session import payloads
from hippocampus.session.payloads import MAX_HOLDERS, IdentifierIndex

NAMES = [f"name_{number}" for number in range(12)]
SOME_NAMES = st.frozensets(st.sampled_from(NAMES))


@pytest.fixture(autouse=True, scope="module")
def _packs_early() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(payloads, "MIN_PACKED", 4)
        yield


def grown(index: IdentifierIndex, first: int, added: list[frozenset[str]]) -> IdentifierIndex:
    """Return an index with a message and a payload in it for each set of names."""
    for number, names in enumerate(added, first):
        index.pack()
        index.write(number, names)
        index.add(number, names)
    return index


@given(st.lists(SOME_NAMES, min_size=1))
def test_packed_names_are_found_as_those_of_the_last_payloads(added: list[frozenset[str]]) -> None:
    index = grown(IdentifierIndex(), 0, added)
    for name in NAMES:
        wanted = [n for n, names in enumerate(added) if name in names]
        found = index.holders_of([name])[name]
        assert found == wanted if len(wanted) <= MAX_HOLDERS else len(found) > MAX_HOLDERS
        newest = wanted[-1] if wanted else -1
        assert index.cited_since(newest, name) == ({name} if wanted else set())
        assert not index.cited_since(newest + 1, name)


def test_a_name_is_known_that_another_payload_has() -> None:
    index = grown(IdentifierIndex(), 2, [frozenset({"ORD-17", "ORD-18"}), frozenset({"ORD-18"})])
    assert index.held_elsewhere({"ORD-17", "ORD-18", "ORD-19"}, 2) == {"ORD-18"}
