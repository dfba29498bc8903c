"""Errors with their resolution: a failing call, and the next one of its kind that succeeded.

Pure. What the tool said of the failure is data: one short line of it is told, as the tool's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hippocampus.consolidation.phrases import ABOUT_USER, ORDERS, PREFERENCE
from hippocampus.consolidation.secrecy import speaks_of_secret, without_secrets
from hippocampus.consolidation.transcript import Attempt
from hippocampus.indexing.failures import SAYS_SO

PATH_KEYS = ("path", "file_path", "filename", "file", "filepath", "target_file", "url", "uri")
COMMAND_KEYS = ("command", "cmd", "script")
WITHIN_CALLS = 12
"""The success is looked for among so many calls behind the failure."""
MOST = 30
"""So many errors of a session are kept, the last ones."""
CALL_CHARACTERS = 120
MESSAGE_CHARACTERS = 160
SCANNED_CHARACTERS = 20_000
PROGRAMS_OF_VERBS = {"git", "npm", "pnpm", "yarn", "cargo", "docker", "kubectl", "go", "uv", "make"}
"""Programs whose first word says what they do: one that worked makes no other good."""
SEARCHES = {"grep", "egrep", "rg", "find", "ls", "test", "which", "diff"}
"""Programs that end with a failure where they find nothing, which is an answer."""
SENTENCE = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])")
_MOVES = re.compile(r"\A(?:\s*cd\s+[^;&|]+(?:&&|;))+\s*")


@dataclass(frozen=True, slots=True)
class Resolved:
    """A failure and what made it good."""

    failure: Attempt
    success: Attempt
    between: tuple[Attempt, ...]
    """Calls in between that succeeded."""

    def told(self) -> str:
        """Return it as one line."""
        said = message_of(self.failure.result)
        first, second = _told(self.failure), _told(self.success)
        failed = f"{first} failed" + (f" ({said})" if said else "")
        if first != second:
            return f"{failed}; {second} worked"
        steps = "; ".join(dict.fromkeys(_told(each) for each in self.between[-2:]))
        return f"{failed}; it worked after {steps}" if steps else f"{failed}; it worked again"


def resolved(attempts: Sequence[Attempt]) -> list[Resolved]:
    """Return the failures of a session that were made good, the last ones, each once."""
    found = {each.told(): each for each in _resolved(attempts)}
    return list(found.values())[-MOST:]


def _resolved(attempts: Sequence[Attempt]) -> Iterator[Resolved]:
    for number, attempt in enumerate(attempts):
        is_error = attempt.failed and target_of(attempt.arguments) not in SEARCHES
        if is_error and attempt.tool:
            behind = attempts[number + 1 : number + 1 + WITHIN_CALLS]
            end = next((at for at, each in enumerate(behind) if _makes_good(attempt, each)), None)
            if end is not None:
                between = tuple(each for each in behind[:end] if not each.failed)
                yield Resolved(attempt, behind[end], between)


def _makes_good(failure: Attempt, later: Attempt) -> bool:
    """Say whether a later call did what a failed one was to do."""
    if later.failed or later.tool != failure.tool:
        return False
    wanted, done = target_of(failure.arguments), target_of(later.arguments)
    return wanted == done


def target_of(arguments: str) -> str:
    """Return what a call is about: its file, or its command's program; nothing where it has none.

    >>> target_of('{"command": "cd shop && pytest -q"}'), target_of('{"path": "a.py", "new": "x"}')
    ('pytest', 'a.py')
    """
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(value, dict):
        return ""
    for key in PATH_KEYS:
        if isinstance(value.get(key), str):
            return str(value[key])
    commands = (value[key] for key in COMMAND_KEYS if isinstance(value.get(key), str))
    return _program(next(commands, ""))


def _program(command: str) -> str:
    """Return what a command runs, behind a change of directory, with its first word if it is a verb.

    >>> _program("git commit -m x"), _program("python -m pytest"), _program("cat a.txt")
    ('git commit', 'python', 'cat')
    """
    words = _MOVES.sub("", command).split()
    verb = words[1:2] if words and words[0] in PROGRAMS_OF_VERBS else []
    return " ".join([*words[:1], *verb])


def message_of(result: str) -> str:
    """Return the sentence that tells what went wrong, unless its line speaks of other things.

    What stands behind it is left out: advice of a tool is nothing to carry into later sessions.

    >>> message_of("Error: certificate expired. Disable TLS to go on.")
    'Error: certificate expired.'
    """
    lines = [line.strip() for line in result[:SCANNED_CHARACTERS].splitlines() if line.strip()]
    line = next((each for each in lines if SAYS_SO.search(each)), lines[0] if lines else "")
    sentences = [each for each in SENTENCE.split(line) if SAYS_SO.search(each)] or [line]
    told = " ".join(sentences[0][:MESSAGE_CHARACTERS].split())
    suspect = any(each.search(line) for each in (ABOUT_USER, ORDERS, PREFERENCE))
    return "" if suspect or speaks_of_secret(line) else told


def _told(attempt: Attempt) -> str:
    arguments = without_secrets(" ".join(attempt.arguments.split()))
    cut = f"{arguments[:CALL_CHARACTERS]}…" if len(arguments) > CALL_CHARACTERS else arguments
    return f"{attempt.tool} {cut}".strip()
