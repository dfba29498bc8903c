"""How the memory commands show what they found: as JSON, or as lines.

Nothing is opened or changed here.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

from hippocampus.formats.visible import visible

if TYPE_CHECKING:
    from hippocampus.facts.models import Memory, Outcome, Recalled

SHOWN_CHARACTERS = 100
SHOWN = 20
"""How many skipped records an import names."""


def say(text: str) -> None:
    """Print in UTF-8, with the control characters of stored texts visible."""
    typer.echo(visible(text).encode("utf-8", "replace"))


def say_json(value: Any) -> None:
    """Print one JSON value."""
    say(json.dumps(value, ensure_ascii=False, indent=2))


def said_on_stdin() -> str:
    """Return what comes in on stdin."""
    return sys.stdin.buffer.read().decode("utf-8-sig", "replace").strip()


def row(memory: Memory) -> dict[str, Any]:
    """Return a memory as JSON, with its times as ISO 8601."""
    from hippocampus.facts.timestamps import stamp

    found = {**asdict(memory), "metadata": dict(memory.metadata)}
    for name in ("created", "accessed", "valid_from", "valid_until", "known_until"):
        found[name] = None if found[name] is None else stamp(found[name])
    return found


def recalled_row(found: Recalled) -> dict[str, Any]:
    """Return a result as JSON: the memory, the parts of its score, its date."""
    triples = [f"{each.subject} → {each.predicate} → {each.object}" for each in found.triples]
    return {
        **row(found.memory),
        "score": asdict(found.score),
        "date": found.date,
        "triples": triples,
    }


def outcome_row(outcome: Outcome) -> dict[str, Any]:
    """Return what became of a text as JSON."""
    return {
        "action": str(outcome.action),
        "reason": outcome.reason,
        "memory": None if outcome.memory is None else row(outcome.memory),
        "others": list(outcome.others),
    }


def line(memory: Memory, *, agent: bool = False) -> str:
    """Return a memory in a line: date, type, text and id."""
    from hippocampus.facts.timestamps import day

    owner = f"{memory.agent} " if agent else ""
    said = f", {memory.origin.role}" if memory.origin.role not in {"", "user"} else ""
    said += ", reported" if "hearsay" in memory.tags else ""
    until = f" (until {day(memory.valid_until)})" if memory.valid_until is not None else ""
    gone = f" (superseded by {memory.superseded_by})" if memory.superseded_by else ""
    shown = f"[{owner}{day(memory.valid_from)} {memory.type}{said}] {short(memory.content)}"
    return f"{memory.id}  {shown}{until}{gone}"


def outcome_line(outcome: Outcome) -> str:
    """Return what became of a text in a line."""
    memory = "" if outcome.memory is None else f"  {line(outcome.memory)}"
    return f"{outcome.action.replace('_', ' ')}: {outcome.reason}{memory}"


def say_memories(memories: Sequence[Memory], *, as_json: bool, agent: bool = False) -> None:
    """Print memories."""
    if as_json:
        say_json([row(memory) for memory in memories])
    else:
        say_lines((line(memory, agent=agent) for memory in memories), "no memories")


def say_gone(
    memories: Sequence[Memory], *, force: bool, as_json: bool, returned: Sequence[Memory] = ()
) -> None:
    """Print what a deletion took, or would take, and what it brings back."""
    if as_json:
        told = {"deleted": list(map(row, memories)), "returned": list(map(row, returned))}
        say_json({**told, "dry_run": not force})
        return
    say_lines((line(memory) for memory in memories), "nothing to delete")
    if memories:
        say(
            f"{len(memories)} deleted"
            if force
            else f"{len(memories)} would go; --force deletes them"
        )
    for each in returned:
        say(f"{'true again' if force else 'would be true again'}: {line(each)}")


def say_lines(lines: Iterable[str], otherwise: str) -> None:
    """Print lines, or a word where there are none."""
    listed = list(lines)
    say("\n".join(listed) if listed else otherwise)


def short(text: str) -> str:
    """Return a text on one line, cut where it is long."""
    flat = " ".join(text.split())
    return flat if len(flat) <= SHOWN_CHARACTERS else f"{flat[: SHOWN_CHARACTERS - 1]}…"


def say_recalled(found: Sequence[Recalled], *, as_json: bool) -> None:
    """Print results with their scores."""
    if as_json:
        say_json([recalled_row(each) for each in found])
    else:
        say_lines(
            (f"{each.score.total:.2f}  {line(each.memory)}" for each in found), "nothing found"
        )


def end_if_missing(ids: Sequence[str], found: Sequence[Memory]) -> None:
    """End with status 1 where an id has no memory, and name it."""
    missing = [each for each in dict.fromkeys(ids) if each not in {memory.id for memory in found}]
    for each in missing:
        typer.echo(f"hippocampus: no memory {each}", err=True)
    if missing:
        raise typer.Exit(1)
