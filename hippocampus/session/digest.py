"""The text of a digest: which tools were called, with which outcome, under which ids. Pure.

Which turns are old enough is decided in `compaction`.
"""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from hippocampus.formats import json_text
from hippocampus.formats.conversation import Message, Part
from hippocampus.formats.tool_calls import PATCHED, fields_in, file_of, texts_in
from hippocampus.indexing.extraction import counted, cut, identifiers, kept_by_hash
from hippocampus.indexing.frame import as_content, as_words
from hippocampus.indexing.plain import message_of
from hippocampus.indexing.unwrap import plain
from hippocampus.models import tokens
from hippocampus.session.payloads import NO_FILES, files_of
from hippocampus.session.turn_rules import CONSTANTS
from hippocampus.session.work_files import WorkFile, described, excerpt

CALL_CHARACTERS = 240
ERROR_CHARACTERS = 400
WORDS_CHARACTERS = 600
MIN_TOKENS = 200
"""Enough for one message in words."""
MAX_TOKENS = 24_000
"""The most tokens of a digest, besides files that are worked on."""
MIN_LINE_TOKENS = 8
"""With less room than this, no more lines are tried."""
LEFT_TOKENS = 16
"""The tokens of the line that counts the steps that are left out."""
MIN_FILE_TOKENS, HEAD_TOKENS = 60, 30
"""The least room for a file, and the tokens of its first line."""
MIN_DEPTH = 2
"""A shorter folder is not named once for all files."""


class Room(NamedTuple):
    """The tokens that the lines of a digest may have."""

    steps: int
    """For the steps."""
    files: int = 0
    """For the files that are worked on."""


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps of messages.

    In columns, not in rows: the garbage collector would go through ten thousand tuples.
    """

    roles: list[str] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    calls: list[int] = field(default_factory=list)
    """By step, the step of the call that it belongs to."""
    called: dict[str, int] = field(default_factory=dict)
    """By the id of a call, its step."""

    def extended(self, messages: Iterable[Message]) -> Steps:
        """Return the steps with those of further messages."""
        roles, parts, calls = self.roles[:], self.parts[:], self.calls[:]
        called = self.called.copy()
        for message in messages:
            for part in message.parts:
                at = call = len(parts)
                if part.kind == "call":
                    called[part.call_id] = at
                elif part.kind not in ("text", "result") or not (
                    part.text.strip() or part.is_error
                ):
                    continue
                elif part.kind == "result":
                    call = called.get(part.call_id, at)
                    is_followed = call != at and not part.is_error
                    if is_followed and files_of(parts[call].text, parts[call].tool) != NO_FILES:
                        continue  # files are described after the steps
                roles.append(message.role)
                parts.append(part)
                calls.append(call)
        return Steps(roles, parts, calls, called)


def lines_of(
    steps: Steps,
    ids: Mapping[str, str],
    files: Sequence[WorkFile],
    turn: int,
    room: Room,
) -> str:
    """Return the lines of a digest: the steps, then the files as they are at a turn.

    `ids` are those of the entries in the messages, by their calls; `files` come newest first.
    """
    root, parts, calls = root_of(files), steps.parts, steps.calls

    @functools.cache
    def write(at: int) -> str:
        return _line(steps.roles[at], parts[at], parts[calls[at]], ids, root)

    fitting, left_tokens = _fitting(parts, calls, write, room.steps - LEFT_TOKENS)
    # The results of parallel calls come after all of them: each is shown after its own call.
    lines = [fitting[at] for at in sorted(fitting, key=lambda at: (calls[at], at))]
    kept = []
    for line, same in itertools.groupby(lines):
        times = sum(1 for _ in same)
        kept.append(f"{line} ×{times}" if times > 1 else line)
    if left := sum(at == call and at not in fitting for at, call in enumerate(calls)):
        kept.append(f"… {counted(left, 'more step')}")
    if room.files:
        shown = {name for line in lines for name in identifiers(line)}
        since = turn - CONSTANTS.whole_turns
        # What the steps leave of their room goes to the files.
        kept += _file_texts(files, root, since, left_tokens + room.files, shown)
    under = [f"paths are under {root}"] if root else []
    return "\n".join([*under, *kept])


def _file_texts(
    files: Sequence[WorkFile], root: str, since: int, budget_tokens: int, shown: set[str]
) -> Iterator[str]:
    """Yield the texts of files within a budget, with few lines whose identifiers are `shown` before."""
    for file in files:
        if budget_tokens < MIN_FILE_TOKENS:
            return
        rows = described(file, budget_tokens - HEAD_TOKENS, since, shown)
        if rows:
            changes = counted(file.unfollowed, "change")
            changed = f", {changes} not followed" if file.unfollowed else ""
            head = f"{file.path.removeprefix(root)} as of turn {file.turn}{changed}:"
            text = "\n".join(map(as_content, (head, *rows)))
            budget_tokens -= tokens.count(text) + 1
            shown |= identifiers(text)
            yield text


def root_of(files: Sequence[WorkFile]) -> str:
    """Return the folder that shortens the paths of files most where it is named once, if any does.

    One file elsewhere, as in /tmp, does not count against the folder of all others.
    """
    within: Counter[str] = Counter()
    for file in files:
        names = file.path.split("/")[:-1] if file.path.startswith("/") else []
        for depth in range(MIN_DEPTH, len(names)):
            within["/".join(names[: depth + 1]) + "/"] += 1
    saved = {folder: (count - 1) * len(folder) for folder, count in within.items()}
    root = max(saved, key=saved.__getitem__, default="")
    return root if saved.get(root) else ""


def _line(role: str, part: Part, call: Part, ids: Mapping[str, str], root: str) -> str:
    """Return the line of a step, a call's with the ids of its entries."""
    if part.kind == "call":
        entries = ids.get(part.call_id, "")
        text = f"{part.tool}({_argued(part.text, root)}){f' [{entries}]' if entries else ''}"
    elif part.kind == "text":
        opening = "user: " if role == "user" else ""
        most = WORDS_CHARACTERS if _is_said(part) else CALL_CHARACTERS
        text = f'"{opening}{cut(part.text, most)}"'
    elif part.is_error:
        said = plain(part.text)
        lines = message_of(said) if len(said) > ERROR_CHARACTERS else [said]
        lines = [cut(line, ERROR_CHARACTERS // min(2, len(lines))) for line in lines]
        # The first and the last line of a long one, and those between that fit.
        while len(lines) > 2 and sum(map(len, lines)) > ERROR_CHARACTERS:
            del lines[-2]
        text = f"! {' … '.join(lines)}"
    else:
        room = _room_of(part)
        arguments = "" if call is part else call.text
        lines = excerpt(part.text, room, arguments=arguments) if room else []
        if len(lines) < 2:  # no line of it fits
            lines = [f"-> {cut(plain(part.text), CALL_CHARACTERS)}"]
        text = "\n".join(f"  {line}" for line in lines)
    return "\n".join(map(as_content, text.split("\n")))


def _room_of(part: Part) -> int:
    """Return the tokens that the line of a part may have; with less room it is not written."""
    is_short = part.kind != "result" or part.is_error or len(part.text) <= CALL_CHARACTERS
    return 0 if is_short else max(MIN_TOKENS // 3, len(part.text) // (4 * CONSTANTS.outcome_part))


def _fitting(
    parts: Sequence[Part], calls: Sequence[int], write: Callable[[int], str], budget_tokens: int
) -> tuple[dict[int, str], int]:
    """Return the lines that fit a budget, by their steps, and the tokens that are left of it.

    Words and errors are chosen first, then the newest steps, until no more fit: readers missed the
    words of the assistant. Words that were said again are shown once. A result is shown after its
    call or not at all: without it, a reader cannot say where the result came from.
    """
    lines: dict[int, str] = {}
    known: dict[str, int] = {}
    spoken: set[str] = set()
    newest = range(len(parts) - 1, -1, -1)
    said = {at for at in newest if _is_said(parts[at]) or parts[at].is_error}
    for at in (*sorted(said, reverse=True), *(at for at in newest if at not in said)):
        if budget_tokens < MIN_LINE_TOKENS:
            break
        if at in lines or budget_tokens < _room_of(parts[at]):
            continue
        chosen = {step: write(step) for step in (calls[at], at) if step not in lines}
        if parts[at].kind == "text" and chosen[at] in spoken:
            continue
        for text in chosen.values():
            if text not in known:
                known[text] = tokens.count(text) + 1
        if (needed := sum(map(known.__getitem__, chosen.values()))) <= budget_tokens:
            budget_tokens -= needed
            lines |= chosen
            spoken.update(chosen.values())
    return lines, budget_tokens


def _is_said(part: Part) -> bool:
    """Return whether a part has words; a text in a tag is the host's, as the state of an editor."""
    text = part.text.strip()
    return part.kind == "text" and not (text.startswith("<") and text.endswith(">"))


@kept_by_hash
def _argued(arguments: str, root: str) -> str:
    """Return the subject of a call: short arguments, or the files of long ones and of patches."""
    path, has_text = file_of(arguments)
    texts = texts_in(json_text.read(arguments, arguments))
    patched = [name for text in texts for name in PATCHED.findall(text)]
    if patched or (path and has_text):
        return ", ".join(name.strip().removeprefix(root) for name in patched or [path])
    value = fields_in(arguments)
    if value is None:
        return cut(arguments, CALL_CHARACTERS)
    said = [
        str(given).removeprefix(root) if given == path or len(value) == 1 else f"{name}: {given}"
        for name, given in value.items()
        if isinstance(given, str | int | float) and given is not False
    ]
    rest = {name: given for name, given in value.items() if isinstance(given, dict | list)}
    more = json_text.written(rest) if rest else ""
    return cut(", ".join(filter(None, [*said, more])), CALL_CHARACTERS)


def transcript(messages: Sequence[Message]) -> str:
    """Return messages as a text that can be searched and paged: every part whole."""
    lines = []
    for message in messages:
        for part in message.parts:
            head = f"{part.tool} {part.call_id}" if part.kind in ("call", "result") else ""
            lines.append(" ".join(f"--- {message.role} {part.kind} {head}".split()))
            lines.append(as_words(part.text))
    return "\n".join(lines)
