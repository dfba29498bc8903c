"""`hippocampus doctor`: examine a state directory, and mend it with --fix."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from hippocampus.cli.options import AsJson, StateFolder, expect_state
from hippocampus.formats.visible import visible


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
    """Examine payloads, ledgers, archives, facts, memory files, a policy, modes and the cache.

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
