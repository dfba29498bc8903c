"""`hippocampus replay`, `explain` and `tune`: what a policy does to recorded sessions."""

from __future__ import annotations

import functools
import os
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import typer
from typer import Argument, Option

from hippocampus import policy as policies
from hippocampus import prices as price_tables
from hippocampus.cli.options import (
    AsJson,
    EngineName,
    Jobs,
    PolicyName,
    RecordedPaths,
    console,
    fail,
    print_table,
    say,
    track,
)
from hippocampus.errors import RecordingError
from hippocampus.indexing.extraction import counted
from hippocampus.policy.words import PriceTable
from hippocampus.prices import DEFAULT_MODEL
from hippocampus.storage import files

PricedAs = Annotated[
    str, Option(help=f"Whose prices; `recorded`: each one's own, else {DEFAULT_MODEL}'s.")
]
HELP = """Replay recorded sessions and print what each strategy costs and what it hides.

tokens, net cost: in percent of sending everything, cached tokens at their price. A call with a \
hidden value or line is charged one recall: its view again at the cached price, and a slice of 400 \
tokens at the write price, or of 2,000 tokens where a line is hidden.

values, lines: of the values (names, ids, paths, numbers) and of the whole lines that tool results \
brought and that the agent wrote again, the share that stood in the view when it wrote them.

own: the same for whole lines that the agent's own calls brought; no recall is charged for them.

read: of the tokens of the results that the agent asked to read (files, pages, documents, answers \
of sub-agents; code or prose, 1,000 tokens or more), the share that stood in full in the next view.

if read: the net cost if the agent recalls each of the other results in full, in one more call each.
"""


def replay(  # noqa: PLR0913, PLR0917 - one parameter an option
    paths: RecordedPaths,
    policy: PolicyName = "default",
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
    out: Annotated[str | None, Option(help="A folder or bucket for the rows of each file.")] = None,
    resume: Annotated[
        bool, Option("--resume", help="With --out, keep the rows there of files that are the same.")
    ] = False,
    engine: EngineName = "processes",
    jobs: Jobs = None,
) -> None:
    """Replay recorded sessions and print what each strategy costs and what it hides."""
    from hippocampus.replay import run
    from hippocampus.replay.buckets import is_bucket
    from hippocampus.replay.corpus import Corpus
    from hippocampus.replay.readers import MISSING, find_files

    if texts and not report:
        fail("--texts writes into a folder next to the page: name it by --report")
    if resume and not out:
        fail("--resume goes on with the rows in a folder or bucket: name it by --out")
    by_model = model == "recorded"
    if report is not None:
        _expect_writable(report)
    if out and not is_bucket(out):
        to, *named = (Path(os.path.realpath(path)) for path in (out, *paths))
        holds_file = any(path.is_file() and path.parent == to for path in named)
        if holds_file or {*named} & {to, *to.parents}:
            fail(f"the rows cannot be written to {out}, in a folder of recordings")
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
    corpus = Corpus(out, options, resume)
    gone: list[str] = []
    # Listed twice, once for the bar of progress: a corpus in a bucket is no list in memory.
    count = sum(1 for _ in find_files(paths, gone))
    if len(gone) == len(paths):
        raise RecordingError(gone[0], MISSING)
    for path in gone:
        corpus.leave_out(path, MISSING)
    done = corpus.replay(find_files(paths, []), engine=engine, jobs=jobs)
    for _ in track(done, count):
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
        table.print_outcome(found, console())
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
        left = f"{counted(len(skipped), 'file')} and {counted(broken, 'line')} not read"
        typer.echo(f"hippocampus: {left}", err=True)
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
    policy: PolicyName = "default",
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
        own = Options(found, prices).prices_of(recordings[0].model) if by_model else None
        explanation.print_explanation(recordings[0], turn, found, own or prices, console())
        return
    lines = [line for each in recordings for line in explanation.rule_lines(each, found)]
    if not lines:
        fail(f"{file} holds no conversation")
    if not any(line.startswith(" ") for line in lines):
        lines.append(f"no rule of policy {policy} sets anything here")
    say("\n".join(lines))


def tune(
    paths: RecordedPaths,
    out: Annotated[Path, Option(help="The policy file to write, if there is a better one.")],
    policy: PolicyName = "default",
    engine: EngineName = "processes",
    jobs: Jobs = None,
) -> None:
    """Fit decay and thresholds to recordings, and write a policy if it holds on those left out."""
    import yaml

    from hippocampus.replay import tune as tuning
    from hippocampus.replay.readers import find_files
    from hippocampus.replay.summary import figures_of
    from hippocampus.replay.table import figures_table
    from hippocampus.replay.workers import over_files

    _expect_writable(out)
    prices = price_tables.model_prices(DEFAULT_MODEL)
    own = policies.load(policy)
    over = functools.partial(over_files, engine=engine, jobs=jobs)
    found = tuning.tune(list(find_files(paths)), own, prices, track, over)
    terminal = console()
    scores = [f"{score:.4f}" for score in found.scores.values()]
    print_table(("Brier score", *found.scores), [("owners left out", *scores)])
    terminal.print(f"At strength 1 the chance of a use in ten calls is {found.law.chance:.2f}.")
    named = {f"policy {policy}": tuning.law_of(own).numbers, "fitted": found.law.numbers}
    before, after = named.values()
    moved = [name for name, value in after.items() if value != before[name]]
    if moved:
        lines = ([name, *(f"{law[key]:g}" for key in moved)] for name, law in named.items())
        print_table(("", *moved), lines)
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
        out.write_text(text, "utf-8")
    except OSError as failure:
        fail(f"{out} cannot be written: {failure.strerror}")
    terminal.print(f"Written to {out}:\n{text}", markup=False)
