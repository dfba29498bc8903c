"""Kills consolidations at random moments, and says whether anything was lost or doubled.

    python -m tests.bench.kill_bench [KILLS]

Each time a process hears one conversation and ends its session; it is killed after a random time,
and the next start finishes what it left. Then the fact store has to hold what it holds where nobody
was killed, each encounter counted once. Run it at the project's root.
"""

from __future__ import annotations

import random
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from consolidation.killing import Agents
from consolidation.test_repeating import conversation, known

from hippocampus import Hippocampus


def undisturbed(folder: Path, messages: list[dict[str, Any]]) -> tuple[list[Any], float]:
    """Return what the fact store holds where nobody is killed, and the seconds that it takes."""
    memory = Hippocampus(folder)
    memory.facts.memories()
    session = memory.session("s")
    session(messages)
    started = time.perf_counter()
    session.close()
    seconds = time.perf_counter() - started
    found = known(memory)
    memory.close()
    return found, seconds


def main() -> None:
    """Print how many consolidations were cut off, and how many stores then differed."""
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    messages = conversation(5)
    chance, cut, different = random.Random(5), 0, 0
    with tempfile.TemporaryDirectory() as name, Agents(messages) as agents:
        undisturbed(Path(name) / "warm", messages)
        wanted, seconds = undisturbed(Path(name) / "whole", messages)
        for number in range(kills):
            folder = Path(name) / str(number)
            cut += agents.killed(folder, chance.random() * 1.2 * seconds)
            memory = Hippocampus(folder)
            memory.consolidate()
            same = known(memory) == wanted and not memory.facts.check()
            different += not (same and not memory.unconsolidated())
            memory.close()
            shutil.rmtree(folder)
    print(f"{kills} kills within {1200 * seconds:.0f} ms, {cut} of a consolidation under way")
    print(f"{different} stores lost or doubled something")


if __name__ == "__main__":
    main()
