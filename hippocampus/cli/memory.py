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
from hippocampus.cli.memory_printing import (
    DEFAULT_PATH,
    Agent,
    Database,
    Id,
    Ids,
    Importance,
    Json,
    Limit,
    OneType,
    Query,
    Scope,
    Scopes,
    Text,
    end_if_missing,
    row,
    said_on_stdin,
    say,
    say_json,
    say_memories,
    say_outcomes,
    say_recalled,
    short,
    show,
)
from hippocampus.cli.memory_store import (
    EVERY_AGENT,
    OWN_AGENT,
    embed,
    existing,
    for_reading,
    for_writing,
    known,
    loaded,
    opened,
)

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
    text: Text = "",
    type_name: Annotated[
        str | None, typer.Option("--type", help="What it is; its words say so if left out.")
    ] = None,
    importance: Importance = None,
    agent: Agent = OWN_AGENT,
    scope: Scope = "",
    db: Database = DEFAULT_PATH,
    as_json: Json = False,
) -> None:
    """Remember each statement of a text: added, strengthened, or ending what its words say it replaces."""
    from hippocampus.facts.errors import FactError

    said = text or said_on_stdin()
    if not said.strip():
        raise FactError("there is nothing to remember: the text is empty")
    with for_writing(db, agent) as facts:
        outcomes = facts.remember(
            said, type=type_name, intensity=importance, scope=scope, agent=agent
        )
    say_outcomes(outcomes, as_json=as_json)
    if outcomes and all(each.action == "refused" for each in outcomes):
        raise typer.Exit(1)


@app.command()
def recall(  # noqa: PLR0913, PLR0917 - one parameter an option
    query: Query = "",
    limit: Limit = 10,
    type_name: OneType = "",
    agent: Agent = OWN_AGENT,
    scope: Scopes = None,
    as_of: Annotated[str | None, typer.Option(help="As it was true at this date.")] = None,
    db: Database = DEFAULT_PATH,
    as_json: Json = False,
) -> None:
    """Search the memory; without a query, print preferences and the strongest others."""
    with for_reading(db, agent) as facts:
        if query or type_name or as_json:
            found = loaded(facts, query, type_name, limit, scopes=scope, as_of=as_of, agent=agent)
        else:
            text = facts.context_load(
                token_budget=CONTEXT_TOKENS, limit=limit, scopes=scope, as_of=as_of, agent=agent
            )
            say(text or "nothing is known yet")
            return
    say_recalled(found, as_json=as_json)


@app.command()
@memory_compat.crib.command("retrieve")
def retrieve(
    agent: Agent = OWN_AGENT,
    scope: Scopes = None,
    token_budget: Annotated[int, typer.Option(help="How long the answer may be.")] = CONTEXT_TOKENS,
    db: Database = DEFAULT_PATH,
    as_json: Json = False,
) -> None:
    """Print what the memory knows about the prompt on stdin; nothing where it knows nothing."""
    memory_retrieve.run(agent, scope, token_budget, db, as_json=as_json)


@app.command("list")
def list_(  # noqa: PLR0913, PLR0917 - one parameter an option
    text: Annotated[str, typer.Argument(help="Only memories that contain this, in any case.")] = "",
    ended: Annotated[
        bool, typer.Option("--ended", help="What has ended or was taken away too.")
    ] = False,
    limit: Limit = 50,
    agent: Agent = OWN_AGENT,
    db: Database = DEFAULT_PATH,
    as_json: Json = False,
) -> None:
    """List memories, newest first."""
    with existing(db) as facts:
        found = facts.memories(
            agent=agent, superseded=ended, removed=ended, limit=limit, containing=text
        )
    say_memories(found, as_json=as_json, agent=agent == EVERY_AGENT)


@app.command("show")
def show_(ids: Ids, db: Database = DEFAULT_PATH, as_json: Json = False) -> None:
    """Show memories whole: text, dates, who said it, what replaces it; status 1 where an id is unknown."""
    with existing(db) as facts:
        found = known(facts, ids)
    rows = [row(memory) for memory in found]
    fields = (pair for each in rows for pair in each.items())
    lines = (f"{name:>14}  {value}" for name, value in fields if value or value == 0)
    show(rows, lines, "no memories", as_json=as_json)
    end_if_missing(ids, found)


@app.command()
def history(memory_id: Id, db: Database = DEFAULT_PATH, as_json: Json = False) -> None:
    """Show a memory and all that it replaced, newest first; status 1 where the id is unknown."""
    from hippocampus.facts import memories

    with existing(db) as facts:
        found = memories.history(facts.tables.database, memory_id)
    say_memories(found, as_json=as_json)
    end_if_missing([memory_id], found)


@app.command()
def update(
    memory_id: Id, text: Text = "", db: Database = DEFAULT_PATH, as_json: Json = False
) -> None:
    """Put another text in a memory's place; status 1 where the id is unknown."""
    from hippocampus.facts import upkeep

    with for_reading(db, OWN_AGENT) as facts:
        end_if_missing([memory_id], known(facts, [memory_id]))
        memory = upkeep.update(facts.tables, memory_id, text or said_on_stdin())
        say_memories([memory], as_json=as_json)


@app.command()
def confirm(
    ids: Annotated[
        list[str] | None, typer.Argument(help="Ids of memories; left out, stdin is read.")
    ] = None,
    agent: Agent = OWN_AGENT,
    db: Database = DEFAULT_PATH,
    as_json: Json = False,
) -> None:
    """Count memories as used, so that they do not fade.

    Without ids: those that a conversation on stdin shows as `<memory>` and uses in what follows it.
    """
    from hippocampus.facts import upkeep

    with existing(db) as facts:
        if not ids:
            printed, frame, said = said_on_stdin().rpartition("</memory>")
            ids = upkeep.used(facts.tables, printed + frame, said, agent)
        found = known(facts, ids)
        facts.confirm([memory.id for memory in found])
    say_memories(found, as_json=as_json)
    end_if_missing(ids, found)


@app.command()
def restore(ids: Ids, db: Database = DEFAULT_PATH, as_json: Json = False) -> None:
    """Bring back memories that were replaced or taken away; status 1 where an id is unknown."""
    from hippocampus.facts import upkeep

    with existing(db) as facts:
        found = known(facts, ids)
        say_memories(upkeep.restore(facts.tables, ids), as_json=as_json)
    end_if_missing(ids, found)


@app.command()
def export(
    agent: Agent = OWN_AGENT,
    db: Database = DEFAULT_PATH,
    as_json: Json = False,  # noqa: ARG001 - it is JSON anyway
) -> None:
    """Print everything of an agent as one JSON object; * is all agents."""
    from hippocampus.facts.exchange import export as exported

    with existing(db) as facts:
        say_json(exported(facts, agent))


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
    db: Database = DEFAULT_PATH,
    as_json: Json = False,
) -> None:
    """Bring in what a file holds and is not there yet, and name what was left out."""
    from hippocampus.facts.exchange import import_file

    with opened(db) as facts:
        done = import_file(facts, file, agent=agent, embedding_model=embedding_model)
    skipped = [{"what": each.what, "reason": each.reason} for each in done.skipped]
    counts = {name: getattr(done, name) for name in ("memories", "triples", "blocks", "embeddings")}
    brought = ", ".join(f"{number} {name}" for name, number in counts.items())
    lines = [f"read as {FORMS[done.source]}: {brought}; {len(skipped)} skipped"]
    lines += [f"  {short(each['what'])}: {each['reason']}" for each in skipped[:SHOWN_SKIPPED]]
    if len(skipped) > SHOWN_SKIPPED:
        lines.append(f"  and {len(skipped) - SHOWN_SKIPPED} more")
    value = {"source": done.source, "imported": counts, "skipped": skipped}
    show(value, lines, "", as_json=as_json)


@app.command()
def reembed(db: Database = DEFAULT_PATH, as_json: Json = False) -> None:
    """Embed all memories anew with HIPPOCAMPUS_EMBED_MODEL; it goes on where it was interrupted."""
    from rich.console import Console
    from rich.progress import Progress

    from hippocampus.facts import upkeep
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
        for done, total in upkeep.reembed(facts.tables):
            progress.update(task, completed=done, total=total)
    found = {"embedded": done, "memories": total}
    show(found, [f"{done} of {total} embedded"], "", as_json=as_json)
