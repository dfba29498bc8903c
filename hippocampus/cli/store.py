"""`hippocampus gc` and `hippocampus store`: list, copy and remove payloads and sessions."""

from __future__ import annotations

import contextlib
import math
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from hippocampus.cli.options import (
    Apply,
    StateCommand,
    StateName,
    TenantName,
    expect_state,
    fail,
    print_table,
    say,
)
from hippocampus.formats.json_text import visible
from hippocampus.indexing.extraction import counted
from hippocampus.storage import entry_exchange as exchange
from hippocampus.storage import gc as collection
from hippocampus.storage.database import SqliteDatabase
from hippocampus.storage.state import state_of
from hippocampus.storage.state_dir import is_address

app = typer.Typer(help="List, read and copy stored contents.", no_args_is_help=True)


def gc(  # noqa: PLR0913, PLR0917 - one parameter an option
    state_dir: StateName,
    max_age_days: Annotated[float | None, Option(help="Remove sessions idle for longer.")] = None,
    max_bytes: Annotated[
        int | None, Option(help="Remove the contents idle longest until the rest fits.")
    ] = None,
    session: Annotated[
        list[str] | None,
        Option(help="GLOB=DAYS: another age for sessions with such names; repeatable."),
    ] = None,
    orphan_hours: Annotated[float, Option(help="The age of removed orphans.")] = 24.0,
    apply: Apply = False,
) -> None:
    """List the stored contents and conversations that the rules remove; remove them with --apply."""
    state = expect_state(state_dir)
    session_days = dict(map(_days_of, session or ()))
    bounds = [max_age_days, max_bytes, orphan_hours, *session_days.values()]
    if any(bound is not None and not bound >= 0 for bound in bounds):
        raise typer.BadParameter("ages and sizes are 0 or more")
    rules = collection.GcRules(max_age_days, max_bytes, session_days, orphan_hours * 3_600)
    started = time.time()
    with state.contents() as store:
        with state.reading() as db:
            removals = collection.plan(collection.holdings(db, store), rules, started)
            words = collection.plan_words(db, rules, started)
        if apply:
            with state.writing() as db:
                removals = collection.collect(db, store, removals, started)
                words = collection.collect_words(db, rules, started)
    lines = []
    # A run with --apply lists what it has removed, which may be less than was planned.
    for removal in [*removals, *words]:
        size = f"{removal.packed_bytes:>10,} bytes"
        sessions = ", ".join(removal.sessions) or "no session"
        lines.append(f"{removal.key[:12]}  {size}  {removal.rule}  ({sessions})")
    word = "removed" if apply else "would be removed; --apply removes them"
    if words:
        total = sum(removal.packed_bytes for removal in words)
        lines.append(f"{counted(len(words), 'conversation')}, {total:,} bytes {word}")
    total = sum(removal.packed_bytes for removal in removals)
    lines.append(f"{counted(len(removals), 'content')}, {total:,} bytes {word}")
    say("\n".join(lines))


def _days_of(rule: str) -> tuple[str, float]:
    glob, _, days = rule.rpartition("=")
    with contextlib.suppress(ValueError):
        if glob:
            return glob, float(days)
    raise typer.BadParameter(f"{rule!r} is not GLOB=DAYS, such as 'nightly-*=7'")


@app.command("ls")
def list_contents(state_dir: StateName) -> None:
    """List the stored contents, the last active first."""
    state, rows = expect_state(state_dir), []
    with state.contents() as store, state.reading() as db:
        held = collection.holdings(db, store)
    for holding in sorted(held, key=lambda holding: -holding.active_at):
        pinned = "yes" if any(ref.pinned for ref in holding.references) else ""
        entries = ", ".join(f"{ref.session}/{ref.entry_id}" for ref in holding.references)
        active = "now"
        if holding.active_at < math.inf:
            active = f"{datetime.fromtimestamp(holding.active_at, UTC):%Y-%m-%d %H:%M}"
        size = f"{holding.packed_bytes:,}"
        rows.append((holding.key[:12], size, active, pinned, entries or "orphan"))
    print_table(("content", "bytes", "active", "pinned", "entries"), rows)


@app.command(cls=StateCommand)
def show(state_dir: StateName, entry_id: Annotated[str, Argument(help="An entry's id.")]) -> None:
    """Write one content to standard output, byte for byte; on a terminal, without control characters."""
    state = expect_state(state_dir)
    if (found := state.entry_of(entry_id)) is None:
        fail(f"no entry is named {entry_id!r}; `store ls` lists them")
    with state.contents() as store:
        content = store.get(found[1].content)
    if content is None:
        fail(f"the content of {entry_id!r} is no longer stored")
    _write(visible(content.decode("utf-8", "replace")).encode() if sys.stdout.isatty() else content)


def _write(content: bytes) -> None:
    sys.stdout.buffer.write(content)
    sys.stdout.flush()


@app.command()
def entries(
    state_dir: StateName,
    session: Annotated[
        str | None,
        Option(help="The entries of one session; the session of imported ones without any."),
    ] = None,
    as_json: Annotated[bool, Option("--json", help="JSON instead of YAML.")] = False,
    import_file: Annotated[Path | None, Option("--import", help="Save a file's entries.")] = None,
) -> None:
    """Print entries as documents of the protocol, or save those in a file.

    An imported entry that its session has is changed; any other one is added, and recalled as the
    payload that its `source.ref` names here, or else as its summary.
    """
    state = expect_state(state_dir)
    if import_file is None:
        if session and state.agent_of(session) is None:
            fail(f"{state_dir} has no session {session!r}")
        documents = exchange.documents(state, session)
        typer.echo(exchange.written(documents, as_json=as_json), nl=False)
        return
    try:
        found = exchange.parsed(import_file.read_text("utf-8"), session or "")
    except (OSError, ValueError) as failure:
        problems = str(getattr(failure, "strerror", None) or failure).splitlines()
        typer.echo(visible("\n".join(f"{import_file}: {line}" for line in problems)), err=True)
        raise typer.Exit(2) from None
    if not found:
        fail(f"{import_file} has no entries")
    with state.contents() as store:
        added, changed, unchanged = exchange.take_in(state, store, found)
    typer.echo(f"{added} entries added, {changed} changed, {unchanged} as they were")


@app.command(cls=StateCommand)
def export(
    state_dir: StateName, session: Annotated[str, Argument(help="The session's id.")]
) -> None:
    """Write the raw conversation of a session to standard output, as JSON lines."""
    content = expect_state(state_dir).exported(session)
    if not content:
        fail(f"{state_dir} has no conversation of session {session!r}")
    _write(content)


@app.command(cls=StateCommand)
def backup(
    state_dir: StateName, file: Annotated[Path, Argument(help="A file that does not exist yet.")]
) -> None:
    """Write a copy of the database, while sessions run; payloads are not in it."""
    if (layout := expect_state(state_dir).layout) is None:
        fail(f"{state_dir} is a server, which has commands of its own for this")
    if file.exists():
        fail(f"{file} exists")
    with contextlib.closing(SqliteDatabase(layout.database)) as db:
        db.backup(file)


@app.command()
def copy(
    source: Annotated[str, Argument(help="A state directory, or postgresql://…")],
    target: Annotated[str, Argument(help="Another one, made where it is missing.")],
    tenant: TenantName = "",
) -> None:
    """Copy all sessions with their payloads, verified by hash, and all facts; once more, the changed ones.

    Memory files are not copied. Exit status 1 where a payload was lost at the source, or a session or
    a fact has gone on at the target, which keeps it.
    """
    from hippocampus.facts.exchange import ours
    from hippocampus.facts.store import Facts
    from hippocampus.storage.copying import copied

    if not is_address(source):
        expect_state(source)
    if source == target or Path(source).resolve() == Path(target).resolve():
        fail(f"{source} cannot be copied onto itself: name another target")
    is_whole = True
    own, other = state_of(source, tenant), state_of(target, tenant)
    with contextlib.closing(own), contextlib.closing(other):
        for done in copied(own, other):
            lost = f"  ({len(done.lost)} lost: {', '.join(done.lost)})" if done.lost else ""
            say(f"{done.outcome:<12}{done.payloads:>7,} payloads  {done.session}{lost}")
            is_whole &= not done.lost and done.outcome != "newer there"
        if own.has_facts():
            facts = ours.copy(Facts(own), Facts(other))
            stay = f"; {len(facts.skipped):,} are there already, and stay" if facts.skipped else ""
            say(f"{facts.memories:,} facts and memories, {facts.blocks:,} blocks{stay}")
            is_whole &= not facts.skipped
    if not is_whole:
        raise typer.Exit(1)
