"""LoCoMo: the share of the evidence of each question that a recall finds, without a model.

One memory a turn; the data set is the user's file (CC BY-NC 4.0), never part of the project.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hippocampus.errors import RecordingError
from hippocampus.facts.models import Embed, FactPolicy, Item, Origin
from hippocampus.facts.store import Facts

CUTS = (5, 10, 20)
HEADLINES, HEADLINE_CUT = ("turn", "session", "all_pieces"), 10
CATEGORIES = {
    1: "multi-hop",
    2: "temporal",
    3: "open-domain",
    4: "single-hop",
    5: "adversarial",
}
POLICY = FactPolicy(hide_below=0.0)
"""The questions ask for statements years old: nothing is hidden for its age."""
DAY_SECONDS = 86_400.0
_ID = re.compile(r"D(\d+):(\d+)")
_SESSION = re.compile(r"session_(\d+)")
TurnKey = tuple[int, int]
"""Number of the session, and of the turn in it."""


@dataclass(frozen=True, slots=True)
class LocomoTurn:
    """One turn of a conversation: its session, its number there, its text with the speaker."""

    key: TurnKey
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    """One question and the turns that answer it."""

    text: str
    category: int
    evidence: frozenset[TurnKey]


@dataclass(frozen=True, slots=True)
class LocomoConversation:
    """One conversation with its questions."""

    name: str
    turns: tuple[LocomoTurn, ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class QuestionScore:
    """The fraction of one question's evidence that its recall finds, at each cut.

    `turn` counts the first turns, `session` the first sessions, ranked by their best turn.
    """

    category: int
    pieces: int
    turn: tuple[float, ...]
    session: tuple[float, ...]


def read(path: Path) -> list[LocomoConversation]:
    """Return the conversations of a LoCoMo file.

    Raises:
        RecordingError: the file is missing or is not LoCoMo's JSON.

    """
    try:
        return [_conversation(sample) for sample in json.loads(path.read_text(encoding="utf-8"))]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as problem:
        raise RecordingError(str(path), f"not a LoCoMo file: {problem!r}") from problem


def _conversation(sample: dict[str, Any]) -> LocomoConversation:
    spoken = sample["conversation"]
    sessions = {
        int(found[1]): spoken[name] for name in spoken if (found := _SESSION.fullmatch(name))
    }
    turns, questions = list[LocomoTurn](), list[Question]()
    for session in sorted(sessions):
        for turn in sessions[session]:
            found = _ID.search(turn["dia_id"])
            caption = f" [{turn['blip_caption']}]" if turn.get("blip_caption") else ""
            text = f"{turn['speaker']}: {turn['text']}{caption}"
            turns.append(LocomoTurn((session, int(found[2]) if found else 0), text))
    for asked in sample["qa"]:
        listed = asked.get("evidence") or []
        text = listed if isinstance(listed, str) else " ".join(map(str, listed))
        if keys := frozenset((int(session), int(turn)) for session, turn in _ID.findall(text)):
            questions.append(Question(str(asked["question"]), int(asked.get("category", 0)), keys))
    return LocomoConversation(str(sample.get("sample_id", "")), tuple(turns), tuple(questions))


def measure(
    conversations: Sequence[LocomoConversation], embed: Embed | None = None
) -> list[QuestionScore]:
    """Return the score of each question, each conversation in a store of its own."""
    found = []
    for conversation in conversations:
        known = {turn.key for turn in conversation.turns}
        with filled(conversation, embed) as facts:
            for question in conversation.questions:
                if evidence := question.evidence & known:
                    recalled = facts.recall(question.text, limit=-1)
                    origins = (result.memory.origin for result in recalled)
                    ranked = [(int(origin.session), origin.turn or 0) for origin in origins]
                    found.append(_score(question.category, evidence, ranked))
    return found


def filled(conversation: LocomoConversation, embed: Embed | None = None) -> Facts:
    """Return a store in memory with the turns of a conversation."""
    last = conversation.turns[-1].key[0] if conversation.turns else 0
    facts = Facts(":memory:", settings=POLICY, embed=embed, clock=lambda: (last + 1) * DAY_SECONDS)
    facts.store_many(
        Item(
            turn.text,
            type="event",
            origin=Origin(str(turn.key[0]), turn.key[1]),
            at=turn.key[0] * DAY_SECONDS + turn.key[1],
        )
        for turn in conversation.turns
    )
    return facts


def _score(category: int, evidence: frozenset[TurnKey], ranked: Sequence[TurnKey]) -> QuestionScore:
    sessions = {session for session, _ in evidence}
    ranked_sessions = list(dict.fromkeys(session for session, _ in ranked))
    return QuestionScore(
        category,
        len(evidence),
        tuple(len(evidence & set(ranked[:cut])) / len(evidence) for cut in CUTS),
        tuple(len(sessions & set(ranked_sessions[:cut])) / len(sessions) for cut in CUTS),
    )


def summary(scores: Sequence[QuestionScore]) -> dict[str, Any]:
    """Return the means over questions, by cut and by category, as fractions."""
    several = [one for one in scores if one.pieces > 1]
    return {
        "turn": _means([one.turn for one in scores]),
        "session": _means([one.session for one in scores]),
        "all_pieces": _means([tuple(float(v == 1.0) for v in one.turn) for one in several]),
        "by_category": {
            CATEGORIES.get(category, str(category)): {
                "turn": _means([one.turn for one in chosen]),
                "session": _means([one.session for one in chosen]),
                "questions": len(chosen),
            }
            for category in sorted({one.category for one in scores})
            for chosen in [[one for one in scores if one.category == category]]
        },
    }


def _means(rows: Sequence[Sequence[float]]) -> dict[str, float]:
    count = max(1, len(rows))
    return {str(cut): round(sum(row[at] for row in rows) / count, 4) for at, cut in enumerate(CUTS)}


def report(path: Path, embed: Embed | None = None, *, folds: bool = False) -> dict[str, Any]:
    """Return the figures of a LoCoMo file, without a model and, where one is given, with it.

    `folds` adds those of each conversation by itself, and their mean: what a change gains on all of
    them and loses on one that it was not chosen on is a chance. Nothing is fitted here.
    """
    conversations = read(path)
    ways = {"without_model": None, **({"with_embedding": embed} if embed else {})}
    figures: dict[str, Any] = {"conversations": len(conversations)}
    for name, model in ways.items():
        scores = [measure([one], model) for one in conversations]
        flat = [score for each in scores for score in each]
        figures |= {"questions": len(flat), name: summary(flat)}
        if folds:
            names = [one.name for one in conversations]
            sums = map(summary, scores)
            each_one = [{at: each[at][str(HEADLINE_CUT)] for at in HEADLINES} for each in sums]
            figures[name]["folds"] = dict(zip(names, each_one, strict=True))
            figures[name]["mean"] = {
                measured: round(sum(each[measured] for each in each_one) / len(each_one), 4)
                for measured in HEADLINES
            }
    return figures
