"""Which value of a statement another one, in the same words, sets anew: a number, or a name. Pure."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import NamedTuple

from hippocampus.facts.languages import SpokenLanguage, expression, language, pattern
from hippocampus.facts.topics import persons, same_stem
from hippocampus.facts.words import CACHED_TEXTS, MARKS, UNSPACED, UNSPACED_SIGN, spoken

_WORD = rf"(?:(?![{UNSPACED}])[^\W_]|[{MARKS}'’-])+"
_TOKEN = (
    r"(?P<number>\d+(?:[.,:]\d+|h\d*)*|(?<!\w)(?:{numbers}|{days})(?!\w)|(?<=\s)[^\W\d_]+\d+(?=\s*$))"
    rf"|{_WORD}"
)
_UNSPACED_TOKEN = rf"(?P<number>\d+(?:[.,:]\d+)*(?:[万千百億억만천]\d*)*|(?:{{days}}|{{numbers}}))|[{UNSPACED}]|{_WORD}"
"""A number, as which a code such as `Net30` counts at the end, a character of a script without spaces, or a word."""
_STOPS = " .!。！।"
_HIRAGANA = re.compile("[\u3041-\u309f]")
_OWNER = re.compile("['’]s$")
MAX_WORDS, MAX_SIGNS = 3, 6
"""How long a name is: in words, and in characters of a script without spaces."""


class _Words(NamedTuple):
    """A sentence without its words for the present."""

    language: SpokenLanguage
    tokens: tuple[str, ...]
    numbers: tuple[int, ...]
    """The places of its numbers."""
    is_unspaced: bool

    @property
    def gap(self) -> str:
        """Return the text between two tokens."""
        return "" if self.is_unspaced else " "

    def topical(self, tokens: Sequence[str]) -> list[str]:
        """Return the tokens that are no small words."""
        small = self.language.stop_words
        return [token for token in tokens if token.lower() not in small]


def replaced_value(old: str, new: str) -> str:
    """Return the value of a sentence in whose place another one has another; empty where that is not certain.

    >>> replaced_value("My manager is Sarah", "My manager is now Tom")
    'Sarah'
    >>> replaced_value("There are four of us", "There are seven of us now")
    'four'
    >>> replaced_value("ClientA pays Net30", "ClientA now pays Net60"), replaced_value("Web1 is up", "Web2 is up now")
    ('Net30', '')
    """
    if persons(old) != persons(new):
        return ""
    code = _shared_language(old, new)
    ours, theirs = _read(new, code), _read(old, code)
    if number := _number(theirs, ours):
        return number
    known, anew = _named(theirs), _named(ours)
    if known is None or anew is None or known[:2] != anew[:2]:
        return ""
    return known[2] if known[2].lower() != anew[2].lower() else ""


def value_behind(sentence: str, thing: str, value: str) -> str:
    """Return the number or date that a sentence has for a thing, where a value is one too.

    >>> value_behind("The port of the proxy is 80", "the port", "81"), value_behind("The port is 80", "the port", "Rome")
    ('80', '')
    """
    code = _shared_language(sentence, thing)
    known, new = _read(sentence, code), _read(value, code)
    last = _read(thing, code).tokens[-1].lower()
    named = (at for at, token in enumerate(known.tokens) if same_stem(token.lower(), last))
    place = next(named, None)
    near = [at for at in known.numbers if place is not None and at > place]
    theirs, ours = [known.tokens[at] for at in near], [new.tokens[at] for at in new.numbers]
    if not near or not ours or [*map(str.lower, theirs)] == [*map(str.lower, ours)]:
        return ""
    return known.gap.join(known.tokens[near[0] : near[-1] + 1])


def _shared_language(one: str, other: str) -> str:
    code = spoken(one).code
    return code if code == spoken(other).code else spoken(f"{one} {other}").code


@functools.lru_cache(maxsize=CACHED_TEXTS)
def _read(text: str, code: str) -> _Words:
    known = language(code)
    present = pattern(known.now)
    is_unspaced = UNSPACED_SIGN.search(text) is not None
    plain = present.sub("" if is_unspaced else " ", text.strip(_STOPS))
    token = expression(_UNSPACED_TOKEN if is_unspaced else _TOKEN, code)
    found = list(token.finditer(plain))
    numbers = tuple(at for at, match in enumerate(found) if match["number"])
    return _Words(known, tuple(match[0] for match in found), numbers, is_unspaced)


def _number(old: _Words, new: _Words) -> str:
    """Return the one number of a sentence that another one has another for, in the same words."""
    if len(old.numbers) != len(new.numbers):
        return ""
    pairs = [
        (at, there)
        for at, there in zip(old.numbers, new.numbers, strict=True)
        if old.tokens[at].lower() != new.tokens[there].lower()
    ]
    if len(pairs) != 1:
        return ""
    [(at, there)] = pairs
    rules, about, next_to = old.language, old.topical(old.tokens[:at]), old.tokens[at + 1 : at + 2]
    if not old.is_unspaced and len(about) == 1 and next_to:
        # A number may name what the sentence is about, as in `Room 12 is booked`.
        is_named = old.tokens[at].isdigit() and old.topical(old.tokens[at - 1 : at])
        is_value = rules.drops_subjects and old.topical(next_to)
        if is_named and not is_value and not pattern(rules.own).match(old.tokens[0]):
            return ""
    before = [_folded(side) for side in (old.tokens[:at], new.tokens[:there])]
    after = [_folded(side) for side in (old.tokens[at + 1 :], new.tokens[there + 1 :])]
    return old.tokens[at] if before[0] == before[1] and after[0] == after[1] else ""


def _folded(tokens: Sequence[str]) -> list[str]:
    """Return tokens in one case, without the endings of Japanese verbs."""
    return [token.lower() for token in tokens if not _HIRAGANA.match(token)]


def _named(sentence: _Words) -> tuple[str, str, str] | None:
    """Return subject, verb and name of a sentence that names one thing: `my car` and `my son's teacher`."""
    rules, text = sentence.language, sentence.gap.join(sentence.tokens)
    edge = "(?:{copulas})" if sentence.is_unspaced else r"(?<!\S)(?:{copulas})(?!\S)"
    copula = expression(edge, rules.code).search(text)
    if copula is None:
        return None
    subject, value = text[: copula.start()].strip() or copula[0], text[copula.end() :].strip()
    name = expression("^(?:{articles}|{indefinite}) |(?:{behind})$", rules.code).sub("", value)
    who = persons(subject)
    if sentence.is_unspaced:
        is_name = 0 < len(name) <= MAX_SIGNS and not _HIRAGANA.search(name)
        is_thing = not any(subject.endswith(person) for person in who)
    else:
        tokens = name.split()
        is_cased = any(token[:1].isupper() for token in tokens) or name.lower() == name.upper()
        is_name = 0 < len(tokens) <= MAX_WORDS and is_cased and bool(sentence.topical(tokens[:1]))
        named = [word for word in sentence.topical(subject.split()) if not _OWNER.search(word)]
        article = expression("^(?:{articles}) ", rules.code)
        is_thing = bool(named) and bool(
            article.search(subject) or pattern(rules.own).search(subject)
        )
        if is_thing and named[0].lower() in who:
            # A person may be a Dane and a dentist, but is one Tom.
            is_kind = expression("(?:{indefinite}) .*", rules.code).fullmatch(value) is not None
            has_case = subject.lower() != subject.upper()
            is_thing = not is_kind and (rules.names_are_cased or not has_case)
    return (subject.lower(), copula[0].split(" ")[0], name) if is_name and is_thing else None
