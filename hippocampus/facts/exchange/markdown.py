"""A MEMORY.md, read and written: sections by type, and one line a fact, with its date, type and mark where it has them.

    ## Preferences

    - [2026-02-09] I prefer short answers. · user, ticket-47 turn 3 <!-- 3f2a9c1b0d -->

The store decides what a line means for the memories that it has. A person's own words, order and sections
are never touched.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from hippocampus.errors import FactError
from hippocampus.facts.exchange import Bundle, Skip
from hippocampus.facts.models import TYPES, UNTRUSTED
from hippocampus.facts.timestamps import day, seconds
from hippocampus.storage.facts.rows import Item, Memory, Origin

HEADING = re.compile(r"#{1,6}\s+(.*?)\s*#*$")
BULLET = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s+(.*\S)\s*$")
CHECKBOX = re.compile(r"^\[[ xX]\]\s+")
DATE = r"(\d{4}-\d{2}-\d{2})"
STAMP = re.compile(rf"\[{DATE}(?:[T ][\d:.]+Z?)?(?:[ ,·]+([\w-]+))?\]\s*")
"""`[2026-02-09 decision]` before a text."""
SEPARATOR = " · "
ORIGINS = ("user", "assistant", "tool", "host")
STRUCK = re.compile(r"\s*~~.+?~~")
FENCE = ("```", "~~~")
COMMENT = "comment"
TITLE = "# Memory"
FROM_TOOLS = "From tool results"
"""The section of all facts from tools, whatever their type: they are data, and no preferences."""
HOST = "host"
MARK_CHARACTERS = 10
MARK = re.compile(r"<!-- ([0-9a-f]{10}) -->")
"""The mark after a line that this software wrote."""


def bundle(text: str, agent: str) -> Bundle:
    """Return the lines of a MEMORY.md as texts to remember."""
    items: dict[str, Item] = {}
    skipped: list[Skip] = []
    for found in list_items(text):
        try:
            item = item_of(STRUCK.sub("", found.text).strip(), found.section, found.origin)
        except FactError:
            skipped.append(Skip(found.text, "its date is invalid"))
            continue
        if not re.search(r"\w", item.content):
            is_struck = STRUCK.search(found.text)
            skipped.append(Skip(found.text, "it is struck out" if is_struck else "it has no word"))
            continue
        if item.content in items:
            skipped.append(Skip(item.content, "the file has it twice"))
        items.setdefault(item.content, item)
    return Bundle("markdown", agent=agent, items=list(items.values()), skipped=skipped)


class ListItem(NamedTuple):
    """One list item: the heading above it, its text on one line, and its physical lines."""

    section: str
    text: str
    first: int
    last: int
    mark: str = ""
    """Empty where a person wrote the line."""
    origin: str = ""
    """Who said it, where the line has that."""


def list_items(text: str) -> Iterator[ListItem]:
    """Yield the list items outside code and comments; indented lines go on with it.

    >>> [item] = list_items("- Answer in French. · user, ticket-47 turn 3 <!-- 3f2a9c1b0d -->")
    >>> item.text, item.mark, item.origin
    ('Answer in French.', '3f2a9c1b0d', 'user')
    """
    section, held, inside = "", None, ""
    for number, raw in enumerate([*text.split("\n"), ""]):
        line = raw.rstrip("\r")
        before, opens = inside, line.rfind("<!--")
        if before == COMMENT:
            inside = "" if "-->" in line else COMMENT
        elif line.lstrip().startswith(FENCE):
            inside = "" if before else FENCE[0]
        elif not before and opens >= 0 and "-->" not in line[opens:]:
            inside = COMMENT
        plain = not before and not inside
        bullet, heading = (BULLET.match(line), HEADING.match(line)) if plain else (None, None)
        if held and plain and line.startswith("  ") and line.strip() and bullet is None:
            held = held._replace(text=f"{held.text} {line.strip()}", last=number)
            continue
        if held and (mark := re.search(f"{MARK.pattern}$", held.text)):
            held = held._replace(text=held.text[: mark.start()].rstrip(), mark=mark[1])
            words, _, said = held.text.rpartition(SEPARATOR)
            if (origin := said.partition(",")[0].strip()) in ORIGINS:
                held = held._replace(text=words, origin=origin)
        if held:
            yield held
        held = ListItem(section, bullet[1], number, number) if bullet else None
        section = heading[1] if heading else section


def item_of(line: str, section: str, origin: str) -> Item:
    """Return the statement of a line.

    Raises:
        FactError: its date is no date.
    """
    line, type_name, date = CHECKBOX.sub("", line), type_of(section), None
    if stamp := STAMP.match(line):
        line, date = line[stamp.end() :], stamp[1]
        type_name = (stamp[2] or type_name).lower()
    at = seconds(date) if date else None
    tags = (section,) if section and not type_of(section) else ()
    said = Origin(role="" if origin == HOST else origin)
    return Item(line, type=type_name or None, tags=tags, at=at, origin=said)


def type_of(section: str) -> str:
    """Return the type that a heading names, in the singular or the plural."""
    singular = section.lower().strip(" :").removesuffix("s")
    return singular if singular in TYPES else ""


# Writing -------------------------------------------------------------------------------------------


def mark_of(memory_id: str) -> str:
    """Return the short name of a fact: the end of its id, which is chance."""
    return memory_id.replace("-", "")[-MARK_CHARACTERS:]


def section_of(memory: Memory) -> str:
    """Return the heading under which the line of a fact belongs."""
    if memory.origin.role == UNTRUSTED:
        return FROM_TOOLS
    return f"{without_marks(memory.type.lower()).capitalize()}s"


def without_marks(text: str) -> str:
    """Return a text on one line, in which nothing reads as a mark."""
    return " ".join(text.split()).replace("<!--", "<! --").replace("-->", "-- >")


def line_of(memory: Memory) -> str:
    """Return the line of a fact."""
    origin, date = memory.origin, day(memory.valid_from)
    if section_of(memory) == FROM_TOOLS:
        date += f" {without_marks(memory.type.lower()).replace('·', '-')}"
    source = origin.role if origin.role in ORIGINS else HOST
    if origin.session:
        turn = "" if origin.turn is None else f" turn {origin.turn}"
        source += f", {without_marks(origin.session).replace('·', '-')}{turn}"
    return f"- [{date}] {without_marks(memory.content)}{SEPARATOR}{source} <!-- {mark_of(memory.id)} -->"


@functools.lru_cache(maxsize=4)
def rows(text: str) -> tuple[ListItem, ...]:
    """Return the lines of a file, in its order; cached, since one file is read several times."""
    found = []
    for item in list_items(text):
        stamp = STAMP.match(item.text) if item.mark else None
        words = item.text[stamp.end() if stamp else 0 :]
        found.append(item._replace(text=" ".join(words.split())))
    return tuple(found)


def with_added(text: str, added: Iterable[Memory]) -> str:
    """Return a file with the lines of facts added, each at the end of its section, or of the file in a new one."""
    by_section: dict[str, list[str]] = {}
    for memory in added:
        by_section.setdefault(section_of(memory), []).append(line_of(memory))
    for section, new in by_section.items():
        text = text or f"{TITLE}\n"
        lines, heading = text.split("\n"), f"## {section}"
        there = [row.last for row in rows(text) if row.section == section]
        headings = [number for number, line in enumerate(lines) if line.strip() == heading]
        if there:
            lines[there[-1] + 1 : there[-1] + 1] = new
        elif headings:
            lines[headings[-1] + 1 : headings[-1] + 1] = ["", *new]
        else:
            lines = [text.rstrip("\n"), "", heading, "", *new, ""]
        text = "\n".join(lines)
    return text
