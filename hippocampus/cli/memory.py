"""`hippocampus memory`: the fact store at the command line, under the verbs of hippo, crib and scriptling.

Only the names of the commands are here; nothing is loaded that `--help` does not need.
"""

from __future__ import annotations

import typer

from hippocampus.cli import memory_agent, memory_changing, memory_looking, memory_pipes

app = typer.Typer(
    help="Remember, recall, inspect and move long-term memory.",
    no_args_is_help=True,
    add_completion=False,
)
for verb in (
    memory_pipes.write,
    memory_pipes.retrieve,
    memory_pipes.init,
    memory_pipes.doctor,
    memory_agent.remember,
    memory_agent.recall,
    memory_agent.forget,
    memory_agent.count,
    memory_agent.compact,
    memory_looking.stats,
    memory_looking.agents,
    memory_looking.chunks,
    memory_looking.blocks,
    memory_looking.block,
    memory_looking.search,
    memory_looking.export,
    memory_changing.delete,
    memory_changing.purge,
    memory_changing.restore,
    memory_changing.reembed,
):
    app.command(verb.__name__)(verb)
app.command("import")(memory_changing.import_)
