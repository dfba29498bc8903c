"""The folder of a study: one file of JSON lines with its settings, moments, cases and answers.

No key is written.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from hippocampus.errors import PolicyError, StoreError
from hippocampus.formats.conversation import Item
from hippocampus.replay import journal

RAW, OFFLOAD = "raw", "offload"
RECORD = "study.jsonl"


@dataclass(frozen=True, slots=True)
class StudySettings:
    """What a study compares and who reads; fixed once its moments are chosen."""

    paths: list[str]
    cases: int
    policies: list[str]
    against: list[str]
    seed: int
    from_tokens: int
    window: int
    model: str
    reader: str
    judge: str

    def conditions(self) -> dict[str, str]:
        """Return the policy by condition, empty for the baselines; the whole list is always the first.

        Raises:
            PolicyError: two conditions have the same name, one to compare with is not known, there
                are more than a judge has letters, or no list fits the bounds.
        """
        if self.from_tokens > self.window:
            wrong = f"--from-tokens {self.from_tokens} is more than --window {self.window}"
            raise PolicyError([f"{wrong}: no list fits both"])
        for each in self.against:
            if each not in (RAW, OFFLOAD):
                raise PolicyError([f"no condition {each!r}; there are {RAW}, {OFFLOAD}"])
        named = dict.fromkeys((RAW, *self.against), "")
        for policy in self.policies:
            if Path(policy).stem in named:
                raise PolicyError(
                    [f"two conditions are named {Path(policy).stem!r}; rename a policy"]
                )
            named[Path(policy).stem] = policy
        if len(named) > len(ascii_uppercase):
            raise PolicyError([f"a judge compares at most {len(ascii_uppercase)} conditions"])
        return named


@dataclass(frozen=True, slots=True)
class Moment:
    """One call of a recorded session, before which the conversation is cut off."""

    id: str
    path: str
    recording: str
    """The name of the conversation in the file."""
    call: int
    kind: str
    third: str
    tokens: int
    """Tokens of the whole list, with the recorded system text and tools."""

    def judgements(self) -> tuple[str, str]:
        """Return the names of the judge's passes; the second has the labels in the opposite order."""
        return f"{self.id}-1", f"{self.id}-2"


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
    """The answers of one case's reader, or of one judgement, so far."""

    exchange: list[dict[str, Any]] = field(default_factory=list)
    """Each request to an endpoint with its answer."""
    recall: list[dict[str, Any]] = field(default_factory=list)
    """Each with `arguments`, `answer` and `tokens`."""
    result: dict[str, Any] | None = None
    """The step of a reader (`text`, `calls`), or the verdicts of a judge by label."""
    refused: str = ""
    """Why there will be no result; empty where there is one or none yet."""

    @property
    def is_open(self) -> bool:
        """Return whether an answer is still to come."""
        return self.result is None and not self.refused


class StudyFolder:
    """The record of one study in its folder."""

    def __init__(self, path: Path, given: StudySettings | None = None) -> None:
        """Read the record; a study that has none has the given settings.

        Raises:
            StoreError: it cannot be read, or is of another study.
        """
        self.path = path
        self.moments: list[Moment] = []
        self.cases: defaultdict[str, list[StudyCase]] = defaultdict(list)
        """By id of the moment; the first has the whole list."""
        self.answers: defaultdict[str, Answers] = defaultdict(Answers)
        """By id of the case or name of the judgement."""
        records = journal.read(path / RECORD)
        found = [StudySettings(**record["settings"]) for record in records if "settings" in record]
        settings = found[-1] if found else given
        if settings is None:
            raise StoreError(f"{path} holds no study")
        self.settings = settings
        for each in records:
            self._take(each)
        if self.moments and given not in (None, settings):
            raise StoreError(f"{path} holds a study with other settings; name another folder")

    def add(self, **record: Any) -> None:
        """Append a line: `settings`, `moments`, `cases` of one moment, or a field of answers by `name`."""
        self._take(journal.append(self.path / RECORD, record))

    def _take(self, record: dict[str, Any]) -> None:
        match record:
            case {"moments": values}:
                self.moments = [Moment(**each) for each in values]
            case {"cases": values}:
                for each in values:
                    self.cases[each["moment"]].append(StudyCase(**each))
            case {"name": name, "result": value}:
                self.answers[name].result = value
            case {"name": name, "refused": value}:
                self.answers[name].refused = value
            case {"name": name, "recall": value}:
                self.answers[name].recall.append(value)
            case {"name": name, "exchange": value}:
                self.answers[name].exchange.append(value)

    def by_id(self, *moments: Moment) -> dict[str, StudyCase]:
        """Return the cases of some moments, or of all, by id.

        The cases of one moment come together, that of the whole list first.
        """
        found = moments or self.moments
        return {case.id: case for moment in found for case in self.cases[moment.id]}
