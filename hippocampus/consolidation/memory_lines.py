"""A MEMORY.md: sections by type, one line a fact, and the marks by which a line keeps its fact.

Pure: texts in, texts out. A person's own words, order and sections are never touched.

    ## Preferences

    - [2026-02-09] I prefer short answers. · user, ticket-47 turn 3 <!-- 3f2a9c1b0d -->
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

from hippocampus.facts.exchange.markdown import ORIGINS, SEPARATOR, STAMP, ListItem, list_items
from hippocampus.facts.models import UNTRUSTED
from hippocampus.facts.timestamps import day
from hippocampus.storage.facts.models import Memory

TITLE = "# Memory"
SECTIONS = {
    "preference": "Preferences",
    "decision": "Decisions",
    "correction": "Corrections",
    "fact": "Facts",
    "event": "Events",
    "error": "Errors",
    "note": "Notes",
}
FROM_TOOLS = "From tool results"
"""The section of all facts from tools, whatever their type: they are data, and no preferences."""
HOST = "host"
MARK_CHARACTERS = 10
MARK = re.compile(r"<!-- ([0-9a-f]{10}) -->")


def mark_of(memory_id: str) -> str:
    """Return the short name of a fact: the end of its id, which is chance."""
    return memory_id.replace("-", "")[-MARK_CHARACTERS:]


def section_of(memory: Memory) -> str:
    """Return the heading under which the line of a fact belongs."""
    if memory.origin.role == UNTRUSTED:
        return FROM_TOOLS
    kind = memory.type.lower()
    return SECTIONS.get(kind) or f"{shown(kind).capitalize()}s"


def shown(text: str) -> str:
    """Return a text on one line, in which nothing reads as a mark."""
    return " ".join(text.split()).replace("<!--", "<! --").replace("-->", "-- >")


def rendered(memory: Memory) -> str:
    """Return the line of a fact."""
    origin, date = memory.origin, day(memory.valid_from)
    if section_of(memory) == FROM_TOOLS:
        date += f" {shown(memory.type.lower()).replace('·', '-')}"
    source = origin.role if origin.role in ORIGINS else HOST
    if origin.session:
        turn = "" if origin.turn is None else f" turn {origin.turn}"
        source += f", {shown(origin.session).replace('·', '-')}{turn}"
    return f"- [{date}] {shown(memory.content)}{SEPARATOR}{source} <!-- {mark_of(memory.id)} -->"


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
        by_section.setdefault(section_of(memory), []).append(rendered(memory))
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
