"""The commands of coding agents and servers: `install`, `uninstall`, `status`, `hook`, `mcp` and `proxy`."""

from __future__ import annotations

import contextlib
import itertools
import logging
import os
import re
import socket
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer import Argument, Option

from hippocampus import policy as policies
from hippocampus.cli import options as out
from hippocampus.cli.fact_database import OWN_AGENT, open_facts
from hippocampus.cli.options import Shown, fail, say
from hippocampus.indexing.extraction import counted
from hippocampus.integrations.hooks import settings
from hippocampus.storage.engines import is_address
from hippocampus.storage.facts.rows import EVERY_AGENT
from hippocampus.storage.state import state_of

if TYPE_CHECKING:
    from hippocampus.session.resources import Observer
    from hippocampus.storage.state import StateStore

SAVINGS = (
    "session, model,\nor last day", "calls", "edits", "recalls", "raw", "failed",
    "saved", "$\nsaved", "$\nedits", "$\nrecalls", "$\nresume",
)  # fmt: skip
COUNTS = ("calls", "edits", "recalls", "raw", "failures")
COSTS = ("raw_cost", "sent_cost")
DOLLARS = ("saved_dollars", "edit_dollars", "recall_dollars", "resume_dollars")
CACHES = {".cache", "archive-v0"}
"""Parts of the paths of the temporary environments of uvx and `pipx run`."""
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
INSTALL_TOOL = 'first run uv tool install "hippocampus-context[mcp]", or pipx install'
HOSTS = ", ".join(sorted(settings.HOSTS))


def _host(name: str) -> settings.Host:
    if name not in settings.HOSTS:
        raise typer.BadParameter(f"unknown coding agent {name!r}; the known ones: {HOSTS}")
    return settings.HOSTS[name]


Named = Annotated[
    settings.Host,
    Argument(
        help=f"{HOSTS}.", metavar="HOST", parser=_host, autocompletion=lambda: list(settings.HOSTS)
    ),
]
Project = Annotated[bool, Option("--project", help="This folder's settings, not the user's.")]
DryRun = Annotated[bool, Option("--dry-run", help="Only print the changes.")]
State = Annotated[
    str,
    Option(
        envvar="HIPPOCAMPUS_STATE",
        help="The state directory, or the address of a PostgreSQL server; else .hippocampus at home or here.",
    ),
]


def install(
    host: Named,
    project: Project = False,
    state_dir: State = "",
    policy: out.PolicyName = "default",
    dry_run: DryRun = False,
) -> None:
    """Add the hooks and the MCP server to the settings of a coding agent."""
    if find_spec("mcp") is None and not dry_run:  # only the server recalls a hook's entries
        fail(INSTALL_MCP)
    if CACHES & {*Path(sys.prefix).parts}:
        fail(
            f"{sys.prefix} is an environment of uvx or `pipx run`, which is removed: {INSTALL_TOOL}"
        )
    policies.load(policy)
    declared = policy if policy in policies.shipped() else str(Path(policy).resolve())
    root, state = Path.cwd() if project else None, _state(project, state_dir)
    _apply(settings.install_changes(host, root, state, declared), dry_run=dry_run)


def uninstall(host: Named, project: Project = False, dry_run: DryRun = False) -> None:
    """Remove the hooks and the MCP server from the settings; the memory stays."""
    root = Path.cwd() if project else None
    _apply(settings.uninstall_changes(host, root), dry_run=dry_run)


def status(
    host: Annotated[
        str,
        Argument(
            envvar="HIPPOCAMPUS_STATE",
            help="The coding agent, or a state directory.",
            metavar="HOST|DIR",
        ),
    ] = str(out.DEFAULT_STATE),
    project: Project = False,
    state_dir: State = "",
    model: Annotated[
        str, Option(help="Of a directory: whose prices; else those of the model of each session.")
    ] = "",
    as_json: Annotated[bool, Option("--json", help="Of a directory: JSON.")] = False,
) -> None:
    """Report whether hooks and server run (exit status 1 where not), or what a directory has saved."""
    from hippocampus.integrations.hooks.status import report

    if host not in settings.HOSTS:
        if not is_address(host) and not Path(host).is_dir():
            raise typer.BadParameter(
                f"there is no state directory {host!r}; name one, or a coding agent: {HOSTS}"
            )
        _print_savings(out.expect_state(host), model, as_json=as_json)
        return
    state = _state(project, state_dir)
    lines, is_sound = report(settings.HOSTS[host], Path.cwd() if project else None, state)
    Shown(lines, lines, is_failed=not is_sound).show()


def _print_savings(state: StateStore, model: str, *, as_json: bool) -> None:
    """Print the figures of a state: a line per session, and the sum of those with the same last day."""
    from hippocampus.integrations.savings import read_savings

    found = read_savings(state, model)
    if as_json:
        Shown(found).show()
        return
    if unknown := sum(row["raw_cost"] > 0 and not row["model"] for row in found):
        say(
            f"no dollars for {counted(unknown, 'session')} without a known model; "
            "--model NAME takes its prices for all"
        )
    lines = []
    for day, sessions in itertools.groupby(found, key=lambda row: row["day"]):
        # A line for each session that was last used on a day, then one for their sum.
        of_day: list[Any] = list(sessions)
        named = [(", ".join(filter(None, (row["session"], row["model"]))), [row]) for row in of_day]
        for name, rows in [*named, (f"last used on {day}", of_day)]:
            sums = {key: sum(row[key] for row in rows) for key in (*COUNTS, *COSTS, *DOLLARS)}
            raw, sent = (sums[key] for key in COSTS)
            share = f"{1 - sent / raw:.1%}".replace("%", " %") if raw else "–"
            counts = (f"{sums[key]:,}" for key in COUNTS)
            dollars = (f"{round(sums[key], 2) + 0:,.2f}" for key in DOLLARS)
            lines.append([name, *counts, share, *dollars])
    out.print_table(SAVINGS, lines)


def hook(
    state_dir: out.StateAddress = str(out.DEFAULT_STATE), policy: out.PolicyName = "default"
) -> None:
    """Answer one event of a coding agent, which is read from stdin."""
    from hippocampus.integrations import hooks

    hooks.main(["--state-dir", state_dir, "--policy", policy])


def _state(project: bool, named: str) -> str:  # noqa: FBT001 - an option
    if is_address(named):
        return named
    found = Path(named or (Path.cwd() if project else Path.home()) / ".hippocampus")
    return str(found.expanduser().absolute())


def _apply(changes: list[settings.SettingsChange], *, dry_run: bool) -> None:
    for change in changes:
        if change.before == change.after:
            typer.echo(f"{change.path}: nothing to change")
        elif dry_run:
            typer.echo(change.diff(), nl=False)
        else:
            change.write()
            typer.echo(f"{change.path}: written")


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
    state_dir: out.StateAddress = str(out.DEFAULT_STATE),
    tenant: out.TenantName = "",
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
    policy: out.PolicyName = "default",
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
        facts = closing.enter_context(open_facts(state, agent or OWN_AGENT))
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
    state_dir: out.StateAddress = str(out.DEFAULT_STATE),
    tenant: out.TenantName = "",
    policy: out.PolicyName = "default",
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
    if tenant and not is_address(state_dir):
        out.warn(f"{state_dir} is no server, and has no tenants")
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
