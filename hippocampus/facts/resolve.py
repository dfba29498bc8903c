"""Which kept statements a new one ends by its own words. Only reads; nothing else ever ends one.

Where that is not certain, both are kept, newest first, dated.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from hippocampus.facts.languages import expression
from hippocampus.facts.models import TRUSTED_ROLES
from hippocampus.facts.sentences import sentences
from hippocampus.facts.statements import (
    AND,
    Denial,
    Shift,
    Statement,
    Swap,
    denies,
    prefers,
    read,
    uncorrected,
)
from hippocampus.facts.topics import coverage, holds, is_own, persons, same_stem, small_words, topic
from hippocampus.facts.value_changes import replaced_value, value_behind
from hippocampus.facts.words import SIGN_OR_WORD, key, normalised, spoken, words
from hippocampus.storage.facts.rows import Memory

MIN_SHARED = 0.6
"""The share of a statement's words that a correction of it has, where other statements have some too."""
MAX_COMPARED = 200
"""How many sentences a statement is compared with, of the newest memories."""
RECENT_SECONDS = 3600
"""How long after a statement a bare correction may mean it."""


class Ending(NamedTuple):
    """A sentence of a kept memory that a statement ends, and why."""

    row: int
    sentence: str
    old: str
    """The value in it that is so no longer; empty where the whole sentence is."""
    reason: str


class KnownSentence(NamedTuple):
    """A sentence of a kept memory, and its statement."""

    row: int
    sentence: str
    statement: Statement


def endings(
    new: Statement, memory: Memory, candidates: Sequence[tuple[int, Memory]]
) -> list[Ending]:
    """Return what a statement ends, of candidates that come newest first; a tool ends only its own words."""
    trusted = memory.origin.role in TRUSTED_ROLES
    known = (
        KnownSentence(row, sentence, stated)
        for row, old in candidates
        if (trusted or memory.origin.role == old.origin.role)
        for sentence in sentences(old.content)
        if normalised(sentence) != normalised(new.text) and not (stated := read(sentence)).hearsay
    )
    said = list(itertools.islice(known, MAX_COMPARED))
    found = _by_relation(new, said) if new.moves else []
    found += [
        Ending(row, sentence, value, "the same words have another value since")
        for row, sentence, _ in said
        if new.sets and (value := replaced_value(sentence, new.text))
    ]
    for denial in new.ended:
        found += _by_denial(denial, said)
    for clause in new.denied:
        found += _by_negation(clause, said)
    for swap in new.swaps:
        found += _by_swap(new, swap, said)
    # What names no old value ends something only where nothing else did.
    if not found:
        found = [ending for shift in new.shifts for ending in _by_shift(shift, said)]
    if not found and new.corrects:
        row, newest = candidates[0] if candidates else (None, memory)
        is_recent = 0 <= memory.valid_from - newest.valid_from <= RECENT_SECONDS
        found = _by_overlap(new, said, row if is_recent else None)
    whole = {}  # where a sentence joins several statements, the new one names the rest of it too
    for end in found:
        rest = topic(end.sentence) - topic(end.old)
        is_joint = expression(AND, spoken(end.sentence).code).search(end.sentence)
        if not is_joint or not rest or holds(new.text, rest):
            whole[end.row, end.sentence] = end
    return list(whole.values())


def _by_relation(new: Statement, said: Sequence[KnownSentence]) -> list[Ending]:
    """Return the sentences whose relation has one value at a time, and another one than the statement's."""
    return [
        Ending(
            row,
            sentence,
            theirs.object,
            f"{ours.predicate.replace('_', ' ')} has one value at a time",
        )
        for ours in new.relations
        for row, sentence, old in said
        for theirs in old.relations
        if (key(ours.subject), ours.predicate) == (key(theirs.subject), theirs.predicate)
        and key(ours.object) != key(theirs.object)
    ]


def _by_negation(clause: str, said: Sequence[KnownSentence]) -> list[Ending]:
    """Return the sentences that have the words of a clause with a `not`, besides small ones and inflections."""
    about, who = topic(clause), persons(clause)
    return [
        Ending(row, sentence, "", "it is denied")
        for row, sentence, _ in said
        if not denies(sentence)
        and holds(clause, topic(sentence))
        and holds(sentence, about)
        and persons(sentence) == who
    ]


def _by_shift(shift: Shift, said: Sequence[KnownSentence]) -> list[Ending]:
    """Return the one sentence that gives a thing a value of the kind that it has another of."""
    thing = topic(shift.thing)
    there = [
        Ending(row, sentence, value, f"it has another value: {shift.value!r}")
        for row, sentence, _ in said
        if holds(sentence, thing)
        and persons(sentence) == persons(shift.thing)
        and (value := value_behind(sentence, shift.thing, shift.value))
    ]
    return there if len(there) == 1 else []


def _by_denial(denial: Denial, said: Sequence[KnownSentence]) -> list[Ending]:
    """Return the sentences that state what a clause denies.

    Of one word that names it, only where a single statement has it.
    """
    what, subject = topic(denial.what) or frozenset(words(denial.what)), topic(denial.subject)
    clause = f"{denial.subject} {denial.what}"
    who, own = persons(clause), is_own(clause)
    there = [
        Ending(row, sentence, "", "it is so no longer")
        for row, sentence, _ in said
        if coverage(what, sentence) == 1
        and (not subject or holds(sentence, subject))
        and (who == (theirs := persons(sentence)) or (who < theirs and not own))
    ]
    return there if len(what) > 1 or len(there) == 1 else []


def _by_swap(new: Statement, swap: Swap, said: Sequence[KnownSentence]) -> list[Ending]:
    """Return the sentences whose value a statement replaces by name, where one has all of the other's topic.

    `B instead of A` for one thing ends nothing of another thing that has A. A statement that names no
    topic ends the only sentence with the value.
    """
    value, ours = topic(swap.old), persons(new.text)
    there = [
        Ending(row, sentence, swap.old, f"it replaces {swap.old!r}")
        for row, sentence, _ in said
        if holds(sentence, value) and persons(sentence) == ours
    ]
    if not swap.rest and len({end.sentence for end in there}) == 1:
        sentence = there[0].sentence
        if new.corrects or is_own(sentence):
            return there
    return [
        end
        for end in there
        if holds(end.sentence, swap.rest) or holds(new.text, topic(end.sentence) - value)
    ]


def _by_overlap(new: Statement, said: Sequence[KnownSentence], recent: int | None) -> list[Ending]:
    """Return the sentence that a correction is about: it differs in one value, shares most words, or is the only one that shares any.

    It may name the wrong value before the right one.
    """
    reason = "it corrects what was said"
    right = next(reversed(uncorrected(new.text)), "")
    shares = []
    for row, sentence, _ in said:
        about = topic(sentence)
        share = coverage(about, new.text)
        if share < 1:
            changes = _changes(sentence, new.text)
            values = [change for change in changes if len(change[0]) == len(change[1]) == 1]
            if len(values) > 1 or (values and values[0][0] == words(sentence)[:1]):
                continue
            is_kind = values and values[0][0] != words(sentence)[-1:]
            if is_kind and not new.certain and prefers(sentence):
                continue  # one may like two kinds of a thing
            value, other = changes[0] if len(changes) == 1 else ([], [])
            if denies(right) and holds(right, topic(" ".join(other))):
                continue  # a value that is denied is not the right one
            is_other = len(about) > len(value) and not prefers(sentence)
            is_meant = is_other or (row == recent and len(value) == 1)
            if value and other and is_meant:
                return [Ending(row, sentence, value[0], reason)]
        if share:
            shares.append((share, row, sentence))
    share, row, sentence = max(shares, key=lambda pair: pair[0], default=(0.0, 0, ""))
    if (new.certain and len(shares) == 1) or share >= MIN_SHARED:
        shared = [word for word in topic(sentence) if holds(new.text, frozenset({word}))]
        first = min(shared, key=normalised(sentence).find)
        return [Ending(row, sentence, first, reason)]
    return []


def _changes(sentence: str, text: str) -> list[tuple[list[str], list[str]]]:
    """Return the words of a sentence that a correction leaves out, each with those in their place.

    >>> _changes("the port of web is 80", "Wrong, the port of api is 8080")
    [(['web'], ['api']), (['80'], ['8080'])]
    >>> _changes("The tests take port 54321", "No, the test takes port 54322")
    [(['54321'], ['54322'])]
    """
    texts = sentence, " ".join(uncorrected(text))
    old, new = (SIGN_OR_WORD.findall(normalised(side)) for side in texts)
    stems = [next((known for known in old if same_stem(known, word)), word) for word in new]
    alike = SequenceMatcher(None, old, stems)
    dated = expression(r"\d.*|{days}", spoken(sentence).code)
    changes = []
    for tag, a, b, c, d in alike.get_opcodes():
        is_mixed = (
            tag == "replace"
            and b - a == d - c
            and len({bool(dated.fullmatch(word)) for word in old[a:b]}) > 1
        )
        if is_mixed:  # `web 80` and `api 8080` are two values
            changes += [([one], [other]) for one, other in zip(old[a:b], new[c:d], strict=True)]
        elif tag != "equal":
            changes.append((old[a:b], new[c:d]))
    small = small_words(sentence)
    return [change for change in changes if not small.issuperset([*change[0], *change[1]])]
