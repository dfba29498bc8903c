"""What a person did to a memory file since it was written, and how it becomes what the user said.

What is known of a file's lines stands here; how a file is written does not.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from hippocampus.consolidation.memory_lines import FROM_TOOLS, Row, kind_of, mark_of
from hippocampus.facts.errors import FactError
from hippocampus.facts.exchange.markdown import item_of
from hippocampus.facts.models import UNTRUSTED, Item, Memory, Origin
from hippocampus.facts.store import Facts
from hippocampus.facts.upkeep import by_ids, next_row, retire, withdraw, written_since

BY_HAND = "struck out in the memory file"
USER = Origin(role="user")


class Known(NamedTuple):
    """What is known of a line that was written: its fact, and the words of both."""

    fact_id: str
    content: str
    texts: tuple[str, ...] = ()
    """A person may have said one fact in two lines."""
    tool: bool = False
    """Whether a tool said it, and nobody since."""
    pending: bool = False
    """Whether a crash may have come before it was written."""


@dataclass(frozen=True, slots=True)
class Edits:
    """What a person did to a file since it was written."""

    new: tuple[Row, ...] = ()
    changed: tuple[tuple[str, Row], ...] = ()
    """Ids of facts with the lines that stand in their place."""
    struck: tuple[str, ...] = ()
    """Ids of facts whose lines are gone."""

    def __bool__(self) -> bool:
        """Say whether there are any."""
        return bool(self.new or self.changed or self.struck)


class ReadBack(NamedTuple):
    """What became of a person's edits."""

    adopted: dict[int, Memory]
    """By a row's last line, what stands for it in the fact store."""
    added: tuple[str, ...]
    retired: tuple[str, ...]


def edits_in(rows: Sequence[Row], there: Collection[str], known: Mapping[str, Known]) -> Edits:
    """Return what a person did, from the rows and the marks that stand in a file."""
    new: list[Row] = []
    changed: dict[str, Row] = {}
    as_written = {row.mark for row in rows if _is_as_written(row, known)}
    for row in rows:
        if _is_as_written(row, known) or (row.mark and row.mark not in known):
            continue
        if row.mark and row.mark not in as_written and row.mark not in changed:
            changed[row.mark] = row
        else:
            new.append(row)
    struck = [
        each.fact_id for mark, each in known.items() if mark not in there and not each.pending
    ]
    told = tuple((known[mark].fact_id, row) for mark, row in changed.items())
    return Edits(tuple(new), told, tuple(struck))


def _is_as_written(row: Row, known: Mapping[str, Known]) -> bool:
    """Say whether a row says what was written; a tool's word that a person moved says more."""
    before = known.get(row.mark)
    if before is None or row.text not in before.texts:
        return False
    return not before.tool or row.section == FROM_TOOLS or not kind_of(row)


def as_read(rows: Sequence[Row], after: Mapping[str, Known]) -> dict[str, Known]:
    """Return what is known of lines, with the words that the file has for them."""
    by_mark: dict[str, list[Row]] = {}
    for row in rows:
        by_mark.setdefault(row.mark, []).append(row)
    return {
        mark: each._replace(texts=tuple(row.text for row in by_mark[mark]), pending=False)
        if mark in by_mark
        else each._replace(pending=False)
        for mark, each in after.items()
    }


def known_in(path: Path) -> dict[str, Known]:
    """Return what is known of a file's lines, by mark."""
    return {
        mark: Known(fact_id, content, tuple(texts), tool, pending)
        for mark, (fact_id, content, texts, tool, pending) in content_of(path)["lines"].items()
    }


def content_of(path: Path) -> dict[str, Any]:
    """Return all that was noted of a file; of one that was never written, or is broken, no lines."""
    try:
        found = json.loads(path.read_bytes())
    except (FileNotFoundError, ValueError):
        found = {}
    is_ours = isinstance(found, dict) and isinstance(found.get("lines"), dict)
    return found if is_ours else {"lines": {}}


def read_back(facts: Facts, agent: str, edits: Edits, known: dict[str, Known]) -> ReadBack:
    """Take edits into the fact store; return what stands for each row that a person wrote."""
    first = next_row(facts.tables)
    worded = dict(edits.changed)
    before = by_ids(facts.tables, [*edits.struck, *worded])
    retired = retire(facts.tables, before, BY_HAND)
    messages = withdraw(facts.tables, list(before.values()), BY_HAND)
    for fact_id in [*edits.struck, *worded]:
        known.pop(mark_of(fact_id), None)
    rows = [*worded.values(), *edits.new]
    olds = [before.get(fact_id) for fact_id in worded] + [None] * len(edits.new)
    items = [_item(row, old) for row, old in zip(rows, olds, strict=True)]
    stands = _remembered(facts, items, agent)
    tools = [each.id for each in stands if each is not None and each.origin.role == UNTRUSTED]
    if tools:  # a tool had said so; now the user does
        retired += retire(facts.tables, tools, BY_HAND)
        stands = _remembered(facts, items, agent)
    adopted = {row.last: each for row, each in zip(rows, stands, strict=True) if each is not None}
    added = written_since(facts.tables, (each.id for each in adopted.values()), first)
    gone = (*(each.id for each in retired), *messages.retired)
    return ReadBack(adopted, (*added, *messages.added), gone)


def _remembered(facts: Facts, items: Sequence[Item], agent: str) -> list[Memory | None]:
    return [outcome.memory for outcome in facts.remember_many(items, agent=agent)]


def _item(row: Row, old: Memory | None) -> Item:
    """Return what a person wrote as something that the user said."""
    try:
        item = item_of(row.text, row.section)
    except FactError:  # what looks like a date is none
        item = Item(row.text, type=kind_of(row) or None)
    kind = item.type or (old.type if old is not None else None)
    return replace(item, type=kind, origin=USER, tags=item.tags if old is None else old.tags)
