"""Verbs that change a store as a whole: `delete`, `purge`, `restore`, `import`, `reembed`.

A change that cannot be undone is only shown, unless `--force` is given.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from hippocampus.cli.memory_opening import (
    DEFAULT_PATH,
    Database,
    Force,
    Json,
    embed,
    existing,
    opened,
)
from hippocampus.cli.memory_printing import (
    row,
    say,
    say_gone,
    say_json,
    say_lines,
    say_memories,
    short,
)

Ids = Annotated[list[str], typer.Argument(help="Ids of memories.")]
MOST_SHOWN = 20


def delete(
    ids: Ids, force: Force = False, db: Database = DEFAULT_PATH, as_json: Json = False
) -> None:
    """Delete memories for good; what they had superseded comes back."""
    with existing(db) as facts:
        found = [memory for memory in map(facts.get, dict.fromkeys(ids)) if memory is not None]
        returned = facts.returning([memory.id for memory in found])
        if force:
            facts.delete([memory.id for memory in found])
    missing = sorted(set(ids) - {memory.id for memory in found})
    if as_json:
        told = {"deleted": list(map(row, found)), "returned": list(map(row, returned))}
        say_json({**told, "not_found": missing, "dry_run": not force})
        return
    say_gone(found, force=force, as_json=False, returned=returned)
    _say_missing(missing)


def _say_missing(ids: Iterable[str]) -> None:
    for each in ids:
        typer.echo(f"hippocampus: no memory {each}", err=True)


def purge(
    agent: Annotated[str, typer.Option(help="Only of this agent.")] = "*",
    before: Annotated[str | None, typer.Option(help="Only those made before this date.")] = None,
    force: Force = False,
    db: Database = DEFAULT_PATH,
    as_json: Json = False,
) -> None:
    """Delete for good what was superseded or taken away by compaction."""
    with existing(db) as facts:
        gone = facts.purge(agent=agent, before=before, dry_run=not force)
    say_gone(gone, force=force, as_json=as_json)


def restore(ids: Ids, db: Database = DEFAULT_PATH, as_json: Json = False) -> None:
    """Bring back memories that were superseded or taken away by compaction."""
    with existing(db) as facts:
        missing = [each for each in dict.fromkeys(ids) if facts.get(each) is None]
        say_memories(facts.restore(ids), as_json=as_json)
    _say_missing(missing)


def import_(
    file: Annotated[
        Path, typer.Argument(help="An export (ours or hippo's), crib's database, or a MEMORY.md.")
    ],
    agent: Annotated[str | None, typer.Option(help="Whose memory it becomes.")] = None,
    embedding_model: Annotated[
        str | None, typer.Option(help="The model of the vectors in a file that does not name it.")
    ] = None,
    db: Database = DEFAULT_PATH,
    as_json: Json = False,
) -> None:
    """Bring in what a file holds and is not there yet, and say what was left out."""
    from hippocampus.facts.exchange import import_file

    with opened(db) as facts:
        done = import_file(facts, file, agent=agent, embedding_model=embedding_model)
    skipped = [{"what": each.what, "reason": each.reason} for each in done.skipped]
    counts = {name: getattr(done, name) for name in ("memories", "triples", "blocks", "embeddings")}
    if as_json:
        say_json({"source": done.source, "imported": counts, "skipped": skipped})
        return
    said = ", ".join(f"{number} {name}" for name, number in counts.items())
    say(f"from {done.source}: {said}; {len(skipped)} skipped")
    if skipped:
        shown = [f"  {short(each['what'])}: {each['reason']}" for each in skipped[:MOST_SHOWN]]
        more = len(skipped) - MOST_SHOWN
        say_lines([*shown, *([f"  and {more} more"] if more > 0 else [])], "")


def reembed(db: Database = DEFAULT_PATH, as_json: Json = False) -> None:
    """Embed all memories anew with HIPPOCAMPUS_EMBED_MODEL; it goes on where it was interrupted."""
    from rich.console import Console
    from rich.progress import Progress

    from hippocampus.facts.errors import FactError

    if embed() is None:
        raise FactError(
            "set HIPPOCAMPUS_EMBED_MODEL to local, or to a model at HIPPOCAMPUS_EMBED_URL"
        )
    existing(db).close()
    done = total = 0
    with (
        opened(db, models=True, reembedding=True) as facts,
        Progress(console=Console(stderr=True), transient=True) as progress,
    ):
        task = progress.add_task("embedding", total=None)
        for done, total in facts.reembed():
            progress.update(task, completed=done, total=total)
    if as_json:
        say_json({"embedded": done, "memories": total})
    else:
        say(f"{done} of {total} embedded")
