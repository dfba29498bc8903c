"""`hippocampus explain`: the view at one turn next to the raw list, each difference with its reason."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from hippocampus.cli.replay import PIPED_WIDTH
from hippocampus.prices import DEFAULT_MODEL


def explain(
    file: Annotated[Path, typer.Argument(help="One recorded session.")],
    turn: Annotated[int, typer.Option(help="The turn (call) to show, counted from 0.")],
    policy: Annotated[
        str, typer.Option(help="A shipped policy's name, or the path of a policy file.")
    ] = "default",
    model: Annotated[str, typer.Option(help="The model whose prices are used.")] = DEFAULT_MODEL,
) -> None:
    """Print the view at a turn next to the raw list, with the reason for each difference."""
    from rich.console import Console

    from hippocampus import policy as policies
    from hippocampus import prices
    from hippocampus.replay.explanation import print_explanation
    from hippocampus.replay.readers import read_file

    recordings = read_file(file)
    if not recordings:
        typer.echo(f"hippocampus: {file} holds no conversation", err=True)
        raise typer.Exit(2)
    print_explanation(
        recordings[0],
        turn,
        policies.load(policy),
        prices.model_prices(model),
        Console(width=None if sys.stdout.isatty() else PIPED_WIDTH),
    )
