"""Views of any conversation: short, valid, frozen, and nothing in them that cannot come back."""

from __future__ import annotations

import copy
import itertools
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from conversations import (
    EAGER,
    LINES,
    MARK,
    Item,
    Rounds,
    any_rounds,
    chat_step,
    growing,
    held,
    managed,
    no_fallback,
    put_away,
    reading,
    rows,
    views,
)
from hypothesis import given
from hypothesis import strategies as st

from hippocampus import Hippocampus, Session
from hippocampus.formats.conversation import Message
from hippocampus.formats.reader import read
from hippocampus.models import tokens
from hippocampus.policy import Policy
from hippocampus.replay.measure import unpaired

NAMES = (f"session {number}" for number in itertools.count())


def fresh(memory: Hippocampus) -> Session:
    return memory.session(next(NAMES))


def weight(messages: list[Message]) -> int:
    return sum(map(tokens.count_message, messages))


@given(rounds=any_rounds())
def test_a_view_is_valid_and_never_larger_than_the_list(
    memory: Hippocampus, rounds: Rounds
) -> None:
    """Every message stays, with its calls, results, images and unknown fields, in its order."""
    with fresh(memory) as session:
        for items, view in zip(growing(rounds), views(session, rounds), strict=True):
            raw, shown = read(items), read(view)
            assert unpaired(shown) == unpaired(raw)
            assert len(view) == len(items)
            assert [item.keys() for item in view] == [item.keys() for item in items]
            for before, after in zip(_skeleton(raw), _skeleton(shown), strict=True):
                assert before == after
            json.loads(json.dumps(view))
            for message, less in zip(raw, shown, strict=True):
                assert tokens.count_message(less) <= tokens.count_message(message)
                for part, instead in zip(message.parts, less.parts, strict=True):
                    if part.kind == "call" and isinstance(_json(part.text), dict):
                        assert _json(part.text).keys() == _json(instead.text).keys()


def _skeleton(messages: list[Message]) -> list[Any]:
    return [
        (m.role, [(p.kind, p.tool, p.call_id, p.is_error, p.image_tokens) for p in m.parts])
        for m in messages
    ]


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


@given(rounds=any_rounds())
def test_what_left_comes_back_byte_for_byte(memory: Hippocampus, rounds: Rounds) -> None:
    with fresh(memory) as session:
        for items, view in zip(growing(rounds), views(session, rounds), strict=True):
            for entry_id, message, part in put_away(read(items), read(view)):
                assert session.entries.content(entry_id) == held(message, part)
                assert session.entries.text(entry_id) == part.text
        assert session._run.ledger._db.check() == []


@given(rounds=any_rounds())
def test_the_view_before_the_first_decision_is_the_last_view(
    memory: Hippocampus, rounds: Rounds
) -> None:
    """Bytes once sent change only where a decision of this very turn says why."""
    with fresh(memory) as session, no_fallback():
        last: list[Message] = []
        known = 0
        for items in growing(rounds):
            shown = read(session(items))
            changed = [n for n, old in enumerate(last) if old.raw != shown[n].raw]
            decided = {decision.entry_id for _, decision in session.report.decisions()[known:]}
            known = len(session.report.decisions())
            for number in changed:
                before = [last[number]]
                assert {each[0] for each in put_away(before, [shown[number]])} <= decided
            last = shown


@given(rounds=any_rounds())
def test_the_same_session_opened_again_gives_the_same_bytes(
    memory: Hippocampus, rounds: Rounds
) -> None:
    with fresh(memory) as session:
        last = views(session, rounds)[-1]
        name = session.id
    whole = [item for each in rounds for item in each]
    with memory.session(name) as again, no_fallback():
        assert json.dumps(again(whole)) == json.dumps(last)


@given(rounds=any_rounds())
def test_a_session_opened_for_every_call_keeps_what_it_sent(
    memory: Hippocampus, rounds: Rounds
) -> None:
    """As a stateless server would do it: an entry that was sent changes by a decision alone."""
    name, known = next(NAMES), 0
    sent: dict[str, str] = {}
    for items in growing(rounds):
        with memory.session(name) as session, no_fallback():
            view = session(items)
            shown = {record.entry.id: record.shown for record in session.report.records()}
            decided = {decision.entry_id for _, decision in session.report.decisions()[known:]}
            known = len(session.report.decisions())
        with memory.session(name) as session, no_fallback():
            assert json.dumps(session(items)) == json.dumps(view)
        assert {each for each in sent if shown[each] != sent[each]} <= decided
        sent = shown


@given(rounds=any_rounds())
def test_a_second_call_changes_nothing_and_none_changes_the_callers_list(
    memory: Hippocampus, rounds: Rounds
) -> None:
    with fresh(memory) as session, no_fallback():
        for items in growing(rounds):
            before = copy.deepcopy(items)
            view = session(items)
            assert session(items) == view
            assert items == before
            assert view is not items


@given(rounds=any_rounds(), data=st.data())
def test_marks_that_move_change_no_entry(
    memory: Hippocampus, rounds: Rounds, data: st.DataObject
) -> None:
    """Hosts move `cache_control` to the newest block before each call, in the list or the view."""
    with fresh(memory) as plain:
        expected = views(plain, rounds)[-1]
        wanted = [record.shown for record in plain.report.records()]
    assert len(expected) == sum(map(len, rounds))
    with fresh(memory) as session, no_fallback():
        for items in growing(copy.deepcopy(rounds)):
            marked = _marked(items)
            view = session(marked)
            _scribble(view if data.draw(st.booleans()) else marked)
        assert len([record.shown for record in session.report.records()]) >= len(wanted)


def _marked(items: list[Item]) -> list[Item]:
    marked = copy.deepcopy(items)
    blocks = marked[-1].get("content")
    if isinstance(blocks, list) and blocks:
        blocks[-1]["cache_control"] = MARK
    return marked


def _scribble(items: list[Item]) -> None:
    for item in items:
        if isinstance(item.get("content"), list):
            for block in item["content"]:
                block["scribbled"] = True


def test_a_view_may_be_edited_without_harm(memory: Hippocampus) -> None:
    """What a caller does to entries in a view that it was given is gone at the next call."""
    with fresh(memory) as session, no_fallback():
        items = reading(3)
        view = session(items)
        expected = json.dumps(view)
        for item, raw in zip(view, items, strict=True):
            if item is not raw:
                item["content"] = "scribbled"
        assert json.dumps(session(items)) == expected


def test_a_moved_mark_neither_renames_an_entry_nor_rewrites_the_past(memory: Hippocampus) -> None:
    """The provider's cache does not see marks, and neither does what was sent."""
    code = "\n".join(f"def function_{n}(x):\n    return x + {n}\n" for n in range(LINES))

    def turn(number: int, *, marked: bool) -> list[Item]:
        use = {"type": "tool_use", "id": f"t{number}", "name": "read", "input": {"n": number}}
        mark = {"cache_control": MARK} if marked else {}
        result = {"type": "tool_result", "tool_use_id": f"t{number}", **mark}
        result["content"] = [{"type": "text", "text": f"# {number}\n{code}", **mark}]
        return [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]

    first = [{"role": "user", "content": "go " * 50_000}]
    with fresh(memory) as session, no_fallback():
        session([*first, *turn(0, marked=True)])
        session([*first, *turn(0, marked=False), *turn(1, marked=True)])
        session([*first, *turn(0, marked=False), *turn(1, marked=False), *turn(2, marked=True)])
        reasons = [decision.reason for _, decision in session.report.decisions()]
        assert not [reason for reason in reasons if "on arrival" in reason]
        ids = [decision.entry_id for _, decision in session.report.decisions()]
        assert len(ids) == len(set(ids))


def test_a_mark_inside_a_committed_result_does_not_bring_it_back(memory: Hippocampus) -> None:
    items = reading(2)
    with fresh(memory) as session, no_fallback():
        before = session(items)[2]["content"]
        block = {"type": "text", "text": items[2]["content"], "cache_control": MARK}
        marked = [*items[:2], {**items[2], "content": [block]}, *items[3:]]
        after = session(marked)[2]["content"]
        assert after == [{"type": "text", "text": before, "cache_control": MARK}]
        assert session.status()["entries"] == 2


def test_a_host_that_compacts_its_list_keeps_the_entries_it_still_has(memory: Hippocampus) -> None:
    items = reading(6)
    with fresh(memory) as session, no_fallback():
        before = session(items)
        compacted = [{"role": "user", "content": "Summary: four files were read."}, *items[9:]]
        view = session(compacted)
        assert json.dumps(view[1:]) == json.dumps(before[9:])
        assert session.status()["entries"] == 6
        for record in session.report.records():
            assert session.entries.content(record.entry.id)


def test_instructions_keep_their_entries_where_a_host_drops_its_oldest_messages(
    tmp_path: Path,
) -> None:
    memory = Hippocampus(tmp_path)
    items: list[Item] = []
    for number in range(6):
        items += [
            {"role": "user", "content": f"Always water bed {number} at dawn."},
            {"role": "assistant", "content": "I will."},
        ]
    with memory.session("s") as session, no_fallback():
        for start in range(0, 8, 2):
            session(items[start:])
        assert [each.kind for each in session.report.records()] == ["message"] * 6
    memory.close()


def test_results_whose_calls_were_cut_away_shorten_no_strangers(memory: Hippocampus) -> None:
    """A call that left the list is forgotten with it."""
    long = {"path": "/srv/a", "content": "word_1 " * 400}
    call, result = chat_step("c1", "write", long, rows(1, LINES), "Writing it.")
    with fresh(memory) as session, no_fallback():
        session([{"role": "user", "content": "go"}, call, result])
        cut = [{"role": "user", "content": "go"}, {"role": "user", "content": "word " * 500}]
        view = session([*cut, {**result, "content": rows(2, LINES)}])
        assert view[:2] == cut


def test_a_result_that_is_edited_leaves_its_call_alone(memory: Hippocampus) -> None:
    """No second entry for arguments that wait to be shortened or are short already."""
    items = reading(1)
    long = json.dumps({"path": "/srv/a", "content": "word_1 " * 400})
    items[1]["tool_calls"][0]["function"]["arguments"] = long
    with fresh(memory) as session, no_fallback():
        session(items)
        for number in range(3):
            items[2] = {**items[2], "content": rows(number + 50, LINES)}
            session(items)
        ids = [decision.entry_id for _, decision in session.report.decisions()]
        assert len(ids) == len(set(ids)) == 5
        assert session._run.ledger._db.check() == []


@pytest.mark.parametrize("call_id", ["same", ""])
def test_the_same_content_under_the_same_call_id_is_two_entries(
    memory: Hippocampus, call_id: str
) -> None:
    """Each id in a view can be recalled, also after a restart."""
    answer, result = chat_step(call_id, "read", {}, rows(1, LINES))
    items = [{"role": "user", "content": "go"}, *[answer, result] * 3]
    with fresh(memory) as session, no_fallback():
        view = session(items)
        name = session.id
    with memory.session(name) as session, no_fallback():
        found = list(put_away(read(items), read(view)))
        assert len({entry_id for entry_id, _, _ in found}) == 3
        assert {session.entries.content(entry_id) for entry_id, _, _ in found} == {
            result["content"]
        }
        assert session(items) == view
        assert session._run.ledger._db.check() == []


def test_two_legacy_calls_without_ids_are_told_apart(memory: Hippocampus) -> None:
    items: list[Item] = [{"role": "user", "content": "go"}]
    for number in range(3):
        called = {"name": f"f{number}", "arguments": json.dumps({"n": number})}
        items.append({"role": "assistant", "content": None, "function_call": called})
        content = rows(number, LINES)
        items.append({"role": "function", "name": f"f{number}", "content": content})
    with fresh(memory) as session, no_fallback():
        view = session(items)
        for entry_id, message, part in put_away(read(items), read(view)):
            assert session.entries.content(entry_id) == held(message, part)
        assert [record.tool for record in session.report.records()] == ["f0", "f1", "f2"]


def test_a_result_before_its_call_is_shortened_by_itself(memory: Hippocampus) -> None:
    items = reading(1)
    items[1], items[2] = items[2], items[1]
    with fresh(memory) as session, no_fallback():
        view = session(items)
        assert [entry for entry, _, _ in put_away(read(items), read(view))]


@pytest.mark.one_process
def test_threads_may_share_a_session(memory: Hippocampus) -> None:
    items = reading(6)
    with fresh(memory) as session, no_fallback(), ThreadPoolExecutor(4) as pool:
        lists = [items[: 2 * end + 1] for end in range(1, 7)] * 4
        for raw, view in zip(lists, pool.map(session, lists), strict=True):
            assert len(view) == len(raw)
        assert session.status()["entries"] == 6
        assert session._run.ledger._db.check() == []


@pytest.mark.one_process
def test_recalls_of_other_threads_go_on_beside_the_turns(memory: Hippocampus) -> None:
    """Tools run in threads of their own, and look into a session that a turn is changing."""
    items = reading(12)
    done = threading.Event()

    def look(session: Session) -> int:
        looked = 0
        while not done.is_set():
            for entry in [*session.entries][-2:]:
                session.recall(entry.id, head=1)
                looked += 1
            session.report.view_pairs()
        return looked

    with fresh(memory) as session, no_fallback(), ThreadPoolExecutor(2) as pool:
        session(items[:3])
        looking = [pool.submit(look, session) for _ in range(2)]
        for end in range(2, 13):
            session(items[: 2 * end + 1])
        done.set()
        assert all(each.result() for each in looking)


def test_a_session_may_be_closed_by_several_threads_at_once(memory: Hippocampus) -> None:
    session = fresh(memory)
    session(reading(3))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: session.close(), range(8)))
    session.close()


def test_a_policy_without_compression_shortens_nothing(tmp_path: Path) -> None:
    items = reading(2)
    long = json.dumps({"path": "/srv/a", "content": "word_1 " * 400})
    items[1]["tool_calls"][0]["function"]["arguments"] = long
    with managed(tmp_path, policy=Policy(compression="none")) as session:
        assert session(items) == items


def test_short_results_stay_as_they_are(memory: Hippocampus) -> None:
    with fresh(memory) as session, no_fallback():
        items = reading(3, lines=2)
        view = session(items)
        assert view == items
        assert all(shown is raw for shown, raw in zip(view, items, strict=True))


def test_an_empty_list_has_an_empty_view(memory: Hippocampus) -> None:
    with fresh(memory) as session, no_fallback():
        assert session([]) == []
        assert session.status()["turn"] == 0


def test_the_status_explains_the_strength_of_each_entry(memory: Hippocampus) -> None:
    with fresh(memory) as session, no_fallback():
        session(reading(4))
        entry = session.entries[0]
        before = session.status()["strengths"][entry.id]
        assert before["rate"] == entry.decay.rate
        assert before["strength"] > before["in_ten_turns"]
        session.recall(entry.id)
        after = session.status()["strengths"][entry.id]
    assert (after["last_access"], after["strength"]) == (4, 1.0)
    assert len(json.dumps(after)) < 300


def test_the_status_weighs_list_and_view(memory: Hippocampus) -> None:
    with fresh(memory) as session, no_fallback():
        items = reading(4)
        view = session(items)
        status = session.status()
        assert status["raw_tokens"] == weight(read(items))
        assert status["sent_tokens"] == weight(read(view)) < status["raw_tokens"]
        assert (status["turn"], status["entries"]) == (4, 4)
        assert session._run.ledger.last_call().sent_tokens == status["sent_tokens"]


def test_code_is_shown_in_full_once_and_bulk_never(memory: Hippocampus) -> None:
    assert EAGER.fresh_turns["code"] == 1
    code = "\n".join("    return them" for _ in range(12 * LINES))
    items = reading(2)
    items[2] = {**items[2], "content": code}
    with fresh(memory) as session, no_fallback():
        assert session(items[:3])[2] is items[2]
        later = session(items)
        assert later[2] is not items[2]
        assert later[4] is not items[4]


def test_every_decision_has_its_turn_and_reason(memory: Hippocampus) -> None:
    with fresh(memory) as session, no_fallback():
        for end in (3, 5, 7):
            session(reading(3)[:end])
        assert [turn for turn, _ in session.report.decisions()] == [1, 2, 3]
        for _, decision in session.report.decisions():
            assert decision.reason
            assert decision.saves > 0


def test_a_recall_that_breaks_inside_is_answered(
    memory: Hippocampus, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Law 3: what a tool raises may end the agent's run."""
    with fresh(memory) as session:
        session(reading(3))
        entry_id = session.entries[0].id
        monkeypatch.setattr(session._recalls, "_part", lambda *_: 1 / 0)
        assert session.answer({"entry_id": entry_id}).startswith("recall failed")
        assert session.tool_result("c", {"entry_id": entry_id}).is_error
    assert "a recall is not answered" in caplog.text


def test_a_session_may_have_a_model_of_its_own(memory: Hippocampus) -> None:
    with memory.session("gpt", model="gpt-5") as session, fresh(memory) as usual:
        assert session._resources.prices.name == "gpt-5"
        assert usual._resources.prices.name != "gpt-5"


def test_recalls_of_an_id_are_counted_by_what_they_returned(memory: Hippocampus) -> None:
    session = memory.session("counted")
    session(reading(1))
    [entry] = session.entries
    ways: list[tuple[dict[str, Any], str]] = [
        ({"entry_id": entry.id, "head": 2}, "full"),
        ({"entry_id": entry.id, "pattern": "no such words"}, "failed"),
        ({"entry_id": entry.id, "pattern": "(("}, "failed"),
        ({"entry_id": entry.id, "lines": [9_999, 99_999]}, "failed"),
        ({"entry_id": "aaaaaaaa"}, "failed"),
        ({"query": "row"}, ""),
        ({}, ""),
    ]
    for asked, outcome in ways:
        before = session.status()["recalls"]
        session.answer(asked)
        after = session.status()["recalls"]
        assert {name for name in after if after[name] > before[name]} == {outcome} - {""}, asked
    session.close()
