"""`hippocampus explain`: the view at one turn next to the raw list, each difference with its reason."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hippocampus.cli.options import PolicyName, console, fail
from hippocampus.prices import DEFAULT_MODEL


def explain(
    file: Annotated[Path, typer.Argument(help="One recorded session.")],
    turn: Annotated[int, typer.Option(help="The turn (call) to show, counted from 0.")],
    policy: PolicyName = "default",
    model: Annotated[str, typer.Option(help="The model whose prices are used.")] = DEFAULT_MODEL,
) -> None:
    """Print the view at a turn next to the raw list, with the reason for each difference."""
    from hippocampus import policy as policies
    from hippocampus import prices
    from hippocampus.replay.explanation import print_explanation
    from hippocampus.replay.readers import read_file

    recordings = read_file(file)
    if not recordings:
        fail(f"{file} holds no conversation")
    print_explanation(
        recordings[0],
        turn,
        policies.load(policy),
        prices.model_prices(model),
        console(),
    )
