"""Origins: what is written is what is read, and a text once written stays as it was."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippocampus.entries.origin import (
    PART_KINDS,
    AdoptedOrigin,
    DigestOrigin,
    EntryOrigin,
    MemoryOrigin,
    PartOrigin,
    SourceOrigin,
    StateOrigin,
    parsed,
)

KEYS = st.text("0123456789abcdef", min_size=1, max_size=64)
NUMBERS = st.integers(0, 10**9)
NAMES = st.text(st.characters(exclude_categories=["Cs"]))
OWN = st.one_of(
    st.builds(PartOrigin, st.sampled_from(PART_KINDS), NAMES, KEYS, NUMBERS),
    st.builds(StateOrigin, NUMBERS, KEYS),
    st.builds(DigestOrigin, NUMBERS, NUMBERS, KEYS),
    st.builds(SourceOrigin, KEYS, KEYS),
    st.builds(MemoryOrigin, NAMES),
)


@given(OWN | st.builds(AdoptedOrigin, NAMES, OWN))
def test_what_is_written_is_what_is_read(origin: EntryOrigin) -> None:
    assert parsed(str(origin)) == origin


def test_the_text_of_every_kind_stays_as_it_was() -> None:
    """An entry's id is a hash of it, and ledgers on disk hold it."""
    texts = [
        "result:call_7:ab12:0",
        "call:a:b:c:ab12:3",
        "text::ab12:0",
        "state:4:ab12",
        "digest:3:9:ab12",
        "source:abcd2345:ab12",
        "memory:m-1",
        "adopted:planner:result:call_7:ab12:0",
        "adopted:a session:state:4:ab12",
    ]
    assert [str(parsed(text)) for text in texts] == texts


@pytest.mark.parametrize("text", ["", "p", "result:c:k", "result:c:k:x", "adopted:a", "other:1:2"])
def test_what_names_no_origin_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parsed(text)
