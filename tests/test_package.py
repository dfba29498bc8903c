"""The package: silent to import, whole in its wheel, and its policies found in every install."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import hippocampus
from hippocampus.facts.store import Facts

ROOT = Path(__file__).parent.parent
IMPORTED = """
import sys
opened = []
def watch(event, arguments):
    if event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+"):
        opened.append(arguments[0])
    if event.startswith(("socket.", "sqlite3.", "subprocess.")):
        opened.append(event)
sys.dont_write_bytecode = True
sys.addaudithook(watch)
before = set(sys.modules)
import hippocampus
loaded = {name.partition(".")[0] for name in set(sys.modules) - before}
ours = loaded - set(sys.stdlib_module_names)
assert ours == {"hippocampus"}, ours
assert not opened, opened
"""
SMALL_SESSION = """
import sys
from hippocampus import Hippocampus
memory = Hippocampus("state", model="claude-sonnet-5-5")
call = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
items = [
    {"role": "user", "content": "Read it."},
    {"role": "assistant", "content": None, "tool_calls": [call]},
    {"role": "tool", "tool_call_id": "c1", "content": str(list(range(9_000)))},
]
with memory.session("s") as session:
    session(items)
    from hippocampus.models import tokens
    assert not tokens._vocabulary.cache_info().currsize, "tiktoken's tables"
    assert not {"asyncio", "ssl"} & set(sys.modules), "for another process, or another machine"
memory.close()
print([name for name in ("numpy", "httpx2", "onnxruntime", "psycopg") if name in sys.modules])
import genai_prices
from genai_prices import UpdatePrices, types  # all of it is there for another who asks
assert genai_prices.calc_price and not hasattr(genai_prices, "nothing")
"""
RETRIEVAL = """
import io, sys
from pathlib import Path
sys.stdin = io.TextIOWrapper(io.BytesIO(b"Where is the boiler?"))
from hippocampus.cli.fact_database import retrieve
retrieve("default", None, 500, Path("memory.sqlite3"), as_json=False)
print([name for name in ("numpy", "pydantic", "typer") if name in sys.modules])
"""
SHIPPED = """
import hippocampus
from hippocampus.policy import load, shipped
assert "default" in shipped()
assert {load(name).name for name in shipped()} == set(shipped())
print(hippocampus.__file__)
"""


def test_importing_writes_nothing_prints_nothing_loads_nothing(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", IMPORTED],
        capture_output=True, text=True, cwd=tmp_path, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert list(tmp_path.iterdir()) == []


def test_a_small_session_loads_nothing_that_it_does_not_need(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SMALL_SESSION],
        capture_output=True, text=True, cwd=tmp_path, check=False,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_a_prompt_waits_for_no_library_that_its_retrieval_does_not_need(tmp_path: Path) -> None:
    with Facts(tmp_path / "memory.sqlite3") as facts:
        facts.remember("The boiler is in the cellar.")
    done = subprocess.run(
        [sys.executable, "-c", RETRIEVAL],
        capture_output=True, text=True, cwd=tmp_path, check=False,
    )  # fmt: skip
    assert "The boiler is in the cellar." in done.stdout
    assert (done.stdout.splitlines()[-1], done.stderr) == ("[]", "")


def test_a_shell_completes_the_public_names() -> None:
    assert dir(hippocampus) == hippocampus.__all__


def test_every_public_name_is_there() -> None:
    names = hippocampus.__all__
    assert [getattr(hippocampus, name).__name__ for name in names] == names


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Hipocampus'"):
        hippocampus.Hipocampus  # noqa: B018 - looking it up is the test


HAS_PIP = importlib.util.find_spec("pip") is not None
HAS_HATCHLING = all(map(importlib.util.find_spec, ("hatchling", "hatch_fancy_pypi_readme")))


@pytest.mark.slow
@pytest.mark.skipif(not HAS_PIP, reason="no pip in this environment")
@pytest.mark.parametrize("how", ["wheel", "editable"])
def test_an_install_brings_its_policies(tmp_path: Path, how: str) -> None:
    """In a fresh environment, which borrows only the dependencies from this one."""
    copy = _copy(tmp_path / "copy")
    _done([sys.executable, "-m", "venv", "--without-pip", "venv"], tmp_path)
    python = next((tmp_path / "venv").glob("[bS]*/python*"))
    what = [_wheel(copy, tmp_path)] if how == "wheel" else ["-e", copy]
    pip = [sys.executable, "-m", "pip", "--quiet", "--python", python, "install", "--no-deps"]
    _fetching([*pip, *what], tmp_path)
    borrowed = [path for path in sys.path if path.endswith("-packages")]
    told = _done([python, "-c", f"import sys; sys.path += {borrowed!r}\n{SHIPPED}"], tmp_path)
    home = tmp_path / "venv" if how == "wheel" else copy
    assert Path(told.strip()).is_relative_to(home)


@pytest.mark.slow
@pytest.mark.skipif(not HAS_PIP, reason="no pip in this environment")
def test_the_built_package_runs_under_its_own_name_and_its_page_has_no_dead_link(
    tmp_path: Path,
) -> None:
    with zipfile.ZipFile(_wheel(_copy(tmp_path / "copy"), tmp_path)) as wheel:
        [info] = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
        metadata = wheel.read(info).decode()
        scripts = wheel.read(info.replace("METADATA", "entry_points.txt")).decode()
    assert scripts.count(" = hippocampus.cli:main") == 2
    assert "hippocampus-context = hippocampus.cli:main" in scripts
    assert re.findall(r"\]\((?!https?:)[^)]*\)", metadata) == []
    assert f"Version: {hippocampus.__version__}" in metadata


def _copy(folder: Path) -> Path:
    """Copy what a build needs, so that none leaves a trace in the sources."""
    folder.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    for name in ("hippocampus", "policies"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def _wheel(source: Path, folder: Path) -> Path:
    """Build with the hatchling that is here, or else with one that pip fetches."""
    how = ["--no-build-isolation"] if HAS_HATCHLING else []
    pip = [sys.executable, "-m", "pip", "--quiet", "wheel", "--no-deps", "-w", folder, *how]
    _fetching([*pip, source], folder)
    return next(folder.glob("*.whl"))


def _fetching(command: list[object], cwd: Path) -> None:
    """Run pip; where the build tools are not here and cannot be fetched, skip."""
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False)
    if "No matching distribution found for" in done.stderr:
        pytest.skip(f"pip cannot fetch the build tools: {done.stderr[-200:]}")
    assert done.returncode == 0, done.stderr


def _done(command: list[object], cwd: Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
