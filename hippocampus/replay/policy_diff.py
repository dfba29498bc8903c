"""What a change of a policy changes in the views of recordings, and what that costs."""

from __future__ import annotations

import contextlib
import operator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hippocampus.errors import RecordingError
from hippocampus.formats.conversation import Item
from hippocampus.formats.reader import Reading, read_on
from hippocampus.policy import Policy
from hippocampus.replay.managed import fresh_session
from hippocampus.replay.measure import CacheModel, Script, measure, prepare
from hippocampus.replay.readers import read_file
from hippocampus.replay.strategies import EVERYTHING
from hippocampus.replay.summary import Totals, totals


@dataclass(frozen=True, slots=True)
class PolicyDiff:
    """One recording under two policies."""

    path: str
    name: str
    changed_views: int
    """How many calls send other messages; cache marks do not count."""
    everything: Totals
    before: Totals
    after: Totals


def diff_file(path: Path, before: Policy, after: Policy, model: CacheModel) -> list[PolicyDiff]:
    """Compare two policies over every conversation of a file; none where it is no recording."""
    found = []
    with contextlib.suppress(RecordingError):
        for recording in read_file(path):
            script = prepare(recording)
            first, first_views = _measured(script, before, model)
            everything = measure(script, EVERYTHING.make(recording), model=model)
            second, second_views = _measured(script, after, model)
            changed = sum(map(operator.ne, first_views, second_views))
            whole = totals(script, everything, model.prices)
            found.append(PolicyDiff(recording.path, recording.name, changed, whole, first, second))
    return found


def _measured(script: Script, policy: Policy, model: CacheModel) -> tuple[Totals, list[int]]:
    """Return the sums of a session with a policy, and the hash of each of its views."""
    views: list[int] = []
    reading, keys = Reading(), list[int]()
    with fresh_session(policy, model.prices, model.marks) as session:

        def view(items: list[Item]) -> list[Item]:
            nonlocal reading
            sent = session(items)
            reading = read_on(reading, sent)
            fresh = reading.messages[reading.kept :]
            keys[reading.kept :] = [hash((each.role, *each.texts())) for each in fresh]
            views.append(hash(tuple(keys)))
            return sent

        measured = measure(script, view, model=model)
    return totals(script, measured, model.prices), views


def summed(diffs: list[PolicyDiff]) -> dict[str, Any]:
    """Return how much changed over recordings, and the figures of both policies."""
    sums = {"everything": Totals(), "before": Totals(), "after": Totals()}
    for diff in diffs:
        for name, total in sums.items():
            total.add(getattr(diff, name))
    everything = sums.pop("everything")
    return {
        "recordings": len(diffs),
        "changed_recordings": sum(diff.changed_views > 0 for diff in diffs),
        "views": sum(diff.before.calls for diff in diffs),
        "changed_views": sum(diff.changed_views for diff in diffs),
        **{name: total.figures(everything) for name, total in sums.items()},
    }
