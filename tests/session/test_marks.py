"""Cache marks of a session: where they stand in each format, and that nothing else of a view differs."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conversations import EAGER, no_fallback

from hippocampus import Hippocampus, Session
from hippocampus.formats import cache_marks
from hippocampus.formats.cache_marks import ANTHROPIC, OPENAI, marks_in
from hippocampus.prices import model_prices

HOUR = {"type": "ephemeral", "ttl": "1h"}
SHORT = {"type": "ephemeral"}
Item = dict[str, Any]


def text(number: int) -> str:
    rows = [{"id": f"row_{number:02}{n:03}", "state": "sent as asked for"} for n in range(60)]
    return json.dumps(rows)


def anthropic(count: int, mark: Item | None = SHORT, *, marks: int = 1) -> list[Item]:
    """A loop of `count` calls as a host sends it: marks on its newest user messages."""
    items: list[Item] = [{"role": "user", "content": [{"type": "text", "text": "Find the row."}]}]
    for number in range(count):
        use = {"type": "tool_use", "id": f"c{number}", "name": "rows", "input": {"n": number}}
        result = {"type": "tool_result", "tool_use_id": f"c{number}", "content": text(number)}
        items += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    for item in items[::-2][:marks] if mark else ():
        item["content"][-1] = {**item["content"][-1], "cache_control": mark}
    return items


def responses(count: int) -> list[Item]:
    items: list[Item] = [{"role": "user", "content": [{"type": "input_text", "text": "Find it."}]}]
    for number in range(count):
        call = {"type": "function_call", "call_id": f"c{number}", "name": "rows", "arguments": "{}"}
        block = {"type": "input_text", "text": text(number)}
        items += [
            call,
            {"type": "function_call_output", "call_id": f"c{number}", "output": [block]},
        ]
    return items


def without(items: Any, key: str = ANTHROPIC) -> Any:
    """A JSON value without marks."""
    if isinstance(items, dict):
        return {name: without(inner, key) for name, inner in items.items() if name != key}
    return [without(each, key) for each in items] if isinstance(items, list) else items


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Any]:
    """Return a function that opens a session in a directory of its own."""
    memories = []

    def session(marks: int = 2, model: str = "claude-sonnet-4-5") -> Session:
        folder = tmp_path / str(len(memories))
        prices = model_prices(model)
        memories.append(Hippocampus(folder, policy=EAGER, prices=prices, marks=marks))
        return memories[-1].session("marks")

    with no_fallback():
        yield session
    for memory in memories:
        memory.close()


def test_a_view_with_marks_differs_in_nothing_else(opened: Any) -> None:
    marked, plain = opened(), opened(marks=0)
    seen = 0
    for count in range(1, 30):
        items = anthropic(count)
        view, bare = marked(items), plain(items)
        assert without(view) == without(bare)
        host, ours = marks_in(bare, ANTHROPIC), marks_in(view, ANTHROPIC)
        assert {each.item for each in host} <= {each.item for each in ours}
        assert len(host) == 1
        assert len(ours) <= 3
        seen = max(seen, len(ours))
    assert seen == 3
    assert marked.report.decisions() == plain.report.decisions()
    assert marked.status()["sent_cost"] == plain.status()["sent_cost"]


def test_the_hosts_list_is_not_marked_and_the_same_call_gives_the_same_view(opened: Any) -> None:
    session = opened()
    for count in range(1, 20):
        items = anthropic(count)
        before = json.dumps(items)
        view = session(items)
        assert json.dumps(items) == before
        assert session(items) == view


def test_a_host_that_keeps_the_view_as_its_list_goes_on(opened: Any) -> None:
    session, kept = opened(), anthropic(1)
    for count in range(1, 20):
        view = without(session(kept))
        new = anthropic(count + 1)[-2:]
        kept = [*view, *new]
    assert session.report.failures == 0


def test_a_host_without_marks_gets_none(opened: Any) -> None:
    session = opened()
    views = [session(anthropic(count, None)) for count in range(1, 20)]
    assert not any(marks_in(view, ANTHROPIC) for view in views)


@pytest.mark.parametrize("hosts", [1, 2, 3, 4])
def test_one_mark_stays_free_for_the_system_prompt(opened: Any, hosts: int) -> None:
    session = opened()
    views = [session(anthropic(count, marks=hosts)) for count in range(8, 30)]
    most = max(len(marks_in(view, ANTHROPIC)) for view in views)
    assert most == max(3, hosts)


def test_marks_have_the_lifetime_of_the_hosts(opened: Any) -> None:
    session = opened()
    for count in range(1, 20):
        view = session(anthropic(count, HOUR))
        assert all(each.value == HOUR for each in marks_in(view, ANTHROPIC))
    assert len(marks_in(view, ANTHROPIC)) > 1


def test_breakpoints_stand_where_the_model_takes_them(opened: Any) -> None:
    new, old = opened(model="gpt-5.6"), opened(model="gpt-5.5")
    for count in range(1, 30):
        items = responses(count)
        view, bare = new(items), old(items)
        assert marks_in(bare, OPENAI) == []
        assert len(marks_in(view, OPENAI)) <= 2
        assert all(each.value == {"mode": "explicit"} for each in marks_in(view, OPENAI))
    assert marks_in(view, OPENAI)


def test_text_that_is_no_block_and_thinking_take_no_mark() -> None:
    plain = {"role": "user", "content": "words"}
    thinking = {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}]}
    empty = {"role": "user", "content": [{"type": "text", "text": ""}]}
    output = {"type": "function_call_output", "call_id": "c", "output": "words"}
    for item, path in ((plain, ("content",)), (thinking, ("content", 0)), (empty, ("content", 0))):
        assert cache_marks.with_mark(item, path, ANTHROPIC, SHORT) is None
    assert cache_marks.with_mark(output, ("output",), OPENAI, SHORT) is None


def test_a_session_opened_again_sets_the_same_marks(tmp_path: Path) -> None:
    """At every call, with marks of the host that move and edits of what was sent."""
    seen = set()
    memory = Hippocampus(tmp_path / "live", policy=EAGER)
    with memory.session("marks") as session, no_fallback():
        for count in range(1, 25):
            shutil.copytree(tmp_path / "live", tmp_path / str(count))
            view = session(anthropic(count))
            again = Hippocampus(tmp_path / str(count), policy=EAGER)
            assert again.session("marks")(anthropic(count)) == view
            again.close()
            seen.add(len(marks_in(view, ANTHROPIC)))
    memory.close()
    assert seen == {1, 2, 3}


def test_a_session_opened_again_goes_on_with_a_list_that_was_cut(tmp_path: Path) -> None:
    """Marks behind the cut stood on blocks that the list has no more."""
    memory = Hippocampus(tmp_path, policy=EAGER)
    session = memory.session("marks")
    with no_fallback():
        for count in range(1, 25):
            session(anthropic(count))
        session.release()
        for cut in (15, 3):
            session = memory.session("marks")
            assert without(session(anthropic(cut))) != without(anthropic(cut))
            session.release()
    memory.close()


def test_a_list_that_is_too_short_to_be_cached_gets_no_mark(opened: Any) -> None:
    session = opened()
    items: list[Item] = []
    for number in range(12):
        block = {"type": "text", "text": f"And {number}?", "cache_control": SHORT}
        items.append({"role": "user", "content": [block]})
        assert session(items) == items
        items = without(items)
        items.append({"role": "assistant", "content": [{"type": "text", "text": "Yes."}]})
