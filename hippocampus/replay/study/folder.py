"""The folder of a study: a file of JSON lines with its settings, moments, cases and answers, but no key.

The records of a case's reader, or of a judgement, are of these kinds: `exchange`, a request to an
endpoint with its answer; `recall`, with `arguments`, `answer` and `tokens`; `result`, a step (`text`,
`calls`) or the verdicts by label; `refused`, why there will be no result.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from string import ascii_uppercase

from hippocampus.errors import PolicyError, StoreError
from hippocampus.formats.conversation import Item
from hippocampus.replay.journal import RunJournal

RAW, OFFLOAD = "raw", "offload"


@dataclass(frozen=True, slots=True)
class StudySettings:
    """The settings of a study, fixed once its moments are chosen."""

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
        """Return the policies by condition, empty for baselines; the whole list is always the first.

        Raises:
            PolicyError: two conditions have the same name, a baseline is unknown, there are more
                conditions than letters, or no list fits the bounds.
        """
        if self.from_tokens > self.window:
            wrong = f"--from-tokens {self.from_tokens} is more than --window {self.window}"
            raise PolicyError([f"{wrong}: no list fits both"])
        for condition in self.against:
            if condition not in (RAW, OFFLOAD):
                raise PolicyError([f"no condition {condition!r}; there are {RAW}, {OFFLOAD}"])
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
    """A call of a recorded session, before which the conversation is cut off."""

    id: str
    path: str
    recording: str
    """The name of the conversation in the file."""
    call: int
    kind: str
    tokens: int
    """Tokens of the whole list, with the recorded system text and tools."""

    def judgements(self) -> tuple[str, str]:
        """Return the names of the judge's passes; the second has the labels in the opposite order."""
        return f"{self.id}-1", f"{self.id}-2"


@dataclass(frozen=True, slots=True)
class StudyCase:
    """A reader's input at a moment, under one condition or several with the same input."""

    id: str
    moment: str
    costs: dict[str, float]
    """By condition, the cost of the call in base input tokens, if the last call's view is cached."""
    system: str
    tools: list[Item]
    """Tools with `name`, `description` and `parameters`; recall, if offered, is the last."""
    view: list[Item]
    recorded: str
    tokens: int
    """Tokens of the view."""

    @property
    def condition(self) -> str:
        """The first condition: under that of the whole list, nothing can be recalled."""
        return next(iter(self.costs))


class StudyFolder(RunJournal):
    """The record of a study in its folder."""

    def __init__(self, path: Path, given: StudySettings | None = None) -> None:
        """Read the record; a new study has the given settings.

        Raises:
            StoreError: the record cannot be read, or belongs to another study.
        """
        super().__init__(path, "study", given)
        if not (given or self.last("settings")):
            raise StoreError(f"{path} holds no study")
        self.settings = given or StudySettings(**self.last("settings"))

    @property
    def moments(self) -> list[Moment]:
        """The moments, once they are chosen."""
        return [Moment(**moment) for moment in self.last("moments") or ()]

    def cases(self, moment_id: str) -> list[StudyCase]:
        """Return the cases of a moment, once they are made; the first has the whole list."""
        listed = (record["cases"] for record in self.records("cases"))
        made = next((cases for cases in listed if cases[0]["moment"] == moment_id), ())
        return [StudyCase(**case) for case in made]

    def by_id(self) -> dict[str, StudyCase]:
        """Return all cases by id; those of a moment are adjacent."""
        listed = (self.cases(moment.id) for moment in self.moments)
        return {case.id: case for cases in listed for case in cases}

    def is_open(self, name: str) -> bool:
        """Return whether the `result` of a case or judgement is missing, and it was not `refused`."""
        return self.last("result", name) is None and not self.last("refused", name)
