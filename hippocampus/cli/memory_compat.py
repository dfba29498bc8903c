"""`hippocampus memory --as hippo|crib|scriptling`: the verbs of those stores, under their own names.

They work on the same database as the verbs of `memory`; the stores' formulas are in `facts.models`.
"""

from __future__ import annotations

import functools
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer import Argument, Option

from hippocampus.cli import housekeeping
from hippocampus.cli import memory_printing as out
from hippocampus.cli import memory_store as stores
from hippocampus.cli.memory_printing import verb
from hippocampus.cli.options import AsJson, Shown
from hippocampus.errors import FactError
from hippocampus.storage.facts import memories

if TYPE_CHECKING:
    from hippocampus.facts.store import Facts

STORES = {
    name: typer.Typer(help=f"The verbs of {name}.", no_args_is_help=True, add_completion=False)
    for name in ("hippo", "crib", "scriptling")
}
hippo, crib, scriptling = STORES.values()
TYPE_PREFIX = re.compile(r"type=([\w-]+)\s+")
Whose = Annotated[str, Argument(envvar="HIPPOCAMPUS_AGENT", help="Whose memory.")]
Owner = Annotated[str, Option("--agent", help="Only of this agent.")]
Superseded = Annotated[bool, Option("--superseded", help="The replaced ones too.")]
Kind = Annotated[Literal["fact", "memory"] | None, Option(help="Only facts, or only memories.")]


@functools.cache
def group_of(store: str) -> Any:
    """Return the verbs of a store as a group of commands."""
    return typer.main.get_command(STORES[store])


@verb(hippo, crib, makes=True)
def init(facts: Facts) -> Shown:
    """Make the database, or bring an older one up to date."""
    path = facts.tables.database.path
    return Shown({"database": path}, [f"{path} is ready"])


@verb(hippo)
def stats(facts: Facts) -> Shown:
    """Count memories by kind, triples, blocks and agents, and show how large the file is."""
    database = facts.tables.database
    counts = memories.stats(database, facts.tables.clock())._asdict()
    found = {"database": database.path, **counts}
    lines = []
    for name, value in found.items():
        words = f"{value:,}" if isinstance(value, int) else value
        if isinstance(value, dict):
            words = ", ".join(f"{kind} ({number})" for kind, number in value.items())
        lines.append(f"{name:16} {words or 'none'}")
    return Shown(found, lines)


@verb(hippo)
def agents(facts: Facts) -> Shown:
    """List the agents with their number of memories."""
    found = memories.agents(facts.tables.database).items()
    rows = [{"agent": name, "memories": number} for name, number in found]
    return Shown(rows, [f"{name} ({number})" for name, number in found], "no agents")


@verb(hippo)
def chunks(
    facts: Facts,
    agent: Whose = stores.OWN_AGENT,
    kind: Kind = None,
    superseded: Superseded = False,
    limit: out.Limit = 50,
) -> Shown:
    """List an agent's memories, newest first."""
    return out.memories(facts.memories(agent=agent, kind=kind, superseded=superseded, limit=limit))


@verb(hippo)
def search(  # noqa: PLR0913, PLR0917 - one parameter an option
    facts: Facts,
    text: Annotated[str, Argument(help="What the memories contain, in any case.")],
    kind: Kind = None,
    agent: Owner = stores.EVERY_AGENT,
    superseded: Superseded = False,
    limit: out.Limit = 20,
) -> Shown:
    """List the memories that contain a text, of all agents."""
    found = facts.memories(
        containing=text, kind=kind, agent=agent, superseded=superseded, limit=limit
    )
    return out.memories(found, agent=True)


@verb(hippo)
def blocks(facts: Facts, agent: Whose = stores.OWN_AGENT) -> Shown:
    """List an agent's memory blocks with their sizes."""
    from hippocampus.facts.timestamps import stamp

    rows, lines = [], []
    for block in facts.blocks.list(agent=agent):
        size, updated = len(block.value.encode()), stamp(block.updated)
        rows.append({"key": block.key, "scope": block.scope, "bytes": size, "updated": updated})
        lines.append(f"{block.scope}/{block.key}".lstrip("/") + f" ({size:,} bytes, {updated})")
    return Shown(rows, lines, "no blocks")


@verb(hippo)
def block(
    facts: Facts,
    agent: Annotated[str, Argument(help="Whose block.")],
    key: Annotated[str, Argument(help="The block's name.")],
    scope: Annotated[str, Option(help="The part of the memory it is in.")] = "",
) -> Shown:
    """Print the text of one memory block; exit status 1 without one."""
    found = facts.blocks.get(key, agent=agent, scope=scope)
    text = found and found.value
    problems = [f"agent {agent!r} has no block {key!r}"] if found is None else []
    value = {"agent": agent, "key": key, "scope": scope, "value": text}
    return Shown(value, [text or ""], problems=problems)


@verb(hippo)
def delete(facts: Facts, ids: out.Ids, force: out.Force = False) -> Shown:
    """Delete memories for good; what they had superseded comes back; status 1 where an id is unknown."""
    found, missing = stores.known(facts, ids)
    returned = memories.returning(facts.tables.database, [memory.id for memory in found])
    if force:
        facts.delete([memory.id for memory in found])
        stores.sync_files(facts)
    return out.gone(found, force=force, returned=returned)._replace(problems=missing)


@verb(hippo)
def purge(
    facts: Facts,
    agent: Owner = stores.EVERY_AGENT,
    before: Annotated[str | None, Option(help="Only those made before this date.")] = None,
    force: out.Force = False,
) -> Shown:
    """Delete for good what was superseded or taken away by compaction."""
    from hippocampus.facts import upkeep

    found = upkeep.purge(facts.tables, agent=agent, before=before, dry_run=not force)
    return out.gone(found, force=force)


@verb(hippo, name="export")
def hippo_export(facts: Facts, agent: Whose = stores.OWN_AGENT) -> Shown:
    """Print an agent's memories and blocks as hippo's JSON."""
    from hippocampus.facts.exchange.hippo import document

    return Shown(document(facts, agent))


@crib.command()
def write(
    agent: out.Agent = stores.OWN_AGENT,
    scope: out.Scope = "",
    db: out.Database = stores.DEFAULT_PATH,
    as_json: AsJson = False,
) -> None:
    """Keep the text on stdin, after an optional `type=decision ` before it, with what it states."""
    from hippocampus.facts.pasted import own_words
    from hippocampus.facts.sentences import sentences
    from hippocampus.facts.statements import read

    text, type_name = out.read_stdin(), "note"
    if found := TYPE_PREFIX.match(text):
        text, type_name = text[found.end() :], found[1]
    if not text or TYPE_PREFIX.fullmatch(f"{text} "):
        raise FactError("there is nothing to write: the input is empty")
    with stores.opened(db, agent, makes=True) as facts:
        kept = facts.store(text, type=type_name, scope=scope)
        # A model finds the facts of the whole text; without one, they are the sentences that may end others.
        said = (sentence for sentence in sentences(own_words(text)) if read(sentence).may_end)
        claims = [text] if stores.complete() else said
        source = {} if kept.memory is None else {"written": kept.memory.id}
        stated = [facts.remember(claim, scope=scope, metadata=source) for claim in claims]
        outcomes = [kept, *(outcome for found in stated for outcome in found)]
    if as_json:
        out.outcomes(outcomes).show(as_json=True)
    for outcome in () if as_json else outcomes:
        typer.echo(out.outcome_line(outcome), err=True)
    if kept.memory is None:
        raise typer.Exit(1)


crib.command("doctor")(housekeeping.report)


@verb(scriptling, name="remember", makes=True, models=True, preset="scriptling")
def scriptling_remember(
    facts: Facts,
    text: out.Text = "",
    type_name: Annotated[str, Option("--type", help="fact, preference, event or note.")] = "note",
    importance: out.Importance = 0.5,
    agent: out.Agent = stores.OWN_AGENT,  # noqa: ARG001 - whose memory is opened
) -> Shown:
    """Remember a text as one memory; a very similar one of its type is updated by it, and no other ends."""
    from hippocampus.facts.write import claim, keep
    from hippocampus.storage.facts.models import Item

    request = claim(Item(text, type_name, importance))
    (outcome,) = keep(facts.tables, [replace(request, statement=None)])
    return Shown(out.outcome_row(outcome), [out.outcome_line(outcome)])


@verb(scriptling, name="recall", models=True, preset="scriptling")
def scriptling_recall(
    facts: Facts,
    query: out.Query = "",
    limit: out.Limit = 10,
    type_name: out.OneType = "",
    agent: out.Agent = stores.OWN_AGENT,
) -> Shown:
    """Search as scriptling ranks; without arguments preferences and the strongest others."""
    if query or type_name:
        types = [type_name] if type_name else []
        return out.recalled(facts.recall(query, limit=limit, types=types, agent=agent))
    from hippocampus.facts.query import count_accesses, load
    from hippocampus.facts.rendering import number_line

    found, preferences = load(facts.tables, limit=limit, agent=agent)
    count_accesses(facts.tables, found, facts.tables.clock())
    printed = out.recalled(found)
    number = sum(result.memory.type == "preference" for result in found)
    named = [number_line(number, preferences)] if number < preferences else []
    return printed._replace(lines=[*(printed.lines or ()), *named])


@verb(scriptling, name="forget")
def scriptling_forget(facts: Facts, memory_id: out.Id) -> Shown:
    """Delete one memory for good, by its id; status 1 if it is unknown."""
    return delete(facts, [memory_id], force=True)


@verb(scriptling)
def count(facts: Facts, agent: out.Agent = stores.OWN_AGENT) -> Shown:
    """Print how many memories there are."""
    number = len(memories.current(facts.tables.database, agent, facts.tables.clock()))
    return Shown({"count": number}, [str(number)])


@verb(scriptling, models=True)
def compact(facts: Facts, agent: out.Agent = stores.OWN_AGENT, force: out.Force = False) -> Shown:
    """Take away memories that faded, are old or are there twice; `restore` undoes it."""
    from hippocampus.facts import upkeep

    done = upkeep.compact(facts.tables, dry_run=not force, agent=agent)
    counts = {"removed": len(done.removed), "merged": len(done.merged), "remaining": done.remaining}
    ids = {"removed_ids": list(done.removed), "merged_ids": list(done.merged)}
    lines = [", ".join(f"{number} {name}" for name, number in counts.items())]
    lines += ["nothing was changed; --force does it"] if done.dry_run else []
    return Shown({**counts, **ids, "dry_run": done.dry_run}, lines)
