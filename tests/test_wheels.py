"""Wheels of every dependency are published for each system, machine and Python that the package names."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SYSTEMS = {
    "Linux x86_64": ["manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64"],
    "Linux arm64": ["manylinux_2_28_aarch64", "manylinux_2_17_aarch64", "manylinux2014_aarch64"],
    "macOS arm64": ["macosx_14_0_arm64"],
    "macOS x86_64": ["macosx_14_0_x86_64"],
    "Windows x86_64": ["win_amd64"],
}
"""The tags of wheels that each of them takes; pip adds those of earlier macOS."""


def resolved(folder: Path, needed: list[str], *options: str) -> bool:
    """Return whether pip finds wheels of requirements, and of all that these require; none is installed."""
    pip = [sys.executable, "-m", "pip", "install", "-q", "--dry-run", "--ignore-installed"]
    own = ["--only-binary=:all:", "--target", str(folder / "target"), *options]
    return subprocess.run([*pip, *own, *needed], capture_output=True, check=False).returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13", "3.14"])
@pytest.mark.parametrize("system", SYSTEMS)
def test_pip_finds_a_wheel_of_every_dependency(tmp_path: Path, system: str, version: str) -> None:
    """With google-re2, which is an extra: where it has none, the package runs without it."""
    if not resolved(tmp_path, ["diskcache"]):
        pytest.skip("pip reaches no index")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    needed = [*project["dependencies"], *project["optional-dependencies"]["re2"]]
    options = [f"--platform={tag}" for tag in SYSTEMS[system]]
    assert resolved(tmp_path, needed, "--python-version", version, *options)
