"""Options that commands share, and the printing of results: tables, JSON, memories.

A verb of `memory` takes the open facts and its own options, and returns a `Shown`; `verb` makes it a command.
"""

from __future__ import annotations

import atexit
import inspect
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, NoReturn, TypeVar

import typer
from typer import Argument, Option
from typer.core import TyperCommand

from hippocampus.cli.fact_database import DEFAULT_PATH, OWN_AGENT, VARIABLES, open_facts
from hippocampus.errors import FactError, without_password
from hippocampus.formats.json_text import visible
from hippocampus.storage.engines import is_address, tenant_of_environment
from hippocampus.storage.state import StateStore, state_of

if TYPE_CHECKING:
    from rich.console import Console

    from hippocampus.facts.models import Outcome, Recalled
    from hippocampus.storage.facts.rows import Memory

T = TypeVar("T")
PIPED_WIDTH = 120
"""Width of tables in a file or a pipe."""
SHOWN_CHARACTERS = 100
DEFAULT_STATE = Path(".hippocampus")
PROGRESS_SECONDS = 60
"""Time between two lines of progress if stderr is not a terminal."""
STATE = "A state directory, or the address of a server (of HIPPOCAMPUS_TENANT)."
StateName = Annotated[str, Argument(envvar="HIPPOCAMPUS_STATE", help=STATE)]
StateAddress = Annotated[
    str,
    Option(
        "--state-dir",
        envvar="HIPPOCAMPUS_STATE",
        help="The state directory, or the address of a PostgreSQL server.",
    ),
]
TenantName = Annotated[
    str, Option("--tenant", envvar="HIPPOCAMPUS_TENANT", help="On a server, whose sessions.")
]
PolicyName = Annotated[str, Option(help="A shipped policy's name, or a policy file.")]
RecordedPaths = Annotated[
    list[str],
    Argument(
        envvar="HIPPOCAMPUS_STATE",
        help="Recorded sessions: files, folders, s3://BUCKET/PREFIX, a state directory, or the "
        "address of a server (of HIPPOCAMPUS_TENANT).",
    ),
]
EngineName = Annotated[
    Literal["processes", "ray"],
    Option(help="Local processes, or Ray at RAY_ADDRESS, which must see the same files."),
]
Jobs = Annotated[int | None, Option(min=1, help="Files at a time; else one a core.")]
Apply = Annotated[bool, Option("--apply", help="Do it; without it, only print it.")]
AsJson = Annotated[bool, Option("--json", help="Print JSON instead of text.")]


class StateCommand(TyperCommand):
    """A command of a state and something in it: an only argument that is no path is in the state of the variable."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments of a line."""
        state = os.environ.get("HIPPOCAMPUS_STATE")
        names = [param.name for param in self.params if param.param_type_name == "argument"]
        values = self.make_parser(ctx).parse_args([*args])[0]
        match [value for name in names if isinstance(value := values.get(name), str)]:
            case [only] if state and not (is_address(only) or Path(only).exists()):
                args = [state, *args]
        return super().parse_args(ctx, args)


def warn(message: str) -> None:
    """Print a sentence on stderr."""
    typer.echo(visible(f"hippocampus: {without_password(message)}"), err=True)


def fail(message: str) -> NoReturn:
    """Print a sentence on stderr, and exit with status 2."""
    warn(message)
    raise typer.Exit(2)


def say(text: str) -> None:
    """Print in UTF-8, with the control characters of stored texts visible."""
    typer.echo(visible(text).encode("utf-8", "replace"))


class Shown(NamedTuple):
    """The output of a command: a JSON value, the same as lines, a sentence if empty, and problems."""

    value: Any
    lines: Iterable[str] | None = None  # None always prints the value as JSON
    otherwise: str = ""
    problems: Sequence[str] = ()
    is_failed: bool = False

    def show(self, *, as_json: bool = False) -> None:
        """Print the output, and exit with status 1 if it has problems, or is of a failure."""
        if as_json or self.lines is None:
            say(json.dumps(self.value, ensure_ascii=False, indent=2))
        elif text := "\n".join(self.lines) or ("" if self.problems else self.otherwise):
            say(text)
        for problem in self.problems:
            warn(problem)
        if self.problems or self.is_failed:
            raise typer.Exit(1)


def print_table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table with a left-aligned first column, of long names in lines, and right-aligned others."""
    from rich.markup import escape
    from rich.table import Column, Table

    columns = (Column(title, justify="right") for title in titles[1:])
    table = Table(Column(titles[0], overflow="fold"), *columns, box=None, pad_edge=False)
    for row in rows:
        table.add_row(*map(escape, map(visible, row)))
    console().print(table)


def expect_state(named: str, tenant: str = "") -> StateStore:
    """Return the state of a folder or a server; fail before a file is written into any other folder."""
    state = state_of(named, tenant or tenant_of_environment())
    layout = state.layout
    if layout and not (layout.database.exists() or layout.contents.is_dir()):
        fail(f"{named} is not a state directory")
    state.wait_longer()
    atexit.register(state.close)
    return state


def console() -> Console:
    """Return a console for tables: as wide as the terminal, or of a fixed width in a file or a pipe."""
    from rich.console import Console

    class Piped(Console):
        """Prints lines without trailing spaces."""

        def print(self, *values: Any, **style: Any) -> None:
            with self.capture() as captured:
                super().print(*values, **style)
            lines = captured.get().split("\n")
            typer.echo("\n".join(line.rstrip() for line in lines), nl=False)

    return Console() if sys.stdout.isatty() else Piped(width=PIPED_WIDTH)


def track(work: Iterable[T], total: int, title: str = "replaying") -> Iterable[T]:
    """Yield from `work`, with its progress on stderr: a bar on a terminal, or else a line a minute."""
    from rich.console import Console
    from rich.progress import track as shown

    if (console := Console(stderr=True)).is_terminal:
        yield from shown(work, title, total, console=console, transient=True)
        return
    printed = time.monotonic()
    for done, item in enumerate(work, 1):
        yield item
        if time.monotonic() >= printed + PROGRESS_SECONDS:
            printed = time.monotonic()
            typer.echo(f"{title}: {done:,} of {total:,}", err=True)


def read_stdin() -> str:
    """Return the text on stdin."""
    return sys.stdin.buffer.read().decode("utf-8-sig", "replace").strip()


def _text(ctx: typer.Context, given: str) -> str:
    """Return the given text, or else the text on stdin, which is not read for shell completion."""
    text = given if given or ctx.resilient_parsing else read_stdin()
    if not text.strip() and not ctx.resilient_parsing:
        raise FactError("there is nothing to remember: the text is empty")
    return text


def _limit(number: int) -> int:
    if number == 0 or number < -1:
        raise typer.BadParameter(f"{number} asks for nothing; -1 is all")
    return number


Database = Annotated[
    str,
    Option(
        "--db",
        envvar=VARIABLES,
        help="A state directory, a SQLite file, or the address of a PostgreSQL server.",
        show_default=True,
    ),
]
Agent = Annotated[
    str, Option("--agent", envvar="HIPPOCAMPUS_AGENT", help="Whose memory; * reads all.")
]
Scope = Annotated[str, Option(help="The part of the memory that is written to.")]
Scopes = Annotated[list[str] | None, Option("--scope", help="Only this part; may be repeated.")]
Limit = Annotated[int, Option(callback=_limit, help="How many at most; -1 is all.")]
Force = Annotated[bool, Option("--force", help="Do it; without this, only show it.")]
Ids = Annotated[list[str], Argument(help="Ids of memories, or their ends in MEMORY.md.")]
Id = Annotated[str, Argument(help="The id of a memory, or its end in MEMORY.md.")]
Text = Annotated[str, Argument(callback=_text, help="The text; left out, stdin is read.")]
Query = Annotated[str, Argument(help="What to look for; nothing loads the context.")]
OneType = Annotated[str, Option("--type", help="Only this type; after !, all others.")]
Importance = Annotated[float | None, Option(min=0, max=1, help="0 to 1.")]


def verb(
    *groups: typer.Typer, name: str = "", models: bool = False, **opening: Any
) -> Callable[[Callable[..., Shown]], Callable[..., Shown]]:
    """Add a function of facts to groups as a command with `--db` and `--json`; `opening` is of `open_facts`."""

    def add(function: Callable[..., Shown]) -> Callable[..., Shown]:
        known = {"Facts": Any}  # its module is not imported for `--help`
        signature = inspect.signature(function, eval_str=True, locals=known)
        _, *own = signature.parameters.values()

        def run(db: Database = DEFAULT_PATH, as_json: AsJson = False, **given: Any) -> None:
            with open_facts(db, given.get("agent") or OWN_AGENT, models=models, **opening) as facts:
                shown = function(facts, **given)
            shown.show(as_json=as_json)

        *shared, _ = inspect.signature(run, eval_str=True).parameters.values()
        run.__signature__ = inspect.Signature([*own, *shared])  # type: ignore[attr-defined]
        for group in groups:
            group.command(name or function.__name__, help=inspect.getdoc(function))(run)
        return function

    return add


def row(memory: Memory) -> dict[str, Any]:
    """Return a memory as a JSON object, with its times in ISO 8601."""
    from hippocampus.facts.timestamps import stamp

    found = {**asdict(memory), "metadata": dict(memory.metadata)}
    for name in ("created", "accessed", "valid_from", "valid_until", "known_until"):
        found[name] = None if found[name] is None else stamp(found[name])
    return found


def line(memory: Memory, *, agent: bool = False) -> str:
    """Return a memory as a line: id, date, type and text."""
    from hippocampus.facts.rendering import entry_line

    owner = f"{memory.agent}  " if agent else ""
    gone = f" (removed: {memory.removed})" if memory.removed else ""
    gone = f" (superseded by {memory.superseded_by})" if memory.superseded_by else gone
    shown = entry_line(replace(memory, content=short(memory.content))).removeprefix("- ")
    return f"{memory.id}  {owner}{shown}{gone}"


def memories(
    found: Sequence[Memory], problems: Sequence[str] = (), *, agent: bool = False
) -> Shown:
    """Return memories as lines."""
    lines = [line(memory, agent=agent) for memory in found]
    return Shown(list(map(row, found)), lines, "no memories", problems)


def outcomes(found: Sequence[Outcome]) -> Shown:
    """Return the outcomes of a text's statements."""
    rows, lines = [], []
    for outcome in found:
        memory = outcome.memory and row(outcome.memory)
        shown = f"  {line(outcome.memory)}" if outcome.memory else ""
        action, others = str(outcome.action), list(outcome.others)
        rows.append(
            {"action": action, "reason": outcome.reason, "memory": memory, "others": others}
        )
        lines.append(f"{action.replace('_', ' ')}: {outcome.reason}{shown}")
    return Shown(rows, lines, "nothing in this text is a statement to keep")


def gone(
    found: Sequence[Memory],
    *,
    force: bool,
    returned: Sequence[Memory] = (),
    option: str = "--force",
) -> Shown:
    """Return the memories that a deletion removes, or would remove, and those that it restores."""
    lines = list(map(line, found))
    if found:
        lines += [
            f"{len(found)} deleted" if force else f"{len(found)} would go; {option} deletes them"
        ]
    again = "true again" if force else "would be true again"
    lines += [f"{again}: {line(memory)}" for memory in returned]
    value = {"deleted": list(map(row, found)), "returned": list(map(row, returned))}
    return Shown({**value, "dry_run": not force}, lines, "nothing to delete")


def short(text: str) -> str:
    """Return a text on one line, cut to 100 characters."""
    flat = " ".join(text.split())
    return flat if len(flat) <= SHOWN_CHARACTERS else f"{flat[: SHOWN_CHARACTERS - 1]}…"


def recalled(found: Sequence[Recalled]) -> Shown:
    """Return results with their scores; the JSON also has the scores' terms, dates and triples."""
    lines = [f"{result.score.total:.2f}  {line(result.memory)}" for result in found]
    rows = [
        {
            **row(result.memory),
            "score": result.score._asdict(),
            "date": result.date,
            "triples": [f"{of.subject} → {of.predicate} → {of.object}" for of in result.triples],
        }
        for result in found
    ]
    return Shown(rows, lines, "nothing found")
