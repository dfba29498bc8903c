"""Whether views showed what decisive steps quote, by folder: the folders are the recordings' outcomes.

A proxy for a solve rate: arithmetic over measurements, with intervals by bootstrap over recordings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

from hippocampus.prices import Prices
from hippocampus.replay.measure import Measured, Script

DRAWS = 10_000
FIGURES = (
    ("lines", "lines_shown", "lines", "lines shown %"),
    ("values", "values_shown", "values", "values shown %"),
    ("steps_hidden", "steps_hidden", "steps", "steps hidden %"),
    ("calls_hidden", "calls_hidden", "calls_before", "calls before hidden %"),
    ("cost", "cost", "raw_cost", "net cost %"),
)
"""Name, numerator, denominator and title of each figure."""
PROXY = (
    "A decisive step is the last call that writes a line of the submitted patch. In brackets: 95 percent "
    "of 10,000 bootstrap samples of the recordings. This is a proxy: it shows what a view would have "
    "hidden from the agent that was recorded, not whether an agent with that view solves the task."
)


@dataclass(frozen=True, slots=True)
class DecisiveSums:
    """One recording's sums under one strategy."""

    steps: int
    steps_hidden: int
    """Decisive steps of whose values or lines the view did not show one."""
    values: int
    values_shown: int
    lines: int
    lines_shown: int
    calls_before: int
    """Calls at which something had arrived that a later decisive step quotes."""
    calls_hidden: int
    """Those whose view did not show something of it."""
    cost: float
    raw_cost: float


def decisive_sums(
    script: Script, measured: Measured, everything: Measured, prices: Prices
) -> DecisiveSums:
    """Return a recording's sums under one strategy; `everything` is the whole list's measure."""
    steps = [measured.calls[number] for number in script.decisive.quotes]
    values, lines = sum(step.uses for step in steps), sum(step.line_uses for step in steps)
    before = [call for number, call in enumerate(measured.calls) if script.decisive.ahead(number)]
    return DecisiveSums(
        steps=len(steps),
        steps_hidden=sum(bool(step.slice_tokens) for step in steps),
        values=values,
        values_shown=values - sum(len(step.hidden) for step in steps),
        lines=lines,
        lines_shown=lines - sum(len(step.hidden_lines) for step in steps),
        calls_before=len(before),
        calls_hidden=sum(bool(call.hidden_ahead) for call in before),
        cost=measured.cost(prices),
        raw_cost=everything.cost(prices),
    )


def outcomes(recordings: Mapping[str, Sequence[Mapping[str, DecisiveSums]]]) -> dict[str, Any]:
    """Return the figures by folder and strategy, and how the second of two folders differs.

    Each figure is in percent, with the ends of its interval; None where a folder has nothing to count.
    """
    samples = {
        folder: _Samples(rows, seed) for seed, (folder, rows) in enumerate(recordings.items())
    }
    found: dict[str, Any] = {
        "folders": {folder: each.figures() for folder, each in samples.items()},
        "difference": None,
    }
    if len(samples) == 2:
        one, other = samples.values()
        found["difference"] = {
            strategy: {
                name: _figure(other.ratios(strategy, name) - one.ratios(strategy, name))
                for name, *_ in FIGURES
            }
            for strategy in one.strategies
        }
    return found


class _Samples:
    """The recordings of a folder, drawn again and again."""

    def __init__(self, rows: Sequence[Mapping[str, DecisiveSums]], seed: int) -> None:
        self.rows = rows
        self.strategies = tuple(rows[0])
        draws = np.random.default_rng(seed).integers(0, len(rows), (DRAWS, len(rows)))
        self._draws = np.vstack([np.arange(len(rows)), *draws])
        """The first row is the recordings themselves."""

    def ratios(self, strategy: str, name: str) -> np.ndarray[Any, Any]:
        """Return a figure of each sample, in percent; NaN where there is nothing to count."""
        fields = next(each[1:3] for each in FIGURES if each[0] == name)
        part, whole = (
            np.array([getattr(row[strategy], field) for row in self.rows], float)[self._draws].sum(
                1
            )
            for field in fields
        )
        ratios: np.ndarray[Any, Any] = np.full(len(whole), np.nan)
        np.divide(100 * part, whole, out=ratios, where=whole > 0)
        return ratios

    def figures(self) -> dict[str, Any]:
        return {
            "recordings": len(self.rows),
            "with_steps": sum(row[self.strategies[0]].steps > 0 for row in self.rows),
            "strategies": {
                strategy: {
                    **_sums([row[strategy] for row in self.rows]),
                    "percent": {name: _figure(self.ratios(strategy, name)) for name, *_ in FIGURES},
                }
                for strategy in self.strategies
            },
        }


def _sums(rows: Sequence[DecisiveSums]) -> dict[str, float]:
    added = np.array([list(asdict(row).values()) for row in rows], float).sum(0)
    return dict(zip(asdict(rows[0]), map(float, added), strict=True))


def _figure(ratios: np.ndarray[Any, Any]) -> list[float] | None:
    """Return the figure of the recordings themselves, and the ends of its interval."""
    if np.isnan(ratios[0]):
        return None
    ends = np.nanpercentile(ratios[1:], (2.5, 97.5))
    return [round(float(each), 2) for each in (ratios[0], *ends)]


def print_outcomes(found: dict[str, Any], ours: str, console: Console) -> None:
    """Print a table of the folders, the difference between two, and what the figures are not."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for title in ("folder", "strategy", "steps", *(each[3] for each in FIGURES)):
        table.add_column(title, justify="left" if title in {"folder", "strategy"} else "right")
    for folder, figures in found["folders"].items():
        for strategy, row in figures["strategies"].items():
            shown = (_shown(row["percent"][name]) for name, *_ in FIGURES)
            table.add_row(folder, strategy, f"{row['steps']:.0f}", *shown)
    console.print(table)
    for folder, figures in found["folders"].items():
        console.print(
            f"{folder}: {figures['with_steps']} of {figures['recordings']} recordings have a decisive step.",
            markup=False,
            highlight=False,
        )
    if found["difference"]:
        names = list(found["folders"])
        hidden = found["difference"][ours]["steps_hidden"]
        verdict = (
            "no difference was found" if hidden and hidden[1] <= 0 <= hidden[2] else "they differ"
        )
        console.print(
            f"Decisive steps with something hidden under {ours}, {names[1]} minus {names[0]}: "
            f"{_shown(hidden)} points: {verdict}."
            if hidden
            else "There is nothing to compare.",
            markup=False,
            highlight=False,
        )
    console.print(PROXY, markup=False, highlight=False)


def _shown(figure: list[float] | None) -> str:
    if figure is None:
        return "-"
    value, low, high = figure
    return f"{value:.1f} [{low:.1f}, {high:.1f}]"
