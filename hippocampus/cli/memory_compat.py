"""`hippocampus memory --as hippo|crib|scriptling`: the verbs of those stores, under their own names.

They work on the same database as the verbs of `memory`; the formulas of each store are in `facts.compat`.
"""

from __future__ import annotations

import functools
import re
from typing import Annotated, Any, Literal

import typer

from hippocampus.cli import memory_printing as out
from hippocampus.cli import memory_store as stores
from hippocampus.cli.memory_doctor import report

TYPE_PREFIX = re.compile(r"type=([\w-]+)\s+")


Whose = Annotated[str, typer.Argument(envvar="HIPPOCAMPUS_AGENT", help="Whose memory.")]
Owner = Annotated[str, typer.Option("--agent", help="Only of this agent.")]
Before = Annotated[str | None, typer.Option(help="Only those made before this date.")]
Superseded = Annotated[bool, typer.Option("--superseded", help="The replaced ones too.")]
Kind = Annotated[
    Literal["fact", "memory"] | None, typer.Option(help="Only facts, or only memories.")
]


def _group(name: str) -> typer.Typer:
    return typer.Typer(help=f"The verbs of {name}.", no_args_is_help=True, add_completion=False)


hippo, crib, scriptling = _group("hippo"), _group("crib"), _group("scriptling")
STORES = {"hippo": hippo, "crib": crib, "scriptling": scriptling}


@functools.cache
def verbs_of(store: str) -> dict[str, Any]:
    """Return the verbs of a store by their names, as commands."""
    return dict(getattr(typer.main.get_command(STORES[store]), "commands", {}))


@hippo.command("init")
@crib.command("init")
def init(db: out.Database = out.DEFAULT_PATH, as_json: out.Json = False) -> None:
    """Make the database, or bring an older one up to date."""
    stores.opened(db).close()
    out.show({"database": str(db)}, [f"{db} is ready"], "", as_json=as_json)


@hippo.command()
def stats(db: out.Database = out.DEFAULT_PATH, as_json: out.Json = False) -> None:
    """Count memories by kind, triples, blocks and agents, and show how large the file is."""
    from hippocampus.storage.facts.memories import stats as stats_of

    with stores.existing(db) as facts:
        found = {
            "database": str(db),
            **stats_of(facts.tables.database, facts.tables.clock())._asdict(),
        }
    lines = (f"{name:16} {_counts(value)}" for name, value in found.items())
    out.show(found, lines, "", as_json=as_json)


def _counts(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} ({number})" for name, number in value.items()) or "none"
    return f"{value:,}" if isinstance(value, int) else str(value or "none")


@hippo.command()
def agents(db: out.Database = out.DEFAULT_PATH, as_json: out.Json = False) -> None:
    """List the agents with their number of memories."""
    from hippocampus.storage.facts.memories import agents as agents_in

    with stores.existing(db) as facts:
        found = agents_in(facts.tables.database)
    rows = [{"agent": name, "memories": number} for name, number in found.items()]
    lines = (f"{name} ({number})" for name, number in found.items())
    out.show(rows, lines, "no agents", as_json=as_json)


@hippo.command()
def chunks(  # noqa: PLR0913, PLR0917 - one parameter an option
    agent: Whose = stores.OWN_AGENT,
    kind: Kind = None,
    superseded: Superseded = False,
    limit: out.Limit = 50,
    before: Before = None,
    db: out.Database = out.DEFAULT_PATH,
    as_json: out.Json = False,
) -> None:
    """List an agent's memories, newest first."""
    with stores.existing(db) as facts:
        found = facts.memories(
            agent=agent, kind=kind, superseded=superseded, before=before, limit=limit
        )
    out.say_memories(found, as_json=as_json)


@hippo.command()
def search(  # noqa: PLR0913, PLR0917 - one parameter an option
    text: Annotated[str, typer.Argument(help="What the memories contain, in any case.")],
    kind: Kind = None,
    agent: Owner = stores.EVERY_AGENT,
    superseded: Superseded = False,
    limit: out.Limit = 20,
    db: out.Database = out.DEFAULT_PATH,
    as_json: out.Json = False,
) -> None:
    """List the memories that contain a text, of all agents."""
    with stores.existing(db) as facts:
        found = facts.memories(
            containing=text, kind=kind, agent=agent, superseded=superseded, limit=limit
        )
    out.say_memories(found, as_json=as_json, agent=True)


@hippo.command()
def blocks(
    agent: Whose = stores.OWN_AGENT, db: out.Database = out.DEFAULT_PATH, as_json: out.Json = False
) -> None:
    """List an agent's memory blocks with their sizes."""
    from hippocampus.facts.timestamps import stamp

    with stores.existing(db) as facts:
        found = [
            {
                "key": kept.key,
                "scope": kept.scope,
                "bytes": len(kept.value.encode()),
                "updated": stamp(kept.updated),
            }
            for kept in facts.blocks.list(agent=agent)
        ]
    lines = (
        f"{item['scope']}/{item['key']}".lstrip("/")
        + f" ({item['bytes']:,} bytes, {item['updated']})"
        for item in found
    )
    out.show(found, lines, "no blocks", as_json=as_json)


@hippo.command()
def block(
    agent: Annotated[str, typer.Argument(help="Whose block.")],
    key: Annotated[str, typer.Argument(help="The block's name.")],
    scope: Annotated[str, typer.Option(help="The part of the memory it is in.")] = "",
    db: out.Database = out.DEFAULT_PATH,
    as_json: out.Json = False,
) -> None:
    """Print the text of one memory block; exit status 1 where there is none."""
    with stores.existing(db) as facts:
        found = facts.blocks.get(key, agent=agent, scope=scope)
    value = None if found is None else found.value
    if value is not None or as_json:
        found_block = {"agent": agent, "key": key, "scope": scope, "value": value}
        out.show(found_block, [value or ""], "", as_json=as_json)
    if value is None:
        typer.echo(f"hippocampus: agent {agent!r} has no block {key!r}", err=True)
        raise typer.Exit(1)


@hippo.command()
def delete(
    ids: out.Ids,
    force: out.Force = False,
    db: out.Database = out.DEFAULT_PATH,
    as_json: out.Json = False,
) -> None:
    """Delete memories for good; what they had superseded comes back; status 1 where an id is unknown."""
    from hippocampus.storage.facts.memories import returning

    with stores.existing(db) as facts:
        found = stores.known(facts, ids)
        returned = returning(facts.tables.database, [memory.id for memory in found])
        if force:
            facts.delete([memory.id for memory in found])
    out.say_gone(found, force=force, as_json=as_json, returned=returned)
    out.end_if_missing(ids, found)


@hippo.command()
def purge(
    agent: Owner = stores.EVERY_AGENT,
    before: Before = None,
    force: out.Force = False,
    db: out.Database = out.DEFAULT_PATH,
    as_json: out.Json = False,
) -> None:
    """Delete for good what was superseded or taken away by compaction."""
    from hippocampus.facts.upkeep import purge as purged

    with stores.existing(db) as facts:
        gone = purged(facts.tables, agent=agent, before=before, dry_run=not force)
    out.say_gone(gone, force=force, as_json=as_json)


@hippo.command("export")
def hippo_export(agent: Whose = stores.OWN_AGENT, db: out.Database = out.DEFAULT_PATH) -> None:
    """Print an agent's memories and blocks as hippo's JSON."""
    from hippocampus.facts.compat.hippo import document

    with stores.existing(db) as facts:
        out.say_json(document(facts, agent))


@crib.command()
def write(
    agent: out.Agent = stores.OWN_AGENT,
    scope: out.Scope = "",
    db: out.Database = out.DEFAULT_PATH,
    as_json: out.Json = False,
) -> None:
    """Keep the text on stdin, after an optional `type=decision ` in front of it, with what it states."""
    from hippocampus.facts.compat.crib import written
    from hippocampus.storage.facts.errors import FactError

    text, type_name = out.said_on_stdin(), "note"
    if found := TYPE_PREFIX.match(text):
        text, type_name = text[found.end() :], found[1]
    if not text or TYPE_PREFIX.fullmatch(f"{text} "):
        raise FactError("there is nothing to write: the input is empty")
    with stores.for_writing(db, agent) as facts:
        outcomes = written(facts, text, type_name, scope, extracts=stores.complete() is not None)
    if as_json:
        out.say_outcomes(outcomes, as_json=True)
    for outcome in () if as_json else outcomes:
        typer.echo(out.outcome_line(outcome), err=True)


crib.command("doctor")(report)


@scriptling.command("remember")
def scriptling_remember(  # noqa: PLR0913, PLR0917 - one parameter an option
    text: out.Text = "",
    type_name: Annotated[
        str, typer.Option("--type", help="fact, preference, event or note.")
    ] = "note",
    importance: out.Importance = 0.5,
    agent: out.Agent = stores.OWN_AGENT,
    db: out.Database = out.DEFAULT_PATH,
    as_json: out.Json = False,
) -> None:
    """Remember a text as one memory; a very similar one of its type is updated by it."""
    from hippocampus.facts.compat.scriptling import remembered

    with stores.for_writing(db, agent) as facts:
        outcome = remembered(facts, text or out.said_on_stdin(), type_name, importance)
    out.show(out.outcome_row(outcome), [out.outcome_line(outcome)], "", as_json=as_json)


@scriptling.command("recall")
def scriptling_recall(  # noqa: PLR0913, PLR0917 - one parameter an option
    query: out.Query = "",
    limit: out.Limit = 10,
    type_name: out.OneType = "",
    agent: out.Agent = stores.OWN_AGENT,
    db: out.Database = out.DEFAULT_PATH,
    as_json: out.Json = False,
) -> None:
    """Search as scriptling ranks; without arguments all preferences and the strongest others."""
    with stores.for_reading(db, agent) as facts:
        found = stores.loaded(facts, query, type_name, limit, preset="scriptling", agent=agent)
        facts.confirm([item.memory.id for item in found])
    out.say_recalled(found, as_json=as_json)


@scriptling.command("forget")
def scriptling_forget(
    memory_id: out.Id, db: out.Database = out.DEFAULT_PATH, as_json: out.Json = False
) -> None:
    """Delete one memory for good, by its id; status 1 where there is none."""
    delete([memory_id], force=True, db=db, as_json=as_json)


@scriptling.command()
def count(
    agent: out.Agent = stores.OWN_AGENT,
    db: out.Database = out.DEFAULT_PATH,
    as_json: out.Json = False,
) -> None:
    """Print how many memories there are."""
    from hippocampus.storage.facts.memories import count as counted

    with stores.existing(db) as facts:
        number = counted(facts.tables.database, agent, facts.tables.clock())
    out.show({"count": number}, [str(number)], "", as_json=as_json)


@scriptling.command()
def compact(
    agent: out.Agent = stores.OWN_AGENT,
    force: out.Force = False,
    db: out.Database = out.DEFAULT_PATH,
    as_json: out.Json = False,
) -> None:
    """Take away memories that faded, are old or are there twice; `restore` undoes it."""
    from hippocampus.facts.upkeep import compact as compacted

    with stores.for_reading(db, agent) as facts:
        done = compacted(facts.tables, dry_run=not force, agent=agent)
    counts = {"removed": len(done.removed), "merged": len(done.merged), "remaining": done.remaining}
    ids = {"removed_ids": list(done.removed), "merged_ids": list(done.merged)}
    lines = [", ".join(f"{number} {name}" for name, number in counts.items())]
    lines += ["nothing was changed; --force does it"] if done.dry_run else []
    out.show({**counts, **ids, "dry_run": done.dry_run}, lines, "", as_json=as_json)
