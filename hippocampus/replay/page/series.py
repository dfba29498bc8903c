"""The compact data that the page's script draws: the calls and entries of recordings. Pure; no markup."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hippocampus.replay.table import COLUMNS, TITLES, sentences

OTHER_LINES = 8
"""The number of the style sheet's line styles for strategies that are neither ours nor a bound."""


def page_data(outcome: dict[str, Any]) -> dict[str, Any]:
    """Return the data that all drawings share: strategies with their line styles."""
    total = outcome["total"]
    best = total and total["best_other"]
    first = (outcome["ours"], outcome["everything"], best, outcome["floor"])
    return {
        "strategies": [
            {"name": name, "line": line, "shown": name in first}
            for name, line in line_styles(outcome).items()
        ],
        "columns": list(TITLES),
    }


def line_styles(outcome: dict[str, Any]) -> dict[str, str]:
    """Return the line styles by strategy: ours first, the floor last."""
    named = {outcome["ours"]: "ours", outcome["everything"]: "everything"}
    names = outcome["total"]["strategies"] if outcome["total"] else {}
    others = [name for name in names if name not in {*named, outcome["floor"]}]
    named |= {name: f"other-{at % OTHER_LINES}" for at, name in enumerate(others)}
    if outcome["floor"]:
        named[outcome["floor"]] = "floor"
    return named


def cells(figures: dict[str, Any]) -> list[str]:
    """Return a strategy's row of the table."""
    return [form.format(figures[field]) for _, field, form in COLUMNS]


def bounds_data(summary: dict[str, Any], outcome: dict[str, Any]) -> list[list[float]]:
    """Return the strategies' net costs, and the lower shares of visible values or lines, in percent."""
    return [
        [figures["cost_percent"], min(figures["visible_percent"], figures["lines_percent"])]
        for figures in (summary["strategies"][name] for name in line_styles(outcome))
    ]


def recording_data(recording: dict[str, Any], outcome: dict[str, Any]) -> dict[str, Any]:
    """Return the data of a recording, which is drawn once it is opened."""
    names = line_styles(outcome)
    tokens, costs = recording["call_tokens"], recording["call_costs"]
    return {
        **{field: recording[field] for field in ("path", "format", "model", "best_other")},
        "texts": recording.get("texts"),
        "dollarsPerToken": recording["dollars_per_million"] / 1_000_000,
        "words": sentences(recording, outcome),
        "troubles": [*recording["broken"], *recording["problems"]],
        "rows": [cells(recording["strategies"][name]) for name in names],
        "tokens": _shared(tokens[name] for name in names),
        "costs": _shared(map(round, costs[name]) for name in names),
        # A use before an entry arrived had its value from another entry.
        "entries": [
            {
                **entry,
                **{
                    field: [call for call in entry[field] if call >= entry["arrived"]]
                    for field in ("used", "recalled", "accessed")
                },
            }
            for entry in recording["entries"]
        ],
    }


def _shared(rows: Iterable[Iterable[int]]) -> list[list[int] | int]:
    """Return the rows; a row that repeats an earlier one becomes the number of that row."""
    seen: dict[tuple[int, ...], int] = {}
    kept: list[list[int] | int] = []
    for number, row in enumerate(map(tuple, rows)):
        first = seen.setdefault(row, number)
        kept.append(list(row) if first == number else first)
    return kept
