"""hippo's verbs that only look: `stats`, `agents`, `chunks`, `blocks`, `block`, `search`, `export`.

None of them needs a model.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from hippocampus.cli.memory_opening import (
    DEFAULT_PATH,
    OWN_AGENT,
    Database,
    Json,
    Kind,
    Limit,
    existing,
    kind_of,
)
from hippocampus.cli.memory_printing import say, say_json, say_lines, say_memories

EVERYBODY = "*"
Whose = Annotated[str, typer.Argument(envvar="HIPPOCAMPUS_AGENT", help="Whose memory.")]


def stats(db: Database = DEFAULT_PATH, as_json: Json = False) -> None:
    """Count memories by kind, triples, blocks and agents, and say how large the file is."""
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


def agents(db: Database = DEFAULT_PATH, as_json: Json = False) -> None:
    """List the agents with their number of memories."""
    with existing(db) as facts:
        found = facts.agents()
    if as_json:
        say_json([{"agent": name, "memories": number} for name, number in found.items()])
    else:
        say_lines((f"{name} ({number})" for name, number in found.items()), "no agents")


def chunks(  # noqa: PLR0913, PLR0917 - one parameter an option
    agent: Whose = OWN_AGENT,
    kind: Kind = None,
    superseded: Annotated[
        bool, typer.Option("--superseded", help="The replaced ones too.")
    ] = False,
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


def blocks(agent: Whose = OWN_AGENT, db: Database = DEFAULT_PATH, as_json: Json = False) -> None:
    """List an agent's memory blocks with their sizes."""
    from hippocampus.facts.timestamps import stamp

    with existing(db) as facts:
        listed = facts.blocks.list(agent=agent)
    found = [
        {
            "key": each.key,
            "scope": each.scope,
            "bytes": len(each.value.encode()),
            "updated": stamp(each.updated),
        }
        for each in listed
    ]
    if as_json:
        say_json(found)
    else:
        lines = (f"{each['key']} ({each['bytes']:,} bytes, {each['updated']})" for each in found)
        say_lines(lines, "no blocks")


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


def search(  # noqa: PLR0913, PLR0917 - one parameter an option
    text: Annotated[str, typer.Argument(help="What the memories contain, in any case.")],
    kind: Kind = None,
    agent: Annotated[str, typer.Option(help="Only of this agent.")] = EVERYBODY,
    superseded: Annotated[
        bool, typer.Option("--superseded", help="The replaced ones too.")
    ] = False,
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


def export(
    agent: Whose = OWN_AGENT,
    format_name: Annotated[
        str, typer.Option("--format", help="hippocampus, or hippo for hippo's own import.")
    ] = "hippocampus",
    db: Database = DEFAULT_PATH,
    as_json: Json = False,  # noqa: ARG001 - it is JSON anyway
) -> None:
    """Print everything of an agent as one JSON object; * is all agents, whom hippo's form cannot hold."""
    from hippocampus.facts.exchange import export as exported

    with existing(db) as facts:
        say_json(exported(facts, agent, format_name=format_name))
