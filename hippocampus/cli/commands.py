"""The commands of `hippocampus`, put together. Every command's work is done elsewhere."""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from hippocampus.cli import (
    bench,
    hosts,
    housekeeping,
    memory,
    policy,
    replay,
    serve,
    store,
    study,
)


class Commands(TyperGroup):
    """The commands; a wrong choice is named without the prefix that pydantic gives it."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as wrong:
            wrong.message = wrong.message.removeprefix("Value error, ")
            raise


app = typer.Typer(
    name="hippocampus",
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback(invoke_without_command=True)
def main(
    shows_version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Keep an agent's context short, cheap and complete."""
    if shows_version:
        typer.echo(version("hippocampus-context"))
        raise typer.Exit


app.command("replay", help=replay.HELP)(replay.replay)
app.add_typer(study.app, name="study")
app.command("explain")(replay.explain)
app.add_typer(policy.app, name="policy")
app.command("tune")(replay.tune)
app.command("consolidate")(housekeeping.consolidate)
app.command("mcp")(serve.mcp)
app.command("hook")(hosts.hook)
app.command("install")(hosts.install)
app.command("uninstall")(hosts.uninstall)
app.command("status")(hosts.status)
app.command("gc")(store.gc)
app.command("defrag")(housekeeping.defrag)
app.command("forget")(housekeeping.forget)
app.command("doctor")(housekeeping.doctor)
app.add_typer(store.app, name="store")
app.add_typer(memory.app, name="memory")
app.add_typer(bench.app, name="bench")
app.command("proxy")(serve.proxy)
