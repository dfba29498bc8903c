"""Deep consolidation: notes in the ledger's outbox what a session leaves behind, then stores it.

It may be killed at any time and repeated: the outbox has what there is to do, the fact store keeps
each item once, and a session is consolidated when all items are stored. `extract` decides
which these are.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from hippocampus.consolidation.extract import (
    MESSAGE,
    PASTED,
    UPDATE,
    importance,
    key_of,
    statements,
    worth_keeping,
)
from hippocampus.consolidation.inputs import ConsolidationResources
from hippocampus.consolidation.transcript import Transcript, Utterance, transcript_of
from hippocampus.entries.entry import storable
from hippocampus.errors import HippocampusError
from hippocampus.facts import upkeep
from hippocampus.facts.sentences import RECALLED
from hippocampus.models import tokens
from hippocampus.session.ports import ConsolidationOutcome, KeptItem, SessionSnapshot, Speaker
from hippocampus.storage.ledger import Ledger, OutboxItem

if TYPE_CHECKING:
    from hippocampus.facts import Item

LOG = logging.getLogger("hippocampus")
READ_BY_MODEL = "asked"
"""The kind of an item that notes that a model has read a message; it is no fact."""
CONFIRMED = "confirmed"
"""The outcome of an item that notes that a printed memory was used."""


def consolidate(  # noqa: PLR0913, PLR0917 - one parameter an input
    session: SessionSnapshot,
    noted: Sequence[Utterance],
    ledger: Ledger,
    resources: ConsolidationResources,
    model_seconds: float,
    publish: Callable[[ConsolidationOutcome], bool],
) -> ConsolidationOutcome:
    """Store the lasting statements of a session, and return the new ones; repeating changes nothing.

    `noted` are statements that are no longer in the session's list. `publish` writes the files that
    people read, and returns whether it could.

    Raises:
        StoreError: the ledger cannot be read or written.

    """
    change = ledger.pending()
    outbox = ledger.outbox()
    conversation = transcript_of(session.messages, noted)
    found = worth_keeping(
        session.name, conversation, session.records, resources.policy, session.turn
    )
    new = [each for each in found if each.key not in outbox]
    ledger.save_outbox(new)
    waiting = [item for item in [*outbox.values(), *new] if not item.outcome]
    model = Judge(resources.complete, model_seconds)
    unread = _unread(session.name, conversation, outbox) if model.is_there else {}
    try:
        stored = _stored(waiting, session, resources, model, list(unread.values()))
    except HippocampusError as failure:  # the outbox keeps the items for the next consolidation
        LOG.warning("session %s: not consolidated yet: %s", session.name, failure)
        return ConsolidationOutcome(session.name, session.turn, (), finished=False)
    if model.tokens:
        stored += [_noted(key, each.turn) for key, each in unread.items()]
    ledger.save_outbox(
        _confirmed(session, conversation, ledger.context_load() or "", {*outbox}, resources)
    )
    kept = tuple(
        KeptItem(
            item.text,
            _type_of(item),
            cast("Speaker", item.origin),
            session.name,
            item.turn,
            item.entry_id,
            item.fact_id,
            item.outcome,
        )
        for item in stored
        if not _is_message(item) and item.kind != READ_BY_MODEL and item.fact_id
    )
    outcome = ConsolidationOutcome(
        session.name, session.turn, kept, finished=True, model_tokens=model.tokens
    )
    # Before the outbox is updated: a kill here, or a failure of these files, publishes them again.
    if stored and not publish(outcome):
        return replace(outcome, finished=False)
    ledger.save_outbox(stored)
    ledger.consolidated(change)
    return outcome


class Judge:
    """A model that is asked once, within a time, and whose cost is counted."""

    def __init__(self, complete: Callable[[str], str] | None, seconds: float) -> None:
        self._complete = complete
        self.seconds = seconds
        self.tokens = 0
        """Of the prompt and the answer, as estimated; 0 until it has answered."""

    @property
    def is_there(self) -> bool:
        """Return whether there is a model, and time for it."""
        return self._complete is not None and self.seconds > 0

    def __call__(self, prompt: str) -> str:
        """Return the model's answer; without one, an empty text."""
        try:
            answer = self._complete(prompt) if self._complete else ""
        except Exception:  # the model is the user's code, and consolidation works without it
            LOG.warning("nothing from the model: the rules decide", exc_info=True)
            return ""
        self.tokens = tokens.count(prompt) + tokens.count(answer)
        return answer


def _unread(session: str, conversation: Transcript, known: Collection[str]) -> dict[str, Utterance]:
    """Return the user's messages that no model has read yet, by the keys under which that is noted."""
    return {
        key: each
        for each in conversation.utterances
        if each.role == "user" and (key := key_of(session, READ_BY_MODEL, each.text)) not in known
    }


def _noted(key: str, turn: int) -> OutboxItem:
    return OutboxItem(key, "", READ_BY_MODEL, "user", turn, None, 0, "", READ_BY_MODEL)


def _stored(
    items: Sequence[OutboxItem],
    session: SessionSnapshot,
    resources: ConsolidationResources,
    model: Judge,
    unread: Sequence[Utterance],
) -> list[OutboxItem]:
    """Store items in the fact store, with what a model finds among unread messages; return them with the outcomes.

    Raises:
        HippocampusError: nothing is stored.

    """
    if not items and not unread:
        return []
    from hippocampus.facts import write

    facts = resources.facts()
    agent = session.agent or facts.agent
    claims = {item.key: item for item in items if not item.word_by_word}
    verbatim = [item for item in items if item.word_by_word]
    asked = statements(session.name, unread)
    requests = {
        item.key: replace(write.claim(each), only_if_ending=item.kind == UPDATE)
        for item, each in zip(claims.values(), _facts(claims.values(), session), strict=True)
    }
    decided, known = write.judged(
        facts.tables,
        [write.claim(each) for each in _facts(asked, session)],
        agent,
        model,
        model.seconds,
    )
    for item, request in zip(asked, decided, strict=True):
        if (judgement := request.decision) is None:
            continue
        # What the user reports of others is theirs only where it ends what the user said.
        ends = judgement.action in {"update", "end"} and bool(judgement.known)
        if ends or item.key in claims or not (request.statement and request.statement.hearsay):
            (fact,) = _facts([claims.setdefault(item.key, item)], session)
            plain = judgement._replace(text="")  # the words are the user's, not the model's
            requests[item.key] = replace(request, item=fact, decision=plain)
    # Messages come first, so that a claim of a later one ends what it corrects in them too.
    texts = write.store_many(facts.tables, _facts(verbatim, session), agent=agent)
    done = list(zip(verbatim, texts, strict=True))
    outcomes = write.keep(facts.tables, [requests[key] for key in claims], agent, known)
    done += zip(claims.values(), outcomes, strict=True)
    updates = {item.text for item, kept in done if not _is_message(item) and kept.memory}
    facts.delete(
        kept.memory.id
        for item, kept in done
        if item.kind == MESSAGE and item.text in updates and kept.memory
    )
    return [
        replace(
            item,
            text="" if _is_message(item) else item.text,  # a message is in the fact store
            fact_id=remembered.memory.id if remembered.memory else "",
            outcome=remembered.action.replace("_", " "),
        )
        for item, remembered in done
    ]


def _confirmed(
    session: SessionSnapshot,
    conversation: Transcript,
    opening: str,
    known: Collection[str],
    resources: ConsolidationResources,
) -> list[OutboxItem]:
    """Confirm the memories that were printed into a session and that its answers used, each once."""
    printed = [opening, *(each.text for each in conversation.utterances if each.role == "user")]
    printed += conversation.results
    shown = [text for text in printed if RECALLED.search(text)]
    answers = " ".join(each.text for each in conversation.utterances if each.role == "assistant")
    if not shown or not answers:
        return []
    try:
        facts = resources.facts()
        used = upkeep.used(facts.tables, "\n".join(shown), answers, session.agent or facts.agent)
        fresh = {
            key: each
            for each in used
            if (key := key_of(session.name, CONFIRMED, each)) not in known
        }
        facts.confirm(fresh.values())
    except HippocampusError as failure:  # a use that is not counted harms nothing
        LOG.warning("session %s: uses not confirmed: %s", session.name, failure)
        return []
    return [
        OutboxItem(key, "", READ_BY_MODEL, "host", session.turn, None, 0, each, CONFIRMED)
        for key, each in fresh.items()
    ]


def _facts(items: Iterable[OutboxItem], session: SessionSnapshot) -> Iterator[Item]:
    from hippocampus.facts import Item, Origin
    from hippocampus.facts.models import HEARSAY

    for item in items:
        yield Item(
            item.text,
            type=_type_of(item),
            intensity=importance(item.origin, item.kind),
            tags=(HEARSAY,) if item.kind == PASTED else (),
            origin=Origin(storable(session.name), item.turn, item.entry_id or "", item.origin),
            once=item.key,
        )


def _type_of(item: OutboxItem) -> str:
    return {UPDATE: "fact", PASTED: "note"}.get(item.kind, item.kind)


def _is_message(item: OutboxItem) -> bool:
    return item.kind in {MESSAGE, PASTED} and bool(item.word_by_word)
