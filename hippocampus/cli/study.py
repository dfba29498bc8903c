"""`hippocampus study`: whether a model takes the same next step under a policy. Parses and prints."""

from __future__ import annotations

import functools
import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from hippocampus import policy as policies
from hippocampus import prices
from hippocampus.cli.options import RecordedPaths, print_table, track
from hippocampus.errors import without_password
from hippocampus.storage import files

if TYPE_CHECKING:
    from hippocampus.replay.study.folder import StudyFolder


TO_ANSWER = (
    "Each folder named above is for one reader or judge. Its files ask for a line of JSON each in "
    "its answers.jsonl; docs/how-to/study.md has more."
)


def study(  # noqa: PLR0913, PLR0917 - one parameter an option
    out: Annotated[Path, Option(help="The folder of the study, made if it does not exist.")],
    paths: RecordedPaths,
    cases: Annotated[int, Option(min=2, help="The number of moments.")] = 24,
    policy: Annotated[
        list[str] | None,
        Option(help="A policy's name or path, a condition each; `default` without it."),
    ] = None,
    against: Annotated[
        str, Option(help="raw (always there); offload, long results cut at 4,000 characters.")
    ] = "raw,offload",
    seed: Annotated[int, Option(help="The seed by which moments are drawn.")] = 7,
    from_tokens: Annotated[int, Option(help="The fewest tokens of a whole list.")] = 0,
    window: Annotated[int, Option(help="The most tokens of a whole list.")] = 60000,
    model: Annotated[
        str, Option(help="The model whose prices decide the views and their cost.")
    ] = prices.DEFAULT_MODEL,
    reader: Annotated[
        str,
        Option(
            help="Who takes the steps: files, openai:MODEL or anthropic:MODEL, @URL after it for others."
        ),
    ] = "files",
    judge: Annotated[str | None, Option(help="Who compares; else the reader.")] = None,
    yes: Annotated[bool, Option("--yes", help="Do not confirm the price.")] = False,
) -> None:
    """Pick moments of recorded sessions, take the next step under each condition, and compare.

    The same command again goes on where the last run stopped.
    """
    from hippocampus.replay import journal
    from hippocampus.replay.study.asking import FILES
    from hippocampus.replay.study.folder import StudyFolder, StudySettings
    from hippocampus.replay.study.wires import wire_of

    others, named = list(filter(None, against.split(","))), policy or ["default"]
    asked = (seed, from_tokens, window, model, reader, judge or reader)
    shown = list(map(without_password, paths))
    given = StudySettings(shown, cases, named, others, *asked)
    given.conditions()
    prices.model_prices(given.model)
    for policy_name in given.policies:
        policies.load(policy_name)
    for model_name in {given.reader, given.judge} - {FILES}:
        wire_of(model_name)
    with journal.held(out):
        _run(StudyFolder(out, given), paths, yes=yes)


def _run(folder: StudyFolder, paths: list[str], *, yes: bool) -> None:
    """Prepare, read, judge, print the table, and write the page."""
    from hippocampus.replay.study.asking import FILES, estimate, judge_steps, take_steps
    from hippocampus.replay.study.cases import prepare
    from hippocampus.replay.study.report import StudyReport

    say, wanted = functools.partial(typer.echo, err=True), folder.settings.cases
    done = len(list(track(prepare(folder, paths, say), wanted, "preparing")))
    if done < wanted:
        say(f"{done} of {wanted} moments: one a session, and no further session has one")
    prices = estimate(folder)
    for sentence in prices:
        say(sentence)
    if prices and not yes:
        typer.confirm("Each recall sends its request once more. Ask?", abort=True, err=True)
    steps = track(take_steps(folder), len(folder.by_id()), "reading")
    verdicts = track(judge_steps(folder), 2 * done, "judging")
    for problem in filter(None, itertools.chain(steps, verdicts)):
        say(problem)
    report, page = StudyReport(folder), folder.path / "report.html"
    files.replace_file(page, report.page().encode("utf-8", "replace"))
    titles, *lines = zip(*report.rows(), strict=True)  # transposed: ten columns are too wide
    if report.figures:
        print_table(titles, lines)
    for sentence in (*report.sentences, f"Page: {page}"):
        typer.echo(sentence)
    if report.missing:
        missing = f"{len(report.missing)} answers of readers and judges are missing"
        say(f"{missing}; the same command again goes on")
        if FILES in {folder.settings.reader, folder.settings.judge}:
            say(TO_ANSWER)
    if estimate(folder):  # a model was asked and has not answered
        raise typer.Exit(1)


def recall(
    case: Annotated[Path, Argument(help="The file of the case.")],
    arguments: Annotated[str, Argument(help="The arguments of recall, as JSON.")],
) -> None:
    """Answer a recall of a reader of files from what was stored at the moment of the case."""
    from hippocampus.replay.study.asking import answered

    typer.echo(answered(case, arguments))
