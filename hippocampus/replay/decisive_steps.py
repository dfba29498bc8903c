"""Decisive steps: the calls of a recording that wrote the patch that ended its task. Pure."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Mapping

from hippocampus.formats.conversation import Message
from hippocampus.replay.uses import collapsed

MIN_CHARACTERS = 10
"""Shorter lines of a patch (`else:`, `pass`) occur in any command."""


def decisive_steps(
    submission: str, answers: Mapping[int, Message], searchable: Callable[[str], str]
) -> tuple[int, ...]:
    """Return the calls that were the last to write a line that the patch adds to an existing file.

    A call writes a line of `MIN_CHARACTERS` or more if its arguments contain the line and the file's
    name, with white space collapsed. `answers` are the assistant's messages by call, from 0.
    """
    added = [line for line in _added_lines(submission) if len(line[1]) >= MIN_CHARACTERS]
    writers: dict[tuple[str, str], int] = {}
    for call, message in answers.items() if added else ():
        parts = [part for part in message.parts if part.kind == "call"]
        written = "\n".join(searchable(part.text) for part in parts)
        found = ((file, text) for file, text in added if file in written and text in written)
        writers.update(dict.fromkeys(found, call))
    return tuple(sorted(set(writers.values())))


def _added_lines(patch: str) -> Iterator[tuple[str, str]]:
    """Yield the names of files that existed before a patch, and lines that it adds to them."""
    name = ""
    is_new = False
    for line in patch.splitlines():
        if line.startswith("--- "):
            is_new = line == "--- /dev/null"
        elif line.startswith("+++ "):
            name = posixpath.basename(line.removeprefix("+++ ").strip())
        elif line.startswith("+") and not is_new:
            yield name, collapsed(line[1:])
