"""The figures of a study, with intervals over sessions, as a table and as one HTML page.

Nothing is asked. Recordings are untrusted: their text reaches the page only escaped.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from hippocampus import prices as price_tables
from hippocampus.formats.conversation import Item
from hippocampus.formats.reader import read
from hippocampus.replay.study.answers import step_of
from hippocampus.replay.study.folder import RAW, AnswerLog, Moment, StudyFolder, StudySettings
from hippocampus.replay.study.judging import labels_of

DRAWS = 10_000
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
Side = dict[str, Any]
"""A moment under one condition."""


class JudgedMoment(NamedTuple):
    """A moment with the step of each reader, and the verdicts on it."""

    title: str
    recorded: str
    sides: dict[str, Side]
    missing: list[str]

    def disagreements(self) -> Iterable[str]:
        """Yield a sentence for each step of which the judge's passes differ."""
        for name, side in self.sides.items():
            one, two = ((each["quality"], each["same_effect"]) for each in side["verdicts"])
            if one != two:
                yield f"{self.title}: {name} has quality and same effect {one}, then {two}"


class StudyReport(NamedTuple):
    """The figures by condition, over the moments that have every step and both verdicts."""

    settings: StudySettings
    figures: dict[str, dict[str, tuple[float, ...]]]
    moments: list[JudgedMoment]
    judged: list[JudgedMoment]
    missing: list[str]
    disagreements: list[str]

    @classmethod
    def of(cls, folder: StudyFolder) -> StudyReport:
        """Return the report of a study's folder."""
        settings = folder.settings()
        moments = [_moment(folder, settings, each) for each in folder.moments()]
        judged = [each for each in moments if not each.missing]
        raw = [each.sides[RAW] for each in judged]
        return cls(
            settings,
            {
                name: _figures([each.sides[name] for each in judged], raw)
                for name in (judged[0].sides if judged else ())
            },
            moments,
            judged,
            [line for each in moments for line in each.missing],
            [line for each in judged for line in each.disagreements()],
        )

    def rows(self) -> list[list[str]]:
        """Return a line of titles, then one for each condition, each figure with its interval."""
        lines = [
            [name, *(_cell(figures[field], form) for field, _, form, _ in COLUMNS)]
            for name, figures in self.figures.items()
        ]
        return [["condition", *(title for _, title, _, _ in COLUMNS)], *lines]

    def sentences(self) -> list[str]:
        """Return what was studied, and how often the judge's passes differ."""
        settings, count, differ = self.settings, len(self.judged), len(self.disagreements)
        return [
            f"{count} of {len(self.moments)} moments judged, one a session; seed {settings.seed}.",
            f"Reader {settings.reader}, judge {settings.judge}.",
            f"The judge's two passes differ in {differ} of {count * len(self.figures)} steps.",
        ]

    def page(self) -> str:
        """Return the page."""
        titles, *lines = self.rows()
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
{"".join(f"<p>{text(each)}" for each in self.sentences())}
<table><tr>{"".join(f"<th>{text(title)}" for title in titles)}{body}</table>
{_opened("What the columns are", meanings)}
{_opened("Steps in which the passes differ", self.disagreements)}
{_opened("Missing", self.missing)}
<h2>Moments</h2>
{"".join(map(_shown, self.moments))}
</body></html>
"""


def _moment(folder: StudyFolder, settings: StudySettings, moment: Moment) -> JudgedMoment:
    prices = price_tables.model_prices(settings.model)
    whole = folder.case(moment.cases[RAW])
    missing: list[str] = []
    sides: dict[str, Side] = {}
    for name, case_id in moment.cases.items():
        case, log = folder.case(case_id), folder.log(case_id)
        missing += _missing(f"step {case_id}", log)
        paid = (prices.recall_cost(case.tokens, each["tokens"]) for each in log.recalls)
        sides[name] = {
            "case": case_id,
            "step": step_of(log),
            "tokens": case.tokens,
            "cost": case.cost + sum(paid),
            "recalls": log.recalls,
            "shortened": _shortened(case.view, whole.view),
            "verdicts": [],
        }
    for judgement in moment.judgements():
        log = folder.log(judgement)
        missing += _missing(f"judgement {judgement}", log)
        labels = labels_of(sides, settings.seed, judgement)
        for label, verdict in (log.result or {}).items():
            sides[labels[label]]["verdicts"].append(verdict)
    title = f"{moment.id}: {moment.recording}, call {moment.call}, {moment.kind}"
    return JudgedMoment(title, whole.recorded, sides, missing)


def _missing(name: str, log: AnswerLog) -> list[str]:
    why = log.refused or next(reversed(log.failures), "no answer yet")
    return [] if log.result else [f"{name}: {why}"]


def _shortened(view: Sequence[Item], whole: Sequence[Item]) -> list[str]:
    """Return the texts of a view that are not in the whole list."""
    known = {part.text for message in read(whole) for part in message.parts}
    texts = (part.text for message in read(view) for part in message.parts)
    return [text for text in texts if text not in known]


def _figures(own: Sequence[Side], raw: Sequence[Side]) -> dict[str, tuple[float, ...]]:
    """Return each figure with the ends of its 95 percent interval; each moment is of one session."""
    quality, whole = _means(own, "quality"), _means(raw, "quality")
    ones = np.ones(len(own))
    ratios = {
        "quality": (quality, ones),
        "behind": (whole - quality, ones),
        "as_good": (100.0 * (quality >= whole), ones),
        "same_effect": (100.0 * _means(own, "same_effect"), ones),
        "false_facts": (100.0 * (_means(own, "false_facts") > 0), ones),
        "recalls": (np.array([len(each["recalls"]) for each in own]), ones),
        "recalled": (
            np.array([sum(one["tokens"] for one in each["recalls"]) for each in own]),
            ones,
        ),
        "tokens": (100.0 * _column(own, "tokens"), _column(raw, "tokens")),
        "cost": (100.0 * _column(own, "cost"), _column(raw, "cost")),
    }
    draws = np.random.default_rng(0).integers(0, len(own), (DRAWS, len(own)))
    return {
        name: (
            float(over.sum() / under.sum()),
            *map(float, np.percentile(over[draws].sum(1) / under[draws].sum(1), (2.5, 97.5))),
        )
        for name, (over, under) in ratios.items()
    }


def _column(sides: Sequence[Side], field: str) -> Any:
    return np.array([each[field] for each in sides], float)


def _means(sides: Sequence[Side], field: str) -> Any:
    """Return the mean of a field over both passes; of a list, its length."""
    return np.array(
        [
            np.mean([len(one) if isinstance(one, list) else one for one in values])
            for values in ([each[field] for each in side["verdicts"]] for side in sides)
        ]
    )


def _cell(figure: tuple[float, ...], form: str) -> str:
    value, low, high = (format(each + 0.0, form) for each in figure)
    return value if low == high else f"{value} [{low}, {high}]"


def _shown(moment: JudgedMoment) -> str:
    qualities = ", ".join(
        f"{name} {'/'.join(str(each['quality']) for each in side['verdicts']) or 'not judged'}"
        for name, side in moment.sides.items()
    )
    sides = "".join(_side(name, each) for name, each in moment.sides.items())
    return (
        f"<details><summary>{text(moment.title)} ({text(qualities)})</summary>"
        f'<h3>Recorded</h3><pre>{text(moment.recorded)}</pre><div class="side">{sides}</div>'
        "</details>"
    )


def _side(name: str, side: Side) -> str:
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


def _opened(title: str, texts: Sequence[str]) -> str:
    """Return texts under a title that opens them; nothing where there are none."""
    listed = "".join(f"<pre>{text(each)}</pre>" for each in texts)
    return (
        f"<details><summary>{text(title)} ({len(texts)})</summary>{listed}</details>"
        if texts
        else ""
    )
