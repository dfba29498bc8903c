"""What the tests of consolidation share: a memory on disk, and conversations to tell it."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from conversations import PROMPT, chat_step

from hippocampus import Hippocampus
from hippocampus.policy import Consolidation, Policy
from hippocampus.storage.state_dir import StateDir

Make = Callable[..., Hippocampus]


def loading(tokens: int = 600, **changes: Any) -> Policy:
    """The policy `default`, with a context load."""
    block = Consolidation(context_load_tokens=tokens, **changes)
    return PROMPT.model_copy(update={"consolidation": block})


def user(text: str) -> dict[str, Any]:
    """A message of the user."""
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, Any]:
    """An answer."""
    return {"role": "assistant", "content": text}


def call(call_id: str, tool: str, arguments: str, result: str) -> list[dict[str, Any]]:
    """A tool call of the assistant with its result, in the Chat format."""
    return chat_step(call_id, tool, json.loads(arguments), result)


@contextlib.contextmanager
def broken_facts(state: Path) -> Iterator[None]:
    """Take the text index of the facts away for a while, so that none is written or found."""
    with contextlib.closing(sqlite3.connect(StateDir(state).database)) as db:
        db.execute("ALTER TABLE memory_text RENAME TO elsewhere")
        yield
        db.execute("ALTER TABLE elsewhere RENAME TO memory_text")


def current(memory: Hippocampus) -> list[tuple[str, str, str]]:
    """Everything in the fact store: type, role and content."""
    return sorted((each.type, each.origin.role, each.content) for each in memory.facts.memories())
