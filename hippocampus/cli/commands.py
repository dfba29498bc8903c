"""Registers the commands of `hippocampus`; other modules define them."""

from __future__ import annotations

import functools
from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from hippocampus.cli import hosts, housekeeping, memory, policy, replay
from hippocampus.cli.memory import STORES, group_of
from hippocampus.cli.options import StateCommand

RECORDINGS, AGENTS, STATE = "Recordings", "Coding agents", "State directories"
"""The panels of `--help` after the one for a newcomer."""


class Commands(TyperGroup):
    """The commands; errors are printed without the prefix that pydantic adds."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as wrong:
            wrong.message = wrong.message.removeprefix("Value error, ")
            raise

    def get_params(self, ctx: Any) -> Any:
        """Return the options of `hippocampus`, and remove the types of flags from the help of all commands.

        A paragraph becomes one line, so that the terminal wraps it and not the source code.
        """
        own = super().get_params(ctx)
        options, waiting = list(own), [*self.commands.values(), *map(group_of, STORES)]
        for command in waiting:
            paragraphs = (command.help or "").split("\n\n")
            command.help = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
            options += command.get_params(typer.Context(command))
            waiting += getattr(command, "commands", {}).values()
        for option in options:
            if getattr(option, "is_bool_flag", False):
                option.metavar = ""
        return own


app = typer.Typer(
    name="hippocampus", cls=Commands, no_args_is_help=True, pretty_exceptions_enable=False
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
app.command("explain")(replay.explain)
app.command("status")(hosts.status)
app.command("install")(hosts.install)
app.command("proxy")(hosts.proxy)
app.command("mcp")(hosts.mcp)
app.add_typer(memory.app, name="memory")
app.add_typer(policy.app, name="policy")
app.command("tune", rich_help_panel=RECORDINGS)(replay.tune)
app.command("study", rich_help_panel=RECORDINGS)(replay.study)
app.command("study-recall", rich_help_panel=RECORDINGS)(replay.study_recall)
app.command("trial", rich_help_panel=RECORDINGS)(replay.trial)
app.add_typer(replay.bench, name="bench", rich_help_panel=RECORDINGS)
app.command("uninstall", rich_help_panel=AGENTS)(hosts.uninstall)
app.command("hook", rich_help_panel=AGENTS)(hosts.hook)
app.command("consolidate", cls=StateCommand, rich_help_panel=STATE)(housekeeping.consolidate)
app.command("doctor", rich_help_panel=STATE)(housekeeping.doctor)
app.command("forget", cls=StateCommand, rich_help_panel=STATE)(housekeeping.forget)
app.command("gc", rich_help_panel=STATE)(housekeeping.gc)
app.command("defrag", rich_help_panel=STATE)(housekeeping.defrag)
app.add_typer(housekeeping.store, name="store", rich_help_panel=STATE)


@functools.cache
def command() -> Any:
    """Return `app` as a command; cached, since reading all signatures takes 25 ms."""
    return typer.main.get_command(app)
