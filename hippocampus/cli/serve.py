"""`hippocampus mcp` and `hippocampus proxy`: servers of a memory."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from hippocampus.cli.options import DEFAULT_STATE, PolicyName, StateAddress, TenantName, fail

if TYPE_CHECKING:
    from hippocampus.session.observer import Observer

TOKEN = "HIPPOCAMPUS_MCP_TOKEN"  # noqa: S105 - the name of a variable
GRACE_SECONDS = 3
"""How long a server that is stopped waits for answers that are under way."""
INSTALL_MCP = (
    'the MCP server needs: pip install "hippocampus-context[mcp]"; or, where a framework such as '
    'CrewAI needs an older mcp, its own environment: pipx install "hippocampus-context[mcp]"'
)
INSTALL_OTEL = 'spans and metrics need: pip install "hippocampus-context[otel]"'
INSTALL_PROXY = 'the proxy needs: pip install "hippocampus-context[proxy]"'


def mcp(  # noqa: PLR0913, PLR0917 - one parameter an option
    state_dir: StateAddress = str(DEFAULT_STATE),
    tenant: TenantName = "",
    transport: Annotated[
        Literal["stdio", "http"], typer.Option(envvar="HIPPO_TRANSPORT", help="stdio, or http.")
    ] = "stdio",
    host: Annotated[str, typer.Option(help="The address that http listens on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(envvar="HIPPO_PORT", help="The port of http.")] = 3100,
    profile: Annotated[
        Literal["hippocampus", "recall", "hippo", "scriptling"],
        typer.Option(help="The tools: ours, recall alone, or those of another memory."),
    ] = "hippocampus",
    agent: Annotated[str, typer.Option(envvar="HIPPOCAMPUS_AGENT", help="Whose memory.")] = "",
    policy: PolicyName = "default",
    tokens: Annotated[
        Path | None,
        typer.Option(
            help="A file of bearer tokens for http, one a line with the name of its agent."
        ),
    ] = None,
) -> None:
    """Serve the memory to MCP clients; with http, HIPPOCAMPUS_MCP_TOKEN is the bearer token."""
    try:
        from hippocampus.integrations import mcp_server
    except ImportError as missing:
        if (missing.name or "").split(".")[0] not in {"mcp", "mcp_types", "starlette"}:
            raise
        fail(INSTALL_MCP)
    from hippocampus.cli.memory_store import OWN_AGENT, opened
    from hippocampus.memory import Hippocampus
    from hippocampus.storage.state import NO_FACTS, DirectoryState, state_of

    state, facts = state_of(state_dir, tenant), None
    with contextlib.ExitStack() as closing:
        if isinstance(state, DirectoryState):
            path = state.layout.database
            facts = closing.enter_context(opened(path, agent or OWN_AGENT, models=True))
        elif profile != "recall":
            fail(f"{NO_FACTS}; its tool is that of --profile recall")
        memory = Hippocampus(state, policy=policy, agent=agent, observers=_observers())
        closing.callback(memory.close)
        if transport == "stdio":
            mcp_server.server(mcp_server.Tools(state, memory, facts, agent), profile).run("stdio")
            return
        import uvicorn

        try:
            agents = _agents_of(tokens) if tokens else {os.environ.get(TOKEN, ""): agent}
            servers = {
                token: mcp_server.server(
                    mcp_server.Tools(state, memory, facts, name, is_alone=tokens is None), profile
                )
                for token, name in agents.items()
            }
            app = mcp_server.app(servers, host)
        except (OSError, ValueError) as refused:
            fail(str(refused))
        uvicorn.run(
            app, host=host, port=port, log_level="warning",
            timeout_graceful_shutdown=GRACE_SECONDS,
        )  # fmt: skip


def _observers() -> list[Observer]:
    """Return what sends to the collector that OTEL_EXPORTER_OTLP_ENDPOINT, or one like it, names."""
    if not any(name.startswith("OTEL_EXPORTER_OTLP_") for name in os.environ):
        return []
    try:
        from hippocampus.integrations.telemetry import exporting
    except ImportError as missing:
        if (missing.name or "").split(".")[0] != "opentelemetry":
            raise
        typer.echo(f"hippocampus: {INSTALL_OTEL}", err=True)
        return []
    return [exporting()]


def _agents_of(path: Path) -> dict[str, str]:
    """Return the agents that a file names, by their tokens.

    Raises:
        OSError: the file cannot be read.
        ValueError: a line is not a token and the name of an agent.

    """
    from hippocampus.storage.facts.models import EVERY_AGENT

    lines = [line.split(None, 1) for line in path.read_text("utf-8").splitlines() if line.strip()]
    if not lines or any(len(line) < 2 or line[1].strip() == EVERY_AGENT for line in lines):
        raise ValueError(f"{path}: each line has to be a token and the name of its agent")
    return {token: name.strip() for token, name in lines}


def proxy(  # noqa: PLR0913, PLR0917 - one parameter an option
    upstream: Annotated[str, typer.Option(help="The provider, such as https://api.anthropic.com.")],
    state_dir: StateAddress = str(DEFAULT_STATE),
    tenant: TenantName = "",
    policy: PolicyName = "default",
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen on.")] = 8787,
    timeout: Annotated[
        float, typer.Option(help="How many seconds the provider may send nothing.")
    ] = 600.0,
    caller_header: Annotated[
        str, typer.Option(help="The header in which callers with one key differ, as X-Tenant.")
    ] = "",
    tenant_header: Annotated[
        str,
        typer.Option(
            help="On a server, the header that names a request's tenant; without it and --tenant, a "
            "hash of the request's key does."
        ),
    ] = "",
) -> None:
    """Pass an agent's requests on to its provider, with the views of its conversations."""
    try:
        import uvicorn

        from hippocampus.integrations.proxy.app import proxy_app
        from hippocampus.storage.state import is_address
    except ImportError as missing:
        if missing.name not in {"httpx", "prometheus_client", "starlette", "uvicorn"}:
            raise
        fail(INSTALL_PROXY)
    if not upstream.startswith(("https://", "http://")):
        raise typer.BadParameter(f"--upstream {upstream!r} is not the address of a provider")
    if tenant_header and not is_address(state_dir):
        fail("a directory has one tenant: leave out --tenant-header, or name a server")
    if tenant and tenant_header:
        fail("every request is of --tenant: leave out --tenant-header, or --tenant")
    app = proxy_app(
        upstream, state_dir, policy, timeout, caller_header, _observers(), tenant, tenant_header
    )
    address = f"http://{host}:{port}"
    typer.echo(f"hippocampus proxy: {address} for {upstream}", err=True)
    typer.echo(f"its conversations: {address}{app.state.page}", err=True)
    # No log of requests: their addresses may hold keys.
    uvicorn.run(
        app, host=host, port=port, log_level="warning", access_log=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )  # fmt: skip
