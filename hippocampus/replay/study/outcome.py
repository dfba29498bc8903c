"""The figures of a study: each condition against the whole list, with intervals over sessions.

Reads what a study's folder holds; nothing is asked and nothing is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from hippocampus import prices as price_tables
from hippocampus.formats.conversation import Item
from hippocampus.formats.reader import read
from hippocampus.replay.study.folder import RAW, AnswerLog, Moment, StudyFolder
from hippocampus.replay.study.judging import labels_of
from hippocampus.replay.study.run import step_of

DRAWS = 10_000
Side = dict[str, Any]
"""A moment under one condition."""


def outcome(folder: StudyFolder) -> dict[str, Any]:
    """Return the figures by condition, and the moments with what each reader did.

    The figures are over the moments that have every step and both verdicts; `missing` has the rest.
    """
    moments = [_moment(folder, each) for each in folder.moments()]
    judged = [each for each in moments if not each["missing"]]
    return {
        "settings": folder.settings(),
        "figures": {
            name: _figures(
                [each["sides"][name] for each in judged], [each["sides"][RAW] for each in judged]
            )
            for name in (judged[0]["sides"] if judged else ())
        },
        "moments": moments,
        "judged": len(judged),
        "missing": [line for each in moments for line in each["missing"]],
        "disagreements": [line for each in judged for line in _disagreements(each)],
    }


def _moment(folder: StudyFolder, moment: Moment) -> dict[str, Any]:
    prices = price_tables.model_prices(folder.settings().model)
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
        labels = labels_of(sides, folder.settings().seed, judgement)
        for label, verdict in (log.result or {}).items():
            sides[labels[label]]["verdicts"].append(verdict)
    title = f"{moment.id}: {moment.recording}, call {moment.call}, {moment.kind}"
    return {"title": title, "recorded": whole.recorded, "sides": sides, "missing": missing}


def _missing(name: str, log: AnswerLog) -> list[str]:
    why = log.refused or next(reversed(log.failures), "no answer yet")
    return [] if log.result else [f"{name}: {why}"]


def _shortened(view: Sequence[Item], whole: Sequence[Item]) -> list[str]:
    """Return the texts of a view that are not in the whole list."""
    known = {part.text for message in read(whole) for part in message.parts}
    texts = (part.text for message in read(view) for part in message.parts)
    return [text for text in texts if text not in known]


def _disagreements(moment: dict[str, Any]) -> Iterable[str]:
    for name, side in moment["sides"].items():
        one, two = ((each["quality"], each["same_effect"]) for each in side["verdicts"])
        if one != two:
            yield f"{moment['title']}: {name} has quality and same effect {one}, then {two}"


def _figures(own: Sequence[Side], raw: Sequence[Side]) -> dict[str, tuple[float, ...]]:
    """Return each figure with the ends of its 95 percent interval; each moment is of one session."""
    quality, whole = _means(own, "quality"), _means(raw, "quality")
    per_moment = {
        "quality": quality,
        "behind": whole - quality,
        "as_good": 100.0 * (quality >= whole),
        "same_effect": 100.0 * _means(own, "same_effect"),
        "false_facts": 100.0 * (_means(own, "false_facts") > 0),
        "recalls": np.array([len(each["recalls"]) for each in own]),
        "recalled": np.array([sum(one["tokens"] for one in each["recalls"]) for each in own]),
    }
    ratios = {name: (values, np.ones(len(own))) for name, values in per_moment.items()}
    for name in ("tokens", "cost"):
        mine, all_of_it = (np.array([each[name] for each in some], float) for some in (own, raw))
        ratios[name] = (100.0 * mine, all_of_it)
    draws = np.random.default_rng(0).integers(0, len(own), (DRAWS, len(own)))
    return {
        name: (
            float(over.sum() / under.sum()),
            *map(float, np.percentile(over[draws].sum(1) / under[draws].sum(1), (2.5, 97.5))),
        )
        for name, (over, under) in ratios.items()
    }


def _means(sides: Sequence[Side], field: str) -> Any:
    """Return the mean of a field over both passes; of a list, its length."""
    return np.array(
        [
            np.mean([len(one) if isinstance(one, list) else one for one in values])
            for values in ([each[field] for each in side["verdicts"]] for side in sides)
        ]
    )
