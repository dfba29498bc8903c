"""What the tests of every framework share: the program on its page, run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from integrations import scenario

ResultsChecker = Callable[..., None]
PageRunner = Callable[[str, Callable[[Any], Any], str], None]


@pytest.fixture(scope="module", autouse=True)
def no_authorities() -> Iterator[None]:
    """Let no client read a file of certificates, which takes 25 ms: all servers are on loopback."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("SSL_CERT_FILE", raising=False)
        patch.setenv("SSL_CERT_DIR", str(Path(__file__).parent))
        yield


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


@pytest.fixture
def check_results(
    monkeypatch: pytest.MonkeyPatch, state: Path, caplog: pytest.LogCaptureFixture
) -> ResultsChecker:
    """Checks what a model is sent of all that tools return, where a function writes its messages."""

    def check(written_by: str, ask: scenario.Ask, more: dict[str, Any] | None = None) -> None:
        sent: list[str] = []

        def record(messages: Any, *_: Any) -> list[Any]:
            sent.append(repr([*scenario.leaves(messages)]))
            return []

        monkeypatch.setattr(written_by, record)
        scenario.check_results(state, sent, ask, more or {})
        assert "sending the messages as they are" not in caplog.text

    return check
