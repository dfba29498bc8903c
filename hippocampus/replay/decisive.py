"""Decisive steps: the calls of a recording that wrote the patch with which the agent ended its task.

No view is looked at here, and no outcome: which calls, and what they quote from results before.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from hippocampus.formats.conversation import Message
from hippocampus.replay.uses import collapsed, lines_of, values_of

MIN_CHARACTERS = 10
"""Shorter lines of a patch (`else:`, `pass`) stand in any command."""


@dataclass(frozen=True, slots=True)
class DecisiveSteps:
    """The decisive calls of one recording, counted from 0; none where no patch was submitted."""

    quotes: Mapping[int, frozenset[str]] = field(default_factory=dict)
    """By decisive call, the values and lines that it takes from results of calls before it."""
    arrived: Mapping[str, int] = field(default_factory=dict)
    """By value or line of these, the first call that was sent a result with it."""

    def ahead(self, call: int) -> frozenset[str]:
        """Return what later decisive calls quote and a result had brought before this call."""
        return frozenset(
            term
            for at, terms in self.quotes.items()
            if at > call
            for term in terms
            if self.arrived[term] <= call
        )


def decisive_steps(
    submission: str,
    messages: Sequence[Message],
    used_values: Mapping[int, frozenset[str]],
    used_lines: Mapping[int, frozenset[str]],
    searchable: Callable[[str], str],
) -> DecisiveSteps:
    """Return the last call that wrote each line that a patch adds to a file that was there.

    A line of `MIN_CHARACTERS` or more is written where it stands in the arguments of a call that
    also name the file, blanks collapsed. `used_values` and `used_lines` have the uses by number of
    assistant message.
    """
    writers: dict[_AddedLine, int] = {}
    added = [each for each in _added(submission) if len(each.text) >= MIN_CHARACTERS]
    calls = {number: call for call, number in enumerate(used_values)}
    for number, call in calls.items() if added else ():
        parts = [part for part in messages[number].parts if part.kind == "call"]
        written = "\n".join(searchable(part.text) for part in parts)
        writers.update(
            (line, call) for line in added if line.file in written and line.text in written
        )
    numbers = list(used_values)
    quotes = {
        call: used_values[numbers[call]] | used_lines[numbers[call]]
        for call in sorted(set(writers.values()))
    }
    wanted = frozenset().union(*quotes.values())
    arrived: dict[str, int] = {}
    call = 0
    for number, message in enumerate(messages) if wanted else ():
        for part in message.parts:
            if part.kind == "result":
                for term in (values_of(part.text) | lines_of(part.text)) & wanted:
                    arrived.setdefault(term, call)
        call += number in calls
    return DecisiveSteps(quotes, arrived)


class _AddedLine(NamedTuple):
    file: str
    """The file's name, without its folders."""
    text: str


def _added(patch: str) -> Iterator[_AddedLine]:
    """Yield the lines that a patch adds to files that existed before it."""
    name = ""
    is_new = False
    for line in patch.splitlines():
        if line.startswith("--- "):
            is_new = line == "--- /dev/null"
        elif line.startswith("+++ "):
            name = posixpath.basename(line.removeprefix("+++ ").strip())
        elif line.startswith("+") and not is_new:
            yield _AddedLine(name, collapsed(line[1:]))
