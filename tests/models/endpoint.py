"""A model's endpoint on loopback: answers as scripted, and notes each request whole."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Asked:
    """One request as it arrived."""

    path: str
    headers: dict[str, str]
    body: Any


@dataclass
class Answer:
    """One answer: a value is sent as JSON, bytes as they are."""

    value: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    wait: threading.Event | None = None
    """Held back until this is set."""
    pause_seconds: float = 0.0
    """Between two bytes."""
    drop: bool = False
    """The connection ends without an answer."""


@dataclass
class Server:
    """Where the endpoint is, and what it was asked so far."""

    address: str
    asked: list[Asked]


@contextmanager
def endpoint(answer: Callable[[Asked], Answer]) -> Iterator[Server]:
    """Serve `answer` under `/v1` on a free port."""
    asked: list[Asked] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append(Asked(self.path, dict(self.headers), body))
            self._send(answer(asked[-1]))

        def do_GET(self) -> None:
            asked.append(Asked(self.path, dict(self.headers), None))
            self._send(Answer({}))

        def _send(self, told: Answer) -> None:
            if told.wait is not None:
                told.wait.wait(30)
            if told.drop:
                self.connection.close()
                return
            text = told.value if isinstance(told.value, bytes) else json.dumps(told.value).encode()
            try:
                self.send_response(told.status)
                for name, value in told.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                step = 1 if told.pause_seconds else len(text) or 1
                for at in range(0, len(text), step):
                    self.wfile.write(text[at : at + step])
                    time.sleep(told.pause_seconds)
            except OSError:
                """Whoever asked has gone."""

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield Server(f"http://127.0.0.1:{server.server_port}/v1", asked)
    finally:
        server.shutdown()
        server.server_close()
