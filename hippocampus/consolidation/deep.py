"""Deep consolidation: stores what a session leaves, each statement with the mark that it was read.

It may be killed at any time and repeated: marked statements are stored, all others are read again.
`extract` decides what a session leaves.
"""

from __future__ import annotations

import json
import logging
import math
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from hippocampus.consolidation.extract import Extracted, key_of, statements, worth_keeping
from hippocampus.consolidation.memory_file import publish
from hippocampus.consolidation.scheduler import ConsolidationResources
from hippocampus.consolidation.transcript import Transcript, Utterance, transcript_of
from hippocampus.errors import HippocampusError
from hippocampus.facts import write
from hippocampus.models import tokens
from hippocampus.session.resources import (
    END_SECONDS,
    ConsolidationOutcome,
    KeptItem,
    SessionSnapshot,
)
from hippocampus.storage import consolidated
from hippocampus.storage.deadline import bounded
from hippocampus.storage.ledger import Ledger

if TYPE_CHECKING:
    from hippocampus.facts.models import Outcome
    from hippocampus.facts.store import Facts
    from hippocampus.facts.write import MemoryRequest, ShownSentence

LOG = logging.getLogger("hippocampus")
READ_BY_MODEL = "asked"
"""The origin in the key of a message that a model has read."""
BATCH = 16
"""The statements of a transaction: under 50 ms, so that turns of other sessions meet their deadline."""
BATCH_SECONDS = 2 * END_SECONDS
"""How long a transaction waits for other writers of a file."""


def consolidate(
    session: SessionSnapshot,
    noted: Sequence[Utterance],
    ledger: Ledger,
    resources: ConsolidationResources,
    model_seconds: float,
) -> ConsolidationOutcome:
    """Store the lasting statements of a session, and return the new ones; repeating changes nothing.

    `noted` are statements that are no longer in the session's list. The files that people read in a
    directory get them too.

    Raises:
        StoreError: the ledger cannot be read or written.
    """
    change = ledger.pending()
    conversation = transcript_of(session.messages, noted)
    model = Judge(resources.complete, model_seconds)
    try:
        facts = resources.facts()
        db = facts.tables.database
        # An earlier run knew the message that announced a text, which the list may have lost since.
        read = consolidated.keys(db, session.name)
        said = tuple(
            replace(one, is_announced=one.is_announced or _announced_key(session, one) in read)
            for one in conversation.utterances
        )
        conversation = replace(conversation, utterances=said)
        found = worth_keeping(
            session.name, conversation, session.records, resources.policy, session.turn
        )
        while not _store(facts, session, conversation, found, model):
            pass
        unpublished = consolidated.unpublished(db, session.name)
    except HippocampusError as failure:  # nothing is marked: the next consolidation reads it again
        LOG.warning("session %s: not consolidated yet: %s", session.name, failure)
        return ConsolidationOutcome(session.name, session.turn, (), finished=False)
    kept = tuple(KeptItem(**json.loads(shown)) for shown in unpublished if shown)
    outcome = ConsolidationOutcome(
        session.name, session.turn, kept, finished=True, model_tokens=model.tokens
    )
    # A kill before they are noted as published, or a failure of the files, publishes them again.
    layout = resources.state.layout if unpublished else None
    if layout and not publish(layout, outcome, facts, resources.policy, time.time()):
        return replace(outcome, finished=False)
    with db.transaction():
        consolidated.publish(db, session.name, change)
    return outcome


class Judge:
    """A model that is asked once, within a time, and whose cost is counted."""

    def __init__(self, complete: Callable[[str], str] | None, seconds: float) -> None:
        self._complete = complete if seconds > 0 else None
        self.seconds = seconds
        self.is_there = self._complete is not None
        """Whether there is a model, and time for it."""
        self.tokens = 0
        """Of the prompt and the answer, as estimated; 0 until it has answered."""

    def __call__(self, prompt: str) -> str:
        """Return the model's answer; without one, an empty text."""
        try:
            answer = self._complete(prompt) if self._complete else ""
        except Exception:  # the model is the user's code, and consolidation works without it
            LOG.warning("nothing from the model: the rules decide", exc_info=True)
            return ""
        self.tokens = tokens.count(prompt) + tokens.count(answer)
        return answer


def _store(
    facts: Facts,
    session: SessionSnapshot,
    conversation: Transcript,
    found: Extracted,
    model: Judge,
) -> bool:
    """Store what was not read yet, with what a model finds in it, and mark it as read.

    Returns whether that is all: another process may have read some of it meanwhile.
    """
    tables, db = facts.tables, facts.tables.database
    agent = session.agent or facts.agent
    read = consolidated.keys(db, session.name)
    new = {key: request for key, request in found.items() if key not in read}
    unread = {  # the user's messages that no model has read yet
        key: utterance
        for utterance in (conversation.utterances if model.is_there else ())
        if utterance.role == "user"
        and (key := key_of(session.name, READ_BY_MODEL, utterance.text)) not in read
    }
    claims, known = _claims(facts, agent, session.name, new, list(unread.values()), read, model)
    waiting = {key: request for key, request in new.items() if request.kind != "fact"} | claims
    # In the order of the session, a claim before its message, which is left out where a fact has its words.
    contents = dict.fromkeys(request.item.content for request in waiting.values())
    places = {content: number for number, content in enumerate(contents)}

    def place(key: str) -> tuple[int, int, bool]:
        item = waiting[key].item
        return item.origin.turn or 0, places[item.content], waiting[key].only_if_no_fact

    ordered = sorted(waiting, key=place)
    for batch in (ordered[at : at + BATCH] for at in range(0, len(ordered), BATCH)):
        requests = [waiting[key] for key in batch]
        ready, named = write.prepare(tables, requests, agent, known)
        with bounded(BATCH_SECONDS if db.is_local else math.inf), db.transaction():
            if consolidated.keys(db, session.name) != read:
                return False
            outcomes = write.write_prepared(tables, agent, ready, named)
            marks = {
                key: _shown(request, outcome, session)
                for key, request, outcome in zip(batch, requests, outcomes, strict=True)
            }
            consolidated.add(db, session.name, marks.items())
        read, known = {*read, *marks}, named
    announced = {
        _announced_key(session, said) for said in conversation.utterances if said.is_announced
    }
    if seen := dict.fromkeys([*(unread if model.tokens else ()), *(announced - read)]):
        with db.transaction():
            if consolidated.keys(db, session.name) != read:
                return False
            consolidated.add(db, session.name, seen.items())
    return True


def _announced_key(session: SessionSnapshot, said: Utterance) -> str:
    return key_of(session.name, "announced", said.text)


def _claims(  # noqa: PLR0913, PLR0917 - one parameter an input
    facts: Facts,
    agent: str,
    session: str,
    new: Extracted,
    unread: Sequence[Utterance],
    read: Collection[str],
    model: Judge,
) -> tuple[Extracted, Mapping[str, ShownSentence]]:
    """Return the claims among new statements, and those that a model finds in unread messages."""
    claims = {key: request for key, request in new.items() if request.kind == "fact"}
    asked = {key: one for key, one in statements(session, unread).items() if key not in read}
    decided, known = write.ask_judge(facts.tables, [*asked.values()], agent, model, model.seconds)
    for key, request in zip(asked, decided, strict=True):
        if (judgement := request.decision) is None:
            continue
        # What the user reports of others is theirs only where it ends what the user said.
        ends = judgement.action in {"update", "end"} and bool(judgement.known)
        if ends or key in claims or not (request.statement and request.statement.hearsay):
            item = replace(claims.get(key, request).item, tags=())
            plain = judgement._replace(text="")  # the words are the user's, not the model's
            claims[key] = replace(request, item=item, decision=plain)
    return claims, known


def _shown(request: MemoryRequest, stored: Outcome, session: SessionSnapshot) -> str:
    """Return what files show of a statement, as JSON; empty for a message, and for what was not stored."""
    if request.only_if_no_fact or stored.memory is None:
        return ""
    item, origin = request.item, request.item.origin
    shown = {
        "text": item.content,
        "kind": item.type,
        "origin": origin.role,
        "session": session.name,
        "turn": origin.turn,
        "entry_id": origin.entry_id or None,
        "fact_id": stored.memory.id,
        "outcome": stored.action.replace("_", " "),
    }
    return json.dumps(shown)
