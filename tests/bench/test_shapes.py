"""Text of any shape takes linear time, whatever a tool returns: indexed, redacted, shortened."""

from __future__ import annotations

import json
from collections.abc import Callable
from time import process_time

import pytest

from hippocampus.indexing.arguments import shorten
from hippocampus.models import tokens
from tests.trust.shapes import BAR_SECONDS, STEPS, seconds, shapes

SMALL, LARGE = 20_000, 80_000
NOISE_SECONDS = 0.1
"""What a small text may take besides: all lines of up to 6,000 are read one by one."""
LINEAR = 2.0


@pytest.mark.parametrize(("name", "made"), [*shapes()], ids=[name for name, _ in shapes()])
def test_a_text_of_any_shape_takes_linear_time(name: str, made: Callable[[int], str]) -> None:
    tokens.count("the vocabulary is read once")
    small, large = made(SMALL), made(LARGE)
    for step in STEPS:
        before = seconds(step, small)
        bar = min(BAR_SECONDS * len(large) / 1e6, LINEAR * before * len(large) / len(small))
        assert seconds(step, large) < NOISE_SECONDS + bar, (step, name)


def test_a_command_of_many_here_documents_is_shortened_in_linear_time() -> None:
    small, large = (json.dumps({"command": "cat <<A\n" * count}) for count in (2_000, 8_000))
    before = process_time()
    shorten(small, "[abcdefgh · 9 tokens]")
    middle = process_time()
    shorten(large, "[abcdefgh · 9 tokens]")
    assert process_time() - middle < NOISE_SECONDS + 4 * LINEAR * (middle - before)
