"""How often models are asked: remembering, recalling and forgetting have their bounds."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from hippocampus.facts.store import Facts
from hippocampus.facts.tools import call

SAID = "Alice lives in Berlin. She works at Acme. Her dog is called Rex."


class Counted:
    """An embedding of words by their hashes, and a completion by script; both are counted."""

    model = "hashed-words"

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.requests = 0
        self.prompts: list[str] = []

    def embed(self, texts: list[str]) -> np.ndarray:
        self.requests += 1
        self.texts += texts
        rows = np.zeros((len(texts), 64), np.float32)
        for place, text in enumerate(texts):
            for word in text.lower().split():
                rows[place, zlib.crc32(word.strip(".,?").encode()) % 64] += 1
        return rows

    def complete(self, prompt: str) -> str:
        self.prompts.append(prompt)
        return json.dumps([{"fact": each, "intensity": 0.5} for each in SAID.split(". ")])


@pytest.fixture
def models() -> Counted:
    return Counted()


@pytest.fixture
def facts(tmp_path: Path, models: Counted) -> Iterator[Facts]:
    made = Facts(tmp_path / "memory.sqlite3", embed=models.embed, complete=models.complete)
    yield made
    made.close()


@pytest.mark.parametrize("text", [SAID, "Alice lives in Bangkok.", "No fact at all?"])
def test_remembering_takes_two_completions_and_one_embedding_a_fact(
    facts: Facts, models: Counted, text: str
) -> None:
    facts.remember(SAID)
    models.texts.clear()
    models.prompts.clear()
    outcomes = facts.remember(text)
    assert len(models.prompts) <= 2
    assert len(models.texts) <= len(outcomes)


def test_storing_takes_one_embedding(facts: Facts, models: Counted) -> None:
    facts.store("The boiler is in the cellar.")
    assert (len(models.texts), models.prompts) == (1, [])


def test_recalling_takes_one_embedding(facts: Facts, models: Counted) -> None:
    facts.store("The boiler is in the cellar.")
    models.texts.clear()
    facts.recall("Where is the boiler?")
    assert (len(models.texts), models.prompts) == (1, [])


def test_forgetting_takes_one_embedding(facts: Facts, models: Counted) -> None:
    facts.store("The boiler is in the cellar.")
    models.texts.clear()
    facts.forget("the boiler in the cellar")
    assert (len(models.texts), models.prompts) == (1, [])


def test_blocks_and_conversations_ask_no_model(facts: Facts, models: Counted) -> None:
    call(facts, "append_memory_block", {"key": "persona", "content": "kind"})
    call(facts, "replace_memory_block", {"key": "persona", "old_text": "kind", "new_text": "mild"})
    call(facts, "recall_memory_block", {"key": "persona"})
    call(facts, "recall_conversation", {"query": "boiler"})
    assert (models.texts, models.prompts) == ([], [])
