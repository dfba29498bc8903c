"""Fits the law of decay to the user's own recordings, with owners left out.

Strength times a chance is read as the probability that a payload is used within the next ten calls.
Sources: protocol sections 8.1 and 13; Brier 1950 for the score.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy import typing as npt

from hippocampus.entries.decay import ENCODING_FACTOR, PRIORITY_FACTOR
from hippocampus.errors import RecordingError
from hippocampus.policy import Policy
from hippocampus.policy.files import extended
from hippocampus.prices import Prices
from hippocampus.replay.measure import Script, prepare
from hippocampus.replay.our_strategy import EntryHistories, fresh_session
from hippocampus.replay.readers import read_file
from hippocampus.replay.run import OURS, Options, place, replay_files, summarise
from hippocampus.replay.strategies import EVERYTHING
from hippocampus.replay.summary import Totals
from hippocampus.replay.workers import over_files
from hippocampus.session.payloads import Payload

Column = npt.NDArray[Any]
Track = Callable[[Iterable[Any], int, str], Iterable[Any]]
"""Passes on what it is given, and shows by a number and a title how far it is."""
HORIZON_CALLS = 10
MAX_MOMENTS = 40
"""About this many moments of a payload's life are observed at most, evenly spread."""
FOLDS = 3
MIN_OBSERVATIONS = 200
"""A rate with fewer observations stays as it is."""
RATES = (0.0, 0.01, 0.02, 0.03, 0.05, 0.08, 0.12, 0.2, 0.3, 0.5, 0.8, 1.2, 2.0, 3.0)
EXPONENTS = (0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0)
MENTIONS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0)
THRESHOLDS = ("fade_below", "sleep_below", "digest_below")
SCALES = (1.0, 0.6, 0.8, 1.25, 1.6)
"""Factors of the thresholds that are replayed."""
SCORED = ("the policy's law", "the fitted law")


class Observations(NamedTuple):
    """One row for each payload and moment."""

    owner: Column
    name: Column
    """The key of its rate in `decay_rates`."""
    age: Column
    rest: Column
    """Turns since it arrived, and since its last access, times the factors of its rate."""
    accessed: Column
    used: Column
    """1 where a value or a line of it is used within the horizon, else 0."""
    weight: Column

    @classmethod
    def of(cls, observed: Iterable[Observed]) -> Observations:
        """Return the rows of all files as columns."""
        rows = (row for file in observed for row in file.rows)
        return cls(*map(np.array, zip(*rows, strict=True)))

    def split(self, owners: set[str]) -> list[Observations]:
        """Return the rows of the other owners, and those of these."""
        theirs = np.isin(self.owner, sorted(owners))
        return [Observations(*(column[rows] for column in self)) for rows in (~theirs, theirs)]


@dataclass(frozen=True, slots=True)
class Law:
    """The numbers of the law of decay that a policy sets, and the chance of use at strength 1."""

    rates: Mapping[Any, float]
    exponent: float
    mention: float
    chance: float = 1.0

    def probabilities(self, seen: Observations) -> Column:
        """Return the probability of a use by row: the chance times `entries.decay.strength`."""
        names, inverse = np.unique(seen.name, return_inverse=True)
        rate = np.array([self.rates[name] for name in names.tolist()])[inverse]
        made = (1 + rate * seen.age) ** -self.exponent
        named = self.mention * (1 + rate * seen.rest) ** -self.exponent
        strength = np.where(seen.accessed, np.maximum(made, named), made)
        return np.minimum(1.0, self.chance * strength)

    def numbers(self) -> dict[str, float]:
        """Return the numbers by the names that policies have for them."""
        return {"exponent": self.exponent, "mention_strength": self.mention, **self.rates}

    def calibrated(self, seen: Observations) -> Law:
        """Return it with the chance of the least squared error."""
        strength = replace(self, chance=1.0).probabilities(seen)
        square = float((seen.weight * strength**2).sum())
        chance = float((seen.weight * strength * seen.used).sum()) / square if square else 0.0
        return replace(self, chance=chance)


def law_of(policy: Policy) -> Law:
    """Return the law that a policy sets."""
    return Law(policy.decay_rates, policy.exponent, policy.mention_strength)


def brier(probabilities: Column, seen: Observations) -> float:
    """Return the mean squared error of probabilities; lower is better."""
    return float((seen.weight * (probabilities - seen.used) ** 2).sum() / seen.weight.sum())


def fit(seen: Observations, start: Law) -> Law:
    """Return the law of the least squared error, by a search over one number after the other."""
    names, counts = np.unique(seen.name, return_counts=True)
    often = names[counts >= MIN_OBSERVATIONS].tolist()
    best, before = start.calibrated(seen), None
    while best != before:
        before = best
        for number in (*often, "exponent", "mention"):
            if number == "exponent":
                tried = [replace(best, exponent=exponent) for exponent in EXPONENTS]
            elif number == "mention":
                tried = [replace(best, mention=mention) for mention in MENTIONS]
            else:
                tried = [replace(best, rates={**best.rates, number: rate}) for rate in RATES]
            laws = (best, *(law.calibrated(seen) for law in tried))
            best = min(laws, key=lambda law: brier(law.probabilities(seen), seen))
    return best


class Observed(NamedTuple):
    """One file: its owner, and the rows of its recordings."""

    path: Path
    owner: str
    """The owner in a file's name `owner+rest`, else the file itself."""
    rows: list[tuple[Any, ...]]


def observe_file(path: Path, policy: Policy, prices: Prices) -> Observed:
    """Observe the payloads of a file's recordings; none where it is no recording."""
    name, plus, _ = path.name.partition("+")
    owner = name if plus else str(path)
    scripts: list[Script] = []
    with contextlib.suppress(RecordingError):
        scripts += map(prepare, read_file(path))
    rows = [
        (owner, *row)
        for script in scripts
        if script.answers
        for row in _rows(script, policy, prices)
    ]
    return Observed(path, owner, rows)


def _rows(script: Script, policy: Policy, prices: Prices) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of one recording, without the owner; content whose rate a rule sets has none."""
    with fresh_session(policy, prices) as session:
        histories = EntryHistories(session)
        for end in script.call_ends:
            histories.view(script.recording.messages[:end])
        payloads = session.report.payloads()
    calls = len(script.answers)
    for payload, used in zip(payloads, _uses(script, payloads), strict=True):
        entry, kind = payload.record.entry, payload.record.kind
        known = histories.accesses(payload.id)
        modifiers, made = entry.modifiers, entry.lifecycle.created
        factor = PRIORITY_FACTOR[modifiers.priority] * ENCODING_FACTOR[modifiers.encoding]
        if payload.resolution.decay_rate is not None or not factor:
            continue
        name = kind if kind in policy.decay_rates else entry.type
        step = max(1, (calls - HORIZON_CALLS - made) // MAX_MOMENTS)
        for turn in range(made, calls - HORIZON_CALLS + 1, step):
            last = max((access for access in known if access <= turn), default=made)
            is_used = any(turn <= call < turn + HORIZON_CALLS for call in used)
            ages = factor * (turn - made), factor * (turn - last)
            yield name, *ages, last > made, float(is_used), float(step)


def _uses(script: Script, payloads: Sequence[Payload]) -> list[set[int]]:
    """Return for each payload the calls that use it: a use is one of the newest that has the text."""
    texts = [script.messages[payload.message].parts[payload.part].text for payload in payloads]
    searchable = list(map(script.searchable, texts))
    used: list[set[int]] = [set() for _ in payloads]
    for call, answer in enumerate(script.answers):
        before = [n for n, each in enumerate(payloads) if each.message < answer][::-1]
        for terms, among in ((script.uses, texts), (script.line_uses, searchable)):
            for term in terms[call]:
                newest = next((n for n in before if term in among[n]), None)
                if newest is not None:
                    used[newest].add(call)
    return used


def folds_of(observed: Iterable[Observed]) -> list[set[str]]:
    """Return the owners in parts of about the same number of rows."""
    sizes: Counter[str] = Counter()
    for file in observed:
        sizes[file.owner] += len(file.rows)
    folds: list[set[str]] = [set() for _ in range(min(FOLDS, len(sizes)))]
    for owner, _ in sizes.most_common():
        min(folds, key=lambda fold: sum(sizes[each] for each in fold)).add(owner)
    return folds


class Tuned(NamedTuple):
    """The outcome of tuning; the sums are those on owners that were left out."""

    scores: Mapping[str, float]
    """Brier scores by the law that predicts, as `SCORED` lists them."""
    law: Law
    """Fitted to everything."""
    everything: Totals
    before: Totals
    after: Totals
    changes: Mapping[str, Any]
    """The fields to propose; empty where the policy as it is is as good."""


def scored(
    seen: Observations, folds: Iterable[set[str]], start: Law
) -> tuple[dict[str, float], list[Law]]:
    """Return the scores with each part left out once, and the law fitted without each part."""
    scores, laws = dict.fromkeys(SCORED, 0.0), []
    for fold in folds:
        train, test = seen.split(fold)
        laws.append(fit(train, start))
        share = test.weight.sum() / seen.weight.sum()
        for name, law in zip(SCORED, (start.calibrated(train), laws[-1]), strict=True):
            scores[name] += float(share) * brier(law.probabilities(test), test)
    return scores, laws


def tune(
    files: Sequence[Path], policy: Policy, prices: Prices, track: Track = lambda work, *_: work
) -> Tuned:
    """Fit the law and the thresholds to some owners, and propose what holds on the others.

    `track` shows how far it is.

    Raises:
        RecordingError: there are no two owners with sessions that are long enough.
    """
    watch = functools.partial(observe_file, policy=policy, prices=prices)
    observed = sorted(
        file for file in track(over_files(files, watch), len(files), "observing") if file.rows
    )
    folds = folds_of(observed)
    if not folds[1:]:
        reason = f"tuning needs sessions of over {HORIZON_CALLS} calls in two files, of two owners"
        raise RecordingError(", ".join(map(str, files[:3])), reason)
    seen = Observations.of(observed)
    start = law_of(policy)
    scores, laws = scored(seen, folds, start)
    trains = [seen.split(fold)[0] for fold in folds]
    law = fit(seen, start)
    if min(SCORED, key=lambda name: scores[name]) != SCORED[-1]:
        law, *laws = (start.calibrated(rows) for rows in (seen, *trains))
    everything, before, after, chosen = Totals(), Totals(), Totals(), []
    for fold, own in track(zip(folds, laws, strict=True), len(folds), "replaying parts"):
        changed = (fields_of(policy, own, scale) for scale in SCALES)
        tried = [policy, *(applied(policy, fields) for fields in changed)]
        train = [file.path for file in observed if file.owner not in fold]
        test = [file.path for file in observed if file.owner in fold]
        sums = [_replayed(train, each, prices)[OURS] for each in tried]
        good = [n for n, each in enumerate(sums) if each.shows_as_much_as(sums[0])]
        best = min(good, key=lambda n: sums[n].cost)
        chosen.append(best)
        usual = _replayed(test, policy, prices)
        everything.add(usual[EVERYTHING.name])
        before.add(usual[OURS])
        after.add(_replayed(test, tried[best], prices)[OURS])
    changes = {}
    median = sorted(chosen)[len(chosen) // 2]
    if median and after.shows_as_much_as(before) and after.cost < before.cost:
        scales = sorted(SCALES[number - 1] for number in chosen if number)
        changes = fields_of(policy, law, scales[len(scales) // 2])
    return Tuned(scores, law, everything, before, after, changes)


def _replayed(files: Sequence[Path], policy: Policy, prices: Prices) -> Mapping[str, Totals]:
    """Return the sums of recordings by strategy."""
    results = replay_files(files, Options(policy, prices))
    return summarise(sorted(itertools.chain(*results), key=place))[1].strategies


def fields_of(policy: Policy, law: Law, scale: float) -> dict[str, Any]:
    """Return the fields of a policy with the numbers of a law, and with its thresholds scaled."""
    fields = {name: round(min(1.0, scale * getattr(policy, name)), 3) for name in THRESHOLDS}
    numbers = {"exponent": law.exponent, "mention_strength": law.mention}
    return {**fields, **numbers, "decay_rates": dict(law.rates)}


def applied(policy: Policy, fields: Mapping[str, Any]) -> Policy:
    """Return a policy as a file with these fields that extends it."""
    own = Policy.model_validate({"name": "tuned", **fields})
    return extended(policy, own, fields)
