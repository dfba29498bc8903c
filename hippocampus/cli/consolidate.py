"""`hippocampus consolidate`: consolidates sessions that ended without it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hippocampus.cli.options import PolicyName, StateFolder, expect_state, fail
from hippocampus.errors import StoreError
from hippocampus.formats.visible import visible
from hippocampus.storage.state_dir import StateDir

if TYPE_CHECKING:
    from hippocampus.memory import Hippocampus


def consolidate(
    state_dir: StateFolder,
    session: Annotated[
        str | None, typer.Argument(help="One session; without it, all that are not consolidated.")
    ] = None,
    policy: PolicyName = "default",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only list the sessions that are not consolidated.")
    ] = False,
    adopt_lines: Annotated[
        bool,
        typer.Option(
            "--adopt-lines",
            help="Take lines that were in MEMORY.md before this memory, as in a cloned repository, as yours.",
        ),
    ] = False,
) -> None:
    """Write the memories of finished sessions to the fact store; a second run changes nothing."""
    from hippocampus.memory import Hippocampus

    state = StateDir(state_dir) if adopt_lines else expect_state(state_dir)
    if session and not state.ledger(session).exists():
        fail(f"{state_dir} has no session {session!r}")
    memory = Hippocampus(state_dir, policy=policy)
    try:
        names = [session] if session else memory.unconsolidated()
        if dry_run:
            typer.echo(visible("\n".join(names)), nl=bool(names))
        if not names:
            typer.echo("every session is consolidated")
        finished = [dry_run or _is_finished(memory, name) for name in names]
        edits = [] if session or dry_run else memory.read_edits(adopt=adopt_lines)
        if edits:
            typer.echo(f"edits of the memory file read: {len(edits)} facts added or removed")
    finally:
        memory.close()
    if not all(finished):
        raise typer.Exit(1)


def _is_finished(memory: Hippocampus, name: str) -> bool:
    """Consolidate a session and return whether it is finished; one that cannot be read stops no other."""
    try:
        (outcome,) = memory.consolidate(name)
    except StoreError as failure:
        typer.echo(f"hippocampus: session {name!r}: {failure}", err=True)
        return False
    end = "" if outcome.finished else "; not everything could be written"
    typer.echo(visible(f"{outcome.session}: {len(outcome.kept)} kept{end}"))
    for each in outcome.kept:
        line = f"  {each.kind}, {each.origin}, turn {each.turn}: {each.text} ({each.outcome})"
        typer.echo(visible(line))
    return outcome.finished
