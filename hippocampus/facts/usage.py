"""Which memories that were printed into a conversation it then used. Only reads."""

from __future__ import annotations

import re

from hippocampus.facts import memories
from hippocampus.facts.models import Kind, Memory
from hippocampus.facts.statements import RECALLED
from hippocampus.facts.tables import FactTables
from hippocampus.facts.words import content_words

_ID = re.compile(r"\bid ([0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})\b")
_ENTRY = re.compile(r"^- \[(\d{4}-\d\d-\d\d) [^\]]*\] (.+)$", re.MULTILINE)
_TRIPLE = re.compile(r"^- (.+) → (.+) → (.+) \(since \d{4}-\d\d-\d\d[^)]*\)$", re.MULTILINE)
KINDS: tuple[Kind, ...] = ("fact", "memory")
LEAST_WORDS = 2
"""How many of a memory's words, which the question did not have, an answer has that uses it."""


def used(tables: FactTables, printed: str, said: str, agent: str) -> list[str]:
    """Return the ids of the memories of a printed text that what was said after it uses."""
    asked = set(content_words(RECALLED.sub(" ", printed)))
    answer = set(content_words(said))
    return [
        memory.id
        for memory in _printed(tables, printed, agent).values()
        if _is_used(set(content_words(memory.content)), asked, answer)
    ]


def _is_used(own: set[str], asked: set[str], answer: set[str]) -> bool:
    telling = own - asked
    return len(telling & answer) >= min(LEAST_WORDS, len(telling)) > 0


def _printed(tables: FactTables, printed: str, agent: str) -> dict[str, Memory]:
    """Return the memories that a text shows, by the ids or the words in it."""
    db = tables.database
    found = {each.id: each for _, each in memories.by_id(db, _ID.findall(printed)).values()}
    for frame in RECALLED.findall(printed):
        texts = [text for _, text in _ENTRY.findall(frame)]
        texts += [
            f"{subject} {predicate.replace('_', ' ')} {value}"
            for subject, predicate, value in _TRIPLE.findall(frame)
        ]
        for text in texts:
            plain = re.sub(r" \((?:about: .*|until \d{4}-\d\d-\d\d)\)$", "", text)
            for kind in KINDS:
                same = (memories.hashed(plain, kind), agent)
                where = "WHERE hash = ? AND agent = ? AND known_until IS NULL"
                found |= {each.id: each for each in memories.select(db, where, same).values()}
    return found
