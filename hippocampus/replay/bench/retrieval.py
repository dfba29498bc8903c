"""Which share of the evidence for a question a recall finds, next to plain FTS5; no data set is read here.

One memory a message, each conversation in a store of its own. Nothing is fitted here.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hippocampus.facts.models import Embed, FactPolicy
from hippocampus.facts.store import Facts
from hippocampus.facts.words import content_words
from hippocampus.facts.write import store_many
from hippocampus.storage.facts.models import Item, Origin
from hippocampus.storage.full_text import searching

CUTS = (5, 10, 20)
HEADLINES, HEADLINE_CUT = ("turn", "session", "all_pieces"), 10
POLICY = FactPolicy(hide_below=0.0)
"""The questions ask for statements years old: nothing is hidden for its age."""
DAY_SECONDS = 86_400.0
PLAIN, WITHOUT, WITH = "plain_fts5", "without_model", "with_embedding"
MessageKey = tuple[int, int]
"""Number of the session, and of the message in it."""
Ranked = Callable[[str], list[MessageKey]]
"""A question to the keys of messages, best first."""


@dataclass(frozen=True, slots=True)
class BenchMessage:
    """One message: its session, its number there, its text, and its role and turn where these are known."""

    key: MessageKey
    text: str
    role: str = ""
    turn: int | None = None
    """The number of the model call that it belongs to; none is the message's own number."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question and the messages that answer it."""

    text: str
    kind: str
    evidence: frozenset[MessageKey]


@dataclass(frozen=True, slots=True)
class BenchConversation:
    """One conversation with its questions."""

    name: str
    turns: tuple[BenchMessage, ...]
    questions: tuple[Question, ...]
    length: str = ""
    """Which of the lengths of a data set it has."""


@dataclass(frozen=True, slots=True)
class QuestionScore:
    """The fraction of one question's evidence that is found, at each cut.

    `turn` counts the first messages, `session` the first sessions, ranked by their best message.
    """

    kind: str
    length: str
    pieces: int
    turn: tuple[float, ...]
    session: tuple[float, ...]


def measure(
    conversations: Sequence[BenchConversation], embed: Embed | None = None, *, plain: bool = False
) -> list[QuestionScore]:
    """Return the score of each question whose evidence exists; `plain` asks FTS5 instead of a store."""
    found = []
    for conversation in conversations:
        known = {turn.key for turn in conversation.turns}
        opened = _plain(conversation) if plain else _recalling(conversation, embed)
        with opened as ranked:
            for question in conversation.questions:
                if evidence := question.evidence & known:
                    keys = ranked(question.text)
                    found.append(score(question.kind, evidence, keys, conversation.length))
    return found


def filled(conversation: BenchConversation, embed: Embed | None = None) -> Facts:
    """Return a store in memory with the messages of a conversation, whose numbers are in the metadata."""
    last = conversation.turns[-1].key[0] if conversation.turns else 0
    facts = Facts(":memory:", settings=POLICY, embed=embed, clock=lambda: (last + 1) * DAY_SECONDS)
    store_many(
        facts.tables,
        (
            Item(
                said.text,
                type="event",
                origin=Origin(
                    str(said.key[0]),
                    said.key[1] if said.turn is None else said.turn,
                    role=said.role,
                ),
                at=said.key[0] * DAY_SECONDS + said.key[1],
                metadata={"key": said.key},
            )
            for said in conversation.turns
        ),
    )
    return facts


@contextlib.contextmanager
def _recalling(conversation: BenchConversation, embed: Embed | None) -> Iterator[Ranked]:
    with filled(conversation, embed) as facts:
        yield lambda text: [
            tuple(each.memory.metadata["key"]) for each in facts.recall(text, limit=-1)
        ]


@contextlib.contextmanager
def _plain(conversation: BenchConversation) -> Iterator[Ranked]:
    """Search with FTS5 for any content word of a question, ranked by its BM25."""
    keys = [said.key for said in conversation.turns]
    with searching([said.text for said in conversation.turns]) as search:

        def ranked(text: str) -> list[MessageKey]:
            match = " OR ".join(f'"{word}"' for word in content_words(text))
            return [keys[place] for place in search(match)] if match else []

        yield ranked


def score(
    kind: str, evidence: frozenset[MessageKey], ranked: Sequence[MessageKey], length: str = ""
) -> QuestionScore:
    """Return how much of the evidence is among the first keys."""
    sessions = {session for session, _ in evidence}
    ranked_sessions = list(dict.fromkeys(session for session, _ in ranked))
    return QuestionScore(
        kind,
        length,
        len(evidence),
        tuple(len(evidence & set(ranked[:cut])) / len(evidence) for cut in CUTS),
        tuple(len(sessions & set(ranked_sessions[:cut])) / len(sessions) for cut in CUTS),
    )


def summary(scores: Sequence[QuestionScore]) -> dict[str, Any]:
    """Return the means over questions, by cut, kind and length, as fractions."""
    several = [one for one in scores if one.pieces > 1]
    return {
        "turn": _means([one.turn for one in scores]),
        "session": _means([one.session for one in scores]),
        "all_pieces": _means([tuple(float(v == 1.0) for v in one.turn) for one in several]),
        "by_category": _grouped(scores, "kind"),
        "by_length": _grouped([one for one in scores if one.length], "length"),
    }


def _grouped(scores: Sequence[QuestionScore], field: str) -> dict[str, Any]:
    groups: dict[str, list[QuestionScore]] = {}
    for one in scores:
        groups.setdefault(getattr(one, field), []).append(one)
    return {
        name: {
            "turn": _means([one.turn for one in chosen]),
            "session": _means([one.session for one in chosen]),
            "questions": len(chosen),
        }
        for name, chosen in sorted(groups.items())
    }


def _means(rows: Sequence[Sequence[float]]) -> dict[str, float]:
    count = max(1, len(rows))
    return {str(cut): round(sum(row[at] for row in rows) / count, 4) for at, cut in enumerate(CUTS)}


def report(
    conversations: Sequence[BenchConversation], embed: Embed | None = None, *, folds: bool = False
) -> dict[str, Any]:
    """Return the figures of plain FTS5, of a store without a model and, where one is given, with it.

    `folds` adds those of each conversation by itself, and their mean: what a change gains on all of
    them and loses on one that it was not chosen on is a chance.
    """
    ways: dict[str, tuple[Embed | None, bool]] = {PLAIN: (None, True), WITHOUT: (None, False)}
    ways |= {WITH: (embed, False)} if embed else {}
    figures: dict[str, Any] = {"conversations": len(conversations)}
    for name, (model, plain) in ways.items():
        scores = [measure([one], model, plain=plain) for one in conversations]
        flat = [each for fold in scores for each in fold]
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
