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
from hippocampus.policy.yaml_files import extended
from hippocampus.prices import Prices
from hippocampus.replay.measure import Script
from hippocampus.replay.our_strategy import EntryHistories, fresh_session
from hippocampus.replay.readers import RecordedFile, read_file
from hippocampus.replay.run import Options, place, replay_file, summarise
from hippocampus.replay.strategies import EVERYTHING, OURS
from hippocampus.replay.summary import Figures, add, shows_as_much
from hippocampus.replay.workers import over_files
from hippocampus.session.payloads import Payload

Column = npt.NDArray[Any]
COLUMNS = ("owner", "name", "age", "rest", "accessed", "used", "weight")
"""A payload at a moment. `name` is the key of its rate in `decay_rates`; `age` and `rest` are the turns
since its arrival and since its last access, times the factors of the rate; `used` is 1 if a value or
line of it is used within the horizon, else 0."""
Track = Callable[[Iterable[Any], int, str], Iterable[Any]]
"""Yields from an iterable, and shows its progress, given its length and a title."""
HORIZON_CALLS = 10
MAX_MOMENTS = 40
"""About the most moments of a payload's life that are observed, evenly spread."""
FOLDS = 3
MIN_OBSERVATIONS = 200
"""A rate with fewer observations is not fitted."""
RATES = (0.0, 0.01, 0.02, 0.03, 0.05, 0.08, 0.12, 0.2, 0.3, 0.5, 0.8, 1.2, 2.0, 3.0)
OTHER_NUMBERS = {
    "exponent": (0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0),
    "mention_strength": (0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0),
}
"""The values that the fit tries, of the rates and of the other numbers of the law."""
THRESHOLDS = ("fade_below", "sleep_below", "digest_below")
SCALES = (1.0, 0.6, 0.8, 1.25, 1.6)
"""Factors of the thresholds that are replayed."""
MAX_SHOWN = 3
"""The files that an error names."""
SCORED = ("the policy's law", "the fitted law")


@dataclass(frozen=True, slots=True)
class Law:
    """The numbers of the law of decay, by field of the policy or key of `decay_rates`."""

    numbers: Mapping[Any, float]
    chance: float = 1.0
    """The chance of a use at strength 1."""

    def probabilities(self, seen: Column) -> Column:
        """Return the probabilities of a use: the chance times `entries.decay.strength`."""
        names, inverse = np.unique(seen["name"], return_inverse=True)
        rate = np.array([self.numbers[name] for name in names.tolist()])[inverse]
        exponent = -self.numbers["exponent"]
        made = (1 + rate * seen["age"]) ** exponent
        named = self.numbers["mention_strength"] * (1 + rate * seen["rest"]) ** exponent
        strength = np.where(seen["accessed"], np.maximum(made, named), made)
        found: Column = np.minimum(1.0, self.chance * strength)
        return found

    def calibrate(self, seen: Column) -> Law:
        """Return the law with the chance of the least squared error."""
        strength = replace(self, chance=1.0).probabilities(seen)
        square = float((seen["weight"] * strength**2).sum())
        chance = float((seen["weight"] * strength * seen["used"]).sum()) / square if square else 0.0
        return replace(self, chance=chance)


def law_of(policy: Policy) -> Law:
    """Return the law that a policy sets."""
    others = {name: getattr(policy, name) for name in OTHER_NUMBERS}
    return Law({**others, **policy.decay_rates})


def brier(probabilities: Column, seen: Column) -> float:
    """Return the mean squared error of probabilities; lower is better."""
    return float(
        (seen["weight"] * (probabilities - seen["used"]) ** 2).sum() / seen["weight"].sum()
    )


def fit(seen: Column, start: Law) -> Law:
    """Return the law of the least squared error, by coordinate descent."""
    names, counts = np.unique(seen["name"], return_counts=True)
    often = names[counts >= MIN_OBSERVATIONS].tolist()
    best, before = start.calibrate(seen), None
    while best != before:
        before = best
        for name in (*often, *OTHER_NUMBERS):
            values = OTHER_NUMBERS.get(name, RATES)
            tried = [replace(best, numbers={**best.numbers, name: value}) for value in values]
            laws = (best, *(law.calibrate(seen) for law in tried))
            best = min(laws, key=lambda law: brier(law.probabilities(seen), seen))
    return best


class Observed(NamedTuple):
    """One file: its owner, and the rows of its recordings."""

    path: RecordedFile
    owner: str
    """The owner in a file's name `owner+rest`, or the file itself."""
    rows: list[tuple[Any, ...]]


def observe_file(path: RecordedFile, policy: Policy, prices: Prices) -> Observed:
    """Observe the payloads of a file's recordings; a file that is no recording has no rows."""
    name, plus, _ = Path(str(path)).name.partition("+")
    owner = name if plus else str(path)
    scripts: list[Script] = []
    with contextlib.suppress(RecordingError):
        scripts += map(Script, read_file(path))
    rows = (row for script in scripts if script.answers for row in _rows(script, policy, prices))
    return Observed(path, owner, [(owner, *row) for row in rows])


def observations(observed: Iterable[Observed]) -> Column:
    """Return the rows of all files."""
    rows = (row for file in observed for row in file.rows)
    # Columns of strings: those of objects are sorted and compared five times more slowly.
    columns = list(map(np.array, zip(*rows, strict=True)))
    row = [(name, column.dtype) for name, column in zip(COLUMNS, columns, strict=True)]
    return np.rec.fromarrays(columns, np.dtype(row))


def _rows(script: Script, policy: Policy, prices: Prices) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a recording, without the owner, of payloads with no rate from a rule."""
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
    """Return the calls that use a payload, by payload; a use counts for the newest one with the term."""
    used: list[set[int]] = [set() for _ in payloads]
    newest: dict[str, int] = {}
    arriving = sorted(range(len(payloads)), key=lambda number: -payloads[number].message)
    for call, answer in enumerate(script.answers):
        while arriving and payloads[arriving[-1]].message < answer:
            number = arriving.pop()
            payload = payloads[number]
            text = script.messages[payload.message].parts[payload.part].text
            for term in script.values_in(text) | script.lines_in(text):
                newest[term] = max(number, newest.get(term, 0))
        for term in (script.uses[call] | script.line_uses[call]) & newest.keys():
            used[newest[term]].add(call)
    return used


def folds_of(observed: Iterable[Observed]) -> list[set[str]]:
    """Return the owners in parts of about equal numbers of rows."""
    sizes: Counter[str] = Counter()
    for file in observed:
        sizes[file.owner] += len(file.rows)
    folds: list[set[str]] = [set() for _ in range(min(FOLDS, len(sizes)))]
    for owner, _ in sizes.most_common():
        min(folds, key=lambda fold: sum(sizes[name] for name in fold)).add(owner)
    return folds


class Tuned(NamedTuple):
    """The outcome of tuning, with the sums over owners that were left out."""

    scores: Mapping[str, float]
    """Brier scores by the law that predicts, as `SCORED` lists them."""
    law: Law
    """The law fitted to all owners."""
    everything: Figures
    before: Figures
    after: Figures
    changes: Mapping[str, Any]
    """The fields to propose; empty if the policy is as good without them."""


def score_laws(
    seen: Column, folds: Iterable[set[str]], start: Law
) -> tuple[dict[str, float], dict[str, list[Law]]]:
    """Return the cross-validated scores of both laws, and the laws of each without one part each."""
    scores = dict.fromkeys(SCORED, 0.0)
    laws: dict[str, list[Law]] = {name: [] for name in SCORED}
    for fold in folds:
        is_left_out = np.isin(seen["owner"], sorted(fold))
        train, test = seen[~is_left_out], seen[is_left_out]
        share = test["weight"].sum() / seen["weight"].sum()
        for name, law in zip(SCORED, (start.calibrate(train), fit(train, start)), strict=True):
            scores[name] += float(share) * brier(law.probabilities(test), test)
            laws[name].append(law)
    return scores, laws


def tune(
    files: Sequence[RecordedFile],
    policy: Policy,
    prices: Prices,
    track: Track = lambda work, *_: work,
    over: Callable[..., Iterator[Any]] = over_files,
) -> Tuned:
    """Fit the law and the thresholds to some owners, and propose fields that are better on the others.

    `track` shows how far it is; `over` is `over_files` with its engine and jobs.

    Raises:
        RecordingError: fewer than two owners have sessions that are long enough.
    """
    watch = functools.partial(observe_file, policy=policy, prices=prices)
    done = track(over(files, watch), len(files), "observing")
    observed = sorted((file for file in done if file.rows), key=lambda file: Path(str(file.path)))

    def replayed(paths: Sequence[RecordedFile], candidate: Policy) -> Mapping[str, Figures]:
        work = functools.partial(replay_file, options=Options(candidate, prices))
        rows = itertools.chain.from_iterable(over(paths, work))
        return summarise(sorted(rows, key=place))[1].strategies

    folds = folds_of(observed)
    if not folds[1:]:
        reason = f"tuning needs sessions of over {HORIZON_CALLS} calls in two files, of two owners"
        raise RecordingError(", ".join(map(str, files[:MAX_SHOWN])), reason)
    seen, start = observations(observed), law_of(policy)
    scores, laws = score_laws(seen, folds, start)
    better = min(SCORED, key=lambda name: scores[name])
    law = fit(seen, start) if better == SCORED[-1] else start.calibrate(seen)
    everything, before, after, chosen = Figures(), Figures(), Figures(), list[int]()
    for fold, own in track(zip(folds, laws[better], strict=True), len(folds), "replaying parts"):
        changed = (fields_of(policy, own, scale) for scale in SCALES)
        tried = [policy, *(apply_fields(policy, fields) for fields in changed)]
        train = [file.path for file in observed if file.owner not in fold]
        test = [file.path for file in observed if file.owner in fold]
        # The policy is the first candidate: a factor that costs as much is not chosen over it.
        sums = [replayed(train, candidate)[OURS] for candidate in tried]
        good = [n for n, own in enumerate(sums) if shows_as_much(own, sums[0])]
        best = min(good, key=lambda n: sums[n]["cost"])
        chosen.append(best)
        usual = replayed(test, policy)
        add(everything, usual[EVERYTHING])
        add(before, usual[OURS])
        add(after, replayed(test, tried[best])[OURS])
    changes = {}
    median = sorted(chosen)[len(chosen) // 2]
    if median and shows_as_much(after, before) and after["cost"] < before["cost"]:
        scales = sorted(SCALES[number - 1] for number in chosen if number)
        changes = fields_of(policy, law, scales[len(scales) // 2])
    return Tuned(scores, law, everything, before, after, changes)


def fields_of(policy: Policy, law: Law, scale: float) -> dict[str, Any]:
    """Return the fields for a law's numbers, and the policy's thresholds scaled."""
    fields = {name: round(min(1.0, scale * getattr(policy, name)), 3) for name in THRESHOLDS}
    numbers = dict(law.numbers)
    others = {name: numbers.pop(name) for name in OTHER_NUMBERS}
    return {**fields, **others, "decay_rates": numbers}


def apply_fields(policy: Policy, fields: Mapping[str, Any]) -> Policy:
    """Return a policy extended by a file with these fields."""
    own = Policy.model_validate({"name": "tuned", **fields})
    return extended(policy, own, fields)
