"""A MEMORY.md: headings, and one line a fact, with its date and type where the line has them.

Reads what `retrieve` writes as well as lines by hand. What a line means for what is known already is
the store's to decide.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hippocampus.facts.errors import FactError
from hippocampus.facts.exchange.bundle import Bundle, Said, Skip
from hippocampus.facts.kinds import TYPES, Item
from hippocampus.facts.moments import seconds

HEADING = re.compile(r"#{1,6}\s+(.*?)\s*#*$")
BULLET = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s+(.*\S)\s*$")
CHECKBOX = re.compile(r"\[[ xX]\]\s+")
DATE = r"(\d{4}-\d{2}-\d{2})"
STAMP = re.compile(rf"\[{DATE}(?:[T ][\d:.]+Z?)?(?:[ ,·]+([\w-]+))?\]\s*")
"""`[2026-02-09 decision]` in front of a text."""
SINCE = re.compile(rf"\s*\((?:since\s+)?{DATE}\)$")
"""`(since 2026-02-09)` behind it."""
ARROW = re.compile(r"\s+(?:→|->)\s+")
NAMES = {"known fact": "fact", "known facts": "fact", "memory entries": "", "memories": ""}
FENCE = ("```", "~~~")


def bundle(text: str, agent: str) -> Bundle:
    """Return the lines of a MEMORY.md as texts and relations to remember."""
    items: dict[str, Item] = {}
    relations: dict[str, Said] = {}
    skipped: list[Skip] = []
    for section, line in _lines(text):
        try:
            item = _item(line, section)
        except FactError:
            skipped.append(Skip(line, "its date is none"))
            continue
        if item.content in items or item.content in relations:
            skipped.append(Skip(item.content, "the file has it twice"))
            continue
        match ARROW.split(item.content):
            case [subject, predicate, obj]:
                relations[item.content] = Said(subject, predicate, obj, item.at)
            case _:
                items[item.content] = item
    return Bundle(
        "markdown",
        items=[(agent, each) for each in items.values()],
        relations=[(agent, each) for each in relations.values()],
        skipped=skipped,
    )


def _lines(text: str) -> Iterator[tuple[str, str]]:
    """Yield the heading above it and the text of each list item; indented lines go on with it."""
    section, held, fenced = "", "", False
    for line in [*text.splitlines(), ""]:
        fenced ^= line.lstrip().startswith(FENCE)
        bullet, heading = BULLET.match(line), HEADING.match(line)
        if held and not fenced and line.startswith("  ") and line.strip() and bullet is None:
            held = f"{held} {line.strip()}"
            continue
        if held:
            yield section, held
        held = bullet[1] if bullet and not fenced else ""
        section = heading[1] if heading and not fenced else section


def _item(line: str, section: str) -> Item:
    """Return what a line says.

    Raises:
        FactError: its date is no date.

    """
    line = CHECKBOX.sub("", line, count=1) if CHECKBOX.match(line) else line
    type_name, date = _type(section), None
    if stamp := STAMP.match(line):
        line, date = line[stamp.end() :], stamp[1]
        type_name = (stamp[2] or type_name).lower()
    if since := SINCE.search(line):
        line, date = line[: since.start()], since[1]
    at = seconds(date) if date else None
    named = bool(_type(section)) or section.lower() in NAMES
    tags = (section,) if section and not named else ()
    return Item(line, type=type_name or None, tags=tags, at=at)


def _type(section: str) -> str:
    """Return the type that a heading names, in the singular or the plural."""
    name = section.lower().strip(" :")
    singular = name.removesuffix("s")
    return NAMES.get(name) or (singular if singular in TYPES else "")
