"""The source `http`: one GET, within bounds of time and size, to hosts that the policy allows.

Every host is resolved first and the connection goes to the checked address, so that the name cannot
resolve to another address in between; redirects are checked in the same way.
"""

from __future__ import annotations

import codecs
import contextlib
import http.client
import ipaddress
import re
import socket
import ssl
import threading
import time
from urllib.parse import SplitResult, quote, urljoin, urlsplit

from hippocampus.policy.rules import Refetch
from hippocampus.recall.sources import FetchRequest, Unavailable

URL_ARGUMENTS = ("url", "uri", "href", "link", "address")
MAX_REDIRECTS = 5
REDIRECTS = frozenset({301, 302, 303, 307, 308})
NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
CHUNK_BYTES = 1 << 16
SAFE = "!$%&'()*+,/:;=?@[]~"
"""The characters other than letters and digits that a URL may have (RFC 3986, section 2.2)."""
NO_CHARSETS = frozenset({"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape"})
"""Python encodings that no page has; some take time quadratic in the length of the text."""
TEXT_TYPES = re.compile(r"text/|json|xml|javascript|x-www-form-urlencoded|yaml")
TOO_LONG = "the answer took too long"
PLAIN = "identity"
HEADERS = {"Accept": "text/*, application/json, */*;q=0.1", "Accept-Encoding": PLAIN}
UNPRINTABLE = re.compile(r"[\x00-\x20\x7f]")


def read_url(request: FetchRequest, plan: Refetch) -> str:
    """Return the text at the URL that a call names.

    Raises:
        Unavailable: the URL is not allowed, does not answer in time, or does not answer with text.
    """
    url = request.named(*URL_ARGUMENTS)
    deadline = time.monotonic() + plan.timeout_seconds
    for _ in range(MAX_REDIRECTS + 1):
        text, location = _get(_checked(url), plan, deadline)
        if not location:
            return text
        try:
            url = urljoin(url, location)
        except ValueError as wrong:
            raise Unavailable(f"{url[:100]!r} redirects to an invalid URL: {wrong}") from wrong
    raise Unavailable(f"{url} redirects more than {MAX_REDIRECTS} times")


def _checked(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        has_host = bool(parts.hostname) and parts.port != 0
    except ValueError as wrong:
        raise Unavailable(f"{url[:100]!r} is not a URL: {wrong}") from wrong
    if parts.scheme not in ("http", "https") or not has_host or UNPRINTABLE.search(url):
        raise Unavailable(f"{url[:100]!r} is not a URL of http or https")
    if parts.username or parts.password:
        raise Unavailable("URLs with a user name or password are refused")
    return parts


def _get(parts: SplitResult, plan: Refetch, deadline: float) -> tuple[str, str]:
    """Return the text at a URL, or an empty one and the location to which it redirects."""
    host = _ascii_host(parts)
    if plan.hosts and {host, parts.hostname}.isdisjoint(map(str.casefold, plan.hosts)):
        raise Unavailable(f"the host {host} is not among those that the policy allows")
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        address = _address(host, port, allow_private=plan.allow_private)
        connection = _Pinned(host, port, address, _left(deadline), tls=parts.scheme == "https")
        ending = threading.Timer(_left(deadline), connection.end)
        ending.daemon = True
        ending.start()  # a socket's own timeout is of a read, and an answer may come byte by byte
        try:
            return _ask(connection, parts, plan)
        finally:
            ending.cancel()
            connection.close()
            _left(deadline)
    except TimeoutError as late:
        raise Unavailable(TOO_LONG) from late
    except (OSError, http.client.HTTPException) as failure:
        raise Unavailable(f"{host} does not answer: {failure}") from failure


def _ascii_host(parts: SplitResult) -> str:
    """Return the host in ASCII: names in other scripts in their IDNA form."""
    host = parts.hostname or ""
    try:
        return host if host.isascii() else host.encode("idna").decode("ascii")
    except UnicodeError as wrong:
        raise Unavailable(f"{host[:100]!r} is not a host name") from wrong


def _address(host: str, port: int, *, allow_private: bool) -> str:
    """Return the address to connect to; a host with a private address is refused."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = [str(info[4][0]) for info in found]
    private = [address for address in addresses if not _is_public(address)]
    if not addresses or (private and not allow_private):
        raise Unavailable(f"{host} is an address of this machine or its networks")
    return addresses[0]


def _is_public(address: str) -> bool:
    """Return whether an address, or the IPv4 address embedded in it, is public."""
    parsed = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(parsed, ipaddress.IPv6Address):
        inner = parsed.ipv4_mapped or parsed.sixtofour
        if parsed in NAT64:
            inner = ipaddress.IPv4Address(int(parsed) & 0xFFFFFFFF)
        if inner is not None:
            return inner.is_global and not inner.is_multicast
        if parsed.teredo is not None or parsed.is_reserved or parsed.is_site_local:
            return False
    return parsed.is_global and not parsed.is_multicast


class _Pinned(http.client.HTTPConnection):
    """A connection to one checked address, under the host's name."""

    def __init__(self, host: str, port: int, address: str, timeout: float, *, tls: bool) -> None:
        super().__init__(host, port, timeout=timeout)
        self._address = address
        self._tls = tls

    def connect(self) -> None:
        """Connect to the address that was checked."""
        self.sock = socket.create_connection((self._address, self.port), self.timeout)
        if self._tls:
            context = ssl.create_default_context()
            self.sock = context.wrap_socket(self.sock, server_hostname=self.host)
        self._connected = self.sock  # a response without a length takes `sock` away

    def end(self) -> None:
        """End the connection from another thread: whatever waits for it goes on."""
        with contextlib.suppress(OSError, AttributeError):  # there is no socket yet, or no more
            self._connected.shutdown(socket.SHUT_RDWR)


def _ask(connection: _Pinned, parts: SplitResult, plan: Refetch) -> tuple[str, str]:
    target = quote((parts.path or "/") + (f"?{parts.query}" if parts.query else ""), SAFE)
    host = _ascii_host(parts)
    host = f"[{host}]" if ":" in host else host
    if parts.port not in (None, 443 if parts.scheme == "https" else 80):
        host = f"{host}:{parts.port}"
    connection.request("GET", target, headers=HEADERS | {"Host": host})
    with contextlib.closing(connection.getresponse()) as answer:
        if answer.status in REDIRECTS and (location := answer.getheader("Location")):
            return "", location
        if answer.status != http.client.OK:
            raise Unavailable(f"{host} answers with status {answer.status}")
        kind = answer.headers.get("Content-Type", "text/plain").partition(";")[0]
        if not TEXT_TYPES.search(kind.lower()):
            raise Unavailable(f"{host} answers {kind}, which is not text")
        packed = answer.headers.get("Content-Encoding", PLAIN).lower()
        if packed != PLAIN:
            raise Unavailable(f"{host} answers packed as {packed}, which was not asked for")
        data = bytearray()
        while piece := answer.read1(CHUNK_BYTES):  # so that an endless one is refused early
            data += piece
            if len(data) > plan.largest_bytes:
                raise Unavailable(f"the answer is larger than {plan.largest_bytes:,} bytes")
        return _text(bytes(data), answer.headers.get_content_charset("utf-8")), ""


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise Unavailable(TOO_LONG)
    return left


def _text(body: bytes, charset: str) -> str:
    try:
        is_known = codecs.lookup(charset).name not in NO_CHARSETS
        return body.decode(charset if is_known else "utf-8")
    except (LookupError, UnicodeError):
        return body.decode("utf-8", "replace")
