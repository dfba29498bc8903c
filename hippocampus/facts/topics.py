"""The words of a sentence that name what it is about, and how alike two sentences are by their words. Pure."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Collection, Mapping

from hippocampus.facts.languages import expression, language_of, pattern, words_of_any
from hippocampus.facts.words import (
    CACHED_TEXTS,
    UNSPACED,
    UNSPACED_SIGN,
    bigrams,
    names,
    normalised,
    spoken,
    words,
)
from hippocampus.storage.facts.rows import Memory

LABEL = re.compile(
    rf"\W{{0,3}}(.{{1,200}}?(?=:[\s*]+\S|：\s*\S|:[{UNSPACED}])|\S+(?:\s\S+)?(?=\s(?:[-–—]+\s\S|\(?\d\d?:\d\d\b)))"
)
"""The words before a colon, or a name before a dash or a time."""
MAX_LABEL_WORDS = 3
MIN_PART = 5
"""How many letters of a word a compound with it has."""
SHINGLE, UNSPACED_SHINGLE = 3, 2
_NOT_OWN = re.compile(r"(?i)(?<!\bit)(?<!\b(?:here|that|what))['’]s\b|\w[._/]\w")
"""A possessive, or a name with a dot or a slash in it."""
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")


@functools.lru_cache(maxsize=CACHED_TEXTS)
def topic(text: str) -> frozenset[str]:
    """Return the words of a text that name what it is about: no small words, no verbs of change.

    Of a script without spaces these are pairs of characters.
    """
    language, small = spoken(text), small_words(text)
    if UNSPACED_SIGN.search(text):
        for verb in sorted(small, key=len, reverse=True):
            text = text.replace(verb, " ")
        return frozenset(
            pair
            for word in words(text)
            for pair in (bigrams(word) if UNSPACED_SIGN.search(word) else [word])
        )
    own = pattern(language.own)
    return frozenset(
        word
        for word in words(text.replace("'", " "))
        if word not in small and not own.fullmatch(word)
    )


def is_own(sentence: str) -> bool:
    """Return whether a sentence is about the speaker or the speaker's things, and about no other person."""
    rules = spoken(sentence)
    if persons(sentence):
        return False
    plain = sentence.replace("\u2019", "'")
    return rules.drops_subjects or pattern(rules.own).search(plain) is not None


def is_labelled(line: str) -> bool:
    """Return whether a line opens with who else speaks in it in the first person.

    >>> is_labelled("dave: my team is Chelsea"), is_labelled("Ticket #12: I pay by Visa"), is_labelled("Note: I like tea")
    (True, True, False)
    >>> is_labelled("My boss: I like tabs"), is_labelled("My job: I like tabs")
    (True, False)
    >>> is_labelled("What changed for me since: I work in Ghent"), is_labelled("Honestly - I like tabs")
    (False, False)
    """
    label = foreign_label(line)
    named, after = words(label), line[line.find(label) + len(label) :]
    if not named or pattern(spoken(line).own).search(after) is None:
        return False
    if persons(label) or _NOT_OWN.search(label) or expression("{texts}").search(label):
        return True
    is_long = len(named) > MAX_LABEL_WORDS and not re.search(r"\d", label)  # a chat has times
    is_clause = is_long or named[0] in small_words(line)
    return after.startswith((":", "：")) and not is_clause


def foreign_label(line: str) -> str:
    """Return what a line opens with before a colon or a dash, where that announces no words of the speaker.

    >>> foreign_label("Act as Bo. Bo's bio: I cook"), foreign_label("Note: I cook"), foreign_label("Bo - I cook")
    ("Act as Bo. Bo's bio", '', 'Bo')
    """
    label = LABEL.match(line)
    if label is None:
        return ""
    named, rules = words(label[1]), spoken(line)
    is_known = not words_of_any("labels").isdisjoint(named) or pattern(rules.own).search(label[1])
    is_of_others = persons(label[1]) or _NOT_OWN.search(label[1])
    is_own = len(named) <= MAX_LABEL_WORDS and is_known and not is_of_others
    return "" if is_own or pattern(rules.correction).search(label[1] + ":") else label[1]


def holds(text: str, wanted: frozenset[str]) -> bool:
    """Return whether a text has all of some words, in any inflection."""
    if not wanted:
        return False
    present = words(text.replace("'", " "))
    plain, unspaced = normalised(text), UNSPACED_SIGN.search(text) is not None
    return all(
        (word in plain)
        if unspaced or UNSPACED_SIGN.search(word)
        else any(same_stem(word, other) for other in present)
        for word in wanted
    )


def coverage(wanted: Collection[str], text: str) -> float:
    """Return the share of some words that a text has, in whatever inflection.

    >>> coverage(["live", "berlin"], "She lives in Berlin")
    1.0
    """
    return sum(holds(text, frozenset({word})) for word in wanted) / max(1, len(wanted))


def same_stem(one: str, other: str) -> bool:
    """Return whether two words differ at most in their endings.

    >>> same_stem("москвы", "москве"), same_stem("eat", "eats"), same_stem("drinking", "drink"), same_stem("tea", "team")
    (True, True, True, False)
    """
    if one == other:
        return True
    one, other = one.removeprefix("ال"), other.removeprefix("ال")
    short, long = sorted((one, other), key=len)
    if any(sign.isdigit() for sign in one + other) or len(short) < 3:
        return one == other
    endings, verbal = words_of_any("endings"), words_of_any("verb_endings")
    rest, is_foreign = long.removeprefix(short), not short.isascii()
    has_ending = long != rest and (rest in endings or (is_foreign and len(rest) <= 2))
    stem = len(short) - (2 if len(short) > 4 else 1)
    is_near = stem >= 3 and long[:stem] == short[:stem] and len(long) - stem <= 3
    if has_ending or (is_foreign and is_near):  # of other scripts, any short ending
        return True
    for at in range(3, len(short)):  # an infinitive or a gerund, as `fumare` of `fumo`
        ends = {short[at:], long[at:]}
        if short[:at] == long[:at] and len(ends & verbal) == 1 and ends <= verbal | endings:
            return True
    # A compound begins or ends with its parts, as those of German do.
    begins = len(short) > MIN_PART and long.startswith(short) and len(long) > len(short) + 2
    if begins or (len(short) >= MIN_PART and long.endswith(short)):
        return True
    return (
        len(one) == len(other)
        and one[:-1] == other[:-1]
        and {one[-1], other[-1]} <= words_of_any("last_vowels")
    )


def small_words(text: str) -> frozenset[str]:
    """Return the words of a text's language that name no topic."""
    return spoken(text).stop_words | spoken(text).verbs


@functools.lru_cache(maxsize=CACHED_TEXTS)
def persons(text: str) -> frozenset[str]:
    """Return the persons other than the speaker that a text names by what they are to the speaker."""
    people = spoken(text).people
    if UNSPACED_SIGN.search(text):
        return frozenset(person for person in people if person in text)
    return people & set(words(text.replace("'", " ")))


# Likeness: scriptling estimates Jaccard's index by MinHash; the few texts that are compared here are
# compared exactly.


def features(text: str) -> set[str]:
    """Return the distinct words of a text, and its runs of three characters, marked by a space."""
    joined = re.sub(r"[\W_]+", " ", normalised(text)).strip()
    size = UNSPACED_SHINGLE if UNSPACED_SIGN.search(joined) else SHINGLE
    shingles = {f" {joined[i : i + size]}" for i in range(max(1, len(joined) - size + 1))}
    return shingles.union(words(text))


def jaccard(one: set[str], other: set[str]) -> float:
    """Return the share that two sets have in common."""
    return len(one & other) / len(one | other)


def similarities(text: str, others: Mapping[int, Memory]) -> dict[int, float]:
    """Return the share of words and shingles that a text has in common with memories."""
    own = features(text)
    return {row: jaccard(own, features(memory.content)) for row, memory in others.items()}


def differ(one: str, other: str) -> bool:
    """Return whether two texts differ in a number, a name or a denial.

    >>> differ("Ann has 2 cats", "Ann has 3 cats"), differ("Ann likes tea", "Ann likes tea!")
    (True, False)
    >>> differ("she met Żaneta", "she met Łucja")
    True
    """
    return _marks(one) != _marks(other)


def _marks(text: str) -> tuple[Counter[str], frozenset[str], bool]:
    found = words(text)
    negation = pattern(language_of(text, found).negation)
    denies = negation.search(text.replace("\u2019", "'")) is not None
    return Counter(_NUMBER.findall(text)), names(text), denies
