"""`hippocampus forget`: remove every trace of a session."""

from __future__ import annotations

import contextlib
from typing import Annotated

import typer

from hippocampus.cli.options import StateFolder, expect_state, fail
from hippocampus.formats.visible import visible


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
    from hippocampus.storage.content_store import DiskStore

    state = expect_state(state_dir)
    with contextlib.ExitStack() as closing:
        store = closing.enter_context(contextlib.closing(DiskStore(state.contents)))

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
    for each in found.files:
        typer.echo(visible(f"{each.parent.name}/{each.name}"))
    typer.echo(
        f"{len(found.files)} files, {len(found.payloads)} payloads, {len(found.facts)} facts {word}"
    )
    if found.shared:
        typer.echo(f"{len(found.shared)} payloads stay: other sessions refer to them")
