"""`hippocampus tune`: fits a policy's decay to the user's own recordings."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from hippocampus.cli.replay import PIPED_WIDTH


def tune(
    paths: Annotated[
        list[Path], typer.Argument(help="Recorded sessions: files, folders, state directories.")
    ],
    out: Annotated[Path, typer.Option(help="The policy file to write, if there is a better one.")],
    policy: Annotated[
        str, typer.Option(help="The policy to start from: a shipped one's name, or a file.")
    ] = "default",
) -> None:
    """Fit decay and thresholds to recordings, and write a policy if it holds on those left out."""
    import yaml
    from rich.console import Console
    from rich.table import Table

    from hippocampus import policy as policies
    from hippocampus.prices import DEFAULT_MODEL, model_prices
    from hippocampus.replay import tune as tuning
    from hippocampus.replay.readers import find_files
    from hippocampus.replay.table import shares_table

    prices = model_prices(DEFAULT_MODEL)
    found = tuning.tune(find_files(paths), policies.load(policy), prices)
    console = Console(width=None if sys.stdout.isatty() else PIPED_WIDTH)
    scores = Table("Brier score", *found.scores)
    scores.add_row("owners left out", *(f"{each:.4f}" for each in found.scores.values()))
    console.print(scores)
    console.print(f"At strength 1 the chance of a use in ten calls is {found.law.chance:.2f}.")
    rows = {f"policy {policy}": found.before, "tuned": found.after}
    figures = {name: sums.figures(found.everything, prices) for name, sums in rows.items()}
    console.print(shares_table("owners left out", figures))
    if not found.changes:
        console.print(f"Policy {policy} is as good on the owners left out: nothing is written.")
        return
    base = policy if policy in policies.shipped() else str(Path(policy).resolve())
    written = {"name": "tuned", "extends": base, **found.changes}
    text = yaml.safe_dump(written, sort_keys=False, allow_unicode=True)
    try:
        out.write_text(text, "utf-8")
    except OSError as failure:
        typer.echo(f"hippocampus: {out} cannot be written: {failure.strerror}", err=True)
        raise typer.Exit(2) from None
    console.print(f"Written to {out}:\n{text}", markup=False)
