"""Renders a replay's outcome as one self-contained HTML page; the .js files next to it draw the charts.

Computes nothing: all figures are in the object of `outcome`. Recordings are untrusted: all texts pass
through `text` and all data blocks through `json_script`.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from hippocampus.indexing.extraction import counted
from hippocampus.replay.table import TITLES, cells_of, left_out, sentences, shares_of_raw

SCRIPTS = ("draw.js", "scatter.js", "charts.js", "timeline.js", "recording.js", "list.js")
TEXTS_SCRIPTS = ("draw.js", "texts.js")
OTHER_LINES = 8
"""The number of the style sheet's line styles for strategies that are neither ours nor a bound."""
ALL_PERCENT = 100
LIMITED = {"tokens_percent", "cost_percent", "cost_if_read_percent"}
"""The figures of which more than `ALL_PERCENT` is a loss."""
PATHS, LINES = ("path", "reason"), ("broken", "problems")
"""The fields of a row that are a path or a sentence, and those that are lists of sentences."""
text = html.escape


def write_page(outcome: dict[str, Any], path: Path) -> None:
    """Write the page to a file, in UTF-8.

    Raises:
        OSError: the file cannot be written.
    """
    # Written as bytes: the content policy has the hashes of style and script, so no newline may change.
    # A path that is not Unicode has lone surrogates, which UTF-8 cannot encode.
    path.write_bytes(page(outcome).encode("utf-8", errors="replace"))


def page(outcome: dict[str, Any]) -> str:
    """Return the page; other people see it, so that it names files from their last folder on."""
    rows: dict[str, list[dict[str, Any]]] = {"recordings": [], "skipped": []}
    for field, named in rows.items():
        for row in outcome[field]:
            folder = Path(row["path"]).parent.parent
            before = f"{folder}{os.sep}" if folder.is_absolute() and folder.name else ""
            texts = {name: row[name].replace(before, "") for name in PATHS if name in row}
            lines = {
                name: [line.replace(before, "") for line in row[name]]
                for name in LINES
                if name in row
            }
            named.append(row | lines | texts)
    outcome = outcome | rows
    data = json_script(page_data(outcome), "page-data")
    return _fill_frame("page.html", SCRIPTS, data, main_parts(outcome))


def texts_page(texts: dict[str, Any]) -> str:
    """Return the page of a recording's texts, from `ViewTexts.data`."""
    data = json_script(texts, "page-data")
    return _fill_frame("texts.html", TEXTS_SCRIPTS, data, {"title": text(texts["name"])})


def _fill_frame(template: str, scripts: Iterable[str], data: str, parts: Mapping[str, str]) -> str:
    style = _asset("page.css")
    script = '"use strict";\n' + "\n".join(map(_asset, scripts))
    return Template(_asset("frame.html")).substitute(
        title=parts["title"],
        # This style, this script and the empty icon are allowed; everything else is refused.
        content_policy=(
            f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
            "img-src data:; base-uri 'none'; form-action 'none'"
        ),
        style=style,
        script=script,
        body=Template(_asset(template)).substitute(parts).rstrip("\n"),
        data=data,
    )


def _asset(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def main_parts(outcome: dict[str, Any]) -> dict[str, str]:
    """Return the values of the template's fields."""
    total = outcome["total"]
    main = "<p>No recorded session was found.</p>"
    if total:
        name = "all sources" if len(outcome["sources"]) > 1 else next(iter(outcome["sources"]))
        main = f"{_headline(total, outcome)}\n{_summary(name, total, outcome)}"
    opened = ""
    for name, summary in outcome["sources"].items():
        ours = summary["strategies"][outcome["ours"]]
        opened += (
            f'<details class="source"><summary><b><bdi>{text(name)}</bdi></b> '
            f"<span>{counted(summary['raw']['recordings'], 'recording')} · net cost "
            f"{ours['cost_percent']:.1f} % · values visible {ours['visible_percent']:.1f} %</span>"
            f"</summary>{_summary(name, summary, outcome)}</details>"
        )
    sources = f'<section><h2 id="sources">By source</h2>{opened}</section>'
    listed = [_recording(at, row, outcome) for at, row in enumerate(outcome["recordings"])]
    left = "".join(f"<li><bdi>{text(sentence)}</bdi></li>" for sentence in left_out(outcome))
    troubles = f'<section><h2 id="left-out">Left out and repaired</h2><ul>{left}</ul></section>'
    return {
        "title": f"Replay of {counted(len(listed), 'recording')}",
        "total": main,
        "sources": sources if len(outcome["sources"]) > 1 else "",
        "recordings": "\n".join(listed),
        "troubles": troubles if left else "",
    }


def json_script(data: Any, id_: str = "") -> str:
    """Return data as an inert script element, which no text in the data can close."""
    shown = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for mark in "<>&\u2028\u2029":
        shown = shown.replace(mark, f"\\u{ord(mark):04x}")
    return f'<script type="application/json"{id_ and f" id={id_}"}>{shown}</script>'


def _headline(summary: dict[str, Any], outcome: dict[str, Any]) -> str:
    """Return the shares that were saved and hidden, with the sums that they are computed from."""
    ours = summary["strategies"][outcome["ours"]]
    raw = summary["strategies"][outcome["everything"]]
    # The difference of the rounded amounts, so that headline, sentence and table agree.
    dollars = round(raw["dollars"], 2) - round(ours["dollars"], 2)
    recalls = counted(ours["recalls"], "call")
    asked, read = ours["asked_tokens"], ours["read_tokens"]
    of = "{:,} of {:,}".format
    shown = (
        ("money saved", "cost_percent", f"{_dollars(dollars, 2)} of {_dollars(raw['dollars'], 2)}"),
        ("tokens saved", "tokens_percent", of(raw["tokens"] - ours["tokens"], raw["tokens"])),
        (
            "used values hidden",
            "visible_percent",
            f"{of(ours['hidden'], ours['uses'])}; {recalls} paid a recall",
        ),
        ("used lines hidden", "lines_percent", of(ours["hidden_lines"], ours["line_uses"])),
        ("asked for and cut", "read_percent", f"{of(asked - read, asked)} tokens to read"),
    )
    listed = (
        f"<div><dt>{name}</dt><dd><strong{_loss(ours, field)}>{ALL_PERCENT - ours[field]:,.1f}<small> %</small>"
        f"</strong><span>{text(detail)}</span></dd></div>"
        for name, field, detail in shown
    )
    return f'<dl class="headline">{"".join(listed)}</dl>'


def _dollars(amount: float, digits: int) -> str:
    return f"{'−' if amount < 0 else ''}${abs(amount):,.{digits}f}"


def _loss(figures: Mapping[str, Any], field: str) -> str:
    return ' class="loss"' if field in LIMITED and figures[field] > ALL_PERCENT else ""


def _summary(name: str, summary: dict[str, Any], outcome: dict[str, Any]) -> str:
    words = "".join(f"<p>{text(sentence)}</p>" for sentence in sentences(summary, outcome))
    words += f'<p class="soft">{text(shares_of_raw(summary["raw"]))}</p>'
    words = words.replace(" %", "\u00a0%")  # a line does not begin with the sign
    scatter = json_script(bounds_data(summary, outcome))
    titles = "".join(f'<th scope="col">{text(title)}</th>' for title in TITLES)
    rows = ""
    for strategy, line in line_styles(outcome).items():
        figures = summary["strategies"][strategy]
        mark = " <em>cheapest of the others</em>" if strategy == summary["best_other"] else ""
        cells = cells_of(figures).items()
        numbers = "".join(f"<td{_loss(figures, field)}>{cell}</td>" for field, cell in cells)
        rows += (
            f'<tr class="{line}"><th scope="row"><svg class="swatch {line}" viewBox="0 0 26 8" '
            f'aria-hidden="true"><path d="M1 4h24"/></svg>{text(strategy)}{mark}</th>{numbers}</tr>'
        )
    label = text(f"Strategies, {name}")
    return (
        f'<div class="summary"><div class="words">{words}</div><figure class="scatter">{scatter}'
        "</figure></div>"
        f'<div class="scroll" role="region" tabindex="0" aria-label="{label}"><table>'
        f'<thead><tr><th scope="col">strategy</th>{titles}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _recording(number: int, recording: dict[str, Any], outcome: dict[str, Any]) -> str:
    """Return a recording as a line of the list; the script draws the details once it is opened."""
    ours = recording["strategies"][outcome["ours"]]
    raw = recording["strategies"][outcome["everything"]]
    saved = raw["dollars"] - ours["dollars"]
    hidden, uses = ours["hidden"] + ours["hidden_lines"], ours["uses"] + ours["line_uses"]
    cost = ours["cost_percent"]
    # The tick of the bar is the cost of sending everything, and its end is twice that.
    bar = (
        f'<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect width="{min(cost / 2, ALL_PERCENT):.1f}" height="8"/><path d="M50 0v8"/></svg>'
    )
    shown = (
        ("calls", "calls", ours["calls"], f"{ours['calls']:,}", False),
        ("tokens", "tokens sent raw", raw["tokens"], f"{raw['tokens']:,}", False),
        ("cost", "net cost", cost, f"{cost:.1f} %", cost > ALL_PERCENT),
        ("saved", "money saved", saved, _dollars(saved, 3), saved < 0),
        ("hidden", "hidden uses", hidden, f"{hidden:,} of {uses:,}", False),
    )
    data = " ".join(f'data-{name}="{value:.6g}"' for name, _, value, _, _ in shown)
    figures = "".join(
        f'<span class="{name}{" loss" if is_loss else ""}"><i>{label} </i>'
        f"{bar if name == 'cost' else ''}<b>{figure}</b></span>"
        for name, label, _, figure, is_loss in shown
    )
    kind = " · ".join(filter(None, (recording["source"], recording["model"])))
    return (
        f'<details id="r{number}" {data}><summary><span class="name">'
        f"<bdi>{text(recording['name'])}</bdi><small><bdi>{text(kind)}</bdi></small>"
        f"</span>{figures}</summary>{json_script(recording_data(recording, outcome))}</details>"
    )


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
        "words": list(sentences(recording, outcome)),
        "troubles": [*recording["broken"], *recording["problems"]],
        "rows": [list(cells_of(recording["strategies"][name]).values()) for name in names],
        "tokens": _share_rows(tokens[name] for name in names),
        "costs": _share_rows(map(round, costs[name]) for name in names),
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


def _share_rows(rows: Iterable[Iterable[int]]) -> list[list[int] | int]:
    """Return the rows; a row that repeats an earlier one becomes the number of that row."""
    seen: dict[tuple[int, ...], int] = {}
    kept: list[list[int] | int] = []
    for number, row in enumerate(map(tuple, rows)):
        first = seen.setdefault(row, number)
        kept.append(list(row) if first == number else first)
    return kept
