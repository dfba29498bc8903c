"""Which kept statements a new one ends by its own words. Only reads; nothing else ever ends one.

Where that is not certain, both stand, newest first, dated.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from hippocampus.facts.languages import expression
from hippocampus.facts.models import TRUSTED_ROLES
from hippocampus.facts.sentences import sentences
from hippocampus.facts.statements import (
    Denial,
    Shift,
    Statement,
    Swap,
    denies,
    prefers,
    read,
    uncorrected,
)
from hippocampus.facts.topics import coverage, holds, is_own, persons, topic
from hippocampus.facts.values import replaced_value, value_behind
from hippocampus.facts.words import MARKS, UNSPACED, key, normalised, spoken, words
from hippocampus.storage.facts.models import Memory

MOST = 0.6
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


KnownStatement = tuple[int, str, Statement]


def endings(
    new: Statement, memory: Memory, candidates: Sequence[tuple[int, Memory]]
) -> list[Ending]:
    """Return what a statement ends, of candidates that come newest first; a tool ends only its own words."""
    trusted = memory.origin.role in TRUSTED_ROLES
    known = (
        (row, sentence, old_statement)
        for row, old in candidates
        if (trusted or memory.origin.role == old.origin.role)
        for sentence in sentences(old.content)
        if normalised(sentence) != normalised(new.text)
        and not (old_statement := read(sentence)).hearsay
    )
    said = list(itertools.islice(known, MAX_COMPARED))
    found = _by_relation(new, said)
    found += [
        Ending(row, sentence, value, "the same words have another value since")
        for row, sentence, _ in said
        if new.sets and (value := replaced_value(sentence, new.text))
    ]
    for denial in new.ended:
        found += _by_denial(denial, said)
    for swap in new.swaps:
        found += _by_swap(new, swap, said)
    if not found:
        found = [ending for shift in new.shifts for ending in _by_shift(shift, said)]
    if not found and new.corrects:
        row, newest = candidates[0] if candidates else (None, memory)
        is_recent = 0 <= memory.valid_from - newest.valid_from <= RECENT_SECONDS
        found = _by_overlap(new, said, row if is_recent else None)
    return list({(each.row, each.sentence): each for each in found}.values())


def _by_relation(new: Statement, said: Iterable[KnownStatement]) -> list[Ending]:
    """Return the sentences with another value of a relation that has one at a time."""
    if (ours := new.relation) is None or not new.moves:
        return []
    reason = f"{ours.predicate.replace('_', ' ')} has one value at a time"
    return [
        Ending(row, sentence, theirs.object, reason)
        for row, sentence, old in said
        if (theirs := old.relation) is not None
        and (key(ours.subject), ours.predicate) == (key(theirs.subject), theirs.predicate)
        and key(ours.object) != key(theirs.object)
    ]


def _by_shift(shift: Shift, said: Sequence[KnownStatement]) -> list[Ending]:
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


def _by_denial(denial: Denial, said: Sequence[KnownStatement]) -> list[Ending]:
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


def _by_swap(new: Statement, swap: Swap, said: Sequence[KnownStatement]) -> list[Ending]:
    """Return the sentences whose value a statement replaces by its own words, where that is certain.

    Certain is a sentence with the same relation of the speaker, one on the same topic, or the
    only one that has the value where the statement names no other topic. No change of another person
    ends a statement of the speaker.
    """
    value = topic(swap.old)
    ours = persons(new.text)
    there = [each for each in said if holds(each[1], value)]
    there = [each for each in there if not ours or ours & persons(each[1])]
    if swap.rest and not is_own(new.text):
        there = [each for each in there if not _is_users(each[2], value)]
    about = [(_nearness(each[1], each[2], new, swap, value), each) for each in there]
    nearest = max((near for near, _ in about), default=0)
    close = [each for near, each in about if near and near == nearest]
    if not close:
        alone = [each for each in there if is_own(each[1])]
        is_name = swap.old != swap.old.lower() or swap.old == swap.old.upper()
        if len(alone) == 1 and (new.corrects or not swap.rest or is_name):
            close = alone
        elif len(there) == 1 and _IDENTIFIER.search(swap.old):
            close = there
    reason = f"it replaces {swap.old!r}"
    return [Ending(row, sentence, swap.old, reason) for row, sentence, _ in close]


_IDENTIFIER = re.compile(r"\w[_\d./-]\w|[a-zа-я][A-ZА-Я]")
"""What only a program, a file or a table is called."""


def _nearness(
    sentence: str, old: Statement, new: Statement, swap: Swap, value: frozenset[str]
) -> int:
    """Return how many words of its topic a sentence shares with a statement next to the replaced value."""
    shared = [word for word in topic(sentence) - value if holds(new.text, frozenset({word}))]
    either = f"{sentence} {swap.old} {swap.new}"
    for word in shared:  # another word may be before it in each, as in `docs repo` and `web repo`
        ours, theirs = _modifier(word, sentence), _modifier(word, new.text)
        is_other = ours and not holds(new.text, frozenset({ours}))
        if is_other and theirs and not holds(either, frozenset({theirs})):
            return 0
    return len(shared) or int(_is_users(old, value))


def _is_users(old: Statement, value: frozenset[str]) -> bool:
    """Return whether a statement gives the speaker a relation with a value."""
    relation = old.relation
    return bool(relation and key(relation.subject) == "user" and holds(relation.object, value))


def _modifier(word: str, text: str) -> str:
    """Return the topic word right before a word, or nothing."""
    found = words(text)
    place = next((at for at, each in enumerate(found) if holds(each, frozenset({word}))), 0)
    return found[place - 1] if place and found[place - 1] in topic(text) else ""


def _by_overlap(new: Statement, said: Sequence[KnownStatement], recent: int | None) -> list[Ending]:
    """Return the sentence that a correction is about: it differs in one value, shares most words, or alone shares any.

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
    share, row, sentence = max(shares, key=lambda each: each[0], default=(0.0, 0, ""))
    if (new.certain and len(shares) == 1) or share >= MOST:
        shared = [word for word in topic(sentence) if holds(new.text, frozenset({word}))]
        first = min(shared, key=normalised(sentence).find)
        return [Ending(row, sentence, first, reason)]
    return []


def _changes(sentence: str, text: str) -> list[tuple[list[str], list[str]]]:
    """Return the words of a sentence that a correction leaves out, each with those in their place.

    >>> _changes("the port of web is 80", "Wrong, the port of api is 8080")
    [(['web'], ['api']), (['80'], ['8080'])]
    """
    texts = sentence, " ".join(uncorrected(text))
    old, new = (_SPELLED.findall(normalised(each)) for each in texts)
    alike = SequenceMatcher(None, [each[:4] for each in old], [each[:4] for each in new])
    dated = expression(r"\d.*|{days}", spoken(sentence).code)
    changes = []
    for tag, a, b, c, d in alike.get_opcodes():
        is_mixed = (
            tag == "replace"
            and b - a == d - c
            and len({bool(dated.fullmatch(each)) for each in old[a:b]}) > 1
        )
        if is_mixed:  # `web 80` and `api 8080` are two values
            changes += [([one], [other]) for one, other in zip(old[a:b], new[c:d], strict=True)]
        elif tag != "equal":
            changes.append((old[a:b], new[c:d]))
    return [change for change in changes if any(topic(" ".join(side)) for side in change)]


_SPELLED = re.compile(rf"[{UNSPACED}]|(?:(?![{UNSPACED}])[^\W_]|[{MARKS}])+")
"""A word, or a character of a script without spaces."""
