"""Reads LoCoMo's file as conversations and questions; messages have their speaker and captions.

The data set is the user's file (CC BY-NC 4.0), never part of the project.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hippocampus.errors import RecordingError
from hippocampus.replay.bench.retrieval import BenchConversation, BenchMessage, Question
from hippocampus.replay.readers.json_files import load

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
_ID = re.compile(r"D(\d+):(\d+)")
_SESSION = re.compile(r"session_(\d+)")


def read(path: Path) -> list[BenchConversation]:
    """Return the conversations of a LoCoMo file.

    Raises:
        RecordingError: the file is missing or is not LoCoMo's JSON.
    """
    document = load(str(path))
    if not document.records:
        raise RecordingError(str(path), f"not a LoCoMo file: {document.description}")
    try:
        return [_conversation(sample) for sample in document.records]
    except (ValueError, KeyError, TypeError, AttributeError) as problem:
        raise RecordingError(str(path), f"not a LoCoMo file: {problem!r}") from problem


def _conversation(sample: dict[str, Any]) -> BenchConversation:
    spoken = sample["conversation"]
    sessions = {
        int(found[1]): spoken[name] for name in spoken if (found := _SESSION.fullmatch(name))
    }
    turns, questions = list[BenchMessage](), list[Question]()
    for session in sorted(sessions):
        for turn in sessions[session]:
            found = _ID.search(turn["dia_id"])
            caption = f" [{turn['blip_caption']}]" if turn.get("blip_caption") else ""
            text = f"{turn['speaker']}: {turn['text']}{caption}"
            turns.append(BenchMessage((session, int(found[2]) if found else 0), text))
    for asked in sample["qa"]:
        listed = asked.get("evidence") or []
        text = listed if isinstance(listed, str) else " ".join(map(str, listed))
        if keys := frozenset((int(session), int(turn)) for session, turn in _ID.findall(text)):
            category = int(asked.get("category", 0))
            kind = CATEGORIES.get(category, str(category))
            questions.append(Question(str(asked["question"]), kind, keys))
    return BenchConversation(tuple(turns), tuple(questions))
