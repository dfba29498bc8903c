"""`hippocampus gc` and `hippocampus store`: contents on disk: list, check and remove them."""

from __future__ import annotations

import contextlib
import math
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hippocampus.cli.options import StateFolder, console, expect_state, fail
from hippocampus.formats.visible import visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hippocampus.storage.gc import Holding, Removal, SessionCopy
    from hippocampus.storage.state_dir import StateDir

app = typer.Typer(help="List, read and verify stored contents.", no_args_is_help=True)


def gc(  # noqa: PLR0913, PLR0917 - one parameter an option
    state_dir: StateFolder,
    max_age_days: Annotated[
        float | None, typer.Option(help="Remove contents and archives of sessions idle for longer.")
    ] = None,
    max_bytes: Annotated[
        int | None,
        typer.Option(help="Remove the contents that were idle longest until the rest fits."),
    ] = None,
    session: Annotated[
        list[str] | None,
        typer.Option(help="GLOB=DAYS: another age for sessions with such names; repeatable."),
    ] = None,
    orphan_hours: Annotated[
        float, typer.Option(help="The age at which contents without a session are removed.")
    ] = 24.0,
    apply: Annotated[
        bool, typer.Option("--apply", help="Remove them; without it, only list them.")
    ] = False,
) -> None:
    """List the stored contents and archives that the rules remove; remove them with --apply."""
    from hippocampus.storage import gc, proxy
    from hippocampus.storage.content_store import opened_store

    state = expect_state(state_dir)
    rules = gc.GcRules(max_age_days, max_bytes, _session_days(session or ()), orphan_hours * 3_600)
    started = time.time()
    given = [rules.max_age_days, rules.max_bytes, rules.orphan_grace_seconds]
    if any(
        bound is not None and not bound >= 0 for bound in [*given, *rules.session_days.values()]
    ):
        raise typer.BadParameter("ages and sizes are 0 or more")
    with opened_store(state) as store:
        removals = gc.plan(gc.holdings(state, store), rules, started)
        copies = gc.plan_copies(gc.copies(state), rules, started)
        conversations = gc.plan_conversations(state, rules, started)
        if apply:
            removals = gc.collect(state, store, removals, started)
            copies = {copy: copies[copy] for copy in gc.collect_copies(state, copies, started)}
            gone = proxy.remove(state, conversations, started)
            conversations = {session: conversations[session] for session in gone}
    _print_removals(removals, copies, conversations, done=apply)


def _session_days(given: Sequence[str]) -> dict[str, float]:
    found: dict[str, float] = {}
    for rule in given:
        glob, _, days = rule.rpartition("=")
        try:
            found[glob] = float(days)
        except ValueError:
            glob = ""
        if not glob:
            raise typer.BadParameter(f"{rule!r} is not GLOB=DAYS, such as 'nightly-*=7'")
    return found


def _print_removals(
    removals: Sequence[Removal],
    copies: Mapping[SessionCopy, str],
    conversations: Mapping[str, str],
    *,
    done: bool,
) -> None:
    for each in removals:
        sessions = ", ".join(each.sessions) or "no session"
        line = f"{each.key[:12]}  {each.packed_bytes:>10,} bytes  {each.rule}  ({sessions})"
        typer.echo(visible(line))
    for held, rule in copies.items():
        typer.echo(visible(f"archive  {held.size_bytes:>10,} bytes  {rule}  ({held.session})"))
    for session, rule in conversations.items():
        typer.echo(visible(f"conversation of the proxy  {rule}  ({session})"))
    word = "removed" if done else "would be removed; --apply removes them"
    if conversations:
        typer.echo(f"{len(conversations)} conversations of the proxy {word}")
    if copies:
        total = sum(copy.size_bytes for copy in copies)
        typer.echo(f"{len(copies)} archives and search indexes, {total:,} bytes {word}")
    total = sum(removal.packed_bytes for removal in removals)
    typer.echo(f"{len(removals)} contents, {total:,} bytes {word}")


@app.command("ls")
def list_contents(state_dir: StateFolder) -> None:
    """List the stored contents, the last active first."""
    from rich.markup import escape
    from rich.table import Table

    state = expect_state(state_dir)
    table = Table("content", "bytes", "active", "pinned", "entries", box=None)
    for holding in sorted(_holdings(state), key=lambda held: -held.active_at):
        pinned = "yes" if any(ref.pinned for ref in holding.references) else ""
        entries = (
            ", ".join(f"{ref.session}/{ref.entry_id}" for ref in holding.references) or "orphan"
        )
        active = "now"
        if holding.active_at < math.inf:
            active = f"{datetime.fromtimestamp(holding.active_at, UTC):%Y-%m-%d %H:%M}"
        table.add_row(
            holding.key[:12], f"{holding.packed_bytes:,}", active, pinned, escape(visible(entries))
        )
    console().print(table)


@app.command("show")
def show(
    state_dir: StateFolder,
    named: Annotated[str, typer.Argument(help="An entry's id, or the start of a payload's key.")],
) -> None:
    """Write one content to standard output, byte for byte; on a terminal, without control characters."""
    from hippocampus.storage.content_store import opened_store

    state = expect_state(state_dir)
    found = [
        holding.key
        for holding in _holdings(state)
        if any(ref.entry_id == named for ref in holding.references)
        or (len(named) >= 4 and holding.key.startswith(named))
    ]
    if len(found) != 1:
        number = "no content is" if not found else f"{len(found)} contents are"
        fail(f"{number} named {named!r}; `store ls` lists them")
    with opened_store(state) as store:
        content = store.get(found[0])
    if sys.stdout.isatty():
        content = visible((content or b"").decode("utf-8", "replace")).encode()
    sys.stdout.buffer.write(content or b"")
    sys.stdout.flush()


@app.command("entries")
def entries(
    state_dir: StateFolder,
    session: Annotated[
        str | None,
        typer.Option(help="The entries of one session; the session of imported ones without any."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON instead of YAML.")] = False,
    import_file: Annotated[
        Path | None, typer.Option("--import", help="A YAML or JSON file of entries to save.")
    ] = None,
) -> None:
    """Print entries as documents of the protocol, or save those in a file.

    An imported entry that its session has is changed; any other one is added, and recalled as the
    payload that its `source.ref` names here, or else as its summary.
    """
    from hippocampus.storage import entry_exchange as exchange
    from hippocampus.storage import ledger
    from hippocampus.storage.content_store import opened_store

    state = expect_state(state_dir)
    if session and import_file is None and ledger.agent_of(state, session) is None:
        fail(f"{state_dir} has no session {session!r}")
    if import_file is None:
        text = exchange.written(exchange.documents(state, session), as_json=as_json)
        typer.echo(text, nl=False)
        return
    try:
        found = exchange.parsed(import_file.read_text("utf-8"), session or "")
    except (OSError, ValueError) as failure:
        problems = str(getattr(failure, "strerror", None) or failure).splitlines()
        typer.echo(
            "\n".join(visible(f"{import_file}: {problem}") for problem in problems), err=True
        )
        raise typer.Exit(2) from None
    if not found:
        fail(f"{import_file} has no entries")
    with opened_store(state) as store:
        added, changed, unchanged = exchange.take_in(state, store, found)
    typer.echo(f"{added} entries added, {changed} changed, {unchanged} as they were")


@app.command("export")
def export(
    state_dir: StateFolder, session: Annotated[str, typer.Argument(help="The session's id.")]
) -> None:
    """Write the raw conversation of a session to standard output, as JSON lines."""
    from hippocampus.storage import archive

    content = archive.exported(expect_state(state_dir), session)
    if not content:
        fail(f"{state_dir} has no conversation of session {session!r}")
    sys.stdout.buffer.write(content)
    sys.stdout.flush()


@app.command("backup")
def backup(
    state_dir: StateFolder,
    file: Annotated[Path, typer.Argument(help="A file that does not exist yet.")],
) -> None:
    """Write a copy of the database, while sessions run; payloads and facts are not in it."""
    from hippocampus.storage import database

    if file.exists():
        fail(f"{file} exists")
    database.backup(expect_state(state_dir), file)


@app.command("copy")
def copy(
    source: Annotated[str, typer.Argument(help="A state directory, or postgresql://…")],
    target: Annotated[str, typer.Argument(help="Another one, made where it is missing.")],
    tenant: Annotated[
        str, typer.Option(envvar="HIPPOCAMPUS_TENANT", help="Whose sessions, on a server.")
    ] = "",
) -> None:
    """Copy all sessions with their payloads, verified by hash; once more, only what has changed.

    Facts and memory files are not copied. Exit status 1 where a payload was lost at the source, or a
    session has gone on at the target, which keeps it.
    """
    from hippocampus.errors import StoreError
    from hippocampus.storage.copying import copied
    from hippocampus.storage.state import is_address, state_of

    if not is_address(source):
        expect_state(Path(source))
    is_whole = True
    try:
        own, other = state_of(source, tenant), state_of(target, tenant)
        with contextlib.closing(own), contextlib.closing(other):
            for each in copied(own, other):
                line = f"{each.outcome:<12}{each.payloads:>7,} payloads  {each.session}"
                lost = f"  ({len(each.lost)} lost: {', '.join(each.lost)})" if each.lost else ""
                typer.echo(visible(line + lost))
                is_whole &= not each.lost and each.outcome != "newer there"
    except StoreError as failure:
        fail(str(failure))
    if not is_whole:
        raise typer.Exit(1)


@app.command("verify")
def verify(state_dir: StateFolder) -> None:
    """Read every file and list damaged, lost and orphaned objects; exit status 1 on damage or loss."""
    from hippocampus.storage.verify import verify

    report = verify(expect_state(state_dir))
    for line in (*report.problems, *report.notes):
        typer.echo(visible(line))
    if report.problems:
        raise typer.Exit(1)
    typer.echo("every content, session and archive and the fact store: present and undamaged")


@app.command("stats")
def stats(state_dir: StateFolder) -> None:
    """Print the number and the size of contents, and how many are shared, pinned or orphans."""
    state = expect_state(state_dir)
    held = _holdings(state)
    sessions = {ref.session for holding in held for ref in holding.references}
    shared = sum(len({ref.session for ref in holding.references}) > 1 for holding in held)
    figures = {
        "contents": len(held),
        "bytes, compressed": sum(holding.packed_bytes for holding in held),
        "sessions": len(sessions),
        "shared by sessions": shared,
        "pinned": sum(any(ref.pinned for ref in holding.references) for holding in held),
        "orphans": sum(not holding.references for holding in held),
    }
    for name, number in figures.items():
        typer.echo(f"{name:<20}{number:>14,}")


def _holdings(state: StateDir) -> list[Holding]:
    from hippocampus.storage import gc
    from hippocampus.storage.content_store import opened_store

    with opened_store(state) as store:
        return gc.holdings(state, store)
