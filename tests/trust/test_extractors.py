"""A short run of the proof of the extractors, at each of them."""

from __future__ import annotations

import pytest
from hypothesis import given

from tests.trust.extractors import CHECKS, seconds
from tests.trust.odd_texts import texts


@pytest.mark.parametrize("name", CHECKS)
@given(text=texts())
def test_no_text_breaks_an_extractor(name: str, text: str) -> None:
    assert seconds(name, text) >= 0
