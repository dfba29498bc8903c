"""What a sentence claims: its relations, its words in order, and what must not be confused. Pure."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from hippocampus.facts.patterns import (
    ARTICLES,
    CHANGES,
    FIRST_PERSON,
    NEGATIONS,
    OPENINGS,
    REAL_NEGATIONS,
    forms,
)
from hippocampus.facts.predicates import STATES, is_single
from hippocampus.facts.tables import word_set
from hippocampus.facts.values import is_quantity, units
from hippocampus.facts.words import normalised

LONGEST_SUBJECT = 60
LONGEST_ATTRIBUTE = 40
LONGEST_CLAIM = 400
PRONOUNS = word_set(
    """it this that there these those he she they what which who es das dies er sie il elle ce c'est ça
    esto eso este questo quello isso isto это он она они 这 那 它 他 她 これ それ あれ 이것 그것"""
)
_CUT = re.compile(
    r"(?:[,;(，；（]|\s(?:because|since|with|and|but|which|who|when|while|although|weil|und|mit|seit|"
    r"parce|depuis|avec|et|porque|desde|con|y|perché|con|e|потому|с|и)\s).*$",
    re.IGNORECASE,
)
_REWRITES = (
    ("ではありません", "です"),
    ("じゃありません", "です"),
    ("ではない", "である"),
    ("じゃない", "だ"),
    ("いません", "います"),
    ("ません", "ます"),
    ("ていない", "ている"),
    ("하지 않습니다", "합니다"),
    ("하지 않는다", "한다"),
    ("지 않습니다", "습니다"),
    ("이 아닙니다", "입니다"),
    ("가 아닙니다", "입니다"),
)
_FULL = {"m": "am", "re": "are", "ve": "have", "s": "is"}
_CONTRACTED = re.compile(
    r"^(I(?=['’](?:m|ve)\b)|(?:we|they|you)(?=['’](?:re|ve)\b)|(?:he|she)(?=['’]s\b))['’](m|re|ve|s)\b",
    re.IGNORECASE,
)
_CLAUSE_AS_SUBJECT = re.compile(
    r"[,;?，、；]|\s(?:is|are|am|was|were)\s|(?:^|\s)(?:and|but|or|und|aber|y|pero|et|mais|e|ma|и|а|но|en|maar)"
    r"(?:\s(?:i|he|she|we|they|it|ich|er|sie|wir|yo|él|ella|je|il|elle|nous|я|он|она|мы|ik|hij|zij))?$",
    re.IGNORECASE,
)
"""What no subject holds: the pattern has taken a clause before it in."""
_HAN = re.compile("[\u4e00-\u9fff]")
_REPLACED = re.compile(
    r"^(?P<subject>.+?) (?:has |have |was )?(?:switched|migrated|changed|moved|converted) from "
    r"(?P<old>.+?) to (?P<new>.+?)(?: for (?:the |our )?(?P<attribute>.+))?$",
    re.IGNORECASE,
)
_INSTEAD = re.compile(
    r"^(?P<subject>.+?) (?:now )?(?P<verb>uses?|prefers?|drinks?|drives?|speaks?) (?P<new>.+?) "
    r"instead of (?P<old>.+)$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Relation:
    """One triple that a sentence says."""

    subject: str
    predicate: str
    object: str
    negated: bool = False
    single: bool = False
    """Whether it closes another value of the same subject and predicate."""
    whole: bool = True
    """Whether the sentence says nothing else."""
    replaces: str = ""
    """The value that it says it replaces."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence as far as rules understand it."""

    text: str
    negated: bool
    changed: bool
    positive: str
    """The sentence without negation, openings and words of change."""
    relation: Relation | None


def key(name: str) -> str:
    """Return the form in which names of entities and values are compared.

    >>> key(" The  New York Office ")
    'new york office'
    """
    plain = ARTICLES.sub("", normalised(name)).strip(" .!。，,;:\"'“”„«»()").strip()
    return "user" if plain in FIRST_PERSON else plain or normalised(name)


@functools.lru_cache(maxsize=8192)
def parse(text: str) -> Claim:
    """Return what a sentence claims; without relation where no form fits."""
    plain = OPENINGS.sub("", " ".join(text.split())).strip().rstrip(".!。！।")
    plain = _CONTRACTED.sub(lambda found: f"{found[1]} {_FULL[found[2].lower()]}", plain)
    if _HAN.search(plain) and plain.endswith("了"):
        plain = plain[:-1]
    negated = is_negated(plain)
    bare = _without_negation(plain) if negated else plain
    changed = bool(CHANGES.search(plain))
    bare = _tidy(CHANGES.sub(_keep_verbs, bare)) if changed else bare
    relation = None
    if len(plain) <= LONGEST_CLAIM and not plain.endswith(("?", "？")):
        relation = _replacement(bare) or _relation(bare, negated=negated, changed=changed)
    return Claim(text, negated, changed, bare, relation)


def is_negated(text: str) -> bool:
    """Say whether a sentence denies something.

    >>> is_negated("Ann does not like tea"), is_negated("Anna mag mehr Tee")
    (True, False)
    """
    return any(found in REAL_NEGATIONS for found in negations(text))


def negations(text: str) -> list[str]:
    """Return the words of a sentence that can negate, in one case."""
    return [" ".join(found.lower().split()) for found in NEGATIONS.findall(text)]


def _without_negation(text: str) -> str:
    for negative, positive in _REWRITES:
        if negative in text:
            return text.replace(negative, positive)
    return _tidy(NEGATIONS.sub(_negation_left, text))


def _negation_left(found: re.Match[str]) -> str:
    """Keep the verb that a contraction holds: of `is not` stays `is`."""
    word = " ".join(found[0].lower().split())
    for verb in ("is", "are", "has", "have", "was"):
        if word in {f"{verb} not", f"{verb}n't"}:
            return verb
    return ""


def _keep_verbs(found: re.Match[str]) -> str:
    verbs = ("switched", "changed", "replaced", "moved", "updated")
    return found[0] if found[0].lower() in verbs else ""


def _tidy(text: str) -> str:
    return " ".join(text.split()).strip(" ,;:，、")


def _replacement(text: str) -> Relation | None:
    if found := _REPLACED.match(text):
        predicate = _used_for(found["attribute"]) if found["attribute"] else "uses"
    elif found := _INSTEAD.match(text):
        predicate = found["verb"].rstrip("s") + "s"
    else:
        return None
    old, new = key(found["old"]), ARTICLES.sub("", found["new"].strip())
    single = is_single(predicate)
    subject = _subject(found["subject"])
    return (
        Relation(subject, name_of(predicate), new, single=single, replaces=old) if subject else None
    )


def _relation(text: str, *, negated: bool, changed: bool) -> Relation | None:
    folded = text.lower()
    for form in forms():
        if form.trigger not in folded:
            continue
        found = form.pattern.match(text)
        if found is None:
            continue
        made = _made(found.groupdict(), form.predicate, changed=changed or form.changes)
        if made is not None:
            return _signed(made, negated != form.negated)
    return None


def _signed(relation: Relation, negated: bool) -> Relation:  # noqa: FBT001 - it is the sign
    return Relation(
        relation.subject,
        relation.predicate,
        relation.object,
        negated,
        relation.single,
        relation.whole,
    )


_NEW = re.compile(
    r"(?:new|neuer?|neues|nouve(?:au|lle)|nuev[oa]|nuov[oa]|nov[oa]|новый|новая|新的?)\s*(?=\S)",
    re.IGNORECASE,
)
"""Before an attribute's name it says that the value was another one."""
_CIRCUMSTANCE = re.compile(
    r"(?:on|in|at|by|for|from|with|without|under|over|about|to|of|after|before|during|near|behind|between)\s",
    re.IGNORECASE,
)
"""How a value begins that says where, when or how something is, and not what: no entity."""
DIMENSIONS = word_set("wide long tall high deep thick heavy far away large")


def _made(groups: dict[str, str], predicate: str, *, changed: bool) -> Relation | None:
    attribute = groups.get("attribute", "")
    if found := _NEW.match(attribute):
        attribute, changed = attribute[found.end() :], True
    if len(attribute) > LONGEST_ATTRIBUTE or key(attribute) in PRONOUNS:
        return None
    subject = _subject(groups.get("subject") or "user")
    value = groups["object"].strip()
    if not subject or not value:
        return None
    named, value, single = _refined(subject, _named(predicate, attribute), value)
    if named == "is" and not (single or changed) and _CIRCUMSTANCE.match(value):
        return None
    if not (single or changed):
        return Relation(subject, named, value)
    cut = _CUT.sub("", value) or value
    return Relation(subject, named, cut, single=True, whole=cut == value)


def _named(predicate: str, attribute: str) -> str:
    if predicate == "uses_for":
        return _used_for(attribute)
    return name_of(attribute) if predicate == "{a}" else predicate


def _used_for(attribute: str) -> str:
    """Return the predicate of what is used for something: what it is, or what it is used for.

    >>> _used_for("database"), _used_for("billing")
    ('database', 'uses_for_billing')
    """
    name = name_of(attribute)
    return name if is_single(name) else f"uses_for_{name}"


def _refined(subject: str, predicate: str, value: str) -> tuple[str, str, bool]:  # noqa: PLR0911 - one return a case
    """Return predicate and value as they compare, and whether one value holds at a time."""
    plain = key(value)
    if predicate in {"is", "has"}:
        state = plain.replace(" ", "_")
        for place, states in enumerate(STATES):
            if state in states:
                return f"state:{place}", value, True
    if predicate == "has":
        counted = is_quantity(plain) and len(plain.split()) > 1
        return (f"count:{plain.split()[-1]}", value, True) if counted else (predicate, value, False)
    if predicate == "payment_terms" and not re.search(r"net|days|tage|\d", plain):
        return "pays", value, False
    if predicate == "prefers" and re.search(r"\s(?:over|to)\s", value):
        return "prefers_between", value, _is_choice(value)
    if predicate == "prefers" and len(plain.split()) == 2:
        return f"prefers_{plain.split()[1]}", value, plain.split()[1] in {"mode", "theme", "units"}
    if predicate == "is" and is_quantity(plain) and plain.split()[-1] in DIMENSIONS:
        return f"measure:{plain.split()[-1]}", value, True
    if predicate == "is":
        return predicate, value, is_single(key(subject)) or _measures(subject, plain)
    return predicate, value, is_single(predicate) or is_quantity(plain)


def _is_choice(value: str) -> bool:
    return len(value.split()) <= 5


def _measures(subject: str, plain: str) -> bool:
    """Say whether a value is a quantity of its subject, and the subject no numbered thing.

    Where no verb stands between them, as in Hindi, a number without a unit numbers the subject.
    """
    first, *rest = plain.split()
    numbered = not rest and subject[-1:].isdigit()
    counted = bool(rest) and first.isdigit() and not rest[0].isascii() and not units(rest[0])
    return is_quantity(plain) and not numbered and not counted


def _subject(text: str) -> str:
    name = ARTICLES.sub("", text.strip()).strip(" ,;:\"'")
    if (
        not name
        or len(name) > LONGEST_SUBJECT
        or key(name) in PRONOUNS
        or _CLAUSE_AS_SUBJECT.search(name)
    ):
        return ""
    return "user" if key(name) == "user" else name


def name_of(attribute: str) -> str:
    """Return the predicate for an attribute's name.

    >>> name_of("Payment  Terms"), name_of("storage")
    ('payment_terms', 'storage_backend')
    """
    plain = re.sub(r"[\s\-]+", "_", key(attribute))
    return SYNONYMS.get(plain, plain)


SYNONYMS = {
    "storage": "storage_backend",
    "favourite_color": "favorite_color",
    "favourite_colour": "favorite_color",
    "favorite_colour": "favorite_color",
    "mail": "email",
    "email_address": "email",
    "e_mail": "email",
    "boss": "manager",
    "supervisor": "manager",
    "employer": "works_at",
    "home_city": "lives_in",
    "residence": "lives_in",
    "wohnort": "lives_in",
    "db": "database",
    "due_date": "deadline",
    "wife": "spouse",
    "husband": "spouse",
    "phone_number": "phone",
    "telephone": "phone",
    "position": "job",
    "profession": "job",
    "occupation": "job",
    "jefa": "jefe",
    "directora": "director",
    "directrice": "directeur",
    "chefin": "chef",
    "начальница": "начальник",
}
