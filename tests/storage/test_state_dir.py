"""A state directory: every file in it stands where its layout names it."""

from __future__ import annotations

import contextlib
import re
import time
from pathlib import Path

import pytest
from conversations import EAGER, reading

import hippocampus
from hippocampus import Hippocampus, StoreError
from hippocampus.storage.engines import is_address
from hippocampus.storage.state_dir import StateDir


def test_each_file_of_a_session_is_one_that_the_layout_names(tmp_path: Path) -> None:
    state = StateDir(tmp_path)
    memory = Hippocampus(tmp_path, policy=EAGER)
    with memory.session("one") as session:
        session([*reading(4), {"role": "user", "content": "Remember: the port is 8088."}])
        session.recall(session.entries[0].id, head=3)
    memory.session("two")(reading(2))
    known = {
        state.database,
        state.memory_file(),
        state.daily_log(time.strftime("%Y-%m-%d", time.gmtime())),
        state.memory_lock,
    }
    found = [path for path in tmp_path.rglob("*") if path.is_file()]
    logs = tuple(f"{path}{end}" for path in known for end in ("-wal", "-shm", "-open"))
    others = [path for path in found if path not in known and not str(path).endswith(logs)]
    assert all(state.contents in path.parents for path in others)
    memory.close()


def test_agents_of_any_name_come_back(tmp_path: Path) -> None:
    state, names = StateDir(tmp_path), ["a b", "../x", "ü/%2F"]
    for name in names:
        state.memory_file(name).touch()
    assert state.agents()[0] == "default"
    assert sorted(state.agents()[1:]) == sorted(names)


def test_no_other_module_joins_a_path_of_a_state_directory() -> None:
    layout = [name for name, each in vars(StateDir).items() if isinstance(each, property)]
    names = {re.escape(getattr(StateDir(Path("s")), name).name) for name in layout}
    joined = re.compile(rf"""/ ["']({"|".join(sorted(names))})["']""")
    root = Path(hippocampus.__file__).parent
    found = [
        f"{path.relative_to(root)}: {match[0]}"
        for path in root.rglob("*.py")
        if path.name != "state_dir.py"
        for match in joined.finditer(path.read_text())
    ]
    assert found == []


@pytest.mark.parametrize("path", ["C://agents/state", "runs/http://host"])
def test_a_path_with_the_sign_of_an_address_is_a_path(path: str) -> None:
    assert not is_address(path)


@pytest.mark.parametrize("address", ["postgresq://ann:pass@db/acme", "mysql://db/acme"])
def test_an_address_of_something_else_makes_no_directory(address: str, tmp_path: Path) -> None:
    with (
        contextlib.chdir(tmp_path),
        pytest.raises(StoreError, match="name a directory, or postgresql://"),
    ):
        Hippocampus(address, tenant="acme")
    assert not list(tmp_path.iterdir())
