"""LoCoMo: how much of the evidence of each question a recall finds, without asking a model.

One memory a turn; the data set is the user's file (CC BY-NC 4.0) and never a part of the project.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hippocampus.errors import RecordingError
from hippocampus.facts.models import Embed, FactPolicy, Item, Origin, Weights
from hippocampus.facts.store import Facts

CUTS = (5, 10, 20)
CATEGORIES = {
    1: "multi-hop",
    2: "temporal",
    3: "open-domain",
    4: "single-hop",
    5: "adversarial",
}
POLICY = FactPolicy(hide_below=0.0)
"""What was said years ago is asked for: nothing is hidden for its age."""
DAY_SECONDS = 86_400.0
_ID = re.compile(r"D(\d+):(\d+)")
_SESSION = re.compile(r"session_(\d+)")
Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a conversation: its session, its number there, its text with the speaker."""

    place: Place
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    """One question and the turns that hold its answer."""

    text: str
    category: int
    evidence: frozenset[Place]


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation with its questions."""

    name: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """What one question's recall found: fractions at each cut.

    `turn` is of the first turns, `session` of the first sessions, ranked by their best turn.
    """

    category: int
    pieces: int
    turn: tuple[float, ...]
    session: tuple[float, ...]


def read(path: Path) -> list[Conversation]:
    """Return the conversations of a LoCoMo file.

    Raises:
        RecordingError: the file is missing or is not LoCoMo's JSON.

    """
    try:
        return [_conversation(sample) for sample in json.loads(path.read_text(encoding="utf-8"))]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as problem:
        raise RecordingError(str(path), f"not a LoCoMo file: {problem!r}") from problem


def _conversation(sample: dict[str, Any]) -> Conversation:
    spoken = sample["conversation"]
    sessions = {
        int(found[1]): spoken[name] for name in spoken if (found := _SESSION.fullmatch(name))
    }
    turns = [_turn(number, turn) for number in sorted(sessions) for turn in sessions[number]]
    questions = [_question(asked) for asked in sample["qa"]]
    return Conversation(
        str(sample.get("sample_id", "")),
        tuple(turns),
        tuple(question for question in questions if question.evidence),
    )


def _turn(session: int, turn: dict[str, Any]) -> Turn:
    found = _ID.search(turn["dia_id"])
    number = int(found[2]) if found else 0
    caption = f" [{turn['blip_caption']}]" if turn.get("blip_caption") else ""
    return Turn((session, number), f"{turn['speaker']}: {turn['text']}{caption}")


def _question(asked: dict[str, Any]) -> Question:
    listed = asked.get("evidence") or []
    text = listed if isinstance(listed, str) else " ".join(map(str, listed))
    places = frozenset((int(session), int(turn)) for session, turn in _ID.findall(text))
    return Question(str(asked["question"]), int(asked.get("category", 0)), places)


def measure(
    conversations: Sequence[Conversation],
    embed: Embed | None = None,
    weights: Weights | str = "ours",
) -> list[Found]:
    """Return what each question's recall finds, each conversation in a store of its own."""
    return [found for one in conversations for found in _measured(one, embed, weights)]


def _measured(
    conversation: Conversation, embed: Embed | None, weights: Weights | str
) -> Iterator[Found]:
    known = {turn.place for turn in conversation.turns}
    with filled(conversation, embed) as facts:
        for question in conversation.questions:
            evidence = question.evidence & known
            if not evidence:
                continue
            recalled = facts.recall(question.text, limit=-1, preset=weights)
            places = [_place(result.memory.origin) for result in recalled]
            yield _scored(question.category, evidence, places)


def filled(conversation: Conversation, embed: Embed | None = None) -> Facts:
    """Return a store in memory that holds the turns of a conversation."""
    last = conversation.turns[-1].place[0] if conversation.turns else 0
    facts = Facts(":memory:", settings=POLICY, embed=embed, clock=lambda: (last + 1) * DAY_SECONDS)
    facts.store_many(
        Item(
            turn.text,
            type="event",
            origin=Origin(str(turn.place[0]), turn.place[1]),
            at=turn.place[0] * DAY_SECONDS + turn.place[1],
        )
        for turn in conversation.turns
    )
    return facts


def _place(origin: Origin) -> Place:
    return int(origin.session), origin.turn or 0


def _scored(category: int, evidence: frozenset[Place], places: Sequence[Place]) -> Found:
    sessions = {session for session, _ in evidence}
    ranked = list(dict.fromkeys(session for session, _ in places))
    return Found(
        category,
        len(evidence),
        tuple(len(evidence & set(places[:cut])) / len(evidence) for cut in CUTS),
        tuple(len(sessions & set(ranked[:cut])) / len(sessions) for cut in CUTS),
    )


def summary(found: Sequence[Found]) -> dict[str, Any]:
    """Return the means over questions, by cut and by category, as fractions."""
    several = [one for one in found if one.pieces > 1]
    return {
        "turn": _means([one.turn for one in found]),
        "session": _means([one.session for one in found]),
        "all_pieces": _means([tuple(float(v == 1.0) for v in one.turn) for one in several]),
        "by_category": {
            CATEGORIES.get(category, str(category)): _by_category(found, category)
            for category in sorted({one.category for one in found})
        },
    }


def _by_category(found: Sequence[Found], category: int) -> dict[str, Any]:
    chosen = [one for one in found if one.category == category]
    return {
        "turn": _means([one.turn for one in chosen]),
        "session": _means([one.session for one in chosen]),
        "questions": len(chosen),
    }


def _means(rows: Sequence[Sequence[float]]) -> dict[str, float]:
    count = max(1, len(rows))
    return {
        str(cut): round(sum(row[place] for row in rows) / count, 4)
        for place, cut in enumerate(CUTS)
    }


def report(path: Path, embed: Embed | None = None) -> dict[str, Any]:
    """Return the figures of a LoCoMo file, without a model and, where one is given, with it."""
    conversations = read(path)
    plain = measure(conversations)
    figures: dict[str, Any] = {
        "without_model": summary(plain),
        "questions": len(plain),
        "conversations": len(conversations),
    }
    if embed is not None:
        figures["with_embedding"] = summary(measure(conversations, embed))
    return figures
