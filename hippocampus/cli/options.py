"""Options that several commands have, and what all commands do with them."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TypeVar

import typer
from typer import Argument, Option

from hippocampus.formats.visible import visible
from hippocampus.storage.state_dir import StateDir

if TYPE_CHECKING:
    from rich.console import Console

T = TypeVar("T")
PATIENCE_SECONDS = 2.0
"""After this time the progress of work is shown."""
WRITTEN_SECONDS = 60.0
PIPED_WIDTH = 120
"""Width of tables that go into a file or a pipe."""
DEFAULT_STATE = Path(".hippocampus")
StateFolder = Annotated[Path, Argument(help="The state directory of a memory.")]
StateOption = Annotated[Path, Option(help="The state directory.")]
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
Apply = Annotated[bool, Option("--apply", help="Do it; without it, only print it.")]
AsJson = Annotated[bool, Option("--json", help="Print JSON instead of text.")]


def fail(message: str) -> NoReturn:
    """Print a sentence on stderr, and end with exit status 2."""
    typer.echo(visible(f"hippocampus: {message}"), err=True)
    raise typer.Exit(2)


def expect_state(state_dir: Path) -> StateDir:
    """Return a folder as a state directory; refuse any other before a file is written in it."""
    state = StateDir(state_dir)
    if not (state.contents.is_dir() or state.database.exists()):
        fail(f"{state_dir} is not a state directory")
    return state


def console() -> Console:
    """Return the console of tables: as wide as the terminal, or bounded in a file or a pipe."""
    from rich.console import Console

    class Piped(Console):
        """Prints lines without the blanks that fill a table's width."""

        def print(self, *values: Any, **style: Any) -> None:
            with self.capture() as captured:
                super().print(*values, **style)
            lines = captured.get().split("\n")
            typer.echo("\n".join(line.rstrip() for line in lines), nl=False)

    return Console() if sys.stdout.isatty() else Piped(width=PIPED_WIDTH)


def track(work: Iterable[T], total: int, console: Console, title: str = "replaying") -> Iterator[T]:
    """Yield from `work`, and show its progress after two seconds; in a file or a pipe, each minute."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    started = written = time.monotonic()
    columns = (TextColumn(title), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    bar = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
    task = bar.add_task(title, total=total)
    try:
        for done, each in enumerate(work, start=1):
            bar.advance(task)
            if bar.disable and time.monotonic() - written > WRITTEN_SECONDS:
                console.print(f"{title}: {done:,} of {total:,}")
                written = time.monotonic()
            if not bar.live.is_started and time.monotonic() - started > PATIENCE_SECONDS:
                bar.start()
            yield each
    finally:
        bar.stop()
