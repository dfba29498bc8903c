"""`hippocampus mcp`: serves a memory over the Model Context Protocol."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Annotated, Literal

import typer

DEFAULT_STATE = Path(".hippocampus")
TOKEN = "HIPPOCAMPUS_MCP_TOKEN"  # noqa: S105 - the name of a variable
INSTALL = 'the MCP server needs: pip install "hippocampus-context[mcp]"'


def mcp(  # noqa: PLR0913, PLR0917 - one parameter an option
    state_dir: Annotated[Path, typer.Option(help="The state directory.")] = DEFAULT_STATE,
    transport: Annotated[
        Literal["stdio", "http"], typer.Option(envvar="HIPPO_TRANSPORT", help="stdio, or http.")
    ] = "stdio",
    host: Annotated[str, typer.Option(help="The address that http listens on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(envvar="HIPPO_PORT", help="The port of http.")] = 3100,
    profile: Annotated[
        Literal["hippocampus", "hippo", "scriptling"],
        typer.Option(help="Whose tools are offered: ours, or those of another memory."),
    ] = "hippocampus",
    agent: Annotated[str, typer.Option(envvar="HIPPOCAMPUS_AGENT", help="Whose memory.")] = "",
    policy: Annotated[
        str, typer.Option(help="The policy: a shipped name, or a YAML file.")
    ] = "default",
) -> None:
    """Serve the memory to MCP clients; with http, HIPPOCAMPUS_MCP_TOKEN is the bearer token."""
    try:
        from hippocampus.integrations import mcp_server
    except ImportError as missing:
        if (missing.name or "").split(".")[0] not in {"mcp", "mcp_types", "starlette"}:
            raise
        typer.echo(f"hippocampus: {INSTALL}", err=True)
        raise typer.Exit(2) from None
    from hippocampus.cli.memory_store import OWN_AGENT, opened
    from hippocampus.memory import Hippocampus
    from hippocampus.storage.state_dir import StateDir

    state = StateDir(state_dir)
    with contextlib.ExitStack() as closing:
        facts = closing.enter_context(opened(state.facts, agent or OWN_AGENT, models=True))
        memory = Hippocampus(state_dir, policy=policy, agent=agent)
        tools = mcp_server.Tools(state, memory, facts, agent)
        closing.callback(tools.close)
        closing.callback(memory.close)
        server = mcp_server.server(tools, profile)
        if transport == "stdio":
            server.run("stdio")
            return
        import uvicorn

        try:
            app = mcp_server.app(server, host, os.environ.get(TOKEN, ""))
        except ValueError as refused:
            typer.echo(f"hippocampus: {refused}", err=True)
            raise typer.Exit(2) from None
        uvicorn.run(app, host=host, port=port, log_level="warning")
