"""Cost and visibility of the view under budgets, and those of the other strategies.

    python -m tests.bench.budget_curve PATH...

Cost and tokens are in percent of sending everything, at Anthropic's prices for its 5-minute cache;
a call with a hidden value or line is charged a recall, for every strategy alike.
"""

from __future__ import annotations

import functools
import itertools
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from hippocampus import policy, prices
from hippocampus.replay.readers import find_files
from hippocampus.replay.run import Options, place, replay_file, summarise
from hippocampus.replay.strategies import OURS
from hippocampus.replay.workers import over_files

BUDGETS = (4_000, 8_000, 16_000, 32_000, 64_000, 0)
"""Budgets in tokens for the view; 0 sets no budget."""
PRICES = prices.TABLES["anthropic-5m"]
COLUMNS = {
    "tokens %": "tokens_percent",
    "net cost %": "cost_percent",
    "values %": "visible_percent",
    "lines %": "lines_percent",
    "read %": "read_percent",
}


def figures(files: Sequence[Path], budget_tokens: int, *, compare: bool) -> dict[str, Any]:
    """Return the figures of each strategy over all files under a budget."""
    limited = policy.load("default").model_copy(update={"budget_tokens": budget_tokens})
    options = Options(limited, PRICES, compare=compare)
    results = over_files(files, functools.partial(replay_file, options=options))
    rows = sorted(itertools.chain(*results), key=place)
    found: dict[str, Any] = summarise(rows)[1].figures()["strategies"]
    return found


def rows(files: Sequence[Path]) -> Iterator[str]:
    """Yield the table's rows: ours by budget, then the others and the floor."""
    others: dict[str, Any] = {}
    for budget in BUDGETS:
        others = figures(files, budget, compare=budget == 0)
        name = f"{OURS}, {f'{budget:,} tokens' if budget else 'no budget'}"
        yield row(name, others.pop(OURS))
    yield from (row(name, each) for name, each in others.items())


def row(name: str, sums: dict[str, Any]) -> str:
    """One strategy."""
    shown = " | ".join(f"{sums[field]:.1f}" for field in COLUMNS.values())
    return f"| {name} | {shown} | {sums['peak_tokens']:,} |"


def table(paths: Sequence[str | Path]) -> str:
    """The table as Markdown."""
    files = list(find_files(map(Path, paths)))
    titles = ("strategy", *COLUMNS, "peak")
    head = [f"| {' | '.join(titles)} |", f"|---|{'--:|' * (len(titles) - 1)}"]
    return "\n".join([*head, *rows(files)])


if __name__ == "__main__":
    print(table(sys.argv[1:] or ["examples/transcripts"]))
