"""`hippocampus mcp` and `hippocampus proxy`: servers of a memory."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from typer import Option

from hippocampus.cli.memory_store import OWN_AGENT, opened
from hippocampus.cli.options import DEFAULT_STATE, PolicyName, StateAddress, TenantName, fail
from hippocampus.storage.facts.models import EVERY_AGENT
from hippocampus.storage.state import state_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from hippocampus.session.resources import Observer

TOKEN = "HIPPOCAMPUS_MCP_TOKEN"  # noqa: S105 - the name of a variable
PROXY_KEY = "HIPPOCAMPUS_PROXY_KEY"
GRACE_SECONDS = 1
"""The time that a stopped server gives its open requests."""
IDLE_SECONDS = 75
"""How long a connection without a request stays open: a tool of an agent may take longer than uvicorn's
five seconds, and a request that is sent while its connection is closed is lost."""
INSTALL_MCP = (
    'the MCP server needs: pip install "hippocampus-context[mcp]"; or, where a framework such as '
    'CrewAI needs an older mcp, its own environment: pipx install "hippocampus-context[mcp]"'
)
INSTALL_OTEL = 'spans and metrics need: pip install "hippocampus-context[otel]"'
INSTALL_PROXY = 'the proxy needs: pip install "hippocampus-context[proxy]"'


@contextlib.contextmanager
def _needing(sentence: str, *packages: str) -> Iterator[None]:
    """Import the packages of an extra; if one is missing, fail with the command that installs it."""
    try:
        yield
    except ImportError as missing:
        if (missing.name or "").split(".")[0] not in packages:
            raise
        fail(sentence)


def mcp(  # noqa: PLR0913, PLR0917 - one parameter an option
    state_dir: StateAddress = str(DEFAULT_STATE),
    tenant: TenantName = "",
    transport: Annotated[
        Literal["stdio", "http"], Option(envvar="HIPPO_TRANSPORT", help="stdio, or http.")
    ] = "stdio",
    host: Annotated[str, Option(help="The address that http listens on.")] = "127.0.0.1",
    port: Annotated[int, Option(envvar="HIPPO_PORT", help="The port of http.")] = 3100,
    profile: Annotated[
        Literal["hippocampus", "recall", "hippo", "scriptling"],
        Option(help="The tools: ours, recall alone, or those of another memory."),
    ] = "hippocampus",
    agent: Annotated[str, Option(envvar="HIPPOCAMPUS_AGENT", help="Whose memory.")] = "",
    policy: PolicyName = "default",
    tokens: Annotated[
        Path | None, Option(exists=True, help="A file: a bearer token and its agent a line.")
    ] = None,
) -> None:
    """Serve the memory to MCP clients; with http, HIPPOCAMPUS_MCP_TOKEN is the bearer token."""
    if tokens and transport == "stdio":
        fail("--tokens is for --transport http: over stdio, --agent names whose memory it is")
    with _needing(INSTALL_MCP, "anyio", "mcp", "mcp_types", "starlette"):
        import anyio

        from hippocampus.integrations import mcp_server
    from hippocampus.memory import Hippocampus

    state = state_of(state_dir, tenant)
    with contextlib.ExitStack() as closing:
        facts = closing.enter_context(opened(state, agent or OWN_AGENT))
        memory = Hippocampus(state, policy=policy, agent=agent, observers=_observers())
        closing.callback(memory.close)
        if transport == "stdio":
            tools = mcp_server.Tools(state, memory, facts, agent)
            anyio.run(mcp_server.over_stdio, mcp_server.server(tools, profile))
            return
        agents = _agents_of(tokens) if tokens else {os.environ.get(TOKEN, ""): agent}
        servers = {}
        for token, name in agents.items():
            tools = mcp_server.Tools(state, memory, facts, name, is_alone=tokens is None)
            servers[token] = mcp_server.server(tools, profile)
        try:
            app = mcp_server.app(servers, host)
        except ValueError as refused:
            fail(str(refused))
        _serve(app, host, port, f"hippocampus mcp: http://{host}:{port}/mcp")


def _observers() -> list[Observer]:
    """Return an exporter of spans and metrics if a variable such as OTEL_EXPORTER_OTLP_ENDPOINT is set."""
    if not any(name.startswith("OTEL_EXPORTER_OTLP_") for name in os.environ):
        return []
    with contextlib.suppress(typer.Exit), _needing(INSTALL_OTEL, "opentelemetry"):
        from hippocampus.integrations.telemetry import exporting

        return [exporting()]
    return []


def _agents_of(path: Path) -> dict[str, str]:
    """Return the agents in a file by their tokens; no token has two."""
    try:
        text = path.read_text("utf-8-sig")
    except UnicodeDecodeError as wrong:
        fail(f"{path}: {wrong}")
    lines = [line.split(None, 1) for line in text.splitlines() if line.strip() and line[0] != "#"]
    if not lines or any(len(line) < 2 or line[1].strip() == EVERY_AGENT for line in lines):
        fail(f"{path}: each line has to be a token and the name of its agent")
    agents = {token: name.strip() for token, name in lines}
    if len(agents) < len(lines):
        fail(f"{path}: a token is there twice; each client needs its own")
    return agents


def proxy(  # noqa: PLR0913, PLR0917 - one parameter an option
    upstream: Annotated[str, Option(help="The provider, such as https://api.anthropic.com.")],
    state_dir: StateAddress = str(DEFAULT_STATE),
    tenant: TenantName = "",
    policy: PolicyName = "default",
    host: Annotated[str, Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, Option(help="The port to listen on.")] = 8787,
    timeout: Annotated[float, Option(min=1, help="Seconds the provider may be silent.")] = 600.0,
    tenant_header: Annotated[
        str, Option(help="The header by which callers of one key differ; a server's tenant.")
    ] = "",
) -> None:
    """Pass an agent's requests on to its provider, with the views of its conversations.

    HIPPOCAMPUS_PROXY_KEY is the operator's key of the live page; without it each start has a new one.
    """
    with _needing(INSTALL_PROXY, "httpx2", "prometheus_client", "starlette", "uvicorn"):
        from httpx2 import URL, InvalidURL

        from hippocampus.integrations.proxy.app import Proxy
    try:
        address = URL(upstream)
    except InvalidURL:
        address = URL()
    if address.scheme not in {"https", "http"} or not address.host:
        raise typer.BadParameter(f"--upstream {upstream!r} is not the address of a provider")
    if tenant_header and not re.fullmatch(r"[!#$%&'*+.^_`|~\w-]+", tenant_header, re.ASCII):
        raise typer.BadParameter(f"--tenant-header {tenant_header!r} is not the name of a header")
    if tenant and tenant_header:
        fail("every request is of --tenant: leave out --tenant-header, or --tenant")
    key = os.environ.get(PROXY_KEY, "")
    proxy = Proxy(upstream, state_dir, policy, timeout, _observers(), tenant, tenant_header, key)
    app = proxy.app()
    own = f"http://{host}:{port}"
    text = f"hippocampus proxy: {own} for {upstream}\nits conversations: {own}{app.state.page}"
    _serve(app, host, port, text)


def _serve(app: Any, host: str, port: int, text: str) -> None:
    """Print a text once the port is open, and serve until interrupted."""
    from asyncio import CancelledError

    import uvicorn

    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as refused:
        fail(f"cannot listen on {host}:{port}: {refused}")
    with listening:
        typer.echo(text, err=True)
        # Requests are not logged: their addresses may contain keys.
        config = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            timeout_keep_alive=IDLE_SECONDS,
            timeout_graceful_shutdown=GRACE_SECONDS,
        )
        # That answers under way are ended is one line, and no error of each.
        logging.getLogger("uvicorn.error").addFilter(
            lambda record: not (record.exc_info and isinstance(record.exc_info[1], CancelledError))
        )
        uvicorn.Server(config).run(sockets=[listening])
