"""Remembering: claims and contents to rows, in chunks of one transaction each.

Everything that can fail by itself (models, limits) happens before a row is written, so that what was
done before a failure stays done.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from hippocampus.entries.entry import storable
from hippocampus.facts import extraction, llm_judge, minhash, secrets
from hippocampus.facts.claims import Claim, parse
from hippocampus.facts.comparing import Chunk, Comparing, Wanted
from hippocampus.facts.conflict import Relationship, likeness
from hippocampus.facts.errors import FactError
from hippocampus.facts.fact_tables import Matrix, Rooms
from hippocampus.facts.ids import new_id
from hippocampus.facts.memories import hashed, made
from hippocampus.facts.models import Action, Complete, Item, Memory, Outcome, Triple
from hippocampus.facts.strength import running_mean
from hippocampus.facts.timestamps import optional_seconds

CHUNK = 1000


class Remembering:
    """Writes what is remembered and stored."""

    def __init__(self, rooms: Rooms, complete: Complete | None) -> None:
        self._rooms = rooms
        self._complete = complete
        self._comparing = Comparing(rooms, asks=complete is not None)

    # What is wanted -----------------------------------------------------------------------------

    def drafts(self, text: str) -> list[extraction.Draft]:
        """Return the claims of a text: the model's if there is one and it answers, else by rules.

        Secrets are taken out before, so that no model sees them and no raw text holds them.
        """
        text = self.without_secrets(text)
        if self._complete is not None:
            answer = llm_judge.asked(self._complete, extraction.prompt(text))
            found = extraction.from_answer(answer, text) if answer else None
            if found is not None:
                return found
        return extraction.by_rules(text)

    def without_secrets(self, text: str) -> str:
        """Return a text without secrets, unless the policy keeps them."""
        return text if self._rooms.policy.keep_secrets else secrets.redacted(text)

    def remember(self, item: Item, drafts: Sequence[extraction.Draft], agent: str) -> list[Outcome]:
        """Keep the claims of one text."""
        return self.keep([self._wanted_fact(item, draft) for draft in drafts], agent)

    def _wanted_fact(self, item: Item, draft: extraction.Draft) -> Wanted:
        intensity = item.intensity if item.intensity is not None else draft.intensity
        return Wanted(
            replace(item, content=draft.content),
            "fact",
            item.type or draft.type,
            self._rooms.policy.importance if intensity is None else intensity,
            draft.raw,
            parse(draft.content),
            draft.relations,
        )

    def claim(self, item: Item) -> Wanted:
        """Return a text as one claim, as it is."""
        return self._wanted_fact(item, extraction.draft_of(item.content, type_name=item.type))

    def content(self, item: Item) -> Wanted:
        """Return a content as it is, to be kept word by word."""
        intensity = self._rooms.policy.importance if item.intensity is None else item.intensity
        return Wanted(
            item,
            "memory",
            item.type or self._rooms.policy.type,
            intensity,
            "",
            Claim(item.content, negated=False, changed=False, positive="", relation=None),
            (),
        )

    # Keeping --------------------------------------------------------------------------------------

    def keep(self, wanted: Iterable[Wanted], agent: str) -> list[Outcome]:
        """Write what is wanted, a thousand to a transaction, each seeing those before it."""
        outcomes: list[Outcome] = []
        chunk: list[Wanted] = []
        for one in wanted:
            chunk.append(one)
            if len(chunk) == CHUNK:
                outcomes += self._keep_chunk(chunk, agent)
                chunk = []
        return outcomes + (self._keep_chunk(chunk, agent) if chunk else [])

    def _keep_chunk(self, wanted: list[Wanted], agent: str) -> list[Outcome]:
        good, refused = [], {}
        for place, one in enumerate(wanted):
            reason = self._refusal(one)
            if reason:
                refused[place] = Outcome(Action.REFUSED, reason, None)
            else:
                good.append(one)
        kept = iter(self._write(self._prepared(good, agent), agent)) if good else iter(())
        return [refused[place] if place in refused else next(kept) for place in range(len(wanted))]

    def _refusal(self, wanted: Wanted) -> str:
        if not 0 <= wanted.intensity <= 1:
            raise FactError(f"intensity {wanted.intensity} is not between 0 and 1")
        for at in (wanted.item.at, wanted.item.valid_from, wanted.item.valid_until):
            optional_seconds(at)
        return self._rooms.refusal(wanted.item.content)

    def _prepared(self, wanted: list[Wanted], agent: str) -> list[Wanted]:
        """Return texts with their signatures, bands and vectors."""
        facts = [one for one in wanted if one.kind == "fact"]
        signed = dict(
            zip(map(id, facts), minhash.signatures([f.item.content for f in facts]), strict=True)
        )
        vectors = self._rooms.embedded([one.item.content for one in wanted])
        return [
            _signed(one, signed.get(id(one)), None if vectors is None else vectors[place], agent)
            for place, one in enumerate(wanted)
        ]

    def _write(self, wanted: list[Wanted], agent: str) -> list[Outcome]:
        judged = self._judged(wanted, agent, self._complete) if self._complete else {}
        with self._rooms.database.transaction():
            chunk = self._opened(wanted, agent)
            chunk.judged = judged
            outcomes = [self._once(one, chunk) for one in wanted]
            self._index(chunk)
        return outcomes

    def _judged(
        self, wanted: list[Wanted], agent: str, complete: Complete
    ) -> dict[tuple[str, str], Relationship]:
        """Find the pairs that rules leave open by a trial that is taken back, and ask once."""
        open_pairs: list[tuple[str, str]] = []
        try:
            with self._rooms.database.transaction():
                chunk = self._opened(wanted, agent)
                open_pairs = chunk.open_pairs
                for one in wanted:
                    self._once(one, chunk)
                raise _TakenBackError  # noqa: TRY301 - what leaves the block rolls back
        except _TakenBackError:
            self._rooms.forget_cached()
        pairs = list(dict.fromkeys(open_pairs))
        if not pairs:
            return {}
        answer = llm_judge.asked(complete, llm_judge.question(pairs))
        found = llm_judge.verdicts(answer, len(pairs))
        return dict(zip(pairs, found, strict=True))

    def _opened(self, wanted: list[Wanted], agent: str) -> Chunk:
        """Return a chunk that knows which of its contents may be there; inside a transaction."""
        memories = self._rooms.memories
        hashes = memories.hashes_among(hashed(one.item.content, one.kind) for one in wanted)
        return Chunk(agent, memories.next_row(), hashes=hashes)

    def _index(self, chunk: Chunk) -> None:
        rows = chunk.rows
        memories = self._rooms.memories
        memories.index((row, storable(one.item.content)) for row, one in rows.items())
        memories.sketch((row, " ".join(one.bands)) for row, one in rows.items() if one.bands)
        vectors = {row: one.vector for row, one in rows.items() if one.vector is not None}
        self._rooms.put_vectors(vectors)

    # One claim --------------------------------------------------------------------------------------

    def _once(self, wanted: Wanted, chunk: Chunk) -> Outcome:
        """Keep a claim, but for one that counts once and has counted."""
        key = wanted.item.once
        if not key:
            return self._keep_one(wanted, chunk)
        receipt = self._rooms.memories.receipt(key)
        if receipt is None:
            outcome = self._keep_one(wanted, chunk)
            kept = outcome.memory.id if outcome.memory else ""
            self._rooms.memories.give_receipt(key, kept, outcome.action)
            return outcome
        memory_id, action = receipt
        found = self._rooms.memories.by_id([memory_id]).get(memory_id)
        return Outcome(Action(action), "it was kept before", found[1] if found else None)

    def _keep_one(self, wanted: Wanted, chunk: Chunk) -> Outcome:
        item = wanted.item
        now = self._rooms.clock()
        at = now if item.at is None else item.at
        known = hashed(item.content, wanted.kind)
        same = known in chunk.hashes and self._rooms.memories.with_hash(
            known, wanted.kind, chunk.agent, item.scope
        )
        if same:
            return self._strengthen(same[0], wanted, at, "the same text")
        chunk.hashes.add(known)
        memory = made(
            item,
            new_id(at),
            wanted.kind,
            chunk.agent,
            at,
            type_name=wanted.type,
            intensity=wanted.intensity,
            raw=wanted.raw,
        )
        if wanted.kind == "memory":
            return self._added(wanted, memory, chunk, Action.ADDED, "new")
        return self._resolve(wanted, memory, chunk)

    def _resolve(self, wanted: Wanted, memory: Memory, chunk: Chunk) -> Outcome:
        """Compare a claim with all that is close, and do what follows."""
        if wanted.relations:
            resolved = tuple(self._rooms.triples.resolved(chunk.agent, r) for r in wanted.relations)
            wanted = replace(wanted, relations=resolved)
        verdicts = self._comparing.verdicts(wanted, memory, chunk)
        beaten = [row for row, v in verdicts.items() if v.relationship is Relationship.SUPERSEDES]
        if beaten:
            return self._supersede(wanted, memory, chunk, beaten, verdicts[beaten[0]].reason)
        for row, verdict in verdicts.items():
            if verdict.relationship is Relationship.DUPLICATE:
                return self._strengthen(row, wanted, memory.created, verdict.reason)
            if verdict.relationship is Relationship.EXTENDS:
                return self._merge(wanted, memory, chunk, row, verdict.reason)
        near = {row: v for row, v in verdicts.items() if v.relationship is Relationship.UNCLEAR}
        if near:
            reason = next(iter(near.values())).reason
            outcome = self._added(wanted, memory, chunk, Action.KEPT_APART, reason)
            ids = tuple(m.id for m in self._rooms.memories.by_row(near).values())
            return replace(outcome, others=ids)
        return self._added(wanted, memory, chunk, Action.ADDED, "new")

    # What follows -----------------------------------------------------------------------------------

    def _added(
        self, wanted: Wanted, memory: Memory, chunk: Chunk, action: Action, reason: str
    ) -> Outcome:
        row = chunk.next_row
        chunk.next_row += 1
        chunk.rows[row] = wanted
        for band in wanted.bands:
            chunk.by_band.setdefault(band, []).append(row)
        if wanted.vector is not None:
            memory = replace(memory, embedding_model=self._rooms.embed_model)
        sign = None if wanted.signature is None else minhash.packed(wanted.signature)
        self._rooms.memories.insert([(row, memory, sign)])
        for relation in wanted.relations:
            self._rooms.triples.add(row, memory, relation)
        triples: tuple[Triple, ...] = ()
        if wanted.relations:
            triples = self._rooms.triples.of_rows([row]).get(row, ())
        return Outcome(action, reason, memory, triples=triples)

    def _strengthen(self, row: int, wanted: Wanted, at: float, reason: str) -> Outcome:
        old = self._rooms.memories.by_row([row])[row]
        intensity = running_mean(old.intensity, old.encounters, wanted.intensity)
        self._rooms.memories.strengthen(row, intensity, at)
        memory = self._rooms.memories.by_row([row])[row]
        return Outcome(Action.STRENGTHENED, reason, memory, others=(memory.id,))

    def _merge(
        self, wanted: Wanted, memory: Memory, chunk: Chunk, row: int, reason: str
    ) -> Outcome:
        """Let the fuller text stand for the shorter one, from the time at which that was true."""
        old = self._rooms.memories.by_row([row])[row]
        fuller = replace(
            memory,
            intensity=running_mean(old.intensity, old.encounters, memory.intensity),
            encounters=old.encounters + 1,
            accesses=old.accesses,
            valid_from=min(old.valid_from, memory.valid_from),
        )
        outcome = self._added(wanted, fuller, chunk, Action.MERGED, reason)
        self._rooms.end(row, fuller.id, until=old.valid_from, known=memory.created)
        return replace(outcome, others=(old.id,))

    def _supersede(
        self, wanted: Wanted, memory: Memory, chunk: Chunk, rows: list[int], reason: str
    ) -> Outcome:
        """Close what a claim replaces; a claim about an earlier time is history from the start."""
        olds = self._rooms.memories.by_row(rows)
        later = [old for old in olds.values() if old.valid_from > memory.valid_from]
        if later:
            first = min(later, key=lambda old: old.valid_from)
            past = replace(
                memory,
                valid_until=first.valid_from,
                superseded_by=first.id,
                known_until=memory.created,
            )
            reason = f"it was true before {first.content!r}"
            return replace(
                self._added(wanted, past, chunk, Action.ADDED, reason), others=(first.id,)
            )
        outcome = self._added(wanted, memory, chunk, Action.SUPERSEDED, reason)
        for row in rows:
            self._rooms.end(row, memory.id, until=memory.valid_from, known=memory.created)
        return replace(outcome, others=tuple(olds[row].id for row in rows))


def _signed(
    wanted: Wanted, signature: minhash.Signature | None, vector: Matrix | None, agent: str
) -> Wanted:
    if signature is None:
        return replace(wanted, vector=vector)
    alike = likeness(wanted.claim)
    bands = minhash.bands_in(signature, agent, wanted.item.scope, alike)
    return replace(wanted, signature=signature, bands=bands, vector=vector)


class _TakenBackError(Exception):
    """Ends a trial."""
