"""The figures of a study, with intervals over sessions, as a table and as one HTML page.

Nothing is asked. Recordings are untrusted: their text reaches the page only escaped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import mean
from typing import Any, NamedTuple

import numpy as np

from hippocampus import prices as price_tables
from hippocampus.formats.reader import read
from hippocampus.prices import Prices
from hippocampus.replay.page.markup import text
from hippocampus.replay.study.asking import labels_of, step_of
from hippocampus.replay.study.cases import conditions
from hippocampus.replay.study.folder import RAW, Moment, StudyCase, StudyFolder, StudySettings

DRAWS = 10_000
COLUMNS = (
    ("moments", "moments", ".0f", "those with every step and both verdicts"),
    ("quality", "quality", ".2f", "0 to 4, the mean of all readings and of the judge's two passes"),
    ("behind", "behind raw", ".2f", "the quality of the whole list's steps minus this one's"),
    ("as_good", "as good %", ".0f", "moments of at least the quality of the whole list's steps"),
    ("same_effect", "same effect %", ".0f", "steps with the effect of the recorded one"),
    ("false_facts", "false facts %", ".0f", "steps in which a pass of the judge found one"),
    ("recalls", "recalls", ".2f", "recalls a step"),
    ("recalled", "recalled", ",.0f", "tokens of their answers a step"),
    ("tokens", "tokens %", ".1f", "the views in percent of the whole lists"),
    ("cost", "cost %", ".1f", "of this one call with its recalls, the last request being cached"),
)
"""Field, title, format and meaning of each figure."""
RATIOS = ("tokens", "cost")
"""The figures that are in percent of the whole list's."""
INTERVALS = "In brackets: 95 percent of 10,000 bootstrap samples of the sessions."
SHORTENED = (
    "“Shortened” has only the moments in which the condition shows another text than the whole list; "
    "in the others one step counts for both."
)
STYLE = """
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:110rem;padding:0 1rem}
table{border-collapse:collapse}td,th{padding:.3rem .7rem;text-align:right;border-bottom:1px solid}
.side{display:grid;grid-template-columns:repeat(auto-fit,minmax(20rem,1fr));gap:1rem}
pre{white-space:pre-wrap;overflow-wrap:anywhere;max-height:40rem;overflow:auto;border-left:2px solid;
padding-left:.6rem;font-size:12px}summary{cursor:pointer}:root{color-scheme:light dark}
"""
Figure = tuple[float, ...]
"""A value, with the ends of its interval where it has one."""


class JudgedMoment(NamedTuple):
    """A moment with the case of each condition, and the verdicts on each reading."""

    title: str
    cases: list[StudyCase]
    verdicts: dict[str, list[dict[str, Any]]]
    """By reading, one a pass."""
    missing: list[str]

    def case(self, condition: str) -> StudyCase:
        """Return the case of a condition."""
        return next(each for each in self.cases if condition in each.costs)

    def disagreements(self) -> Iterator[str]:
        """Yield a sentence for each step of which the judge's passes differ."""
        for name, verdicts in self.verdicts.items():
            one, two = ((each["quality"], each["same_effect"]) for each in verdicts)
            if one != two:
                yield f"{self.title}: {name} has quality and same effect {one}, then {two}"


class StudyReport(NamedTuple):
    """The figures by condition, over the moments that have every step and both verdicts."""

    folder: StudyFolder
    settings: StudySettings
    moments: list[JudgedMoment]
    judged: list[JudgedMoment]
    figures: dict[str, dict[str, Figure]]
    """By condition, and for each policy also of the moments where it shortens something."""

    @classmethod
    def of(cls, folder: StudyFolder, settings: StudySettings) -> StudyReport:
        """Return the report of a study's folder."""
        prices = price_tables.model_prices(settings.model)
        moments = [_moment(folder, settings, each) for each in folder.moments]
        judged = [each for each in moments if not each.missing]
        figures = {}
        for condition in conditions(settings) if judged else ():
            figures[condition] = _figures(folder, prices, judged, condition)
            shortened = [each for each in judged if each.case(condition).condition != RAW]
            if shortened:
                label = f"{condition}, shortened"
                figures[label] = _figures(folder, prices, shortened, condition)
        return cls(folder, settings, moments, judged, figures)

    @property
    def missing(self) -> list[str]:
        """Return a sentence for each answer that is missing."""
        return [line for each in self.moments for line in each.missing]

    @property
    def disagreements(self) -> list[str]:
        """Return a sentence for each step of which the judge's passes differ."""
        return [line for each in self.judged for line in each.disagreements()]

    def rows(self) -> list[list[str]]:
        """Return a line of titles, then one for each condition, each figure with its interval."""
        lines = [
            [name, *(_cell(figures[field], form) for field, _, form, _ in COLUMNS)]
            for name, figures in self.figures.items()
        ]
        return [["condition", *(title for _, title, _, _ in COLUMNS)], *lines]

    def sentences(self) -> list[str]:
        """Return what was studied, and how often the judge's passes differ."""
        settings, steps = self.settings, sum(len(each.verdicts) for each in self.judged)
        return [
            f"{len(self.judged)} of {len(self.moments)} moments judged, one a session.",
            f"Reader {settings.reader}, judge {settings.judge}, seed {settings.seed}.",
            f"Each case is read {settings.readings} times."
            if settings.readings > 1
            else "Each case is read once.",
            f"The judge's two passes differ in {len(self.disagreements)} of {steps} steps.",
            SHORTENED,
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
{"".join(_shown(self.folder, each) for each in self.moments)}
</body></html>
"""


def _moment(folder: StudyFolder, settings: StudySettings, moment: Moment) -> JudgedMoment:
    cases = folder.cases[moment.id]
    verdicts = {name: list[Any]() for case in cases for name in folder.readings(case)}
    for judgement in moment.judgements():
        labels = labels_of(verdicts, settings.seed, judgement)
        for label, verdict in (folder.answers[judgement].result or {}).items():
            verdicts[labels[label]].append(verdict)
    missing = []
    for name in (*verdicts, *moment.judgements()):
        answers = folder.answers[name]
        if not answers.result:
            why = answers.refused or next(reversed(answers.failure), "no answer yet")
            missing.append(f"{name}: {why}")
    title = f"{moment.id}: {moment.recording}, call {moment.call}, {moment.kind}"
    return JudgedMoment(title, cases, verdicts, missing)


def _numbers(
    folder: StudyFolder, prices: Prices, moment: JudgedMoment, condition: str
) -> dict[str, float]:
    """Return the numbers of a moment under a condition: the mean of its readings."""
    case = moment.case(condition)
    names = folder.readings(case)
    recalls = [folder.answers[name].recall for name in names]
    verdicts = [moment.verdicts[name] for name in names]
    paid = (
        prices.recall_cost(case.tokens, each["tokens"]) for reading in recalls for each in reading
    )
    return {
        "quality": mean(each["quality"] for both in verdicts for each in both),
        "same_effect": 100 * mean(each["same_effect"] for both in verdicts for each in both),
        "false_facts": 100 * mean(any(each["false_facts"] for each in both) for both in verdicts),
        "recalls": mean(map(len, recalls)),
        "recalled": mean(sum(each["tokens"] for each in reading) for reading in recalls),
        "tokens": case.tokens,
        "cost": case.costs[condition] + sum(paid) / len(names),
    }


def _figures(
    folder: StudyFolder, prices: Prices, moments: Sequence[JudgedMoment], condition: str
) -> dict[str, Figure]:
    """Return each figure with the ends of its 95 percent interval; each moment is of one session."""
    over, whole = (
        {field: np.array([each[field] for each in numbers], float) for field in numbers[0]}
        for name in (condition, RAW)
        if (numbers := [_numbers(folder, prices, each, name) for each in moments])
    )
    over["behind"] = whole["quality"] - over["quality"]
    over["as_good"] = 100.0 * (over["behind"] <= 0)
    draws = np.random.default_rng(0).integers(0, len(moments), (DRAWS, len(moments)))
    figures: dict[str, Figure] = {"moments": (len(moments),)}
    for field, values in over.items():
        under = whole[field] / 100 if field in RATIOS else np.ones(len(moments))
        ratios = values[draws].sum(1) / under[draws].sum(1)
        ends = map(float, np.percentile(ratios, (2.5, 97.5)))
        figures[field] = (float(values.sum() / under.sum()), *ends)
    return figures


def _cell(figure: Figure, form: str) -> str:
    value, *ends = (format(each + 0.0, form) for each in figure)
    return f"{value} [{', '.join(ends)}]" if len({*ends}) > 1 else value


def _shown(folder: StudyFolder, moment: JudgedMoment) -> str:
    qualities = ", ".join(
        f"{' and '.join(case.costs)} {name} "
        + ("/".join(str(each["quality"]) for each in moment.verdicts[name]) or "not judged")
        for case in moment.cases
        for name in folder.readings(case)
    )
    sides = "".join(
        _side(folder, moment, case, name) for case in moment.cases for name in folder.readings(case)
    )
    recorded = "".join(f"<pre>{text(case.recorded)}</pre>" for case in moment.cases[:1])
    return (
        f"<details><summary>{text(moment.title)} ({text(qualities)})</summary>"
        f'<h3>Recorded</h3>{recorded}<div class="side">{sides}</div></details>'
    )


def _side(folder: StudyFolder, moment: JudgedMoment, case: StudyCase, name: str) -> str:
    answers = folder.answers[name]
    notes = [
        f"quality {each['quality']}, same effect: {each['same_effect']}. {each.get('note', '')} "
        + "".join(f"False: {fact} " for fact in each["false_facts"])
        for each in moment.verdicts[name]
    ]
    recalls = [f"{each['arguments']}\n\n{each['answer']}" for each in answers.recall]
    known = {part.text for message in read(moment.cases[0].view) for part in message.parts}
    own = (part.text for message in read(case.view) for part in message.parts)
    return (
        f"<section><h3>{text(' and '.join(case.costs))}</h3><p>{name}, {case.tokens:,} tokens"
        f"{''.join(f'<p>{text(each)}' for each in notes)}<pre>{text(step_of(answers))}</pre>"
        f"{_opened('Recalls', recalls)}"
        f"{_opened('Texts that are not in the list', [each for each in own if each not in known])}"
        "</section>"
    )


def _opened(title: str, texts: Sequence[str]) -> str:
    """Return texts under a title that opens them; nothing where there are none."""
    listed = "".join(f"<pre>{text(each)}</pre>" for each in texts)
    opened = f"<details><summary>{text(title)} ({len(texts)})</summary>{listed}</details>"
    return opened if texts else ""
