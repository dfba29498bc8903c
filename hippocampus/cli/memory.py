"""The commands of `hippocampus memory`, which read and write long-term memory.

A verb that cannot be undone only shows its effect, unless `--force` is given. Nothing is loaded that `--help`
does not need; the verbs of hippo, crib and scriptling are in `memory_compat`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperGroup

from hippocampus.cli import memory_compat, memory_retrieve
from hippocampus.cli import memory_printing as out
from hippocampus.cli import memory_store as stores

CONTEXT_TOKENS = memory_retrieve.TOKENS
STORE = "hippocampus.store"
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
        return list(self._verbs(ctx))

    def get_command(self, ctx: Any, name: str) -> Any:
        """Return the verb of a name, or nothing."""
        return self._verbs(ctx).get(name)

    def _verbs(self, ctx: Any) -> dict[str, Any]:
        store = ctx.meta.get(STORE)
        return memory_compat.verbs_of(store) if store else dict(self.commands)


def _named(ctx: typer.Context, store: str | None) -> str | None:
    """Note the store before the verbs are listed or looked up."""
    if store:
        ctx.meta[STORE] = store
    return store


app = typer.Typer(cls=Verbs, no_args_is_help=True, add_completion=False)


@app.callback()
def main(
    store: Annotated[
        Literal["hippo", "crib", "scriptling"] | None,
        typer.Option(
            "--as", is_eager=True, callback=_named, help="The verbs of this store, on our database."
        ),
    ] = None,
) -> None:
    """Remember, recall, inspect and move long-term memory."""


@app.command()
def remember(  # noqa: PLR0913, PLR0917 - one parameter an option
    text: out.Text = "",
    type_name: Annotated[
        str | None, typer.Option("--type", help="What it is; its words say so if left out.")
    ] = None,
    importance: out.Importance = None,
    agent: out.Agent = stores.OWN_AGENT,
    scope: out.Scope = "",
    db: out.Database = out.DEFAULT_PATH,
    as_json: out.Json = False,
) -> None:
    """Remember each statement of a text: added, strengthened, or ending what its words say it replaces."""
    from hippocampus.storage.facts.errors import FactError

    said = text or out.said_on_stdin()
    if not said.strip():
        raise FactError("there is nothing to remember: the text is empty")
    with stores.for_writing(db, agent) as facts:
        outcomes = facts.remember(
            said, type=type_name, intensity=importance, scope=scope, agent=agent
        )
    out.say_outcomes(outcomes, as_json=as_json)
    if outcomes and all(outcome.action == "refused" for outcome in outcomes):
        raise typer.Exit(1)


@app.command()
def recall(  # noqa: PLR0913, PLR0917 - one parameter an option
    query: out.Query = "",
    limit: out.Limit = 10,
    type_name: out.OneType = "",
    agent: out.Agent = stores.OWN_AGENT,
    scope: out.Scopes = None,
    as_of: Annotated[str | None, typer.Option(help="As it was true at this date.")] = None,
    db: out.Database = out.DEFAULT_PATH,
    as_json: out.Json = False,
) -> None:
    """Search the memory; without a query, print preferences and the strongest others."""
    with stores.for_reading(db, agent) as facts:
        if query or type_name or as_json:
            found = stores.loaded(
                facts, query, type_name, limit, scopes=scope, as_of=as_of, agent=agent
            )
        else:
            text = facts.context_load(
                token_budget=CONTEXT_TOKENS, limit=limit, scopes=scope, as_of=as_of, agent=agent
            )
            out.say(text or "nothing is known yet")
            return
    out.say_recalled(found, as_json=as_json)


@app.command()
@memory_compat.crib.command("retrieve")
def retrieve(
    agent: out.Agent = stores.OWN_AGENT,
    scope: out.Scopes = None,
    token_budget: Annotated[int, typer.Option(help="How long the answer may be.")] = CONTEXT_TOKENS,
    db: out.Database = out.DEFAULT_PATH,
    as_json: out.Json = False,
) -> None:
    """Print what the memory knows about the prompt on stdin; nothing where it knows nothing."""
    memory_retrieve.run(agent, scope, token_budget, db, as_json=as_json)


@app.command("list")
def list_(  # noqa: PLR0913, PLR0917 - one parameter an option
    text: Annotated[str, typer.Argument(help="Only memories that contain this, in any case.")] = "",
    ended: Annotated[
        bool, typer.Option("--ended", help="What has ended or was taken away too.")
    ] = False,
    limit: out.Limit = 50,
    agent: out.Agent = stores.OWN_AGENT,
    db: out.Database = out.DEFAULT_PATH,
    as_json: out.Json = False,
) -> None:
    """List memories, newest first."""
    with stores.existing(db) as facts:
        found = facts.memories(
            agent=agent, superseded=ended, removed=ended, limit=limit, containing=text
        )
    out.say_memories(found, as_json=as_json, agent=agent == stores.EVERY_AGENT)


@app.command("show")
def show_(ids: out.Ids, db: out.Database = out.DEFAULT_PATH, as_json: out.Json = False) -> None:
    """Show memories whole: text, dates, who said it, what replaces it; status 1 where an id is unknown."""
    with stores.existing(db) as facts:
        found = stores.known(facts, ids)
    rows = [out.row(memory) for memory in found]
    fields = (pair for row in rows for pair in row.items())
    lines = (f"{name:>14}  {value}" for name, value in fields if value or value == 0)
    out.show(rows, lines, "no memories", as_json=as_json)
    out.end_if_missing(ids, found)


@app.command()
def history(
    memory_id: out.Id, db: out.Database = out.DEFAULT_PATH, as_json: out.Json = False
) -> None:
    """Show a memory and all that it replaced, newest first; status 1 where the id is unknown."""
    from hippocampus.storage.facts import memories

    with stores.existing(db) as facts:
        found = memories.history(facts.tables.database, memory_id)
    out.say_memories(found, as_json=as_json)
    out.end_if_missing([memory_id], found)


@app.command()
def update(
    memory_id: out.Id,
    text: out.Text = "",
    db: out.Database = out.DEFAULT_PATH,
    as_json: out.Json = False,
) -> None:
    """Put another text in a memory's place; status 1 where the id is unknown."""
    from hippocampus.facts import upkeep

    with stores.for_reading(db, stores.OWN_AGENT) as facts:
        out.end_if_missing([memory_id], stores.known(facts, [memory_id]))
        memory = upkeep.update(facts.tables, memory_id, text or out.said_on_stdin())
        out.say_memories([memory], as_json=as_json)


@app.command()
def confirm(
    ids: Annotated[
        list[str] | None, typer.Argument(help="Ids of memories; left out, stdin is read.")
    ] = None,
    agent: out.Agent = stores.OWN_AGENT,
    db: out.Database = out.DEFAULT_PATH,
    as_json: out.Json = False,
) -> None:
    """Count memories as used, so that they do not fade.

    Without ids: those that a conversation on stdin shows as `<memory>` and uses in what follows it.
    """
    from hippocampus.facts import upkeep

    with stores.existing(db) as facts:
        if not ids:
            printed, frame, said = out.said_on_stdin().rpartition("</memory>")
            ids = upkeep.used(facts.tables, printed + frame, said, agent)
        found = stores.known(facts, ids)
        facts.confirm([memory.id for memory in found])
    out.say_memories(found, as_json=as_json)
    out.end_if_missing(ids, found)


@app.command()
def restore(ids: out.Ids, db: out.Database = out.DEFAULT_PATH, as_json: out.Json = False) -> None:
    """Bring back memories that were replaced or taken away; status 1 where an id is unknown."""
    from hippocampus.facts import upkeep

    with stores.existing(db) as facts:
        found = stores.known(facts, ids)
        out.say_memories(upkeep.restore(facts.tables, ids), as_json=as_json)
    out.end_if_missing(ids, found)


@app.command()
def export(
    agent: out.Agent = stores.OWN_AGENT,
    db: out.Database = out.DEFAULT_PATH,
    as_json: out.Json = False,  # noqa: ARG001 - it is JSON anyway
) -> None:
    """Print everything of an agent as one JSON object; * is all agents."""
    from hippocampus.facts.exchange import export as exported

    with stores.existing(db) as facts:
        out.say_json(exported(facts, agent))


@app.command("import")
@memory_compat.hippo.command("import")
def import_(
    file: Annotated[
        Path, typer.Argument(help="An export (ours or hippo's), crib's database, or a MEMORY.md.")
    ],
    agent: Annotated[str | None, typer.Option(help="Whose memory it becomes.")] = None,
    embedding_model: Annotated[
        str | None, typer.Option(help="The model of the vectors in a file that does not name it.")
    ] = None,
    db: out.Database = out.DEFAULT_PATH,
    as_json: out.Json = False,
) -> None:
    """Bring in what a file holds and is not there yet, and name what was left out."""
    from hippocampus.facts.exchange import import_file

    with stores.opened(db) as facts:
        done = import_file(facts, file, agent=agent, embedding_model=embedding_model)
    skipped = [{"what": record.what, "reason": record.reason} for record in done.skipped]
    counts = {name: getattr(done, name) for name in ("memories", "triples", "blocks", "embeddings")}
    brought = ", ".join(f"{number} {name}" for name, number in counts.items())
    lines = [f"read as {FORMS[done.source]}: {brought}; {len(skipped)} skipped"]
    lines += [
        f"  {out.short(record['what'])}: {record['reason']}" for record in skipped[:SHOWN_SKIPPED]
    ]
    if len(skipped) > SHOWN_SKIPPED:
        lines.append(f"  and {len(skipped) - SHOWN_SKIPPED} more")
    value = {"source": done.source, "imported": counts, "skipped": skipped}
    out.show(value, lines, "", as_json=as_json)


@app.command()
def reembed(db: out.Database = out.DEFAULT_PATH, as_json: out.Json = False) -> None:
    """Embed all memories anew with HIPPOCAMPUS_EMBED_MODEL; it goes on where it was interrupted."""
    from rich.console import Console
    from rich.progress import Progress

    from hippocampus.facts import upkeep
    from hippocampus.storage.facts.errors import FactError

    if stores.embed() is None:
        raise FactError(
            "set HIPPOCAMPUS_EMBED_MODEL to local, or to a model at HIPPOCAMPUS_EMBED_URL"
        )
    stores.existing(db).close()
    done = total = 0
    with (
        stores.opened(db, models=True, reembedding=True) as facts,
        Progress(console=Console(stderr=True), transient=True) as progress,
    ):
        task = progress.add_task("embedding", total=None)
        for done, total in upkeep.reembed(facts.tables):
            progress.update(task, completed=done, total=total)
    found = {"embedded": done, "memories": total}
    out.show(found, [f"{done} of {total} embedded"], "", as_json=as_json)
