"""Texts to words, in any script: what the index holds and what a query asks. Pure."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Collection

from hippocampus.entries.entry import storable
from hippocampus.facts.languages import SpokenLanguage, language, language_of, words_of_any
from hippocampus.storage.facts.rows import TextRules

UNSPACED = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f"  # Myanmar
    "\u1780-\u17ff"  # Khmer
    "\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # Hiragana, Katakana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"  # Han
    "\uac00-\ud7af"  # Hangul: spaced, but its particles cling to the words
)
UNSPACED_SIGN = re.compile(f"[{UNSPACED}]")
MARKS = r"\u0300-\u036f\u0610-\u061a\u064b-\u0655\u0900-\u0903\u093a-\u094f"
"""The vowel signs of Devanagari and Arabic, which are no letters to `re`."""
_WORD = re.compile(rf"(?:[^\W_]|[{MARKS}])+(?:'[^\W_]+)?")
SIGN_OR_WORD = re.compile(rf"[{UNSPACED}]|(?:(?![{UNSPACED}])[^\W_]|[{MARKS}])+")
"""A character of a script without spaces, or a word."""
_RUN = f"[{UNSPACED}]+"
_HIRAGANA = "[\u3041-\u309f\u30fc]+"
_HANGUL = "[\uac00-\ud7af]"
SHORTEST_STEM = 4
ARTICLE_BEFORE = re.compile(
    r"^(?:the|an?|der|die|das|dem|den|eine?[nrm]?|el|l[ao]s?|les?|une?|una|l')\s+", re.IGNORECASE
)
MAX_QUERY_WORDS = 64
CACHED_TEXTS = 4096
"""How many texts each reading of them remembers."""
_INVISIBLE = re.compile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")
"""Hyphenation, direction and joining marks within words, as pages and messengers write them."""


def normalised(text: str) -> str:
    r"""Return a text in one form of Unicode, one case, one kind of space and apostrophe, without invisible signs.

    >>> normalised("  Cafe\N{COMBINING ACUTE ACCENT} A\N{NO-BREAK SPACE}b\N{ZERO WIDTH SPACE}c ")
    'café a bc'
    """
    if text.isascii():
        return " ".join(text.lower().split())
    visible = _INVISIBLE.sub("", unicodedata.normalize("NFKC", storable(text)))
    return " ".join(visible.casefold().replace("\u2019", "'").split())


def key(name: str) -> str:
    """Return the form in which names of subjects and values are compared.

    >>> key(" The  New York Office ")
    'new york office'
    """
    plain = ARTICLE_BEFORE.sub("", normalised(name)).strip(" .!。，,;:\"'“”„«»()").strip()
    return (
        "user"
        if plain in words_of_any("first") or plain == "the user"
        else plain or normalised(name)
    )


def words(text: str) -> list[str]:
    """Return the words of a text, folded; a run of a script without spaces is one word."""
    return _WORD.findall(normalised(text))


@functools.lru_cache(maxsize=2 * CACHED_TEXTS)
def spoken(text: str) -> SpokenLanguage:
    """Return the language of a statement."""
    return language_of(text, words(text))


def bigrams(run: str) -> list[str]:
    """Return the pairs of neighbouring characters of a run, or the run where it is one."""
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def indexed(text: str) -> str | None:
    """Return what the index holds of a text, or nothing where that is the text itself.

    Runs without spaces become pairs of characters: most words of Chinese have two. Invisible signs go.
    """
    if text.isascii() or not re.search(f"{_RUN}|{_INVISIBLE.pattern}", text):
        return None
    return re.sub(_RUN, lambda run: f" {' '.join(bigrams(run[0]))} ", _INVISIBLE.sub("", text))


def content_words(text: str, *, or_all: bool = True) -> list[str]:
    """Return the distinct words of a text that carry content; all, where none does and `or_all`."""
    found = list(dict.fromkeys(words(text)))
    stop = language_of(text, found).stop_words
    kept = [word for word in found if word not in stop and word.split("'")[0] not in stop]
    if or_all:
        kept = kept or found
    return list(dict.fromkeys(word.removesuffix("'s") for word in kept))


def names(text: str) -> frozenset[str]:
    """Return the words of a text with a capital, without its first, folded.

    >>> sorted(names("What does ClientA pay in Porto?"))
    ['clienta', 'porto']
    """
    cased = (word for word in re.findall(r"(?<!^)\b\w[\w-]+", text) if word[0].isupper())
    return frozenset(map(str.casefold, cased))


def without(text: str, left_out: Collection[str]) -> str:
    """Return a text without some of its words, folded as `content_words` gives them.

    >>> without("What do Melanie's kids like?", ["melanie"])
    'What do kids like?'
    """

    def kept(found: re.Match[str]) -> str:
        return "" if normalised(found[0]).removesuffix("'s") in left_out else found[0]

    return " ".join(_WORD.sub(kept, text.replace("\u2019", "'")).split())


def query_terms(query: str) -> dict[str, str]:
    """Return for each content word of a query the FTS5 expression that finds it."""
    found = words(query)
    language = language_of(query, found)
    terms: dict[str, str] = {}
    for word in content_words(query)[:MAX_QUERY_WORDS]:
        if not word.isascii() and re.search(_RUN, word):
            others = [part for part in re.split(_RUN, word) if part]
            for pair in _pairs(word, language.stop_words, has_others=bool(others)):
                terms[pair] = f'"{pair}"' if len(pair) > 1 else f'"{pair}"*'
            terms |= {part: f'"{part}"' for part in others}
        elif language.code == "en" and word.isascii():
            forms = word, *_irregular().get(word, ())
            terms[word] = " OR ".join(dict.fromkeys(f'"{form}"' for form in forms))
        elif len(word) <= SHORTEST_STEM or any(sign.isdigit() for sign in word):
            terms[word] = f'"{word}"'
        else:
            terms[word] = f'"{word}" OR "{word[: max(SHORTEST_STEM, len(word) - 2)]}"*'
    return terms


def _pairs(word: str, stop_words: Collection[str], *, has_others: bool) -> list[str]:
    """Return the pairs of a word that are asked for; the last one of Hangul has a particle or an ending."""
    if re.search(_HANGUL, word):
        found = [bigrams(run) for run in re.findall(_RUN, word)]
        return [pair for pairs in found for pair in pairs[:-1] or ([] if has_others else pairs)]
    pairs = [pair for run in re.findall(_RUN, word) for pair in bigrams(run)]
    telling = [
        pair
        for pair in pairs
        if not re.fullmatch(_HIRAGANA, pair) and not any(sign in stop_words for sign in pair)
    ]
    return telling or pairs


@functools.cache
def _irregular() -> dict[str, tuple[str, ...]]:
    """Return the other forms of irregular English words, which no stemmer joins."""
    groups = (tuple(forms.split()) for forms in " ".join(language("en").irregular).split(","))
    return {
        form: tuple(other for other in group if other != form) for group in groups for form in group
    }


TEXT_RULES = TextRules(normalised, words, key, indexed)
