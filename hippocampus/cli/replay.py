"""`hippocampus replay`, `explain` and `tune`: what a policy does to recorded sessions."""

from __future__ import annotations

import contextlib
import json
import os
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import typer

from hippocampus.cli.options import AsJson, PolicyName, console, fail
from hippocampus.policy.words import PriceTable
from hippocampus.prices import DEFAULT_MODEL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from hippocampus.policy import Resolution, Subject
    from hippocampus.prices import Prices
    from hippocampus.replay.corpus import Corpus
    from hippocampus.replay.recording import Recording
    from hippocampus.replay.workers import Engine

MISSING = "no such file or directory"
MAX_TEXT_CHARACTERS = 48
"""The start of an entry's text that a row has."""
HELP = """Replay recorded sessions and print what each strategy costs and what it hides.

tokens, net cost: in percent of sending everything, cached tokens at their price. A call with a \
hidden value or line is charged one recall: its view again at the cached price, and a slice of 400 \
tokens at the write price, or of 2,000 tokens where a line is hidden.

values, lines: of the values (names, ids, paths, numbers) and of the whole lines that tool results \
brought and that the agent wrote again, the share that stood in the view when it wrote them.

read: of the tokens of the results that the agent asked to read (files, pages, documents, answers \
of sub-agents; code or prose, 1,000 tokens or more), the share that stood in full in the next view.

if read: the net cost if the agent recalls each of the other results in full, in one more call each.
"""


def replay(  # noqa: PLR0913, PLR0917 - one parameter an option
    paths: Annotated[list[Path], typer.Argument(help="Files and folders of recorded sessions.")],
    policy: PolicyName = "default",
    model: Annotated[
        str,
        typer.Option(
            help="The model whose price and window are used; of `recorded` each recording's own, or "
            f"{DEFAULT_MODEL}'s where its price is not known."
        ),
    ] = "recorded",
    prices: Annotated[
        str | None,
        typer.Option(
            help=f"A price table instead of the model's own: {', '.join(get_args(PriceTable))}."
        ),
    ] = None,
    marks: Annotated[
        Literal["tail", "ours", "ideal"],
        typer.Option(
            help="The cache marks of every request: one at its end (tail), two of ours too (ours), or "
            "a cache that needs none (ideal)."
        ),
    ] = "ours",
    compare: Annotated[
        bool, typer.Option("--compare", help="Run the other strategies and the lower bound too.")
    ] = False,
    as_json: AsJson = False,
    report: Annotated[
        Path | None, typer.Option(help="Write one self-contained HTML page to this file.")
    ] = None,
    texts: Annotated[
        bool,
        typer.Option(
            "--texts",
            help="With --report, write pages with the raw list next to the view into a folder next to it.",
        ),
    ] = False,
    billed: Annotated[
        bool,
        typer.Option(
            "--billed",
            help="Print the predicted next to the recorded bill of each recording that has one, and "
            "replay nothing.",
        ),
    ] = False,
    outcomes: Annotated[
        bool,
        typer.Option(
            "--outcomes",
            help="Print, by folder, how many of the values and lines that decisive steps quote stood in the view: the calls "
            "that wrote the submitted patch. Put solved and unsolved tasks in folders of these names.",
        ),
    ] = False,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Exit with status 1 if a file or a line cannot be read."),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            help="A folder for the rows of each file, as JSON lines, from which an interrupted run goes on."
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the run in the folder of --out.")
    ] = False,
    engine: Annotated[
        Literal["processes", "ray"],
        typer.Option(
            help="Processes of this machine, or the Ray cluster of RAY_ADDRESS, which must see the "
            "same files; without an address, one on this machine."
        ),
    ] = "processes",
    jobs: Annotated[
        int | None,
        typer.Option(
            min=1, help="Files at a time; as many as this process may use cores if not given."
        ),
    ] = None,
) -> None:
    """Replay recorded sessions and print what each strategy costs and what it hides."""
    from hippocampus import policy as policies
    from hippocampus import prices as price_tables
    from hippocampus.replay.corpus import Corpus
    from hippocampus.replay.run import Options, outcome
    from hippocampus.storage.files import temporary_folder

    if billed and (compare or report is not None):
        fail("--billed replays nothing; leave out --compare and --report, or --billed")
    if resume and out is None:
        fail("--resume goes on with the run in a folder: name it by --out")
    by_model = model == "recorded"
    table = price_tables.prices_for(prices, None if by_model else model)
    if billed:
        _print_bills(paths, table, as_json=as_json)
        return
    if texts and report is None:
        fail("--texts writes into a folder next to the page: name that by --report")
    if report is not None:
        _expect_writable(report, paths)
    options = Options(
        policies.load(policy),
        table,
        compare=compare,
        views=report is not None,
        outcomes=outcomes,
        marks=marks,
        by_model=by_model,
        texts=report.with_name(f"{report.stem}-texts") if report and texts else None,
    )
    if out is not None:
        _expect_apart(out, paths)
    with nullcontext(out) if out else temporary_folder("hippocampus-rows") as folder:
        corpus = Corpus(folder, options)
        _replay(paths, corpus, engine=engine, jobs=jobs, resume=resume)
        found = outcome(corpus, options)
        _print_outcome(found, as_json=as_json)
        if report is not None:
            from hippocampus.replay.page import write_page

            try:
                write_page(found, report)
            except OSError as failure:
                fail(f"the report cannot be written to {report}: {failure.strerror}")
    _end(found, strict=strict)


def _print_outcome(found: dict[str, Any], *, as_json: bool) -> None:
    from hippocampus.replay.outcomes import print_outcomes
    from hippocampus.replay.run import json_pieces
    from hippocampus.replay.table import print_outcome

    if as_json:
        for piece in json_pieces(found):
            typer.echo(piece, nl=False)
        typer.echo()
    elif found["outcomes"]:
        print_outcomes(found["outcomes"], found["ours"], console())
    elif found["total"]:
        print_outcome(found, console())


def _print_bills(paths: Sequence[Path], otherwise: Prices, *, as_json: bool) -> None:
    """Print the predicted next to the recorded bills; `otherwise` prices models without a price."""
    from hippocampus.errors import RecordingError
    from hippocampus.replay.billed import compared, figures, table
    from hippocampus.replay.readers import find_files, read_file

    found = []
    for path in find_files([each for each in paths if each.exists()] or paths):
        with contextlib.suppress(RecordingError):
            found += [compared(recording, otherwise) for recording in read_file(path)]
    bills = [bill for bill in found if bill is not None]
    if not bills:
        fail("no recording there has 20 calls with the provider's own counts")
    typer.echo(json.dumps(list(map(figures, bills))) if as_json else table(bills))


def _expect_writable(out: Path, paths: Sequence[Path]) -> None:
    """Fail where a file cannot be written, before a replay that may take minutes, or is replayed."""
    from hippocampus.replay.readers import find_files

    recordings = find_files(path for path in paths if path.exists())
    if out.is_dir():
        problem = "a folder; name a file in it"
    elif not out.parent.is_dir():
        problem = f"there is no folder {out.parent}"
    elif out.resolve() in {recording.resolve() for recording in recordings}:
        problem = "one of the recordings; name another file"
    elif not os.access(out if out.exists() else out.parent, os.W_OK):
        problem = "not writable"
    else:
        return
    fail(f"nothing can be written to {out}: {problem}")


def _expect_apart(out: Path, paths: Sequence[Path]) -> None:
    """Fail where the rows would be written among the recordings, and read as such the next time."""
    folders = {each.resolve() for each in paths}
    if folders & {out.resolve(), *out.resolve().parents}:
        fail(f"the rows cannot be written to {out}, which is in a folder of recordings")


def _replay(
    paths: Sequence[Path], corpus: Corpus, *, engine: Engine, jobs: int | None, resume: bool
) -> None:
    """Replay with a progress bar, shown after two seconds.

    Of several paths one that does not exist is left out, and listed like a file that is no recording.
    """
    from rich.console import Console

    from hippocampus.cli.options import track
    from hippocampus.replay.readers import iter_files

    existing = [path for path in paths if path.exists()]
    corpus.left_out.extend(
        {"path": str(path), "reason": MISSING} for path in paths if path not in existing
    )
    count = sum(1 for _ in iter_files(existing or paths))
    done = corpus.replay(iter_files(existing), engine=engine, jobs=jobs, resume=resume)
    for _ in track(done, count, Console(stderr=True)):
        pass


def _end(found: dict[str, Any], *, strict: bool) -> None:
    """Print what was left out, and set the exit status."""
    from hippocampus.replay.workers import KILLED

    skipped = found["skipped"]
    if not found["total"]:
        for each in skipped:
            typer.echo(f"{each['path']}: {each['reason']}", err=True)
        fail("no recorded session found there")
    broken = found["total"]["raw"]["broken_lines"]
    killed = any(each["reason"] == KILLED for each in skipped)
    if (strict and (skipped or broken)) or killed:
        typer.echo(f"hippocampus: {len(skipped)} files and {broken} lines not read", err=True)
        raise typer.Exit(1)


def explain(
    file: Annotated[Path, typer.Argument(help="One recorded session.")],
    turn: Annotated[
        int | None,
        typer.Option(
            help="The turn (call) whose view is shown, counted from 0; left out, the rules."
        ),
    ] = None,
    policy: PolicyName = "default",
    model: Annotated[str, typer.Option(help="The model whose prices are used.")] = DEFAULT_MODEL,
    as_json: AsJson = False,
) -> None:
    """Print what the rules set for each entry, or the view at a turn with the reason of each difference."""
    from hippocampus import policy as policies
    from hippocampus import prices
    from hippocampus.replay import explanation
    from hippocampus.replay.readers import read_file

    recordings = list(read_file(file))
    found = policies.load(policy)
    if not recordings:
        fail(f"{file} holds no conversation")
    if turn is not None:
        if as_json:
            fail("--json prints what the rules set; leave out --turn")
        explained = prices.model_prices(model)
        explanation.print_explanation(recordings[0], turn, found, explained, console())
        return
    rows = [
        (recording, *row)
        for recording in recordings
        for row in explanation.treated(recording, found)
    ]
    if not rows:
        fail(f"{file} holds no conversation")
    if as_json:
        typer.echo(json.dumps([_treated_row(*row) for row in rows], ensure_ascii=False))
    else:
        console().print(_treated_table(rows, found.name))


def _treated_row(
    recording: Recording, message: int, subject: Subject, resolution: Resolution
) -> dict[str, object]:
    return {
        "conversation": recording.name,
        "message": message,
        "type": subject.type,
        "source.type": subject.source_type,
        "tool": subject.tool,
        "tokens": subject.tokens,
        "said": {name: _value(resolution, name) for name in resolution.because},
        "because": dict(resolution.because),
        "withheld": dict(resolution.withheld),
    }


def _value(resolution: Resolution, name: str) -> object:
    value = getattr(resolution, name)
    dump = getattr(value, "model_dump", None)
    return dump(exclude_defaults=True) if dump else value


def _treated_table(
    rows: Sequence[tuple[Recording, int, Subject, Resolution]], policy_name: str
) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(title=f"policy {policy_name}", show_lines=False)
    table.add_column("#", justify="right")
    table.add_column("entry", ratio=1, overflow="fold")
    table.add_column("tokens", justify="right")
    table.add_column("what the rules set", ratio=1, overflow="fold")
    for _, message, subject, resolution in rows:
        because = resolution.because.items()
        lines = [f"{name}: {_value(resolution, name)} ({rule})" for name, rule in because]
        lines += [
            f"{name} withheld: content cannot raise itself ({rule})"
            for name, rule in resolution.withheld.items()
        ]
        words = " ".join(subject.text[: 4 * MAX_TEXT_CHARACTERS].split())
        if len(words) > MAX_TEXT_CHARACTERS:
            words = f"{words[:MAX_TEXT_CHARACTERS]}…"
        entry = Text(f"{subject.type} {subject.source_type}: {words}")
        sentences = Text("\n".join(lines) or "no rule matches")
        table.add_row(str(message), entry, f"{subject.tokens:,}", sentences)
    return table


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
    from hippocampus.prices import model_prices
    from hippocampus.replay import tune as tuning
    from hippocampus.replay.readers import find_files
    from hippocampus.replay.table import shares_table

    _expect_writable(out, paths)
    prices = model_prices(DEFAULT_MODEL)
    found = tuning.tune(find_files(paths), policies.load(policy), prices)
    terminal = console()
    scores = Table("Brier score", *found.scores)
    scores.add_row("owners left out", *(f"{score:.4f}" for score in found.scores.values()))
    terminal.print(scores)
    terminal.print(f"At strength 1 the chance of a use in ten calls is {found.law.chance:.2f}.")
    rows = {f"policy {policy}": found.before, "tuned": found.after}
    figures = {name: sums.figures(found.everything) for name, sums in rows.items()}
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
