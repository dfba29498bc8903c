"""Tools that run Python in the session's directory, with no environment but a fixed one."""

from __future__ import annotations

import subprocess
import sys

from recorder.workspace import Workspace

PYTEST = ("-m", "pytest", "-p", "no:cacheprovider", "--no-header", "--color=no", "--rootdir=.")
ENVIRONMENT = {
    "COLUMNS": "100",
    "LANG": "C.UTF-8",
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONHASHSEED": "0",
}


def run_tests(workspace: Workspace, arguments: list[str]) -> str:
    """Run pytest beside `work/` and return its output and exit code."""
    return _run(workspace, *PYTEST, *arguments)


def run_python(workspace: Workspace, code: str) -> str:
    """Run a piece of Python beside `work/` and return its output and exit code."""
    return _run(workspace, "-c", code)


def _run(workspace: Workspace, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=workspace.work.parent,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    return workspace.hide(f"{done.stdout}[exit code {done.returncode}]")
