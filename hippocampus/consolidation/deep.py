"""Deep consolidation: what a session is to leave behind, noted in its ledger, then kept in the facts.

It may die at any moment and be repeated: the note says what there is to do, the fact store keeps
each thing once, and a session is done when all of it is. What is worth keeping is `keeping`'s.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from hippocampus.consolidation import llm_extract
from hippocampus.consolidation.extract import Found, importance, key_of, worth_keeping
from hippocampus.consolidation.inputs import Means, Session
from hippocampus.consolidation.outcome import Kept, Origin, Outcome
from hippocampus.consolidation.transcript import Heard, heard
from hippocampus.entries.entry import storable
from hippocampus.errors import HippocampusError
from hippocampus.storage.ledger import Ledger, Mark

if TYPE_CHECKING:
    from hippocampus.facts import Item
    from hippocampus.facts import Outcome as Remembered

LOG = logging.getLogger("hippocampus")
ASKED = "asked"
"""The kind of the mark that a model has read a message; it is no fact."""
SAID = "event"
"""The kind of a message that is kept word by word."""


def consolidate(session: Session, ledger: Ledger, means: Means) -> Outcome:
    """Keep what of a session is worth it, and say what became new by that; again changes nothing.

    Raises:
        StoreError: the ledger cannot be read or written.

    """
    change = ledger.pending()
    marks = ledger.marks()
    conversation = heard(session.messages, session.noted)
    found = worth_keeping(session.name, conversation, session.records, means.policy, session.turn)
    new = [_mark(each) for each in found if each.key not in marks]
    new += _by_model(session.name, conversation, marks | {each.key: each for each in new}, means)
    ledger.mark(new)
    open_marks = [mark for mark in [*marks.values(), *new] if not mark.outcome]
    kept = _kept(open_marks, session, means)
    told = tuple(_told(each, session.name) for each in kept if _is_told(each))
    outcome = Outcome(session.name, session.turn, told, len(kept) == len(open_marks))
    # Before the marks say so: who dies here, or cannot write these files, tells it again.
    if kept and not means.leave(outcome):
        return replace(outcome, finished=False)
    ledger.mark(kept)
    if outcome.finished:
        ledger.consolidated(change)
    return outcome


def _mark(found: Found) -> Mark:
    kept = found.kept
    return Mark(
        found.key,
        kept.text,
        kept.kind,
        kept.origin,
        kept.turn,
        kept.entry_id,
        int(found.word_by_word),
    )


def _by_model(
    session: str, conversation: Heard, known: Mapping[str, Mark], means: Means
) -> list[Mark]:
    """Return the marks of what a model finds in messages that it has not read yet."""
    if means.complete is None:
        return []
    unread = {
        key: each
        for each in conversation.utterances
        if each.role == "user" and (key := key_of(session, ASKED, each.text)) not in known
    }
    seconds = means.policy.consolidation.model_seconds
    found = llm_extract.asked(session, list(unread.values()), means.complete, seconds)
    if found is None:
        return []
    read = [
        Mark(key, "", ASKED, "user", each.turn, None, 0, "", ASKED) for key, each in unread.items()
    ]
    return [*(_mark(each) for each in found if each.key not in known), *read]


def _kept(marks: Sequence[Mark], session: Session, means: Means) -> list[Mark]:
    """Return the marks of what is in the fact store, with what became of each."""
    if not marks:
        return []
    try:
        facts = means.facts()
        claims = [mark for mark in marks if not mark.word_by_word]
        words = [mark for mark in marks if mark.word_by_word]
        agent = session.agent or None
        done = list(
            zip(claims, facts.remember_many(_items(claims, session), agent=agent), strict=True)
        )
        done += zip(words, facts.store_many(_items(words, session), agent=agent), strict=True)
    except HippocampusError as failure:  # what is noted is kept by the next consolidation
        LOG.warning("session %s: not consolidated yet: %s", session.name, failure)
        return []
    return [_done(mark, outcome) for mark, outcome in done]


def _items(marks: Sequence[Mark], session: Session) -> Iterator[Item]:
    from hippocampus.facts import Item
    from hippocampus.facts import Origin as Source

    for mark in marks:
        yield Item(
            mark.text,
            type=mark.kind,
            intensity=importance(mark.origin, mark.kind),
            origin=Source(storable(session.name), mark.turn, mark.entry_id or "", mark.origin),
            once=mark.key,
        )


def _done(mark: Mark, remembered: Remembered) -> Mark:
    memory_id = remembered.memory.id if remembered.memory else ""
    text = "" if _is_said(mark) else mark.text  # a message stands in the fact store
    return replace(mark, text=text, fact_id=memory_id, outcome=remembered.action.replace("_", " "))


def _is_said(mark: Mark) -> bool:
    return mark.kind == SAID and bool(mark.word_by_word)


def _is_told(mark: Mark) -> bool:
    """Say whether a mark is of something that a log or a file tells, and no message or refusal."""
    return not _is_said(mark) and mark.kind != ASKED and bool(mark.fact_id)


def _told(mark: Mark, session: str) -> Kept:
    return Kept(
        mark.text,
        mark.kind,
        cast("Origin", mark.origin),
        session,
        mark.turn,
        mark.entry_id,
        mark.fact_id,
        mark.outcome,
    )
