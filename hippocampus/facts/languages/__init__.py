"""What the fact store knows of languages: a table for each, which `table` reads.

Every language has stop words, most have `Phrases` and `WordingRules` too. Nothing here decides what a
statement means for stored ones.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from hippocampus.facts.languages import table

WITH_RULES = ("en", "de", "fr", "es", "it", "pt", "ru", "ar", "hi", "zh", "ja", "ko")
CODES = (*WITH_RULES, "nl", "uk", "pl", "sv", "tr", "el")
"""In the order in which ties are broken; stop words of the last ones keep a text from being read by another language's."""
SCRIPTS = (
    ("ja", re.compile("[\u3040-\u30fb\u30fd-\u30ff]")),
    ("ko", re.compile("[\uac00-\ud7af]")),
    ("zh", re.compile("[\u4e00-\u9fff]")),
    ("ar", re.compile("[\u0600-\u06ff]")),
    ("hi", re.compile("[\u0900-\u097f]")),
    ("el", re.compile("[\u0370-\u03ff]")),
)
"""In this order: Japanese has Han characters too."""
CYRILLIC = re.compile("[\u0400-\u04ff]")
LETTERS = {
    "de": re.compile("[äöüß]"),
    "es": re.compile("[ñ¿¡íóú]"),
    "fr": re.compile("[èêçœûî]"),
    "it": re.compile("[òùìè]"),
    "pt": re.compile("[ãõç]"),
}
"""Letters that tell languages of one script apart, where few words do."""
_WORD = r"[^\s,.:;!?()，。；：！？、،؛؟।]{1,30}?"
_PART = r"(?:[^,.;:!?()，。；：！？、،؛؟।]|(?<=\d)[.:,](?=\s?\w))"
_VALUE = {
    "{thing}": rf"(?P<thing>{_WORD}(?: {_WORD}){{0,4}}?)",
    "{old}": rf"(?P<old>{_WORD}(?: {_WORD}){{0,3}}?)",
    "{new}": rf"(?P<new>{_PART}{{1,60}})",
}


class Phrases(NamedTuple):
    """Words of a language that are looked for in texts of any language; regular expressions, but the first two."""

    first: str
    """How speakers name themselves, separated by spaces."""
    third: str = ""
    """Pronouns of others, likewise: whom they mean is not known here."""
    and_words: str = ""
    but_words: str = ""
    joins: str = ""
    """Between words of a value they join two values, or a value and a condition."""
    now_words: str = ""
    """That a clause is about the present, in front of it."""
    again_words: str = ""
    """The same behind it, and since when."""
    when: str = ""
    """When or why, at either end of a clause."""
    days: str = ""
    """Weekdays and months."""
    numbers: str = ""
    """The small ones as words, and how often."""
    articles: str = ""
    """The definite ones."""
    indefinite: str = ""
    copulas: str = ""
    """Between what a statement is about and its name or place."""
    behind: str = ""
    """What stands behind a name that ends a sentence."""
    interjections: str = ""
    """Openings that correct nothing by themselves."""
    conditions: str = ""
    """Openings after which nothing is so."""
    forwarded: str = ""
    """The heading of a forwarded mail."""
    headers: str = ""
    """Names of lines in the head of a mail."""
    greetings: str = ""
    closings: str = ""
    """The last line of a letter."""
    wrote: str = ""
    """The line above a mail that is answered."""
    please: str = ""
    rework: str = ""
    """What a user asks to be done with a text that follows."""
    preference: str = ""
    """What the user likes, or wants from now on."""
    decision: str = ""
    """That something is settled."""
    lasting: str = ""
    """What people state of themselves that outlives a session, next to where they live and work."""
    about_user: str = ""
    """Words about the user in an assistant's mouth, and what looks like a memory: hearsay."""
    orders: str = ""
    """Words of an order, which only the user may leave behind."""
    forgotten: str = ""
    """Words of an instruction to remember that are none: what the user has forgotten, or notices."""
    irregular: str = ""
    """Words with the forms that no stemmer joins to them, separated by commas."""


class WordingRules(NamedTuple):
    """How a language words what may end an earlier statement; regular expressions, none may be empty."""

    code: str
    own: str
    """Any word of the first person."""
    people: str
    """Persons other than the speaker, as the speaker names them."""
    drops_subjects: bool
    """Whether a sentence of the speaker's may have no word of the first person."""
    names_are_cased: bool
    """Whether a capital within a sentence marks a name."""
    hypothetical: str
    """A condition, a wish, a plan or a guess."""
    reported: str
    """Another person's words."""
    temporary: str
    """A state that ends by itself."""
    addition: str
    """The new statement holds next to the old one."""
    correction: str
    """An opening by which the speaker calls the last statement wrong."""
    now: str
    """That something became so, or is so again."""
    changed: str
    """Verbs of change."""
    moves: Sequence[str]
    """The old value and the new one, in a sentence with a verb of change; see `template`."""
    swaps: Sequence[str]
    """The same in wordings that need no verb; `{new}` may be missing."""
    shifts: Sequence[str]
    """A thing and its new value, where the old one is not named; see `template`."""
    ended: str
    """That something is so no longer."""
    negation: str
    """Words of a denial."""
    verbs: str
    """Words of change and of use, which name no topic."""
    single: Sequence[tuple[str, str]]
    """Relations with one value at a time: a name, and a clause with the groups `subject` and `object`."""


class SpokenLanguage(NamedTuple):
    """One language."""

    code: str
    stop_words: frozenset[str]
    telling: frozenset[str] = frozenset()
    """Further words by which it is recognised."""
    phrases: Phrases | None = None
    rules: WordingRules | None = None


@functools.cache
def language(code: str) -> SpokenLanguage:
    """Return the language of a code."""
    found = table.read(Path(__file__).with_name(f"{code}.txt").read_text(encoding="utf-8"))
    if code not in WITH_RULES:
        return SpokenLanguage(code, word_set(found["stop_words"]))
    worded = Phrases(**{name: found[name] for name in Phrases._fields if name in found})
    named = [name for name in WordingRules._fields if name != "code"]
    rules = WordingRules(code, **{name: found[name] for name in named})
    telling = found["telling"] | word_set(rules.verbs)
    return SpokenLanguage(code, word_set(found["stop_words"]), telling, worded, rules)


@functools.cache
def _codes() -> dict[str, list[int]]:
    """Return for each small word the places of its languages in `CODES`."""
    found: dict[str, list[int]] = {}
    for place, code in enumerate(CODES):
        spoken = language(code)
        for word in spoken.stop_words | spoken.telling:
            found.setdefault(word, []).append(place)
    return found


def language_of(text: str, words: Sequence[str]) -> SpokenLanguage:
    """Return the language of a text: by its script, else by the most function words; else Russian or English."""
    if not text.isascii():
        for code, script in SCRIPTS:
            if script.search(text):
                return language(code)
    known, counts = _codes(), [0] * len(CODES)
    for word in words:
        for part in word.split("'") if "'" in word else (word,):
            for place in known.get(part, ()):
                counts[place] += 1
    if not text.isascii():
        for code, letters in LETTERS.items():
            counts[CODES.index(code)] += bool(
                counts[CODES.index(code)] and letters.search(text.lower())
            )
    if not (most := max(counts)):
        return language("ru" if CYRILLIC.search(text) else "en")
    return language(CODES[counts.index(most)])


@functools.cache
def pattern(text: str) -> re.Pattern[str]:
    """Return a rule's compiled expression; it may be laid out over lines."""
    return re.compile("".join(part.strip() for part in text.split("\n")), re.IGNORECASE)


@functools.cache
def phrases(field: str, code: str = "") -> str:
    """Return a field of the phrases of a language; without a code that of all of them, as alternatives."""
    spoken = [language(each).phrases for each in ([code] if code else WITH_RULES)]
    found = [getattr(each, field) for each in spoken if each]
    return "|".join("".join(map(str.strip, each.split("\n"))) for each in found if each)


@functools.cache
def words_of_any(field: str) -> frozenset[str]:
    """Return the words of a field of any language."""
    return word_set(phrases(field).replace("|", " "))


@functools.cache
def expression(text: str, code: str = "") -> re.Pattern[str]:
    """Return an expression with `{name}` replaced by that field of the phrases of a language, or of all.

    >>> expression("({and_words}) ({now_words})").search("und jetzt")[2]
    'jetzt'
    >>> expression("({and_words}) ({now_words})", "en").search("und jetzt")
    """
    for name in Phrases._fields:
        if f"{{{name}}}" in text:
            text = text.replace(f"{{{name}}}", phrases(name, code) or "(?!)")
    return re.compile(text, re.IGNORECASE)


@functools.cache
def template(text: str) -> re.Pattern[str]:
    """Return the expression of a wording with `{old}`, `{new}` and `{thing}` in their places.

    >>> found = template("from {old} to {new}").search("We moved from Hull to Derby, at last")
    >>> found["old"], found["new"]
    ('Hull', 'Derby')
    """
    for name, value in _VALUE.items():
        at_end = text.endswith(name)
        text = text.replace(name, value.replace("}?", "}") if at_end else value)
    edge = (
        ""
        if re.search("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]", text)
        else r"(?<![\w\u0900-\u094f])"
    )
    return re.compile(edge + text.replace(" ", r"\s+"), re.IGNORECASE)


def word_set(text: str) -> frozenset[str]:
    """Return the words of a table that is written as text."""
    return frozenset(text.split())
