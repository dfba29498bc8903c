"""Memories as the text that an agent reads: `<memory>` with known facts and entries, dated. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from hippocampus.facts.models import Recalled, Triple
from hippocampus.facts.predicates import said_as
from hippocampus.facts.timestamps import day, stamp


def rendered(results: Sequence[Recalled], context_time: float) -> str:
    """Return results as one `<memory>` text, newest first; empty when there are none."""
    if not results:
        return ""
    newest = sorted(results, key=lambda result: (-result.memory.valid_from, result.memory.id))
    facts = [triple_line(triple) for result in newest for triple in live_triples(result)]
    entries = [entry_line(result) for result in newest if not live_triples(result)]
    lines = [f'<memory context_time="{stamp(context_time)}">']
    lines += ["## Known facts", *dict.fromkeys(facts)] if facts else []
    lines += ["## Memory entries", *entries] if entries else []
    return "\n".join([*lines, "</memory>"])


def live_triples(result: Recalled) -> tuple[Triple, ...]:
    """Return the triples that say all of a fact; a memory shows its own words."""
    if result.memory.kind != "fact" or any(triple.negated for triple in result.triples):
        return ()
    return tuple(triple for triple in result.triples if triple.known_until is None)


def triple_line(triple: Triple) -> str:
    """Return a triple as one line.

    >>> triple_line(Triple(1, "Ann", "lives_in", "Rome", 1770595200.0, None, 0.0, None, "id"))
    '- Ann → lives_in → Rome (since 2026-02-09)'
    """
    parts = (_line(part) for part in (triple.subject, said_as(triple.predicate), triple.object))
    return f"- {' → '.join(parts)} (since {day(triple.valid_from)})"


def entry_line(result: Recalled) -> str:
    """Return a memory as one line with its date and type."""
    memory = result.memory
    return f"- [{result.date} {_line(memory.type)}] {_line(memory.content)}"


def _line(text: str) -> str:
    """Return a text on one line that cannot close the frame it stands in."""
    return " ".join(text.split()).replace("</memory", "<\\/memory").replace("<memory", "<\\memory")
