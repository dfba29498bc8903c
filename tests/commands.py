"""The command line as tests run it: in this process, which costs milliseconds, or in one of its own."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from hippocampus.cli import main

Done = subprocess.CompletedProcess[str]


def _environment(more: Mapping[str, str] | None) -> dict[str, str]:
    """Return this process's variables without those of hippocampus, and some more."""
    own = {name: each for name, each in os.environ.items() if not name.startswith("HIPPOCAMPUS_")}
    return {**own, "COLUMNS": "200", "NO_COLOR": "1", **(more or {})}


def run(
    *arguments: object, cwd: Path, stdin: str = "", env: Mapping[str, str] | None = None
) -> Done:
    """Run a command in this process as `main` does; what it does not catch is raised."""
    told = [str(each) for each in arguments]
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    given = io.TextIOWrapper(io.BytesIO(stdin.encode()), "utf-8")
    log = logging.StreamHandler(err)  # as `logging.lastResort` in a process of its own
    log.setLevel(logging.WARNING)
    status: object = 0
    logging.getLogger().addHandler(log)
    try:
        with contextlib.chdir(cwd), pytest.MonkeyPatch.context() as patch:
            variables = _environment(env)
            for name in os.environ.keys() - variables:
                patch.delenv(name)
            for name, value in variables.items():
                patch.setenv(name, value)
            patch.setattr(sys, "argv", ["hippocampus", *told])
            patch.setattr(sys, "stdin", given)
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "stderr", err)
            main()
    except SystemExit as ended:
        status = ended.code or 0
    finally:
        logging.getLogger().removeHandler(log)
    stdout, stderr = (each.buffer.getvalue().decode() for each in (out, err))
    return subprocess.CompletedProcess(told, status, stdout, stderr)


def run_apart(
    *arguments: object, cwd: Path, stdin: str = "", env: Mapping[str, str] | None = None
) -> Done:
    """Run a command in a process of its own, in which every warning is an error."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-P", "-m", "hippocampus", *map(str, arguments)],
        input=stdin,
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=cwd,
        env=_environment(env),
        check=False,
    )
