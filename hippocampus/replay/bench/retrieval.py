"""Measures the share of the evidence for a question that a recall finds, and that plain FTS5 finds.

A message is a memory, and every conversation has its own store. Reads no data set, and fits nothing.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, NamedTuple

from hippocampus.facts.models import Embed, FactPolicy
from hippocampus.facts.store import Facts
from hippocampus.facts.words import content_words
from hippocampus.facts.write import store_many
from hippocampus.storage.facts.rows import Item, Origin
from hippocampus.storage.full_text import searching

CUTS = (5, 10, 20)
PLACES, HEADLINE_CUT = ("turn", "session", "all_pieces"), "10"
POLICY = FactPolicy(hide_below=0.0)
"""The questions ask for statements years old, so nothing is hidden for its age."""
DAY_SECONDS = 86_400.0
MessageKey = tuple[int, int]
"""The numbers of a session and of a message in it."""
Ranked = Callable[[str], list[MessageKey]]
"""Takes a question, and returns the keys of messages, best first."""


@dataclass(frozen=True, slots=True)
class BenchMessage:
    """A message, with its role and turn where they are known."""

    key: MessageKey
    text: str
    role: str = ""
    turn: int | None = None
    """The number of the model call; None is the number of the message."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the messages that answer it."""

    text: str
    kind: str
    evidence: frozenset[MessageKey]


@dataclass(frozen=True, slots=True)
class BenchConversation:
    """A conversation with its questions."""

    turns: tuple[BenchMessage, ...]
    questions: tuple[Question, ...]
    length: str = ""
    """The data set's name for the length of the conversation."""


Search = Callable[[BenchConversation], AbstractContextManager[Ranked]]
"""Opens a search over the messages of a conversation."""


class QuestionScore(NamedTuple):
    """The fraction of a question's evidence that is found, by cut."""

    kind: str
    length: str
    turn: tuple[float, ...]
    """The fraction of the messages among the first results."""
    session: tuple[float, ...]
    """The fraction of the sessions among the first sessions, ranked by their best message."""
    all_pieces: tuple[float, ...] = ()
    """1 where all messages are found, else 0; empty for evidence in a single message."""


@contextlib.contextmanager
def recalling(conversation: BenchConversation, embed: Embed | None = None) -> Iterator[Ranked]:
    """Yield a search over a store in memory, with the messages' keys in the metadata."""
    end = conversation.turns[-1].key[0] + 1 if conversation.turns else 1
    items = (
        Item(
            turn.text,
            type="event",
            origin=Origin(
                str(turn.key[0]), turn.key[1] if turn.turn is None else turn.turn, role=turn.role
            ),
            at=turn.key[0] * DAY_SECONDS + turn.key[1],
            metadata={"key": turn.key},
        )
        for turn in conversation.turns
    )
    with Facts(":memory:", settings=POLICY, embed=embed, clock=lambda: end * DAY_SECONDS) as facts:
        store_many(facts.tables, items)
        yield lambda text: [
            tuple(result.memory.metadata["key"]) for result in facts.recall(text, limit=-1)
        ]


@contextlib.contextmanager
def full_text(conversation: BenchConversation) -> Iterator[Ranked]:
    """Yield an FTS5 search for any content word of a question, ranked by BM25."""
    keys = [turn.key for turn in conversation.turns]
    with searching([turn.text for turn in conversation.turns]) as search:

        def ranked(text: str) -> list[MessageKey]:
            match = " OR ".join(f'"{word}"' for word in content_words(text))
            return [keys[place] for place in search(match)] if match else []

        yield ranked


def measure(
    conversations: Sequence[BenchConversation], search: Search = recalling
) -> list[QuestionScore]:
    """Return the scores of the questions with evidence."""
    found = []
    for conversation in conversations:
        known = {turn.key for turn in conversation.turns}
        with search(conversation) as ranked:
            for question in conversation.questions:
                if evidence := question.evidence & known:
                    keys = ranked(question.text)
                    found.append(score(question.kind, evidence, keys, conversation.length))
    return found


def score(
    kind: str, evidence: frozenset[MessageKey], ranked: Sequence[MessageKey], length: str = ""
) -> QuestionScore:
    """Return the fractions of the evidence among the first keys, by cut."""
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
    """Return the figures of plain FTS5, of a store without a model, and of a store with `embed`."""
    ways: dict[str, Search] = {"plain_fts5": full_text, "without_model": recalling}
    if embed:
        ways["with_embedding"] = functools.partial(recalling, embed=embed)
    figures: dict[str, Any] = {"conversations": len(conversations)}
    for way, search in ways.items():
        scores = measure(conversations, search)
        figures |= {"questions": len(scores), way: summary(scores)}
    return figures
