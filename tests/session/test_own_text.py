"""Our own text in a host's list: answers to recalls, entries and digests never become entries."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from conversations import EAGER, Item, chat_step, managed, no_fallback, reading, rows

from hippocampus import Hippocampus


def called(tool: str, arguments: Item, result: str) -> list[Item]:
    """Return a call and its result."""
    return chat_step(f"r-{tool}", tool, arguments, result)


@pytest.mark.parametrize("tool", ["recall", "mcp__hippocampus__recall", "stored"])
def test_an_answer_to_a_recall_is_never_shortened_or_stored(tmp_path: Path, tool: str) -> None:
    with managed(tmp_path, policy=EAGER) as session:
        session.tools("openai", name="stored" if tool == "stored" else "recall")
        items = reading(1)
        session(items)
        [entry] = session.entries
        for arguments in ({"entry_id": f"[{entry.id}]", "max_tokens": 8_000}, {"query": "row"}):
            items += called(tool, arguments, session.answer(arguments))
        assert session(items)[3:] == items[3:]
        assert len(session.entries) == 1


def test_each_name_that_the_tool_was_given_stays_its_own(tmp_path: Path) -> None:
    with managed(tmp_path, policy=EAGER) as session:
        session.tools("openai", name="stored")
        session.recall_function("fetch_stored")
        items = reading(1)
        session(items)
        [entry] = session.entries
        whole = {"entry_id": entry.id, "max_tokens": 8_000}
        for tool in ("stored", "fetch_stored"):
            pending = called(tool, whole, "")[:1]
            [answered] = session.handle([*items, *pending])
            items += [*pending, answered]
        assert session(items)[3:] == items[3:]
        assert len(session.entries) == 1


def test_a_hosts_own_tool_of_this_name_is_a_tool_as_others(tmp_path: Path) -> None:
    with managed(tmp_path, policy=EAGER) as session:
        items = [*reading(1), *called("recall", {"query": "all"}, rows(5, 400))]
        assert session(items)[4]["content"].startswith("[")
        assert len(session.entries) == 2


def sums(status: Item) -> tuple[float, float]:
    return status["raw_cost"], status["sent_cost"]


def test_a_view_that_is_sent_back_as_the_list_makes_no_entries_of_entries(tmp_path: Path) -> None:
    memory = Hippocampus(tmp_path, policy=EAGER)
    with memory.session("s") as session, no_fallback():
        items = reading(8)
        write = called("write", {"path": "/b", "content": rows(9, 400)}, "done")
        items = [*items, *write]
        for end in range(3, len(items) + 1, 2):
            view = session(items[:end])
        known = {entry.id: session.entries.content(entry.id) for entry in session.entries}
        before = sums(session.status())
        more = [*view, *reading(1, start=8)]
        again = session(more)
        assert again[: len(view)] == view
        assert len(session.entries) == len(known) + 1
        after = sums(session.status())
        assert after[0] > before[0]
        assert after[1] > before[1]
        assert {key: session.entries.content(key) for key in known} == known
    with memory.session("s") as session, no_fallback():  # and after a restart
        assert session(more) == again
        assert sums(session.status()) == after
    memory.close()


def test_an_entry_that_has_aged_since_it_was_sent_is_still_ours(tmp_path: Path) -> None:
    with managed(tmp_path, policy=EAGER) as session:
        early = session(reading(1))
        [record] = session.report.records()
        session._run.save(replace(record, shown=record.shown.partition("\n")[0]))
        assert session(early)[2] == early[2]
        assert len(session.entries) == 1


def test_a_host_that_compacts_its_list_keeps_the_sums(tmp_path: Path) -> None:
    with managed(tmp_path, policy=EAGER) as session:
        items = reading(10)
        for end in range(3, len(items) + 1, 2):
            session(items[:end])
        before = sums(session.status())
        compacted = [{"role": "user", "content": "So far: nine were read."}, *items[-2:]]
        for _ in range(2):  # a second call of the same list pays for nothing more
            session(compacted)
            after = sums(session.status())
        assert after[0] > before[0]
        session([*compacted, *reading(1, start=10)])
        assert sums(session.status())[0] > after[0]
    with managed(tmp_path, policy=EAGER) as session:
        assert sums(session.status())[0] > after[0]


def test_a_content_that_repeats_a_frame_is_shortened_as_any_other(tmp_path: Path) -> None:
    """Of an entry that is known, and of one that nobody knows: it is longer than what it names."""
    with managed(tmp_path, policy=EAGER) as session:
        items = reading(1)
        opening = session(items)[2]["content"].partition("\n")[0]
        for number, line in enumerate((opening, "[abcd2345 · read · turn 1 · 99999 tokens · log]")):
            items += called(f"cat{number}", {}, f"{line}\n{rows(number + 40, 500)}")
        view = session(items)
        assert view[4]["content"] != items[4]["content"]
        assert view[6]["content"] != items[6]["content"]
