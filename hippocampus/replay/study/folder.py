"""The folder of a study: its settings, moments and cases, and each answer as it came.

Every file is replaced whole, so that an interrupted run goes on where it stopped. No key is written.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from hippocampus.errors import StoreError
from hippocampus.formats.conversation import Item
from hippocampus.storage import files

RAW, OFFLOAD = "raw", "offload"
PASSES = (1, 2)
"""The judge's passes; the second has the labels in the opposite order."""


@dataclass(frozen=True, slots=True)
class StudySettings:
    """What a study compares and who reads; fixed once its folder is there."""

    paths: list[str]
    cases: int
    policies: list[str]
    against: list[str]
    seed: int
    window: int
    model: str
    reader: str
    judge: str


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
    cases: dict[str, str] = field(default_factory=dict)
    """The id of the case under each condition."""

    def judgements(self) -> list[str]:
        """Return the names of its judgements, one a pass."""
        return [f"{self.id}-{number}" for number in PASSES]


@dataclass(frozen=True, slots=True)
class StudyCase:
    """One moment under one condition: what a reader sees, and the recorded step."""

    id: str
    condition: str
    whole: str
    """The id of the case of the same moment with the whole list."""
    system: str
    tools: list[Item]
    """Each with `name`, `description` and `parameters`; recall is the last, where it is offered."""
    view: list[Item]
    recorded: str
    tokens: int
    """Tokens of the view."""
    cost: float
    """Cost of the call in base input tokens, the prefix of the last call's view being cached."""


@dataclass(slots=True)
class AnswerLog:
    """The answers to one case or one judgement so far."""

    exchanges: list[dict[str, Any]] = field(default_factory=list)
    """Each request to an endpoint with its answer."""
    recalls: list[dict[str, Any]] = field(default_factory=list)
    """Each with `arguments`, `answer` and `tokens`."""
    result: dict[str, Any] | None = None
    """The step of a reader (`text`, `calls`), or the verdicts of a judge by label."""
    refused: str = ""
    """Why there will be no result; empty where there is one or none yet."""
    failures: list[str] = field(default_factory=list)
    """Requests that had no usable answer, one sentence each."""

    @property
    def is_open(self) -> bool:
        """Return whether an answer is still to come."""
        return self.result is None and not self.refused


class StudyFolder:
    """Reads and writes the files of one study."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def has(self, name: str) -> bool:
        """Return whether a file is there: `study`, `moments`, `cases/ID` or `answers/NAME`."""
        return self._file(name).exists()

    def load(self, name: str) -> Any:
        """Return the value in a file.

        Raises:
            StoreError: it cannot be read.

        """
        try:
            return json.loads(self._file(name).read_bytes())
        except (OSError, ValueError) as failure:
            raise StoreError(f"{self._file(name)} cannot be read: {failure}") from failure

    def save(self, name: str, value: Any) -> None:
        """Replace a file by the fields of a value, or of each in a list."""
        plain = list(map(asdict, value)) if isinstance(value, list) else asdict(value)
        files.replace_file(self._file(name), json.dumps(plain, indent=1).encode())

    def settings(self) -> StudySettings:
        """Return the settings."""
        return StudySettings(**self.load("study"))

    def moments(self) -> list[Moment]:
        """Return the moments."""
        return [Moment(**each) for each in self.load("moments")]

    def case(self, case_id: str) -> StudyCase:
        """Return a case."""
        return StudyCase(**self.load(f"cases/{case_id}"))

    def cases(self) -> Iterator[StudyCase]:
        """Yield the cases, those of one moment together."""
        return (self.case(each) for moment in self.moments() for each in moment.cases.values())

    def log(self, name: str) -> AnswerLog:
        """Return the answers so far to a case or a judgement, by its id or name."""
        held = f"answers/{name}"
        return AnswerLog(**self.load(held)) if self.has(held) else AnswerLog()

    def save_log(self, name: str, log: AnswerLog) -> None:
        """Replace the answers so far."""
        self.save(f"answers/{name}", log)

    def state(self, case_id: str) -> Path:
        """Return the state directory in which a case's session stands at its moment."""
        return self.path / "states" / case_id

    def _file(self, name: str) -> Path:
        return self.path / f"{name}.json"
