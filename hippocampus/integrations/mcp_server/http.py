"""The MCP server over streamable HTTP: its endpoint, its token, and who may ask."""

from __future__ import annotations

import hmac
from typing import Any
from urllib.parse import urlsplit

from mcp.server import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def app(found: MCPServer[Any], host: str, token: str = "") -> ASGIApp:
    """Return the server over streamable HTTP: `/mcp`, and `/health`, which needs no token.

    Without a token, only loopback may be served. An `Origin` has to be of this machine or of the
    host that is served, so that no web page reaches the memory.

    Raises:
        ValueError: another machine could reach it, and there is no token.

    """
    is_local = host in LOOPBACK or host == "::1"
    if not is_local and not token:
        raise ValueError(
            f"{host} can be reached from other machines: set HIPPOCAMPUS_MCP_TOKEN to a secret that "
            "clients send as a bearer token, or serve 127.0.0.1"
        )

    async def health(_request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    found.custom_route("/health", methods=["GET"])(health)
    security = TransportSecuritySettings(
        enable_dns_rebinding_protection=is_local,
        allowed_hosts=[f"{name}:*" for name in LOOPBACK],
        allowed_origins=[
            f"{scheme}://{name}:*" for scheme in ("http", "https") for name in LOOPBACK
        ],
    )
    inner = found.streamable_http_app(host=host, transport_security=security)
    return _Guard(inner, token)


class _Guard:
    """Checks the bearer token and the origin of each request but those for `/health`."""

    def __init__(self, inner: ASGIApp, token: str) -> None:
        self._inner = inner
        self._wanted = f"Bearer {token}".encode() if token else b""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = None
        if scope["type"] == "http" and scope["path"] != "/health":
            refusal = self._refusal(Headers(scope=scope))
        await (refusal or self._inner)(scope, receive, send)

    def _refusal(self, headers: Headers) -> Response | None:
        given = headers.get("authorization", "").encode()
        if self._wanted and not hmac.compare_digest(given, self._wanted):
            challenge = {"WWW-Authenticate": "Bearer"}
            return PlainTextResponse("the bearer token is missing or wrong", 401, challenge)
        origin = urlsplit(headers.get("origin", "")).hostname
        own = urlsplit(f"//{headers.get('host', '')}").hostname
        if origin not in (None, "127.0.0.1", "localhost", "::1", own):
            return PlainTextResponse("requests of this origin are not served", 403)
        return None
