"""The command line: parses arguments, calls the package, prints results."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command line; an error of ours, or of a file, is one sentence on stderr and exit status 2."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by the caller
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))
    if sys.argv[1:2] == ["hook"] and "--help" not in sys.argv:  # an agent waits for its hooks
        from hippocampus.integrations import hooks

        hooks.main(sys.argv[2:])
        os._exit(0)  # an orderly exit would first free the vocabulary, while the agent waits
    from hippocampus.cli.fact_database import retrieve_fast

    if retrieve_fast(sys.argv[1:]):  # a hook runs it at every prompt
        return
    from hippocampus.cli.commands import command
    from hippocampus.errors import HippocampusError
    from hippocampus.formats.json_text import visible

    try:
        command()()
    except (HippocampusError, OSError) as problem:
        print(visible(f"hippocampus: {problem}"), file=sys.stderr)  # noqa: T201 - a command prints
        sys.exit(2)
