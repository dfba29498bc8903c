"""`hippocampus trial`: whether an agent with views solves as many tasks, and what it costs. Parses and prints."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from hippocampus import policy as policies
from hippocampus.cli.options import AsJson, PolicyName, Shown, print_table

TOKENS = ("input_tokens", "cached_tokens", "output_tokens")
FIGURES = ("solved", "calls", *TOKENS, "dollars", "seconds", "recalls")


def trial(  # noqa: PLR0913, PLR0917 - one parameter an option
    tasks: Annotated[
        Path,
        Argument(
            exists=True,
            file_okay=False,
            help="A folder of tasks: folders with prompt.md, workspace and verify.",
        ),
    ],
    out: Annotated[Path, Option(help="The folder of the trial, made if it does not exist.")],
    model: Annotated[
        str,
        Option(help="openai:MODEL or anthropic:MODEL, with @URL after it for another endpoint."),
    ],
    policy: PolicyName = "default",
    calls: Annotated[int, Option(min=1, help="The most calls of an attempt.")] = 100,
    seconds: Annotated[float, Option(help="The most seconds of a command.")] = 120.0,
    budget: Annotated[float, Option(help="Dollars to stop after; 0: none.")] = 0.0,
    seed: Annotated[int, Option(help="The seed of the order of the attempts.")] = 7,
    yes: Annotated[bool, Option("--yes", help="Start without confirming the price.")] = False,
    as_json: AsJson = False,
) -> None:
    """Let an agent solve tasks, once with the whole list and once with the view, and compare.

    It runs the commands of a model on this machine: use a container or a machine of its own. The same
    command again goes on where the last run stopped, and pays for nothing twice.
    """
    from hippocampus.replay import journal
    from hippocampus.replay import trial as trials
    from hippocampus.replay.study.wires import wire_of

    policies.load(policy)
    wire = wire_of(model)
    with journal.held(out):
        found = trials.tasks_in(tasks)
        digest = trials.digest_of(found)
        settings = trials.TrialSettings(digest, model, policy, calls, seconds, seed)
        record = trials.TrialRecord(out, settings)
        typer.echo(_plan(len(found), calls, wire.model, budget), err=True)
        if not yes:
            typer.confirm("Start?", abort=True, err=True)
        for problem in filter(None, trials.run_trial(record, found, wire, budget)):
            typer.echo(problem, err=True)
    figures = trials.report(record, found)
    if as_json:
        Shown(figures).show()
        return
    raw, view = figures["conditions"]["raw"], figures["conditions"]["view"]
    typer.echo(f"{figures['pairs']} of {figures['of']} pairs have ended.")
    rows = ((name.replace("_", " "), f"{raw[name]:,}", f"{view[name]:,}") for name in FIGURES)
    print_table(("", "raw", "view"), rows)
    if figures["cost_percent"]:
        cost, low, high = figures["cost_percent"]
        typer.echo(f"Cost of the view: {cost} % [{low}, {high}] of the whole list's.")
    typer.echo(
        f"Solved by the whole list alone {figures['solved_by_raw_alone']}, by the view alone "
        f"{figures['solved_by_view_alone']}: p = {figures['mcnemar_p']:.3f} (McNemar, exact)."
    )


def _plan(pairs: int, calls: int, model: str, budget: float) -> str:
    """Return the number of pairs that a difference needs, and their price if calls are of usual size."""
    from hippocampus.formats.usage import Usage
    from hippocampus.replay.study.wires import list_price
    from hippocampus.replay.trial import PAIRS_NEEDED

    usual = Usage(input_tokens=2_000, cache_read_tokens=18_000, output_tokens=300)
    price = list_price(model, usual)
    pair_price = f"${price * 80:,.2f} a pair" if price is not None else "no price is known for it"
    bound = f"; at most ${budget:,.2f} are spent" if budget else ""
    return (
        f"{pairs} pairs with {model}, at most {2 * pairs * calls:,} calls. A difference of 5 points in "
        f"solved tasks needs about {PAIRS_NEEDED:,} pairs if one in five differs. 40 calls an attempt of "
        f"20,000 tokens, nine of ten cached: {pair_price}{bound}."
    )
