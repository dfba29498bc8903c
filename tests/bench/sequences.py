"""How often a memory without a model keeps what is so no longer, and ends what is still so.

    python -m tests.bench.sequences [--sessions] [--show stale|ended] [FILE...]

Each line of a file is a sequence of statements of one user, a day apart: language, kind, the
statements with ` > ` between them, and the numbers of those that are so no longer, or `-`. The files
in `statements/` are by people who have not seen the rules. With `--sessions` each statement is the
message of a session of its own, and what its consolidation keeps is looked at.
"""

from __future__ import annotations

import argparse
import contextlib
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from hippocampus import Hippocampus
from hippocampus.facts.store import Facts

FOLDER = Path(__file__).parent / "statements"
DAY_SECONDS = 86_400


class StatementSequence(NamedTuple):
    """Statements, and the places of those that are no longer true at the end."""

    language: str
    kind: str
    statements: Sequence[str]
    gone: frozenset[int]


class SequenceOutcome(NamedTuple):
    """The places of statements that a memory kept or ended wrongly."""

    stale: frozenset[int]
    ended: frozenset[int]


def sequences(path: Path) -> Iterator[StatementSequence]:
    """Yield the sequences of a file."""
    for line in path.read_text(encoding="utf-8").splitlines():
        language, kind, said, gone = line.split(" | ")
        places = frozenset() if gone == "-" else frozenset(map(int, gone.split(",")))
        yield StatementSequence(language, kind, said.split(" > "), places)


def remembered(statements: Sequence[str]) -> set[str]:
    """Return what stands of statements that are remembered one after another."""
    with Facts(":memory:") as facts:
        for day, text in enumerate(statements):
            facts.remember(text, at=day * DAY_SECONDS)
        return {memory.content for memory in facts.memories()}


def consolidated(statements: Sequence[str]) -> set[str]:
    """Return what stands of statements that are the user's messages, one in a session."""
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.closing(Hippocampus(folder)) as memory,
    ):
        for number, text in enumerate(statements):
            with memory.session(f"s{number}") as session:
                session([{"role": "user", "content": text}])
        return {each.content for each in memory.facts.memories()}


def outcome(
    sequence: StatementSequence, run: Callable[[Sequence[str]], set[str]] = remembered
) -> SequenceOutcome:
    """Return what a memory makes of a sequence."""
    current = run(sequence.statements)
    ended = {at for at, text in enumerate(sequence.statements) if text not in current}
    return SequenceOutcome(sequence.gone - ended, frozenset(ended - sequence.gone))


def main() -> None:
    """Print by file and language of how many sequences something is stale, or was ended wrongly."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", choices=["stale", "ended"])
    parser.add_argument("--sessions", action="store_true")
    parser.add_argument("files", nargs="*", type=Path, default=sorted(FOLDER.glob("*.txt")))
    wanted = parser.parse_args()
    for path in wanted.files:
        changed: Counter[str] = Counter()
        kept: Counter[str] = Counter()
        stale: Counter[str] = Counter()
        ended: Counter[str] = Counter()
        for each in sequences(path):
            found = outcome(each, consolidated if wanted.sessions else remembered)
            (changed if each.gone else kept)[each.language] += 1
            stale[each.language] += bool(found.stale)
            ended[each.language] += bool(found.ended)
            if wanted.show and getattr(found, wanted.show):
                print(each.language, each.kind, " > ".join(each.statements), sep=" | ")
        print(
            f"{path.name}: stale {stale.total()} of {changed.total()}, ended {ended.total()} of {kept.total()} that stand"
        )
        print("  " + ", ".join(f"{code} {stale[code]} of {changed[code]}" for code in changed))


if __name__ == "__main__":
    main()
