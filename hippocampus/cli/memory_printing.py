"""The options that the memory commands share, and how these show what they found: as JSON, or as lines.

Nothing is opened or changed here.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hippocampus.cli.memory_retrieve import default_path
from hippocampus.formats.visible import visible

if TYPE_CHECKING:
    from hippocampus.facts.models import Outcome, Recalled
    from hippocampus.storage.facts.models import Memory

DEFAULT_PATH = default_path()
Database = Annotated[
    Path, typer.Option("--db", envvar="HIPPOCAMPUS_DB", help="The SQLite file.", show_default=True)
]
Agent = Annotated[
    str,
    typer.Option(
        "--agent", envvar="HIPPOCAMPUS_AGENT", help="Whose memory; * is all of them, to read."
    ),
]
Scope = Annotated[str, typer.Option(help="The part of the memory that is written to.")]
Scopes = Annotated[
    list[str] | None, typer.Option("--scope", help="Only this part of the memory; may be repeated.")
]
Limit = Annotated[int, typer.Option(help="How many at most; -1 is all.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Force = Annotated[bool, typer.Option("--force", help="Do it; without this, only show it.")]
Ids = Annotated[list[str], typer.Argument(help="Ids of memories.")]
Id = Annotated[str, typer.Argument(help="The id of a memory.")]
Text = Annotated[str, typer.Argument(help="The text; left out, it is read from stdin.")]
Query = Annotated[str, typer.Argument(help="What to look for; nothing loads the context.")]
OneType = Annotated[
    str, typer.Option("--type", help="Only this type; with ! in front, all but this one.")
]
Importance = Annotated[float | None, typer.Option(min=0, max=1, help="0 to 1.")]

SHOWN_CHARACTERS = 100


def say(text: str) -> None:
    """Print in UTF-8, with the control characters of stored texts visible."""
    typer.echo(visible(text).encode("utf-8", "replace"))


def say_json(value: Any) -> None:
    """Print one JSON value."""
    say(json.dumps(value, ensure_ascii=False, indent=2))


def show(value: Any, lines: Iterable[str], otherwise: str, *, as_json: bool) -> None:
    """Print a value as JSON, or its lines, or a sentence where there are none."""
    if as_json:
        say_json(value)
    else:
        say("\n".join(lines) or otherwise)


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
    triples = [
        f"{triple.subject} → {triple.predicate} → {triple.object}" for triple in found.triples
    ]
    return {
        **row(found.memory),
        "score": found.score._asdict(),
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
    lines = [line(memory, agent=agent) for memory in memories]
    show([row(memory) for memory in memories], lines, "no memories", as_json=as_json)


def say_outcomes(outcomes: Sequence[Outcome], *, as_json: bool) -> None:
    """Print what became of each text."""
    nothing = "nothing in this text is a statement to keep"
    lines = map(outcome_line, outcomes)
    show([outcome_row(outcome) for outcome in outcomes], lines, nothing, as_json=as_json)


def say_gone(
    memories: Sequence[Memory], *, force: bool, as_json: bool, returned: Sequence[Memory] = ()
) -> None:
    """Print what a deletion took, or would take, and what it brings back."""
    value = {"deleted": list(map(row, memories)), "returned": list(map(row, returned))}
    lines = [line(memory) for memory in memories]
    if memories:
        lines.append(
            f"{len(lines)} deleted" if force else f"{len(lines)} would go; --force deletes them"
        )
    again = "true again" if force else "would be true again"
    lines += [f"{again}: {line(each)}" for each in returned]
    show({**value, "dry_run": not force}, lines, "nothing to delete", as_json=as_json)


def short(text: str) -> str:
    """Return a text on one line, cut where it is long."""
    flat = " ".join(text.split())
    return flat if len(flat) <= SHOWN_CHARACTERS else f"{flat[: SHOWN_CHARACTERS - 1]}…"


def say_recalled(found: Sequence[Recalled], *, as_json: bool) -> None:
    """Print results with their scores."""
    lines = (f"{result.score.total:.2f}  {line(result.memory)}" for result in found)
    show([recalled_row(result) for result in found], lines, "nothing found", as_json=as_json)


def end_if_missing(ids: Sequence[str], found: Sequence[Memory]) -> None:
    """End with status 1 where an id has no memory, and name it."""
    missing = [
        memory_id
        for memory_id in dict.fromkeys(ids)
        if memory_id not in {memory.id for memory in found}
    ]
    for memory_id in missing:
        typer.echo(f"hippocampus: no memory {memory_id}", err=True)
    if missing:
        raise typer.Exit(1)
