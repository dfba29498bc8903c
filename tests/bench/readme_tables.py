"""Writes the measured blocks of README.md and the documentation: what a command prints.

    python -m tests.bench.readme_tables [BLOCK...]

Run it at the project's root. A block stands between `<!-- name:begin -->` and `<!-- name:end -->`;
without names every block but the slow ones is written. Prose is written by people.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCUMENTS = ("README.md", "docs/how-to/replay.md", "docs/explanation/economics.md")
BLOCK = re.compile(r"(<!-- (?P<name>[\w-]+):begin -->\n).*?(<!-- (?P=name):end -->)", re.DOTALL)
WIDTH = {"COLUMNS": "96", "TERMINAL_WIDTH": "96", "NO_COLOR": "1", "TERM": "dumb"}
COMMAND = "from hippocampus.cli.commands import app; app(prog_name='hippocampus')"
DECIDING = ("genai-prices", "google-re2", "numpy", "tiktoken")
"""What tokens, prices and lines of entries come from."""
REPLAY = ("replay", "examples/transcripts", "--compare")


def said(*arguments: str) -> str:
    """What a command of ours prints, without the space at the ends of its lines."""
    command = [sys.executable, "-c", COMMAND, *arguments]
    environment = {**os.environ, **WIDTH}
    run = subprocess.run(
        command, check=True, capture_output=True, text=True, cwd=ROOT, env=environment
    )
    return "\n".join(line.rstrip() for line in run.stdout.strip("\n").splitlines())


def as_text(printed: str) -> str:
    """A Markdown block of plain text."""
    return f"```text\n{printed}\n```"


def written_with() -> str:
    """Return the versions that decide a figure, besides the code and the recordings."""
    python = ".".join(platform.python_version_tuple()[:2])
    libraries = (f"{name} {metadata.version(name)}" for name in DECIDING)
    return f"Written with Python {python}, {', '.join(libraries)}."


def compression() -> str:
    """The table of entries by kind of content, with how many of 20 questions they answer."""
    from tests.bench.compression import measure

    kinds = measure.corpus.BUILDERS
    rows = [measure.measure(kind, level) for kind in kinds for level in measure.LEVELS]
    return "\n".join(measure.table(rows))


def curve() -> str:
    """Cost and visible values of the examples under budgets, beside the other strategies."""
    from tests.bench import budget_curve

    return budget_curve.table([ROOT / "examples" / "transcripts"])


READ_PRICES = {"0.1": ("--prices", "anthropic-5m"), "0.025": ("--model", "claude-fable-5-1")}
"""By the price of a cached token, the prices of a replay."""


def read_prices() -> str:
    """Net cost of the examples by the price of a cached token, for each strategy."""
    costs = {
        read: {
            name: each["cost_percent"]
            for name, each in json.loads(said(*REPLAY, "--json", *prices))["total"][
                "strategies"
            ].items()
        }
        for read, prices in READ_PRICES.items()
    }
    head = " | ".join(f"net cost %, cached tokens at {read}" for read in costs)
    rows = (
        f"| {name} | " + " | ".join(f"{each[name]:.1f}" for each in costs.values()) + " |"
        for name in next(iter(costs.values()))
    )
    return "\n".join([f"| strategy | {head} |", "|---|--:|--:|", *rows])


QUICK: dict[str, Callable[[], str]] = {
    "replay": lambda: f"{as_text(said(*REPLAY))}\n\n{written_with()}",
}
SLOW: dict[str, Callable[[], str]] = {
    "compression": compression,
    "curve": curve,
    "read-prices": read_prices,
}
"""Written only when named: they take long, or are built from installed packages."""
BLOCKS = QUICK | SLOW


def blocks_in(text: str) -> dict[str, str]:
    """Return the marked blocks of a document by name, without their markers."""
    return {
        match["name"]: match[0].removeprefix(match[1]).removesuffix(match[3]).rstrip("\n")
        for match in BLOCK.finditer(text)
    }


def rewritten(text: str, wanted: set[str]) -> str:
    """Return a document with the wanted blocks written afresh."""

    def fresh(match: re.Match[str]) -> str:
        name = match["name"]
        return (
            f"{match[1]}{BLOCKS[name]()}\n{match[3]}" if name in wanted & set(BLOCKS) else match[0]
        )

    return BLOCK.sub(fresh, text)


def main() -> None:
    """Write the blocks that were asked for, in every document that has them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("block", nargs="*", choices=[[], *BLOCKS], help="only these")
    wanted = set(parser.parse_args().block or QUICK)
    for name in DOCUMENTS:
        path = ROOT / name
        path.write_text(rewritten(path.read_text("utf-8"), wanted), "utf-8")


if __name__ == "__main__":
    main()
