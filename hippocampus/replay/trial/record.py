"""The tasks of a trial, and its record on disk: every answer, result and verdict, once each.

Nothing is asked and no command runs here.
"""

from __future__ import annotations

import hashlib
import os
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from hippocampus.errors import StoreError
from hippocampus.replay import journal

RAW, VIEW = "raw", "view"
RECORD = "trial.jsonl"


class Task(NamedTuple):
    """One task: a prompt, the files that the agent works on, and the program that verifies them."""

    name: str
    prompt: str
    workspace: Path
    verify: Path
    """Runs in the agent's workspace; exit status 0 is solved."""


def tasks_in(folder: Path) -> list[Task]:
    """Return the tasks of a folder: each folder in it with `prompt.md`, `workspace` and `verify`.

    Raises:
        StoreError: there is none, or one is not whole.
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
    """Return a hash of the names and prompts of tasks: a trial goes on wherever their folder is."""
    said = "\0".join(f"{task.name}\0{task.prompt}" for task in tasks)
    return hashlib.sha256(said.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class TrialSettings:
    """What a trial was begun with."""

    tasks: str
    """Their `digest_of`."""
    model: str
    """As `wire_of` reads it."""
    policy: str = "default"
    calls: int = 100
    """The most calls of one attempt."""
    seconds: float = 120.0
    """The most seconds of one command."""
    seed: int = 7


@dataclass(frozen=True, slots=True)
class Ended:
    """How one attempt ended."""

    solved: bool
    reason: str
    """`answer`, `refused: …`, or `calls` where it had no more of them."""
    recalls: int
    seconds: float
    """Spent in calls and commands."""


@dataclass(slots=True)
class Attempt:
    """One task under one condition, as far as it went."""

    answers: list[dict[str, Any]] = field(default_factory=list)
    """Each with the endpoint's `answer`, its `dollars` and its `seconds`."""
    results: list[dict[str, Any]] = field(default_factory=list)
    """By answer, the `results` of its calls and their `seconds`."""
    ended: Ended | None = None


class TrialRecord:
    """A trial as its folder has it; what was added stays, whatever ends the process."""

    def __init__(self, path: Path, given: TrialSettings) -> None:
        """Read the record.

        Raises:
            StoreError: it is that of a trial with other settings.
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
            self._take(record)

    def add(self, **record: Any) -> None:
        """Append a line: the settings, or an answer, results or the end of the attempt `name`."""
        self._take(journal.append(self.path / RECORD, record))

    def _take(self, record: dict[str, Any]) -> None:
        match record:
            case {"name": name, "answer": _}:
                self.attempts[name].answers.append(record)
            case {"name": name, "results": _}:
                self.attempts[name].results.append(record)
            case {"name": name, "ended": value}:
                self.attempts[name].ended = Ended(**value)

    @property
    def dollars(self) -> float:
        """Return what all answers have cost."""
        return sum(map(dollars_of, self.attempts.values()))


def dollars_of(attempt: Attempt) -> float:
    """Return what an attempt has cost; a call without a known price counts nothing."""
    return sum(answer["dollars"] or 0.0 for answer in attempt.answers)


def pairs(tasks: list[Task], seed: int) -> Iterator[tuple[Task, str]]:
    """Yield the attempts: tasks by chance, and both conditions of a task together, by chance."""
    chance = Random(seed)  # noqa: S311 - an order that can be drawn again
    for task in chance.sample(tasks, len(tasks)):
        for condition in chance.sample((RAW, VIEW), 2):
            yield task, condition


def name_of(task: Task, condition: str) -> str:
    """Return the name of an attempt."""
    return f"{task.name}-{condition}"
