"""`hippocampus install`, `uninstall`, `status` and `hook`: for coding agents that have hooks."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from hippocampus import policy as policies
from hippocampus.cli.options import (
    DEFAULT_STATE,
    PolicyName,
    Shown,
    StateAddress,
    expect_state,
    fail,
    print_table,
    say,
)
from hippocampus.cli.serve import INSTALL_MCP
from hippocampus.indexing.extraction import counted
from hippocampus.integrations.hooks import settings
from hippocampus.storage.state_dir import is_address

if TYPE_CHECKING:
    from hippocampus.storage.savings import Savings
    from hippocampus.storage.state import StateStore

SAVINGS = (
    "session, model,\nor last day", "calls", "edits", "recalls", "raw", "failed",
    "saved", "$\nsaved", "$\nedits", "$\nrecalls", "$\nresume",
)  # fmt: skip
CACHES = {".cache", "archive-v0"}
"""Parts of the paths of the temporary environments of uvx and `pipx run`."""
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
    policy: PolicyName = "default",
    dry_run: DryRun = False,
) -> None:
    """Add the hooks and the MCP server to the settings of a coding agent."""
    if find_spec("mcp") is None and not dry_run:  # only the server recalls a hook's entries
        fail(INSTALL_MCP)
    if CACHES & {*Path(sys.prefix).parts}:
        fail(
            f"{sys.prefix} is an environment of uvx or `pipx run`, which is removed: {INSTALL_TOOL}"
        )
    declared = str(Path(policy).resolve()) if Path(policy).is_file() else policy
    policies.load(declared)
    root, state = Path.cwd() if project else None, _state(project, state_dir)
    _apply(settings.installed(host, root, state, declared), dry_run=dry_run)


def uninstall(host: Named, project: Project = False, dry_run: DryRun = False) -> None:
    """Remove the hooks and the MCP server from the settings; the memory stays."""
    root = Path.cwd() if project else None
    _apply(settings.uninstalled(host, root), dry_run=dry_run)


def status(
    host: Annotated[
        str,
        Argument(
            envvar="HIPPOCAMPUS_STATE",
            help="The coding agent, or a state directory.",
            metavar="HOST|DIR",
        ),
    ] = str(DEFAULT_STATE),
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
        _print_savings(expect_state(host), model, as_json=as_json)
        return
    state = _state(project, state_dir)
    lines, is_sound = report(settings.HOSTS[host], Path.cwd() if project else None, state)
    typer.echo("\n".join(lines))
    if not is_sound:
        raise typer.Exit(1)


def _print_savings(state: StateStore, model: str, *, as_json: bool) -> None:
    """Print the figures of a state: a line per session, and the sum of those with the same last day."""
    from hippocampus.integrations.savings import saved

    found = saved(state, model)
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
        of_day = list(sessions)
        named = [(", ".join(filter(None, (row["session"], row["model"]))), [row]) for row in of_day]
        lines += [_saved(name, of) for name, of in [*named, (f"last used on {day}", of_day)]]
    print_table(SAVINGS, lines)


def _saved(name: str, rows: Sequence[Savings]) -> list[str]:
    """Return the cells of a line: what sessions have saved together."""
    calls, edits, recalls, raw_calls, failures, raw, sent, *dollars = (
        sum(row[key] for row in rows)
        for key in (
            "calls", "edits", "recalls", "raw", "failures", "raw_cost", "sent_cost",
            "saved_dollars", "edit_dollars", "recall_dollars", "resume_dollars",
        )
    )  # fmt: skip
    share = f"{100 * (1 - sent / raw):.1f} %" if raw else "–"
    shown = (f"{round(amount, 2) + 0:,.2f}" for amount in dollars)
    counts = (f"{count:,}" for count in (calls, edits, recalls, raw_calls, failures))
    return [name, *counts, share, *shown]


def hook(state_dir: StateAddress = str(DEFAULT_STATE), policy: PolicyName = "default") -> None:
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
        diff = change.diff()
        if not diff:
            typer.echo(f"{change.path}: nothing to change")
        elif dry_run:
            typer.echo(diff, nl=False)
        else:
            change.write()
            typer.echo(f"{change.path}: written")
