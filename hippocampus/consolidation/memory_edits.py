"""What a person did to a memory file since it was written, and how it becomes facts of the user.

The record of a file's lines is read here; how a file is written is not known.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from hippocampus.consolidation.memory_lines import FROM_TOOLS, Row, mark_of, marks_in, rows
from hippocampus.facts.errors import FactError
from hippocampus.facts.exchange.markdown import item_of, type_of
from hippocampus.facts.models import UNTRUSTED, WRITTEN, Item, Memory, Origin
from hippocampus.facts.store import Facts
from hippocampus.facts.upkeep import retire, withdraw

BY_HAND = "struck out in the memory file"
USER = Origin(role="user")


class Known(NamedTuple):
    """The record of a line that was written: its fact, and the words of both."""

    fact_id: str
    content: str
    texts: tuple[str, ...] = ()
    """A person may have written one fact in two lines."""
    tool: bool = False
    """Whether it comes from a tool alone."""
    pending: bool = False
    """Whether a crash may have come before it was written."""


class FileRecord(NamedTuple):
    """The record of a memory file: what was written into it, and what was in it before."""

    lines: dict[str, Known]
    """By mark."""
    foreign: tuple[str, ...] = ()
    """The texts of lines that no session of this memory has seen a person write."""
    store: str = ""
    """The identity of the fact store; a record of another one is void."""


@dataclass(frozen=True, slots=True)
class Edits:
    """What a person did to a file since it was written."""

    new: tuple[Row, ...] = ()
    changed: tuple[tuple[str, Row], ...] = ()
    """Ids of facts with the lines that replace theirs."""
    struck: tuple[str, ...] = ()
    """Ids of facts whose lines are gone."""

    def __bool__(self) -> bool:
        """Return whether there are any."""
        return bool(self.new or self.changed or self.struck)


class ReadBack(NamedTuple):
    """What became of a person's edits."""

    adopted: dict[int, Memory]
    """The facts that rows became, by a row's last line."""
    added: tuple[str, ...]
    retired: tuple[str, ...]


def edits_in(text: str, known: Mapping[str, Known], foreign: Sequence[str] = ()) -> Edits:
    """Return what a person did to a file; one that is gone or empty is written again."""
    if not text.strip():
        return Edits()
    new: list[Row] = []
    changed: dict[str, Row] = {}
    as_written = {row.mark for row in rows(text) if _is_as_written(row, known)}
    for row in rows(text):
        is_foreign = row.mark not in known if row.mark else row.text in foreign
        if _is_as_written(row, known) or is_foreign:
            continue
        if row.mark and row.mark not in as_written and row.mark not in changed:
            changed[row.mark] = row
        else:
            new.append(row)
    there = marks_in(text)
    struck = [
        each.fact_id for mark, each in known.items() if mark not in there and not each.pending
    ]
    reworded = tuple((known[mark].fact_id, row) for mark, row in changed.items())
    return Edits(tuple(new), reworded, tuple(struck))


def _is_as_written(row: Row, known: Mapping[str, Known]) -> bool:
    """Return whether a row has the text that was written, and a tool's fact its section."""
    before = known.get(row.mark)
    if before is None or row.text not in before.texts:
        return False
    return not before.tool or row.section == FROM_TOOLS or not type_of(row.section)


def as_read(rows: Sequence[Row], after: Mapping[str, Known]) -> dict[str, Known]:
    """Return the records of lines, with the words that the file has for them."""
    by_mark: dict[str, list[Row]] = {}
    for row in rows:
        by_mark.setdefault(row.mark, []).append(row)
    return {
        mark: each._replace(texts=tuple(row.text for row in by_mark[mark]), pending=False)
        if mark in by_mark
        else each._replace(pending=False)
        for mark, each in after.items()
    }


def record_in(path: Path) -> FileRecord | None:
    """Return the record of a file; None of one that was never written."""
    try:
        found = json.loads(path.read_bytes())
    except (FileNotFoundError, ValueError):
        return None
    is_ours = isinstance(found, dict) and found.get("form", "markdown") == "markdown"
    lines = found.get("lines") if is_ours else None
    if not isinstance(lines, dict):
        return None
    known = {
        mark: Known(fact_id, content, tuple(texts), tool, pending)
        for mark, (fact_id, content, texts, tool, pending) in lines.items()
    }
    return FileRecord(known, tuple(found.get("foreign", ())), found.get("store", ""))


def known_in(path: Path) -> dict[str, Known]:
    """Return the records of a file's lines, by mark; of one that was never written, none."""
    record = record_in(path)
    return record.lines if record else {}


def read_back(facts: Facts, agent: str, edits: Edits, known: dict[str, Known]) -> ReadBack:
    """Take edits into the fact store; return the fact of each row that a person wrote."""
    reworded = dict(edits.changed)
    before = facts.by_ids([*edits.struck, *reworded])
    retired = retire(facts.tables, before, BY_HAND)
    messages = withdraw(facts.tables, list(before.values()), BY_HAND)
    for fact_id in [*edits.struck, *reworded]:
        known.pop(mark_of(fact_id), None)
    lines = [*reworded.values(), *edits.new]
    olds = [before.get(fact_id) for fact_id in reworded] + [None] * len(edits.new)
    items = [_item(row, old) for row, old in zip(lines, olds, strict=True)]
    done = written = facts.remember_many(items, agent=agent)
    tools = [
        each.memory.id for each in done if each.memory and each.memory.origin.role == UNTRUSTED
    ]
    if tools:  # they came from a tool; now they come from the user
        retired += retire(facts.tables, tools, BY_HAND)
        done = facts.remember_many(items, agent=agent)
    adopted = {row.last: each.memory for row, each in zip(lines, done, strict=True) if each.memory}
    added = [each.memory.id for each in [*written, *done] if each.memory and each.action in WRITTEN]
    gone = (*(each.id for each in retired), *messages.retired)
    return ReadBack(adopted, (*dict.fromkeys(added), *messages.added), gone)


def _item(row: Row, old: Memory | None) -> Item:
    """Return what a person wrote as a statement of the user."""
    try:
        item = item_of(row.text, row.section)
    except FactError:  # what looks like a date is none
        item = Item(row.text, type=type_of(row.section) or None)
    kind = item.type or (old.type if old is not None else None)
    return replace(item, type=kind, origin=USER, tags=item.tags if old is None else old.tags)
