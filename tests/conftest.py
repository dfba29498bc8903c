"""What every test shares: the profiles of hypothesis, the quick tests, and a memory on disk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from conversations import EAGER
from hypothesis import HealthCheck, settings

from hippocampus import Hippocampus

settings.register_profile(
    "nightly",
    max_examples=1_000,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.register_profile(
    "few", settings.get_profile("nightly"), max_examples=15, derandomize=True, database=None
)
settings.load_profile("few")


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hippocampus]:
    """A memory that shortens all it can; whatever a module put there is undamaged at its end."""
    made = Hippocampus(tmp_path_factory.mktemp("state"), policy=EAGER)
    yield made
    assert made._store.check() == []
    made.close()


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"
