"""The MCP server over streamable HTTP: its endpoint, and the memory that a token reaches."""

from __future__ import annotations

import hmac
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from mcp.server import Server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from hippocampus.integrations.web import LOOPBACK, refused

CHALLENGE = {"WWW-Authenticate": "Bearer"}


def app(servers: Mapping[str, Server[Any]], host: str) -> Starlette:
    """Return servers over streamable HTTP: `/mcp`, and `/health`, which needs no token.

    `servers` are by the bearer tokens of their clients: a token is one agent, and the sessions of one
    server are of no other. The token "" is that of a client without any, which is
    served on loopback only. An `Origin` has to be of this machine or of the host that is served, so
    that no web page reaches the memory.

    Raises:
        ValueError: another machine could reach it, and there is no token.
    """
    is_local = host in LOOPBACK or host == "[::1]"
    if not is_local and "" in servers:
        raise ValueError(
            f"{host} can be reached from other machines: set HIPPOCAMPUS_MCP_TOKEN to a secret that "
            "clients send as a bearer token, or serve 127.0.0.1"
        )
    unguarded = TransportSecuritySettings(enable_dns_rebinding_protection=False)  # `refused` guards
    inner = {
        token: found.streamable_http_app(host=host, transport_security=unguarded)
        for token, found in servers.items()
    }

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncGenerator[None]:
        async with AsyncExitStack() as running:
            for served in inner.values():
                await running.enter_async_context(served.router.lifespan_context(served))
            yield

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        given = headers.get("authorization", "").encode()
        served = [
            found
            for token, found in inner.items()
            if not token or hmac.compare_digest(given, f"Bearer {token}".encode())
        ]
        answer: ASGIApp = PlainTextResponse("the bearer token is missing or wrong", 401, CHALLENGE)
        if served:
            wrong = refused(headers, serves_pages=True, is_local=is_local)
            answer = PlainTextResponse(wrong[1], wrong[0]) if wrong else served[0]
        await answer(scope, receive, send)

    health = Route("/health", lambda _: JSONResponse({"status": "ok"}), methods=["GET"])
    return Starlette(routes=[health, Mount("/", guarded)], lifespan=lifespan)
