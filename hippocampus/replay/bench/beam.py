"""Reads BEAM's chats as conversations and questions; a batch becomes a session.

The data set is the user's folder, never part of the project.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hippocampus.errors import RecordingError
from hippocampus.replay.bench.retrieval import BenchConversation, BenchMessage, MessageKey, Question
from hippocampus.replay.readers.json_files import load


def read(folders: Sequence[Path]) -> list[BenchConversation]:
    """Return the chats of folders named after the chats' length.

    A chat is a file `{"chat": ..., "questions": ...}`, or a folder as in BEAM's repository:
    `chat.json` and `probing_questions/probing_questions.json`. Questions without evidence are left out.

    Raises:
        RecordingError: a folder has no chat, or a file is not BEAM's JSON.
    """
    found = []
    for folder in folders:
        files = sorted([*folder.glob("*.json"), *folder.glob("*/chat.json")])
        if not files:
            raise RecordingError(str(folder), "no chat of BEAM is in this folder")
        found += [_chat(path, folder.name) for path in files]
    return found


def _chat(path: Path, length: str) -> BenchConversation:
    document = load(str(path))
    if not document.records:
        raise RecordingError(str(path), f"not a chat of BEAM: {document.description}")
    try:
        records: list[Any] = document.records
        if path.name == "chat.json":
            asked = path.parent / "probing_questions" / "probing_questions.json"
            records = [{"chat": records, "questions": load(str(asked)).records[0]}]
        [found] = records
        turns: dict[int, BenchMessage] = {}
        for batch in found["chat"]:
            answers = 0  # an answer and the user's reply to it share a turn
            for message in itertools.chain.from_iterable(batch["turns"]):
                answers += message["role"] == "assistant"
                key, text = (int(batch["batch_number"]), int(message["id"])), message["content"]
                turns[key[1]] = BenchMessage(key, str(text), message["role"], answers)
        questions = tuple(
            Question(str(asked["question"]), kind, evidence)
            for kind, listed in found["questions"].items()
            for asked in listed
            if (evidence := _evidence(asked.get("source_chat_ids"), turns))
        )
    except (ValueError, LookupError, TypeError, AttributeError) as problem:
        raise RecordingError(str(path), f"not a chat of BEAM: {problem!r}") from problem
    return BenchConversation(tuple(turns.values()), questions, length)


def _evidence(listed: Any, turns: dict[int, BenchMessage]) -> frozenset[MessageKey]:
    """Return the keys of the messages with ids in nested lists."""
    if isinstance(listed, int):
        return frozenset({turns[listed].key} if listed in turns else ())
    nested = listed.values() if isinstance(listed, dict) else listed or ()
    return frozenset(key for inner in nested for key in _evidence(inner, turns))
