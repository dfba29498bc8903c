"""How much evidence of LoCoMo a store holds that sessions filled by ending, beside one by hand.

    python -m tests.bench.locomo_sessions FILE

Each conversation is fed session by session through `session(...)` and `close()`; by hand, each turn
is stored by itself. Both are asked the same questions; a result counts for the turn whose words it
has. Run it at the project's root.
"""

from __future__ import annotations

import argparse
import itertools
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hippocampus import Hippocampus
from hippocampus.replay.bench import locomo, retrieval
from hippocampus.replay.bench.retrieval import (
    BenchConversation,
    BenchMessage,
    MessageKey,
    QuestionScore,
)


def messages_of(turns: list[BenchMessage]) -> list[dict[str, Any]]:
    """Return the turns of a session as a chat: who speaks first is the user."""
    names = list(dict.fromkeys(turn.text.partition(":")[0] for turn in turns))
    roles = ("user", "assistant")
    return [
        {"role": roles[names.index(turn.text.partition(":")[0]) % 2], "content": turn.text}
        for turn in turns
    ]


def fed(conversation: BenchConversation, folder: str) -> Hippocampus:
    """Return a memory to which a conversation was told session by session."""
    memory = Hippocampus(folder)
    by_session = itertools.groupby(conversation.turns, key=lambda turn: turn.key[0])
    for number, turns in by_session:
        with memory.session(str(number)) as session:
            told = messages_of(list(turns))
            for end in range(1, len(told) + 1):
                if told[end - 1]["role"] == "user" or end == len(told):
                    session(told[:end])
    return memory


def places_in(conversation: BenchConversation) -> dict[str, list[BenchMessage]]:
    """Return the turns of a conversation by session."""
    grouped: dict[str, list[BenchMessage]] = {}
    for turn in conversation.turns:
        grouped.setdefault(str(turn.key[0]), []).append(turn)
    return grouped


def place_of(session: str, content: str, turns: dict[str, list[BenchMessage]]) -> MessageKey:
    """Return the turn whose words a memory has."""
    said = content.strip()
    for turn in turns.get(session, ()):
        if said in " ".join(turn.text.split()) or said in turn.text:
            return turn.key
    return (0, 0)


def measured(conversation: BenchConversation) -> Iterator[QuestionScore]:
    """Yield what each question's recall finds in the store that sessions filled."""
    known = {turn.key for turn in conversation.turns}
    turns = places_in(conversation)
    with tempfile.TemporaryDirectory() as folder:
        memory = fed(conversation, folder)
        for question in conversation.questions:
            evidence = question.evidence & known
            if evidence:
                found = memory.facts.recall(question.text, limit=200)
                places = [
                    place_of(each.memory.origin.session, each.memory.content, turns)
                    for each in found
                ]
                yield retrieval.score(question.kind, evidence, places)
        memory.close()


def main() -> None:
    """Print recall of evidence at 5, 10 and 20, by hand and by sessions."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", type=Path)
    conversations = locomo.read(parser.parse_args().file)
    hand = retrieval.summary(retrieval.measure(conversations))["turn"]
    ours = retrieval.summary([one for each in conversations for one in measured(each)])["turn"]
    print(f"{'recall of evidence at':24}" + "".join(f"{cut:>8}" for cut in hand))
    print(f"{'each turn by hand':24}" + "".join(f"{value:8.3f}" for value in hand.values()))
    print(f"{'sessions and close':24}" + "".join(f"{value:8.3f}" for value in ours.values()))


if __name__ == "__main__":
    main()
