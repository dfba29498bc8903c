"""The one object that a replay returns: `--json` prints it, the table and the page show it.

Documented in SPEC.md; a field once there stays. No printing here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from hippocampus.replay.run import OURS, Options, Replayed, Skipped, summarise
from hippocampus.replay.strategies import EVERYTHING, FLOOR
from hippocampus.replay.summary import Summary


def outcome(
    replayed: Sequence[Replayed], skipped: Sequence[Skipped], options: Options
) -> dict[str, Any]:
    """Return the figures of a replay as one JSON object."""
    sources, total = summarise(replayed)
    prices = options.prices
    return {
        "version": 1,
        "policy": options.policy.name,
        "prices": asdict(prices),
        "marks": options.marks,
        "ours": OURS,
        "everything": EVERYTHING.name,
        "floor": FLOOR.name if options.compare else None,
        "sources": {name: _summary(each, options) for name, each in sources.items()},
        "total": _summary(total, options) if replayed else None,
        "recordings": [
            _recording(each, options)
            for each in sorted(replayed, key=lambda each: (each.source, each.path, each.name))
        ],
        "skipped": [asdict(each) for each in skipped],
    }


def _summary(summary: Summary, options: Options) -> dict[str, Any]:
    best = summary.best_other(OURS, EVERYTHING.name, FLOOR.name)
    return {**summary.figures(EVERYTHING.name, options.prices), "best_other": best}


def _recording(replayed: Replayed, options: Options) -> dict[str, Any]:
    found = {
        "path": replayed.path,
        "name": replayed.name,
        "source": replayed.source,
        "format": replayed.format,
        "model": replayed.model,
        **_summary(replayed.summary, options),
        "broken": list(replayed.broken),
        "problems": list(replayed.problems),
    }
    if calls := {name: each.calls for name, each in replayed.measured.items()}:
        found["call_tokens"] = {
            name: [call.tokens for call in each] for name, each in calls.items()
        }
        found["call_costs"] = {
            name: [round(call.cost(options.prices), 1) for call in each]
            for name, each in calls.items()
        }
        found["entries"] = [asdict(each) for each in replayed.timelines]
    return found
