"""Which requests of web pages a server refuses, so that no page of another site reaches a memory."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from urllib.parse import urlsplit

LOOPBACK = ("127.0.0.1", "localhost", "::1")


def refusal(
    headers: Mapping[str, str], *, serves_pages: bool = False, is_local: bool = False
) -> tuple[int, str] | None:
    """Return the status and the reason with which a request is refused, or nothing.

    A browser names the site of the page in `Origin`: it has to be of this machine, or of the server
    itself where that `serves_pages`. Requests of other programs have none. A page whose own name was
    made to lead to this machine has no other origin, so that a server that `is_local` takes no name
    of another machine in `Host`.
    """
    origin = headers.get("origin")
    try:
        site, own = urlsplit(origin or ""), urlsplit(f"//{headers.get('host', '')}")
        host, _ = site.hostname, site.port
    except ValueError:
        return HTTPStatus.BAD_REQUEST, "the origin of the request cannot be read"
    if is_local and own.hostname not in LOOPBACK:
        return HTTPStatus.MISDIRECTED_REQUEST, "requests to this host are not served"
    if origin is None or host in LOOPBACK or (serves_pages and host and host == own.hostname):
        return None
    return HTTPStatus.FORBIDDEN, "requests of this origin are not served"
