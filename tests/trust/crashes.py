"""Processes killed with SIGKILL in every phase: nothing that was acknowledged is lost.

`python -m tests.trust.crashes --kills 1000` kills that many processes and prints the table. Each is forked
from one that has loaded everything, works in a state directory of its own, and writes a line to a pipe
for each thing that the library has returned; a second process then examines the directory. With
`--server` the state is a tenant of a PostgreSQL server that is started for it.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import logging
import os
import random
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from hippocampus import Hippocampus
from hippocampus.consolidation.housekeeping import defrag, forget, traces
from hippocampus.facts.exchange import import_file
from hippocampus.facts.exchange.ours import document as export
from hippocampus.facts.store import Facts
from hippocampus.integrations.proxy.apis import ANSWERS
from hippocampus.integrations.proxy.service import Service
from hippocampus.policy import load
from hippocampus.storage import gc
from hippocampus.storage.copying import copied
from hippocampus.storage.schema import SCRIPTS, migrate
from hippocampus.storage.sqlite import connected
from hippocampus.storage.state import StateStore, state_of
from hippocampus.storage.state_dir import StateDir
from hippocampus.storage.verify import verify

Say = Callable[[Any], None]
Said = Mapping[str, list[Any]]
"""What was acknowledged, by the kind of it."""
server = ""
"""The address of the server whose tenants are killed, instead of directories."""
IMPORTED = 60
"""How many facts the imported file has."""
SESSIONS = 4
"""How many sessions are copied."""
SAID = ["I live in Rome.", "I prefer tea.", "The build needs Java 21.", "Ann is my sister."]


def state(folder: Path) -> StateStore:
    """Return the state of a directory, or of the tenant of its name."""
    return state_of(server, "-".join(folder.parts[-2:])) if server else state_of(folder)


def memory_of(folder: Path) -> Hippocampus:
    """Open a memory whose turns wait for a busy machine."""
    return Hippocampus(state(folder), deadline_seconds=10.0)


def rows(number: int) -> str:
    """Return a large tool result that is like no other."""
    return "\n".join(
        f"2026-01-01T00:00:{n % 60:02d} INFO app row_{number}_{n} ok" for n in range(300)
    )


def conversation(results: int, first: int = 1) -> list[dict[str, Any]]:
    """Return a conversation with large results, and facts of the user."""
    items: list[dict[str, Any]] = [
        {"role": "user", "content": " ".join(f"Always remember: {each}" for each in SAID)}
    ]
    for number in range(first, first + results):
        call = {"name": "run", "arguments": json.dumps({"n": number})}
        items += [
            {"role": "assistant", "content": None, "tool_calls": [{"id": f"c{number}", "type": "function", "function": call}]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": rows(number)},
        ]  # fmt: skip
    return items


def lived(folder: Path, results: int = 4) -> None:
    """Make a state directory in which two sessions have ended."""
    with contextlib.closing(memory_of(folder)) as memory:
        for number, name in enumerate(("one", "two")):
            with memory.session(name) as session:
                session(conversation(results, 1 + 50 * number))


def source(folder: Path) -> Path:
    """Return the directory that all states next to a folder are copied from."""
    return folder.with_name("source")


def exported(folder: Path) -> Path:
    """Return the file of facts that all states next to a folder import."""
    return folder.with_name("facts.json")


def with_source(folder: Path) -> None:
    """Make the directory to copy from."""
    if not source(folder).exists():
        with Hippocampus(source(folder)) as memory:
            for number in range(SESSIONS):
                with memory.session(f"s{number}") as session:
                    session(conversation(3, 1 + 50 * number))


def fact(number: int) -> str:
    """Return a sentence to remember."""
    return f"The port of host {number} is {8_000 + number}."


def with_export(folder: Path) -> None:
    """Make the file to import."""
    with contextlib.closing(Facts(":memory:")) as facts:
        for number in range(IMPORTED):
            facts.remember(fact(number))
        exported(folder).write_text(json.dumps(export(facts, facts.agent), default=str), "utf-8")


# What is killed


def turns(folder: Path, say: Say) -> None:
    """Call a session with a list that grows, and acknowledge each entry of each view."""
    memory = memory_of(folder)
    session = memory.session("s")
    items = conversation(8)
    for end in range(3, len(items) + 1, 2):
        session(items[:end])
        say({"entries": {each.entry.id: each.content for each in session.report.records()}})


def recalls(folder: Path, say: Say) -> None:
    """Recall, pin and note states in a session that has entries."""
    memory = memory_of(folder)
    session = memory.session("one")
    for number, each in enumerate(session.report.records()):
        session.recall(each.entry.id, head=3)
        session.recall(query="app row")
        session.pin(each.entry.id)
        say({"pinned": each.entry.id})
        say({"state": session.state(f"step {number}")})


def consolidations(folder: Path, say: Say) -> None:
    """End a session, and acknowledge what it remembers."""
    memory = memory_of(folder)
    session = memory.session("s")
    session(conversation(2))
    say({"facts": 0})
    session.close()
    say({"facts": len(SAID)})
    memory.close()


def migrations(folder: Path, say: Say) -> None:
    """Open a new state, and a fact store of the oldest version."""
    memory = memory_of(folder)
    memory.session("old")
    say({"state": 1})
    memory.facts.memories()
    say({"facts_file": 1})


def housekeeping(folder: Path, say: Say) -> None:
    """Prune, collect garbage and defragment; what is pinned and what runs stays."""
    own = state(folder)
    memory = memory_of(folder)
    own.open(60.0)
    with own.contents() as store:
        with contextlib.closing(own.database()) as db:
            rules = gc.GcRules(None, 2_000, {}, 0.0)
            removals = gc.plan(gc.holdings(db, store), rules, time.time())
            gc.collect(db, store, removals, time.time())
        say({"gc": 1})
        defrag(own, store, memory.facts, load("default"), time.time(), apply=True, idle_hours=0)
        say({"defrag": 1})


def forgettings(folder: Path, say: Say) -> None:
    """Remove everything of a session."""
    own = state(folder)
    memory = memory_of(folder)
    own.open(60.0)
    with own.contents() as store:
        forget(own, "one", store, memory.facts)
        say({"forgotten": 1})


def imports(folder: Path, say: Say) -> None:
    """Import a file of facts."""
    say({"imported": import_file(memory_of(folder).facts, exported(folder)).memories})


def copies(folder: Path, say: Say) -> None:
    """Copy sessions from a directory."""
    for each in copied(state_of(source(folder)), state(folder)):
        say({"copied": each.session})


def requests(folder: Path, say: Say) -> None:
    """Pass a growing conversation through a proxy, with a recall in each answer that its host does not see."""
    service = Service(folder, "default")
    items = conversation(8)
    for end in range(1, len(items) - 1, 2):
        exchange = requested(service, items[:end])
        calls = [*items[end]["tool_calls"], recall_call(end)]
        message = {**items[end], "tool_calls": calls}
        exchange.answer.take({"choices": [{"finish_reason": "tool_calls", "message": message}]})
        exchange.keep()
        say({"session": exchange.conversation.session.id, "end": end})


def requested(service: Service, items: list[Any]) -> Any:
    """Send a list through a proxy."""
    tool = {"type": "function", "function": {"name": "run", "parameters": {"type": "object"}}}
    body = {"model": "gpt-5", "tools": [tool], "messages": items}
    return service.exchange(ANSWERS["/chat/completions"], json.dumps(body).encode(), ["key: a"])


def recall_call(end: int) -> dict[str, Any]:
    """Return a call of recall of its own in each answer."""
    asked = {"name": "recall", "arguments": '{"query": "row"}'}
    return {"id": f"recall {end}", "type": "function", "function": asked}


def old_directory(folder: Path) -> None:
    """Make a database of the oldest version."""
    path = StateDir(folder).database
    with contextlib.closing(connected(path)) as db:
        migrate(db, str(path), SCRIPTS[:1])
        db.execute("INSERT INTO meta VALUES ('kept', 'yes')")


# What is examined


def after_turns(memory: Hippocampus, _folder: Path, said: Said) -> Iterator[str]:
    """Yield the entries, texts and turns that are lost."""
    with memory.session("s") as session:
        texts = {session.entries.text(each.id) for each in session.entries}
        known = {each.entry.id: each.content for each in session.report.records()}
        for entries in said["entries"]:
            yield from (f"entry {k}" for k, v in entries.items() if known.get(k) != v)
        own = {rows(number) for number in range(1, 9)} | {conversation(0)[0]["content"]}
        yield from ("the text of an entry" for _ in texts - own)
        view = session(conversation(8))
        if session.report.failures or len(str(view)) > len(str(conversation(8))):
            yield "the next turn"


def after_recalls(memory: Hippocampus, _folder: Path, said: Said) -> Iterator[str]:
    """Yield the pins, states and texts that are lost."""
    with memory.session("one") as session:
        known = {each.entry.id: each.entry for each in session.report.records()}
        pinned = {name for name, each in known.items() if each.modifiers.priority == "critical"}
        yield from (f"pin {each}" for each in said["pinned"] if each not in pinned)
        yield from (f"state {each}" for each in said["state"] if each not in known)
        yield from ("a text" for each in known if not session.entries.text(each))


def after_consolidations(memory: Hippocampus, folder: Path, said: Said) -> Iterator[str]:
    """Yield the facts that are lost or there twice, and the lines of the memory file."""
    if not said["facts"]:
        return
    yield from missing(memory, SAID)
    if layout := state(folder).layout:
        lines = layout.memory_file().read_text("utf-8")
        yield from (f"line {each}" for each in SAID if each not in lines)


def missing(memory: Hippocampus, wanted: Iterable[str]) -> Iterator[str]:
    """Yield the facts that no memory has, and the memories that are there twice."""
    found = Counter(each.content for each in memory.facts.memories())
    yield from (f"fact {each}" for each in wanted if not any(each in text for text in found))
    yield from (f"doubled {text}" for text, times in found.items() if times > 1)


def after_migrations(memory: Hippocampus, _folder: Path, _said: Said) -> Iterator[str]:
    """Yield what of the old database is lost."""
    with memory.session("old") as session:
        session(conversation(2))
        if session.report.failures:
            yield "the old ledger"
    if memory.facts.tables.database.meta("kept") != "yes":
        yield "the old facts"


def after_housekeeping(memory: Hippocampus, _folder: Path, _said: Said) -> Iterator[str]:
    """Yield the facts that are lost; entries may be removed."""
    contents = {each.content for each in memory.facts.memories()}
    yield from (f"fact {each}" for each in SAID if not any(each in text for text in contents))


def after_forgettings(memory: Hippocampus, folder: Path, said: Said) -> Iterator[str]:
    """Yield what is left of the removed session, at once or after a second try, and what the other one lost."""
    own = state(folder)
    with own.contents() as store:
        if said["forgotten"] and traces(own, "one", store, memory.facts):
            yield "the removal"
        forget(own, "one", store, memory.facts)
        if traces(own, "one", store, memory.facts):
            yield "the rest of the removal"
    with memory.session("two") as session:
        yield from ("a text" for each in session.entries if not session.entries.text(each.id))


def after_imports(memory: Hippocampus, folder: Path, said: Said) -> Iterator[str]:
    """Yield what the import has lost or brought twice; it is whole or none."""
    again = import_file(memory.facts, exported(folder)).memories
    if again not in {0, IMPORTED} or (said["imported"] and again):
        yield "the import"
    yield from missing(memory, map(fact, range(IMPORTED)))


def after_copies(memory: Hippocampus, folder: Path, said: Said) -> Iterator[str]:
    """Yield the sessions and payloads that the next copy finds lost."""
    outcomes = {each.session: each for each in copied(state_of(source(folder)), state(folder))}
    if len(outcomes) != SESSIONS:
        yield "a session"
    for name, each in outcomes.items():
        yield from (f"payload {key}" for key in each.lost)
        if name in said["copied"] and each.outcome != "unchanged":
            yield f"the copy of {name}"
        with memory.session(name) as session:
            yield from ("a text" for one in session.entries if not session.entries.text(one.id))


def after_requests(_memory: Hippocampus, folder: Path, said: Said) -> Iterator[str]:
    """Yield the conversation and the hidden recalls that are lost."""
    if not said["end"]:
        return
    with contextlib.closing(Service(folder, "default")) as service:
        end = max(said["end"])
        exchange = requested(service, conversation(8)[: end + 2])
        if exchange.conversation.session.id not in said["session"]:
            yield "the conversation"
        shown = str(exchange.items)
        yield from (f"recall {at}" for at in range(1, end + 1, 2) if f"recall {at}" not in shown)


def examined(phase: str, folder: Path, acknowledged: list[dict[str, Any]]) -> list[str]:
    """Return what a state has lost; it is opened, used and closed as by an agent that restarts."""
    said: Said = defaultdict(list)
    for each in acknowledged:
        for name, value in each.items():
            said[name].append(value)
    with contextlib.closing(memory_of(folder)) as memory:
        memory.consolidate()
        lost = [*PHASES[phase].examined(memory, folder, said), *memory.facts.check()]
    return lost + [each.text for each in verify(state(folder)) if each.is_fault]


class Phase(NamedTuple):
    """What is killed, the state in which it begins, and what yields that which it lost."""

    work: Callable[[Path, Say], None]
    made: Callable[[Path], None]
    examined: Callable[[Hippocampus, Path, Said], Iterator[str]]


PHASES = {
    "turns": Phase(turns, lambda _folder: None, after_turns),
    "recalls": Phase(recalls, lived, after_recalls),
    "consolidations": Phase(consolidations, lambda _folder: None, after_consolidations),
    "migrations": Phase(migrations, old_directory, after_migrations),
    "housekeeping": Phase(housekeeping, lived, after_housekeeping),
    "forgettings": Phase(forgettings, lived, after_forgettings),
    "imports": Phase(imports, with_export, after_imports),
    "copies": Phase(copies, with_source, after_copies),
    "requests": Phase(requests, lambda _folder: None, after_requests),
}
OF_DIRECTORIES = {"migrations", "requests"}
"""The phases that a server does not have, or whose tenants the caller names."""


def forked(work: Callable[[], None]) -> int:
    """Run work in a process of its own; return its id."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        work()
        status = 0
    except BaseException:  # noqa: BLE001 - a child may not return into its parent's code
        traceback.print_exc()
    finally:
        os._exit(status)


def within(work: Callable[[], None]) -> None:
    """Run work in a process of its own to its end: threads and forks do not go together."""
    _, status = os.waitpid(forked(work), 0)
    if status:
        raise RuntimeError("the process failed; see above")


class Killed(NamedTuple):
    """One process that was killed."""

    under_way: bool
    lost: list[str]


def killed(phase: str, made: Path, folder: Path, seconds: float) -> Killed:
    """Kill a process `seconds` after it began its work, and examine what it left."""
    if made.exists():
        shutil.copytree(made, folder)
    elif server:
        within(lambda: PHASES[phase].made(folder))
    reading, writing = os.pipe()

    def work() -> None:
        os.close(reading)
        os.write(writing, b"\n")
        PHASES[phase].work(
            folder, lambda told: os.write(writing, json.dumps(told).encode() + b"\n")
        )

    child = forked(work)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        pipe.readline()
        time.sleep(seconds)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        lines = pipe.read().split(b"\n")
    acknowledged = [json.loads(each) for each in lines if each.endswith(b"}")]
    report = folder.with_suffix(".json")
    within(lambda: report.write_text(json.dumps(examined(phase, folder, acknowledged))) and None)
    return Killed(os.WIFSIGNALED(status), json.loads(report.read_text()))


def run(phase: str, kills: int, seed: int, root: Path) -> tuple[int, Counter[str], float]:
    """Kill processes in a phase; return how many were under way, what was lost, and the phase's seconds."""
    made = root / f"{phase}-made"
    within(lambda: PHASES[phase].made(made))
    if lost := killed(phase, made, root / f"{phase}-first", 0.0).lost:
        raise RuntimeError(f"{phase}: lost {lost} at once")
    whole = root / f"{phase}-whole"
    if made.exists():
        shutil.copytree(made, whole)
    elif server:
        within(lambda: PHASES[phase].made(whole))
    started = time.perf_counter()
    within(lambda: PHASES[phase].work(whole, lambda _told: None))
    seconds = time.perf_counter() - started
    rng, under_way = random.Random(seed), 0
    lost: Counter[str] = Counter()
    for number in range(kills):
        folder = root / f"{phase}-{number}"
        found = killed(phase, made, folder, rng.random() * seconds)
        under_way += found.under_way
        seconds *= (
            1.05 if found.under_way else 0.8
        )  # the machine has more or less to do than before
        lost.update(found.lost)
        shutil.rmtree(folder, ignore_errors=True)
        folder.with_suffix(".json").unlink()
    return under_way, lost, seconds


def main() -> bool:
    """Print the table; return whether something was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100, help="of all phases together")
    parser.add_argument("--phase", choices=PHASES, action="append")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--server", action="store_true", help="kill the clients of a PostgreSQL")
    asked = parser.parse_args()
    phases, is_lost = asked.phase or [name for name in PHASES if not (asked.server and name in OF_DIRECTORIES)], False  # fmt: skip
    logging.disable()
    print(
        f"{'phase':<16}{'kills':>7}{'under way':>11}{'ms':>7}  lost    (SQLite {sqlite3.sqlite_version})"
    )
    with contextlib.ExitStack() as stack:
        name = stack.enter_context(tempfile.TemporaryDirectory())
        if asked.server:
            from tests.postgres_server import running

            global server  # noqa: PLW0603 - the processes that are forked read it
            server = stack.enter_context(running()).address
        for phase in phases:
            kills = asked.kills // len(phases)
            under_way, lost, seconds = run(phase, kills, asked.seed, Path(name))
            print(
                f"{phase:<16}{kills:>7}{under_way:>11}{1000 * seconds:>7.0f}  {sum(lost.values())}",
                flush=True,
            )
            for text, number in lost.most_common(10):
                print(f"    {number} × {text}")
            is_lost |= bool(lost)
    return is_lost


if __name__ == "__main__":
    sys.exit(main())
