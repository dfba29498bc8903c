"""The tasks of a trial, its record on disk, and the figures over pairs that have ended."""

from __future__ import annotations

import hashlib
import os
from collections import defaultdict
from dataclasses import asdict, dataclass, field
from math import comb
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from hippocampus.errors import StoreError
from hippocampus.formats.usage import Usage
from hippocampus.replay import journal
from hippocampus.replay.intervals import bootstrap
from hippocampus.replay.readers.raw import reported_usage

RAW, VIEW = "raw", "view"
RECORD = "trial.jsonl"
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


@dataclass(slots=True)
class Attempt:
    """A task under a condition, so far."""

    answers: list[dict[str, Any]] = field(default_factory=list)
    """The endpoint's answers, as `answer`, `dollars` and `seconds`."""
    results: list[dict[str, Any]] = field(default_factory=list)
    """By answer, the `results` of its calls and their `seconds`."""
    ended: dict[str, Any] | None = None
    """Once it has ended, whether it is `solved`, its `recalls` and the `seconds` of calls and commands.

    Its `reason` is `answer`, `refused: …`, or `calls` if the attempt reached the limit of calls."""

    @property
    def dollars(self) -> float:
        """The cost of its answers, without those of unknown price."""
        return sum(answer["dollars"] or 0.0 for answer in self.answers)


class TrialRecord:
    """The record of a trial in its folder, to which lines are only appended."""

    def __init__(self, path: Path, given: TrialSettings) -> None:
        """Read the record.

        Raises:
            StoreError: the trial has other settings.
        """
        self.path, self.settings = path, given
        self.attempts: defaultdict[str, Attempt] = defaultdict(Attempt)
        records = journal.read(path / RECORD)
        found = [record["settings"] for record in records if "settings" in record]
        if found and found[0] != asdict(given):
            raise StoreError(f"{path} holds a trial with other settings; name another folder")
        if not found:
            self.add(settings=asdict(given))
        for record in records:
            self._read(record)

    def add(self, **record: Any) -> None:
        """Append a line: the settings, or an answer, results or the end of the attempt `name`."""
        self._read(journal.append(self.path / RECORD, record))

    def _read(self, record: dict[str, Any]) -> None:
        match record:
            case {"name": name, "answer": _}:
                self.attempts[name].answers.append(record)
            case {"name": name, "results": _}:
                self.attempts[name].results.append(record)
            case {"name": name, "ended": value}:
                self.attempts[name].ended = value

    @property
    def dollars(self) -> float:
        """The cost of all answers."""
        return sum(attempt.dollars for attempt in self.attempts.values())


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
    found = ([record.attempts[f"{task.name}-{name}"] for name in (RAW, VIEW)] for task in tasks)
    ended = [pair for pair in found if all(attempt.ended for attempt in pair)]
    solved = [tuple(bool(one.ended and one.ended["solved"]) for one in pair) for pair in ended]
    only_raw, only_view = solved.count((True, False)), solved.count((False, True))
    raw, view = ([pair[at].dollars for pair in ended] for at in (0, 1))
    cost = [round(100 * share, 1) for share in bootstrap(view, raw)] if sum(raw) else None
    return {
        "pairs": len(ended),
        "of": len(tasks),
        "pairs_needed": PAIRS_NEEDED,
        "conditions": {
            name: _figures([pair[at] for pair in ended]) for at, name in enumerate((RAW, VIEW))
        },
        "solved_by_raw_alone": only_raw,
        "solved_by_view_alone": only_view,
        "mcnemar_p": mcnemar(only_raw, only_view),
        "cost_percent": cost,
        "dollars": round(record.dollars, 4),
    }


def _figures(attempts: list[Attempt]) -> dict[str, Any]:
    answers = [answer for attempt in attempts for answer in attempt.answers]
    reported = filter(None, (reported_usage(answer["answer"]) for answer in answers))
    usage = sum(reported, Usage())
    ends = [attempt.ended for attempt in attempts if attempt.ended]
    return {
        "solved": sum(end["solved"] for end in ends),
        "calls": len(answers),
        "input_tokens": usage.context_tokens,
        "cached_tokens": usage.cache_read_tokens,
        "output_tokens": usage.output_tokens,
        "dollars": round(sum(attempt.dollars for attempt in attempts), 4),
        "unpriced_calls": sum(answer["dollars"] is None for answer in answers),
        "seconds": round(sum(end["seconds"] for end in ends), 1),
        "recalls": sum(end["recalls"] for end in ends),
        "refused": sum(end["reason"].startswith("refused") for end in ends),
        "out_of_calls": sum(end["reason"] == "calls" for end in ends),
    }
