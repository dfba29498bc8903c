"""How long deep consolidation takes on recordings, and whether it keeps the user's instructions.

    python -m tests.bench.consolidation_bench PATH...        recordings, as `hippocampus replay` takes them

Each conversation is sent whole to a session of its own, which is then closed; the time is that of its
consolidation. An instruction is a sentence of the user's in which a word of the policy's stands; it
is kept where a memory has its words. Run it at the project's root.
"""

from __future__ import annotations

import argparse
import contextlib
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence

from hippocampus.facts.extraction import sentences

from hippocampus import Hippocampus, policy
from hippocampus.consolidation.caution import without_secrets
from hippocampus.errors import RecordingError
from hippocampus.formats import reader
from hippocampus.policy import Policy, Subject
from hippocampus.replay.readers import find_files, read_file
from hippocampus.replay.recording import Recording

BOUND_SECONDS = 0.3
CHARACTERS = 200
"""A sentence is looked for by so many of its first characters."""


def is_instruction(text: str, declared: Policy) -> bool:
    """Say whether the policy wants words of the user to be kept."""
    said = Subject("message", source_type="user", text=text, tokens=1)
    return bool(declared.resolve(said).persist)


def instructions(recording: Recording, declared: Policy) -> list[str]:
    """Return the sentences of the user that the policy wants to be kept."""
    texts = [
        part.text
        for message in reader.read(recording.messages)
        for part in message.parts
        if message.role == "user" and part.kind == "text"
    ]
    said = [one for text in texts for one in sentences(text) if is_instruction(text, declared)]
    return [plain(one) for one in said if is_instruction(one, declared)]


def plain(text: str) -> str:
    """Return a text as it is compared: without secrets, its spaces as one."""
    return " ".join(without_secrets(text).split())


def recordings(paths: Sequence[str]) -> Iterator[Recording]:
    """Yield every recorded conversation of some paths."""
    for path in find_files(paths):
        with contextlib.suppress(RecordingError):
            yield from read_file(path)


def warm(memory: Hippocampus) -> None:
    """Load what a process loads once, which is not timed."""
    with memory.session("warm") as session:
        session([{"role": "user", "content": "I prefer processes that are warm."}])


def consolidated(recording: Recording, declared: Policy) -> tuple[float, float, list[str]]:
    """Return the seconds that a consolidation took, on the wall and of work, and what it lost."""
    with tempfile.TemporaryDirectory() as folder:
        memory = Hippocampus(folder, policy=declared)
        memory.facts.remember_many(
            ["The user likes warm processes."]
        )  # what loads once is not timed
        session = memory.session(recording.name)
        session(recording.messages)
        wall, work = time.perf_counter(), time.process_time()
        session.consolidate()
        wall, work = time.perf_counter() - wall, time.process_time() - work
        session.close()
        kept = "\n".join(plain(each.content) for each in memory.facts.memories(superseded=True))
        lost = [one for one in instructions(recording, declared) if one[:CHARACTERS] not in kept]
        memory.close()
        return wall, work, lost


def main() -> None:
    """Print the slowest consolidations, and the instructions that were lost."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("path", nargs="+")
    declared = policy.load("default")
    walls, works, total, lost = [], [], 0, []
    for recording in recordings(parser.parse_args().path):
        wall, work, missing = consolidated(recording, declared)
        walls.append(wall)
        works.append(work)
        total += len(instructions(recording, declared))
        lost += missing
        if wall > BOUND_SECONDS / 2:
            print(f"{1000 * wall:6.0f} ms, {1000 * work:6.0f} ms of work: {recording.name}")
    print(f"{len(walls)} conversations, median {1000 * statistics.median(walls):.0f} ms,", end=" ")
    print(f"longest {1000 * max(walls):.0f} ms, {1000 * max(works):.0f} ms of work")
    print(f"{total} instructions, {len(lost)} lost")
    for one in lost:
        print(f"  lost: {one[:CHARACTERS]}")


if __name__ == "__main__":
    main()
