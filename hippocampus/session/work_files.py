"""The files that an agent works on, rebuilt from its reads, writes, edits and patches. Pure.

Which of them a digest shows is decided there; no file system is read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from hippocampus.formats import json_text
from hippocampus.formats.calls import file_key, is_one_file, writes_whole
from hippocampus.formats.conversation import Message, Part
from hippocampus.formats.reads import PATCHED, file_read, files_written, reads_whole
from hippocampus.indexing.extraction import ExtractionContext
from hippocampus.indexing.output import output_of
from hippocampus.indexing.select import choose
from hippocampus.indexing.shapes import identifiers
from hippocampus.indexing.sniff import extraction_of
from hippocampus.indexing.worth import Price
from hippocampus.models import tokens

OLD = re.compile(r"(?i)^(?:old|search|find|before)")
NEW = re.compile(r"(?i)^(?:new|replace|after)")
"""Argument names of the two texts of an edit."""
HUNK = re.compile(r"(?m)^@@.*$")
MIN_CHARACTERS = 8
"""A shorter line, such as a bracket, is no sign that a place was worked on."""
MIN_TOKENS, WORKED_SHARE, OUTLINE_SHARE, NAMES_SHARE = 80, 4, 14, 6
"""Of the tokens of a file: a quarter for the places that were worked on, at least 80; a fourteenth for
what else it defines; a sixth for the other names in it."""
CONTEXT_LINES = 6
"""The lines that are shown around each line that the agent wrote."""


class Edit(NamedTuple):
    """A text of a file, and what a call puts in its place."""

    old: str
    new: str


@dataclass(slots=True)
class WorkFile:
    """The text of one file as far as a list has it."""

    path: str
    blocks: list[tuple[int, list[str]]] = field(default_factory=list)
    """Its parts in the order in which they were read: the number of the first line, and the lines."""
    turn: int = 0
    """When it was read or changed last."""
    unfollowed: int = 0
    """How many changes could not be applied: by commands, or of texts that the list does not have."""

    def apply(self, edit: Edit) -> None:
        """Put the new text of an edit in the place of the old one."""
        for at, (first, lines) in enumerate(self.blocks):
            text = "\n".join(lines)
            if edit.old and edit.old in text:
                self.blocks[at] = (first, text.replace(edit.old, edit.new).split("\n"))
                return
        self.unfollowed += 1
        if edit.new.strip():
            self.blocks.append((0, edit.new.split("\n")))

    def add(self, first: int, lines: list[str], *, whole: bool) -> None:
        """Take in a text that was read, or written as a whole.

        What has less than half of the known text is a part: tools cut, or refer to an earlier read.
        """
        if whole and 2 * len(lines) >= sum(len(known) for _, known in self.blocks):
            self.blocks, self.unfollowed = [], 0
        kept = []
        for start, known in self.blocks:
            inside = first <= start and start + len(known) <= first + len(lines)
            if not (start and inside):
                kept.append((start, known))
        self.blocks = [*kept, (first, lines)]


@dataclass(slots=True)
class WorkFiles:
    """The files that a list reads and changes, and what the agent wrote, up to one of its messages."""

    lines: set[str] = field(default_factory=set)
    """The lines that the assistant wrote, in words and in arguments."""
    names: set[str] = field(default_factory=set)
    """The identifiers in these."""
    end: int = 0
    """How many messages were read."""
    _calls: dict[str, Part] = field(default_factory=dict)
    _files: dict[str, list[WorkFile]] = field(default_factory=dict)

    def read_on(self, messages: Sequence[Message], turns: Sequence[int]) -> None:
        """Read the messages that follow those that were read; each has its turn."""
        for message, turn in zip(messages, turns, strict=True):
            for part in message.parts:
                if part.kind == "call":
                    self._calls[part.call_id] = part
                elif part.kind == "result" and part.call_id in self._calls and not part.is_error:
                    _see(self._calls[part.call_id], part.text, turn, self._files)
                if message.role == "assistant":
                    self._note(part)
        self.end += len(messages)

    def _note(self, part: Part) -> None:
        texts = _strings(json_text.read(part.text, part.text) if part.kind == "call" else part.text)
        for text in texts:
            rows = (row.lstrip("+- \t").rstrip() for row in text.split("\n"))
            self.lines.update(row for row in rows if len(row) >= MIN_CHARACTERS)
            self.names.update(identifiers(text))

    def since(self, turn: int) -> list[WorkFile]:
        """Return the files that were read or changed from a turn on, the latest last."""
        found = [file for known in self._files.values() for file in known if file.turn >= turn]
        return sorted(found, key=lambda file: file.turn)


def _see(call: Part, result: str, turn: int, files: dict[str, list[WorkFile]]) -> None:
    written = files_written(call.tool, call.text)
    read = "" if written else file_read(call.tool, call.text)
    for path in written or filter(None, [read]):
        known = files.setdefault(file_key(path), [])
        own = next((each for each in known if is_one_file(each.path, path)), None)
        if own is None:
            own = WorkFile(path)
            known.append(own)
        own.path, own.turn = max(own.path, path, key=len), turn
        if read:
            output = output_of(result)
            whole = reads_whole(call.text)
            own.add(output.first_number or 1, output.body.rstrip("\n").split("\n"), whole=whole)
        elif writes_whole(call.text):
            text = max(_strings(json_text.read(call.text, None)), key=len, default="")
            own.blocks = []
            own.add(1, text.rstrip("\n").split("\n"), whole=True)
        else:
            edits = list(_edits(call.text, path))
            for edit in edits:
                own.apply(edit)
            own.unfollowed += not edits


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _strings(inner)


def _edits(arguments: str, path: str) -> Iterator[Edit]:
    """Yield what a call replaces in a file, by pairs of arguments or by a patch."""
    waiting: list[Any] = [json_text.read(arguments, arguments)]
    while waiting:
        value = waiting.pop(0)
        if isinstance(value, dict):
            old = next((text for name, text in value.items() if OLD.match(name)), None)
            new = next((text for name, text in value.items() if NEW.match(name)), None)
            if isinstance(old, str) and isinstance(new, str):
                yield Edit(old, new)
            else:
                waiting += value.values()
        elif isinstance(value, list):
            waiting += value
        elif isinstance(value, str) and PATCHED.search(value):
            yield from _hunks(value, path)


def _hunks(patch: str, path: str) -> Iterator[Edit]:
    """Yield the hunks of a patch for one file."""
    _, *parts = PATCHED.split(patch)
    for name, text in zip(parts[::2], parts[1::2], strict=False):
        if not is_one_file(name, path):
            continue
        for hunk in HUNK.split(text):
            lines = [line for line in hunk.strip("\n").split("\n") if line[:3] != "***"]
            old = [line[1:] for line in lines if line[:1] in ("-", " ")]
            new = [line[1:] for line in lines if line[:1] in ("+", " ")]
            if old or new:
                yield Edit("\n".join(old), "\n".join(new))


def described(file: WorkFile, known: WorkFiles, budget_tokens: int) -> list[str]:
    """Return the lines of a file's text around those that the agent wrote, and what else defines it."""
    text = "\n".join(line for _, lines in file.blocks for line in lines)
    weight = max(1, tokens.count(text))
    rows = _worked_on(
        file, known.lines, min(budget_tokens, max(MIN_TOKENS, weight // WORKED_SHARE))
    )
    left = budget_tokens - sum(tokens.count(row) + 1 for row in rows)
    room = min(left, max(MIN_TOKENS, weight // OUTLINE_SHARE))
    if room < MIN_TOKENS // 2:
        return rows
    outline = excerpt(text, room, file=file.path, known=identifiers("\n".join(rows)))
    rows += outline
    left -= sum(tokens.count(row) + 1 for row in outline)
    shown = identifiers("\n".join(rows))
    return [*rows, *_named(text, shown, known.names, min(left, weight // NAMES_SHARE))]


def _named(
    text: str, shown: AbstractSet[str], written: AbstractSet[str], budget_tokens: int
) -> list[str]:
    """Return a line with the names of a text that its other lines leave out, those that the agent wrote first."""
    counts = Counter(name for line in text.split("\n") for name in identifiers(line))
    left = sorted(
        counts.keys() - shown, key=lambda name: (name not in written, -counts[name], name)
    )
    names: list[str] = []
    for name in left:
        budget_tokens -= tokens.count(name) + 1
        if budget_tokens < 0:
            break
        names.append(name)
    return [f"also: {' '.join(names)}"] if names else []


def excerpt(text: str, room: int, **context: Any) -> list[str]:
    """Return the lines that say most of a text, of at most `room` tokens."""
    given = ExtractionContext(content_tokens=len(text) // 4, **context)
    extraction = extraction_of(text, given)
    room = max(1, room - tokens.count(extraction.summary))
    return [extraction.summary, *choose(extraction, given, Price(0.0, 1.0, room, room))]


def _worked_on(file: WorkFile, said: set[str], budget_tokens: int) -> list[str]:
    shown: list[str] = []
    for first, lines in reversed(file.blocks):
        near: set[int] = set()
        for at, line in enumerate(lines):
            if line.strip() in said:
                near.update(range(at - CONTEXT_LINES, at + CONTEXT_LINES + 1))
        picked = sorted(near.intersection(range(len(lines))))
        before = None
        for at in picked:
            if before is not None and at != before + 1:
                shown.append("…")
            row = f"{first + at}\t{lines[at]}" if first else lines[at]
            budget_tokens -= tokens.count(row) + 1
            if budget_tokens < 0:
                return shown
            shown.append(row)
            before = at
    return shown
