"""Reads BEAM's chats as conversations and questions; a batch becomes a session.

The data set is the user's folder, never part of the project.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from hippocampus.errors import RecordingError
from hippocampus.replay.bench.retrieval import BenchConversation, BenchMessage, MessageKey, Question
from hippocampus.replay.readers.documents import load


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
    try:
        records: list[Any] = load(str(path)).records
        if path.name == "chat.json":
            asked = path.parent / "probing_questions" / "probing_questions.json"
            records = [{"chat": records, "questions": load(str(asked)).records[0]}]
        [found] = records
        turns = dict(_messages(found["chat"]))
        questions = tuple(
            Question(str(asked["question"]), kind, evidence)
            for kind, listed in found["questions"].items()
            for asked in listed
            if (evidence := _evidence(asked.get("source_chat_ids"), turns))
        )
    except (ValueError, LookupError, TypeError, AttributeError) as problem:
        raise RecordingError(str(path), f"not a chat of BEAM: {problem!r}") from problem
    return BenchConversation(tuple(turns.values()), questions, length)


def _messages(chat: Sequence[dict[str, Any]]) -> Iterator[tuple[int, BenchMessage]]:
    """Yield the messages with their ids; an answer and the user's reply to it share a turn."""
    for batch in chat:
        answers = 0
        for message in (message for turn in batch["turns"] for message in turn):
            answers += message["role"] == "assistant"
            key = int(batch["batch_number"]), int(message["id"])
            yield key[1], BenchMessage(key, str(message["content"]), message["role"], answers)


def _evidence(listed: Any, turns: dict[int, BenchMessage]) -> frozenset[MessageKey]:
    """Return the keys of the messages with ids in nested lists."""
    if isinstance(listed, int):
        return frozenset({turns[listed].key} if listed in turns else ())
    nested = listed.values() if isinstance(listed, dict) else listed or ()
    return frozenset(key for inner in nested for key in _evidence(inner, turns))
