"""Deep compaction: under a budget old turns become digests, and everything comes back."""

from __future__ import annotations

import bisect
import contextlib
import itertools
import json
import re
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conversations import (
    Rounds,
    any_rounds,
    chat_call,
    chat_step,
    growing,
    managed,
    no_fallback,
    reading,
)
from hypothesis import given
from hypothesis import strategies as st

from hippocampus import Hippocampus, Policy
from hippocampus.errors import ViewError
from hippocampus.formats.conversation import unpaired
from hippocampus.formats.reader import read
from hippocampus.models.tokens import count_message
from hippocampus.policy import load
from hippocampus.prices import TABLES
from hippocampus.session import history
from hippocampus.session.compaction import spans_between
from hippocampus.session.digest import Room, Steps, lines_of, root_of, transcript
from hippocampus.session.history import History, Span
from hippocampus.session.view import View
from hippocampus.session.work_files import WorkFile
from hippocampus.storage.content_store import DiskStore
from hippocampus.storage.state import DirectoryState
from hippocampus.storage.state_dir import StateDir
from hippocampus.storage.verify import verify

TIGHT = Policy(budget_tokens=1_500)
WINDOW = replace(TABLES["anthropic-5m"], window_tokens=8_000)


def size(items: list[dict[str, Any]]) -> int:
    return sum(map(count_message, read(items)))


def long_talk(rounds: int) -> list[dict[str, Any]]:
    """Many small turns, none large enough for an entry of its own."""
    items: list[dict[str, Any]] = [{"role": "user", "content": "Count the rooms of the house."}]
    for number in range(rounds):
        said = f"Looking into room_{number} next, as asked."
        room, found = {"room": f"room_{number}"}, f"door_{number} " * 20
        items += chat_step(f"c{number}", "look", room, found, said)
    return items


def as_bedrock(number: int) -> list[dict[str, Any]]:
    use = {"toolUseId": f"c{number}", "name": "look", "input": {"room": number}}
    thought = {"reasoningContent": {"reasoningText": {"text": "Next.", "signature": "s"}}}
    found = {"toolUseId": f"c{number}", "content": [{"text": f"door_{number} " * 60}]}
    return [
        {"role": "assistant", "content": [thought, {"toolUse": use}]},
        {"role": "user", "content": [{"toolResult": found}]},
    ]


def as_gemini(number: int) -> list[dict[str, Any]]:
    found = {"name": "look", "response": {"output": f"door_{number} " * 60}}
    return [
        {"role": "model", "parts": [{"functionCall": {"name": "look", "args": {"room": number}}}]},
        {"role": "user", "parts": [{"functionResponse": found}]},
    ]


def as_anthropic(number: int) -> list[dict[str, Any]]:
    use = {"type": "tool_use", "id": f"c{number}", "name": "look", "input": {"room": number}}
    thought = {"type": "thinking", "thinking": "Next.", "signature": "s"}
    text = f"door_{number} " * 60
    found = {"type": "tool_result", "tool_use_id": f"c{number}", "content": text}
    return [
        {"role": "assistant", "content": [thought, use]},
        {"role": "user", "content": [{**found, "cache_control": {"type": "ephemeral"}}]},
    ]


@pytest.mark.parametrize(
    ("start", "step"),
    [
        ({"role": "user", "content": "Count the rooms."}, as_anthropic),
        ({"role": "user", "content": [{"text": "Count the rooms."}]}, as_bedrock),
        ({"role": "user", "parts": [{"text": "Count the rooms."}]}, as_gemini),
        ({"parts": [{"text": "Count the rooms."}]}, as_gemini),  # a user's, as Gemini reads it
    ],
)
def test_roles_alternate_where_a_digest_stands_before_an_answer(
    tmp_path: Path, start: dict[str, Any], step: Any
) -> None:
    """Bedrock and Gemini refuse two messages of the model in a row, Anthropic joins them itself.

    Reasoning opens its message.
    """
    items = [start]
    memory = Hippocampus(tmp_path, policy=TIGHT, prices=TABLES["none"])
    digests = 0
    with memory.session("s") as session, no_fallback():
        for number in range(20):
            for blocks in (each["content"] for each in items if step is as_anthropic):
                if isinstance(blocks, list):
                    blocks[-1].pop("cache_control", None)
            items += step(number)
            view = session(items)
            roles = [each.get("role", "user") for each in view]
            assert all(one != other for one, other in itertools.pairwise(roles))
            answers = [each["content"] for each in view[1::2] if "content" in each]
            kinds = {"reasoningContent", "thinking"}
            assert all(kinds & blocks[0].keys() for blocks in answers if len(blocks) > 1)
            digests += "digest" in json.dumps(view)
            assert unpaired(read(view)) == []
    assert digests
    memory.close()


def test_a_long_talk_stays_within_the_window_and_its_digests_come_back(tmp_path: Path) -> None:
    """0.8 of the window at each call, and the first words of the user stay."""
    items = long_talk(120)
    with managed(tmp_path, prices=WINDOW) as session:
        for end in range(1, len(items), 2):
            view = session(items[:end])
            assert size(view) <= 0.8 * WINDOW.window_tokens
            assert unpaired(read(view)) == []
            assert view[0] == items[0]
        assert size(items) > WINDOW.window_tokens
        digests = [record for record in session.report.records() if record.kind == "digest"]
        assert digests
        for record in digests:
            told = items[record.origin.start : record.origin.end]
            assert session.entries.content(record.entry.id) == told
            assert session.entries.text(record.entry.id) == transcript(read(told))
        assert "door_3 " in session.recall(digests[-1].entry.id, pattern="door_3 ")


def test_digests_that_grow_are_stored_once_and_each_comes_back(tmp_path: Path) -> None:
    """After a restart too, which goes on from what it has read."""
    items = long_talk(240)
    for start in (1, 241):
        with Hippocampus(tmp_path, prices=WINDOW) as memory, memory.session("s") as session:
            for end in range(start, start + 240, 2):
                session(items[:end])
            records = [record for record in session.report.records() if record.kind == "digest"]
            for record in records:
                replaced = items[record.origin.start : record.origin.end]
                assert session.entries.content(record.entry.id) == replaced
    with contextlib.closing(DiskStore(tmp_path / "contents")) as store:
        [longest] = [store.get(record.content) for record in records[-1:]]
        size = sum(payload.packed_bytes for payload in store.stored())
    with contextlib.closing(DiskStore(tmp_path / "once")) as store:
        store.put(longest)
        [once] = store.stored()
    assert len(records) > 4
    assert size < 3 * once.packed_bytes
    assert verify(DirectoryState(StateDir(tmp_path))) == []


def test_moving_cache_marks_change_no_digest_after_a_restart(tmp_path: Path) -> None:
    """Hosts mark the newest results; and a digest names arguments and results, in this order."""
    policy, live = Policy(budget_tokens=3_000, arguments_over_tokens=100), tmp_path / "live"
    items: list[dict[str, Any]] = [{"role": "user", "content": "Save them."}]
    with managed(live, policy=policy) as session:
        for turn in range(14):
            written = {"path": f"p{turn}.md", "text": f"line {turn} of prose. " * 120}
            saved = json.dumps([{"id": f"ord_{turn}_{n}", "total": n * turn} for n in range(150)])
            call = {"type": "tool_use", "id": f"c{turn}", "name": "save", "input": written}
            told = {"type": "tool_result", "tool_use_id": f"c{turn}", "content": saved}
            marked = {**told, "cache_control": {"type": "ephemeral"}}
            items.append({"role": "assistant", "content": [call]})
            copy, sent = tmp_path / str(turn), [*items, {"role": "user", "content": [marked]}]
            shutil.copytree(live, copy)
            view = session(sent)
            if turn % 3 == 1:
                with managed(copy, policy=policy) as again:
                    assert again(sent) == view
            items.append({"role": "user", "content": [told]})
        kinds = {each.entry.id: each.kind for each in session.report.records()}
        shown = [each.shown for each in session.report.records() if each.kind == "digest"]
    pairs = re.findall(r"\) \[(\w+) (\w+)\]$", "\n".join(shown), re.MULTILINE)
    assert pairs
    assert {(kinds[one], kinds[other]) for one, other in pairs} == {("arguments", "json")}


def test_a_branch_that_a_host_returns_to_has_the_same_view(tmp_path: Path) -> None:
    """Its digests stand again, at once, and none is made twice; so they do after a restart."""
    items, edited = long_talk(100), {"role": "user", "content": "Or else?"}
    with managed(tmp_path, prices=WINDOW) as session:
        for end in range(1, len(items) + 1, 2):
            view = session(items[:end])
        for cuts in ([5], [61], [131], [5, 7, 100]):
            for cut in cuts:
                for changed in (items[:cut], [*items[:cut], edited]):
                    shown = session(changed)
                    assert unpaired(read(shown)) == unpaired(read(changed))
                    assert size(shown) <= size(changed)
                    assert all(message["content"] for message in shown)
            assert session(items) == view
        again = [*items, {"role": "user", "content": "And?"}]
        following = session(again)
        assert following[: len(view)] == view
        assert any("· digest ·" in str(item["content"]) for item in view)
    with managed(tmp_path, prices=WINDOW) as restarted:
        assert restarted(again) == following


@given(any_rounds())
def test_views_stay_valid_under_a_tight_budget(rounds: Rounds) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder, managed(folder, policy=TIGHT) as session:
        for items in growing(rounds):
            view = session(items)
            raw = unpaired(read(items))
            assert len(unpaired(read(view))) <= len(raw)
            assert size(view) <= size(items)
            assert session(items) == view


def test_reading_under_a_budget_recalls_every_row(tmp_path: Path) -> None:
    items = reading(30)
    with managed(tmp_path, policy=TIGHT) as session:
        for end in range(1, len(items) + 1):
            session(items[:end])
        for record in session.report.records():
            assert session.entries.content(record.entry.id)


def test_a_digest_may_have_a_line_of_the_host(tmp_path: Path) -> None:
    items = long_talk(120)
    memory = Hippocampus(tmp_path, prices=WINDOW, summarise=lambda _: "walked through the house")
    with memory.session("s") as session, no_fallback():
        for end in range(1, len(items), 2):
            view = session(items[:end])
        assert "walked through the house" in str(view[1]["content"])
    memory.close()


def talk_of_user(rounds: int) -> list[dict[str, Any]]:
    """A long talk in which the user says something before each round."""
    first, *rest = long_talk(rounds)
    pairs = [rest[at : at + 2] for at in range(0, len(rest), 2)]
    items = [first]
    for number, pair in enumerate(pairs):
        items += [{"role": "user", "content": f"Now look into room_{number}, please. " * 4}, *pair]
    return items


@pytest.mark.slow
def test_where_the_user_s_words_do_not_fit_digests_tell_them(tmp_path: Path) -> None:
    """The newest of them stay, and what a digest tells comes back whole."""
    items = talk_of_user(120)
    with managed(tmp_path, policy=Policy(budget_tokens=1_500)) as session:
        for end in range(2, len(items) + 1, 3):
            view = session(items[:end])
            assert size(view) <= 1_500
            assert unpaired(read(view)) == []
            assert view[0] == items[0]
            assert view[-1] == items[end - 1]
        digests = [record for record in session.report.records() if record.kind == "digest"]
        told = "\n".join(session.entries.text(record.entry.id) for record in digests)
        assert all(str(item["content"]) in told for item in items[1:100])


def test_what_is_pinned_outlives_a_compaction(tmp_path: Path) -> None:
    """With its call and the other results of the round, so that the pairs stay whole."""
    keep = {"match": {"type": "tool_result", "contains": "door_3 "}, "action": {"pin": True}}
    policy = Policy.model_validate({"budget_tokens": 1_500, "lifecycle_policies": [keep]})
    items = long_talk(120)
    with managed(tmp_path, policy=policy) as session:
        for end in range(1, len(items), 2):
            view = session(items[:end])
            assert unpaired(read(view)) == []
        assert items[8] in view
        assert items[7] in view
        assert len(view) <= 25


@pytest.mark.parametrize("named", [True, False])
def test_what_is_named_again_and_again_outlives_a_compaction(named: bool, tmp_path: Path) -> None:
    """As long as the user's own words do; what nobody named since it came goes by its place."""
    items = long_talk(120)
    items[8] = {**items[8], "content": " ".join(f"plan_item_{n}" for n in range(60))}
    for item in items[13::10] if named else ():
        item["content"] = "As plan_item_7 says."
    memory = Hippocampus(
        tmp_path, policy=load("default").model_copy(update={"budget_tokens": 3_000})
    )
    with memory.session("s") as session, no_fallback():
        for end in range(1, len(items) + 1, 2):
            view = session(items[:end])
            assert unpaired(read(view)) == []
        assert (items[8] in view) is named
        assert (items[6] in view) is False
    memory.close()


def test_of_a_new_list_of_many_limits_old_turns_are_folded_unread(tmp_path: Path) -> None:
    """No entries are written for what a digest replaces at once; it gives the results back whole."""
    items = reading(60)
    memory = Hippocampus(tmp_path, policy=Policy(budget_tokens=2_000, bulk_over_tokens=200))
    assert size(items) > 4 * 2_000
    with memory.session("s") as session, no_fallback():
        view = session(items)
        assert size(view) <= 2_000
        assert unpaired(read(view)) == []
        folds = [each for each in session.report.records() if each.kind == "digest"]
        entries = [each for each in session.report.records() if each.kind != "digest"]
        assert folds
        assert all(str(each.entry.id) in json.dumps(view) for each in entries)
        texts = [str(item["content"]) for item in items if item["role"] == "tool"]
        kept = "".join(session.recall(each.entry.id, max_tokens=8_000) for each in folds)
        assert texts[0].splitlines()[3] in kept
    memory.close()


@pytest.mark.slow
def test_a_digest_of_digests_still_names_what_it_stands_for(tmp_path: Path) -> None:
    items = reading(40)
    with managed(tmp_path, policy=Policy(budget_tokens=3_000, bulk_over_tokens=200)) as session:
        for end in range(1, len(items) + 1, 2):
            view = session(items[:end])
        ids = {record.entry.id for record in session.report.records() if record.kind != "digest"}
        digest = next(str(item["content"]) for item in view if "· digest ·" in str(item["content"]))
        assert any(entry_id in digest for entry_id in ids)


def test_what_cannot_fit_is_sent_and_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    items = [{"role": "user", "content": "Everything at once: " + "word " * 3_000}]
    with managed(tmp_path, policy=Policy(budget_tokens=1_000)) as session:
        assert session(items) == items
        status = session.status()
        assert status["over_limit_tokens"] > 1_900
        assert status["too_large"] == [f"message 0 (user): {size(items):,} tokens"]
        assert "message 0 (user)" in caplog.text


def test_code_is_not_shown_in_full_first_where_it_cannot_fit(tmp_path: Path) -> None:
    code = "".join(f"def visit_{n}(node):\n    return node.children[{n}]\n\n" for n in range(290))
    items = [{"role": "user", "content": "Read it."}, *chat_step("c", "read", {}, code)]
    for budget, whole in ((0, True), (3_500, False)):
        with managed(tmp_path / str(budget), policy=Policy(budget_tokens=budget)) as session:
            view = session(items)
            assert (view == items) is whole
            assert not budget or size(view) <= budget


BUILT_IN = [
    ("computer_call", "computer_call_output", "call_id", "call_id"),
    ("local_shell_call", "local_shell_call_output", "call_id", "call_id"),
    ("shell_call", "shell_call_output", "call_id", "call_id"),
    ("apply_patch_call", "apply_patch_call_output", "call_id", "call_id"),
    ("mcp_approval_request", "mcp_approval_response", "id", "approval_request_id"),
]
"""Calls of Responses that stay as they are: their types, and where each names the call."""


@pytest.mark.parametrize("kinds", BUILT_IN, ids=lambda kinds: kinds[0])
def test_a_digest_parts_no_built_in_call_from_its_output(
    tmp_path: Path, kinds: tuple[str, str, str, str]
) -> None:
    """Of each pair the view holds both or neither, wherever the digest ends."""
    call, output, of_call, of_output = kinds
    items: list[dict[str, Any]] = [{"role": "user", "content": "Go on."}]
    with managed(tmp_path, policy=TIGHT) as session:
        for turn in range(24):
            said = f"word{turn} " * (37 * turn % 90)
            items.append({"type": call, of_call: f"k{turn}", "action": said})
            items.append({"type": output, of_output: f"k{turn}", "output": said[::-1]})
            view = session(items)
            calls = [item[of_call] for item in view if item.get("type") == call]
            assert calls == [item[of_output] for item in view if item.get("type") == output]
        assert len(calls) < 24


def test_a_digest_parts_no_answer_from_a_server_s_tool_that_paused(tmp_path: Path) -> None:
    """Anthropic may give the result of a server's tool in the next message of the assistant."""
    items: list[dict[str, Any]] = [{"role": "user", "content": "Go on."}]
    with managed(tmp_path, policy=TIGHT) as session:
        for turn in range(24):
            query = {"query": f"word{turn} " * (37 * turn % 90)}
            call = {"type": "server_tool_use", "id": f"s{turn}", "name": "search", "input": query}
            found = {"type": "web_search_tool_result", "tool_use_id": f"s{turn}", "content": []}
            items.append({"role": "assistant", "content": [call]})
            items.append({"role": "assistant", "content": [found]})
            view = session(items)
            assert unpaired(read(view)) == []
        assert len(view) < len(items)


def test_a_round_in_which_the_user_speaks_is_told_whole(tmp_path: Path) -> None:
    """Words between a call and its result stay, and so do both."""
    items: list[dict[str, Any]] = [{"role": "user", "content": "Go on."}]
    with managed(tmp_path, policy=TIGHT) as session:
        for turn in range(24):
            said = f"word{turn} " * (37 * turn % 90)
            name = {"type": "function_call", "call_id": f"k{turn}", "name": "look"}
            items.append({**name, "arguments": f'{{"at": {turn}}}'})
            items.append({"role": "user", "content": f"And then {turn}?"})
            items.append({"type": "function_call_output", "call_id": f"k{turn}", "output": said})
            view = session(items)
            assert unpaired(read(view)) == []
        assert len(view) < len(items)


def test_a_screenshot_weighs_as_an_image() -> None:
    """An output of a computer's call is as heavy as the same picture in a message."""
    picture = {"type": "input_image", "image_url": f"data:image/png;base64,{'A' * 300_000}"}
    shot = {**picture, "type": "computer_screenshot"}
    told = [{"type": "computer_call_output", "call_id": "k", "output": shot}]
    made = [{"type": "image_generation_call", "id": "g", "result": "A" * 300_000}]
    alone = size([{"role": "user", "content": [picture]}])
    assert alone < size(told) < alone + 50
    assert alone < size(made) < alone + 50


def parallel_calls(number: int, ids: Sequence[str]) -> list[dict[str, Any]]:
    """A round of parallel calls in the Chat form, each with a result of its own."""
    calls = [
        {"id": each, "type": "function", "function": {"name": "look", "arguments": f'{{"n":{at}}}'}}
        for at, each in enumerate(ids)
    ]
    results = [
        {"role": "tool", "tool_call_id": each, "content": f"door_{number}_{at} " * 60}
        for at, each in enumerate(ids)
    ]
    return [{"role": "assistant", "content": None, "tool_calls": calls}, *results]


def as_response_items(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same round in the Responses form."""
    calls = [
        {"type": "function_call", "call_id": each["id"], **each["function"]}
        for each in items[0]["tool_calls"]
    ]
    return calls + [
        {
            "type": "function_call_output",
            "call_id": each["tool_call_id"],
            "output": each["content"],
        }
        for each in items[1:]
    ]


SLOW_RESPONSES = pytest.param(as_response_items, marks=pytest.mark.slow)
SLOW_WINDOWS = [pytest.param(each, marks=pytest.mark.slow) for each in (1_500, 6_000)]


@pytest.mark.parametrize("window_tokens", [3_000, *SLOW_WINDOWS])
@pytest.mark.parametrize("form", [list, SLOW_RESPONSES], ids=["chat", "responses"])
@pytest.mark.parametrize("ids", ["c{0} c{0}", " ", "c0 c0 c0", "c0 c1", "c{0} c{0} c{0}a"])
def test_parallel_calls_that_share_an_id_keep_their_results(
    tmp_path: Path, ids: str, form: Any, window_tokens: int
) -> None:
    items: list[dict[str, Any]] = [{"role": "user", "content": "Count the doors."}]
    with managed(tmp_path, policy=TIGHT, window_tokens=window_tokens) as session:
        for number in range(20):
            items = items + form(parallel_calls(number, ids.format(number).split(" ")))
            view = session(items)
            assert unpaired(read(view)) == []
        assert any(each.kind == "digest" for each in session.report.records())
        assert session.report.failures == 0


def test_a_view_that_parts_a_call_from_its_result_is_not_sent_and_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last check of a view: here every place is taken for one without an open call."""
    every = lambda messages, _known: list(range(len(messages)))  # noqa: E731
    monkeypatch.setattr(history, "boundaries", every)
    items: list[dict[str, Any]] = [{"role": "user", "content": "Count the doors."}]
    memory = Hippocampus(tmp_path, policy=TIGHT, window_tokens=3_000)
    with memory, memory.session("s") as session:
        for number in range(20):
            items = items + parallel_calls(number, ["a", "b", "c"])
            view = session(items)
            assert unpaired(read(view)) == []
        assert 0 < session.status()["failures"] < 20


def test_the_check_of_a_view_reads_what_has_changed() -> None:
    items = [
        {"role": "user", "content": "Count the doors."},
        *(item for number in range(3) for item in parallel_calls(number, ["a", "b"])),
    ]
    history = History().extended(items)
    view = View(history).extended(history, 0)
    view.expect_pairs()
    whole, cut = Span(1, 4), Span(2, 4)
    view.with_digests([(whole, "three")]).expect_pairs()
    with pytest.raises(ViewError, match="call 'a' has no result"):
        view.with_digests([(cut, "two")]).expect_pairs()


@pytest.mark.parametrize("margin", range(20))
def test_no_path_in_a_step_of_a_digest_ends_in_the_middle(margin: int) -> None:
    paths = [f"src/services/module_{number}/handler_{number}.py" for number in range(20)]
    items = [chat_call("c1", "bash", {"command": " ".join(["w" * margin, *paths])})]
    line = lines_of(Steps().extended(read(items)), {}, [], 1, Room(400))
    assert line.endswith(".py…)")


@pytest.mark.parametrize(
    ("paths", "root"),
    [
        (["/home/a/repo/src/x.py", "/home/a/repo/src/y.py", "/home/a/repo/z.py"], "/home/a/repo/"),
        (["/home/a/repo/x.py", "/home/a/repo/y.py", "/tmp/out.log"], "/home/a/repo/"),
        (["/home/a/repo/x.py"], ""),
        (["/home/x.py", "/home/y.py", "z.py"], ""),
        ([], ""),
    ],
)
def test_the_folder_that_a_digest_names_once_is_that_of_most_files(
    paths: list[str], root: str
) -> None:
    assert root_of([WorkFile(path) for path in paths]) == root


@pytest.mark.parametrize("room", range(60, 400, 20))
@pytest.mark.parametrize("answer", ["ready", "Error: not ready"])
def test_a_digest_shows_no_result_without_its_call(answer: str, room: int) -> None:
    items: list[dict[str, Any]] = []
    for number in range(8):
        command = {"command": f"check_{number} " * 12}
        items += chat_step(f"c{number}", "bash", command, f"{answer}: {number}")
    shown = lines_of(Steps().extended(read(items)), {}, [], 1, Room(room))
    assert all(f"check_{number} " in shown for number in re.findall(r"ready: (\d)", shown))
    calls = shown.count("bash(")
    left = re.search(r"… (\d+) more step", shown)
    assert calls + (int(left[1]) if left else 0) == 8  # a call and its result are one step


@given(st.data())
def test_spans_are_what_is_left_without_the_rounds_of_what_stays(data: st.DataObject) -> None:
    closed = [0, *sorted(data.draw(st.sets(st.integers(1, 30), max_size=30)))]
    start, end = sorted(
        data.draw(st.tuples(st.integers(0, closed[-1]), st.integers(0, closed[-1])))
    )
    staying = data.draw(st.sets(st.integers(start, end - 1))) if start < end else set[int]()
    round_of = [bisect.bisect_right(closed, number) for number in range(closed[-1])]
    left = [n for n in range(start, end) if round_of[n] not in {round_of[at] for at in staying}]
    found = spans_between(start, end, sorted(staying), closed)
    assert [n for span in found for n in range(*span)] == left
    assert all(one.end < other.start for one, other in itertools.pairwise(found))
