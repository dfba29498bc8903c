"""Which share of the evidence for a question a recall finds, next to plain FTS5; no data set is read here.

One memory a message, each conversation in a store of its own. Nothing is fitted here.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from hippocampus.facts.models import Embed, FactPolicy
from hippocampus.facts.store import Facts
from hippocampus.facts.words import content_words
from hippocampus.facts.write import store_many
from hippocampus.storage.facts.models import Item, Origin
from hippocampus.storage.full_text import searching

CUTS = (5, 10, 20)
PLACES, HEADLINE_CUT = ("turn", "session", "all_pieces"), "10"
POLICY = FactPolicy(hide_below=0.0)
"""The questions ask for statements years old: nothing is hidden for its age."""
DAY_SECONDS = 86_400.0
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


class QuestionScore(NamedTuple):
    """The fraction of one question's evidence that is found, at each cut."""

    kind: str
    length: str
    turn: tuple[float, ...]
    """Of the messages, among the first ones."""
    session: tuple[float, ...]
    """Of the sessions, among the first ones, ranked by their best message."""
    all_pieces: tuple[float, ...] = ()
    """Of evidence in several messages, 1 where all of it is found; nothing of any other."""


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


@contextlib.contextmanager
def _recalling(conversation: BenchConversation, embed: Embed | None) -> Iterator[Ranked]:
    """Search a store in memory with the messages, whose keys are in the metadata."""
    end = conversation.turns[-1].key[0] + 1 if conversation.turns else 1
    items = (
        Item(
            said.text,
            type="event",
            origin=Origin(
                str(said.key[0]), said.key[1] if said.turn is None else said.turn, role=said.role
            ),
            at=said.key[0] * DAY_SECONDS + said.key[1],
            metadata={"key": said.key},
        )
        for said in conversation.turns
    )
    with Facts(":memory:", settings=POLICY, embed=embed, clock=lambda: end * DAY_SECONDS) as facts:
        store_many(facts.tables, items)
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
    turn = tuple(len(evidence & set(ranked[:cut])) / len(evidence) for cut in CUTS)
    session = tuple(len(sessions & set(ranked_sessions[:cut])) / len(sessions) for cut in CUTS)
    all_pieces = tuple(float(share == 1.0) for share in turn) if len(evidence) > 1 else ()
    return QuestionScore(kind, length, turn, session, all_pieces)


def summary(scores: Sequence[QuestionScore]) -> dict[str, Any]:
    """Return the means over questions, by cut, kind and length, as fractions."""
    return {
        **{place: _means(scores, place) for place in PLACES},
        "by_category": _grouped(scores, "kind"),
        "by_length": _grouped(scores, "length"),
    }


def _grouped(scores: Sequence[QuestionScore], field: str) -> dict[str, Any]:
    found = {}
    for name in sorted({getattr(one, field) for one in scores} - {""}):
        chosen = [one for one in scores if getattr(one, field) == name]
        means = {place: _means(chosen, place) for place in ("turn", "session")}
        found[name] = {**means, "questions": len(chosen)}
    return found


def _means(scores: Sequence[QuestionScore], place: str) -> dict[str, float]:
    rows = [shares for one in scores if (shares := getattr(one, place))]
    count = max(1, len(rows))
    return {str(cut): round(sum(row[at] for row in rows) / count, 4) for at, cut in enumerate(CUTS)}


def report(
    conversations: Sequence[BenchConversation], embed: Embed | None = None
) -> dict[str, Any]:
    """Return the figures of plain FTS5, of a store without a model and, where one is given, with it."""
    ways: dict[str, dict[str, Any]] = {"plain_fts5": {"plain": True}, "without_model": {}}
    ways |= {"with_embedding": {"embed": embed}} if embed else {}
    figures: dict[str, Any] = {"conversations": len(conversations)}
    for way, settings in ways.items():
        scores = measure(conversations, **settings)
        figures |= {"questions": len(scores), way: summary(scores)}
    return figures
