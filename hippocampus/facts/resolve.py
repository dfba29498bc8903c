"""Which kept statements a new one ends by its own words. Only reads; nothing else ever ends one.

Where that is not certain, both stand, newest first, dated.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import NamedTuple

from hippocampus.facts.languages import SpokenLanguage, language_of, pattern
from hippocampus.facts.models import TRUSTED_ROLES, Memory
from hippocampus.facts.names import ARTICLE, key
from hippocampus.facts.statements import (
    THIRD,
    Denial,
    Statement,
    Swap,
    holds,
    is_own,
    persons,
    read,
    sentences,
    small_words,
    topic,
    units,
)
from hippocampus.facts.words import UNSPACED, normalised, words

VALUE_WORDS = 4
"""How many topic words a role or its value has at most."""
SHORT_WORDS, ALIKE = 8, 0.7
"""How long a correction is that may be known by its form alone, and how alike two spellings of one word are."""
OVERLAP = 0.34
"""The share of a statement's words that a correction of it has, where other statements have some too."""
MOST = 0.6
"""The share of a denied clause that what it ends has."""


PURPOSE = frozenset({"for", "für", "para", "pour", "для", "给", "为"})
"""Words before a name that is no value, but separates two things of one kind."""
ID_DIGITS = 5
"""A number of this many digits is no amount, it names something."""
_RUN = re.compile(f"[{UNSPACED}]")


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
    if not new.may_end or new.hearsay:
        return []
    trusted = memory.origin.role in TRUSTED_ROLES
    said = [
        (row, sentence, old_statement)
        for row, old in candidates
        if trusted or memory.origin.role == old.origin.role
        for sentence in sentences(old.content)
        if normalised(sentence) != normalised(new.text)
        and not (old_statement := read(sentence)).hearsay
    ]
    found = _by_relation(new, said)
    for denial in new.ended:
        found += _by_denial(denial, said)
    for swap in new.swaps:
        found += _by_swap(new, swap, said)
    found = found or _by_frame(new, said) or _by_role(new, said) or _by_head(new, said)
    if not found and new.corrects and new.certain:
        found = _by_overlap(new, said) or _by_form(new, said)
    return list({(each.row, each.sentence): each for each in found}.values())


def _by_relation(new: Statement, said: Iterable[KnownStatement]) -> list[Ending]:
    """Return the sentences with another value of a relation that has one at a time."""
    if (ours := new.relation) is None:
        return []
    reason = f"{ours.predicate.replace('_', ' ')} has one value at a time"
    return [
        Ending(row, sentence, theirs.object, reason)
        for row, sentence, old in said
        if (theirs := old.relation) is not None
        and (key(ours.subject), ours.predicate) == (key(theirs.subject), theirs.predicate)
        and key(ours.object) != key(theirs.object)
    ]


def _share(wanted: Iterable[str], text: str) -> float:
    """Return the share of some words that a text has."""
    found = [holds(text, frozenset({word})) for word in wanted]
    return sum(found) / len(found) if found else 0.0


def _by_denial(denial: Denial, said: Sequence[KnownStatement]) -> list[Ending]:
    """Return the sentences that state what a clause denies.

    Of one word that names it, only where a single statement has it.
    """
    clause = f"{denial.subject} {denial.what}"
    what, subject = topic(denial.what) or frozenset(words(denial.what)), topic(denial.subject)
    there = [
        (share, Ending(row, sentence, "", "it is so no longer"))
        for row, sentence, _ in said
        if (share := _share(what, sentence)) >= MOST
        and (not subject or holds(sentence, subject))
        and _same_person(clause, sentence)
    ]
    best = max((share for share, _ in there), default=0.0)
    there = [each for each in there if each[0] == best]
    return [ending for _, ending in there] if len(what) > 1 or len(there) == 1 else []


def _same_person(clause: str, sentence: str) -> bool:
    """Return whether a clause may be about the person that a sentence is about."""
    ours, theirs = persons(clause), persons(sentence)
    if ours or theirs:
        return ours <= theirs and (theirs <= ours or not is_own(clause))
    return is_own(sentence) or not is_own(clause) or topic(sentence) <= topic(clause)


def _by_swap(new: Statement, swap: Swap, said: Sequence[KnownStatement]) -> list[Ending]:
    """Return the sentences whose value a statement replaces by its own words, where that is certain.

    Certain is a sentence with the same relation of the speaker, one on the same topic, or the
    only one that has the value where the statement names no other topic.
    """
    value = frozenset(word for word in words(swap.old) if word.isdigit()) or topic(swap.old)
    ours = persons(new.text)
    there = [each for each in said if holds(each[1], value)]
    there = [each for each in there if not (ours and (who := persons(each[1]))) or ours & who]
    about = [(_nearness(each[1], each[2], new, swap, value), each) for each in there]
    nearest = max((near for near, _ in about), default=0)
    close = [each for near, each in about if near and near == nearest]
    if not close:
        meant = THIRD.isdisjoint(words(new.text)) and not new.corrects
        alone = [each for each in there if is_own(each[1])] if meant else there
        is_name = swap.old != swap.old.lower() or swap.old == swap.old.upper()
        if len(alone) == 1 and (new.corrects or not swap.rest or is_name):
            close = alone
    reason = f"it replaces {swap.old!r}"
    return [Ending(row, sentence, swap.old, reason) for row, sentence, _ in close]


def _nearness(
    sentence: str, old: Statement, new: Statement, swap: Swap, value: frozenset[str]
) -> int:
    """Return how many words of its topic a sentence shares with a statement next to the replaced value."""
    shared = [word for word in topic(sentence) - value if holds(new.text, frozenset({word}))]
    shared = [word for word in shared if not holds(swap.old, frozenset({word}))]
    if any(_conflicts(word, sentence, new, swap) for word in shared):
        return 0
    relation = old.relation
    own = relation and key(relation.subject) == "user" and holds(relation.object, value)
    return len(shared) or int(bool(own))


def _conflicts(shared: str, sentence: str, new: Statement, swap: Swap) -> bool:
    """Return whether a shared word has another word next to it in each, which distinguishes two things.

    `docs repo` is not `web repo`.
    """
    ours, theirs = _modifier(shared, sentence), _modifier(shared, new.text)
    return bool(
        ours
        and theirs
        and not holds(new.text, frozenset({ours}))
        and not holds(f"{sentence} {swap.old} {swap.new}", frozenset({theirs}))
    )


def _modifier(word: str, text: str) -> str:
    """Return the topic word right before a word, or behind it where the language has it there; or nothing."""
    found = words(text)
    rules = language_of(text, found).rules
    step = 1 if rules is not None and rules.modifiers_follow else -1
    place = next((at for at, each in enumerate(found) if holds(each, frozenset({word}))), -1) + step
    return found[place] if 0 <= place < len(found) and found[place] in topic(text) else ""


def _by_frame(new: Statement, said: Iterable[KnownStatement]) -> list[Ending]:
    """Return the sentences that are a statement word by word but for one value, where there is one at a time.

    With a word of change that is any value; without one, a name for a name or a number for a number
    behind a copula (`My car is a Golf`, `My car is a Skoda`), and one long number for another anywhere.
    """
    sign = new.changed or new.corrects or new.renews
    spoken = language_of(new.text, words(new.text))
    found: list[Ending] = []
    for (row, sentence, old), text in itertools.product(said, {new.text, *new.clauses}):
        ours, theirs = _parts(text), _parts(sentence)
        start = _common(ours, theirs)
        end = _common(ours[start:][::-1], theirs[start:][::-1])
        value, other = ours[start : len(ours) - end], theirs[start : len(theirs) - end]
        frame = ours[:start], ours[len(ours) - end :]
        kinds = {(_kind(each), units(" ".join(each))) for each in (value, other)}
        kind = _kind(value) if len(kinds) == 1 else ""
        stated = new.stated and old.stated and (kind == "number" or topic(" ".join(frame[0])))
        same = kind == "id" or (kind and stated)
        if (sign or same) and _is_exchange(value, other, *frame, spoken):
            reason = "the same is said of another value"
            found.append(Ending(row, sentence, " ".join(other), reason))
    return found


def _common(one: Iterable[str], other: Iterable[str]) -> int:
    """Return how many words two lists have in common from their start."""
    pairs = itertools.takewhile(
        lambda pair: pair[0].lower() == pair[1].lower(), zip(one, other, strict=False)
    )
    return sum(1 for _ in pairs)


@functools.lru_cache(maxsize=4096)
def _parts(text: str) -> list[str]:
    """Return the words of a text, or its characters where it has no spaces, without articles, owners and words of change."""
    rules = language_of(text, words(text)).rules
    if rules is None:
        return []
    plain = pattern(rules.new).sub(" ", pattern(rules.now).sub(" ", text))
    if _RUN.search(text):
        plain = re.sub(rf"(?:{rules.own})的?", "", plain)
        return [each for each in plain if each.isalnum()]
    parts = [each.strip(" .,;:!?\"'।؟،") for each in plain.split()]
    own = pattern(rules.own)
    return [
        each for each in parts if each and not own.fullmatch(each) and not ARTICLE.fullmatch(each)
    ]


def _is_exchange(
    value: list[str], other: list[str], before: list[str], behind: list[str], spoken: SpokenLanguage
) -> bool:
    """Return whether two values in one frame exclude one another, as far as the frame shows."""
    unspaced = any(map(_RUN.search, [*value, *before, *behind]))
    text = ("" if unspaced else " ").join([*before, *behind])
    most = VALUE_WORDS * (2 if unspaced else 1)
    if spoken.rules is None or not (0 < len(value) <= most and 0 < len(other) <= most):
        return False
    many, said = spoken.rules.many.split(), words(text)
    if any(each in text for each in many) if unspaced else not set(many).isdisjoint(said):
        return False
    uncased = text.lower() == text.upper() and not unspaced
    if (
        persons(" ".join(value))
        or not PURPOSE.isdisjoint(before[-1:])
        or not (before or spoken.rules.drops_subjects)
        or pattern(spoken.rules.copula).search(f" {' '.join(behind)} ")
        or (uncased and len(value) > 1)
    ):
        return False
    small = [[each.lower() in spoken.stop_words for each in side] for side in (value, other)]
    first = [side[0].lower() for side, flags in zip((value, other), small, strict=True) if flags[0]]
    if len(first) == 1 or len(set(first)) > 1 or any(any(flags[1:]) for flags in small):
        return False
    return any(word not in spoken.stop_words for word in said)


def _kind(value: list[str]) -> str:
    """Return whether a value is an identifier, a number (an address and a version are one), a name, or neither."""
    text = " ".join(value)
    if re.fullmatch(r"\+?\d[\d ()]+", text) and len(re.findall(r"\d", text)) >= ID_DIGITS:
        return "id"
    if re.search(r"\d|\w[@/_.:-]\w", text):
        return "number"
    if _RUN.search(text):
        return "" if re.search("[的很了]", text) else "name"
    return "name" if all(each[:1].isupper() for each in value) else ""


def _by_head(new: Statement, said: Iterable[KnownStatement]) -> list[Ending]:
    """Return the sentences that say something of the same kind of the first thing that a change is about.

    `The office moved to Arbat Street` ends `Our office is on Baker Street`: a name for a name, a number for
    a number. `Our new landlord, a Ms Pell` ends what names the landlord.
    """
    spoken = language_of(new.text, words(new.text))
    if spoken.rules is None or not (new.changed or new.renews):
        return []
    many, found = frozenset(spoken.rules.many.split()), []
    for clause in new.clauses:
        renewed = pattern(spoken.rules.new).search(clause)
        plain = pattern(spoken.rules.changed).sub(" ", pattern(spoken.rules.new).sub(" ", clause))
        head = next(iter(_named(plain)), "")
        valued = clause.lower() == clause.upper() or re.search(r"\d|.\b[A-ZÀ-ÞА-ЯЁ]\w", new.text)
        fresh = _named(clause[renewed.end() :])[:1] if renewed and valued else []
        fresh = [word for word in fresh if word not in many]
        exclusive = head and many.isdisjoint(words(clause)) and not _is_name(head, plain)
        for row, sentence, old in said:
            if not many.isdisjoint(words(sentence)) or persons(clause) != persons(sentence):
                continue
            if any(
                set(fresh) & topic(role) and holds(clause, topic(role)) for role, _ in _roles(old)
            ):
                found.append(Ending(row, sentence, "", "there is a new one"))
            elif (
                exclusive and holds(sentence, frozenset({head})) and _is_of_a_kind(plain, sentence)
            ):
                found.append(Ending(row, sentence, "", "the same has another value"))
    return found


def _named(text: str) -> list[str]:
    """Return the topic words of a text in their order."""
    return [word for word in words(text) if word in topic(text)]


def _is_name(word: str, text: str) -> bool:
    """Return whether a word is written as a name, with no article or owner before it."""
    found = re.search(rf"(?:(\S+)\s+)?({re.escape(word)})", text, re.IGNORECASE)
    rules = language_of(text, words(text)).rules
    if found is None or rules is None or not found[2][:1].isupper():
        return False
    before = found[1] or ""
    return not (ARTICLE.fullmatch(before) or pattern(rules.own).fullmatch(before))


def _is_of_a_kind(one: str, other: str) -> bool:
    """Return whether what two texts do not share is a number of one unit in both, or names alone in both."""
    ours, theirs = ([each for each in _parts(text) if topic(each)] for text in (one, other))
    left = [
        [each for each in side if not holds(against, topic(each))]
        for side, against in ((ours, other), (theirs, one))
    ]
    numbers = [re.search(r"\d[\d.,:]*\s*([^\W\d]+|[%$€£₽])?", text) for text in (one, other)]
    if numbers[0] and numbers[1]:
        units_of = {number[1] for number in numbers if number and number[1]} - small_words(one)
        return numbers[0][0] != numbers[1][0] and len(units_of) <= 1
    return not any(numbers) and all(side and _kind(side) == "name" for side in left)


def _by_role(new: Statement, said: Iterable[KnownStatement]) -> list[Ending]:
    """Return the newest sentence that gives the same role or quantity another value.

    `The treasurer is Ann` and `Bo is the treasurer now` name one role. Where a statement has no word of
    change, only a number of the same unit replaces a number.
    """
    sign = new.changed or new.corrects
    for row, sentence, old in said:
        for (role, value), (other_role, other) in itertools.product(
            _roles(new, inverted=sign), _roles(old, inverted=sign)
        ):
            same = topic(role) == topic(other_role) or (sign and topic(role) >= topic(other_role))
            if same and _other_of_a_kind(value, other, sign=sign):
                return [Ending(row, sentence, other, "the same role has another value")]
    return []


def _roles(statement: Statement, *, inverted: bool = False) -> Iterator[tuple[str, str]]:
    """Yield both sides of the one copula of each clause: the role and its value; `inverted` the other way round too."""
    before = ""
    for clause in statement.clauses:
        rules = language_of(clause, words(clause)).rules
        parts = pattern(rules.copula).split(clause) if rules else []
        if len(parts) == 2:
            one, other = parts[0] if topic(parts[0]) else before, parts[1]
            if all(0 < len(topic(each)) <= VALUE_WORDS for each in (one, other)):
                yield from ((one, other), (other, one)) if inverted else ((one, other),)
        before = clause


def _other_of_a_kind(value: str, other: str, *, sign: bool) -> bool:
    """Return whether two values are different numbers of one unit, or different names."""
    if units(value) and units(other):
        return key(value) != key(other) and (sign or units(value) == units(other))
    return sign and topic(value).isdisjoint(topic(other)) and not persons(f"{value} {other}")


def _by_overlap(new: Statement, said: Iterable[KnownStatement]) -> list[Ending]:
    """Return the sentence that a correction is about: the one that shares most of its words, or alone shares any."""
    shares = [
        (share, row, sentence)
        for row, sentence, _ in said
        if 0 < (share := _share(topic(sentence), new.text)) < 1
    ]
    share, row, sentence = max(shares, key=lambda each: each[0], default=(0.0, 0, ""))
    if len(shares) == 1 or share >= OVERLAP:
        shared = [word for word in topic(sentence) if holds(new.text, frozenset({word}))]
        first = min(shared, key=normalised(sentence).find)
        return [Ending(row, sentence, first, "it corrects what was said")]
    return []


def _by_form(new: Statement, said: Sequence[KnownStatement]) -> list[Ending]:
    """Return the newest statement where a short correction has a number as it has, or a word spelt nearly the same."""
    ours = topic(" ".join(new.clauses))
    for row, sentence, _ in said[:1] if len(words(new.text)) <= SHORT_WORDS else ():
        theirs = topic(sentence)
        numbers = all(any(word.isdigit() for word in each) for each in (ours, theirs))
        if numbers or any(get_close_matches(word, theirs, 1, ALIKE) for word in ours - theirs):
            return [Ending(row, sentence, "", "it corrects what was said")]
    return []
