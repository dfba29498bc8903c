"""Chooses moments of recorded sessions: the calls at which readers take the next step.

Files are read one at a time, and only until there are enough moments; no view is made here.
"""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
from collections import defaultdict
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


def choose(
    files: Sequence[Path], settings: StudySettings, skipped: Callable[[str], None]
) -> list[Moment]:
    """Return moments, half of each kind, from each folder in turn, at most one a session.

    Conversations that share a file or a beginning (what stands behind a compaction, a sub-agent, a
    branch, another run of the task) show each other's future: only one of them is taken. `skipped`
    takes a sentence about a file that is no recording.
    """
    random = Random(settings.seed)  # noqa: S311 - a sample that can be drawn again
    needed = {LARGE: settings.cases - settings.cases // 2, OLDER: settings.cases // 2}
    folders: defaultdict[Path, list[Path]] = defaultdict(list)
    for path in random.sample(list(files), len(files)):
        folders[path.parent].append(path)
    in_turn = itertools.chain.from_iterable(itertools.zip_longest(*folders.values()))
    openings: set[str] = set()
    chosen: list[Moment] = []
    spare: list[Moment] = []
    for path in filter(None, in_turn):
        try:
            found = [(_opening(each), each) for each in read_file(path)]
        except RecordingError as problem:
            skipped(str(problem))
            continue
        fresh = [(opening, each) for opening, each in found if opening not in openings]
        for opening, recording in random.sample(fresh, len(fresh)):
            moments = list(_moments(recording, settings.window))
            if moments:
                long = [each for each in moments if each.tokens >= settings.window // LONG_SHARE]
                kind = max((each.kind for each in long or moments), key=lambda each: needed[each])
                one = random.choice([each for each in long or moments if each.kind == kind])
                is_needed = bool(long) and needed[kind] > 0
                needed[kind] -= is_needed
                (chosen if is_needed else spare).append(one)
                openings.add(opening)
                break
        if not any(needed.values()):
            break
    spare.sort(key=lambda each: -each.tokens)
    return chosen + spare[: settings.cases - len(chosen)]


def _opening(recording: Recording) -> str:
    """Return an id of the texts before the first answer."""
    messages = itertools.takewhile(lambda each: each.role != "assistant", read(recording.messages))
    return short_id(*(text for each in messages if each.role != "system" for text in each.texts()))


def _moments(recording: Recording, window_tokens: int) -> Iterator[Moment]:
    """Yield the moments of a session whose whole list fits the window."""
    messages = read(recording.messages)
    tools = json.dumps(recording.tools, default=str) if recording.tools else ""
    more = tokens.count(recording.system_prompt) + tokens.count(tools)
    sizes = [*itertools.accumulate(map(tokens.count_message, messages), initial=more)]
    answers = [at for at, each in enumerate(messages) if each.role == "assistant"]
    fitting = [at for at in answers if sizes[at] <= window_tokens]
    used = uses(messages[: fitting[-1] + 1], values_of) if fitting else {}
    for call, at in enumerate(fitting):
        if not at or messages[at - 1].role == "assistant":
            continue
        last = answers[call - 1] if call else 0
        old = answers[call - OLD_CALLS] if call >= OLD_CALLS else 0
        place = (recording.path, recording.name, call)
        for kind, is_one in (
            (LARGE, any(_large_texts(messages[last:at], LARGE_TOKENS))),
            (OLDER, _uses_older(used[at], messages[:old], messages[old:at])),
        ):
            if is_one:
                yield Moment(short_id(*map(str, place)), *place, kind, sizes[at])


def _large_texts(messages: Sequence[Message], min_tokens: int) -> list[str]:
    parts = (part for message in messages for part in message.parts if part.kind == "result")
    return [part.text for part in parts if tokens.count(part.text) >= min_tokens]


def _uses_older(used: frozenset[str], old: Sequence[Message], recent: Sequence[Message]) -> bool:
    """Return whether a used value stands only in large results of old messages."""
    large = _large_texts(old, OLD_TOKENS)
    hidden = {value for value in used if any(value in text for text in large)}
    others = [text for each in (*old, *recent) for text in each.texts() if text not in large]
    return any(all(value not in text for text in others) for value in hidden)


def short_id(*words: str) -> str:
    """Return an id of six characters that nothing can be read from."""
    digest = hashlib.sha256("\0".join(words).encode("utf-8", "surrogatepass")).digest()
    return base64.b32encode(digest[:5])[:6].decode().lower()
