"""What each signal of the selection is worth: cost and visible values with it off, by group.

    python -m tests.bench.ablation PATH...

A group is a folder, or the part of a file's name before `__` where there is one, so that recordings
of several servers in one folder stand apart. Every signal in `select.CHANCE` is set to zero in turn.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path

from hippocampus import policy, prices
from hippocampus.indexing import select
from hippocampus.replay.measure import Measured, Script, measure
from hippocampus.replay.our_strategy import fresh_session
from hippocampus.replay.readers import find_files, read_file
from hippocampus.replay.strategies import send_everything

PRICES = prices.TABLES["anthropic-5m"]
POLICY = policy.load("default")


def scripts(paths: Sequence[str]) -> Iterator[tuple[str, Script]]:
    """Yield every recording below the paths with its group."""
    for path in find_files([Path(each) for each in paths]):
        for recording in read_file(path):
            head, marked, _ = path.name.partition("__")
            yield head if marked else path.parent.name, Script(recording)


def ours(script: Script) -> Measured:
    """Measure our session as it is set just now."""
    with fresh_session(POLICY, PRICES) as session:
        return measure(script, session)


def table(recordings: list[tuple[str, Script]], raw: list[float]) -> dict[str, list[float]]:
    """Return cost, raw cost, hidden values and uses by group."""
    sums: dict[str, list[float]] = {}
    for (group, script), everything in zip(recordings, raw, strict=True):
        measured = ours(script)
        hidden = sum(len(call.hidden) for call in measured.calls)
        uses = sum(call.uses for call in measured.calls)
        for name in (group, "all"):
            row = sums.setdefault(name, [0.0, 0.0, 0.0, 0.0])
            for at, value in enumerate((measured.cost(PRICES), everything, hidden, uses)):
                row[at] += value
    return sums


def shown(sums: dict[str, list[float]]) -> list[str]:
    """Return `cost / visible` in percent for each group."""
    return [
        f"{100 * cost / raw:.1f} / {100 - 100 * hidden / max(1, uses):.1f}"
        for _, (cost, raw, hidden, uses) in sorted(sums.items())
    ]


def main(paths: Sequence[str]) -> None:
    """Print the table, a line for each signal that is off."""
    recordings = list(scripts(paths))
    raw = [measure(script, send_everything()).cost(PRICES) for _, script in recordings]
    complete = table(recordings, raw)
    print("| off | " + " | ".join(sorted(complete)) + " |")
    print("|---" * (len(complete) + 1) + "|")
    print("| nothing | " + " | ".join(shown(complete)) + " |")
    whole = select.CHANCE
    for signal in [each.name for each in fields(whole) if each.name != "bias"]:
        select.CHANCE = replace(whole, **{signal: 0.0})
        print(f"| {signal} | " + " | ".join(shown(table(recordings, raw))) + " |", flush=True)
    select.CHANCE = whole


if __name__ == "__main__":
    main(sys.argv[1:] or ["examples/transcripts"])
