"""What a turn costs over PostgreSQL and over files, and what it leaves: `python -m tests.bench.fleet`.

Every call of the recordings in `examples/`, in both states by turns, against a server on this machine. With
`TMPDIR=/dev/shm` no commit waits for a disk.
"""

from __future__ import annotations

import contextlib
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from postgres_server import running

from hippocampus import Hippocampus
from hippocampus.replay.our_strategy import MARK
from hippocampus.replay.readers import read_file
from hippocampus.storage.ledger import Ledger

RECORDINGS = sorted((Path(__file__).parents[2] / "examples" / "transcripts").glob("*.json"))


def lists_of(path: Path) -> list[list[dict[str, Any]]]:
    """Return the message list of each call in a recording."""
    [recording] = read_file(path)
    messages = recording.messages
    ends = [at for at, each in enumerate(messages) if each.get("role") == "assistant"]
    return [messages[:end] for end in (*ends, len(messages)) if end]


def main() -> None:
    """Print the figures."""
    wall: dict[str, list[float]] = {"files": [], "PostgreSQL": []}
    cpu = {"files": 0.0, "PostgreSQL": 0.0}
    with (
        running() as server,
        tempfile.TemporaryDirectory() as folder,
        contextlib.ExitStack() as stack,
    ):
        memories = {
            "files": stack.enter_context(contextlib.closing(Hippocampus(folder))),
            "PostgreSQL": stack.enter_context(
                contextlib.closing(
                    Hippocampus(server.address, tenant="bench", deadline_seconds=60.0)
                )
            ),
        }
        for memory in memories.values():  # ids open with the letters of their state
            Ledger(memory._resources.state, "first", mark=MARK).close()
        raw = same = 0
        used_before = server.cpu_seconds()
        for path in RECORDINGS:
            sessions = {name: memory.session(path.stem) for name, memory in memories.items()}
            for call, items in enumerate(lists_of(path)):
                views = {}
                # Whoever comes second finds the texts counted.
                for name, session in list(sessions.items())[:: 1 - 2 * (call % 2)]:
                    started, used = time.perf_counter(), time.process_time()
                    views[name] = session(items)
                    wall[name].append(1_000 * (time.perf_counter() - started))
                    cpu[name] += time.process_time() - used
                same += views["files"] == views["PostgreSQL"]
            raw += sum(session.status()["raw"] for session in sessions.values())
            for session in sessions.values():
                session.release()
        served = server.cpu_seconds() - used_before
        size = server.execute(
            "SELECT sum(pg_total_relation_size(oid)) FROM pg_class"
            " WHERE relnamespace = 'hippocampus'::regnamespace AND relkind = 'r'"
        )[0][0]
        stack.close()  # a log of SQLite has megabytes until then, however few the calls
        files = sum(each.stat().st_size for each in Path(folder).rglob("*") if each.is_file())
    calls = len(wall["files"])
    print(f"{calls} calls, {same} views alike, {raw} raw lists")
    for name, times in wall.items():
        print(
            f"{name:<12} median {statistics.median(times):.2f} ms, mean {statistics.mean(times):.2f} ms, "
            f"{1_000 * cpu[name] / calls:.2f} ms of this process's CPU a call"
        )
    ratio = statistics.median(wall["PostgreSQL"]) / statistics.median(wall["files"])
    print(f"PostgreSQL takes {ratio:.2f} times files in the median turn")
    ratio = (cpu["PostgreSQL"] + served) / cpu["files"]
    print(
        f"and {ratio:.2f} times the CPU, with {1_000 * served / calls:.2f} ms a call of the server's"
    )
    print(f"{int(size) // calls:,} bytes a call on PostgreSQL, {files // calls:,} in files")


if __name__ == "__main__":
    main()
