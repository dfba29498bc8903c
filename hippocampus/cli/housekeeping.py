"""`hippocampus consolidate`, `defrag`, `doctor`, `forget`, `gc` and `store`: the maintenance of a state."""

from __future__ import annotations

import contextlib
import math
import os
import sys
import time
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from hippocampus import policy as policies
from hippocampus.cli import fact_database as stores
from hippocampus.cli import options as out
from hippocampus.cli.options import AsJson, Shown, fail, say
from hippocampus.errors import HippocampusError, StoreError
from hippocampus.formats.json_text import visible
from hippocampus.indexing.extraction import counted
from hippocampus.storage import entry_exchange as exchange
from hippocampus.storage import gc as collection
from hippocampus.storage.database import SqliteDatabase
from hippocampus.storage.engines import is_address
from hippocampus.storage.facts import memories
from hippocampus.storage.full_text import SQLITE_VERSION, is_installed
from hippocampus.storage.ledger import activity
from hippocampus.storage.salvage import DAMAGED
from hippocampus.storage.state import StateStore, due_states, state_of
from hippocampus.storage.state_dir import StateDir
from hippocampus.storage.verify import damaged_sessions

if TYPE_CHECKING:
    from hippocampus.memory import Hippocampus
    from hippocampus.policy import Policy
    from hippocampus.session.resources import ConsolidationOutcome

MINUTE_SECONDS, HOUR_SECONDS, SHOWN_KEY = 60, 3_600, 12
POLL_SECONDS = 5.0
"""Time between two searches for idle sessions."""
MODEL_SECONDS = 5.0
QUESTIONS: dict[str, tuple[Any, ...]] = {
    "embed": (["one"],),
    "complete": ("Answer with the word: ready",),
    "rerank": ("one", ["one", "two"]),
}
StateOrDatabase = Annotated[
    str,
    Argument(
        metavar="PATH",
        envvar="HIPPOCAMPUS_STATE",
        help="A state directory, the address of a server, or the database of a memory.",
    ),
]


def consolidate(  # noqa: PLR0913, PLR0917 - one parameter an option
    state_dir: out.StateName,
    session: Annotated[str | None, Argument(help="One; without it, all not consolidated.")] = None,
    policy: out.PolicyName = "default",
    tenant: out.TenantName = "",
    watch: Annotated[
        bool, Option("--watch", help="Go on, with sessions that become idle.")
    ] = False,
    all_tenants: Annotated[
        bool, Option("--all-tenants", help="On a server, as a role that may see all tenants.")
    ] = False,
) -> None:
    """Write the memories of finished sessions to the fact store; a second run changes nothing."""
    from hippocampus.memory import Hippocampus

    if all_tenants and session:
        fail("--all-tenants consolidates every session of every tenant")
    state = None if all_tenants else out.expect_state(state_dir, tenant)
    rules = policies.load(policy)
    if state and session and state.agent_of(session) is None:
        fail(f"{state_dir} has no session {session!r}")
    if state and not watch:
        names = [session] if session else state.unconsolidated()
        if not names:
            say("every session is consolidated")
            return
    with contextlib.ExitStack() as stack:
        memory = stack.enter_context(Hippocampus(state, policy=rules)) if state else None
        while True:
            if memory:
                is_whole = _is_consolidated(memory, session, watch=watch)
            else:
                is_whole = _are_consolidated(state_dir, rules, watch=watch)
            if not watch:
                raise typer.Exit(not is_whole)
            time.sleep(POLL_SECONDS)
            if state and state.layout and not state.layout.root.is_dir():  # a claim would make it
                fail(f"{state_dir} is not a state directory any more")


def _are_consolidated(address: str, rules: Policy, *, watch: bool) -> bool:
    """Consolidate the tenants of a server that have something to do; return whether all are done."""
    from hippocampus.memory import Hippocampus

    is_whole = True
    for name, state in due_states(
        address, rules.consolidation.idle_minutes * MINUTE_SECONDS * watch
    ):
        try:
            with Hippocampus(state, policy=rules) as memory:
                is_whole &= _is_consolidated(memory, None, watch=watch)
        except StoreError as failure:  # one tenant's, such as a key that is missing
            out.warn(f"tenant {name!r}: {failure}")
            is_whole = False
    return is_whole


def _is_consolidated(memory: Hippocampus, session: str | None, *, watch: bool) -> bool:
    """Consolidate one session or all, of which one that cannot be read stops no other; return whether all are done.

    With `watch` those that are idle are, and others are for a later round; a server that is away is asked
    again in that round.
    """
    is_whole = True
    if watch:
        try:
            while outcome := memory.consolidate_idle():
                _print(outcome)
        except StoreError as failure:
            out.warn(str(failure))
        return is_whole
    for name in [session] if session else memory.unconsolidated():
        try:
            (outcome,) = memory.consolidate(name)
        except StoreError as failure:
            out.warn(f"session {name!r}: {failure}")
            is_whole = False
        else:
            _print(outcome)
            is_whole &= outcome.finished
    return is_whole


def _print(outcome: ConsolidationOutcome) -> None:
    end = "" if outcome.finished else "; not everything could be written"
    kept = counted(len(outcome.kept), "statement")
    say(f"{outcome.session}: {kept} kept, messages are not listed{end}")
    for claim in outcome.kept:
        say(f"  {claim.kind}, {claim.origin}, turn {claim.turn}: {claim.text} ({claim.outcome})")


def defrag(
    state_dir: out.StateName,
    policy: out.PolicyName = "default",
    apply: out.Apply = False,
    undoes: Annotated[
        bool, Option("--undo", help="Bring back the memories that the last run took away.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Promote memories in frequent use, remove unused payloads, and report both in numbers."""
    from hippocampus.consolidation.housekeeping import defrag as run
    from hippocampus.consolidation.housekeeping import undo
    from hippocampus.facts.store import Facts

    if apply and undoes:
        raise typer.BadParameter("--undo is of the last run, and --apply of the next one")
    state, rules = out.expect_state(state_dir), policies.load(policy)
    if undoes:
        with Facts(state) as facts:
            back = out.memories(undo(state, facts), agent=True)
        back._replace(otherwise="the last run took no memory away").show(as_json=as_json)
        return
    with state.contents() as store, Facts(state) as facts:
        done = run(state, store, facts, rules, time.time(), apply=apply)
    counts = [(name, value) for name, value in asdict(done).items() if type(value) is int]
    lines = [f"{name.replace('_', ' '):<20}{value:>12,}" for name, value in counts]
    lines.append("done" if done.applied else "nothing was changed; --apply makes the changes")
    Shown(asdict(done), lines).show(as_json=as_json)


def doctor(
    named: StateOrDatabase,
    fix: Annotated[bool, Option("--fix", help="Mend; damaged files are kept aside.")] = False,
    as_json: AsJson = False,
) -> None:
    """Examine payloads, sessions, archives, facts, memory files and modes.

    Of a database: print its state and an answer of each model, as JSON. Exit status 1 if data is
    damaged or lost and --fix has not mended it, or something does not work.
    """
    if stores.is_file(named):
        report(named)
        return
    from hippocampus.consolidation.housekeeping import examine, mend

    found = examine(out.expect_state(named))
    left = mend(found) if fix else found
    mended = [finding for finding in found if finding not in left]
    rows = [
        {"text": one.text, "fault": one.is_fault, "remedy": one.remedy, "mended": one in mended}
        for one in found
    ]
    lines = [f"mended: {finding.text}: {finding.remedy}" for finding in mended]
    for finding in left:
        remedy = f"; --fix would {finding.remedy}" if finding.mend else ""
        lines.append(f"{'fault' if finding.is_fault else 'note'}: {finding.text}{remedy}")
    lines.append(f"{counted(len(found), 'finding')}, {len(mended)} mended")
    is_failed = any(finding.is_fault for finding in left)
    Shown({"findings": rows}, lines, is_failed=is_failed).show(as_json=as_json)


def report(
    db: out.Database = stores.DEFAULT_PATH,
    probe: Annotated[bool, Option(help="Write and retrieve in a scratch database too.")] = False,
    as_json: AsJson = False,  # noqa: ARG001 - it is JSON anyway
) -> None:
    """Print the state of the memory as JSON, with an answer per model; status 1 where there is a problem."""
    from hippocampus.models.local_embedding import installed

    has_words = is_installed()
    database, models = _database(db), _models()
    stored, given = database.get("embedding_model"), models["embed"]
    if stored and given and stored != given:
        other = f"the database is embedded with {stored!r}, not {given!r}"
        models |= {"problem": f"{other}: hippocampus memory reembed", "ok": False}
    found: dict[str, Any] = {
        "sqlite": {"version": SQLITE_VERSION, "fts5": has_words, "ok": has_words},
        "database": database,
        "models": models,
        "local_embedding": {"installed": installed(), "ok": True},
    }
    if probe:
        found["probe"] = _probe()
    is_ok = all(part["ok"] for part in found.values())
    Shown({**found, "ok": is_ok}, is_failed=not is_ok).show()


def _database(named: str) -> dict[str, Any]:
    path, is_here = Path(named), stores.is_there(named)
    found: dict[str, Any] = {"path": named, "exists": is_here, "problems": [], "ok": True}
    if not is_here:
        folder = next(parent for parent in path.absolute().parents if parent.exists())
        found["writable"] = found["ok"] = folder.is_dir() and os.access(folder, os.W_OK)
        return found
    found["writable"] = is_address(named) or os.access(path, os.W_OK)
    try:
        with stores.open_facts(named, models=False) as facts:
            db = facts.tables.database
            found["path"] = db.path  # a server's address without its password
            stats = memories.stats(db, facts.tables.clock())
            problems = [*facts.check(), *(session.text for session in damaged_sessions(db))]
            found |= {"memories": sum(stats.current.values()), "sessions": len(activity(db))}
            found |= {"problems": problems}
            found["embedding_model"] = stats.embedding_model
    except HippocampusError as failure:
        found["problems"] = [str(failure)]
    found["ok"] = found["writable"] and not found["problems"]
    return found


def _probe() -> dict[str, Any]:
    import tempfile

    try:
        with (
            tempfile.TemporaryDirectory() as folder,
            stores.open_facts(Path(folder) / "probe.sqlite3", makes=True) as facts,
        ):
            facts.store("The probe is a brass monkey.")
            return {"ok": "brass monkey" in facts.retrieve("Which probe?")}
    except (OSError, HippocampusError) as failure:
        return {"problem": str(failure), "ok": False}


def _models() -> dict[str, Any]:
    """Ask the models that the environment names a short question; the report contains no key."""
    from hippocampus.models.bounded import within

    try:
        found = {"embed": stores.embed(), "complete": stores.complete(), "rerank": stores.rerank()}
    except HippocampusError as wrong:
        return {"embed": None, "problem": str(wrong), "ok": False}
    models = {name: model for name, model in found.items() if model is not None}
    silent = [
        name
        for name, model in models.items()
        if within(MODEL_SECONDS, model, *QUESTIONS[name]) is None
    ]
    named = {name: getattr(model, "model", "by completions") for name, model in models.items()}
    sentence = f"no answer within {MODEL_SECONDS:g} seconds: {', '.join(silent)}"
    problem = {"problem": sentence} if silent else {}
    return {**dict.fromkeys(found), **named, **problem, "ok": not silent}


def forget(  # noqa: PLR0913, PLR0917 - one parameter an option
    named: StateOrDatabase,
    what: Annotated[str, Argument(help="A memory's id, or two of its words or more.")] = "",
    everything_from: Annotated[str, Option(help="The session to remove everything of.")] = "",
    agent: out.Agent = stores.OWN_AGENT,
    apply: out.Apply = False,
    as_json: AsJson = False,
) -> None:
    """List the memories that a description certainly matches, or all that a session left; --apply removes them.

    A session leaves payloads, archive, facts and lines. Memories that the removed ones replaced are
    current again.
    """
    if bool(what) == bool(everything_from):
        raise typer.BadParameter(
            "name a memory after the state, or a session with --everything-from"
        )
    if everything_from:
        _forget_session(out.expect_state(named), everything_from, apply=apply)
        return
    from hippocampus.consolidation.memory_file import sync_files
    from hippocampus.facts.words import content_words

    layout = None if is_address(named) or stores.is_file(named) else StateDir(Path(named))
    with stores.open_facts(layout.database if layout else named, agent) as facts:
        whose = stores.EVERY_AGENT if facts.get(what) else agent  # an id is of one
        findings = facts.forget(what, dry_run=True, agent=whose)
        found = [finding.memory for finding in findings]
        ids = [memory.id for memory in found]
        returned = memories.returning(facts.tables.database, ids)
        if apply:
            if layout:
                sync_files(layout, facts, without=ids)
            facts.delete(ids)
    shown = out.gone(found, force=apply, returned=returned, option="--apply")
    if not found:
        hint = ": one word has to be of one memory only; name two of its words or more, or its id"
        is_one = len(content_words(what)) <= 1
        shown = shown._replace(problems=[shown.otherwise + hint * is_one])
    shown.show(as_json=as_json)


def _forget_session(state: StateStore, session: str, *, apply: bool) -> None:
    from hippocampus.consolidation import housekeeping
    from hippocampus.facts.store import Facts

    forget = housekeeping.forget if apply else housekeeping.traces
    with state.contents() as store, Facts(state) as facts:
        found = forget(state, session, store, facts)
    if not found:
        fail(f"no trace of session {session!r}")
    word = "removed" if apply else "would be removed; --apply removes them"
    session = "the session, " * found.is_stored
    left = f"{counted(len(found.payloads), 'payload')}, {counted(len(found.facts), 'fact')}"
    typer.echo(f"{session}{left} {word}")
    if found.shared:
        stay = counted(len(found.shared), "payload stays", "payloads stay")
        typer.echo(f"{stay}, which other sessions have too")
    if state.layout and (aside := sorted(state.layout.root.rglob(f"*{DAMAGED}*"))):
        names = ", ".join(path.name for path in aside)
        typer.echo(
            f"{names}: set aside as damaged, and may have words of it: delete them", err=True
        )


store = typer.Typer(help="List, read and copy stored contents.", no_args_is_help=True)


def gc(  # noqa: PLR0913, PLR0917 - one parameter an option
    state_dir: out.StateName,
    max_age_days: Annotated[float | None, Option(help="Remove sessions idle for longer.")] = None,
    max_bytes: Annotated[
        int | None, Option(help="Remove the contents idle longest until the rest fits.")
    ] = None,
    session: Annotated[
        list[str] | None,
        Option(help="GLOB=DAYS: another age for sessions with such names; repeatable."),
    ] = None,
    orphan_hours: Annotated[float, Option(help="The age of removed orphans.")] = 24.0,
    apply: out.Apply = False,
) -> None:
    """List the stored contents and conversations that the rules remove; remove them with --apply."""
    state = out.expect_state(state_dir)
    session_days = {}
    for rule in session or ():
        glob, _, days = rule.rpartition("=")
        try:
            session_days[glob] = float(days if glob else "")
        except ValueError:
            wrong = f"{rule!r} is not GLOB=DAYS, such as 'nightly-*=7'"
            raise typer.BadParameter(wrong) from None
    bounds = [max_age_days, max_bytes, orphan_hours, *session_days.values()]
    if any(bound is not None and not bound >= 0 for bound in bounds):
        raise typer.BadParameter("ages and sizes are 0 or more")
    rules = collection.GcRules(max_age_days, max_bytes, session_days, orphan_hours * HOUR_SECONDS)
    started = time.time()
    with state.contents() as contents:
        with state.reading() as db:
            removals = collection.plan(collection.holdings(db, contents), rules, started)
            words = collection.plan_words(db, rules, started)
        if apply:
            removals = collection.collect(state.database(), contents, removals, started)
            words = collection.collect_words(state.database(), rules, started)
    lines = []
    # A run with --apply lists what it has removed, which may be less than was planned.
    for removal in [*removals, *words]:
        size = f"{removal.packed_bytes:>10,} bytes"
        sessions = ", ".join(removal.sessions) or "no session"
        lines.append(f"{removal.key[:SHOWN_KEY]}  {size}  {removal.rule}  ({sessions})")
    word = "removed" if apply else "would be removed; --apply removes them"
    if words:
        total = sum(removal.packed_bytes for removal in words)
        lines.append(f"{counted(len(words), 'conversation')}, {total:,} bytes {word}")
    total = sum(removal.packed_bytes for removal in removals)
    lines.append(f"{counted(len(removals), 'content')}, {total:,} bytes {word}")
    say("\n".join(lines))


@store.command("ls")
def list_contents(state_dir: out.StateName) -> None:
    """List the stored contents, the last active first."""
    state, rows = out.expect_state(state_dir), []
    with state.contents() as contents, state.reading() as db:
        held = collection.holdings(db, contents)
    for holding in sorted(held, key=lambda holding: -holding.active_at):
        pinned = "yes" if any(ref.pinned for ref in holding.references) else ""
        entries = ", ".join(f"{ref.session}/{ref.entry_id}" for ref in holding.references)
        active = "now"
        if holding.active_at < math.inf:
            active = f"{datetime.fromtimestamp(holding.active_at, UTC):%Y-%m-%d %H:%M}"
        size = f"{holding.packed_bytes:,}"
        rows.append((holding.key[:SHOWN_KEY], size, active, pinned, entries or "orphan"))
    out.print_table(("content", "bytes", "active", "pinned", "entries"), rows)


@store.command(cls=out.StateCommand)
def show(
    state_dir: out.StateName, entry_id: Annotated[str, Argument(help="An entry's id.")]
) -> None:
    """Write one content to standard output, byte for byte; on a terminal, without control characters."""
    state = out.expect_state(state_dir)
    if (found := state.entry_of(entry_id)) is None:
        fail(f"no entry is named {entry_id!r}; `store ls` lists them")
    with state.contents() as contents:
        content = contents.get(found[1].content)
    if content is None:
        fail(f"the content of {entry_id!r} is no longer stored")
    _write(visible(content.decode("utf-8", "replace")).encode() if sys.stdout.isatty() else content)


def _write(content: bytes) -> None:
    sys.stdout.buffer.write(content)
    sys.stdout.flush()


@store.command()
def entries(
    state_dir: out.StateName,
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
    state = out.expect_state(state_dir)
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
    with state.contents() as contents:
        added, changed, unchanged = exchange.take_in(state, contents, found)
    typer.echo(f"{added} entries added, {changed} changed, {unchanged} as they were")


@store.command(cls=out.StateCommand)
def export(
    state_dir: out.StateName, session: Annotated[str, Argument(help="The session's id.")]
) -> None:
    """Write the raw conversation of a session to standard output, as JSON lines."""
    content = out.expect_state(state_dir).exported(session)
    if not content:
        fail(f"{state_dir} has no conversation of session {session!r}")
    _write(content)


@store.command(cls=out.StateCommand)
def backup(
    state_dir: out.StateName,
    file: Annotated[Path, Argument(help="A file that does not exist yet.")],
) -> None:
    """Write a copy of the database, while sessions run; payloads are not in it."""
    if (layout := out.expect_state(state_dir).layout) is None:
        fail(f"{state_dir} is a server, which has commands of its own for this")
    if file.exists():
        fail(f"{file} exists")
    with contextlib.closing(SqliteDatabase(layout.database)) as db:
        db.backup(file)


@store.command()
def copy(
    source: Annotated[str, Argument(help="A state directory, or postgresql://…")],
    target: Annotated[str, Argument(help="Another one, made where it is missing.")],
    tenant: out.TenantName = "",
) -> None:
    """Copy all sessions with their payloads, verified by hash, and all facts; once more, the changed ones.

    Memory files are not copied. Exit status 1 where a payload was lost at the source, or a session or
    a fact has gone on at the target, which keeps it.
    """
    from hippocampus.facts.exchange import ours
    from hippocampus.facts.store import Facts
    from hippocampus.storage.copying import copied

    if not is_address(source):
        out.expect_state(source)
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
