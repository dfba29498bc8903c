"""`hippocampus consolidate`, `defrag`, `doctor` and `forget`: what a state directory needs now and then."""

from __future__ import annotations

import contextlib
import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hippocampus.cli.options import AsJson, PolicyName, StateFolder, expect_state, fail
from hippocampus.errors import StoreError
from hippocampus.formats.visible import visible
from hippocampus.storage import ledger
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
    if session and ledger.agent_of(state, session) is None:
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
    from hippocampus.storage.content_store import opened_store

    state = expect_state(state_dir)
    if not idle_hours >= 0:
        raise typer.BadParameter("--idle-hours is 0 or more")
    if apply and undo:
        raise typer.BadParameter("--apply makes a run, --undo undoes the last one: name one")
    with contextlib.ExitStack() as closing:
        store = closing.enter_context(opened_store(state))
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


def doctor(
    state_dir: StateFolder,
    policy: Annotated[
        str, typer.Option(help="A shipped policy or a file, examined too.")
    ] = "default",
    fix: Annotated[
        bool, typer.Option("--fix", help="Mend what can be mended; damaged files are kept aside.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Examine payloads, sessions, archives, facts, memory files, a policy, modes and the cache.

    Exit status 1 if data is damaged or lost, and --fix has not mended it.
    """
    from hippocampus.consolidation.doctor import examine, mend

    state = expect_state(state_dir)
    named: str | Path = Path(policy) if Path(policy).suffix in {".yaml", ".yml"} else policy
    found = examine(state, policy=named)
    left = mend(found) if fix else found
    mended = [each for each in found if each.mend and each not in left] if fix else []
    if as_json:
        rows = [(each, fix and each in mended) for each in found]
        listed = [
            {"text": each.text, "loss": each.is_loss, "remedy": each.remedy, "mended": is_mended}
            for each, is_mended in rows
        ]
        typer.echo(json.dumps({"findings": listed}))
    else:
        for each in mended:
            typer.echo(visible(f"mended: {each.text}: {each.remedy}"))
        for each in left:
            remedy = f"; --fix would {each.remedy}" if each.mend else ""
            typer.echo(visible(f"{'damage' if each.is_loss else 'note'}: {each.text}{remedy}"))
        typer.echo(f"{len(found)} findings, {len(mended)} mended")
    if any(each.is_loss for each in left):
        raise typer.Exit(1)


def forget(
    state_dir: StateFolder,
    everything_from: Annotated[
        str, typer.Option(help="The session of which everything is removed.")
    ],
    apply: Annotated[
        bool, typer.Option("--apply", help="Remove it; without it, only list it.")
    ] = False,
) -> None:
    """List everything that a session left: payloads, archive, facts, lines; remove it with --apply.

    Facts that these superseded are current again. The last defrag can no longer be undone.
    """
    from hippocampus.consolidation import forgetting
    from hippocampus.facts import Facts
    from hippocampus.storage.content_store import opened_store

    state = expect_state(state_dir)
    with contextlib.ExitStack() as closing:
        store = closing.enter_context(opened_store(state))

        def facts() -> Facts:
            return closing.enter_context(contextlib.closing(Facts(state.facts)))

        if apply:
            found = forgetting.forget(state, everything_from, store, facts)
        else:
            known = facts() if state.facts.exists() else None
            found = forgetting.traces(state, everything_from, store, known)
    if not found:
        fail(f"no trace of session {everything_from!r}")
    word = "removed" if apply else "would be removed; --apply removes them"
    session = "the session, " * found.is_stored
    typer.echo(f"{session}{len(found.payloads)} payloads, {len(found.facts)} facts {word}")
    if found.shared:
        typer.echo(f"{len(found.shared)} payloads stay: other sessions refer to them")
