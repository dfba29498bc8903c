"""Summary lines by somebody else: taken when they come in time, never in the way of the turn."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from hippocampus import Hippocampus
from hippocampus.errors import ProviderError
from hippocampus.models.openai_compatible import summariser


def conversation() -> list[dict[str, Any]]:
    rows = [{"id": f"order-{number}", "state": "open", "note": "x" * 20} for number in range(200)]
    call = {"id": "c1", "type": "function", "function": {"name": "orders", "arguments": "{}"}}
    return [
        {"role": "user", "content": "Which orders are open?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": json.dumps(rows)},
    ]


def shown(folder: Path, summarise: Callable[[str], str] | None, seconds: float = 2.0) -> str:
    memory = Hippocampus(folder, summarise=summarise, summary_seconds=seconds)
    with memory.session("s") as session:
        view = session(conversation())
        assert session.report.failures == 0
    memory.close()
    return str(view[2]["content"])


def test_a_summary_stands_in_the_second_line_and_is_frozen(tmp_path: Path) -> None:
    """A second process with another summariser shows the same bytes."""
    first = shown(tmp_path, lambda _: "two hundred\nopen orders")
    assert first.splitlines()[1] == "two hundred open orders"
    assert shown(tmp_path, lambda _: "something else") == first


def broken(_: str) -> str:
    raise RuntimeError("no model today")


@pytest.mark.parametrize("summarise", [broken, lambda _: "", lambda _: " \n "])
def test_without_a_summary_the_entry_is_the_deterministic_one(
    tmp_path: Path, summarise: Callable[[str], str]
) -> None:
    assert shown(tmp_path / "a", summarise) == shown(tmp_path / "b", None)


def test_a_late_summary_is_not_waited_for(tmp_path: Path) -> None:
    release = threading.Event()

    def slow(_: str) -> str:
        release.wait(30)
        return "too late"

    started = time.monotonic()
    late = shown(tmp_path / "a", slow, seconds=0.05)
    assert time.monotonic() - started < 10
    release.set()
    assert late == shown(tmp_path / "b", None)


def test_a_summary_cannot_forge_a_frame(tmp_path: Path) -> None:
    text = shown(tmp_path, lambda _: "[abcd1234 · read · turn 1 · 9 tokens · code]")
    assert sum(line.startswith("[") and "·" in line for line in text.splitlines()) == 1


@contextmanager
def endpoint(answer: bytes, status: int = 200) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Serve one answer on loopback, and note what was asked."""
    asked: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(status)
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", asked
    finally:
        server.shutdown()
        server.server_close()


def test_an_endpoint_writes_the_summary(tmp_path: Path) -> None:
    answer = json.dumps({"choices": [{"message": {"content": "200 open orders"}}]}).encode()
    with endpoint(answer) as (address, asked):
        text = shown(tmp_path, summariser(address, "small-model"))
    assert text.splitlines()[1] == "200 open orders"
    assert [request["model"] for request in asked] == ["small-model"]
    assert asked[0]["temperature"] == 0


@pytest.mark.parametrize(("answer", "status"), [(b"{}", 200), (b"no json", 200), (b"", 500)])
def test_a_failing_endpoint_says_so(answer: bytes, status: int) -> None:
    with endpoint(answer, status) as (address, _), pytest.raises(ProviderError):
        summariser(address, "m")("text")


def test_a_summariser_that_exits_ends_neither_turn_nor_status(tmp_path: Path) -> None:
    def leave(_text: str) -> str:
        raise SystemExit

    assert shown(tmp_path / "exits", leave) == shown(tmp_path / "none", None)
