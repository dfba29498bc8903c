"""scriptling's methods as verbs: `remember`, `recall`, `forget`, `count`, `compact`.

Models that the environment names help; none is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hippocampus.cli.memory_opening import (
    DEFAULT_PATH,
    OWN_AGENT,
    Agent,
    Database,
    Force,
    Json,
    Limit,
    Scope,
    Scopes,
    existing,
    opened,
)
from hippocampus.cli.memory_printing import (
    heard,
    line,
    outcome_line,
    outcome_row,
    recalled_row,
    say,
    say_gone,
    say_json,
    say_lines,
)

if TYPE_CHECKING:
    from hippocampus.facts.models import Recalled
    from hippocampus.facts.store import Facts

CONTEXT_TOKENS = 2_000
OneType = Annotated[
    str, typer.Option("--type", help="Only this type; with ! in front, all but this one.")
]


def remember(  # noqa: PLR0913, PLR0917 - one parameter an option
    text: Annotated[
        str, typer.Argument(help="What to remember; left out, it is read from stdin.")
    ] = "",
    type_name: Annotated[
        str | None, typer.Option("--type", help="What it is; note if nothing.")
    ] = None,
    importance: Annotated[float | None, typer.Option(min=0, max=1, help="0 to 1.")] = None,
    agent: Agent = OWN_AGENT,
    scope: Scope = "",
    db: Database = DEFAULT_PATH,
    as_json: Json = False,
) -> None:
    """Remember a text: added, strengthened, superseding what it changes, or kept apart."""
    from hippocampus.facts.errors import FactError

    said = text or heard()
    if not said.strip():
        raise FactError("there is nothing to remember: the text is empty")
    with opened(db, agent, models=True) as facts:
        outcomes = facts.remember(said, type=type_name, intensity=importance, scope=scope)
    if as_json:
        say_json([outcome_row(each) for each in outcomes])
    else:
        say_lines(map(outcome_line, outcomes), "nothing in this text is a fact to keep")


def recall(  # noqa: PLR0913, PLR0917 - one parameter an option
    query: Annotated[str, typer.Argument(help="What to look for; nothing loads the context.")] = "",
    limit: Limit = 10,
    type_name: OneType = "",
    agent: Agent = OWN_AGENT,
    scope: Scopes = None,
    as_of: Annotated[str | None, typer.Option(help="As it was true at this date.")] = None,
    preset: Annotated[
        str | None, typer.Option(help="How to rank: ours, hippo or scriptling.")
    ] = None,
    db: Database = DEFAULT_PATH,
    as_json: Json = False,
) -> None:
    """Search the memory; without a query, print all preferences and the strongest others."""
    with _for_reading(db, agent) as facts:
        if query or type_name:
            types = [type_name] if type_name else []
            found = facts.recall(
                query, limit=limit, types=types, scopes=scope, as_of=as_of, preset=preset
            )
        elif as_json:
            found = _context(facts, limit, scope)
        else:
            text = facts.context_load(token_budget=CONTEXT_TOKENS, limit=limit, scopes=scope)
            say(text or "nothing is known yet")
            return
    _say_recalled(found, as_json=as_json)


def _context(facts: Facts, limit: int, scopes: list[str] | None) -> list[Recalled]:
    """Return all preferences, then the strongest others."""
    preferences = facts.recall("", limit=-1, types=["preference"], scopes=scopes)
    return preferences + facts.recall("", limit=limit, types=["!preference"], scopes=scopes)


def forget(  # noqa: PLR0913, PLR0917 - one parameter an option
    what: Annotated[str, typer.Argument(help="The id of a memory, or what it means.")],
    threshold: Annotated[float, typer.Option(min=0, max=1, help="How near it has to be.")] = 0.7,
    max_deleted: Annotated[int, typer.Option(min=1, help="Delete at most this many.")] = 10,
    agent: Agent = OWN_AGENT,
    scope: Scopes = None,
    force: Force = False,
    db: Database = DEFAULT_PATH,
    as_json: Json = False,
) -> None:
    """Delete a memory for good, by its id or by its meaning; memories that it had superseded come back."""
    with _for_reading(db, agent) as facts:
        found = facts.forget(
            what, threshold=threshold, max_deleted=max_deleted, dry_run=True, scopes=scope
        )
        ids = [each.memory.id for each in found]
        returned = facts.returning(ids)
        if force:
            facts.delete(ids)
    gone = [each.memory for each in found]
    say_gone(gone, force=force, as_json=as_json, returned=returned)


def count(agent: Agent = OWN_AGENT, db: Database = DEFAULT_PATH, as_json: Json = False) -> None:
    """Print how many memories there are."""
    with existing(db) as facts:
        number = facts.count(agent=agent)
    if as_json:
        say_json({"count": number})
    else:
        say(str(number))


def compact(
    agent: Agent = OWN_AGENT,
    force: Force = False,
    db: Database = DEFAULT_PATH,
    as_json: Json = False,
) -> None:
    """Remove faded and old memories, and merge duplicates; `restore` undoes it."""
    with _for_reading(db, agent) as facts:
        done = facts.compact(dry_run=not force, agent=agent)
    counts = {"removed": len(done.removed), "merged": len(done.merged), "remaining": done.remaining}
    if as_json:
        ids = {"removed_ids": list(done.removed), "merged_ids": list(done.merged)}
        say_json({**counts, **ids, "dry_run": done.dry_run})
        return
    say(", ".join(f"{number} {name}" for name, number in counts.items()))
    if done.dry_run:
        say("nothing was changed; --force does it")


def _for_reading(db: Database, agent: str) -> Facts:
    """Open a store that has to be there, with the models that the environment names."""
    existing(db).close()
    return opened(db, agent, models=True)


def _say_recalled(found: list[Recalled], *, as_json: bool) -> None:
    if as_json:
        say_json([recalled_row(each) for each in found])
    else:
        say_lines(
            (f"{each.score.total:.2f}  {line(each.memory)}" for each in found), "nothing found"
        )
