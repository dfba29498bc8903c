"""A progress bar for work that takes longer than two seconds."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

T = TypeVar("T")
PATIENCE_SECONDS = 2.0


def track(work: Iterable[T], total: int, console: Console, title: str = "replaying") -> Iterator[T]:
    """Yield from `work`, and show its progress after two seconds."""
    started = time.monotonic()
    columns = (TextColumn(title), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    bar = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
    task = bar.add_task(title, total=total)
    try:
        for each in work:
            bar.advance(task)
            if not bar.live.is_started and time.monotonic() - started > PATIENCE_SECONDS:
                bar.start()
            yield each
    finally:
        bar.stop()
