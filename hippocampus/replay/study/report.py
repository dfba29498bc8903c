"""The figures of a study, with intervals over sessions, as a table and as one HTML page.

Nothing is asked. Recordings are untrusted: their text reaches the page only escaped.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from statistics import mean
from string import Template
from typing import Any, NamedTuple

import numpy as np

from hippocampus import prices as price_tables
from hippocampus.formats.reader import read
from hippocampus.prices import Prices
from hippocampus.replay.page.markup import text
from hippocampus.replay.study.asking import labels_of, step_of
from hippocampus.replay.study.folder import RAW, Answers, Moment, StudyCase, StudyFolder

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
Figure = tuple[float, ...]
"""A value, with the ends of its interval where it has one."""


class ReadStep(NamedTuple):
    """One reading of a case, with the verdicts on it, one a pass."""

    name: str
    case: StudyCase
    answers: Answers
    verdicts: list[dict[str, Any]]


class JudgedMoment(NamedTuple):
    """A moment with its steps; those of the whole list are the first."""

    title: str
    steps: list[ReadStep]
    missing: list[str]

    def under(self, condition: str) -> list[ReadStep]:
        """Return the steps under a condition."""
        return [each for each in self.steps if condition in each.case.costs]


class StudyReport(NamedTuple):
    """The figures by condition, over the moments that have every step and both verdicts."""

    figures: dict[str, dict[str, Figure]]
    """By condition, and for each but the whole list also of the moments that it shortens."""
    sentences: list[str]
    """What was studied, and how often the judge's passes differ."""
    moments: list[JudgedMoment]
    missing: list[str]
    disagreements: list[str]

    @classmethod
    def of(cls, folder: StudyFolder) -> StudyReport:
        """Return the report of a study's folder."""
        settings, prices = folder.settings, price_tables.model_prices(folder.settings.model)
        moments = [_moment(folder, each) for each in folder.moments]
        judged = [each for each in moments if not each.missing]
        figures = {}
        for condition in settings.conditions() if judged else ():
            figures[condition] = _figures(judged, condition, prices)
            shortened = [each for each in judged if each.under(condition)[0] not in each.under(RAW)]
            if shortened:
                figures[f"{condition}, shortened"] = _figures(shortened, condition, prices)
        missing = [line for each in moments for line in each.missing]
        steps = [(moment.title, step) for moment in judged for step in moment.steps]
        disagreements = []
        for title, step in steps:
            one, two = ((each["quality"], each["same_effect"]) for each in step.verdicts)
            if one != two:
                found = f"{step.name} has quality and same effect {one}, then {two}"
                disagreements.append(f"{title}: {found}")
        times = "once" if settings.readings == 1 else f"{settings.readings} times"
        sentences = [
            f"{len(judged)} of {len(moments)} moments judged, one a session.",
            f"Reader {settings.reader}, judge {settings.judge}, seed {settings.seed}.",
            f"Each case is read {times}.",
            f"The judge's two passes differ in {len(disagreements)} of {len(steps)} steps.",
            *([SHORTENED] if judged else []),
        ]
        return cls(figures, sentences, moments, missing, disagreements)

    def rows(self) -> list[list[str]]:
        """Return a line of titles, then one for each condition, each figure with its interval."""
        lines = [["condition", *(title for _, title, _, _ in COLUMNS)]]
        for name, figures in self.figures.items():
            lines.append([name])
            for field, _, form, _ in COLUMNS:
                value, *ends = (format(each + 0.0, form) for each in figures[field])
                interval = f" [{', '.join(ends)}]" if len({*ends}) > 1 else ""
                lines[-1].append(f"{value}{interval}")
        return lines

    def page(self) -> str:
        """Return the page."""
        titles, *lines = ([text(cell) for cell in line] for line in self.rows())
        rows = ["<tr>" + "".join(f"<th>{title}" for title in titles)]
        rows += [
            f"<tr><th>{name}" + "".join(f"<td>{cell}" for cell in cells) for name, *cells in lines
        ]
        meanings = [f"{title}: {meaning}." for _, title, _, meaning in COLUMNS] + [INTERVALS]
        template = files(__package__).joinpath("report.html").read_text(encoding="utf-8")
        return Template(template).substitute(
            sentences="".join(f"<p>{text(each)}" for each in self.sentences),
            rows="".join(rows),
            columns=_opened("What the columns are", meanings),
            disagreements=_opened("Steps in which the passes differ", self.disagreements),
            missing=_opened("Missing", self.missing),
            moments="".join(map(_shown, self.moments)),
        )


def _moment(folder: StudyFolder, moment: Moment) -> JudgedMoment:
    steps = [
        ReadStep(name, case, folder.answers[name], [])
        for name, case in folder.readings(moment).items()
    ]
    by_name = {each.name: each for each in steps}
    for judgement in moment.judgements():
        labels = labels_of(by_name, folder.settings.seed, judgement)
        for label, verdict in (folder.answers[judgement].result or {}).items():
            by_name[labels[label]].verdicts.append(verdict)
    missing = [
        f"{name}: {answers.refused or 'no answer yet'}"
        for name in (*by_name, *moment.judgements())
        if not (answers := folder.answers[name]).result
    ]
    title = f"{moment.id}: {moment.recording}, call {moment.call}, {moment.kind}"
    return JudgedMoment(title, steps, missing)


def _numbers(steps: Sequence[ReadStep], condition: str, prices: Prices) -> dict[str, float]:
    """Return the numbers of a moment under a condition: the mean of its readings."""
    case, verdicts = steps[0].case, [verdict for step in steps for verdict in step.verdicts]
    recalled = [each["tokens"] for step in steps for each in step.answers.recall]
    paid = sum(prices.recall_cost(case.tokens, each) for each in recalled)
    false = [any(each["false_facts"] for each in step.verdicts) for step in steps]
    return {
        "quality": mean(each["quality"] for each in verdicts),
        "same_effect": 100 * mean(each["same_effect"] for each in verdicts),
        "false_facts": 100 * mean(false),
        "recalls": len(recalled) / len(steps),
        "recalled": sum(recalled) / len(steps),
        "tokens": case.tokens,
        "cost": case.costs[condition] + paid / len(steps),
    }


def _figures(moments: Sequence[JudgedMoment], condition: str, prices: Prices) -> dict[str, Figure]:
    """Return each figure with the ends of its 95 percent interval; each moment is of one session."""
    own, raw = (
        [_numbers(each.under(name), name, prices) for each in moments] for name in (condition, RAW)
    )
    over = {field: np.array([each[field] for each in own], float) for field in own[0]}
    whole = {field: np.array([each[field] for each in raw], float) for field in own[0]}
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


def _shown(moment: JudgedMoment) -> str:
    whole = moment.steps[0].case
    known = {part.text for message in read(whole.view) for part in message.parts}
    sides, qualities = "", []
    for name, case, answers, verdicts in moment.steps:
        title = " and ".join(case.costs)
        graded = "/".join(str(each["quality"]) for each in verdicts) or "not judged"
        qualities.append(f"{title} {graded}")
        notes = "".join(
            f"<p>quality {each['quality']}, same effect: {each['same_effect']}. "
            + text("".join([each.get("note", ""), *(f" False: {f}" for f in each["false_facts"])]))
            for each in verdicts
        )
        recalls = [f"{each['arguments']}\n\n{each['answer']}" for each in answers.recall]
        texts = [part.text for message in read(case.view) for part in message.parts]
        sides += (
            f"<section><h3>{text(title)}</h3><p>{name}, {case.tokens:,} tokens{notes}"
            f"<pre>{text(step_of(answers))}</pre>{_opened('Recalls', recalls)}"
            f"{_opened('Texts that are not in the list', [e for e in texts if e not in known])}"
            "</section>"
        )
    return (
        f"<details><summary>{text(moment.title)} ({text(', '.join(qualities))})</summary><h3>"
        f'Recorded</h3><pre>{text(whole.recorded)}</pre><div class="side">{sides}</div></details>'
    )


def _opened(title: str, texts: Sequence[str]) -> str:
    """Return texts under a title that opens them; nothing where there are none."""
    listed = "".join(f"<pre>{text(each)}</pre>" for each in texts)
    opened = f"<details><summary>{text(title)} ({len(texts)})</summary>{listed}</details>"
    return opened if texts else ""
