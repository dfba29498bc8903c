"""`hippocampus install`, `uninstall`, `status` and `hook`: for coding agents that have hooks."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from hippocampus.cli.options import DEFAULT_STATE, StateOption, fail

if TYPE_CHECKING:
    from hippocampus.integrations.hooks.settings import SettingsChange


Named = Annotated[
    Literal["claude-code", "codex", "gemini"], typer.Argument(help="The coding agent.")
]
Project = Annotated[bool, typer.Option("--project", help="This folder's settings, not the user's.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only print the changes.")]
State = Annotated[
    Path | None,
    typer.Option(help="The state directory; .hippocampus in the home folder or in the project."),
]
Policy = Annotated[str, typer.Option(help="The policy: a shipped name, or a YAML file.")]


def install(
    host: Named,
    project: Project = False,
    state_dir: State = None,
    policy: Policy = "default",
    dry_run: DryRun = False,
) -> None:
    """Add the hooks and the MCP server to the settings of a coding agent."""
    from hippocampus import policy as policies
    from hippocampus.cli.serve import INSTALL_MCP
    from hippocampus.integrations.hooks import settings

    if find_spec("mcp") is None and not dry_run:  # without the server, no hook's entry is recalled
        fail(INSTALL_MCP)
    declared = str(Path(policy).resolve()) if Path(policy).is_file() else policy
    policies.load(declared)
    state = _state(project, state_dir)
    _apply(
        settings.installed(settings.HOSTS[host], _root(project), state, declared), dry_run=dry_run
    )


def uninstall(host: Named, project: Project = False, dry_run: DryRun = False) -> None:
    """Remove the hooks and the MCP server from the settings; the memory stays."""
    from hippocampus.integrations.hooks import settings

    _apply(settings.uninstalled(settings.HOSTS[host], _root(project)), dry_run=dry_run)


def status(host: Named, project: Project = False, state_dir: State = None) -> None:
    """Report whether hooks and server run and whether edits arrived; exit status 1 where not."""
    from hippocampus.integrations.hooks import settings
    from hippocampus.integrations.hooks.status import report
    from hippocampus.storage.state_dir import StateDir

    state = StateDir(_state(project, state_dir))
    lines, is_sound = report(settings.HOSTS[host], _root(project), state)
    typer.echo("\n".join(lines))
    if not is_sound:
        raise typer.Exit(1)


def hook(
    state_dir: StateOption = DEFAULT_STATE,
    policy: Policy = "default",
) -> None:
    """Answer one event of a coding agent, which is read from stdin."""
    from hippocampus.integrations import hooks

    hooks.main(["--state-dir", str(state_dir), "--policy", policy])


def _root(project: bool) -> Path | None:  # noqa: FBT001 - an option
    return Path.cwd() if project else None


def _state(project: bool, named: Path | None) -> Path:  # noqa: FBT001 - an option
    found = named or (Path.cwd() if project else Path.home()) / ".hippocampus"
    return found.expanduser().absolute()


def _apply(changes: list[SettingsChange], *, dry_run: bool) -> None:
    for change in changes:
        diff = change.diff()
        if not diff:
            typer.echo(f"{change.path}: nothing to change")
        elif dry_run:
            typer.echo(diff, nl=False)
        else:
            change.write()
            typer.echo(f"{change.path}: written")
