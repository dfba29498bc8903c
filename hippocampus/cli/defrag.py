"""`hippocampus defrag`: promotes memories in frequent use, removes unused payloads, and can undo both."""

from __future__ import annotations

import contextlib
import json
import time
from dataclasses import asdict
from typing import Annotated

import typer

from hippocampus.cli.options import AsJson, PolicyName, StateFolder, expect_state


def defrag(  # noqa: PLR0913, PLR0917 - one parameter an option
    state_dir: StateFolder,
    policy: PolicyName = "default",
    apply: Annotated[
        bool, typer.Option("--apply", help="Make the changes; without it, only print them.")
    ] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Undo the last run.")] = False,
    idle_hours: Annotated[
        float, typer.Option(help="Leave sessions alone that were active since then.")
    ] = 1.0,
    as_json: AsJson = False,
) -> None:
    """Promote memories in frequent use, remove unused payloads, and report both in numbers."""
    from hippocampus import policy as policies
    from hippocampus.consolidation.defrag import defrag as run
    from hippocampus.consolidation.defrag import undo as undone
    from hippocampus.facts import Facts
    from hippocampus.storage.content_store import DiskStore

    state = expect_state(state_dir)
    if not idle_hours >= 0:
        raise typer.BadParameter("--idle-hours is 0 or more")
    if apply and undo:
        raise typer.BadParameter("--apply makes a run, --undo undoes the last one: name one")
    with contextlib.ExitStack() as closing:
        store = closing.enter_context(contextlib.closing(DiskStore(state.contents)))
        facts = None
        if state.facts.exists():
            facts = closing.enter_context(contextlib.closing(Facts(state.facts)))
        if undo:
            when = undone(state, store, facts)
            text = f"the run of {when} is undone" if when else "there is no run to undo"
            typer.echo(json.dumps({"undone": when}) if as_json else text)
            return
        rules = policies.load(policy)
        done = run(state, store, facts, rules, time.time(), apply=apply, idle_hours=idle_hours)
    numbers = asdict(done)
    if as_json:
        typer.echo(json.dumps(numbers))
        return
    for name, value in numbers.items():
        if isinstance(value, int) and not isinstance(value, bool):
            typer.echo(f"{name.replace('_', ' '):<20}{value:>12,}")
    typer.echo(
        "done; --undo reverts it, until the next run"
        if done.applied
        else "nothing was changed; --apply makes the changes"
    )
