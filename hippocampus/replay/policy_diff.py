"""What a change of a policy changes in the views of recordings, and what that costs."""

from __future__ import annotations

import operator
from pathlib import Path
from typing import Any

from hippocampus.policy import Policy
from hippocampus.prices import Prices
from hippocampus.replay.run import OURS, Options, Row, replay_file
from hippocampus.replay.strategies import EVERYTHING
from hippocampus.replay.summary import Totals


def diff_file(path: Path, before: Policy, after: Policy, prices: Prices) -> list[Row]:
    """Return each conversation of a file under two policies; none where it is no recording.

    `prices` are for a recording that names no model with a known price. A row has the figures of `everything`, `before` and `after`, and in `changed_views` how many calls
    send a list of another size.
    """
    replays = (replay_file(path, Options(each, prices, by_model=True)) for each in (before, after))
    return [
        {
            "path": one["path"],
            "name": one["name"],
            "changed_views": sum(
                map(operator.ne, one["call_tokens"][OURS], other["call_tokens"][OURS])
            ),
            "everything": one["strategies"][EVERYTHING.name],
            "before": one["strategies"][OURS],
            "after": other["strategies"][OURS],
        }
        for one, other in zip(*replays, strict=True)
        if "reason" not in one
    ]


def summed(diffs: list[Row]) -> dict[str, Any]:
    """Return how much changed over recordings, and the figures of both policies."""
    sums = {"everything": Totals(), "before": Totals(), "after": Totals()}
    for diff in diffs:
        for name, total in sums.items():
            total.add(Totals.of(diff[name]))
    everything = sums.pop("everything")
    return {
        "recordings": len(diffs),
        "changed_recordings": sum(diff["changed_views"] > 0 for diff in diffs),
        "views": everything.calls,
        "changed_views": sum(diff["changed_views"] for diff in diffs),
        **{name: total.figures(everything) for name, total in sums.items()},
    }
