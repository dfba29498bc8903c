"""Which kept statements a new one ends by its own words. Only reads; nothing else ever ends one.

What is not certain here stays: both stand, newest first, dated.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from hippocampus.facts.languages import language_of
from hippocampus.facts.models import TRUSTED_ROLES, Memory
from hippocampus.facts.statements import (
    Relation,
    Statement,
    Swap,
    holds,
    is_own,
    key,
    read,
    sentences,
    subject_of,
    topic,
    units,
)
from hippocampus.facts.words import normalised, words

FEW_WORDS = 2
SHORT_WORDS = 8
"""A correction that says no more than both values means the newest statement that has the old one."""


class Ending(NamedTuple):
    """A sentence of a kept memory that a statement ends, and why."""

    row: int
    sentence: str
    old: str
    """The value in it that is so no longer; empty where the whole sentence is."""
    reason: str


def endings(
    new: Statement, memory: Memory, candidates: Sequence[tuple[int, Memory]]
) -> list[Ending]:
    """Return what a statement ends, of candidates that come newest first."""
    if not new.may_end or new.hearsay:
        return []
    said = [
        (row, sentence, read(sentence))
        for row, old in candidates
        if _may_be_ended(old, memory)
        for sentence in sentences(old.content)
        if normalised(sentence) != normalised(new.text)
    ]
    said = [each for each in said if not each[2].hearsay]
    found = [*_by_relation(new, said), *_by_end(new, said)]
    for swap in new.swaps:
        found += _by_swap(new, swap, said)
    if (new.corrects or new.changed) and not found:
        found += _by_frame(new, said)
    return list({(each.row, each.sentence): each for each in found}.values())


def _may_be_ended(old: Memory, new: Memory) -> bool:
    """Return whether who said the new statement may end the old one: a tool ends nobody else's."""
    return new.origin.role in TRUSTED_ROLES or new.origin.role == old.origin.role


Said = tuple[int, str, Statement]


def _by_relation(new: Statement, said: Iterable[Said]) -> list[Ending]:
    if new.relation is None:
        return []
    return [
        Ending(
            row,
            sentence,
            old.relation.object,
            f"{new.relation.predicate.replace('_', ' ')} has one value at a time",
        )
        for row, sentence, old in said
        if old.relation is not None and _other_value(new.relation, old.relation)
    ]


def _other_value(new: Relation, old: Relation) -> bool:
    same = (key(new.subject), new.predicate) == (key(old.subject), old.predicate)
    return (
        same and key(new.object) != key(old.object) and units(new.object) == units(old.object)
    ) or (
        same
        and key(new.object) != key(old.object)
        and not (units(new.object) and units(old.object))
    )


def _by_end(new: Statement, said: Sequence[Said]) -> list[Ending]:
    """Return the sentences that say what a clause says to be so no longer.

    Of one word that names it, only where a single statement has it.
    """
    found = []
    for clause in new.ended:
        subject = subject_of(clause)
        what = topic(clause) - {subject}
        if not what:
            what, subject = topic(clause) or frozenset(words(clause)), ""
        there = [
            Ending(row, sentence, "", "it is so no longer")
            for row, sentence, old in said
            if holds(_still(old), what) and (not subject or subject_of(sentence) == subject)
        ]
        found += there if len(what) >= FEW_WORDS or len(there) == 1 else []
    return found


def _still(old: Statement) -> str:
    """Return what a statement says is so, without the clauses that say what is so no longer."""
    return (
        " ".join(old.clauses)
        if not old.ended
        else " ".join(old.clauses[1:]) or " ".join(old.clauses)
    )


def _by_swap(new: Statement, swap: Swap, said: Sequence[Said]) -> list[Ending]:
    """Return the sentence whose value a statement says it replaces, where that is certain.

    Certain is what says the same relation of the speaker, or is on the same topic, or is the only one
    that has the value where the statement names no topic at all.
    """
    value = _digits(swap.old) or topic(swap.old) or frozenset(words(swap.old))
    there = [each for each in said if holds(each[1], value)]
    close = [each for each in there if _is_about(each[1], each[2], swap, value)]
    corrects = new.corrects or swap.corrects
    if (
        not close
        and len(there) == 1
        and (new.corrects or ((corrects or not swap.rest) and is_own(there[0][1])))
    ):
        close = there
    if not close and new.corrects and there and _is_short(swap):
        close = there
    chosen = close[:1] if corrects else close
    return [
        Ending(row, sentence, swap.old, f"it replaces {swap.old!r}") for row, sentence, _ in chosen
    ]


def _is_about(sentence: str, old: Statement, swap: Swap, value: frozenset[str]) -> bool:
    if (
        old.relation is not None
        and key(old.relation.subject) == "user"
        and holds(old.relation.object, value)
    ):
        return True
    rest = [word for word in topic(sentence) if not holds(swap.old, frozenset({word}))]
    shared = [word for word in rest if holds(swap.whole, frozenset({word}))]
    return bool(shared) and not any(_conflicts(word, sentence, swap) for word in shared)


def _conflicts(shared: str, sentence: str, swap: Swap) -> bool:
    """Return whether a shared word has another word next to it in each, which tells two things apart.

    `docs repo` is not `web repo`.
    """
    ours, theirs = _modifier(shared, sentence), _modifier(shared, swap.whole)
    return bool(
        ours
        and theirs
        and not holds(swap.whole, frozenset({ours}))
        and not holds(sentence, frozenset({theirs}))
        and not holds(f"{swap.old} {swap.new}", frozenset({theirs}))
    )


def _modifier(word: str, text: str) -> str:
    """Return the topic word right before a word, or behind it where the language has it there; or nothing."""
    found = words(text)
    rules = language_of(text, found).rules
    step = 1 if rules is not None and rules.modifiers_follow else -1
    place = next((at for at, each in enumerate(found) if holds(each, frozenset({word}))), -1) + step
    return found[place] if 0 <= place < len(found) and found[place] in topic(text) else ""


def _digits(value: str) -> frozenset[str]:
    return frozenset(word for word in words(value) if word.isdigit())


def _is_short(swap: Swap) -> bool:
    return len(words(swap.whole)) <= SHORT_WORDS


def _by_frame(new: Statement, said: Iterable[Said]) -> list[Ending]:
    """Return the newest sentence that says the same up to a value, where the new one says that it changed."""
    for row, sentence, old in said:
        for clause in new.clauses:
            for part in old.clauses:
                if value := _other_end(_plain(clause), _plain(part), corrects=new.corrects):
                    return [Ending(row, sentence, value, "the same words give another value")]
    return []


_NOW = re.compile(
    r"\b(?:now|again|actually|currently|correction|sorry|jetzt|nun|wieder|inzwischen|mittlerweile|ahora|ya|maintenant|désormais|теперь|сейчас|уже"
    r"|الآن|حاليا|अब)\b|现在|目前|已经"
)


def _plain(clause: str) -> list[str]:
    return words(" ".join(_NOW.sub(" ", clause.lower()).split()))


def _other_end(new: list[str], old: list[str], *, corrects: bool) -> str:
    """Return the old value where two clauses begin alike and then give another number."""
    shared = 0
    while shared < min(len(new), len(old)) and new[shared] == old[shared]:
        shared += 1
    if shared < FEW_WORDS or shared in (len(new), len(old)):
        return ""
    ours, theirs = new[shared:], old[shared:]
    numbers = ours[0][:1].isdigit() and theirs[0][:1].isdigit()
    if not numbers or (len(ours) > 1 and len(theirs) > 1 and ours[1] != theirs[1] and not corrects):
        return ""
    return " ".join(theirs[:2]) if len(ours) > 1 else theirs[0]
