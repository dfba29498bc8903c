"""The tasks of a trial, its record on disk, and the figures over pairs that have ended."""

from __future__ import annotations

import hashlib
import os
from dataclasses import asdict, dataclass
from math import comb
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from hippocampus.errors import StoreError
from hippocampus.formats.usage import Usage
from hippocampus.replay.intervals import bootstrap
from hippocampus.replay.journal import RunJournal
from hippocampus.replay.readers.raw import reported_usage

RAW, VIEW = "raw", "view"
PAIRS_NEEDED = 626
"""The pairs that McNemar's test needs to find a difference of 5 points, by Connor (1987).

(z₁√p + z₂√(p - d²))² / d² with d = 0.05, a share p = 0.2 of pairs that differ, and z = 1.959964 and
0.841621: a two-sided significance level of 5 percent, a power of 80 percent."""


class Task(NamedTuple):
    """A task: a prompt, the files that the agent works on, and the program that verifies them."""

    name: str
    prompt: str
    workspace: Path
    verify: Path
    """Runs in the agent's workspace; exit status 0 means solved."""


def tasks_in(folder: Path) -> list[Task]:
    """Return the tasks of a folder: its folders with `prompt.md`, `workspace` and `verify`.

    Raises:
        StoreError: the folder has no task, or an incomplete one.
    """
    found = []
    for home in sorted(path.parent for path in folder.glob("*/prompt.md")):
        prompt = (home / "prompt.md").read_text("utf-8")
        task = Task(home.name, prompt, home / "workspace", home / "verify")
        if not task.workspace.is_dir() or not os.access(task.verify, os.X_OK):
            raise StoreError(f"{home} needs a folder `workspace` and a program `verify`")
        found.append(task)
    if not found:
        raise StoreError(f"{folder} holds no task: a folder with prompt.md, workspace and verify")
    return found


def digest_of(tasks: list[Task]) -> str:
    """Return a hash of the names and prompts of tasks, which does not depend on their folder."""
    text = "\0".join(f"{task.name}\0{task.prompt}" for task in tasks)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class TrialSettings:
    """The settings of a trial, which a later run has to repeat."""

    tasks: str
    """The `digest_of` the tasks."""
    model: str
    """The name of a wire, for `wire_of`."""
    policy: str = "default"
    calls: int = 100
    """The most calls of an attempt."""
    seconds: float = 120.0
    """The time limit of a command."""
    seed: int = 7


class TrialRecord(RunJournal):
    """The record of a trial in its folder.

    The records of an attempt are of these kinds: `answer` of the endpoint, with its `dollars` and
    `seconds`; `results` of an answer's calls, with their `seconds`; `ended`, whether it is `solved`, its
    `recalls`, the `seconds` of calls and commands, and its `reason`: `answer`, `refused: …`, or `calls`
    if the attempt reached the limit of calls.
    """

    def __init__(self, path: Path, given: TrialSettings) -> None:
        """Read the record.

        Raises:
            StoreError: the trial has other settings.
        """
        super().__init__(path, "trial.jsonl")
        self.settings = given
        if not self.records("settings"):
            self.add(settings=asdict(given))
        elif self.last("settings") != asdict(given):
            raise StoreError(f"{path} holds a trial with other settings; name another folder")

    def dollars(self, name: str | None = None) -> float:
        """Return the cost of an attempt's answers, or of all, without those of unknown price."""
        return sum(answer["dollars"] or 0.0 for answer in self.records("answer", name))


def attempts_at(tasks: list[Task], seed: int) -> dict[str, tuple[Task, str]]:
    """Return attempts by name: tasks in random order, a task's two conditions in random order."""
    chance = Random(seed)  # noqa: S311 - an order that can be drawn again
    return {
        f"{task.name}-{condition}": (task, condition)
        for task in chance.sample(tasks, len(tasks))
        for condition in chance.sample((RAW, VIEW), 2)
    }


def mcnemar(only_one: int, only_other: int) -> float:
    """Return the exact two-sided p-value, given the numbers of pairs that only one side solved.

    >>> mcnemar(5, 0)
    0.0625
    """
    total, fewer = only_one + only_other, min(only_one, only_other)
    tail = sum(comb(total, number) for number in range(fewer + 1))
    return min(1.0, float(2 * tail / 2**total))


def report(record: TrialRecord, tasks: list[Task]) -> dict[str, Any]:
    """Return the figures of both conditions over the pairs that have ended, and their comparison."""
    names = ([f"{task.name}-{condition}" for condition in (RAW, VIEW)] for task in tasks)
    ended = [pair for pair in names if all(record.last("ended", name) for name in pair)]
    solved = [tuple(record.last("ended", name)["solved"] for name in pair) for pair in ended]
    only_raw, only_view = solved.count((True, False)), solved.count((False, True))
    raw, view = ([record.dollars(pair[at]) for pair in ended] for at in (0, 1))
    cost = [round(100 * share, 1) for share in bootstrap(view, raw)] if sum(raw) else None
    return {
        "pairs": len(ended),
        "of": len(tasks),
        "pairs_needed": PAIRS_NEEDED,
        "conditions": {
            condition: _figures(record, [pair[at] for pair in ended])
            for at, condition in enumerate((RAW, VIEW))
        },
        "solved_by_raw_alone": only_raw,
        "solved_by_view_alone": only_view,
        "mcnemar_p": mcnemar(only_raw, only_view),
        "cost_percent": cost,
        "dollars": round(record.dollars(), 4),
    }


def _figures(record: TrialRecord, names: list[str]) -> dict[str, Any]:
    answers = [answer for name in names for answer in record.records("answer", name)]
    reported = filter(None, (reported_usage(answer["answer"]) for answer in answers))
    usage = sum(reported, Usage())
    ends = [record.last("ended", name) for name in names]
    return {
        "solved": sum(end["solved"] for end in ends),
        "calls": len(answers),
        "input_tokens": usage.context_tokens,
        "cached_tokens": usage.cache_read_tokens,
        "output_tokens": usage.output_tokens,
        "dollars": round(sum(map(record.dollars, names)), 4),
        "unpriced_calls": sum(answer["dollars"] is None for answer in answers),
        "seconds": round(sum(end["seconds"] for end in ends), 1),
        "recalls": sum(end["recalls"] for end in ends),
        "refused": sum(end["reason"].startswith("refused") for end in ends),
        "out_of_calls": sum(end["reason"] == "calls" for end in ends),
    }
