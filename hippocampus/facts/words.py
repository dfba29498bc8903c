"""Texts to words, in any script: what the index holds and what a query asks. Pure."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Collection

from hippocampus.facts.stopwords import STOP_CHARACTERS, STOP_WORDS

UNSPACED = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f"  # Myanmar
    "\u1780-\u17ff"  # Khmer
    "\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # Hiragana, Katakana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"  # Han
    "\uac00-\ud7af"  # Hangul: spaced, but its particles cling to the words
)
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_RUN = re.compile(f"[{UNSPACED}]+")
_HIRAGANA = re.compile("[\u3041-\u309f\u30fc]+")
SHORTEST_STEM = 4
LONGEST_QUERY_WORDS = 64


def normalised(text: str) -> str:
    r"""Return a text in one form of Unicode, one case, one kind of space and apostrophe.

    >>> normalised("  Cafe\N{COMBINING ACUTE ACCENT} A\N{NO-BREAK SPACE}b ")
    'café a b'
    """
    if text.isascii():
        return " ".join(text.lower().split())
    folded = unicodedata.normalize("NFKC", text).casefold().replace("\u2019", "'")
    return " ".join(folded.split())


def words(text: str) -> list[str]:
    """Return the words of a text, folded; a run of a script without spaces is one word."""
    return _WORD.findall(normalised(text))


def bigrams(run: str) -> list[str]:
    """Return the pairs of neighbouring characters of a run, or the run where it is one."""
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def indexed(text: str) -> str | None:
    """Return what the index holds of a text, or nothing where that is the text itself.

    Runs without spaces stand as pairs of characters: most words of Chinese have two.
    """
    if text.isascii() or not _RUN.search(text):
        return None
    return _RUN.sub(lambda run: f" {' '.join(bigrams(run[0]))} ", text)


def language(found: list[str]) -> str:
    """Return the language whose function words a text uses most; English where none is found."""
    counts = {code: sum(word in stop for word in found) for code, stop in STOP_WORDS.items()}
    best = max(counts, key=lambda code: counts[code])
    return best if counts[best] > counts["en"] else "en"


def content_words(text: str) -> list[str]:
    """Return the distinct words of a text that carry content; all, where none does."""
    found = list(dict.fromkeys(words(text)))
    stop = STOP_WORDS[language(found)]
    kept = [word for word in found if word not in stop and word.split("'")[0] not in stop]
    return list(dict.fromkeys(word.removesuffix("'s") for word in kept or found))


def without(text: str, left_out: Collection[str]) -> str:
    """Return a text without some of its words, folded as `content_words` gives them.

    >>> without("What do Melanie's kids like?", ["melanie"])
    'What do kids like?'
    """

    def kept(found: re.Match[str]) -> str:
        return "" if normalised(found[0]).removesuffix("'s") in left_out else found[0]

    return " ".join(_WORD.sub(kept, text.replace("\u2019", "'")).split())


def match_terms(query: str) -> list[str]:
    """Return the FTS5 terms of a query, each quoted; to be joined by OR."""
    found = words(query)
    code = language(found)
    terms: dict[str, None] = {}
    for word in content_words(query)[:LONGEST_QUERY_WORDS]:
        for term in _terms_of(word, code):
            terms[term] = None
    return list(terms)


def _terms_of(word: str, code: str) -> list[str]:
    if not word.isascii() and _RUN.search(word):
        return [*_run_terms(word), *(f'"{part}"' for part in _RUN.split(word) if part)]
    quoted = f'"{word}"'
    if code == "en" and word.isascii():
        return [quoted, *(f'"{form}"' for form in _forms(word))]
    if len(word) <= SHORTEST_STEM or any(sign.isdigit() for sign in word):
        return [quoted]
    return [quoted, f'"{word[: max(SHORTEST_STEM, len(word) - 2)]}"*']


def _run_terms(word: str) -> list[str]:
    pairs = [pair for run in _RUN.findall(word) for pair in bigrams(run)]
    telling = [
        pair
        for pair in pairs
        if not _HIRAGANA.fullmatch(pair) and not any(sign in STOP_CHARACTERS for sign in pair)
    ]
    return [f'"{pair}"' if len(pair) > 1 else f'"{pair}"*' for pair in telling or pairs]


@functools.cache
def _irregular() -> dict[str, tuple[str, ...]]:
    forms: dict[str, tuple[str, ...]] = {}
    for line in IRREGULAR.split(","):
        group = tuple(line.split())
        for form in group:
            forms[form] = tuple(other for other in group if other != form)
    return forms


def _forms(word: str) -> tuple[str, ...]:
    """Return the other forms of an irregular English word, which no stemmer joins."""
    return _irregular().get(word, ())


IRREGULAR = """become became, begin began begun, break broke broken, bring brought, build built,
    buy bought, catch caught, choose chose chosen, come came, cost costs, cut cuts, draw drew drawn,
    drink drank drunk, drive drove driven, eat ate eaten, fall fell fallen, feel felt, fight fought,
    find found, fly flew flown, forget forgot forgotten, forgive forgave forgiven, freeze froze
    frozen, give gave given, grow grew grown, hear heard, hide hid hidden, hold
    held, keep kept, lead led, learn learnt learned, leave left, lend lent, lose lost loss, make made
    making, mean meant, meet met meeting, pay paid, ride rode ridden, ring rang rung, rise rose
    risen, run ran running, say said, see saw seen, sell sold, send sent, shoot shot, show showed
    shown, sing sang sung, sit sat, sleep slept, speak spoke spoken, spend spent, stand stood, steal
    stole stolen, swim swam swum swimming, take took taken taking, teach taught, tell told, think
    thought, throw threw thrown, understand understood, wake woke woken, wear wore worn, win won
    winning, write wrote written writing, child children kid, person people, man men, woman women,
    wife wives, life lives, foot feet, tooth teeth, mouse mice"""
