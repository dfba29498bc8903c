"""`hippocampus consolidate`: finish the sessions that ended without keeping what was worth it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hippocampus.errors import StoreError

if TYPE_CHECKING:
    from hippocampus.consolidation.outcome import Outcome
    from hippocampus.memory import Hippocampus


def consolidate(
    state_dir: Annotated[Path, typer.Argument(help="The state directory of a memory.")],
    session: Annotated[
        str | None, typer.Argument(help="One session; without it, all that are not finished.")
    ] = None,
    policy: Annotated[
        str, typer.Option(help="The policy: a shipped name, or a YAML file.")
    ] = "default",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only name the sessions that are not finished.")
    ] = False,
) -> None:
    """Write what is worth keeping of sessions to the fact store; what is kept already stays as it is."""
    from hippocampus.memory import Hippocampus
    from hippocampus.storage.state_dir import StateDir

    state = StateDir(state_dir)
    if not state.sessions.is_dir():
        typer.echo(f"hippocampus: {state_dir} is no state directory", err=True)
        raise typer.Exit(2)
    if session and not state.ledger(session).exists():
        typer.echo(f"hippocampus: {state_dir} has no session {session!r}", err=True)
        raise typer.Exit(2)
    memory = Hippocampus(state_dir, policy=policy)
    try:
        names = [session] if session else memory.unconsolidated()
        if dry_run:
            typer.echo("\n".join(names), nl=bool(names))
        if not names:
            typer.echo("every session is consolidated")
        finished = [dry_run or _is_finished(memory, name) for name in names]
        edits = [] if session or dry_run else memory.read_edits()
        if edits:
            typer.echo(f"edits of the memory file read: {len(edits)} facts added or taken away")
    finally:
        memory.close()
    if not all(finished):
        raise typer.Exit(1)


def _is_finished(memory: Hippocampus, name: str) -> bool:
    """Consolidate a session, and say whether that is done; one that cannot be read stops no other."""
    try:
        (outcome,) = memory.consolidate(name)
    except StoreError as failure:
        typer.echo(f"hippocampus: session {name!r}: {failure}", err=True)
        return False
    _print(outcome)
    return outcome.finished


def _print(outcome: Outcome) -> None:
    """Say what a consolidation kept, one line a thing."""
    end = "" if outcome.finished else "; not everything could be written"
    typer.echo(f"{outcome.session}: {len(outcome.kept)} kept{end}")
    for each in outcome.kept:
        typer.echo(f"  {each.kind}, {each.origin}, turn {each.turn}: {each.text} ({each.outcome})")
