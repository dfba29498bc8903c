"""`hippocampus policy`: checks, prints, describes and compares policies."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from hippocampus import policy as policies
from hippocampus.cli.options import AsJson, Shown, console, fail, track
from hippocampus.errors import PolicyError
from hippocampus.policy import Policy
from hippocampus.policy.rules import OWN_SOURCES
from hippocampus.prices import DEFAULT_MODEL, model_prices
from hippocampus.recall.sources import installed_sources

HELP = "Check, print and compare policies, or print their schema."
app = typer.Typer(help=HELP, no_args_is_help=True, add_completion=False)


@app.command()
def check(
    files: Annotated[list[str], Argument(help="Policy files, or names of shipped ones.")],
) -> None:
    """Print every problem of every file with its position; exit status 1 if there is any."""
    problems: list[str] = []
    for named in files:
        try:
            found = policies.load(named)
        except PolicyError as failure:
            problems += failure.problems
        else:
            typer.echo(f"{named}: policy {found.name}, {len(found.lifecycle_policies)} rules")
            for name in sorted(_sources_of(found) - {*OWN_SOURCES, *installed_sources()}):
                typer.echo(
                    f"{named}: the source {name!r} is in no installed package; without "
                    f"@memory.source({name!r}) in the host, recalls return the stored copy"
                )
    for problem in problems:
        typer.echo(problem, err=True)
    if problems:
        raise typer.Exit(1)


def _sources_of(policy: Policy) -> set[str]:
    """Return the names of the sources that recalls are to ask."""
    plans = (rule.action.source for rule in policy.lifecycle_policies)
    return {name for plan in plans if plan for name in plan.asked}


@app.command()
def show(
    name: Annotated[str, Argument(help="A shipped policy's name, or a file.")] = "default",
    resolved: Annotated[
        bool, Option("--resolved", help="With defaults and what it extends.")
    ] = False,
) -> None:
    """Print a policy as it is written, or with everything that applies."""
    found = policies.load(name)
    text = policies.text_of(name)
    if resolved:
        import yaml

        data = found.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"extends"})
        text = yaml.safe_dump(data, allow_unicode=True, sort_keys=False, width=100)
    typer.echo(text, nl=False)


@app.command()
def schema() -> None:
    """Print the JSON Schema of policy files, for completion in editors."""
    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    found = {**dialect, **policies.Policy.model_json_schema(by_alias=True)}
    typer.echo(json.dumps(found, indent=2, ensure_ascii=False))


@app.command("diff")
def diff(
    before: Annotated[str, Argument(help="A shipped policy's name, or a policy file.")],
    after: Annotated[str, Argument(help="The policy to compare it with.")],
    paths: Annotated[list[Path], Argument(help="Files and folders of recorded sessions.")],
    as_json: AsJson = False,
) -> None:
    """Print how many views of recordings differ in size between two policies, and what that costs."""
    from hippocampus.replay.policy_diff import diff_file, summed
    from hippocampus.replay.readers import find_files
    from hippocampus.replay.table import figures_table
    from hippocampus.replay.workers import over_files

    old, new = policies.load(before), policies.load(after)
    prices, files = model_prices(DEFAULT_MODEL), find_files(paths)
    work = functools.partial(diff_file, before=old, after=new, prices=prices)
    done = track(over_files(files, work), len(files))
    found = sorted((row for rows in done for row in rows), key=lambda row: row["name"])
    if not found:
        fail("no recorded session found there")
    total = summed(found)
    if as_json:
        Shown({"total": total, "recordings": found}).show()
        return
    out = console()
    out.print(figures_table("policy", {before: total["before"], after: total["after"]}))
    out.print(
        f"{total['changed_views']:,} of {total['views']:,} views have another size, in "
        f"{total['changed_recordings']} of {total['recordings']} recordings."
    )
