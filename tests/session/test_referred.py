"""A host's "unchanged since last read": the text that it points at, in the result that points."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conversations import managed, no_fallback

from hippocampus import Hippocampus, Policy, policy
from hippocampus.prices import TABLES

Item = dict[str, Any]
MAIL = "ada.lovelace@orders.example"
TEXT = (
    "\n".join(f"{n}\tdef step_{n}(order): return order.total * {n}" for n in range(1, 200)) + MAIL
)
POINTERS = [
    "File unchanged since last read. The content from the earlier Read tool_result is still current.",
    "Wasted call — file unchanged since your last Read. Refer to that earlier tool_result instead.",
    "The file has not changed since you last read it.",
]


def steps(pointer: str, between: int, path: str = "shop/orders.py") -> list[Item]:
    """A file is read, other calls follow, and the host answers the same read by a pointer."""
    results = [("shop/orders.py", TEXT)]
    results += [(f"shop/part{n}.py", f"part {n}") for n in range(between)]
    items: list[Item] = [{"role": "user", "content": "Mend the orders."}]
    for number, (name, text) in enumerate([*results, (path, pointer)]):
        use = {"type": "tool_use", "id": f"c{number}", "name": "Read", "input": {"file_path": name}}
        result = {"type": "tool_result", "tool_use_id": f"c{number}", "content": text}
        items += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    return items


def last_result(items: list[Item], folder: Path, chosen: Policy, *, anew: bool = False) -> str:
    """Return the text of the last result of the view, the session opened anew before the last call."""
    memory = Hippocampus(folder, policy=chosen, prices=TABLES["none"])
    session = memory.session("s")
    with no_fallback():
        for end in range(1, len(items) + 1, 2):
            if anew and end == len(items):
                memory.close()
                memory = Hippocampus(folder, policy=chosen, prices=TABLES["none"])
                session = memory.session("s")
            view = session(items[:end])
    memory.close()
    [block] = view[-1]["content"]
    return str(block["content"])


@pytest.mark.parametrize("pointer", POINTERS)
def test_an_old_read_stands_where_the_host_points_at_it(pointer: str, tmp_path: Path) -> None:
    items = steps(pointer, between=12)
    shown = last_result(items, tmp_path / "one", policy.load("default"))
    assert "def step_7(order): return order.total * 7" in shown
    assert last_result(items, tmp_path / "two", policy.load("default"), anew=True) == shown


@pytest.mark.parametrize(("between", "path"), [(3, "shop/orders.py"), (12, "shop/other.py")])
def test_a_pointer_at_a_read_that_stands_in_full_or_at_none_stays(
    between: int, path: str, tmp_path: Path
) -> None:
    items = steps(POINTERS[0], between, path)
    assert last_result(items, tmp_path, policy.load("default")) == POINTERS[0]


def test_a_long_wait_alone_adds_no_text(tmp_path: Path) -> None:
    """Law 3: where no edit of the past pays, the first reading stands, and the view is the list."""
    chosen = policy.load("default").model_copy(update={"fade_below": 0.01, "digest_below": 0.01})
    assert last_result(steps(POINTERS[0], between=12), tmp_path, chosen) == POINTERS[0]


def test_a_pointer_at_a_pointer_with_the_text_stays_after_a_restart(tmp_path: Path) -> None:
    """The pointer before it has the text, whether or not it was there when the session opened."""
    again = [*steps(POINTERS[0], between=12), *steps(POINTERS[1], between=2)[3:]]
    items: list[Item] = json.loads(json.dumps(again))
    for number, item in enumerate(items[1:]):
        [block] = item["content"]
        block["id" if "id" in block else "tool_use_id"] = f"c{number // 2}"
    chosen = policy.load("default")
    assert last_result(items, tmp_path, chosen) == POINTERS[1]
    with managed(tmp_path, policy=chosen) as session:
        assert session(items)[-1] == items[-1]


def test_a_policy_that_shortens_nothing_leaves_it(tmp_path: Path) -> None:
    chosen = policy.load("default").model_copy(update={"compression": "none"})
    assert last_result(steps(POINTERS[0], between=12), tmp_path, chosen) == POINTERS[0]


def test_what_a_rule_redacts_stays_away(tmp_path: Path) -> None:
    rules = [{"match": {"tool": "Read"}, "action": {"redact": "email"}}]
    fields = {**policy.load("default").model_dump(), "lifecycle_policies": rules}
    chosen = Policy.model_validate(fields)
    shown = last_result(steps(POINTERS[0], between=12), tmp_path, chosen)
    assert "step_8(order)" in shown
    assert MAIL not in shown


def test_the_hosts_own_list_is_not_touched(tmp_path: Path) -> None:
    items = steps(POINTERS[0], between=12)
    before = json.dumps(items)
    last_result(items, tmp_path, policy.load("default"))
    assert json.dumps(items) == before


def test_a_pointer_stays_after_a_restart_where_calls_have_no_ids(tmp_path: Path) -> None:
    """A later read of the file has the text that the pointer would have got, under the same id."""
    results = [("orders.py", TEXT), ("orders.py", POINTERS[0]), ("orders.py", TEXT)]
    results += [(f"part{n}.py", f"part {n}") for n in range(12)]
    items: list[Item] = [{"role": "user", "parts": [{"text": "Mend the orders."}]}]
    for name, text in results:
        call = {"name": "Read", "args": {"file_path": name}}
        result = {"name": "Read", "response": {"output": text}}
        items.append({"role": "model", "parts": [{"functionCall": call}]})
        items.append({"role": "user", "parts": [{"functionResponse": result}]})
    shown = []
    for anew in (False, True):
        folder = tmp_path / str(anew)
        memory = Hippocampus(folder, prices=TABLES["none"])
        session = memory.session("s")
        with no_fallback():
            for end in range(1, len(items) + 1, 2):
                if anew:
                    memory.close()
                    memory = Hippocampus(folder, prices=TABLES["none"])
                    session = memory.session("s")
                view = session(items[:end])
        memory.close()
        shown.append(view[4]["parts"][0]["functionResponse"]["response"]["output"])
    assert shown == [POINTERS[0]] * 2
