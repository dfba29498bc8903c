"""Options that commands share, and the printing of results."""

from __future__ import annotations

import atexit
import json
import os
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, NoReturn, TypeVar

import typer
from typer import Argument, Option
from typer.core import TyperCommand

from hippocampus.errors import without_password
from hippocampus.formats.json_text import visible
from hippocampus.storage.state import StateStore, state_of
from hippocampus.storage.state_dir import is_address, tenant_of_environment

if TYPE_CHECKING:
    from rich.console import Console

T = TypeVar("T")
PIPED_WIDTH = 120
"""Width of tables in a file or a pipe."""
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


def fail(message: str) -> NoReturn:
    """Print a sentence on stderr, and exit with status 2."""
    typer.echo(visible(f"hippocampus: {without_password(message)}"), err=True)
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

    def show(self, *, as_json: bool = False) -> None:
        """Print the output, and exit with status 1 if it has problems."""
        if as_json or self.lines is None:
            say(json.dumps(self.value, ensure_ascii=False, indent=2))
        elif text := "\n".join(self.lines) or ("" if self.problems else self.otherwise):
            say(text)
        for problem in self.problems:
            typer.echo(f"hippocampus: {problem}", err=True)
        if self.problems:
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
