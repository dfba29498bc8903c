"""Names of entities and values, and the form in which they are compared. Pure."""

from __future__ import annotations

import re
from typing import NamedTuple

from hippocampus.facts.languages import word_set
from hippocampus.facts.words import normalised

ARTICLE = re.compile(
    r"the|an?|der|die|das|dem|den|eine?[nrm]?|el|l[ao]s?|les?|une?|una|l'", re.IGNORECASE
)


class Relation(NamedTuple):
    """One value of a relation that has one at a time."""

    subject: str
    predicate: str
    object: str


def key(name: str) -> str:
    """Return the form in which names of entities and values are compared.

    >>> key(" The  New York Office ")
    'new york office'
    """
    plain = (
        re.sub(rf"^(?:{ARTICLE.pattern})\s+", "", normalised(name))
        .strip(" .!。，,;:\"'“”„«»()")
        .strip()
    )
    return "user" if plain in FIRST or plain == "the user" else plain or normalised(name)


FIRST = word_set(
    """i me we us user ich wir yo nosotros je j' nous on я мы меня мне 我 我们 أنا نحن मैं हम मुझे
    हमें user"""
)
