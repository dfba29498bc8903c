"""The command line: parses arguments, calls the package, prints results."""

from __future__ import annotations

import sys

import typer

from hippocampus.cli import bench, consolidate, defrag, explain, memory, policy, replay, store

app = typer.Typer(
    name="hippocampus",
    help="Keep an agent's context short, cheap and complete.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("replay", help=replay.HELP)(replay.replay)
app.command("explain")(explain.explain)
app.add_typer(policy.app, name="policy")
app.command("consolidate")(consolidate.consolidate)
app.command("gc")(store.gc)
app.command("defrag")(defrag.defrag)
app.add_typer(store.app, name="store")
app.add_typer(memory.app, name="memory")
app.add_typer(bench.app, name="bench")


def main() -> None:
    """Run the command line; a known error is one sentence on stderr and exit status 2."""
    from hippocampus.errors import HippocampusError

    try:
        app()
    except HippocampusError as problem:
        print(f"hippocampus: {problem}", file=sys.stderr)  # noqa: T201 - a command prints
        sys.exit(2)
