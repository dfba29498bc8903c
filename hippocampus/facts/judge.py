"""What a model is asked, and its answers read: the facts of a text, and what each does to those stored.

Two bounded calls at most. What follows from an answer is decided where things are written.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any, NamedTuple

from hippocampus.facts.models import TYPES, Complete
from hippocampus.models.bounded import within
from hippocampus.storage.facts.rows import Item, Relation
from hippocampus.storage.facts.triples import predicate_of

SECONDS = 20.0
MAX_ASKED = 40
"""How many of the newest stored statements one call shows."""
ACTIONS = ("add", "same", "update", "end", "keep")
EXTRACT, DECIDE = (
    files(__package__).joinpath("prompts", name).read_text("utf-8").rstrip("\n")
    for name in ("extract.txt", "decide.txt")
)
"""The prompts for the facts of a text, and for new statements next to known ones; their fields are in braces."""


class Judgement(NamedTuple):
    """What a new fact does."""

    action: str
    known: tuple[str, ...] = ()
    text: str = ""


def extract(complete: Complete, message: str) -> list[tuple[Item, list[Relation]]] | None:
    """Return the facts that a model finds in a message, with their relations; nothing where it gives no list."""
    prompt = EXTRACT.format(types=", ".join(TYPES), message=message)
    items = _list_in(within(SECONDS, complete, prompt))
    if items is None:
        return None
    found = []
    for item in items:
        match item:
            case {"fact": str(content), **rest} if content.strip():
                kind, intensity, triples = map(rest.get, ("type", "intensity", "triples"))
                share = float(intensity) if isinstance(intensity, int | float) else None
                stated = [
                    Relation(parts[0].strip(), predicate_of(parts[1]), parts[2].strip())
                    for parts in (triples if isinstance(triples, list) else [])
                    if isinstance(parts, list)
                    and len(parts) == len(Relation._fields)
                    and all(isinstance(part, str) and part.strip() for part in parts)
                ]
                fact = Item(
                    content.strip(),
                    kind if isinstance(kind, str) and kind in TYPES else None,
                    share if share is None else min(1.0, max(0.0, share)),
                )
                found.append((fact, stated))
    return found


def decide(
    complete: Complete, new: Sequence[str], known: Mapping[str, str], seconds: float = SECONDS
) -> dict[int, Judgement]:
    """Return what a model decides for each new statement, by its place; for what it leaves out, nothing.

    A judgement names known ones by their ids, and earlier new ones by `n` and their number.
    """
    known_lines = "\n".join(
        f"{name}: {json.dumps(text, ensure_ascii=False)}" for name, text in known.items()
    )
    new_lines = "\n".join(
        f"{place}: {json.dumps(text, ensure_ascii=False)}" for place, text in enumerate(new, 1)
    )
    found: dict[int, Judgement] = {}
    prompt = DECIDE.format(known=known_lines, new=new_lines)
    for item in _list_in(within(seconds, complete, prompt)) or []:
        match item:
            case {"new": int(place), "do": str(action)} if (
                1 <= place <= len(new) and action in ACTIONS
            ):
                names = {*known, *(f"n{earlier}" for earlier in range(1, place))}
                meant = item.get("known")
                listed = meant if isinstance(meant, list) else []
                ids = tuple(str(entry) for entry in listed if str(entry) in names)
                text = item.get("text")
                if ids or action in {"add", "keep"}:
                    found[place - 1] = Judgement(
                        action, ids, text.strip() if isinstance(text, str) else ""
                    )
    return found


def _list_in(answer: str | None) -> list[Any] | None:
    if not answer:
        return None
    start, end = answer.find("["), answer.rfind("]")
    try:
        items = json.loads(answer[start : end + 1])
    except (ValueError, RecursionError):
        return None
    return items if isinstance(items, list) else None
