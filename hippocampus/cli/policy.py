"""`hippocampus policy`: checks, prints, describes and compares policies."""

from __future__ import annotations

import functools
import json
import operator
from typing import Annotated

import typer
from typer import Argument, Option

from hippocampus import policy as policies
from hippocampus.cli import options as out
from hippocampus.cli.options import fail
from hippocampus.errors import PolicyError
from hippocampus.indexing.extraction import counted
from hippocampus.patterns import HAS_RE2
from hippocampus.policy.rules import OWN_SOURCES
from hippocampus.prices import DEFAULT_MODEL, model_prices

HELP = "Check, print and compare policies, or print their schema."
app = typer.Typer(help=HELP, no_args_is_help=True, add_completion=False)


@app.command()
def check(
    files: Annotated[list[str], Argument(help="Policy files, or names of shipped ones.")],
) -> None:
    """Print every problem of every file with its position; exit status 1 if there is any."""
    problems, has_patterns = list[str](), False
    for named in files:
        try:
            found = policies.load(named)
        except PolicyError as failure:
            problems += failure.problems
        else:
            count = counted(len(found.lifecycle_policies), "rule")
            typer.echo(f"{named}: policy {found.name}, {count}")
            has_patterns |= '"pattern' in found.model_dump_json(exclude_defaults=True)
            plans = filter(None, (rule.action.source for rule in found.lifecycle_policies))
            for name in sorted({plan.type for plan in plans}.difference(OWN_SOURCES)):
                typer.echo(
                    f"{named}: the source {name!r} is the host's; without "
                    f"@memory.source({name!r}) there, recalls return the stored copy"
                )
    if has_patterns and not HAS_RE2:
        more = r"without google-re2, \w, \d, \s, \b and $ match more than in RE2"
        typer.echo(f'{more}: pip install "hippocampus-context[re2]"', err=True)
    for problem in problems:
        typer.echo(problem, err=True)
    if problems:
        raise typer.Exit(1)


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
    paths: out.RecordedPaths,
) -> None:
    """Print how many views of recordings differ in size between two policies, and what that costs."""
    from hippocampus.replay import run
    from hippocampus.replay.readers import find_files
    from hippocampus.replay.strategies import OURS
    from hippocampus.replay.table import figures_table
    from hippocampus.replay.workers import over_files

    prices, files = model_prices(DEFAULT_MODEL), list(find_files(paths))
    figures, sizes = {}, []
    for name in (before, after):
        options = run.Options(policies.load(name), prices, by_model=True)
        replayed = over_files(files, functools.partial(run.replay_file, options=options))
        rows = (row for found in out.track(replayed, len(files)) for row in found)
        done = sorted((row for row in rows if "reason" not in row), key=run.place)
        if not done:
            fail("no recorded session in these paths")
        sizes.append([row["call_tokens"][OURS] for row in done])
        figures[name] = run.summarise(done)[1].figures()["strategies"][OURS]
    changed = [sum(map(operator.ne, *pair)) for pair in zip(*sizes, strict=True)]
    terminal = out.console()
    terminal.print(figures_table("policy", figures))
    terminal.print(
        f"{sum(changed):,} of {sum(map(len, sizes[0])):,} views have another size, in "
        f"{len(changed) - changed.count(0)} of {len(changed)} recordings."
    )
