"""What a text states, as far as its own words go: whose they are, their relation, the statements that it ends.

Pure. A sentence that is not understood as a whole states nothing here, and is kept all the same.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from hippocampus.facts.languages import SpokenLanguage, expression, pattern, template
from hippocampus.facts.topics import is_labelled, is_own, persons, small_words, topic
from hippocampus.facts.words import ARTICLE_BEFORE, CACHED_TEXTS, key, spoken, words
from hippocampus.storage.facts.rows import Relation

_CLAUSE = (
    r"\s*[,;:，；：،؛—–]\s+|\s*[，；：،؛]\s*|(?<=[\u3040-\u30ff\u3400-\u9fff])[,;:、]|\s+[—–-]\s+|(?<=\w\w[.!?])(?<!\b[DM]r\.)\s+"
    r"|\s+(?:{but_words})\s+|\s+(?=(?:{and_words})\s+(?:{now_words})\b)"
)
AND = r"\s+(?:{and_words})\s+|\s+(?=و\w)"
_INTERJECTION = r"^(?:\W*(?:{interjections})(?!\w)\W*)+"
_CONDITION = r"^\W*(?:{conditions})\b"
_CLAUSE_START = re.compile(r"[,;:，；：、。]")
_EDGES = " ,，、.!。！।"
"""The signs around a clause."""
_WHEN = r"^(?:{when})(?:\s*[,，、]\s*|\s+)|(?:\s*[,，、]\s*|\s+)(?:{when})$"
"""A point in time or a reason, at either end of a clause."""
_ERROR = re.compile(r"\b(?:failed|fails|crashed|exception|traceback|error)\b", re.IGNORECASE)
MAX_SUBJECT_WORDS, MAX_VALUE_WORDS = 8, 6
MAX_STATEMENT = 600
SHORT = 5
"""A correction of this many words means the sentence after it."""
_PLACES = frozenset({"lives_in", "works_at"})


class Swap(NamedTuple):
    """An old value that a statement names, with the words next to it."""

    old: str
    new: str
    rest: frozenset[str]
    """The topic of its clause without both values."""


class Shift(NamedTuple):
    """A thing that got another value; the old one is not named."""

    thing: str
    value: str


class Denial(NamedTuple):
    """A clause that denies an earlier statement, in two parts."""

    subject: str
    """The words before the denial; empty where the words after it name no topic."""
    what: str


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence, as far as its own words go."""

    text: str
    relations: tuple[Relation, ...] = ()
    """At most one."""
    corrects: bool = False
    """Whether it calls an earlier statement wrong."""
    certain: bool = False
    """Whether more than an interjection does so, which may also answer a question."""
    swaps: tuple[Swap, ...] = ()
    shifts: tuple[Shift, ...] = ()
    ended: tuple[Denial, ...] = ()
    sets: bool = False
    """Whether it is about the present only, so that a value in it may be a new one."""
    moves: bool = False
    """Whether its own words announce a change."""
    denied: tuple[str, ...] = ()
    """Its clauses with a `not`."""
    hearsay: bool = False
    """Whether it reports other people's words, or supposes something."""

    @property
    def may_end(self) -> bool:
        """Return whether there is anything that it could end."""
        return self.asserts or bool(self.denied)

    @property
    def asserts(self) -> bool:
        """Return whether it does more than deny what may never have been said."""
        return bool(
            self.relations or self.swaps or self.shifts or self.ended or self.corrects or self.sets
        )


@functools.lru_cache(maxsize=CACHED_TEXTS)
def read(text: str) -> Statement:
    """Return what one sentence states."""
    plain = " ".join(text.replace("\u2019", "'").split()).strip()
    rules = spoken(plain)
    if len(plain) > MAX_STATEMENT:
        return Statement(text)
    corrects = pattern(rules.correction).search(plain) is not None
    reported = pattern(rules.reported).search(plain) and not (corrects and is_own(plain))
    if plain.endswith(("?", "？", "؟")) or reported or is_labelled(plain):
        return Statement(text, hearsay=True)
    clauses = [stripped for part in _clauses(plain, rules) if (stripped := part.strip(" .!。！।"))]
    # A supposition ends nothing, and one that begins with a condition is no word of the user's.
    if pattern(rules.hypothetical).search(plain):
        return Statement(text, hearsay=bool(expression(_CONDITION, rules.code).search(plain)))
    passing = pattern(rules.temporary).search(plain) is not None
    adds = passing or pattern(rules.addition).search(plain) is not None
    now = pattern(rules.now).search(plain) is not None
    # Nothing that holds next to something else, or for a while, may take its place.
    is_change = now or corrects or pattern(rules.changed).search(plain) is not None
    swaps = tuple(_swaps(plain, rules, adds=adds, moves=is_change))
    ended = tuple(_ended(clauses, rules))
    moves = is_change or bool(swaps)
    opening = expression(_INTERJECTION, rules.code)
    return Statement(
        text,
        relations=() if adds or ended else _relations(clauses, rules),
        corrects=corrects and not adds,
        certain=bool(
            pattern(rules.correction).search(opening.sub("", plain))
            or pattern(rules.negation).search(plain.partition(" ")[2])
        ),
        swaps=swaps,
        shifts=tuple(
            Shift(found["thing"], _bare(found["new"], rules))
            for rule in (() if adds else rules.shifts)
            for found in _wordings(rule, plain)
        ),
        ended=ended,
        sets=moves and not adds and not ended,
        moves=moves,
        denied=() if adds else tuple(clause for clause in uncorrected(plain) if denies(clause)),
    )


def uncorrected(text: str) -> list[str]:
    """Return the clauses of a correction that do more than call an earlier one wrong; the last has the right value.

    >>> uncorrected("No, not Tuesday: the launch is on Thursday, sorry")
    ['not Tuesday', 'the launch is on Thursday']
    """
    rules = spoken(text)
    correction = pattern(rules.correction)
    clauses = _clauses(text, rules)
    return [clause for clause in clauses if not correction.search(f"{clause},")] or clauses


def denies(text: str) -> bool:
    """Return whether a text has a word of a denial."""
    return pattern(spoken(text).negation).search(text) is not None


def _clauses(text: str, rules: SpokenLanguage) -> list[str]:
    return [part for part in expression(_CLAUSE, rules.code).split(text) if part]


def _swaps(plain: str, rules: SpokenLanguage, *, adds: bool, moves: bool) -> Iterator[Swap]:
    for rule in [*(() if adds else rules.swaps), *(rules.moves if moves else ())]:
        for found in _wordings(rule, plain):
            # `for the app` after a value is the topic: what has the value for another topic stays true.
            old, new = found["old"], _cut(found.get("new", ""))
            if rule.startswith("{old}"):
                old = _cut(old, last=True)
            elif rule.endswith("{old}"):  # `coffee now` is coffee
                old = _cut(old)
            if topic(old) and key(old) != key(new) and not pattern(rules.now).search(old):
                rest = _bare(found["around"].replace(old, " ", 1).replace(new, " ", 1), rules)
                yield Swap(old, new, topic(rest))


def _wordings(rule: str, plain: str) -> Iterator[dict[str, str]]:
    """Yield the values of a wording wherever it is, and the sentence without its own words.

    The words before it are its first value.
    """
    leading = re.match(r"\{(\w+)\} ?", rule)
    for found in template(rule[leading.end() :] if leading else rule).finditer(plain):
        values = {name: value for name, value in found.groupdict().items() if value}
        if leading:
            values[leading[1]] = _CLAUSE_START.split(plain[: found.start()])[-1].strip()
        if all(values.values()):
            spoken_values = (value for value in found.groupdict().values() if value)
            around = [plain[: found.start()], *spoken_values, plain[found.end() :]]
            yield values | {"around": " ".join(around)}


def _bare(clause: str, rules: SpokenLanguage) -> str:
    """Return a clause without a point in time or a reason at its ends."""
    return expression(_WHEN, rules.code).sub("", clause.strip(_EDGES)).strip(_EDGES)


def _cut(value: str, *, last: bool = False) -> str:
    """Return the words of a value that are next to the wording that announces it, up to a small word."""
    parts = value.split()[::-1] if last else value.split()
    small = small_words(value)
    first = next((at for at, part in enumerate(parts) if part.lower() not in small), 0)
    found = list(itertools.takewhile(lambda part: part.lower() not in small, parts[first:]))
    return " ".join(found[::-1] if last else found).strip(" '\"“”„«»")


def _ended(clauses: Sequence[str], rules: SpokenLanguage) -> Iterator[Denial]:
    denial = pattern(rules.negation)
    parts = (part for clause in clauses for part in expression(AND, rules.code).split(clause))
    for clause in (_bare(part, rules) for part in parts):
        if found := pattern(rules.ended).search(clause):
            before = _bare(denial.sub(" ", clause[: found.start()]), rules)
            after = _bare(denial.sub(" ", clause[found.end() :]), rules)
            if what := found.groupdict().get("what"):
                yield Denial("", what)
            elif topic(after):
                yield Denial(before, after)
            else:
                yield Denial("", f"{before} {after}")


def _relations(clauses: Sequence[str], rules: SpokenLanguage) -> tuple[Relation, ...]:
    """Return the relation that a clause states whose subject and value are names, and nothing else."""
    is_of_others = bool(persons(" ".join(clauses)))
    leading = expression(r"^(?:{now_words})\s+", rules.code)
    trailing = expression(r"\s+(?:{again_words})$", rules.code)
    own = pattern(rules.own)
    for clause in clauses:
        plain = leading.sub("", _bare(clause, rules))
        for predicate, rule in (line.split(": ", 1) for line in rules.single):
            if (found := pattern(rule).fullmatch(plain)) is None:
                continue
            subject = (found.groupdict().get("subject") or "").strip()
            value = trailing.sub("", found["object"].strip()).strip(" .!\"'")
            is_unclear = is_of_others and not subject and not own.search(plain)
            is_short = len(words(subject)) <= MAX_SUBJECT_WORDS
            is_short = is_short and 0 < len(value.split()) <= MAX_VALUE_WORDS
            name = ARTICLE_BEFORE.sub("", value)
            is_named = name[:1].isupper() or name[:1].isdigit()
            is_place = not value.isascii() or is_named or predicate not in _PLACES
            if is_short and is_place and not is_unclear:
                owner = subject or "user"
                return (Relation("user" if key(owner) == "user" else owner, predicate, value),)
    return ()


def joined(found: Iterable[str]) -> list[str]:
    """Return sentences, a short correction together with the next one, which has the right value."""
    kept: list[str] = []
    for sentence in found:
        if kept and len(words(kept[-1])) <= SHORT and read(kept[-1]).corrects:
            kept[-1] = f"{kept[-1]} {sentence}"
        else:
            kept.append(sentence)
    return kept


# Types


def prefers(text: str) -> bool:
    """Return whether a text words what the user likes, or wants from now on."""
    return expression("{preference}").search(text) is not None


def worded_as(sentence: str) -> str:
    """Return the type that a sentence's wording names: a correction, a decision, a preference, or nothing.

    >>> worded_as("I prefer tabs"), worded_as("User prefers dark mode"), worded_as("Ann lives in Rome")
    ('preference', 'preference', '')
    """
    if read(sentence).corrects:
        return "correction"
    if expression("{decision}").search(sentence):
        return "decision"
    return "preference" if prefers(sentence) else ""


def type_of(sentence: str) -> str:
    """Return the type of a sentence: by its wording, else an error or a fact."""
    return worded_as(sentence) or ("error" if _ERROR.search(sentence) else "fact")
