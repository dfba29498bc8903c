"""Memories as the text that an agent reads: `<memory>` with known facts and entries, dated. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from hippocampus.facts.models import Recalled
from hippocampus.facts.timestamps import day, stamp
from hippocampus.storage.facts.rows import HEARSAY, Memory, Triple

OWN = frozenset({"", "user"})
"""Whose words need no name next to them."""


def render_memory(results: Sequence[Recalled], context_time: float, preferences: int = 0) -> str:
    """Return results as one `<memory>` text, newest first; empty when there are none.

    Where there are more preferences than in the results, a line has both numbers.
    """
    if not results:
        return ""
    newest = sorted(results, key=lambda result: (-result.memory.valid_from, result.memory.id))
    facts = []  # one line each, such as `- Ann → lives_in → Rome (since 2026-02-09)`
    for result in newest:
        since, until = day(result.memory.valid_from), result.memory.valid_until
        times = f"since {since}{'' if until is None else f' until {day(until)}'}"
        for triple in whole_triples(result):
            parts = map(one_line, (triple.subject, triple.predicate, triple.object))
            facts.append(f"- {' → '.join(parts)} ({times})")
    entries = [entry_line(result.memory) for result in newest if not whole_triples(result)]
    lines = [f'<memory context_time="{stamp(context_time)}">']
    lines += ["## Known facts", *dict.fromkeys(facts)] if facts else []
    lines += ["## Memory entries", *dict.fromkeys(entries)] if entries else []
    shown = sum(result.memory.type == "preference" for result in results)
    lines += [number_line(shown, preferences)] if shown < preferences else []
    return "\n".join([*lines, "</memory>"])


def number_line(shown: int, preferences: int) -> str:
    """Return the line with the number of preferences in a text, and of all."""
    return f"({shown} of {preferences} preferences)"


def whole_triples(result: Recalled) -> tuple[Triple, ...]:
    """Return the triple of a fact that is nothing else; a statement is shown in its own words."""
    memory = result.memory
    if memory.kind != "fact" or memory.origin.role not in OWN:
        return ()
    return tuple(
        triple
        for triple in result.triples
        if f"{triple.subject} {triple.predicate.replace('_', ' ')} {triple.object}"
        == memory.content
    )


def entry_line(memory: Memory) -> str:
    """Return a memory as one line: its date, its type, who said it where that is not the user, until when it held.

    What the user reports of others, supposes or pasted is marked `reported`.
    """
    said = "" if memory.origin.role in OWN else f", {one_line(memory.origin.role)}"
    said += ", reported" if HEARSAY in memory.tags else ""
    until = f" (until {day(memory.valid_until)})" if memory.valid_until is not None else ""
    about = memory.metadata.get("about")
    context = f" (about: {one_line(about)})" if isinstance(about, str) and about else ""
    return f"- [{day(memory.valid_from)} {one_line(memory.type)}{said}] {one_line(memory.content)}{context}{until}"


def one_line(text: str) -> str:
    """Return a text on one line that cannot close the frame around it."""
    return " ".join(text.split()).replace("</memory", "<\\/memory").replace("<memory", "<\\memory")
