"""Writes the generated blocks of README.md and SPEC.md: what the software itself says.

    python -m tests.bench.readme_tables [BLOCK...]

Run it at the project's root. A block stands between `<!-- name:begin -->` and `<!-- name:end -->`;
without names every block but the slow ones is written. Prose is nobody's but a person's.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import itertools
import os
import platform
import re
import subprocess
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

from hippocampus import indexing, policy, prices, tokens
from hippocampus.indexing import frame, select, worth

ROOT = Path(__file__).parents[2]
DOCUMENTS = ("README.md", "SPEC.md")
BLOCK = re.compile(r"(<!-- (?P<name>[\w-]+):begin -->\n).*?(<!-- (?P=name):end -->)", re.DOTALL)
WIDTH = {"COLUMNS": "96", "TERMINAL_WIDTH": "96", "NO_COLOR": "1", "TERM": "dumb"}
COMMAND = "from hippocampus.cli import app; app(prog_name='hippocampus')"
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
    """What besides the code and the recordings decides a figure, by version."""
    python = ".".join(platform.python_version_tuple()[:2])
    libraries = (f"{name} {metadata.version(name)}" for name in DECIDING)
    return f"Written with Python {python}, {', '.join(libraries)}."


def help_of(*command: str) -> str:
    """The `--help` of a command, as it stands in a document."""
    return as_text(said(*command, "--help").strip())


def policy_fields() -> str:
    """A table of the policy's fields, told by the sentences beside them in code."""
    shipped = policy.load("default").model_dump()
    told = docstrings(policy.Policy)
    rows = ["| field | in `default` | meaning |", "|---|---|---|"]
    rows += [
        f"| `{name}` | `{_yaml(shipped[name])}` | {' '.join(told[name].split())} |"
        for name in policy.Policy.model_fields
    ]
    return "\n".join(rows)


def consolidation_fields() -> str:
    """A table of the fields of the block `consolidation`, with their defaults."""
    told = docstrings(policy.Consolidation)
    rows = ["| key | default | meaning |", "|---|---|---|"]
    rows += [
        f"| `{name}` | `{_yaml(field.default)}` | {' '.join(told[name].split())} |"
        for name, field in policy.Consolidation.model_fields.items()
    ]
    return "\n".join(rows)


MOST_ITEMS = 4


def _yaml(value: object) -> str:
    if isinstance(value, dict) and len(value) <= MOST_ITEMS:
        return "{" + ", ".join(f"{key}: {inner}" for key, inner in value.items()) + "}"
    if isinstance(value, dict | list | tuple):
        return f"{len(value)} entries"
    if isinstance(value, bool):
        return str(value).lower()
    return "none" if value is None else str(value)


def rule_fields(part: type) -> str:
    """A table of what a match can ask or an action can say."""
    told = docstrings(part)
    rows = ["| key | meaning |", "|---|---|"]
    rows += [
        f"| `{field.alias or name}` | {' '.join(told[name].split())} |"
        for name, field in part.model_fields.items()  # type: ignore[attr-defined]
    ]
    return "\n".join(rows)


def docstrings(kind: type) -> dict[str, str]:
    """The sentence below each field of a class."""
    body = ast.parse(inspect.getsource(kind)).body[0].body  # type: ignore[attr-defined]
    told: dict[str, str] = {}
    for field, below in itertools.pairwise(body):
        if isinstance(field, ast.AnnAssign) and isinstance(below, ast.Expr):
            told[ast.unparse(field.target)] = inspect.cleandoc(ast.literal_eval(below.value))
    return told


def price_tables() -> str:
    """The price tables by name."""
    rows = ["| `--prices` | cache read | cache write |", "|---|--:|--:|"]
    rows += [
        f"| `{each.name}` | {each.read:g} | {each.write:g} |" for each in prices.TABLES.values()
    ]
    return "\n".join(rows)


def chance() -> str:
    """The coefficients of the model by which lines of an entry are chosen."""
    rows = ["| signal | coefficient |", "|---|--:|"]
    rows += [f"| `{name}` | {each:g} |" for name, each in select.CHANCE.items()]
    rows += [f"| `bias` of `{kind}` | {each:+g} |" for kind, each in sorted(select.KIND.items())]
    return "\n".join(rows)


def bounds() -> str:
    """The bounds of an entry by level of compression."""
    rows = ["| `compression` | least | most | a hidden value counts |", "|---|--:|--:|--:|"]
    for level, (least, most, counts) in worth.BOUNDS.items():
        kinds = worth.AGGRESSIVE_TOKENS if level == "aggressive" else {}
        other = "".join(f"; `{kind}` {bound}" for kind, bound in kinds.items())
        rows.append(f"| `{level}` | {least:,} | {most:,}{other} | {counts:g} |")
    rows += ["", f"{worth.FRAME_TOKENS} tokens of the most are kept for the frame."]
    return "\n".join(rows)


MOST_LINES, MOST_CHARACTERS = 12, 140


def entries() -> str:
    """An entry of each content of the exam, cut where it is long."""
    from tests.bench.compression import corpus

    return "\n\n".join(_entry(name, corpus.content(name)) for name in corpus.BUILDERS)


def _entry(name: str, content: str) -> str:
    weight = tokens.count(content)
    kind = indexing.kind_of(content)
    price = worth.price_of(kind, "aggressive", prices.TABLES["anthropic-5m"], 12_000, 15)
    kept = indexing.index(content, indexing.Hints(content_tokens=weight), price)
    opening = frame.first_line("kq3v7a2c", "tool", 4, weight, kept.kind)
    closing = frame.last_line("kq3v7a2c", kept.ways, content.count("\n") + 1)
    shown = [line for text in (opening, *kept.lines) for line in text.split("\n")]
    more = [f"({len(shown) - MOST_LINES} more lines)"] if len(shown) > MOST_LINES else []
    cut = [_cut(line) for line in shown[:MOST_LINES]]
    return f"{name[:1].upper()}{name[1:]}:\n\n" + as_text("\n".join([*cut, *more, closing]))


def _cut(line: str) -> str:
    return line if len(line) <= MOST_CHARACTERS else line[:MOST_CHARACTERS] + " (…)"


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


QUICK: dict[str, Callable[[], str]] = {
    "replay": lambda: f"{as_text(said(*REPLAY))}\n\n{written_with()}",
    "help-hippocampus": help_of,
    "help-replay": lambda: help_of("replay"),
    "help-explain": lambda: help_of("explain"),
    "help-policy": lambda: help_of("policy"),
    "help-policy-check": lambda: help_of("policy", "check"),
    "help-policy-show": lambda: help_of("policy", "show"),
    "help-policy-schema": lambda: help_of("policy", "schema"),
    "help-policy-explain": lambda: help_of("policy", "explain"),
    "help-gc": lambda: help_of("gc"),
    "help-consolidate": lambda: help_of("consolidate"),
    "help-defrag": lambda: help_of("defrag"),
    "help-store": lambda: help_of("store"),
    "help-memory": lambda: help_of("memory"),
    "help-bench": lambda: help_of("bench", "locomo"),
    "policy": policy_fields,
    "consolidation": consolidation_fields,
    "match": lambda: rule_fields(policy.Match),
    "action": lambda: rule_fields(policy.Action),
    "prices": price_tables,
    "chance": chance,
    "bounds": bounds,
}
SLOW: dict[str, Callable[[], str]] = {
    "compression": compression,
    "curve": curve,
    "entries": entries,
}
"""Written only when named: they take long, or are built from what the machine has installed."""
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
