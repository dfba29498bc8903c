"""The figures of a study, with intervals over sessions, as a table and as one HTML page.

Calls no model. Recordings are untrusted: their text reaches the page only escaped.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from importlib.resources import files
from statistics import mean
from string import Template
from typing import Any

from hippocampus import prices as price_tables
from hippocampus.formats.reader import read
from hippocampus.replay.intervals import bootstrap
from hippocampus.replay.page import text
from hippocampus.replay.study.asking import labels_of, step_of
from hippocampus.replay.study.folder import RAW, Moment, StudyFolder

COLUMNS = (
    ("moments", "moments", ".0f", "those with every step and both verdicts"),
    ("quality", "quality", ".2f", "0 to 4, the mean of the judge's two passes"),
    ("behind", "behind raw", ".2f", "the quality of the whole list's steps minus this one's"),
    ("as_good", "as good %", ".0f", "moments of at least the quality of the whole list's steps"),
    ("same_effect", "same effect %", ".0f", "steps with the effect of the recorded one"),
    ("false_facts", "false facts %", ".0f", "steps in which a pass of the judge found one"),
    ("recalls", "recalls", ".2f", "recalls a step"),
    ("recalled", "recalled", ",.0f", "tokens of their answers a step"),
    ("tokens", "tokens %", ".1f", "the views in percent of the whole lists"),
    ("cost", "cost %", ".1f", "of this one call with its recalls, the last request being cached"),
)
"""Field, title, format and meaning of the figures."""
RATIOS = ("tokens", "cost")
"""The figures in percent of the whole list's."""
INTERVALS = "In brackets: 95 percent of 10,000 bootstrap samples of the sessions."
Figure = tuple[float, ...]
"""A value, and the ends of its interval if it has one."""


class StudyReport:
    """The figures by condition, over the moments with all steps and both verdicts."""

    def __init__(self, folder: StudyFolder) -> None:
        self.folder, settings = folder, folder.settings
        self.missing: list[str] = []
        self.disagreements: list[str] = []
        self.verdicts: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
        """By id of the case, one verdict per pass."""
        judged, steps = list[Moment](), 0
        for moment in folder.moments:
            cases, judgements = [case.id for case in folder.cases(moment.id)], moment.judgements()
            for judgement in judgements:
                labels = labels_of(folder, judgement)
                for label, verdict in (folder.last("result", judgement) or {}).items():
                    self.verdicts[labels[label]].append(verdict)
            missing = [name for name in (*cases, *judgements) if not folder.last("result", name)]
            for name in missing:
                self.missing.append(f"{name}: {folder.last('refused', name) or 'no answer yet'}")
            if missing:
                continue
            judged.append(moment)
            steps += len(cases)
            for name in cases:
                # Letters are in the opposite order in the second pass: a difference is the judge's.
                one, two = ((made["quality"], made["same_effect"]) for made in self.verdicts[name])
                if one != two:
                    found = f"{name} has quality and same effect {one}, then {two}"
                    self.disagreements.append(f"{_title(moment)}: {found}")
        self.figures: dict[str, dict[str, Figure]] = {
            condition: self._figures(judged, condition)
            for condition in (settings.conditions() if judged else ())
        }
        """By condition."""
        self.sentences = [
            f"{len(judged)} of {len(folder.moments)} moments judged, one a session.",
            f"Reader {settings.reader}, judge {settings.judge}, seed {settings.seed}.",
        ]
        if judged:
            differ = len(self.disagreements)
            self.sentences.append(f"The judge's two passes differ in {differ} of {steps} steps.")

    def _figures(self, moments: Sequence[Moment], condition: str) -> dict[str, Figure]:
        """Return the figures with their 95 percent intervals; every moment is of another session."""
        own, raw = (
            [self._numbers(moment, name) for moment in moments] for name in (condition, RAW)
        )
        for numbers, whole in zip(own, raw, strict=True):
            numbers["behind"] = whole["quality"] - numbers["quality"]
            numbers["as_good"] = 100.0 * (numbers["behind"] <= 0)
        figures: dict[str, Figure] = {"moments": (len(moments),)}
        for field in own[0]:
            under = [whole[field] / 100 if field in RATIOS else 1.0 for whole in raw]
            figures[field] = bootstrap([numbers[field] for numbers in own], under)
        return figures

    def _numbers(self, moment: Moment, condition: str) -> dict[str, float]:
        case = next(c for c in self.folder.cases(moment.id) if condition in c.costs)
        prices = price_tables.model_prices(self.folder.settings.model)
        verdicts = self.verdicts[case.id]
        recalled = [made["recall"]["tokens"] for made in self.folder.records("recall", case.id)]
        return {
            "quality": mean(verdict["quality"] for verdict in verdicts),
            "same_effect": 100 * mean(verdict["same_effect"] for verdict in verdicts),
            "false_facts": 100.0 * any(verdict["false_facts"] for verdict in verdicts),
            "recalls": len(recalled),
            "recalled": sum(recalled),
            "tokens": case.tokens,
            "cost": case.costs[condition]
            + sum(prices.recall_cost(case.tokens, tokens) for tokens in recalled),
        }

    def rows(self) -> list[list[str]]:
        """Return a line of titles, and a line per condition with its figures and their intervals."""
        lines = [["condition", *(title for _, title, _, _ in COLUMNS)]]
        for name, figures in self.figures.items():
            lines.append([name])
            for field, _, form, _ in COLUMNS:
                value, *ends = (format(figure + 0.0, form) for figure in figures[field])
                interval = f" [{', '.join(ends)}]" if len({*ends}) > 1 else ""
                lines[-1].append(f"{value}{interval}")
        return lines

    def page(self) -> str:
        """Return the HTML page."""
        titles, *lines = ([text(cell) for cell in line] for line in self.rows())
        rows = ["<tr>" + "".join(f"<th>{title}" for title in titles)]
        rows += [
            f"<tr><th>{name}" + "".join(f"<td>{cell}" for cell in cells) for name, *cells in lines
        ]
        meanings = [f"{title}: {meaning}." for _, title, _, meaning in COLUMNS] + [INTERVALS]
        template = files(__package__).joinpath("report.html").read_text(encoding="utf-8")
        return Template(template).substitute(
            sentences="".join(f"<p>{text(sentence)}" for sentence in self.sentences),
            rows="".join(rows),
            columns=_details("What the columns are", meanings),
            disagreements=_details("Steps in which the passes differ", self.disagreements),
            missing=_details("Missing", self.missing),
            moments="".join(map(self._render, self.folder.moments)),
        )

    def _render(self, moment: Moment) -> str:
        """Return a moment as HTML: the recorded step, and the readers' steps next to it."""
        cases = self.folder.cases(moment.id)
        known = {part.text for message in read(cases[0].view) for part in message.parts}
        sides, qualities = "", []
        for case in cases:
            name, title, verdicts = case.id, " and ".join(case.costs), self.verdicts[case.id]
            graded = "/".join(str(verdict["quality"]) for verdict in verdicts) or "not judged"
            qualities.append(f"{title} {graded}")
            notes = ""
            for verdict in verdicts:
                false = "".join(f" False: {fact}" for fact in verdict["false_facts"])
                notes += f"<p>quality {verdict['quality']}, same effect: {verdict['same_effect']}. "
                notes += text(f"{verdict.get('note', '')}{false}")
            served = (record["recall"] for record in self.folder.records("recall", name))
            recalls = [f"{recall['arguments']}\n\n{recall['answer']}" for recall in served]
            texts = [part.text for message in read(case.view) for part in message.parts]
            sides += (
                f"<section><h3>{text(title)}</h3><p>{name}, {case.tokens:,} tokens{notes}"
                f"<pre>{text(step_of(self.folder, name))}</pre>{_details('Recalls', recalls)}"
                f"{_details('Texts that are not in the list', [e for e in texts if e not in known])}"
                "</section>"
            )
        return (
            f"<details><summary>{text(_title(moment))} ({text(', '.join(qualities))})</summary><h3>"
            f'Recorded</h3><pre>{text(cases[0].recorded)}</pre><div class="side">{sides}</div></details>'
        )


def _title(moment: Moment) -> str:
    return f"{moment.id}: {moment.recording}, call {moment.call}, {moment.kind}"


def _details(title: str, texts: Sequence[str]) -> str:
    """Return texts in a `details` element with a title; nothing if there are no texts."""
    listed = "".join(f"<pre>{text(item)}</pre>" for item in texts)
    opened = f"<details><summary>{text(title)} ({len(texts)})</summary>{listed}</details>"
    return opened if texts else ""
