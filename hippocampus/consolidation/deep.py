"""Deep consolidation: stores what a session leaves behind, each statement with the mark that it was read.

It may be killed at any time and repeated: marked statements are stored, all others are read again.
`extract` decides what a session leaves.
"""

from __future__ import annotations

import itertools
import json
import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from hippocampus.consolidation.extract import (
    MESSAGE,
    PASTED,
    UPDATE,
    Extracted,
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
from hippocampus.session.ports import ConsolidationOutcome, KeptItem, SessionSnapshot
from hippocampus.storage import consolidated
from hippocampus.storage.ledger import Ledger

if TYPE_CHECKING:
    from hippocampus.facts import Facts, Item, Outcome
    from hippocampus.facts.write import KnownStatement, MemoryRequest

    Wanted = tuple[Extracted, MemoryRequest]

LOG = logging.getLogger("hippocampus")
READ_BY_MODEL = "asked"
"""The origin in the key of a message that a model has read."""
BATCH = 16
"""The statements of a transaction: under 50 ms, so that turns of other sessions meet their deadline."""
CONFIRMED = "confirmed"
"""The origin in the key of a printed memory whose use is counted."""


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
    conversation = transcript_of(session.messages, noted)
    found = worth_keeping(
        session.name, conversation, session.records, resources.policy, session.turn
    )
    printed = _printed(conversation, ledger.context_load() or "")
    model = Judge(resources.complete, model_seconds)
    try:
        facts = resources.facts()
        db = facts.tables.database
        _store(facts, session, conversation, found, printed, model)
        with db.guarded():
            unpublished = consolidated.unpublished(db.connection, session.name)
    except HippocampusError as failure:  # nothing is marked: the next consolidation reads it again
        LOG.warning("session %s: not consolidated yet: %s", session.name, failure)
        return ConsolidationOutcome(session.name, session.turn, (), finished=False)
    kept = tuple(KeptItem(**json.loads(shown)) for shown in unpublished if shown)
    outcome = ConsolidationOutcome(
        session.name, session.turn, kept, finished=True, model_tokens=model.tokens
    )
    # A kill before they are noted as published, or a failure of the files, publishes them again.
    if unpublished and not publish(outcome):
        return replace(outcome, finished=False)
    with db.transaction():
        consolidated.publish(db.connection, session.name, change)
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


def _store(  # noqa: PLR0913, PLR0917 - one parameter an input
    facts: Facts,
    session: SessionSnapshot,
    conversation: Transcript,
    found: Sequence[Extracted],
    printed: str,
    model: Judge,
) -> None:
    """Store what was not read yet, with what a model finds in it, and mark it as read.

    Raises:
        HippocampusError: nothing is stored.

    """
    from hippocampus.facts import write

    tables, db = facts.tables, facts.tables.database
    agent = session.agent or facts.agent
    with db.guarded():
        read = consolidated.keys(db.connection, session.name)
    new = [each for each in found if each.key not in read]
    unread = _unread(session.name, conversation, read) if model.is_there else {}
    asked = [
        each for each in statements(session.name, list(unread.values())) if each.key not in read
    ]
    messages = [item for item in new if item.word_by_word]
    claims, requests, known = _claims(facts, session, new, asked, model)
    texts = [write.verbatim(tables, each) for each in _facts(messages, session)]
    wanted = [*zip(messages, texts, strict=True), *zip(claims, requests, strict=True)]
    for batch in _batches(wanted):
        ready, named = write.prepared(tables, [request for _, request in batch], agent, known)
        with db.transaction():
            if consolidated.keys(db.connection, session.name) != read:
                break
            outcomes = write.written(tables, agent, ready, named)
            done = list(zip([item for item, _ in batch], outcomes, strict=True))
            updates = {item.text for item, kept in done if not _is_message(item) and kept.memory}
            facts.delete(
                kept.memory.id
                for item, kept in done
                if item.kind == MESSAGE and item.text in updates and kept.memory
            )
            marks = {item.key: _shown(item, kept, session) for item, kept in done}
            consolidated.add(db.connection, session.name, marks.items())
        read, known = {*read, *marks}, named
    else:
        with db.transaction():
            if consolidated.keys(db.connection, session.name) == read:
                used = _confirmed(facts, session, conversation, printed, read)
                seen = dict.fromkeys([*used, *(unread if model.tokens else ())])
                consolidated.add(db.connection, session.name, seen.items())
                return
    _store(facts, session, conversation, found, printed, model)  # another process read some of it


def _batches(wanted: Iterable[Wanted]) -> Iterator[list[Wanted]]:
    """Yield the statements of each transaction, in the order of the session; a message comes before its claim.

    A turn of another session waits for one batch at most.
    """
    batch: list[Wanted] = []
    places: dict[str, int] = {}
    ordered = sorted(
        wanted,
        key=lambda pair: (
            pair[0].turn,
            places.setdefault(pair[0].text, len(places)),
            not _is_message(pair[0]),
        ),
    )
    for _, same in itertools.groupby(ordered, key=lambda pair: pair[0].text):
        batch += same
        if len(batch) >= BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _claims(
    facts: Facts,
    session: SessionSnapshot,
    new: Sequence[Extracted],
    asked: Sequence[Extracted],
    model: Judge,
) -> tuple[list[Extracted], list[MemoryRequest], Mapping[str, KnownStatement]]:
    """Return the claims among new items, and those that a model finds among `asked`, with their requests."""
    from hippocampus.facts import write

    claims = {item.key: item for item in new if not item.word_by_word}
    requests = {
        item.key: replace(write.claim(each), only_if_ending=item.kind == UPDATE)
        for item, each in zip(claims.values(), _facts(claims.values(), session), strict=True)
    }
    decided, known = write.judged(
        facts.tables,
        [write.claim(each) for each in _facts(asked, session)],
        session.agent or facts.agent,
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
    return list(claims.values()), [requests[key] for key in claims], known


def _printed(conversation: Transcript, opening: str) -> str:
    """Return the texts of a session in which memories were printed."""
    texts = [opening, *(each.text for each in conversation.utterances if each.role == "user")]
    return "\n".join(text for text in [*texts, *conversation.results] if RECALLED.search(text))


def _confirmed(
    facts: Facts,
    session: SessionSnapshot,
    conversation: Transcript,
    printed: str,
    read: Collection[str],
) -> list[str]:
    """Confirm the printed memories that answers used, each once; return the keys of these uses."""
    answers = " ".join(each.text for each in conversation.utterances if each.role == "assistant")
    if not printed or not answers:
        return []
    used = upkeep.used(facts.tables, printed, answers, session.agent or facts.agent)
    fresh = {
        key: each for each in used if (key := key_of(session.name, CONFIRMED, each)) not in read
    }
    facts.confirm(fresh.values())
    return list(fresh)


def _facts(items: Iterable[Extracted], session: SessionSnapshot) -> Iterator[Item]:
    from hippocampus.facts import Item, Origin
    from hippocampus.storage.facts.models import HEARSAY

    for item in items:
        yield Item(
            item.text,
            type=_type_of(item),
            intensity=importance(item.origin, item.kind),
            tags=(HEARSAY,) if item.kind == PASTED else (),
            origin=Origin(storable(session.name), item.turn, item.entry_id or "", item.origin),
        )


def _shown(item: Extracted, stored: Outcome, session: SessionSnapshot) -> str:
    """Return what files show of an item, as JSON; empty for a message, and for what was not stored."""
    if _is_message(item) or stored.memory is None:
        return ""
    kept = KeptItem(
        item.text,
        _type_of(item),
        item.origin,
        session.name,
        item.turn,
        item.entry_id,
        stored.memory.id,
        stored.action.replace("_", " "),
    )
    return json.dumps(asdict(kept))


def _type_of(item: Extracted) -> str:
    return {UPDATE: "fact", PASTED: "note"}.get(item.kind, item.kind)


def _is_message(item: Extracted) -> bool:
    return item.kind in {MESSAGE, PASTED} and item.word_by_word
