"""Memories of one state, closed at a test's end."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from consolidation.said import Make
from conversations import PROMPT

from hippocampus import Hippocampus


@pytest.fixture
def engine() -> str:
    """Where the state is: a module that names both runs on both."""
    return "directory"


@pytest.fixture
def make(tmp_path: Path, engine: str, request: pytest.FixtureRequest) -> Iterator[Make]:
    """Makes memories of one state directory, or of one tenant of a server, and closes them."""
    made: list[Hippocampus] = []
    named: dict[str, Any] = {"state_dir": tmp_path / "state"}
    if engine == "server":
        address = request.getfixturevalue("postgres").address
        named = {"state_dir": address, "tenant": uuid.uuid4().hex, "deadline_seconds": 60.0}
        request.getfixturevalue("monkeypatch").setattr(
            "hippocampus.storage.postgres.Connections.patience_seconds", 60.0
        )

    def one(**options: Any) -> Hippocampus:
        made.append(Hippocampus(**{"policy": PROMPT, **named, **options}))
        return made[-1]

    yield one
    for memory in made:
        memory.close()
