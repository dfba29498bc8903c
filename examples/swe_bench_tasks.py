"""Writes the tasks of a file of SWE-bench for `hippocampus trial`: python examples/swe_bench_tasks.py FILE CLONES OUT.

Each becomes a folder: a repository at a commit, its issue, and tests that have to pass. Source:
Jimenez et al. 2024. Nothing is downloaded: the repositories are clones on this machine.
"""

from __future__ import annotations

import argparse
import io
import json
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

FIELDS = ("instance_id", "repo", "base_commit", "problem_statement", "test_patch", "FAIL_TO_PASS")
TESTED = re.compile(r"^(?:---|\+\+\+) [ab]/(.+)$", re.MULTILINE)
AUTHOR = ("-c", "user.name=trial", "-c", "user.email=trial@localhost")


def main() -> None:
    """Write a folder for each task; one that is there already stays."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, help="JSON lines, or a JSON list")
    parser.add_argument("clones", type=Path, help="the repositories, as owner/name or owner__name")
    parser.add_argument("out", type=Path)
    parser.add_argument("--tests", default="python3 -m pytest -q", help="gets the names of tests")
    given = parser.parse_args()
    for number, task in enumerate(tasks_in(given.file), 1):
        missing = [name for name in FIELDS if not isinstance(task, dict) or name not in task]
        if missing:
            sys.exit(f"{given.file}: task {number} has no {', '.join(missing)}")
        home = given.out / re.sub(r"[^\w.-]", "_", task["instance_id"])
        if not home.exists():
            half = given.out / ".writing"
            shutil.rmtree(half, ignore_errors=True)
            clone = clone_of(task["repo"], given.clones)
            write(task, clone, half, home / "test.patch", given.tests)
            half.rename(home)


def tasks_in(file: Path) -> list[Any]:
    """Return the tasks of a file."""
    text = file.read_text("utf-8")
    try:
        if text.startswith("["):
            return json.loads(text)
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    except ValueError as error:
        sys.exit(f"{file} is not JSON: {error}")


def clone_of(repository: str, clones: Path) -> Path:
    """Return the clone of a repository."""
    for name in (repository, repository.replace("/", "__")):
        if (clones / name).is_dir():
            return clones / name
    sys.exit(f"{clones} has no clone of {repository}: git clone it as {clones / repository}")


def write(task: dict[str, Any], clone: Path, home: Path, patch: Path, test_command: str) -> None:
    """Write one task; later commits of its repository are not in the workspace."""
    work = home / "workspace"
    work.mkdir(parents=True)
    archive = git(clone, "archive", "--format=tar", task["base_commit"])
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        tar.extractall(work, filter="data")
    for command in (["init", "-q"], ["add", "-A", "-f"], [*AUTHOR, "commit", "-qm", "start"]):
        git(work, *command)
    git(work, "tag", "start")
    (home / "prompt.md").write_text(task["problem_statement"], "utf-8")
    (home / patch.name).write_text(task["test_patch"], "utf-8")
    restored = "\n".join(
        f"git checkout -q start -- {name} 2>/dev/null || rm -f {name}"
        for name in map(shlex.quote, dict.fromkeys(TESTED.findall(task["test_patch"])))
    )
    tests = [*names(task["FAIL_TO_PASS"]), *names(task.get("PASS_TO_PASS", []))]
    verify = home / "verify"
    verify.write_text(
        f"#!/bin/sh\n{restored}\ngit apply {shlex.quote(str(patch.absolute()))} || exit 1\n"
        f"{test_command} {shlex.join(tests)}\n",
        "utf-8",
    )
    verify.chmod(0o755)


def names(listed: str | list[str]) -> list[str]:
    """Return the names of tests, which files have as a list or as its JSON."""
    return json.loads(listed) if isinstance(listed, str) else listed


def git(folder: Path, *command: str) -> bytes:
    """Return what a git command prints."""
    done = subprocess.run(["git", "-C", folder, *command], capture_output=True, check=False)
    if done.returncode:
        sys.exit(f"{folder}: git {command[0]}: {done.stderr.decode('utf-8', 'replace').strip()}")
    return done.stdout


if __name__ == "__main__":
    main()
