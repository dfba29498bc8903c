"""The source `http`, against a real server on loopback: limits, redirects, private addresses."""

from __future__ import annotations

import contextlib
import gc
import gzip
import socket
import threading
import time
import warnings
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from hippocampus.policy import Refetch
from hippocampus.recall.sources import FetchRequest, Unavailable
from hippocampus.recall.web import _is_public, _Pinned, read_url

KINDS = {
    "/png": "image/png",
    "/latin": "text/html; charset=latin-1",
    "/quoted": 'text/html; a="charset=ascii"; charset="ISO-8859-15"',
    "/no-such-charset": "text/plain; charset=klingon",
    "/punycode": "text/plain; charset=punycode",
    "/undefined": "text/plain; charset=undefined",
    "/wrong": "text/plain; charset=ascii",
}
BODIES = {
    "/latin": "é".encode("latin-1"),
    "/quoted": "€".encode("iso-8859-15"),
    "/no-such-charset": "é".encode(),
    "/punycode": b"a-" + b"b" * 150_000,
    "/undefined": "é".encode(),
    "/wrong": "é".encode(),
    "/packed": gzip.compress(b"0" * 10_000_000),
}


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
        self.send_response(200)
        self.send_header("Content-Type", KINDS.get(path, "text/plain"))
        if path == "/packed":
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        self.answer(path)

    def answer(self, path: str) -> None:
        try:
            if path == "/endless":
                while True:
                    self.wfile.write(b"x" * 65_536)
            if path == "/slow":
                for _ in range(400):
                    self.wfile.write(b"x")
                    self.wfile.flush()
                    time.sleep(0.1)
            self.wfile.write(BODIES.get(path) or f"hello {self.path}".encode())
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


LOCAL = Refetch(type="http", allow_private=True, timeout_seconds=20.0, largest_bytes=200_000)
HASTY = LOCAL.model_copy(update={"timeout_seconds": 0.3})


def get(url: str, plan: Refetch = LOCAL) -> str:
    return read_url(FetchRequest("web_fetch", {"url": url}), plan)


def test_a_text_is_fetched(server: str) -> None:
    assert get(f"{server}/a?b=c") == "hello /a?b=c"
    assert get(f"{server}/latin") == "é"
    assert get(f"{server}/to//a") == "hello /a"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/quoted", "€"),
        ("/no-such-charset", "é"),
        ("/undefined", "é"),
        ("/wrong", "\ufffd\ufffd"),
        ("/punycode", "a-" + "b" * 150_000),
    ],
)
def test_an_odd_charset_gives_a_text_at_once(server: str, path: str, text: str) -> None:
    assert get(server + path) in {text, "é"}


def test_an_address_in_other_scripts_is_asked_in_its_ascii_form(server: str) -> None:
    assert get(f"{server}/grüße?q=ü") == "hello /gr%C3%BC%C3%9Fe?q=%C3%BC"
    assert get(f"{server}/a%20b") == "hello /a%20b"
    with pytest.raises(Unavailable, match=r"xn--bcher-kva\.invalid does not answer"):
        get("http://bücher.invalid/")
    with pytest.raises(Unavailable, match="not a host name"):
        get(f"http://{'ü' * 80}/")


def test_hosts_are_compared_without_case(server: str) -> None:
    plan = Refetch(type="http", allow_private=True, hosts=("LocalHost",))
    assert get(f"{server.replace('127.0.0.1', 'LOCALHOST')}/a", plan) == "hello /a"


def drip(opening: bytes) -> tuple[str, socket.socket]:
    """A server that goes on with the first lines of its answer byte by byte, and never ends them."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with contextlib.suppress(OSError):
            connection, _ = listening.accept()
            with connection:
                connection.sendall(opening)
                while True:
                    connection.sendall(b"a")
                    time.sleep(0.05)

    threading.Thread(target=serve, daemon=True).start()
    return f"http://127.0.0.1:{listening.getsockname()[1]}/", listening


@pytest.mark.parametrize(
    "opening",
    [b"", b"HTTP/1.1 200 ", b"HTTP/1.1 200 OK\r\nX: ",
     b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", b"HTTP/1.1 100 Continue\r\nX: "],
)  # fmt: skip
def test_an_answer_that_drips_ends_in_time(opening: bytes) -> None:
    url, listening = drip(opening)
    with listening, pytest.raises(Unavailable, match="too long"):
        get(url, HASTY)


def test_no_connection_is_left_open(server: str) -> None:
    gc.collect()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for path in ("/a", "/png", "/gone", "/endless", "/to//a", "/packed"):
            with contextlib.suppress(Unavailable):
                get(server + path)
        gc.collect()
    assert [each for each in told if issubclass(each.category, ResourceWarning)] == []


def test_the_checked_address_is_asked_and_the_name_not_looked_up_again(server: str) -> None:
    """The name here cannot be looked up at all."""
    port = int(server.rpartition(":")[2])
    connection = _Pinned("rebinding.invalid", port, "127.0.0.1", time.monotonic() + 1, tls=False)
    with contextlib.closing(connection):
        connection.request("GET", "/a")
        with connection.getresponse() as answer:
            assert answer.read() == b"hello /a"


def test_private_addresses_are_refused_unless_allowed(server: str) -> None:
    for url in (
        server,
        server.replace("127.0.0.1", "localhost"),
        server.replace("127.0.0.1", "0x7f.1"),
    ):
        with pytest.raises(Unavailable):
            get(url, Refetch(type="http"))


def test_addresses_of_this_machine_and_its_networks_are_known() -> None:
    private = [
        "127.0.0.1", "10.1.2.3", "169.254.169.254", "192.168.0.1", "100.64.0.1", "0.0.0.0", "224.0.0.1",
        "::1", "::127.0.0.1", "fec0::1", "64:ff9b:1::a00:1", "fe80::1%eth0", "fd00::1", "::ffff:127.0.0.1", "64:ff9b::a00:1", "2002:7f00:1::1", "::",
    ]  # fmt: skip
    public = ["1.1.1.1", "2606:4700:4700::1111", "::ffff:1.1.1.1"]
    assert list(filter(_is_public, [*private, *public])) == public


def test_each_redirect_is_checked(server: str) -> None:
    with pytest.raises(Unavailable, match="not a URL of http"):
        get(f"{server}/to/file:///etc/passwd")
    plan = Refetch(type="http", allow_private=True, hosts=("127.0.0.1",))
    with pytest.raises(Unavailable, match="not among those"):
        get(f"{server}/to/{server.replace('127.0.0.1', 'localhost')}/a", plan)
    with pytest.raises(Unavailable, match="more than 5 times"):
        get(f"{server}/to/" * 7 + server)
    with pytest.raises(Unavailable, match="redirects to an invalid URL"):
        get(f"{server}/to/http://[::1")


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/gone", "404"),
        ("/png", "not text"),
        ("/packed", "packed as gzip"),
        ("/endless", "larger than"),
        ("/slow", "too long"),
    ],
)
def test_limits_end_a_fetch(server: str, path: str, told: str) -> None:
    with pytest.raises(Unavailable, match=told):
        get(server + path, HASTY if path == "/slow" else LOCAL)


@pytest.mark.parametrize(
    "url",
    ["file:///etc/passwd", "ftp://x/", "http://", "http://u:p@127.0.0.1/", "gopher://x", "http://a b/",
     "http://[::1", "http://x:99999/", "http://127.0.0.1/\r\nX: y", "http://127.0.0.1:1/", "http://nohost.invalid/"],
)  # fmt: skip
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(Unavailable):
        get(url)
