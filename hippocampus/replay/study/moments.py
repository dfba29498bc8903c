"""Chooses moments of recorded sessions: the calls at which readers take the next step.

Files are read one at a time, and only until there are enough moments; no view is made here.
"""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random

from hippocampus.errors import RecordingError
from hippocampus.formats.conversation import Message
from hippocampus.formats.reader import read
from hippocampus.models import tokens
from hippocampus.replay.readers import read_file
from hippocampus.replay.recording import Recording
from hippocampus.replay.study.folder import Moment, StudySettings
from hippocampus.replay.uses import uses, values_of

LARGE, OLDER = "after a large result", "uses something older"
LARGE_TOKENS = 2_000
"""A moment is after a large result if one of this size arrived since the last call."""
OLD_TOKENS = 1_000
OLD_CALLS = 3
"""A moment uses something older if its recorded step writes a value that stands only in results of
this size, which arrived before the last calls of this number."""
LONG_SHARE = 3
"""Lists under the window's third are taken only where there are too few longer ones."""

Choices = dict[str, Moment]
"""A moment of each kind that a session has; one of them is taken."""
Skipped = Callable[[str], None]
"""Takes a sentence about a file that is no recording."""


def choose(files: Sequence[Path], settings: StudySettings, skipped: Skipped) -> list[Moment]:
    """Return moments, half of each kind, from each folder in turn, at most one a session."""
    random = Random(settings.seed)  # noqa: S311 - a sample that can be drawn again
    needed = {LARGE: settings.cases - settings.cases // 2, OLDER: settings.cases // 2}
    chosen: list[Moment] = []
    spare: list[Moment] = []
    for choices in _sessions(files, settings.window, random, skipped):
        kind = max(choices, key=lambda each: needed[each])
        if needed[kind] and choices[kind].tokens >= settings.window // LONG_SHARE:
            needed[kind] -= 1
            chosen.append(choices[kind])
        else:
            spare.append(choices[kind])
        if not any(needed.values()):
            break
    spare.sort(key=lambda each: -each.tokens)
    return chosen + spare[: settings.cases - len(chosen)]


def _sessions(
    files: Sequence[Path], window_tokens: int, random: Random, skipped: Skipped
) -> Iterator[Choices]:
    """Yield the moments of one file of each folder in turn, in an order that the seed gives.

    Conversations that share a file or a beginning (what stands behind a compaction, a sub-agent, a
    branch, another run of the task) show each other's future: only one of them is taken.
    """
    folders: dict[Path, list[Path]] = {}
    for path in random.sample(list(files), len(files)):
        folders.setdefault(path.parent, []).append(path)
    openings: set[str] = set()
    waiting = deque(folders.values())
    while waiting:
        paths = waiting.popleft()
        while paths:
            path = paths.pop()
            try:
                recordings = read_file(path)
            except RecordingError as problem:
                skipped(str(problem))
                continue
            found = [_choices(each, window_tokens, random, openings) for each in recordings]
            usable = [each for each in found if each[1]]
            if usable:
                opening, choices = random.choice(usable)
                openings.add(opening)
                waiting.append(paths)
                yield choices
                break


def _choices(
    recording: Recording, window_tokens: int, random: Random, openings: set[str]
) -> tuple[str, Choices]:
    """Return a session's beginning and a moment of each kind: of the long lists if there are any."""
    messages = read(recording.messages)
    answers = [at for at, each in enumerate(messages) if each.role == "assistant"]
    own = [each for each in messages[: answers[0]] if each.role != "system"]
    opening = short_id(*(text for each in own for text in each.texts()))
    tools = json.dumps(recording.tools, default=str) if recording.tools else ""
    more = tokens.count(recording.system_prompt) + tokens.count(tools)
    sizes = [*itertools.accumulate(map(tokens.count_message, messages), initial=more)]
    fitting = [at for at in answers if sizes[at] <= window_tokens and opening not in openings]
    used = uses(messages[: fitting[-1] + 1], values_of) if fitting else {}
    found: dict[str, list[Moment]] = {LARGE: [], OLDER: []}
    for call, at in enumerate(fitting):
        if not at or messages[at - 1].role == "assistant":
            continue
        last = answers[call - 1] if call else 0
        old = answers[call - OLD_CALLS] if call >= OLD_CALLS else 0
        place = (recording.path, recording.name, call)
        for kind, is_one in (
            (LARGE, _has_large(messages[last:at])),
            (OLDER, _uses_older(used[at], messages[:old], messages[old:at])),
        ):
            if is_one:
                found[kind].append(Moment(short_id(*map(str, place)), *place, kind, sizes[at]))
    long = {
        kind: [each for each in listed if each.tokens >= window_tokens // LONG_SHARE]
        for kind, listed in found.items()
    }
    return opening, {
        kind: random.choice(long[kind] or listed) for kind, listed in found.items() if listed
    }


def _has_large(messages: Sequence[Message]) -> bool:
    return any(
        part.kind == "result" and tokens.count(part.text) >= LARGE_TOKENS
        for message in messages
        for part in message.parts
    )


def _uses_older(used: frozenset[str], old: Sequence[Message], recent: Sequence[Message]) -> bool:
    """Return whether a used value stands only in large results of old messages."""
    large: list[str] = []
    others = [text for message in recent for text in message.texts()]
    for part in (part for message in old for part in message.parts):
        is_large = part.kind == "result" and tokens.count(part.text) >= OLD_TOKENS
        (large if is_large else others).append(part.text)
    hidden, visible = "\n".join(large), "\n".join(others)
    return any(value in hidden and value not in visible for value in used)


def short_id(*words: str) -> str:
    """Return an id of six characters that nothing can be read from."""
    digest = hashlib.sha256("\0".join(words).encode("utf-8", "surrogatepass")).digest()
    return base64.b32encode(digest[:5])[:6].decode().lower()
