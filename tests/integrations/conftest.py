"""What the tests of every framework share: the program on its page, run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from integrations import scenario

PageRunner = Callable[[str, Callable[[Any], Any], str], None]


@pytest.fixture
def run_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> PageRunner:
    """Runs the program on a page with a framework's scripted model in place of an expression."""
    monkeypatch.chdir(tmp_path)

    def run(name: str, model: Callable[[Any], Any], written: str) -> None:
        mind = scenario.mind(*scenario.PAGE_SCRIPT)
        scenario.run_page(name, model(mind), written)
        assert "Order A-417 is late." in capsys.readouterr().out
        assert "A-417" in mind.requests[-1][-1]["content"]

    return run
