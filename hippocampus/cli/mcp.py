"""`hippocampus mcp`: serves a memory over the Model Context Protocol."""

from __future__ import annotations

import contextlib
import os
from typing import Annotated, Literal

import typer

from hippocampus.cli.options import DEFAULT_STATE, PolicyName, StateOption, fail

TOKEN = "HIPPOCAMPUS_MCP_TOKEN"  # noqa: S105 - the name of a variable
INSTALL = 'the MCP server needs: pip install "hippocampus-context[mcp]"'


def mcp(  # noqa: PLR0913, PLR0917 - one parameter an option
    state_dir: StateOption = DEFAULT_STATE,
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
    policy: PolicyName = "default",
) -> None:
    """Serve the memory to MCP clients; with http, HIPPOCAMPUS_MCP_TOKEN is the bearer token."""
    try:
        from hippocampus.integrations import mcp_server
    except ImportError as missing:
        if (missing.name or "").split(".")[0] not in {"mcp", "mcp_types", "starlette"}:
            raise
        fail(INSTALL)
    from hippocampus.cli.memory_store import OWN_AGENT, opened
    from hippocampus.memory import Hippocampus
    from hippocampus.storage.state_dir import StateDir

    state = StateDir(state_dir)
    with contextlib.ExitStack() as closing:
        facts = closing.enter_context(opened(state.facts, agent or OWN_AGENT, models=True))
        memory = Hippocampus(state_dir, policy=policy, agent=agent)
        tools = mcp_server.Tools(state, memory, facts, agent)
        closing.callback(memory.close)
        server = mcp_server.server(tools, profile)
        if transport == "stdio":
            server.run("stdio")
            return
        import uvicorn

        try:
            app = mcp_server.app(server, host, os.environ.get(TOKEN, ""))
        except ValueError as refused:
            fail(str(refused))
        uvicorn.run(app, host=host, port=port, log_level="warning")
