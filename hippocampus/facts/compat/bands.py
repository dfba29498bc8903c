"""The bands of hippo (cosine) and scriptling (MinHash): from here on two texts are the same.

They hold only where a policy's preset asks for them, and never for texts whose numbers or denials differ.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hippocampus.facts import judge, memories
from hippocampus.facts.compat import minhash
from hippocampus.facts.languages import language_of, pattern
from hippocampus.facts.models import Item, Memory
from hippocampus.facts.tables import FactTables
from hippocampus.facts.words import match_of, words

if TYPE_CHECKING:
    from hippocampus.facts.tables import Matrix

COMPARED = 50
MOST_ASKED = 50
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")


def duplicate_of(  # noqa: PLR0913, PLR0917 - each is one property of the new text
    tables: FactTables,
    item: Item,
    type_name: str,
    vector: Matrix | None,
    agent: str,
    unwritten: Mapping[int, Matrix],
) -> int | None:
    """Return the current row of the same agent, scope and type that is the same by a band, or nothing."""
    policy, now = tables.policy, tables.clock()
    likely: dict[int, float] = {}
    if vector is not None and policy.duplicate_cosine:
        near = tables.vectors.nearest(vector, policy.candidates) if tables.has_vectors else {}
        near |= {row: float(vector @ other) for row, other in unwritten.items()}
        likely = {row: value for row, value in near.items() if value > policy.duplicate_cosine}
    if policy.duplicate_minhash and (match := match_of(item.content)):
        there = memories.matching(tables.database, match, agent, item.scope, now, COMPARED)
        likely |= {
            row: value
            for row, value in _alike(item.content, there).items()
            if value >= policy.duplicate_minhash
        }
    kept = memories.by_row(tables.database, likely)
    for row in sorted(likely, key=lambda row: -likely[row]):
        old = kept.get(row)
        if (
            old is not None
            and old.known_until is None
            and old.removed is None
            and old.kind == "fact"
        ):
            same = (old.agent, old.scope, old.type) == (agent, item.scope, type_name)
            if same and not differ(old.content, item.content):
                return row
    return None


def similar(  # noqa: PLR0913, PLR0917 - each is one property of the new text
    tables: FactTables, text: str, agent: str, scope: str, type_name: str, least: float
) -> Memory | None:
    """Return the most similar current memory of a type by MinHash, from a similarity on."""
    match = match_of(text)
    there = (
        memories.matching(tables.database, match, agent, scope, tables.clock(), COMPARED)
        if match
        else {}
    )
    likely = {row: value for row, value in _alike(text, there).items() if value >= least}
    fit = [
        row
        for row in likely
        if there[row].type == type_name and not differ(there[row].content, text)
    ]
    return there[max(fit, key=lambda row: likely[row])] if fit else None


def _alike(text: str, others: Mapping[int, Memory]) -> dict[int, float]:
    if not others:
        return {}
    signs = minhash.signatures([text, *(memory.content for memory in others.values())])
    return dict(zip(others, minhash.similarities(signs[0], signs[1:]).tolist(), strict=True))


def differ(one: str, other: str) -> bool:
    """Return whether two texts differ in a number, a name or a denial.

    >>> differ("Ann has 2 cats", "Ann has 3 cats"), differ("Ann likes tea", "Ann likes tea!")
    (True, False)
    """
    return _marks(one) != _marks(other)


def _marks(text: str) -> tuple[Counter[str], frozenset[str], bool]:
    found = words(text)
    rules = language_of(text, found).rules
    denies = bool(rules and pattern(rules.negation).search(text.replace("\u2019", "'")))
    names = frozenset(word.casefold() for word in re.findall(r"(?<!^)\b[A-ZÀ-ÞА-ЯЁ][\w-]+", text))
    return Counter(_NUMBER.findall(text)), names, denies


def merged_by_model(tables: FactTables, kept: Mapping[int, Memory]) -> dict[int, int]:
    """Return which rows a model calls the same as an earlier one, of pairs between scriptling's bands."""
    assert tables.complete is not None
    policy = tables.policy
    signs = dict(
        zip(kept, minhash.signatures([each.content for each in kept.values()]), strict=True)
    )
    pairs: list[tuple[int, int]] = []
    losers: dict[int, int] = {}
    for one, other in itertools.combinations(kept, 2):
        if (kept[one].agent, kept[one].scope, kept[one].type) != (
            kept[other].agent,
            kept[other].scope,
            kept[other].type,
        ):
            continue
        value = float(minhash.similarities(signs[one], signs[other][None])[0])
        if value >= policy.new_minhash and not differ(kept[one].content, kept[other].content):
            if value >= policy.duplicate_minhash:
                losers[other] = one
            else:
                pairs.append((one, other))
    asked: list[tuple[int, int]] = [pair for pair in pairs if pair[1] not in losers][:MOST_ASKED]
    known: dict[str, Any] = {
        f"k{number}": kept[one].content for number, (one, _) in enumerate(asked, 1)
    }
    answers = (
        judge.decided(tables.complete, [kept[other].content for _, other in asked], known)
        if asked
        else {}
    )
    for place, decision in answers.items():
        if decision.action == "same" and f"k{place + 1}" in decision.known:
            losers[asked[place][1]] = asked[place][0]
    return losers
