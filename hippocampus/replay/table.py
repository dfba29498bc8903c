"""Prints a replay's outcome in a terminal: tables, and its figures in sentences; computes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from hippocampus.indexing.extraction import counted
from hippocampus.replay.intervals import wilson

COLUMNS = (
    ("tokens\n/call", "tokens_per_call", "{:,}"),
    ("tokens\n%", "tokens_percent", "{:.1f}"),
    ("net\ncost %", "cost_percent", "{:.1f}"),
    ("if\nread %", "cost_if_read_percent", "{:.1f}"),
    ("\ndollars", "dollars", "{:,.2f}"),
    ("values\n%", "visible_percent", "{:.1f}"),
    ("lines\n%", "lines_percent", "{:.1f}"),
    ("own\n%", "own_percent", "{:.1f}"),
    ("read\n%", "read_percent", "{:.1f}"),
    ("\nrecalls", "recalls", "{:,}"),
    ("\npeak", "peak_tokens", "{:,}"),
)
TITLES = tuple(title.replace("-\n", "").replace("\n/", "/").strip() for title, _, _ in COLUMNS)
"""The titles without manual line breaks."""
WIDE_COLUMNS = {"tokens_per_call", "cost_if_read_percent", "recalls", "peak_tokens"}
"""The columns that a narrow terminal does not show."""
WIDE = 118
"""Narrower terminals show only the main columns."""


def print_outcome(outcome: dict[str, Any], console: Console) -> None:
    """Print a table per source and, if there are several, one of all sources."""
    sources = list(outcome["sources"].items())
    if len(sources) > 1:
        sources.append(("all sources", outcome["total"]))
    styles = {outcome["ours"]: "bold", outcome["floor"]: "dim"}
    is_narrow = console.width < WIDE
    for name, summary in sources:
        raw, best = summary["raw"], summary["best_other"]
        recordings = counted(raw["recordings"], "recording")
        console.print(f"\n{name}: {recordings}", markup=False, style="bold")
        console.print(shares_of_raw(raw), markup=False, style="dim")
        figures = summary["strategies"]
        table = figures_table("strategy", figures, narrow=is_narrow, styles=styles, starred=best)
        if best and outcome["floor"]:
            table.caption = "* the cheapest of the others"
            table.caption_justify = "left"
        console.print(table)
        for sentence in sentences(summary, outcome):
            console.print(sentence, markup=False)
    for sentence in left_out(outcome):
        console.print(sentence, markup=False, style="dim")


def shares_of_raw(raw: dict[str, Any]) -> str:
    """Return a sentence on the shares of the raw tokens, and the share that is never used again."""
    parts = ("system", "user", "assistant", "call", "result")
    total = sum(raw[f"{part}_tokens"] for part in parts) or 1
    names = {"call": "tool calls", "result": "tool results"}
    shares = (f"{names.get(p, p)} {100 * raw[f'{p}_tokens'] / total:.0f} %" for p in parts)
    return (
        f"Raw tokens: {', '.join(shares)}. Of the tool results {raw['never_used_tokens_percent']:.0f} % "
        f"by tokens, {raw['never_used_percent']:.0f} % by number ({raw['results_never_used']:,} of "
        f"{raw['results']:,}) are never used again."
    )


def figures_table(
    title: str,
    rows: Mapping[str, dict[str, Any]],
    *,
    narrow: bool = True,
    styles: Mapping[str, str] = MappingProxyType({}),
    starred: str | None = None,
) -> Table:
    """Return a table of figures by name; `narrow` leaves out `WIDE_COLUMNS`."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column(title)  # in a narrow terminal the name is folded, and no figure is cut
    absent = WIDE_COLUMNS if narrow else set[str]()
    for head, field, _ in COLUMNS:
        if field not in absent:
            table.add_column(head, justify="right", no_wrap=True)
    for name, figures in rows.items():
        cells = (cell for field, cell in cells_of(figures).items() if field not in absent)
        mark = " *" if name == starred else ""
        table.add_row(Text(f"{name}{mark}"), *cells, style=styles.get(name))
    return table


def cells_of(figures: Mapping[str, Any]) -> dict[str, str]:
    """Return the cells of a strategy's row by field."""
    return {field: form.format(figures[field]) for _, field, form in COLUMNS}


def sentences(summary: dict[str, Any], outcome: dict[str, Any]) -> Iterator[str]:
    """Yield sentences on the savings, the hidden values and lines, and the distance to the floor."""
    raw, strategies = summary["raw"], summary["strategies"]
    ours, everything = strategies[outcome["ours"]], strategies[outcome["everything"]]
    yield from _savings(summary, outcome)
    yield from _hidden_uses(ours)
    if outcome["floor"]:
        yield (
            f"The floor knows the future and keeps of each result and argument only the values and "
            f"lines that will be used; it costs {strategies[outcome['floor']]['cost_percent']:.1f} %."
        )
    if everything["compactions"]:
        yield (
            f"A host would have to start a fresh context {everything['compactions']:,} times to stay "
            f"in the model's window; with hippocampus {ours['compactions']:,} times."
        )
    yield from _provider_figures(raw)
    if ours["steps"]:
        bounds = {outcome["ours"], outcome["everything"], outcome["floor"]}
        others = {name: found for name, found in strategies.items() if name not in bounds}
        yield _decisive_steps(ours, others)


def _savings(summary: dict[str, Any], outcome: dict[str, Any]) -> Iterator[str]:
    """Yield what was saved, at which prices."""
    ours, everything = (summary["strategies"][outcome[name]] for name in ("ours", "everything"))
    named, otherwise = summary["priced_as"], outcome["prices"]
    if set(named) <= {otherwise["name"]}:
        prices, detail = otherwise["name"], f"cached tokens at {otherwise['read']:g}"
    elif len(named) == 1:
        prices, detail = next(iter(named)), f"recordings: {sum(named.values()):,}"
    else:
        counts = ", ".join(f"{name} {count:,}" for name, count in named.items())
        prices, detail = f"of {len(named)} models", f"recordings: {counts}"
    word = "saved" if everything["dollars"] >= ours["dollars"] else "LOST"
    # The difference of the rounded amounts, so that sentence and table agree.
    difference = round(everything["dollars"], 2) - round(ours["dollars"], 2)
    yield (
        f"With policy {outcome['policy']} at prices {prices} ({detail}, marks: {outcome['marks']}): "
        f"{word} {abs(100 - ours['cost_percent']):.1f} % of the money for the recorded input "
        f"(${abs(difference):,.2f} of ${everything['dollars']:,.2f}) and "
        f"{100 - ours['tokens_percent']:.1f} % of the tokens."
    )
    if (count := summary["raw"]["recordings"]) > 1:
        yield f"The mean cost of {count} recordings is {ours['mean_cost_percent']:.1f} %."
    if summary["unpriced"]:
        names = ", ".join(f"{name} ({count:,})" for name, count in summary["unpriced"].items())
        yield (
            f"Without a known price, and taken for {otherwise['name']}: {names}; --model names another "
            "model for all."
        )


def _hidden_uses(ours: Mapping[str, Any]) -> Iterator[str]:
    """Yield what our views hid, and what recalls of it cost."""
    values, lines = f"{ours['uses']:,} values", f"{ours['line_uses']:,} lines"
    hidden = f"{ours['hidden']:,} of {values} and {ours['hidden_lines']:,} of {lines}"
    charged = (
        f" {counted(ours['recalls'], 'call was', 'calls were')} charged a recall; a replay cannot know "
        "whether the agent would have asked for it."
    )
    yield f"Hidden: {hidden} that the agent used.{charged if ours['recalls'] else ''}"
    if ours["hidden"]:
        yield f"One recall brings back {ours['recoverable_percent']:.1f} % of the hidden values."
    if ours["read_tokens"] != ours["asked_tokens"]:
        yield (
            f"Of {ours['asked_tokens']:,} tokens that the agent asked to read, "
            f"{ours['read_tokens']:,} stood in full in its next view; if it recalls the others, the "
            f"cost is {ours['cost_if_read_percent']:.1f} %."
        )


def _provider_figures(raw: Mapping[str, Any]) -> Iterator[str]:
    """Yield how our counts and costs compare with those that the provider reported."""
    if raw["reported_ratio"] is not None:
        yield (
            f"For {raw['reported_calls']:,} calls the provider reported "
            f"{raw['reported_tokens']:,} tokens where we count {raw['estimated_tokens']:,} "
            f"(x {raw['reported_ratio']:.2f}): a recording lacks the system prompt, tools and other parts."
        )
    if raw["billed_cost"]:
        off, off_without = (
            round(100 * (raw["predicted_cost"] / (raw["billed_cost"] - missed) - 1), 1)
            + 0  # no -0.0
            for missed in (0, raw["missed_cost"])
        )
        yield (
            f"For {raw['billed_calls']:,} calls with a recorded bill the prediction is off by {off:+.1f} %, "
            f"and by {off_without:+.1f} % without the excess of {counted(raw['missed_calls'], 'call')} that "
            "missed the provider's cache."
        )


def _decisive_steps(ours: Mapping[str, Any], others: Mapping[str, Mapping[str, Any]]) -> str:
    """Return how many of the calls that wrote the submitted patch used something hidden."""
    low, high = (100 * end for end in wilson(ours["steps_hidden"], ours["steps"]))
    shown = ours["step_lines"] - ours["step_lines_hidden"]
    quoted = f"{shown:,} of the {ours['step_lines']:,} lines that they quote were shown. "
    shares = ", ".join(
        f"{name} {100 * found['steps_hidden'] / found['steps']:.1f} %"
        for name, found in others.items()
    )
    compared = f"With the others: {shares}. " if shares else ""
    return (
        f"Decisive steps, the last calls that wrote a line of the submitted patch: "
        f"{ours['steps_hidden']:,} of {ours['steps']:,} used something that was hidden, "
        f"{100 * ours['steps_hidden'] / ours['steps']:.1f} % [{low:.1f}, {high:.1f}]. "
        f"{quoted if ours['step_lines'] else ''}"
        f"{compared}This is a proxy: it does not show whether an agent with such views solves the task."
    )


def left_out(outcome: dict[str, Any]) -> list[str]:
    """Return a sentence per file or record that was left out or repaired."""
    raw = outcome["total"]["raw"] if outcome["total"] else {}
    found = [f"left out {file['path']}: {file['reason']}" for file in outcome["skipped"]]
    for recording in outcome["recordings"]:
        found += [*recording["broken"], *recording["problems"]]
    if raw.get("unanswered") or raw.get("orphans"):
        found.append(
            f"Repaired for replay: {raw['unanswered']} calls without a result, "
            f"{raw['orphans']} results without a call."
        )
    return found
