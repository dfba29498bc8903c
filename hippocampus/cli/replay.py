"""The commands on recorded sessions: replay, explain and tune policies, study and try agents, measure retrieval."""

from __future__ import annotations

import functools
import itertools
import os
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout, suppress
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import typer
from typer import Argument, Option

from hippocampus import policy as policies
from hippocampus import prices as price_tables
from hippocampus.cli import options as out
from hippocampus.cli.fact_database import embed
from hippocampus.cli.options import AsJson, Shown, fail, say
from hippocampus.errors import RecordingError, without_password
from hippocampus.formats.usage import Usage
from hippocampus.indexing.extraction import counted
from hippocampus.policy.value_types import PriceTable
from hippocampus.prices import DEFAULT_MODEL
from hippocampus.storage import files

if TYPE_CHECKING:
    from hippocampus.replay.bench.retrieval import BenchConversation
    from hippocampus.replay.study.folder import StudyFolder

PricedAs = Annotated[
    str, Option(help=f"Whose prices; `recorded`: each one's own, else {DEFAULT_MODEL}'s.")
]
TO_ANSWER = (
    "Each folder named above is for one reader or judge. Its files ask for a line of JSON each in "
    "its answers.jsonl; docs/how-to/study.md has more."
)
TOKENS = ("input_tokens", "cached_tokens", "output_tokens")
USUAL_CALL = Usage(input_tokens=2_000, cache_read_tokens=18_000, output_tokens=300)
USUAL_CALLS = 80
"""The calls of a pair of attempts."""
FIGURES = ("solved", "calls", *TOKENS, "dollars", "seconds", "recalls")
"""The rows of a trial's table."""
WAYS = {
    "plain_fts5": "plain FTS5",
    "without_model": "without a model",
    "with_embedding": "with the embedding",
}
HELP = resources.files(__package__).joinpath("replay.txt").read_text("utf-8")


def replay(  # noqa: PLR0913, PLR0917 - one parameter an option
    paths: out.RecordedPaths,
    policy: out.PolicyName = "default",
    model: PricedAs = "recorded",
    prices: Annotated[
        str | None, Option(help=f"A table instead: {', '.join(get_args(PriceTable))}.")
    ] = None,
    marks: Annotated[
        Literal["tail", "ours", "ideal"],
        Option(help="Cache marks: at each end (tail), two of ours too, or none needed (ideal)."),
    ] = "ours",
    compare: Annotated[bool, Option("--compare", help="Other strategies and the floor.")] = False,
    as_json: AsJson = False,
    report: Annotated[Path | None, Option(help="Write one HTML page to this file.")] = None,
    texts: Annotated[bool, Option("--texts", help="With --report, pages of both lists.")] = False,
    strict: Annotated[bool, Option("--strict", help="Status 1 if a line is not read.")] = False,
    target: Annotated[
        str | None, Option("--out", help="A folder or bucket for the rows of each file.")
    ] = None,
    resume: Annotated[
        bool, Option("--resume", help="With --out, keep the rows there of files that are the same.")
    ] = False,
    engine: out.EngineName = "processes",
    jobs: out.Jobs = None,
) -> None:
    """Replay recorded sessions and print what each strategy costs and what it hides."""
    from hippocampus.replay import run
    from hippocampus.replay.buckets import is_bucket
    from hippocampus.replay.corpus import Corpus
    from hippocampus.replay.readers import MISSING, find_files

    if texts and not report:
        fail("--texts writes into a folder next to the page: name it by --report")
    if resume and not target:
        fail("--resume goes on with the rows in a folder or bucket: name it by --out")
    by_model = model == "recorded"
    if report is not None:
        _expect_writable(report)
    if target and not is_bucket(target):
        to, *named = (Path(os.path.realpath(path)) for path in (target, *paths))
        holds_file = any(path.is_file() and path.parent == to for path in named)
        if holds_file or {*named} & {to, *to.parents}:
            fail(f"the rows cannot be written to {target}, in a folder of recordings")
        _expect_writable(to / ".writable", in_new_folder=True)
    options = run.Options(
        policies.load(policy),
        price_tables.prices_for(prices, None if by_model else model),
        compare=compare,
        marks=marks,
        by_model=by_model,
        texts=report.with_name(f"{report.stem}-texts") if report and texts else None,
    )
    if options.texts:
        _expect_writable(options.texts / ".writable", in_new_folder=True)
    corpus = Corpus(target, options, resume)
    gone: list[str] = []
    # Listed twice, once for the bar of progress: a corpus in a bucket is no list in memory.
    count = sum(1 for _ in find_files(paths, gone))
    if len(gone) == len(paths):
        raise RecordingError(gone[0], MISSING)
    for path in gone:
        corpus.leave_out(path, MISSING)
    done = corpus.replay(find_files(paths, []), engine=engine, jobs=jobs)
    with redirect_stdout(sys.stderr):  # Ray prints what its workers died of
        for _ in out.track(done, count):
            pass
    _print_outcome(run.outcome(corpus, options), report, as_json=as_json, strict=strict)


def _print_outcome(
    found: dict[str, Any], report: Path | None, *, as_json: bool, strict: bool
) -> None:
    """Print the figures, write the page, print the files that were skipped, and set the exit status."""
    from hippocampus.replay import run, table
    from hippocampus.replay.page import write_page
    from hippocampus.replay.readers.formats import NAMES
    from hippocampus.replay.workers import KILLED

    if as_json:
        for piece in run.json_pieces(found):
            typer.echo(piece, nl=False)
        typer.echo()
    elif found["total"]:
        table.print_outcome(found, out.console())
    if report is not None:
        try:
            write_page(found, report)
        except OSError as failure:
            fail(f"the report cannot be written to {report}: {failure.strerror}")
    skipped = found["skipped"]
    if not found["total"]:
        for file in skipped:
            typer.echo(f"{file['path']}: {file['reason']}", err=True)
        fail(f"no recorded session in these paths; the known formats: {', '.join(NAMES)}")
    broken = found["total"]["raw"]["broken_lines"]
    is_killed = any(file["reason"] == KILLED for file in skipped)
    if is_killed or (strict and (skipped or broken)):
        out.warn(f"{counted(len(skipped), 'file')} and {counted(broken, 'line')} not read")
        raise typer.Exit(1)


def _expect_writable(out: Path, *, in_new_folder: bool = False) -> None:
    """Fail before a replay of minutes if the output cannot be written, or would replace a recording."""
    from hippocampus.replay.readers import read_file

    with suppress(RecordingError):
        if out.is_file() and read_file(out):
            fail(f"nothing can be written to {out}: it is a recording; name another file")
    is_new = not os.path.lexists(out)
    try:
        if in_new_folder:
            files.private_folder(out.parent)
        # No waiting for the reader of a pipe; one that there is, such as of `>(gzip)`, gets the report.
        no_wait = getattr(os, "O_NONBLOCK", 0)
        os.close(os.open(out, os.O_WRONLY | os.O_CREAT | no_wait, 0o600))
    except OSError as failure:
        fail(f"nothing can be written to {out}: {failure.strerror or failure}")
    if is_new:
        out.unlink()


def explain(
    file: Annotated[
        str,
        Argument(
            envvar="HIPPOCAMPUS_STATE",
            help="One recorded session: FILE, FILE#NAME, DIR/state.sqlite3/ID or ADDRESS#TENANT/ID.",
        ),
    ],
    turn: Annotated[int | None, Option(help="The call to show, from 0; else the rules.")] = None,
    policy: out.PolicyName = "default",
    model: PricedAs = "recorded",
) -> None:
    """Print what the rules set for each entry, or the view at a turn with the reason of each difference."""
    from hippocampus.replay import explanation
    from hippocampus.replay.readers import find_files, read_file
    from hippocampus.replay.run import Options

    # FILE#NAME is one conversation of a file, unless a file has that very name.
    whole = file.rpartition("#")[0]
    path = whole if Path(whole).is_file() and not Path(file).exists() else file
    sources = list(find_files([path]))
    if len(sources) > 1:
        fail(f"{file} has {len(sources)} files or sessions; name one, such as {sources[0]}")
    read = (recording for source in sources for recording in read_file(source))
    name = Path(file).name
    recordings = [recording for recording in read if path == file or recording.name == name]
    found = policies.load(policy)
    if recordings and turn is not None:
        if len(recordings) > 1:
            one = file.removesuffix(Path(file).name) + recordings[0].name
            fail(f"{file} has {len(recordings)} conversations; name one, such as {one}")
        by_model = model == "recorded"
        prices = price_tables.model_prices(DEFAULT_MODEL if by_model else model)
        own = Options(found, prices, by_model=by_model).prices_of(recordings[0].model)
        explanation.print_explanation(recordings[0], turn, found, own or prices, out.console())
        return
    lines = [line for each in recordings for line in explanation.rule_lines(each, found)]
    if not lines:
        fail(f"{file} holds no conversation")
    if not any(line.startswith(" ") for line in lines):
        lines.append(f"no rule of policy {policy} sets anything here")
    say("\n".join(lines))


def tune(
    paths: out.RecordedPaths,
    target: Annotated[
        Path, Option("--out", help="The policy file to write, if there is a better one.")
    ],
    policy: out.PolicyName = "default",
    engine: out.EngineName = "processes",
    jobs: out.Jobs = None,
) -> None:
    """Fit decay and thresholds to recordings, and write a policy if it holds on those left out."""
    import yaml

    from hippocampus.replay import tune as tuning
    from hippocampus.replay.readers import find_files
    from hippocampus.replay.summary import figures_of
    from hippocampus.replay.table import figures_table
    from hippocampus.replay.workers import over_files

    _expect_writable(target)
    prices = price_tables.model_prices(DEFAULT_MODEL)
    own = policies.load(policy)
    over = functools.partial(over_files, engine=engine, jobs=jobs)
    found = tuning.tune(list(find_files(paths)), own, prices, out.track, over)
    terminal = out.console()
    scores = [f"{score:.4f}" for score in found.scores.values()]
    out.print_table(("Brier score", *found.scores), [("owners left out", *scores)])
    terminal.print(f"At strength 1 the chance of a use in ten calls is {found.law.chance:.2f}.")
    named = {f"policy {policy}": tuning.law_of(own).numbers, "fitted": found.law.numbers}
    before, after = named.values()
    moved = [name for name, value in after.items() if value != before[name]]
    if moved:
        lines = ([name, *(f"{law[key]:g}" for key in moved)] for name, law in named.items())
        out.print_table(("", *moved), lines)
    rows = {f"policy {policy}": found.before, "tuned": found.after}
    figures = {name: figures_of(sums, found.everything) for name, sums in rows.items()}
    terminal.print(figures_table("owners left out", figures))
    if not found.changes:
        terminal.print(
            f"On the owners left out, no other numbers cost less than policy {policy} and show as "
            "much: nothing is written.",
            markup=False,
        )
        return
    base = policy if policy in policies.shipped() else str(Path(policy).resolve())
    written = {"name": "tuned", "extends": base, **found.changes}
    text = yaml.safe_dump(written, sort_keys=False, allow_unicode=True)
    try:
        target.write_text(text, "utf-8")
    except OSError as failure:
        fail(f"{target} cannot be written: {failure.strerror}")
    terminal.print(f"Written to {target}:\n{text}", markup=False)


def study(  # noqa: PLR0913, PLR0917 - one parameter an option
    folder: Annotated[
        Path, Option("--out", help="The folder of the study, made if it does not exist.")
    ],
    paths: out.RecordedPaths,
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
    ] = DEFAULT_MODEL,
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
    price_tables.model_prices(given.model)
    for policy_name in given.policies:
        policies.load(policy_name)
    for model_name in {given.reader, given.judge} - {FILES}:
        wire_of(model_name)
    with journal.lock(folder):
        _print_study(StudyFolder(folder, given), paths, yes=yes)


def _print_study(folder: StudyFolder, paths: list[str], *, yes: bool) -> None:
    """Prepare, read, judge, print the table, and write the page."""
    from hippocampus.replay.study.asking import FILES, estimate, judge_steps, take_steps
    from hippocampus.replay.study.cases import prepare
    from hippocampus.replay.study.figures import StudyReport

    warn, wanted = functools.partial(typer.echo, err=True), folder.settings.cases
    done = len(list(out.track(prepare(folder, paths, warn), wanted, "preparing")))
    if done < wanted:
        warn(f"{done} of {wanted} moments: one a session, and no further session has one")
    prices = estimate(folder)
    for sentence in prices:
        warn(sentence)
    if prices and not yes:
        typer.confirm("Each recall sends its request once more. Ask?", abort=True, err=True)
    steps = out.track(take_steps(folder), len(folder.by_id()), "reading")
    verdicts = out.track(judge_steps(folder), 2 * done, "judging")
    for problem in filter(None, itertools.chain(steps, verdicts)):
        warn(problem)
    report, page = StudyReport(folder), folder.path / "report.html"
    files.replace_file(page, report.page().encode("utf-8", "replace"))
    titles, *lines = zip(*report.rows(), strict=True)  # transposed: ten columns are too wide
    if report.figures:
        out.print_table(titles, lines)
    for sentence in (*report.sentences, f"Page: {page}"):
        typer.echo(sentence)
    if report.missing:
        missing = f"{len(report.missing)} answers of readers and judges are missing"
        warn(f"{missing}; the same command again goes on")
        if FILES in {folder.settings.reader, folder.settings.judge}:
            warn(TO_ANSWER)
    if estimate(folder):  # a model was asked and has not answered
        raise typer.Exit(1)


def study_recall(
    case: Annotated[Path, Argument(help="The file of the case.")],
    arguments: Annotated[str, Argument(help="The arguments of recall, as JSON.")],
) -> None:
    """Answer a recall of a reader of files from what was stored at the moment of the case."""
    from hippocampus.replay.study.asking import answer_file_recall

    typer.echo(answer_file_recall(case, arguments))


def trial(  # noqa: PLR0913, PLR0917 - one parameter an option
    tasks: Annotated[
        Path,
        Argument(
            exists=True,
            file_okay=False,
            help="A folder of tasks: folders with prompt.md, workspace and verify.",
        ),
    ],
    folder: Annotated[
        Path, Option("--out", help="The folder of the trial, made if it does not exist.")
    ],
    model: Annotated[
        str,
        Option(help="openai:MODEL or anthropic:MODEL, with @URL after it for another endpoint."),
    ],
    policy: out.PolicyName = "default",
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
    with journal.lock(folder):
        found = trials.tasks_in(tasks)
        digest = trials.digest_of(found)
        settings = trials.TrialSettings(digest, model, policy, calls, seconds, seed)
        record = trials.TrialRecord(folder, settings)
        typer.echo(_trial_plan(len(found), calls, wire.model, budget), err=True)
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
    out.print_table(("", "raw", "view"), rows)
    if figures["cost_percent"]:
        cost, low, high = figures["cost_percent"]
        typer.echo(f"Cost of the view: {cost} % [{low}, {high}] of the whole list's.")
    typer.echo(
        f"Solved by the whole list alone {figures['solved_by_raw_alone']}, by the view alone "
        f"{figures['solved_by_view_alone']}: p = {figures['mcnemar_p']:.3f} (McNemar, exact)."
    )


def _trial_plan(pairs: int, calls: int, model: str, budget: float) -> str:
    """Return the number of pairs that a difference needs, and their price if calls are of usual size."""
    from hippocampus.replay.study.wires import list_price
    from hippocampus.replay.trial import PAIRS_NEEDED

    price = list_price(model, USUAL_CALL)
    pair_price = (
        f"${price * USUAL_CALLS:,.2f} a pair" if price is not None else "no price is known for it"
    )
    bound = f"; at most ${budget:,.2f} are spent" if budget else ""
    return (
        f"{pairs} pairs with {model}, at most {2 * pairs * calls:,} calls. A difference of 5 points in "
        f"solved tasks needs about {PAIRS_NEEDED:,} pairs if one in five differs. 40 calls an attempt of "
        f"20,000 tokens, nine of ten cached: {pair_price}{bound}."
    )


bench = typer.Typer(
    help="Measure retrieval on public data sets.", no_args_is_help=True, add_completion=False
)


@bench.command()
def locomo(
    file: Annotated[Path, Argument(help="LoCoMo's JSON file: a list of conversations.")],
    as_json: AsJson = False,
) -> None:
    """Measure which share of the evidence for LoCoMo's questions a recall finds."""
    from hippocampus.replay.bench import locomo

    _print_bench(locomo.read(file), as_json=as_json)


@bench.command()
def beam(
    folders: Annotated[list[Path], Argument(help="Folders of BEAM's chats, one for each length.")],
    as_json: AsJson = False,
) -> None:
    """Measure which share of the evidence for BEAM's questions a recall finds."""
    from hippocampus.replay.bench import beam

    _print_bench(beam.read(folders), as_json=as_json)


def _print_bench(conversations: Sequence[BenchConversation], *, as_json: bool) -> None:
    """Print a report as JSON, or as a table with a column per retrieval method.

    The embedding is that of the environment, or else the local one if it is installed.
    """
    from hippocampus.models.local_embedding import LocalEmbedder, installed
    from hippocampus.replay.bench import retrieval

    if not installed():
        needed = 'pip install "hippocampus-context[embedding]"'
        typer.echo(f"for the local embedding: {needed}", err=True)
    embedding = embed() or (LocalEmbedder() if installed() else None)
    found = retrieval.report(conversations, embedding)
    ways = [found[way] for way in WAYS if way in found]
    cut = retrieval.HEADLINE_CUT
    rows = {
        f"{place} @{cut}": [way[place][cut] for way in ways]
        for place in retrieval.PLACES
        for cut in ways[0][place]
    }
    for field in ("by_category", "by_length"):
        for name, group in ways[0][field].items():
            label = f"{name} ({group['questions']})"
            rows[label] = [way[field][name]["turn"][cut] for way in ways]
    lines = [f"{found['questions']} questions; share of the evidence that is found"]
    lines.append(f"{'':32}" + "".join(f"{WAYS[way]:>20}" for way in WAYS if way in found))
    for name, values in rows.items():
        lines.append(f"{name:32}" + "".join(f"{value:20.3f}" for value in values))
    Shown(found, lines).show(as_json=as_json)
