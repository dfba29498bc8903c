"""The source `http`: one GET, within limits of time and size, to addresses that the policy allows.

Every host is resolved first and the connection goes to the checked address, so that a name cannot
point elsewhere in between; each redirect is checked in the same way.
"""

from __future__ import annotations

import http.client
import ipaddress
import re
import socket
import ssl
import time
from urllib.parse import SplitResult, urljoin, urlsplit

from hippocampus.sources.plan import SourcePlan, Unavailable, Wanted

URL_ARGUMENTS = ("url", "uri", "href", "link", "address")
MOST_REDIRECTS = 5
REDIRECTS = frozenset({301, 302, 303, 307, 308})
NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
CHUNK_BYTES = 1 << 16
CHARSET = re.compile(r"charset=[\"']?([\w-]+)", re.IGNORECASE)
TEXT_TYPES = re.compile(r"text/|json|xml|javascript|x-www-form-urlencoded|yaml")
UNPRINTABLE = re.compile(r"[\x00-\x20\x7f]")


def fetch(wanted: Wanted, plan: SourcePlan) -> str:
    """Return the text at the address that a call named.

    Raises:
        Unavailable: the address is not allowed, does not answer in time, or answers no text.

    """
    url = wanted.named(*URL_ARGUMENTS)
    deadline = time.monotonic() + plan.timeout_seconds
    for _ in range(MOST_REDIRECTS + 1):
        found = _get(_checked(url), plan, deadline)
        if not found.location:
            return found.text
        url = urljoin(url, found.location)
    raise Unavailable(f"{url} leads from one address to the next more than {MOST_REDIRECTS} times")


class _Answer:
    """What an address answered: a text, or where else to look."""

    def __init__(self, text: str = "", location: str = "") -> None:
        self.text = text
        self.location = location


def _checked(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        has_host = bool(parts.hostname) and parts.port != 0
    except ValueError as wrong:
        raise Unavailable(f"{url[:100]!r} is no address: {wrong}") from wrong
    if parts.scheme not in ("http", "https") or not has_host or UNPRINTABLE.search(url):
        raise Unavailable(f"{url[:100]!r} is no address of http or https")
    if parts.username or parts.password:
        raise Unavailable("addresses with a user's name or password are not asked")
    return parts


def _get(parts: SplitResult, plan: SourcePlan, deadline: float) -> _Answer:
    host = parts.hostname or ""
    if plan.hosts and host not in plan.hosts:
        raise Unavailable(f"the host {host} is not among those that the policy allows")
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        address = _address(host, port, allow_private=plan.allow_private)
        connection = _Pinned(host, port, address, _left(deadline), tls=parts.scheme == "https")
        try:
            return _ask(connection, parts, plan, deadline)
        finally:
            connection.close()
    except (OSError, http.client.HTTPException) as failure:
        raise Unavailable(f"{host} does not answer: {failure}") from failure


def _address(host: str, port: int, *, allow_private: bool) -> str:
    """Return the address to connect to; where one of a host's is private, none is taken."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = [str(each[4][0]) for each in found]
    private = [each for each in addresses if not _is_public(each)]
    if not addresses or (private and not allow_private):
        raise Unavailable(f"{host} is an address of this machine or its networks")
    return addresses[0]


def _is_public(address: str) -> bool:
    """Say whether an address, or the older one that it carries inside, is of the open network."""
    parsed = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(parsed, ipaddress.IPv6Address):
        inner = parsed.ipv4_mapped or parsed.sixtofour
        if parsed in NAT64:
            inner = ipaddress.IPv4Address(int(parsed) & 0xFFFFFFFF)
        if inner is not None:
            return inner.is_global and not inner.is_multicast
        return parsed.is_global and not parsed.is_multicast and parsed.teredo is None
    return parsed.is_global and not parsed.is_multicast


class _Pinned(http.client.HTTPConnection):
    """A connection to one checked address, under the host's name."""

    def __init__(self, host: str, port: int, address: str, seconds: float, *, tls: bool) -> None:
        super().__init__(host, port, timeout=seconds)
        self._address = address
        self._tls = tls

    def connect(self) -> None:
        """Connect to the address that was checked."""
        plain = socket.create_connection((self._address, self.port), self.timeout)
        if self._tls:
            context = ssl.create_default_context()
            self.sock = context.wrap_socket(plain, server_hostname=self.host)
        else:
            self.sock = plain


def _ask(connection: _Pinned, parts: SplitResult, plan: SourcePlan, deadline: float) -> _Answer:
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    default = 443 if parts.scheme == "https" else 80
    named = parts.hostname or ""
    named = f"[{named}]" if ":" in named else named
    host = named if parts.port in (None, default) else f"{named}:{parts.port}"
    headers = {"Host": host, "Accept": "text/*, application/json, */*;q=0.1"}
    connection.request("GET", target, headers={**headers, "Accept-Encoding": "identity"})
    answer = connection.getresponse()
    if answer.status in REDIRECTS and (location := answer.getheader("Location")):
        return _Answer(location=location)
    if answer.status != http.client.OK:
        raise Unavailable(f"{parts.hostname} answers with status {answer.status}")
    kind = answer.getheader("Content-Type") or "text/plain"
    if not TEXT_TYPES.search(kind.lower()):
        raise Unavailable(f"{parts.hostname} answers {kind.partition(';')[0]}, which is no text")
    return _Answer(_text(_body(answer, connection, plan, deadline), kind))


def _body(
    answer: http.client.HTTPResponse, connection: _Pinned, plan: SourcePlan, deadline: float
) -> bytes:
    """Read an answer in pieces, so that neither a slow nor an endless one is waited for."""
    data = bytearray()
    while True:
        if connection.sock is not None:
            connection.sock.settimeout(_left(deadline))
        _left(deadline)
        piece = answer.read1(CHUNK_BYTES)
        if not piece:
            return bytes(data)
        data += piece
        if len(data) > plan.largest_bytes:
            raise Unavailable(f"the answer is larger than {plan.largest_bytes:,} bytes")


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise Unavailable("the answer took too long")
    return left


def _text(body: bytes, kind: str) -> str:
    named = CHARSET.search(kind)
    try:
        return body.decode(named[1] if named else "utf-8")
    except (LookupError, UnicodeDecodeError):
        return body.decode("utf-8", "replace")
