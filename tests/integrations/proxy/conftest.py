"""What the tests of the proxy share: a deadline that a loaded machine keeps."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a loaded machine take its time, where a test sets no deadline of its own."""
    monkeypatch.setattr("hippocampus.integrations.proxy.service.DEADLINE_SECONDS", 30.0)
