"""What every test shares: the profiles of hypothesis, the quick tests, and a memory on disk."""

from __future__ import annotations

import functools
import gc
import os
import shutil
import ssl
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import postgres_server
import pytest
import typer
import typer.testing
from conversations import EAGER
from hypothesis import HealthCheck, settings

from hippocampus import Hippocampus
from hippocampus.policy import yaml_files
from hippocampus.session.session import Session
from hippocampus.storage import database

if TYPE_CHECKING:
    from bucket_server import Bucket

settings.register_profile(
    "nightly",
    max_examples=1_000,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.register_profile(
    "few", settings.get_profile("nightly"), max_examples=10, derandomize=True, database=None
)
settings.load_profile("few")

TESTS = Path(__file__).parent
QUICK = (
    "entries/",
    "facts/test_pure.py",
    "formats/",
    "indexing/",
    "policy/",
    "prices/",
    "recall/test_slices.py",
    "replay/test_uses.py",
    "secrets/",
    "session/test_lifecycle.py",
    "session/test_plan.py",
)
"""Rooms and files whose tests start no process; `-m quick` collects no others."""

CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "AWS_REGION": "us-east-1",
}
MEMORY = Path("/dev/shm")
ROOM_BYTES = 2 << 30


def pytest_configure() -> None:
    """Make temporary files in memory where there is room, so that no test waits for a disk.

    Bytecode is kept, whatever the environment wants: a hundred processes would compile the package.
    The garbage collector looks for cycles less often: tests make few, and it takes its time.
    """
    gc.set_threshold(100_000, 20)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ROOM_BYTES:
        os.environ.setdefault("TMPDIR", str(MEMORY))
        tempfile.tempdir = None  # it is looked up again


def pytest_addoption(parser: pytest.Parser) -> None:
    text = "open each session anew before each of its calls, but in tests marked `one_process`"
    parser.addoption("--anew", action="store_true", help=text)


def _is_quick(path: Path) -> bool:
    return path.relative_to(TESTS).as_posix().startswith(QUICK)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    is_test = collection_path.suffix == ".py"
    return (
        is_test and config.option.markexpr == "quick" and not _is_quick(collection_path)
    ) or None


def pytest_collection_finish() -> None:
    """Let the garbage collector leave alone what stays: thousands of tests, and their modules."""
    gc.freeze()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.option.anew:
        items[:] = [item for item in items if not item.get_closest_marker("one_process")]
    for item in items:
        if _is_quick(item.path):
            item.add_marker(pytest.mark.quick)


@pytest.fixture(scope="session", autouse=True)
def one_mark() -> Iterator[None]:
    """Give all states the same letters for their ids, so that tests can compare views of two of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(database, "new_mark", lambda: "aa")
        yield


@pytest.fixture(scope="session", autouse=True)
def anew(request: pytest.FixtureRequest) -> Iterator[None]:
    """With `--anew`, open each session anew before each of its calls, as another worker would."""
    taken = Session._take_turn

    def taken_anew(session: Session, *call: Any) -> Any:
        if not session._is_closed:
            names, rules, info = session._tool_names, session._run.rules, session._run.info
            session.release()
            session.__init__(session.id, session._resources, info)  # type: ignore[misc]
            kept = {"session": rules.session, "recall_names": rules.recall_names}
            session._tool_names, session._run.rules = names, replace(session._run.rules, **kept)
        return taken(session, *call)

    with pytest.MonkeyPatch.context() as patch:
        if request.config.option.anew:
            patch.setattr(Session, "_take_turn", taken_anew)
        yield


@pytest.fixture(scope="session", autouse=True)
def patience() -> Iterator[None]:
    """Let a loaded machine take its time for a turn, but where a test sets the deadline."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(Hippocampus.__init__.__kwdefaults__, "deadline_seconds", 10.0)
        yield


@pytest.fixture(scope="session", autouse=True)
def read_commands() -> Iterator[None]:
    """Read the signatures of all commands once, not for each command that a test runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.testing, "_get_command", functools.cache(typer.main.get_command))
        yield


@pytest.fixture(scope="session", autouse=True)
def read_policies() -> Iterator[None]:
    """Parse the text of each policy once, not for each memory that a test opens."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(yaml_files, "read", functools.cache(yaml_files.read))
        yield


@pytest.fixture(scope="session", autouse=True)
def certificates() -> Iterator[None]:
    """Read the machine's certificates once, not for each client: servers of tests are on loopback."""
    with pytest.MonkeyPatch.context() as patch:
        cached = functools.cache(ssl.create_default_context)
        patch.setattr(ssl, "create_default_context", cached)
        yield


@pytest.fixture(scope="session")
def postgres() -> Iterator[postgres_server.Server]:
    with postgres_server.running() as server:
        yield server


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hippocampus]:
    """A memory that shortens all it can; whatever a module put there is undamaged at its end."""
    made = Hippocampus(tmp_path_factory.mktemp("state"), policy=EAGER)
    yield made
    assert made._store.check() == []
    made.close()


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture(scope="session")
def bucket_server() -> Iterator[Bucket]:
    pytest.importorskip("obstore")
    pytest.importorskip("moto.server")
    from bucket_server import Bucket

    with pytest.MonkeyPatch.context() as patch:
        for name, value in CREDENTIALS.items():
            patch.setenv(name, value)
        made = Bucket()
    yield made
    made.server.stop()


@pytest.fixture
def bucket(bucket_server: Bucket, monkeypatch: pytest.MonkeyPatch) -> Bucket:
    """Return an empty bucket `payloads` of an S3 server that the environment names."""
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_ENDPOINT", bucket_server.address)
    bucket_server.empty()
    return bucket_server
