"""`hippocampus tune`: fits a policy's decay to the user's own recordings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hippocampus.cli.options import console, fail


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
    from rich.table import Table

    from hippocampus import policy as policies
    from hippocampus.prices import DEFAULT_MODEL, model_prices
    from hippocampus.replay import tune as tuning
    from hippocampus.replay.readers import find_files
    from hippocampus.replay.table import shares_table

    prices = model_prices(DEFAULT_MODEL)
    found = tuning.tune(find_files(paths), policies.load(policy), prices)
    terminal = console()
    scores = Table("Brier score", *found.scores)
    scores.add_row("owners left out", *(f"{each:.4f}" for each in found.scores.values()))
    terminal.print(scores)
    terminal.print(f"At strength 1 the chance of a use in ten calls is {found.law.chance:.2f}.")
    rows = {f"policy {policy}": found.before, "tuned": found.after}
    figures = {name: sums.figures(found.everything, prices) for name, sums in rows.items()}
    terminal.print(shares_table("owners left out", figures))
    if not found.changes:
        terminal.print(f"Policy {policy} is as good on the owners left out: nothing is written.")
        return
    base = policy if policy in policies.shipped() else str(Path(policy).resolve())
    written = {"name": "tuned", "extends": base, **found.changes}
    text = yaml.safe_dump(written, sort_keys=False, allow_unicode=True)
    try:
        out.write_text(text, "utf-8")
    except OSError as failure:
        fail(f"{out} cannot be written: {failure.strerror}")
    terminal.print(f"Written to {out}:\n{text}", markup=False)
