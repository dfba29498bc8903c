"""Which kept statements a new one ends by its own words. Only reads; nothing else ever ends one.

What is not certain here stays: both stand, newest first, dated.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from hippocampus.facts.languages import language_of, pattern
from hippocampus.facts.models import TRUSTED_ROLES, Memory
from hippocampus.facts.names import Relation, key
from hippocampus.facts.statements import (
    THIRD,
    Statement,
    Swap,
    holds,
    is_own,
    read,
    sentences,
    subject_of,
    topic,
    units,
)
from hippocampus.facts.words import UNSPACED, normalised, words

FEW_WORDS = 2
BEFORE = "… "
"""Opens a role that stands in the clause before its value."""
NAME_WORDS, LONGEST_UNSPACED_NAME = 3, 4
"""How long a name is at most: in words, and in characters of a script without spaces."""
CORRECTION_WORDS = 14
"""A longer sentence corrects by naming what it corrects, or not at all."""
OVERLAP = 0.34
"""The share of a statement's words that a correction of it has, where other statements have some too."""
RECENT, SPELT, ALIKE = 5, 4, 0.7
"""How many statements are searched for a word that is spelt nearly the same, its letters, and their likeness."""
_NAME = re.compile(r"[A-ZÀ-ÞА-ЯЁ][\w.'-]*$")
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
        found += _by_role(new, said)
    elif new.measured and not found:
        found += _by_role(new, [each for each in said if each[2].measured], numbers=True)
    if new.certain and new.corrects and not found and len(words(new.text)) <= CORRECTION_WORDS:
        found += _by_overlap(new, said) or _by_shape(new, said)
    return list({(each.row, each.sentence): each for each in found}.values())


def _may_be_ended(old: Memory, new: Memory) -> bool:
    """Return whether who said the new statement may end the old one: a tool ends only its own."""
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
            if holds(sentence, what)
            and (
                any(holds(_still(old), frozenset({word})) for word in topic(clause))
                if old.ended
                else not subject
                or subject_of(sentence) == subject
                or topic(sentence) <= topic(clause)
            )
        ]
        found += there if len(what) >= FEW_WORDS or len(there) == 1 else []
    return found


def _still(old: Statement) -> str:
    """Return what a statement says is so, without the clauses that say what is so no longer."""
    rules = language_of(old.text, words(old.text)).rules
    if not old.ended or rules is None:
        return old.text
    ended = pattern(rules.ended)
    return " ".join(each for each in old.clauses if not ended.search(each)) or old.text


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
        and (
            new.corrects
            or (
                (corrects or not swap.rest or (new.changed and _is_name(swap.old)))
                and (is_own(there[0][1]) or not THIRD.isdisjoint(words(new.text)))
            )
        )
    ):
        close = there
    if not close and new.corrects and there and _is_short(swap):
        close = there
    chosen = close[:1] if corrects else close
    return [
        Ending(row, sentence, swap.old, f"it replaces {swap.old!r}") for row, sentence, _ in chosen
    ]


def _is_name(value: str) -> bool:
    """Return whether a value has a capital or a digit; in a script without capitals, any has."""
    return value.lower() != value or value.upper() == value


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
    """Return whether a shared word has another word next to it in each, which distinguishes two things.

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


def _by_role(new: Statement, said: Iterable[Said], *, numbers: bool = False) -> list[Ending]:
    """Return the newest sentence that gives the same role or quantity another value.

    `The treasurer is Ann` and `Bo is the treasurer now` name one role; a name replaces a name, a number a number.
    """
    for row, sentence, old in said:
        for ours in _roles(new):
            for theirs in _roles(old):
                for role, value in (ours, ours[::-1]):
                    for other_role, other in (theirs, theirs[::-1]):
                        if numbers and not (
                            topic(role) == topic(other_role)
                            and re.search(r"\d", value)
                            and re.search(r"\d", other)
                        ):
                            continue
                        if _same_role(role, other_role) and _same_kind(value, other, role):
                            return [Ending(row, sentence, other, "the same role has another value")]
    return []


def _roles(statement: Statement) -> Iterator[tuple[str, str]]:
    """Yield what stands on both sides of the one copula of each clause; a role may stand in the clause before."""
    before = ""
    for clause in statement.clauses:
        rules = language_of(clause, words(clause)).rules
        parts = pattern(rules.copula).split(_NOW.sub(" ", clause).strip()) if rules else []
        if len(parts) == 2 and parts[1].strip():
            if topic(parts[0]):
                yield parts[0].strip(), parts[1].strip()
            elif before:
                yield f"{BEFORE}{before}", parts[1].strip()
        before = clause


def _same_role(one: str, other: str) -> bool:
    ours, theirs = topic(one), topic(other)
    if one.startswith(BEFORE) or other.startswith(BEFORE):
        return bool(ours and theirs) and (ours <= theirs or theirs <= ours)
    return bool(theirs) and (ours == theirs or (theirs <= ours and _ends_like(one, other)))


def _ends_like(one: str, other: str) -> bool:
    """Return whether the longer of two names of a role has its additions in front: `as of May the treasurer`."""
    rules = language_of(one, words(one)).rules
    last = [word for word in words(other) if word in topic(other)][-1:]
    following = rules is not None and rules.modifiers_follow
    return bool(last) and (following or words(one)[-1:] == last)


def _same_kind(one: str, other: str, role: str) -> bool:
    """Return whether two values are both names, or both numbers in one unit, and differ."""
    if key(one) == key(other):
        return False
    if re.search(r"\d", one) and re.search(r"\d", other):
        return _alike(_shape(one), _shape(other))
    if topic(one) & topic(other):
        return False
    names = [_names(value) for value in (one, other)]
    if re.search(f"[{UNSPACED}]", role):
        return all(len(value) <= LONGEST_UNSPACED_NAME for value in (one, other)) and _is_thing(
            role
        )
    return all(0 < len(each) <= NAME_WORDS and all(map(_NAME.match, each)) for each in names)


def _names(value: str) -> list[str]:
    """Return the words of a value without small ones such as `at`."""
    small = language_of(value, words(value)).stop_words
    return [word for word in re.findall(r"[\w.'-]+", value) if word.lower() not in small]


def _is_thing(role: str) -> bool:
    """Return whether a role names no person of the speaker's, of whom more than one thing is true."""
    rules = language_of(role, words(role)).rules
    return rules is None or not any(each in role for each in rules.people.split())


def _by_overlap(new: Statement, said: Iterable[Said]) -> list[Ending]:
    """Return the sentence that a correction is about: the one that shares most of its words, or alone shares any."""
    text = " ".join(new.clauses)
    shares: list[tuple[float, int, str]] = []
    for row, sentence, _ in said:
        theirs = topic(sentence)
        shared = {word for word in theirs if holds(text, frozenset({word}))}
        if shared and shared != theirs:
            shares.append((len(shared) / len(theirs), row, sentence))
    if not shares:
        return []
    share, row, sentence = max(shares, key=lambda each: each[0])
    return (
        [Ending(row, sentence, "", "it corrects what was said")]
        if len(shares) == 1 or share >= OVERLAP
        else []
    )


def _by_shape(new: Statement, said: Sequence[Said]) -> list[Ending]:
    """Return the statement that a short correction is about by the form of its value alone.

    That is the one right before with a number of the same form, or the newest with a word spelt nearly the same.
    """
    text = " ".join(new.clauses)
    if not said or len(words(text)) > SHORT_WORDS:
        return []
    row, sentence, _ = said[0]
    if _alike(_shape(text), _shape(sentence)):
        return [Ending(row, sentence, "", "it corrects what was said")]
    for row, sentence, _ in said[:RECENT]:
        for one in topic(text):
            for other in topic(sentence):
                if (
                    one != other
                    and min(len(one), len(other)) >= SPELT
                    and SequenceMatcher(None, one, other).ratio() >= ALIKE
                ):
                    return [Ending(row, sentence, other, "it corrects what was said")]
    return []


def _shape(text: str) -> frozenset[tuple[str, str]]:
    """Return the forms of the numbers of a text with their units: 8:05 and 9:15 have one form."""
    found = re.findall(r"([A-Za-zА-Яа-я]{0,4}-?\d[\w:.,/-]*)(?:\s?([^\W\d_]+|[%$€£₽°]))?", text)
    return frozenset((re.sub(r"\d+", "0", number.strip(" .,")), unit) for number, unit in found)


def _alike(ours: Iterable[tuple[str, str]], theirs: Iterable[tuple[str, str]]) -> bool:
    return any(a == b and (u == v or not u or not v) for a, u in ours for b, v in theirs)


_NOW = re.compile(
    r"\b(?:now|again|actually|currently|correction|sorry|jetzt|nun|wieder|inzwischen|mittlerweile|ahora|ya|maintenant|désormais|теперь|сейчас|уже"
    r"|الآن|حاليا|अब)\b|现在|目前|已经"
)
