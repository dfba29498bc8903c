"""`hippocampus study`: whether a model takes the same next step under a policy. Parses and prints."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from hippocampus.cli.options import PIPED_WIDTH

if TYPE_CHECKING:
    from hippocampus.replay.study.folder import StudyFolder, StudySettings

HELP = """Study whether a model takes the same next step under a policy.

`hippocampus study PATH... --out DIR` is short for `hippocampus study run PATH... --out DIR`."""


class StudyGroup(TyperGroup):
    """The group of commands whose name can be followed by the arguments of `run`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put `run` in front of arguments that begin with no command."""
        if args and args[0] not in (*self.commands, "--help"):
            args = ["run", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(cls=StudyGroup, help=HELP, no_args_is_help=True, add_completion=False)


@app.command()
def run(  # noqa: PLR0913, PLR0917 - one parameter an option
    ctx: typer.Context,
    out: Annotated[Path, typer.Option(help="The folder of the study, made if it does not exist.")],
    paths: Annotated[
        list[str] | None,
        typer.Argument(help="Files and folders of recorded sessions; none to go on with a study."),
    ] = None,
    cases: Annotated[int, typer.Option(min=2, help="The number of moments.")] = 24,
    policy: Annotated[
        list[str] | None,
        typer.Option(help="A policy's name or path, a condition each; `default` without it."),
    ] = None,
    against: Annotated[
        str,
        typer.Option(
            help="The other conditions: raw, the whole list, which is always there, and offload, "
            "which keeps the first 4,000 characters of results over 2,500 tokens."
        ),
    ] = "raw,offload",
    seed: Annotated[int, typer.Option(help="The seed by which moments are drawn.")] = 7,
    window: Annotated[
        int, typer.Option(help="The most tokens of a whole list, so that it fits the reader.")
    ] = 60_000,
    model: Annotated[
        str, typer.Option(help="The model whose prices decide the views and their cost.")
    ] = "claude-sonnet-4-5",
    reader: Annotated[
        str,
        typer.Option(
            help="Who takes the steps: files, openai:MODEL or anthropic:MODEL, with @URL behind the "
            "model for another endpoint of that kind."
        ),
    ] = "files",
    judge: Annotated[
        str | None, typer.Option(help="Who compares the steps, named likewise; else the reader.")
    ] = None,
    readings: Annotated[
        int, typer.Option(min=1, help="The readings of each case; their mean counts.")
    ] = 1,
    yes: Annotated[
        bool, typer.Option("--yes", help="Ask models without confirming the estimated price.")
    ] = False,
) -> None:
    """Pick moments of recorded sessions, take the next step under each condition, and compare.

    The same command again goes on where the last run stopped.
    """
    from hippocampus import policy as policies
    from hippocampus import prices
    from hippocampus.errors import StoreError
    from hippocampus.replay.study.asking import FILES
    from hippocampus.replay.study.cases import conditions
    from hippocampus.replay.study.folder import RECORD, StudyFolder, StudySettings
    from hippocampus.replay.study.wires import wire_of
    from hippocampus.storage import files

    others = [each for each in against.split(",") if each]
    given = StudySettings(
        paths or [],
        cases,
        policy or ["default"],
        others,
        seed,
        window,
        model,
        reader,
        judge or reader,
        readings,
    )
    options = [
        name
        for name in ctx.params
        if (source := ctx.get_parameter_source(name)) is not None
        and source.name == "COMMANDLINE"
        and name not in ("out", "yes")
    ]
    if options and not paths:
        raise StoreError(f"{out} goes on as it was begun; leave --{options[0]} out")
    if not paths and not (out / RECORD).exists():
        raise StoreError(f"{out} holds no study; name recordings to begin one")
    conditions(given)
    prices.model_prices(given.model)
    for each in given.policies:
        policies.load(each)
    for each in {given.reader, given.judge} - {FILES}:
        wire_of(each)
    try:
        with files.held(out / ".running"):
            folder = StudyFolder(out)
            if paths and folder.moments and folder.settings != given:
                raise StoreError(f"{out} holds a study with other settings; name another folder")
            if paths and folder.settings != given:
                folder.add(settings=given)
            _run(folder, folder.settings or given, yes=yes)
    except OSError as failure:
        raise StoreError(f"{out}: {failure.strerror or failure}") from failure


def _run(folder: StudyFolder, settings: StudySettings, *, yes: bool) -> None:
    from rich.console import Console

    from hippocampus.cli.options import track
    from hippocampus.replay.study.asking import estimate, judge_steps, take_steps
    from hippocampus.replay.study.cases import prepare

    console, problems = Console(stderr=True), list[str]()
    work = prepare(folder, settings, problems.append)
    prepared = list(track(work, settings.cases, console, "preparing"))
    if len(prepared) < settings.cases:
        count = f"{len(prepared)} of {settings.cases} moments"
        problems.append(f"{count}: no other session has a fitting one")
    prices = estimate(folder, settings)
    for each in (*problems, *prices):
        typer.echo(each, err=True)
    if prices and not yes:
        typer.confirm("Each recall sends its request once more. Ask?", abort=True, err=True)
    steps = len(folder.readings())
    for problem in (
        *track(take_steps(folder, settings), steps, console, "reading"),
        *track(judge_steps(folder, settings), 2 * len(prepared), console, "judging"),
    ):
        if problem:
            typer.echo(problem, err=True)
    _report(folder, settings)


def _report(folder: StudyFolder, settings: StudySettings) -> None:
    """Print the table, and write the page."""
    from rich.console import Console
    from rich.table import Table

    from hippocampus.replay.study.report import StudyReport
    from hippocampus.storage import files

    found, page = StudyReport.of(folder, settings), folder.path / "report.html"
    files.replace_file(page, found.page().encode("utf-8", "replace"))
    titles, *lines = zip(*found.rows(), strict=True)  # a terminal has no room for ten columns
    table = Table(box=None, pad_edge=False)
    for number, title in enumerate(titles):
        table.add_column(title, justify="right" if number else "left")
    for line in lines:
        table.add_row(*line)
    if found.figures:
        Console(width=None if sys.stdout.isatty() else PIPED_WIDTH, markup=False).print(table)
    for each in (*found.sentences(), f"Page: {page}"):
        typer.echo(each)
    if found.missing:
        more = f"hippocampus study --out {folder.path}"
        typer.echo(f"{len(found.missing)} answers are missing; to go on: {more}", err=True)


@app.command()
def recall(
    case: Annotated[Path, typer.Argument(help="The file of the case.")],
    arguments: Annotated[str, typer.Argument(help="The arguments of recall, as JSON.")],
) -> None:
    """Answer a recall of a reader of files from what was stored at the moment of the case."""
    from hippocampus.replay.study.asking import answered

    typer.echo(answered(case, arguments))
