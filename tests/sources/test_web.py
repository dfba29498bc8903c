"""The source `http`, against a real server on loopback: limits, redirects, private addresses."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from hippocampus.sources import SourcePlan, Unavailable, Wanted
from hippocampus.sources.web import _is_public, fetch


class Handler(BaseHTTPRequestHandler):
    """Answers by path."""

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path.startswith("/to/"):
            self.send_response(302)
            self.send_header("Location", self.path.removeprefix("/to/"))
            self.end_headers()
            return
        if path == "/gone":
            self.send_error(404)
            return
        kind = {"/png": "image/png", "/latin": "text/html; charset=latin-1"}.get(path, "text/plain")
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.answer(path)

    def answer(self, path: str) -> None:
        try:
            if path == "/endless":
                while True:
                    self.wfile.write(b"x" * 65_536)
            if path == "/slow":
                for _ in range(100):
                    self.wfile.write(b"x")
                    self.wfile.flush()
                    time.sleep(0.1)
            self.wfile.write(
                "é".encode("latin-1") if path == "/latin" else f"hello {self.path}".encode()
            )
        except OSError:
            pass

    def log_message(self, *_arguments: object) -> None:
        pass


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    made = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.daemon_threads = True
    threading.Thread(target=made.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{made.server_port}"
    made.shutdown()
    made.server_close()


LOCAL = SourcePlan(allow_private=True, timeout_seconds=1.0, largest_bytes=200_000)


def get(url: str, plan: SourcePlan = LOCAL) -> str:
    return fetch(Wanted("web_fetch", {"url": url}), plan)


def test_a_text_is_fetched(server: str) -> None:
    assert get(f"{server}/a?b=c") == "hello /a?b=c"
    assert get(f"{server}/latin") == "é"
    assert get(f"{server}/to//a") == "hello /a"


def test_private_addresses_are_refused_unless_allowed(server: str) -> None:
    for url in (
        server,
        server.replace("127.0.0.1", "localhost"),
        server.replace("127.0.0.1", "0x7f.1"),
    ):
        with pytest.raises(Unavailable):
            get(url, SourcePlan())


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.1.2.3", "169.254.169.254", "192.168.0.1", "100.64.0.1", "0.0.0.0", "224.0.0.1",
     "::1", "fe80::1%eth0", "fd00::1", "::ffff:127.0.0.1", "64:ff9b::a00:1", "2002:7f00:1::1", "::"],
)  # fmt: skip
def test_addresses_of_this_machine_and_its_networks_are_known(address: str) -> None:
    assert not _is_public(address)


@pytest.mark.parametrize("address", ["1.1.1.1", "2606:4700:4700::1111", "::ffff:1.1.1.1"])
def test_public_addresses_are_known(address: str) -> None:
    assert _is_public(address)


def test_each_redirect_is_checked(server: str) -> None:
    with pytest.raises(Unavailable, match="no address of http"):
        get(f"{server}/to/file:///etc/passwd")
    plan = SourcePlan(allow_private=True, hosts=("127.0.0.1",))
    with pytest.raises(Unavailable, match="not among those"):
        get(f"{server}/to/{server.replace('127.0.0.1', 'localhost')}/a", plan)
    with pytest.raises(Unavailable, match="more than 5 times"):
        get(f"{server}/to/" * 7 + server)


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/gone", "404"),
        ("/png", "no text"),
        ("/endless", "larger than"),
        ("/slow", "too long|timed out"),
    ],
)
def test_limits_end_a_fetch(server: str, path: str, told: str) -> None:
    started = time.monotonic()
    with pytest.raises(Unavailable, match=told):
        get(server + path)
    assert time.monotonic() - started < 3


@pytest.mark.parametrize(
    "url",
    ["file:///etc/passwd", "ftp://x/", "http://", "http://u:p@127.0.0.1/", "gopher://x", "http://a b/",
     "http://[::1", "http://x:99999/", "http://127.0.0.1/\r\nX: y", "http://127.0.0.1:1/", "http://nohost.invalid/"],
)  # fmt: skip
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(Unavailable):
        get(url)
