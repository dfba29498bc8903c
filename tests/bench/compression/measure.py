"""One command, one table: how small an entry is, and how many of 20 questions it answers.

    python -m tests.bench.compression.measure [--verbose] [--json] [--kind "source file"]

Run it at the project's root. Losses stand in the table like gains.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from hippocampus.indexing import ExtractionContext, Price, index, kinds
from hippocampus.indexing.select import FRAME_TOKENS
from hippocampus.models import tokens
from tests.bench.compression import corpus
from tests.bench.compression.questions import questions

LEVELS = {"light": 4, "normal": 2, "aggressive": 1}
"""How many times the bound of `aggressive` an entry may weigh."""
PROTOCOL_TOKENS = {
    "browser snapshot": 450,
    "web page (HTML)": 450,
    "configuration schema": 800,
    "directory listing (find)": 350,
    "directory listing (ls -lR)": 350,
    "source file": 200,
    "JSON response": 300,
}
"""Section 6.3 of the protocol."""
OTHER_TOKENS = 350
"""The bound of the kinds that the protocol's table lacks."""
CARRY, RECALL = 2.75, 1_700.0
"""15 calls to come and a view of 12,000 tokens at 0.1 and 1.25, as in DESIGN's example."""
HEADER = ("kind", "content", "entry", "ratio", "protocol", "answered", "light", "normal")


@dataclass(frozen=True, slots=True)
class Measured:
    """One content at one level."""

    kind: str
    level: str
    content_tokens: int
    entry_tokens: int
    bound_tokens: int
    protocol_tokens: int | None
    answered: tuple[bool, ...]

    @property
    def ratio(self) -> float:
        """How many times smaller the entry is."""
        return self.content_tokens / max(1, self.entry_tokens)


def bound_tokens(kind: str, level: str) -> int:
    """How large an entry of this kind may be at a level."""
    return PROTOCOL_TOKENS.get(kind, OTHER_TOKENS) * LEVELS[level]


def entry_text(content: str, budget_tokens: int) -> str:
    """What stands in the view for a content: the one place that knows how an index is made."""
    for reading in (kinds.read_small, kinds.read_large):
        reading.cache_clear()  # a session reads a content once for several questions; here each run does
    context = ExtractionContext(content_tokens=tokens.count(content))
    room = budget_tokens - FRAME_TOKENS
    price = Price(carry=CARRY, recall=RECALL, least_tokens=room, most_tokens=room)
    return "\n".join(index(content, context, price).lines)


def measure(kind: str, level: str) -> Measured:
    """Index one content, and ask the questions."""
    content, bound = corpus.content(kind), bound_tokens(kind, level)
    entry = entry_text(content, bound)
    return Measured(
        kind=kind,
        level=level,
        content_tokens=tokens.count(content),
        entry_tokens=tokens.count(entry),
        bound_tokens=bound,
        protocol_tokens=PROTOCOL_TOKENS.get(kind),
        answered=tuple(question.answers(entry) for question in questions(kind)),
    )


def table(rows: list[Measured]) -> Iterator[str]:
    """The Markdown table: `aggressive` in full, of the other levels what they answer."""
    yield "| " + " | ".join(HEADER) + " |"
    yield "|---" + "|--:" * (len(HEADER) - 1) + "|"
    by_kind: dict[str, dict[str, Measured]] = {}
    for row in rows:
        by_kind.setdefault(row.kind, {})[row.level] = row
    for levels in by_kind.values():
        yield _row(levels)
    last = [levels["aggressive"] for levels in by_kind.values()]
    shares = [sum(row.answered) / len(row.answered) for row in last]
    within = sum(row.entry_tokens <= row.bound_tokens for row in last)
    yield ""
    yield f"{within} of {len(last)} within the bound; {sum(shares) / len(shares):.0%} answered."


def _row(levels: dict[str, Measured]) -> str:
    row = levels["aggressive"]
    over = " (over)" if row.entry_tokens > row.bound_tokens else ""
    cells = [
        row.kind,
        f"{row.content_tokens:,}",
        f"{row.entry_tokens}{over}",
        f"{row.ratio:.0f}×",
        str(row.protocol_tokens or f"– ({row.bound_tokens})"),
        f"{sum(row.answered)}/{len(row.answered)}",
        *(f"{sum(levels[level].answered)}" for level in ("light", "normal")),
    ]
    return "| " + " | ".join(cells) + " |"


def details(rows: list[Measured]) -> Iterator[str]:
    """Each question, and whether the entry at `aggressive` answers it."""
    for row in rows:
        if row.level != "aggressive":
            continue
        yield f"\n{row.kind}: {sum(row.answered)} of {len(row.answered)}"
        for question, is_answered in zip(questions(row.kind), row.answered, strict=True):
            yield f"  {'+' if is_answered else '-'} {question.text}"


def main(arguments: list[str] | None = None) -> int:
    """Print what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--verbose", action="store_true", help="list each question")
    parser.add_argument("--json", action="store_true", help="print every figure as JSON")
    parser.add_argument("--kind", action="append", choices=corpus.BUILDERS, help="only these")
    chosen = parser.parse_args(arguments)
    kinds = chosen.kind or list(corpus.BUILDERS)
    rows = [measure(kind, level) for kind in kinds for level in LEVELS]
    if chosen.json:
        found = [{**asdict(row), "ratio": row.ratio} for row in rows]
        sys.stdout.write(json.dumps(found, indent=1) + "\n")
        return 0
    for line in [*table(rows), *(details(rows) if chosen.verbose else ())]:
        sys.stdout.write(line + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
