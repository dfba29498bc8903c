"""Which results stand for older ones: of the same call, the same tool, or the same `source.type`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conversations import PROMPT, managed, no_fallback

from hippocampus import Hippocampus, Policy, PolicyError
from hippocampus.entries.entry import ID_CHARACTERS
from hippocampus.policy import load
from hippocampus.prices import TABLES
from hippocampus.replay.readers import read_file

RECORDED = Path(__file__).parents[2] / "examples/transcripts/docs-browser.json"
Item = dict[str, Any]
Step = tuple[str, dict[str, str], str]


def page(name: str, links: int = 150) -> str:
    """A page as a browser's tools return it."""
    told = "\n".join(f'  - link "{name} {n}" [ref=e{n}]' for n in range(links))
    return f'- Page URL: https://shop.example/{name}\n- heading "{name}" [level=1]\n{told}'


def conversation(steps: list[Step], failed: frozenset[int] = frozenset()) -> list[Item]:
    items: list[Item] = [{"role": "user", "content": "Compare the prices."}]
    for number, (tool, arguments, text) in enumerate(steps):
        use = {"type": "tool_use", "id": f"c{number}", "name": tool, "input": arguments}
        result = {"type": "tool_result", "tool_use_id": f"c{number}", "content": text}
        if number in failed:
            result["is_error"] = True
        items += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    return items


SESSION: list[Step] = [
    ("browser_navigate", {"url": "https://shop.example/lamps"}, page("lamps")),
    ("browser_click", {"ref": "e4"}, page("lamp-4")),
    ("browser_type", {"ref": "e9", "text": "two"}, page("basket")),
    ("browser_snapshot", {}, page("checkout")),
]


def superseded(
    folder: Path, items: list[Item], policy: Policy, idle_seconds: float = 3_600
) -> list[bool]:
    """Say of each result whether its entry tells that something newer stands for it."""
    with managed(folder, policy=policy, prices=TABLES["anthropic-5m"]) as session:
        for end in range(1, len(items) + 1, 2):
            view = session(items[:end], idle_seconds=idle_seconds)
    blocks = [each["content"][0] for each in view if isinstance(each["content"], list)]
    results = [each for each in blocks if each["type"] == "tool_result"]
    return ["superseded at turn" in str(each["content"]) for each in results]


def by(mode: str | None, **match: str) -> Policy:
    """A policy by which pages are superseded in one way, and shown in full until then."""
    action = {} if mode is None else {"superseded_by": mode}
    types = {"browser_*": "browser.snapshot"}
    rule = {"match": match, "action": action}
    data = {"source_types": types, "fresh_turns": {"page": 9}, "lifecycle_policies": [rule]}
    return Policy.model_validate(data)


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        (None, [True, False, False, False]),
        ("call", [True, False, False, False]),
        ("tool", [True, True, False, False]),
        ("source.type", [True, True, True, False]),
    ],
)
def test_a_rule_says_by_which_later_result_one_is_superseded(
    tmp_path: Path, mode: str | None, expected: list[bool]
) -> None:
    steps: list[Step] = [
        ("browser_open", {"tab": "1"}, page("one")),
        ("browser_open", {"tab": "2"}, page("two")),
        ("browser_open", {"tab": "1"}, page("one again")),
        ("browser_look", {}, page("three")),
    ]
    assert superseded(tmp_path, conversation(steps), by(mode)) == expected


def test_what_no_rule_is_about_is_superseded_by_the_same_call_alone(tmp_path: Path) -> None:
    policy = by("source.type", tool="another")
    assert superseded(tmp_path, conversation(SESSION), policy) == 4 * [False]


def test_the_browser_policy_keeps_the_newest_page_whatever_tool_brought_it(tmp_path: Path) -> None:
    found = superseded(tmp_path, conversation(SESSION), load("browser"))
    assert found == [True, True, True, False]


@pytest.mark.parametrize("tool", ["browser_take_screenshot", "browser_console_messages"])
def test_what_is_no_page_stands_for_no_page(tmp_path: Path, tool: str) -> None:
    steps = [*SESSION, (tool, {}, page("seen"))]
    found = superseded(tmp_path, conversation(steps), load("browser"))
    assert found[3:] == [False, False]


@pytest.mark.parametrize("mode", ["call", "tool", "source.type"])
def test_a_failed_call_stands_for_no_good_result(tmp_path: Path, mode: str) -> None:
    failure = "TimeoutError: the page did not answer. " * 40
    steps: list[Step] = [
        ("browser_open", {"tab": "1"}, page("one")),
        ("browser_open", {"tab": "1"}, failure),
    ]
    items = conversation(steps, failed=frozenset({1}))
    assert superseded(tmp_path, items, by(mode)) == [False, False]


def test_a_superseded_page_comes_back_byte_for_byte(tmp_path: Path) -> None:
    items = conversation(SESSION)
    with managed(tmp_path, policy="browser") as session:
        for end in range(1, len(items) + 1, 2):
            session(items[:end], idle_seconds=3_600)
        kept = [session.entries.content(entry.id) for entry in session.entries]
    assert kept[:3] == [text for _, _, text in SESSION[:3]]


@pytest.mark.parametrize(("mode", "is_alone"), [("source.type", True), ("call", False)])
def test_in_a_recorded_browser_session_one_page_stands_in_full_until_the_next_comes(
    tmp_path: Path, mode: str, is_alone: bool
) -> None:
    """By the same call alone several stand there, each brought by another call."""
    policy = load("browser").model_copy(update={"fresh_turns": {"page": 99}})
    *others, pages, errors = policy.lifecycle_policies
    action = pages.action.model_copy(update={"superseded_by": mode})
    rules = (*others, pages.model_copy(update={"action": action}), errors)
    memory = Hippocampus(
        tmp_path,
        policy=policy.model_copy(update={"lifecycle_policies": rules}),
        prices=TABLES["anthropic-5m"],
    )
    (recording,) = read_file(RECORDED)
    in_full: list[int] = []
    ends = [at for at, item in enumerate(recording.messages, 1) if "output" in item]
    with memory.session("s") as session, no_fallback():
        for end in ends:
            view = session(recording.messages[:end], idle_seconds=3_600)
            outputs = (str(item.get("output", "")) for item in view)
            in_full.append(
                sum(each.startswith("- page: ") and len(each) > 9_000 for each in outputs)
            )
    memory.close()
    assert (max(in_full) == 1) is is_alone


def test_another_word_is_a_problem_that_names_the_three(tmp_path: Path) -> None:
    path = tmp_path / "odd.yaml"
    rule = {"match": {}, "action": {"superseded_by": "source"}}
    path.write_text(json.dumps({"lifecycle_policies": [rule]}), "utf-8")
    with pytest.raises(PolicyError, match=r"one of call, tool, source\.type; .*did you mean"):
        load(path)


def test_an_entry_names_an_older_result_that_can_be_recalled(tmp_path: Path) -> None:
    """The file stands in full since an edit there does not pay; the entry's id for it is known."""
    body = "    return os.path.join(a, 'x') + str(b)\n"
    code = "".join(f"def fn_{n}(a, b):\n{body}\n" for n in range(90))
    steps = [("grep", {"q": str(n)}, f"ok {n}") for n in range(90)]
    steps[1] = steps[60] = ("read_file", {"path": "a.py"}, code)
    items = conversation(steps)
    items[6]["content"].append({"type": "text", "text": "word " * 60_000})
    policy = PROMPT.model_copy(update={"digest_below": 0.0})
    with managed(tmp_path, policy=policy) as session:
        for end in range(1, len(items) + 1, 2):
            view = session(items[:end])
        assert view[4] == items[4]
        told = str(view[122]["content"])
        named = told.partition("the same text as at turn 2, see ")[2][:ID_CHARACTERS]
        assert session.entries.content(named) == code
        assert "fn_71" in session.recall(named, pattern="fn_71")
    with managed(tmp_path, policy=policy) as session:
        assert session(items) == view
        assert session.entries.content(named) == code


def test_a_result_is_associated_with_the_one_that_it_replaces(tmp_path: Path) -> None:
    steps = [("browser_snapshot", {}, page(name)) for name in ("lamps", "basket")]
    with managed(tmp_path, policy="browser", prices=TABLES["anthropic-5m"]) as session:
        items = conversation(steps + SESSION[:2])
        for end in range(1, len(items) + 1, 2):
            session(items[:end], idle_seconds=3_600)
        first, second, *_ = session.entries
    assert second.modifiers.associations == [first.id]
