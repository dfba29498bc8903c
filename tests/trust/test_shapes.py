"""Text of any shape passes each step; `tests/bench/test_shapes.py` measures the time that it takes."""

from __future__ import annotations

import pytest

from tests.trust.shapes import STEPS, seconds, shapes


@pytest.mark.parametrize("step", STEPS)
def test_text_of_any_shape_passes(step: str) -> None:
    assert all(seconds(step, made(300)) >= 0 for _, made in shapes())


def test_there_are_250_shapes() -> None:
    assert len({made(1_000) for _, made in shapes()}) >= 250
