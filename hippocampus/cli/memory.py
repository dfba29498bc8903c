"""The commands of `hippocampus memory`, which read and write long-term memory.

A verb that cannot be undone only shows its effect, unless `--force` is given. Imports only the modules
that `--help` needs; the verbs of hippo, crib and scriptling are in `memory_compat`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer import Argument, Option
from typer.core import TyperGroup

from hippocampus.cli import memory_compat
from hippocampus.cli import memory_printing as out
from hippocampus.cli import memory_store as stores
from hippocampus.cli.memory_printing import verb
from hippocampus.cli.options import AsJson, Shown
from hippocampus.errors import FactError
from hippocampus.storage.facts import memories

if TYPE_CHECKING:
    from hippocampus.facts.store import Facts

SHOWN_SKIPPED = 20
FORMS = {
    "hippocampus": "an export of hippocampus",
    "hippo": "an export of hippo",
    "crib": "a database of crib",
    "markdown": "Markdown, each list item one memory",
}


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
        return memory_compat.group_of(store) if store else super()


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
    from hippocampus.facts.rendering import rendered

    found, preferences = load(facts.tables, **asked)
    text = rendered(found, facts.tables.clock(), preferences)
    return out.recalled(found)._replace(lines=[text], otherwise="nothing is known yet")


@app.command()
@memory_compat.crib.command()
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
    found, missing = stores.known(facts, ids)
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
    known, missing = stores.known(facts, [memory_id])
    found = [memory for one in known for memory in memories.history(facts.tables.database, one.id)]
    return out.memories(found, missing)


@verb(app, models=True)
def update(facts: Facts, memory_id: out.Id, text: out.Text = "") -> Shown:
    """Put another text in a memory's place; status 1 where the id is unknown."""
    from hippocampus.facts import upkeep

    known, missing = stores.known(facts, [memory_id])
    found = [upkeep.update(facts.tables, one.id, text) for one in known]
    stores.sync_files(facts)
    return out.memories(found, missing)


@verb(app)
def confirm(facts: Facts, ids: out.Ids) -> Shown:
    """Count an access of memories, as a recall does, so that they fade later."""
    found, missing = stores.known(facts, ids)
    facts.confirm([memory.id for memory in found])
    return out.memories(found, missing)


@verb(app)
def restore(facts: Facts, ids: out.Ids) -> Shown:
    """Bring back memories that were replaced or taken away; status 1 where an id is unknown."""
    from hippocampus.facts import upkeep

    known, missing = stores.known(facts, ids)
    restored = upkeep.restore(facts.tables, [memory.id for memory in known])
    stores.sync_files(facts)
    return out.memories(restored, missing)


@verb(app)
def export(facts: Facts, agent: out.Agent = stores.OWN_AGENT) -> Shown:
    """Print everything of an agent as one JSON object; * is all agents."""
    from hippocampus.facts.exchange import ours

    return Shown(ours.document(facts, agent))


@verb(app, memory_compat.hippo, name="import", makes=True)
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
