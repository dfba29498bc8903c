"""`hippocampus policy`: check policy files, show and describe them, and say which rule decides what."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.table import Table

    from hippocampus.policy import Policy
    from hippocampus.replay.recording import Recording
    from hippocampus.replay.treatments import Treated

PIPED_WIDTH = 120
SHOWN_CHARACTERS = 48
"""How much of an entry's text a row shows."""

app = typer.Typer(
    help="Check, show, describe and explain policies.",
    no_args_is_help=True,
    add_completion=False,
)


@app.command()
def check(
    files: Annotated[list[str], typer.Argument(help="Policy files, or names of shipped ones.")],
) -> None:
    """Say every problem of every file with its place; exit status 1 where there is one."""
    from hippocampus import policy as policies
    from hippocampus.errors import PolicyError

    problems: list[str] = []
    for named in files:
        try:
            found = policies.load(named)
        except PolicyError as failure:
            problems += failure.problems
        else:
            typer.echo(f"{named}: policy {found.name}, {len(found.lifecycle_policies)} rules")
    for problem in problems:
        typer.echo(problem, err=True)
    if problems:
        raise typer.Exit(1)


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="A shipped policy's name, or a file.")] = "default",
    resolved: Annotated[
        bool, typer.Option("--resolved", help="With all defaults, and all that it extends.")
    ] = False,
) -> None:
    """Print a policy as it is written, or as it works."""
    from hippocampus import policy as policies

    found = policies.load(name)
    typer.echo(_written(found) if resolved else policies.text_of(name), nl=resolved)


def _written(policy: Policy) -> str:
    import yaml

    data = policy.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"extends"})
    text: str = yaml.safe_dump(data, allow_unicode=True, sort_keys=False, width=100)
    return text.rstrip("\n")


@app.command()
def schema() -> None:
    """Print the JSON Schema of policy files, from which editors complete."""
    from hippocampus.policy import Policy

    told = Policy.model_json_schema(by_alias=True)
    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    typer.echo(json.dumps({**dialect, **told}, indent=2, ensure_ascii=False))


@app.command("explain")
def explain(
    recording: Annotated[Path, typer.Argument(help="One recorded session.")],
    policy: Annotated[
        str, typer.Option(help="A shipped policy's name, or the path of a policy file.")
    ] = "default",
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON array instead of a table.")
    ] = False,
) -> None:
    """Say for each entry of a recording which rule decided what."""
    from rich.console import Console

    from hippocampus import policy as policies
    from hippocampus.replay.readers import read_file
    from hippocampus.replay.treatments import treated

    found = policies.load(policy)
    rows = [(each, row) for each in read_file(recording) for row in treated(each, found)]
    if not rows:
        typer.echo(f"hippocampus: {recording} holds no conversation", err=True)
        raise typer.Exit(2)
    if as_json:
        told = [_row(each, row) for each, row in rows]
        typer.echo(json.dumps(told, ensure_ascii=False))
    else:
        console = Console(width=None if sys.stdout.isatty() else PIPED_WIDTH)
        console.print(_table([row for _, row in rows], found))


def _row(recording: Recording, row: Treated) -> dict[str, object]:
    subject = row.subject
    return {
        "conversation": recording.name,
        "message": row.message,
        "type": subject.type,
        "source.type": subject.source_type,
        "tool": subject.tool,
        "tokens": subject.tokens,
        "said": {name: _value(row, name) for name in row.treatment.because},
        "because": dict(row.treatment.because),
        "withheld": dict(row.treatment.withheld),
    }


def _value(row: Treated, name: str) -> object:
    value = getattr(row.treatment, name)
    dump = getattr(value, "model_dump", None)
    return dump(exclude_defaults=True) if dump else value


def _table(rows: list[Treated], policy: Policy) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(title=f"policy {policy.name}", show_lines=False)
    table.add_column("#", justify="right")
    table.add_column("entry", ratio=1, overflow="fold")
    table.add_column("tokens", justify="right")
    table.add_column("what the rules say", ratio=1, overflow="fold")
    for row in rows:
        told = "\n".join(_sentences(row)) or "no rule is about it"
        entry = Text(f"{row.subject.type} {row.subject.source_type}: {_opening(row)}")
        table.add_row(str(row.message), entry, f"{row.subject.tokens:,}", Text(told))
    return table


def _opening(row: Treated) -> str:
    words = " ".join(row.subject.text[: 4 * SHOWN_CHARACTERS].split())
    return words if len(words) <= SHOWN_CHARACTERS else f"{words[:SHOWN_CHARACTERS]}…"


def _sentences(row: Treated) -> list[str]:
    said = [f"{name}: {_value(row, name)} ({rule})" for name, rule in row.treatment.because.items()]
    return said + [
        f"{name} withheld: content cannot raise itself ({rule})"
        for name, rule in row.treatment.withheld.items()
    ]
