"""`hippocampus memory hippo|crib|scriptling`: the verbs of those stores, under their own names.

They work on the same database as the verbs of `memory`; the formulas of each store are in `facts.compat`.
"""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from hippocampus.cli.memory_import import say_import
from hippocampus.cli.memory_opening import (
    DEFAULT_PATH,
    Agent,
    Database,
    Force,
    Json,
    Kind,
    Limit,
    Scope,
    Scopes,
)
from hippocampus.cli.memory_printing import (
    end_if_missing,
    outcome_line,
    outcome_row,
    row,
    said_on_stdin,
    say,
    say_gone,
    say_json,
    say_lines,
    say_memories,
    say_recalled,
)
from hippocampus.cli.memory_store import (
    OWN_AGENT,
    complete,
    existing,
    for_reading,
    kind_of,
    known,
    loaded,
    opened,
)

EVERY_AGENT = "*"
TYPE_PREFIX = re.compile(r"type=([\w-]+)\s+")
Whose = Annotated[str, typer.Argument(envvar="HIPPOCAMPUS_AGENT", help="Whose memory.")]
Superseded = Annotated[bool, typer.Option("--superseded", help="The replaced ones too.")]


def _group(name: str) -> typer.Typer:
    return typer.Typer(help=f"The verbs of {name}.", no_args_is_help=True, add_completion=False)


hippo, crib, scriptling = _group("hippo"), _group("crib"), _group("scriptling")


@hippo.command("init")
@crib.command("init")
def init(db: Database = DEFAULT_PATH, as_json: Json = False) -> None:
    """Make the database, or bring an older one up to date."""
    opened(db).close()
    if as_json:
        say_json({"database": str(db)})
    else:
        say(f"{db} is ready")


@hippo.command()
def stats(db: Database = DEFAULT_PATH, as_json: Json = False) -> None:
    """Count memories by kind, triples, blocks and agents, and show how large the file is."""
    with existing(db) as facts:
        found = facts.stats()
    if as_json:
        say_json({"database": str(db), **asdict(found)})
        return
    kinds = ", ".join(f"{number} {kind}" for kind, number in found.current.items()) or "none"
    say(f"database    {db}, {found.bytes:,} bytes")
    say(f"memories    {kinds}; {found.superseded} superseded, {found.removed} removed")
    say(f"triples     {found.triples}")
    say(f"blocks      {found.blocks}")
    say(f"agents      {', '.join(f'{name} ({n})' for name, n in found.agents.items()) or 'none'}")
    say(f"embeddings  {found.embedding_model or 'none'}")


@hippo.command()
def agents(db: Database = DEFAULT_PATH, as_json: Json = False) -> None:
    """List the agents with their number of memories."""
    with existing(db) as facts:
        found = facts.agents()
    if as_json:
        say_json([{"agent": name, "memories": number} for name, number in found.items()])
    else:
        say_lines((f"{name} ({number})" for name, number in found.items()), "no agents")


@hippo.command()
def chunks(  # noqa: PLR0913, PLR0917 - one parameter an option
    agent: Whose = OWN_AGENT,
    kind: Kind = None,
    superseded: Superseded = False,
    limit: Limit = 50,
    before: Annotated[str | None, typer.Option(help="Only those made before this date.")] = None,
    db: Database = DEFAULT_PATH,
    as_json: Json = False,
) -> None:
    """List an agent's memories, newest first."""
    with existing(db) as facts:
        found = facts.memories(
            agent=agent, kind=kind_of(kind), superseded=superseded, before=before, limit=limit
        )
    say_memories(found, as_json=as_json)


@hippo.command()
def blocks(agent: Whose = OWN_AGENT, db: Database = DEFAULT_PATH, as_json: Json = False) -> None:
    """List an agent's memory blocks with their sizes."""
    from hippocampus.facts.timestamps import stamp

    with existing(db) as facts:
        found = [
            {
                "key": each.key,
                "scope": each.scope,
                "bytes": len(each.value.encode()),
                "updated": stamp(each.updated),
            }
            for each in facts.blocks.list(agent=agent)
        ]
    if as_json:
        say_json(found)
    else:
        say_lines(
            (f"{each['key']} ({each['bytes']:,} bytes, {each['updated']})" for each in found),
            "no blocks",
        )


@hippo.command()
def block(
    agent: Annotated[str, typer.Argument(help="Whose block.")],
    key: Annotated[str, typer.Argument(help="The block's name.")],
    scope: Annotated[str, typer.Option(help="The part of the memory it is in.")] = "",
    db: Database = DEFAULT_PATH,
    as_json: Json = False,
) -> None:
    """Print the text of one memory block; exit status 1 where there is none."""
    with existing(db) as facts:
        found = facts.blocks.get(key, agent=agent, scope=scope)
    value = None if found is None else found.value
    if as_json:
        say_json({"agent": agent, "key": key, "scope": scope, "value": value})
    elif value is not None:
        say(value)
    else:
        typer.echo(f"hippocampus: agent {agent!r} has no block {key!r}", err=True)
    if value is None:
        raise typer.Exit(1)


@hippo.command()
def search(  # noqa: PLR0913, PLR0917 - one parameter an option
    text: Annotated[str, typer.Argument(help="What the memories contain, in any case.")],
    kind: Kind = None,
    agent: Annotated[str, typer.Option(help="Only of this agent.")] = EVERY_AGENT,
    superseded: Superseded = False,
    limit: Limit = 20,
    db: Database = DEFAULT_PATH,
    as_json: Json = False,
) -> None:
    """List the memories that contain a text, of all agents."""
    with existing(db) as facts:
        found = facts.search(
            text, kind=kind_of(kind), agent=agent, superseded=superseded, limit=limit
        )
    say_memories(found, as_json=as_json, agent=True)


@hippo.command()
def delete(
    ids: Annotated[list[str], typer.Argument(help="Ids of memories.")],
    force: Force = False,
    db: Database = DEFAULT_PATH,
    as_json: Json = False,
) -> None:
    """Delete memories for good; what they had superseded comes back; status 1 where an id is unknown."""
    with existing(db) as facts:
        found = known(facts, ids)
        returned = facts.returning([memory.id for memory in found])
        if force:
            facts.delete([memory.id for memory in found])
    if as_json:
        missing = sorted(set(ids) - {memory.id for memory in found})
        told = {"deleted": list(map(row, found)), "returned": list(map(row, returned))}
        say_json({**told, "not_found": missing, "dry_run": not force})
    else:
        say_gone(found, force=force, as_json=False, returned=returned)
    end_if_missing(ids, found)


@hippo.command()
def purge(
    agent: Annotated[str, typer.Option(help="Only of this agent.")] = EVERY_AGENT,
    before: Annotated[str | None, typer.Option(help="Only those made before this date.")] = None,
    force: Force = False,
    db: Database = DEFAULT_PATH,
    as_json: Json = False,
) -> None:
    """Delete for good what was superseded or taken away by compaction."""
    with existing(db) as facts:
        gone = facts.purge(agent=agent, before=before, dry_run=not force)
    say_gone(gone, force=force, as_json=as_json)


@hippo.command("export")
def hippo_export(agent: Whose = OWN_AGENT, db: Database = DEFAULT_PATH) -> None:
    """Print an agent's memories and blocks as hippo's JSON."""
    from hippocampus.facts.exchange import export as exported

    with existing(db) as facts:
        say_json(exported(facts, agent, format_name="hippo"))


@hippo.command("import")
def hippo_import(
    file: Annotated[Path, typer.Argument(help="An export of hippo.")],
    embedding_model: Annotated[
        str | None, typer.Option(help="The model of the vectors in a file that does not name it.")
    ] = None,
    db: Database = DEFAULT_PATH,
    as_json: Json = False,
) -> None:
    """Bring in an export of hippo; ids that are there stay as they are."""
    say_import(file, None, embedding_model, db, as_json=as_json)


@crib.command()
def write(
    agent: Agent = OWN_AGENT, scope: Scope = "", db: Database = DEFAULT_PATH, as_json: Json = False
) -> None:
    """Keep the text on stdin, after an optional `type=decision ` in front of it, with what it states."""
    from hippocampus.facts.compat.crib import written
    from hippocampus.facts.errors import FactError

    text, type_name = said_on_stdin(), "note"
    if found := TYPE_PREFIX.match(text):
        text, type_name = text[found.end() :], found[1]
    if not text or TYPE_PREFIX.fullmatch(f"{text} "):
        raise FactError("there is nothing to write: the input is empty")
    with opened(db, agent, models=True) as facts:
        outcomes = written(facts, text, type_name, scope, extracts=complete() is not None)
    if as_json:
        say_json([outcome_row(each) for each in outcomes])
    else:
        for each in outcomes:
            typer.echo(outcome_line(each), err=True)


@crib.command("retrieve")
def crib_retrieve(
    agent: Agent = OWN_AGENT, scope: Scopes = None, db: Database = DEFAULT_PATH
) -> None:
    """Print what the memory knows about the prompt on stdin; nothing where it knows nothing."""
    from hippocampus.cli import memory_retrieve

    memory_retrieve.run(agent, scope, memory_retrieve.TOKENS, db, as_json=False)


@crib.command("doctor")
def crib_doctor(db: Database = DEFAULT_PATH) -> None:
    """Print the state of the memory as JSON; exit status 1 where there is a problem."""
    from hippocampus.cli.memory_doctor import say_report

    say_report(db, probe=False)


@scriptling.command("remember")
def scriptling_remember(  # noqa: PLR0913, PLR0917 - one parameter an option
    text: Annotated[
        str, typer.Argument(help="What to remember; left out, it is read from stdin.")
    ] = "",
    type_name: Annotated[
        str, typer.Option("--type", help="fact, preference, event or note.")
    ] = "note",
    importance: Annotated[float, typer.Option(min=0, max=1, help="0 to 1.")] = 0.5,
    agent: Agent = OWN_AGENT,
    db: Database = DEFAULT_PATH,
    as_json: Json = False,
) -> None:
    """Remember a text as one memory; a very similar one of its type is updated by it."""
    from hippocampus.facts.compat.scriptling import remembered

    with opened(db, agent, models=True) as facts:
        outcome = remembered(facts, text or said_on_stdin(), type_name, importance)
    if as_json:
        say_json(outcome_row(outcome))
    else:
        say(outcome_line(outcome))


@scriptling.command("recall")
def scriptling_recall(  # noqa: PLR0913, PLR0917 - one parameter an option
    query: Annotated[str, typer.Argument(help="What to look for; nothing loads the context.")] = "",
    limit: Limit = 10,
    type_name: Annotated[
        str, typer.Option("--type", help="Only this type; with ! in front, all but this one.")
    ] = "",
    agent: Agent = OWN_AGENT,
    db: Database = DEFAULT_PATH,
    as_json: Json = False,
) -> None:
    """Search as scriptling ranks; without arguments all preferences and the strongest others."""
    with for_reading(db, agent) as facts:
        types = [type_name] if type_name else []
        found = (
            facts.recall(query, limit=limit, types=types, preset="scriptling", agent=agent)
            if query or type_name
            else loaded(facts, limit, None, None, agent)
        )
        facts.confirm([each.memory.id for each in found])
    say_recalled(found, as_json=as_json)


@scriptling.command("forget")
def scriptling_forget(
    memory_id: Annotated[str, typer.Argument(help="The id of a memory.")],
    db: Database = DEFAULT_PATH,
    as_json: Json = False,
) -> None:
    """Delete one memory for good, by its id; status 1 where there is none."""
    delete([memory_id], force=True, db=db, as_json=as_json)


@scriptling.command()
def count(agent: Agent = OWN_AGENT, db: Database = DEFAULT_PATH, as_json: Json = False) -> None:
    """Print how many memories there are."""
    with existing(db) as facts:
        number = facts.count(agent=agent)
    if as_json:
        say_json({"count": number})
    else:
        say(str(number))


@scriptling.command()
def compact(
    agent: Agent = OWN_AGENT,
    force: Force = False,
    db: Database = DEFAULT_PATH,
    as_json: Json = False,
) -> None:
    """Take away memories that faded, are old or are there twice; `restore` undoes it."""
    with for_reading(db, agent) as facts:
        done = facts.compact(dry_run=not force, agent=agent)
    counts = {"removed": len(done.removed), "merged": len(done.merged), "remaining": done.remaining}
    if as_json:
        ids = {"removed_ids": list(done.removed), "merged_ids": list(done.merged)}
        say_json({**counts, **ids, "dry_run": done.dry_run})
        return
    say(", ".join(f"{number} {name}" for name, number in counts.items()))
    if done.dry_run:
        say("nothing was changed; --force does it")
