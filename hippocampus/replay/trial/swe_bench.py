"""Tasks in the form of SWE-bench as folders: a repository at a commit, its issue, and tests that have to pass.

Source: Jimenez et al. 2024. Nothing is downloaded: the repositories are clones on this machine.
"""

from __future__ import annotations

import io
import re
import shlex
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any

from hippocampus.errors import StoreError
from hippocampus.formats import json_text

FIELDS = (
    "instance_id",
    "repo",
    "base_commit",
    "problem_statement",
    "test_patch",
    "FAIL_TO_PASS",
)
TESTED = re.compile(r"^(?:---|\+\+\+) [ab]/(.+)$", re.MULTILINE)
AUTHOR = ("-c", "user.name=trial", "-c", "user.email=trial@localhost")


def write_tasks(file: Path, clones: Path, folder: Path, test_command: str) -> Path:
    """Write a folder for each task of a file (JSON lines, or a JSON list), and return their folder.

    `clones` has the repositories as `owner/name` or `owner__name`; `test_command` gets the names of
    the tests. A task that is there already stays.

    Raises:
        StoreError: a task lacks a field, a clone or a commit.
    """
    text = file.read_text("utf-8", "replace")
    listed = json_text.read(text, None)
    lines = (line for line in text.splitlines() if line.strip())
    tasks = listed if isinstance(listed, list) else [json_text.read(line, None) for line in lines]
    for number, task in enumerate(tasks, 1):
        missing = [name for name in FIELDS if not isinstance(task, dict) or name not in task]
        if missing:
            raise StoreError(f"{file}: task {number} has no {', '.join(missing)}")
        home = folder / re.sub(r"[^\w.-]", "_", task["instance_id"])
        if not home.exists():
            half = folder / ".writing"
            shutil.rmtree(half, ignore_errors=True)
            _write(task, _clone_of(task["repo"], clones), half, home / "test.patch", test_command)
            half.rename(home)
    return folder


def _clone_of(repository: str, clones: Path) -> Path:
    for name in (repository, repository.replace("/", "__")):
        if (clones / name).is_dir():
            return clones / name
    raise StoreError(
        f"{clones} has no clone of {repository}: git clone it as {clones / repository}"
    )


def _write(task: dict[str, Any], clone: Path, home: Path, patch: Path, test_command: str) -> None:
    """Write one task; later commits of its repository are not in the workspace."""
    work = home / "workspace"
    work.mkdir(parents=True)
    archive = _git(clone, "archive", "--format=tar", task["base_commit"])
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        tar.extractall(work, filter="data")
    for command in (["init", "-q"], ["add", "-A", "-f"], [*AUTHOR, "commit", "-qm", "start"]):
        _git(work, *command)
    _git(work, "tag", "start")
    (home / "prompt.md").write_text(task["problem_statement"], "utf-8")
    (home / patch.name).write_text(task["test_patch"], "utf-8")
    restored = "\n".join(
        f"git checkout -q start -- {name} 2>/dev/null || rm -f {name}"
        for name in map(shlex.quote, dict.fromkeys(TESTED.findall(task["test_patch"])))
    )
    tests = [*_names(task["FAIL_TO_PASS"]), *_names(task.get("PASS_TO_PASS", []))]
    verify = home / "verify"
    verify.write_text(
        f"#!/bin/sh\n{restored}\ngit apply {shlex.quote(str(patch.absolute()))} || exit 1\n"
        f"{test_command} {shlex.join(tests)}\n",
        "utf-8",
    )
    verify.chmod(0o755)


def _names(listed: Any) -> list[str]:
    """Return the names of tests, which files have as a list or as its JSON."""
    names: list[str] = json_text.read(listed, []) if isinstance(listed, str) else listed
    return names


def _git(folder: Path, *command: str) -> bytes:
    done = subprocess.run(  # noqa: S603 - a program of the user's, on the user's own clones
        ["git", "-C", str(folder), *command],  # noqa: S607
        capture_output=True,
        check=False,
    )
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise StoreError(f"{folder}: git {command[0]}: {said}")
    return done.stdout
