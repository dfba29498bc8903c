"""Memories of one state directory, closed at a test's end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from consolidation.said import Make
from conversations import PROMPT

from hippocampus import Hippocampus


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """Makes memories of one state directory, and closes them."""
    made: list[Hippocampus] = []

    def one(**options: Any) -> Hippocampus:
        made.append(Hippocampus(tmp_path / "state", **{"policy": PROMPT, **options}))
        return made[-1]

    yield one
    for memory in made:
        memory.close()
