"""Turns the conversations of a file into recordings: cleaned, repaired, numbered and named.

No format is known here and no file is opened.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath

from hippocampus.errors import RecordingError
from hippocampus.replay.readers.documents import Document
from hippocampus.replay.readers.draft import Draft, Step
from hippocampus.replay.readers.formats import Reading
from hippocampus.replay.readers.reasoning import without_reasoning
from hippocampus.replay.readers.repair import is_of_answer, repair
from hippocampus.replay.recording import Recording, Usage


def finish(document: Document, reading: Reading) -> list[Recording]:
    """Return a recording for each conversation in which a model answered.

    Raises:
        RecordingError: no conversation is left, and lines of the file are broken.

    """
    made = [
        (draft.part, _recording(document.path, reading.format, draft)) for draft in reading.drafts
    ]
    used = [(part, recording) for part, recording in made if _calls(recording)]
    broken = document.broken + reading.broken
    if not used and broken:
        first = broken[0].removeprefix(f"{document.path}:")
        raise RecordingError(document.path, f"no conversation besides what is broken, line {first}")
    recordings = _named(PurePath(document.path).name, used)
    if recordings:
        recordings[0] = replace(recordings[0], broken=broken)
    return recordings


def _recording(path: str, format_name: str, draft: Draft) -> Recording:
    steps, unanswered, orphans = repair(draft.kind, without_reasoning(draft.steps))
    models = Counter(step.model for step in steps if step.model)
    return Recording(
        path=path,
        name="",
        format=format_name,
        messages=[step.message for step in steps],
        model=models.most_common(1)[0][0] if models else None,
        usage=_usage(draft, steps),
        unanswered=unanswered,
        orphans=orphans,
    )


def _usage(draft: Draft, steps: Sequence[Step]) -> dict[int, Usage]:
    """Return the usage by call: an assistant message is one, so are the items of one answer."""
    usage: dict[int, Usage] = {}
    call = -1
    inside = False
    for step in steps:
        is_answer = is_of_answer(step.message)
        if is_answer and not (inside and draft.kind == "responses"):
            call += 1
        inside = is_answer
        if is_answer and step.usage and step.usage != Usage():
            usage[call] = step.usage
    return usage


def _calls(recording: Recording) -> bool:
    return any(is_of_answer(message) for message in recording.messages)


def _named(file_name: str, parts: Sequence[tuple[str, Recording]]) -> list[Recording]:
    if len(parts) == 1:
        return [replace(parts[0][1], name=file_name)]
    seen: Counter[str] = Counter()
    named: list[Recording] = []
    for number, (part, recording) in enumerate(parts, start=1):
        label = part or str(number)
        seen[label] += 1
        unique = label if seen[label] == 1 else f"{label}-{seen[label]}"
        named.append(replace(recording, name=f"{file_name}#{unique}"))
    return named
