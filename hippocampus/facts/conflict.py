"""Whether a new claim says the same as an old one, replaces it, or stands beside it. Pure.

Bands of similarity suggest; a guard that no band overrides decides: texts that differ in a number, a
date, a name, a negation or a unit are never merged as duplicates.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from enum import StrEnum

from hippocampus.facts import values
from hippocampus.facts.claims import Claim, Relation, key, negations
from hippocampus.facts.models import FactPolicy
from hippocampus.facts.patterns import REAL_NEGATIONS
from hippocampus.facts.predicates import is_single
from hippocampus.facts.tables import word_set
from hippocampus.facts.words import UNSPACED, normalised

LONG_TEXT_WORDS = 12
LEAST_COMMON_WORDS = 2
LONGEST_END_WORDS = 3


class Relationship(StrEnum):
    """What a new claim is to an old one."""

    DUPLICATE = "duplicate"
    EXTENDS = "extends"
    """It says all that the old one says, and more."""
    SUPERSEDES = "supersedes"
    DISTINCT = "distinct"
    UNCLEAR = "unclear"
    """Between the bands; a model may say."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a new claim is to an old one, and why."""

    relationship: Relationship
    reason: str


@dataclass(frozen=True, slots=True)
class Closeness:
    """How alike two texts are; `cosine` where both have an embedding."""

    minhash: float
    cosine: float | None = None


def compare(new: Claim, old: Claim, closeness: Closeness, policy: FactPolicy) -> Verdict:
    """Return what a new claim is to an old one of the same agent and scope."""
    by_relation = compare_relations(new, old)
    if by_relation is not None:
        return by_relation
    close = closeness.minhash >= policy.new_minhash or (closeness.cosine or 0) >= policy.new_cosine
    if close or likeness(new) == likeness(old):
        by_form = _by_form(new, old)
        if by_form is not None:
            return by_form
    band, reason = banded(closeness, policy)
    if band is Relationship.DISTINCT:
        return Verdict(band, reason)
    different = differences(new.text, old.text)
    if different:
        return Verdict(Relationship.UNCLEAR, f"differs in {' and '.join(different)}")
    return _without_guard(new, old, closeness, policy, band, reason)


def _without_guard(  # noqa: PLR0913, PLR0917 - each is one thing to say
    new: Claim,
    old: Claim,
    closeness: Closeness,
    policy: FactPolicy,
    band: Relationship,
    reason: str,
) -> Verdict:
    ours, theirs = core(new.text), core(old.text)
    meant = (closeness.cosine or 0.0) > policy.duplicate_cosine
    if meant and _lettered(new.text + old.text):
        return Verdict(Relationship.DUPLICATE, reason)
    if band is Relationship.DUPLICATE and len(ours) >= LONG_TEXT_WORDS and _within(theirs, ours):
        return Verdict(Relationship.EXTENDS, f"{reason}, with words added")
    return Verdict(Relationship.UNCLEAR, f"{reason}, other words")


def banded(closeness: Closeness, policy: FactPolicy) -> tuple[Relationship, str]:
    """Return which band two texts fall in: hippo's for cosines, scriptling's for MinHash."""
    if closeness.cosine is not None:
        said = f"cosine {closeness.cosine:.2f}"
        if closeness.cosine > policy.duplicate_cosine:
            return Relationship.DUPLICATE, said
        if closeness.cosine >= policy.new_cosine:
            return Relationship.UNCLEAR, said
    said = f"MinHash {closeness.minhash:.2f}"
    if closeness.minhash >= policy.duplicate_minhash:
        return Relationship.DUPLICATE, said
    if closeness.minhash >= policy.new_minhash:
        return Relationship.UNCLEAR, said
    return Relationship.DISTINCT, said


def compare_relations(new: Claim, old: Claim) -> Verdict | None:
    """Return what follows from the triples of two claims, where something does."""
    ours, theirs = new.relation, old.relation
    if ours is None or theirs is None or key(ours.subject) != key(theirs.subject):
        return None
    if ours.replaces and ours.replaces == key(theirs.object) and not theirs.negated:
        return Verdict(Relationship.SUPERSEDES, f"it replaces {theirs.object!r}")
    if ours.predicate != theirs.predicate:
        return None
    if key(ours.object) == key(theirs.object):
        return _same_value(ours, theirs)
    if ours.single and not ours.negated and not theirs.negated:
        return _other_value(ours, theirs)
    return None


def _same_value(ours: Relation, theirs: Relation) -> Verdict | None:
    if ours.negated != theirs.negated:
        settled = (ours.whole and theirs.whole) or ours.single
        return Verdict(Relationship.SUPERSEDES, "it says the opposite") if settled else None
    if ours.whole and theirs.whole:
        return Verdict(Relationship.DUPLICATE, "the same subject, predicate and value")
    return None


def _other_value(ours: Relation, theirs: Relation) -> Verdict | None:
    if ours.predicate == "prefers_between":
        parts = [set(re.split(r"\s+(?:over|to)\s+", key(r.object))) for r in (ours, theirs)]
        return (
            Verdict(Relationship.SUPERSEDES, "the choice is turned")
            if parts[0] == parts[1]
            else None
        )
    why = "holds one value" if is_single(ours.predicate) else "the text says that it changed"
    return Verdict(
        Relationship.SUPERSEDES, f"{ours.predicate} of {ours.subject} {why}: was {theirs.object!r}"
    )


def differences(one: str, other: str) -> list[str]:
    """Return in which of number, date, name, negation and unit two texts differ.

    >>> differences("Ann paid 100 euros", "Ann paid 500 euros")
    ['number']
    >>> differences("Ann likes Bob", "Bob likes Ann")
    ['name']
    """
    return [
        name
        for name, ours, theirs in zip(GUARDED, _guarded(one), _guarded(other), strict=True)
        if ours != theirs
    ]


GUARDED = ("number", "date", "unit", "negation", "name")


@functools.lru_cache(maxsize=8192)
def _guarded(text: str) -> tuple[object, ...]:
    """Return what two texts must have in common to be duplicates, in the order of `GUARDED`."""
    return (
        values.numbers(text),
        values.dates(text),
        values.units(text),
        _denials(text),
        values.names(text),
    )


def _denials(text: str) -> int:
    return sum(found in REAL_NEGATIONS for found in negations(text))


_TOKEN = re.compile(
    rf"[-−]?\d+(?:[.,:/]\d+)*|[{UNSPACED}]|[^\W\d_{UNSPACED}]+(?:'[^\W\d_]+)*|[$€£¥%°+#&@₽₹]"
)
_FILLERS = word_set(
    """a an the very really also just please der die das ein eine le la les un une el los las una il lo
    gli o os as um uma de het een ett"""
)
_EXPANDED = (
    ("can't", "can not"),
    ("won't", "will not"),
    ("n't", " not"),
    ("'m", " am"),
    ("'re", " are"),
    ("'ll", " will"),
    ("'ve", " have"),
)
_JOINED = re.compile(r"\b(\w+)((?:, \w+)*),? (and|or|und|oder|et|ou|y|o|e|и|или|en|of) (\w+)\b")
_ADDS = word_set(
    """because and with which who since weil und mit seit parce et avec porque y con perché e com
    потому и с en met 因为 和"""
)


@functools.lru_cache(maxsize=8192)
def core(text: str) -> tuple[str, ...]:
    """Return the words and signs of a text in order, without articles; lists are sorted.

    >>> core("The user doesn't like tea and coffee.")
    ('user', 'does', 'not', 'like', 'and', 'coffee', 'tea')
    """
    folded = normalised(text)
    for short, full in _EXPANDED:
        folded = folded.replace(short, full)
    folded = folded.replace("cannot", "can not")
    plain = " ".join(word for word in folded.split() if word not in _FILLERS)
    ordered = _JOINED.sub(_sorted_list, plain)
    return tuple(token for token in _TOKEN.findall(ordered) if token not in _FILLERS)


def _sorted_list(found: re.Match[str]) -> str:
    items = sorted([found[1], *re.findall(r"\w+", found[2]), found[4]])
    return f"{found[3]} {' '.join(items)}"


def _by_form(new: Claim, old: Claim) -> Verdict | None:
    """Compare two texts by their words in order."""
    ours, theirs = core(new.text), core(old.text)
    if ours == theirs and cased(new.text) == cased(old.text):
        return Verdict(Relationship.DUPLICATE, "the same words")
    if new.negated != old.negated and opposite(new, old):
        return Verdict(Relationship.SUPERSEDES, "it says the opposite")
    return _continued(new, old, ours, theirs) or _changed(new, old, ours, theirs)


def _continued(new: Claim, old: Claim, ours: Core, theirs: Core) -> Verdict | None:
    if differences(new.text, old.text):
        return None
    if _continues(ours, theirs):
        return Verdict(Relationship.EXTENDS, "the old text and more")
    if _continues(theirs, ours):
        return Verdict(Relationship.DUPLICATE, "a part of the old text")
    return None


def _changed(new: Claim, old: Claim, ours: Core, theirs: Core) -> Verdict | None:
    if new.changed and not new.negated and _ends_otherwise(core(new.positive), theirs):
        return Verdict(Relationship.SUPERSEDES, "the text says that it changed")
    different = set(differences(new.text, old.text))
    if different and different <= {"number", "unit"} and quantity_changed(ours, theirs):
        return Verdict(Relationship.SUPERSEDES, "the same quantity with another value")
    return None


Core = tuple[str, ...]
"""The words and signs of a text in order, as `core` gives them."""


def cased(text: str) -> list[str]:
    """Return the words that a capital may tell apart: those within the text, as they are written."""
    found = re.findall(r"[^\W_]+", text)[1:]
    return sorted(word for word in found if word != word.lower())


def likeness(claim: Claim) -> str:
    """Return what a claim has in common with its negation, whatever its verb's ending."""
    words = core(claim.positive)
    return " ".join(_stem(word) for word in words if word not in HELPERS)


HELPERS = word_set("do does did")


def _stem(word: str) -> str:
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    return (
        word.removesuffix("es")
        if word.endswith(("shes", "ches", "oes"))
        else word.removesuffix("s")
    )


def opposite(new: Claim, old: Claim) -> bool:
    """Say whether two texts differ in a negation and nothing else, but for a verb's ending."""
    ours, theirs = core(new.positive), core(old.positive)
    return len(ours) == len(theirs) and all(
        one == other or _inflected(one, other) for one, other in zip(ours, theirs, strict=True)
    )


def _inflected(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return long in {f"{short}s", f"{short}es"} or (
        short.endswith("y") and long == f"{short[:-1]}ies"
    )


def _continues(longer: tuple[str, ...], shorter: tuple[str, ...]) -> bool:
    """Say whether a text is another with a clause added at its end."""
    size = len(shorter)
    return len(longer) > size > 2 and longer[:size] == shorter and longer[size] in _ADDS


def _ends_otherwise(ours: tuple[str, ...], theirs: tuple[str, ...]) -> bool:
    """Say whether two texts have subject and verb in common, and another short end."""
    same = next(
        (at for at, pair in enumerate(zip(ours, theirs, strict=False)) if pair[0] != pair[1]),
        min(len(ours), len(theirs)),
    )
    ends = (len(ours) - same, len(theirs) - same)
    return same >= LEAST_COMMON_WORDS and all(0 < end <= LONGEST_END_WORDS for end in ends)


def _within(shorter: tuple[str, ...], longer: tuple[str, ...]) -> bool:
    rest = iter(longer)
    return all(token in rest for token in shorter)


def _lettered(text: str) -> bool:
    """Say whether a text's names can be told by their capitals."""
    return not re.search(f"[{UNSPACED}]", text) and any(
        sign != sign.lower() for sign in text.upper()
    )


STATE_WORDS = word_set(
    """is are has have costs cost weighs takes lasts holds contains uses needs requires allows supports
    equals measures exceeds earns pays lives serves seats
    ist sind hat haben kostet wiegt dauert beträgt enthält braucht est sont a ont coûte pèse dure mesure
    contient es son está tiene tienen cuesta pesa dura mide contiene è ha sono costa misura tem custa
    são mede heeft weegt kost duurt bevat стоит весит составляет имеет длится равен равна содержит у
    jest ma kosztuje waży wynosi 是 有 为 は が 에 은 는 がかか هو هي لديه है हैं"""
)
"""Verbs of a state, which has one value at a time; verbs of events are not here."""
_BEFORE_NUMBER = STATE_WORDS | word_set(
    """about around approximately roughly exactly only at to of over under nearly almost up than for in
    etwa rund circa ungefähr genau environ exactement de casi circa около примерно 约 大约 約 $ € £ ¥
    का की के 花 重 価 格 给"""
)


def quantity_changed(ours: tuple[str, ...], theirs: tuple[str, ...]) -> bool:
    """Say whether two texts state one quantity of one thing with two values.

    The texts are the same but for the number or its unit; before it stand the same subject and a
    verb of state, right before it no noun, so that it counts and does not number.
    """
    if len(ours) != len(theirs):
        return False
    places = [i for i, (one, other) in enumerate(zip(ours, theirs, strict=True)) if one != other]
    if not places or len(places) > 2 or places[-1] - places[0] > 1:
        return False
    before = ours[: places[0]]
    at = places[0] if ours[places[0]][-1].isdigit() or not before else places[0] - 1
    stated = any(word in STATE_WORDS for word in before[1:])
    return stated and at > 0 and (ours[at - 1] in _BEFORE_NUMBER)
