"""A study's outcome as a table, and as one self-contained HTML page with each moment side by side.

Recordings are untrusted: their text reaches the page only escaped.
"""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import Any

COLUMNS = (
    ("quality", "quality", ".2f", "0 to 4, the mean of the judge's two passes"),
    ("behind", "behind raw", ".2f", "the quality of the whole list's steps minus this one's"),
    ("as_good", "as good %", ".0f", "steps of at least the quality of the whole list's step"),
    ("same_effect", "same effect %", ".0f", "steps with the effect of the recorded one"),
    ("false_facts", "false facts %", ".0f", "steps in which a pass of the judge found one"),
    ("recalls", "recalls", ".2f", "recalls a moment"),
    ("recalled", "recalled", ",.0f", "tokens of their answers a moment"),
    ("tokens", "tokens %", ".1f", "the views in percent of the whole lists"),
    ("cost", "cost %", ".1f", "of this one call with its recalls, the last request being cached"),
)
"""Field, title, format and meaning of each figure."""
INTERVALS = "In brackets: 95 percent of 10,000 bootstrap samples of the sessions."
STYLE = """
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:110rem;padding:0 1rem}
table{border-collapse:collapse}td,th{padding:.3rem .7rem;text-align:right;border-bottom:1px solid}
.side{display:grid;grid-template-columns:repeat(auto-fit,minmax(20rem,1fr));gap:1rem}
pre{white-space:pre-wrap;overflow-wrap:anywhere;max-height:40rem;overflow:auto;border-left:2px solid;
padding-left:.6rem;font-size:12px}summary{cursor:pointer}:root{color-scheme:light dark}
"""
text = html.escape


def rows(outcome: dict[str, Any]) -> list[list[str]]:
    """Return the table: a line of titles, then one for each condition, each figure with its interval."""
    lines = [
        [name, *(_cell(figures[field], form) for field, _, form, _ in COLUMNS)]
        for name, figures in outcome["figures"].items()
    ]
    return [["condition", *(title for _, title, _, _ in COLUMNS)], *lines]


def _cell(figure: tuple[float, ...], form: str) -> str:
    value, low, high = (format(each + 0.0, form) for each in figure)
    return value if low == high else f"{value} [{low}, {high}]"


def sentences(outcome: dict[str, Any]) -> list[str]:
    """Return what was studied, and how often the judge's passes differ."""
    settings, count = outcome["settings"], outcome["judged"]
    steps = count * len(outcome["figures"])
    return [
        f"{count} of {len(outcome['moments'])} moments judged, one a session; seed {settings.seed}.",
        f"Reader {settings.reader}, judge {settings.judge}.",
        f"The judge's two passes differ in {len(outcome['disagreements'])} of {steps} steps.",
    ]


def page(outcome: dict[str, Any]) -> str:
    """Return the page."""
    titles, *lines = rows(outcome)
    body = "".join(
        f"<tr><th>{text(name)}{''.join(f'<td>{text(cell)}' for cell in cells)}"
        for name, *cells in lines
    )
    meanings = [f"{title}: {meaning}." for _, title, _, meaning in COLUMNS] + [INTERVALS]
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Study of next steps – hippocampus</title><style>{STYLE}</style></head><body>
<h1>Study of next steps</h1>
{"".join(f"<p>{text(each)}" for each in sentences(outcome))}
<table><tr>{"".join(f"<th>{text(title)}" for title in titles)}{body}</table>
{_opened("What the columns are", meanings)}
{_opened("Steps in which the passes differ", outcome["disagreements"])}
{_opened("Missing", outcome["missing"])}
<h2>Moments</h2>
{"".join(map(_moment, outcome["moments"]))}
</body></html>
"""


def _moment(moment: dict[str, Any]) -> str:
    qualities = ", ".join(
        f"{name} {'/'.join(str(each['quality']) for each in side['verdicts']) or 'not judged'}"
        for name, side in moment["sides"].items()
    )
    sides = "".join(_side(name, each) for name, each in moment["sides"].items())
    return (
        f"<details><summary>{text(moment['title'])} ({text(qualities)})</summary>"
        f'<h3>Recorded</h3><pre>{text(moment["recorded"])}</pre><div class="side">{sides}</div>'
        "</details>"
    )


def _side(name: str, side: dict[str, Any]) -> str:
    notes = [
        f"quality {each['quality']}, same effect: {each['same_effect']}. {each.get('note', '')} "
        + "".join(f"False: {fact} " for fact in each["false_facts"])
        for each in side["verdicts"]
    ]
    recalls = [f"{each['arguments']}\n\n{each['answer']}" for each in side["recalls"]]
    return (
        f"<section><h3>{text(name)}</h3><p>case {side['case']}, {side['tokens']:,} tokens"
        f"{''.join(f'<p>{text(each)}' for each in notes)}<pre>{text(side['step'])}</pre>"
        f"{_opened('Recalls', recalls)}{_opened('Texts that are not in the list', side['shortened'])}"
        "</section>"
    )


def _opened(title: str, texts: Iterable[str]) -> str:
    """Return texts under a title that opens them; nothing where there are none."""
    listed = [f"<pre>{text(each)}</pre>" for each in texts]
    shown = f"<details><summary>{text(title)} ({len(listed)})</summary>{''.join(listed)}</details>"
    return shown if listed else ""
