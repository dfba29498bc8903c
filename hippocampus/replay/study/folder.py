"""The folder of a study: one file of JSON lines with its settings, moments, cases and answers.

Each line is appended once it is known, so that an interrupted run goes on where it stopped. No key is
written.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from hippocampus.errors import StoreError
from hippocampus.formats import json_text
from hippocampus.formats.conversation import Item
from hippocampus.storage import files

RAW, OFFLOAD = "raw", "offload"
PASSES = (1, 2)
"""The judge's passes; the second has the labels in the opposite order."""
RECORD = "study.jsonl"


@dataclass(frozen=True, slots=True)
class StudySettings:
    """What a study compares and who reads; fixed once its moments are chosen."""

    paths: list[str]
    cases: int
    policies: list[str]
    against: list[str]
    seed: int
    window: int
    model: str
    reader: str
    judge: str
    readings: int


@dataclass(frozen=True, slots=True)
class Moment:
    """One call of a recorded session, before which the conversation is cut off."""

    id: str
    path: str
    recording: str
    """The name of the conversation in the file."""
    call: int
    kind: str
    tokens: int
    """Tokens of the whole list, with the recorded system text and tools."""

    def judgements(self) -> list[str]:
        """Return the names of its judgements, one a pass."""
        return [f"{self.id}-{number}" for number in PASSES]


@dataclass(frozen=True, slots=True)
class StudyCase:
    """What a reader sees of a moment under one condition, or under several that show the same."""

    id: str
    moment: str
    costs: dict[str, float]
    """By condition, the cost of the call in base input tokens, the last call's view being cached."""
    system: str
    tools: list[Item]
    """Each with `name`, `description` and `parameters`; recall is the last, where it is offered."""
    view: list[Item]
    recorded: str
    tokens: int
    """Tokens of the view."""

    @property
    def condition(self) -> str:
        """The first of its conditions: where that is the whole list, nothing can be recalled."""
        return next(iter(self.costs))


@dataclass(slots=True)
class Answers:
    """The answers to one reading of a case, or to one judgement, so far."""

    exchange: list[dict[str, Any]] = field(default_factory=list)
    """Each request to an endpoint with its answer."""
    recall: list[dict[str, Any]] = field(default_factory=list)
    """Each with `arguments`, `answer` and `tokens`."""
    failure: list[str] = field(default_factory=list)
    """Requests that had no usable answer, one sentence each."""
    result: dict[str, Any] | None = None
    """The step of a reader (`text`, `calls`), or the verdicts of a judge by label."""
    refused: str = ""
    """Why there will be no result; empty where there is one or none yet."""

    @property
    def is_open(self) -> bool:
        """Return whether an answer is still to come."""
        return self.result is None and not self.refused


class StudyFolder:
    """The record of one study as it stands in its folder."""

    def __init__(self, path: Path) -> None:
        """Read the record.

        Raises:
            StoreError: it cannot be read.

        """
        self.path = path
        self.settings: StudySettings | None = None
        self.moments: list[Moment] = []
        self.cases: defaultdict[str, list[StudyCase]] = defaultdict(list)
        """By id of the moment; the first has the whole list."""
        self.answers: defaultdict[str, Answers] = defaultdict(Answers)
        """By name of the reading or the judgement."""
        try:
            lines = files.read_file(path / RECORD).splitlines()
        except OSError as failure:
            raise StoreError(f"{path / RECORD} cannot be read: {failure}") from failure
        for line in lines:
            # A run that was killed may leave the beginning of a line.
            self._take(json_text.read(line.decode("utf-8", "replace"), {}))

    def add(self, **record: Any) -> None:
        """Append a line: `settings`, `moments`, `cases` of one moment, or a field of answers by `name`."""
        line = json.dumps(record, default=asdict)
        files.private_folder(self.path)
        with os.fdopen(files.opened_for_append(self.path / RECORD), "ab") as file:
            file.write(f"\n{line}\n".encode())
        self._take(json.loads(line))

    def _take(self, record: dict[str, Any]) -> None:
        match record:
            case {"settings": value}:
                self.settings = StudySettings(**value)
            case {"moments": values}:
                self.moments = [Moment(**each) for each in values]
            case {"cases": values}:
                for each in values:
                    self.cases[each["moment"]].append(StudyCase(**each))
            case {"name": name, **fields}:
                answers = self.answers[name]
                for key, value in fields.items():
                    if isinstance(getattr(answers, key), list):
                        getattr(answers, key).append(value)
                    else:
                        setattr(answers, key, value)

    def readings(self, *moments: Moment) -> dict[str, StudyCase]:
        """Return the cases of some moments, or of all, by the names of their readings.

        The cases of one moment stand together, that of the whole list first.
        """
        count = self.settings.readings if self.settings else 0
        return {
            f"{case.id}-{number}": case
            for moment in moments or self.moments
            for case in self.cases[moment.id]
            for number in range(1, count + 1)
        }
