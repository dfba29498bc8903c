"""The commands of `hippocampus memory`, which read and write long-term memory.

A verb that cannot be undone only shows its effect, unless `--force` is given. The verbs of hippo, crib and
scriptling work on the same database; the stores' formulas are in `facts.models`. Imports only the
modules that `--help` needs.
"""

from __future__ import annotations

import functools
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer import Argument, Option
from typer.core import TyperGroup

from hippocampus.cli import fact_database as stores
from hippocampus.cli import housekeeping
from hippocampus.cli import options as out
from hippocampus.cli.options import AsJson, Shown, verb
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


SHOWN_SKIPPED = 20
FORMS = {
    "hippocampus": "an export of hippocampus",
    "hippo": "an export of hippo",
    "crib": "a database of crib",
    "markdown": "Markdown, each list item one memory",
}


@functools.cache
def group_of(store: str) -> Any:
    """Return the verbs of a store as a group of commands."""
    return typer.main.get_command(STORES[store])


class Verbs(TyperGroup):
    """The verbs of `memory`, or with `--as` those of another store."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the verbs."""
        return list(self._group(ctx).list_commands(ctx))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the verb at the start of the arguments, and the arguments after it."""
        return self._group(ctx).resolve_command(ctx, args)

    def get_command(self, ctx: Any, name: str) -> Any:
        """Return the verb with a name, or None."""
        return self._group(ctx).get_command(ctx, name)

    def _group(self, ctx: Any) -> Any:
        store = ctx.params.get("store")
        return group_of(store) if store else super()


app = typer.Typer(cls=Verbs, no_args_is_help=True, add_completion=False)


@app.callback()
def main(
    ctx: typer.Context,
    store: Annotated[
        Literal["hippo", "crib", "scriptling"] | None,
        Option("--as", is_eager=True, help="The verbs of this store, on our database."),
    ] = None,
) -> None:
    """Remember, recall, inspect and move long-term memory."""
    if store:  # a verb's help and its errors show how it is called
        ctx.info_name = f"{ctx.info_name} --as {store}"


# The verbs of other stores


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
    found, missing = stores.look_up(facts, ids)
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
    with stores.open_facts(db, agent, makes=True) as facts:
        kept = facts.store(text, type=type_name, scope=scope)
        # A model finds the facts of the whole text; without one, they are the sentences that may end others.
        said = (sentence for sentence in sentences(own_words(text)) if read(sentence).may_end)
        claims = [text] if stores.complete() else said
        source = {} if kept.memory is None else {"written": kept.memory.id}
        stated = [facts.remember(claim, scope=scope, metadata=source) for claim in claims]
        shown = out.outcomes([kept, *(outcome for found in stated for outcome in found)])
    if as_json:
        shown.show(as_json=True)
    for line in () if as_json else shown.lines or ():
        typer.echo(line, err=True)
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
    from hippocampus.storage.facts.rows import Item

    request = claim(Item(text, type_name, importance))
    (outcome,) = keep(facts.tables, [replace(request, statement=None)])
    shown = out.outcomes([outcome])
    return shown._replace(value=shown.value[0])


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


# Our verbs


@verb(app, makes=True, models=True)
def remember(  # noqa: PLR0913, PLR0917 - one parameter an option
    facts: Facts,
    text: out.Text = "",
    type_name: Annotated[
        str | None, Option("--type", help="What it is; else as its words say.")
    ] = None,
    importance: out.Importance = None,
    agent: out.Agent = stores.OWN_AGENT,
    scope: out.Scope = "",
) -> Shown:
    """Remember each statement of a text: added, strengthened, or ending what its words say it replaces."""
    found = facts.remember(text, type=type_name, intensity=importance, scope=scope, agent=agent)
    is_refused = bool(found) and all(outcome.action == "refused" for outcome in found)
    return out.outcomes(found)._replace(problems=["nothing was kept"] * is_refused)


@verb(app, models=True)
def recall(  # noqa: PLR0913, PLR0917 - one parameter an option
    facts: Facts,
    query: out.Query = "",
    limit: out.Limit = 10,
    type_name: out.OneType = "",
    agent: out.Agent = stores.OWN_AGENT,
    scope: out.Scopes = None,
    as_of: Annotated[str | None, Option(help="As it was true at this date.")] = None,
) -> Shown:
    """Search the memory; without a query, print preferences and the strongest others."""
    asked: dict[str, Any] = {"limit": limit, "scopes": scope, "agent": agent}
    if query or type_name or as_of:
        types = [type_name] if type_name else []
        return out.recalled(facts.recall(query, types=types, as_of=as_of, **asked))
    from hippocampus.facts.query import load
    from hippocampus.facts.rendering import render_memory

    found, preferences = load(facts.tables, **asked)
    text = render_memory(found, facts.tables.clock(), preferences)
    return out.recalled(found)._replace(lines=[text], otherwise="nothing is known yet")


@app.command()
@crib.command()
def retrieve(
    agent: out.Agent = stores.OWN_AGENT,
    scope: out.Scopes = None,
    token_budget: Annotated[
        int, Option(help="How long the answer may be.")
    ] = stores.RETRIEVED_TOKENS,
    db: out.Database = stores.DEFAULT_PATH,
    as_json: AsJson = False,
) -> None:
    """Print what the memory knows about the prompt on stdin; nothing where it knows nothing."""
    stores.retrieve(agent, scope, token_budget, db, as_json=as_json)


@verb(app, name="list")
def list_(
    facts: Facts,
    text: Annotated[str, Argument(help="Only memories that contain this, in any case.")] = "",
    ended: Annotated[bool, Option("--ended", help="Ended and removed ones too.")] = False,
    limit: out.Limit = 50,
    agent: out.Agent = stores.OWN_AGENT,
) -> Shown:
    """List memories, newest first."""
    found = facts.memories(
        agent=agent, superseded=ended, removed=ended, limit=limit, containing=text
    )
    return out.memories(found, agent=agent == stores.EVERY_AGENT)


@verb(app)
def show(facts: Facts, ids: out.Ids) -> Shown:
    """Show memories whole: text, dates, who said it, what replaces it; status 1 where an id is unknown."""
    found, missing = stores.look_up(facts, ids)
    rows = list(map(out.row, found))
    fields = [
        [f"{name:>14}  {words}" for name, value in row.items() if (words := _words(value))]
        for row in rows
    ]
    text = "\n\n".join(map("\n".join, fields))
    return Shown(rows, [text], "no memories", missing)


def _words(value: Any) -> str:
    """Return the value of a field as text; of a group, its fields that are set."""
    if isinstance(value, dict):
        fields = ((name, _words(item)) for name, item in value.items())
        return ", ".join(f"{name} {words}" for name, words in fields if words)
    return str(value) if value or value == 0 else ""


@verb(app)
def history(facts: Facts, memory_id: out.Id) -> Shown:
    """Show a memory and all that it replaced, newest first; status 1 where the id is unknown."""
    known, missing = stores.look_up(facts, [memory_id])
    found = [memory for one in known for memory in memories.history(facts.tables.database, one.id)]
    return out.memories(found, missing)


@verb(app, models=True)
def update(facts: Facts, memory_id: out.Id, text: out.Text = "") -> Shown:
    """Put another text in a memory's place; status 1 where the id is unknown."""
    from hippocampus.facts import upkeep

    known, missing = stores.look_up(facts, [memory_id])
    found = [upkeep.update(facts.tables, one.id, text) for one in known]
    stores.sync_files(facts)
    return out.memories(found, missing)


@verb(app)
def confirm(facts: Facts, ids: out.Ids) -> Shown:
    """Count an access of memories, as a recall does, so that they fade later."""
    found, missing = stores.look_up(facts, ids)
    facts.confirm([memory.id for memory in found])
    return out.memories(found, missing)


@verb(app)
def restore(facts: Facts, ids: out.Ids) -> Shown:
    """Bring back memories that were replaced or taken away; status 1 where an id is unknown."""
    from hippocampus.facts import upkeep

    known, missing = stores.look_up(facts, ids)
    restored = upkeep.restore(facts.tables, [memory.id for memory in known])
    stores.sync_files(facts)
    return out.memories(restored, missing)


@verb(app)
def export(facts: Facts, agent: out.Agent = stores.OWN_AGENT) -> Shown:
    """Print everything of an agent as one JSON object; * is all agents."""
    from hippocampus.facts.exchange import ours

    return Shown(ours.document(facts, agent))


@verb(app, hippo, name="import", makes=True)
def import_(
    facts: Facts,
    file: Annotated[Path, Argument(help="Our or hippo's export, crib's database, or a MEMORY.md.")],
    agent: Annotated[str | None, Option(help="Whose memory it becomes.")] = None,
    embedding_model: Annotated[str | None, Option(help="Of a file's vectors, if unnamed.")] = None,
) -> Shown:
    """Bring in what a file holds and is not there yet, and name what was left out."""
    from hippocampus.facts.exchange import import_file

    done = import_file(facts, file, agent=agent, embedding_model=embedding_model)
    skipped = [{"what": record.what, "reason": record.reason} for record in done.skipped]
    counts = {name: getattr(done, name) for name in ("memories", "triples", "blocks", "embeddings")}
    brought = ", ".join(f"{number} {name}" for name, number in counts.items())
    lines = [f"read as {FORMS[done.source]}: {brought}; {len(skipped)} skipped"]
    lines += [f"  {out.short(left['what'])}: {left['reason']}" for left in skipped[:SHOWN_SKIPPED]]
    if len(skipped) > SHOWN_SKIPPED:
        lines += [f"  and {len(skipped) - SHOWN_SKIPPED} more"]
    return Shown({"source": done.source, "imported": counts, "skipped": skipped}, lines)


@verb(app, models=True, reembedding=True)
def reembed(facts: Facts) -> Shown:
    """Embed all memories anew with HIPPOCAMPUS_EMBED_MODEL; it goes on where it was interrupted."""
    from rich.console import Console
    from rich.progress import Progress

    from hippocampus.facts import upkeep

    if facts.tables.embed_model is None:
        raise FactError(
            "set HIPPOCAMPUS_EMBED_MODEL to local, or to a model at HIPPOCAMPUS_EMBED_URL"
        )
    done = total = 0
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("embedding", total=None)
        for done, total in upkeep.reembed(facts.tables):
            progress.update(task, completed=done, total=total)
    return Shown({"embedded": done, "memories": total}, [f"{done} of {total} embedded"])
