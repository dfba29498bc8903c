"""Pattern completion: a recall asks the declared source first, and degrades as the protocol says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conversations import EAGER, chat_step, managed, no_fallback

from hippocampus import Hippocampus, Policy, RecallError, Session
from hippocampus.policy import Refetch, Rule
from hippocampus.recall.sources import FetchRequest, Unavailable

LINES = [f"value_{number:03} = {number * 7}" for number in range(600)]
TEXT = "\n".join(LINES)
CHANGED = TEXT.replace("value_123 = 861", "value_123 = 862")
NUMBERED = "\n".join(f"{number}\t{line}" for number, line in enumerate(LINES, start=1))


def policy(source: Any) -> Policy:
    match = {"match": {"tool": "read"}, "action": {"source": source}}
    return EAGER.model_copy(update={"lifecycle_policies": (Rule.model_validate(match),)})


def conversation(path: Path | str, shown: str = TEXT) -> list[dict[str, Any]]:
    read = chat_step("c1", "read", {"path": str(path)}, shown)
    return [{"role": "user", "content": "Read it."}, *read]


class Work:
    """A file that a session has read and put away, under a root that its policy names."""

    def __init__(self, folder: Path, source: Any = None, shown: str = TEXT) -> None:
        self.folder = folder
        self.path = folder / "work" / "settings.py"
        self.path.parent.mkdir(exist_ok=True)
        self.path.write_text(TEXT, "utf-8")
        self.source = source or {"type": "file", "roots": [str(self.path.parent)]}
        self.items = conversation(self.path, shown)
        self.open()
        with no_fallback():
            self.session(self.items)
        [self.entry_id] = [e.id for e in self.session.entries if e.source.type == "read"][:1]

    def open(self) -> None:
        self.memory = Hippocampus(self.folder / "state", policy=policy(self.source))
        self.session: Session = self.memory.session("s")

    def close(self) -> None:
        self.session.close()
        self.memory.close()

    def stale(self) -> RecallError:
        with pytest.raises(RecallError) as told:
            self.session.recall(self.entry_id, pattern="value_123")
        return told.value

    def forget_the_copy(self) -> None:
        for record in self.session.report.records():
            self.memory._store.delete(record.content)


@pytest.fixture
def work(tmp_path: Path) -> Iterator[Work]:
    made = Work(tmp_path)
    yield made
    made.close()


def newer_id(problem: RecallError) -> str:
    return problem.versions[1].split('"')[1]


def test_an_unchanged_file_serves_the_content_as_the_model_saw_it(work: Work) -> None:
    assert work.session.recall(work.entry_id, pattern="value_123") == "124: value_123 = 861"
    assert work.session.status()["recalls"] == {"full": 1, "partial": 0, "failed": 0}


def test_a_changed_file_is_stale_and_both_versions_come_back(work: Work) -> None:
    work.path.write_text(CHANGED, "utf-8")
    problem = work.stale()
    assert problem.reason == "stale"
    assert "-value_123 = 861\n+value_123 = 862" in str(problem)
    newer = newer_id(problem)
    assert newer != work.entry_id
    assert work.session.recall(newer, pattern="value_123") == "124: value_123 = 862"
    told = work.session.recall(work.entry_id, pattern="value_123")
    note, found = told.split("\n")
    assert note.startswith("(stale: ")
    assert newer in note
    assert found == "124: value_123 = 861"
    assert work.session.entries.text(work.entry_id) == TEXT
    assert work.session.entries.text(newer) == CHANGED
    by_id = {entry.id: entry for entry in work.session.entries}
    assert newer in by_id[work.entry_id].modifiers.associations
    assert work.entry_id in by_id[newer].modifiers.associations


def test_a_stale_entry_stays_stale_after_a_restart(work: Work) -> None:
    work.path.write_text(CHANGED, "utf-8")
    newer = newer_id(work.stale())
    work.close()
    work.open()
    assert newer in work.session.recall(work.entry_id, head=1)
    assert work.session.recall(newer, head=124).endswith("862")
    assert work.session.entries.text(work.entry_id) == TEXT


def test_what_changes_again_is_an_entry_again_and_the_first_points_to_the_last(work: Work) -> None:
    work.path.write_text(CHANGED, "utf-8")
    second = newer_id(work.stale())
    work.path.write_text(TEXT + "\nmore = 1", "utf-8")
    with pytest.raises(RecallError) as told:
        work.session.recall(second, pattern="value_123")
    third = newer_id(told.value)
    assert len({work.entry_id, second, third}) == 3
    assert third in work.session.recall(work.entry_id, head=1).split("\n")[0]
    assert third in work.session.recall(second, head=1).split("\n")[0]


def test_a_search_finds_the_present_version_alone(work: Work) -> None:
    work.path.write_text(CHANGED, "utf-8")
    newer = newer_id(work.stale())
    found = work.session.recall(query="value_123 862")
    assert newer in found
    assert work.entry_id not in found


def test_the_views_do_not_change_by_what_a_source_holds(work: Work) -> None:
    before = work.session(work.items)
    work.path.write_text(CHANGED, "utf-8")
    work.stale()
    assert work.session(work.items) == before


def test_no_turn_asks_a_source(tmp_path: Path) -> None:
    asked: list[str] = []
    made = Hippocampus(tmp_path, policy=policy({"type": "spy"}))

    @made.source("spy")
    def spy(wanted: FetchRequest, _plan: Refetch) -> str:
        asked.append(wanted.tool)
        return TEXT

    with made.session("s") as session, no_fallback():
        session(conversation("a.py"))
        session([*conversation("a.py"), {"role": "user", "content": "and value_123?"}])
        assert asked == []
        session.recall(session.entries[0].id, head=1)
        assert asked == ["read"]
    made.close()


@pytest.mark.parametrize(
    "shown",
    [NUMBERED, "\n".join(NUMBERED.split("\n")[100:550]), "\n".join(LINES[50:550]), TEXT + "\n"],
    ids=["numbered", "numbered part", "part", "trailing newline"],
)
def test_a_part_of_a_file_with_or_without_numbers_is_unchanged(tmp_path: Path, shown: str) -> None:
    work = Work(tmp_path, shown=shown)
    assert "value_123 = 861" in work.session.recall(work.entry_id, pattern="value_123")
    work.path.write_text(CHANGED, "utf-8")
    assert work.stale().reason == "stale"
    work.close()


def test_without_the_stored_copy_the_file_serves(work: Work) -> None:
    work.forget_the_copy()
    assert work.session.recall(work.entry_id, pattern="value_123") == "124: value_123 = 861"
    assert work.session.status()["recalls"]["full"] == 1


def test_without_the_file_the_stored_copy_serves(work: Work) -> None:
    work.path.unlink()
    assert work.session.recall(work.entry_id, pattern="value_123") == "124: value_123 = 861"
    assert work.session.status()["recalls"] == {"full": 1, "partial": 0, "failed": 0}


def test_without_both_the_summary_serves_with_a_stale_mark(work: Work) -> None:
    work.path.unlink()
    work.forget_the_copy()
    told = work.session.recall(work.entry_id, pattern="value_123")
    summary = next(e.summary for e in work.session.entries if e.id == work.entry_id)
    assert told.split("\n")[0] == summary
    assert "stale" in told
    assert work.session.status()["recalls"] == {"full": 0, "partial": 1, "failed": 0}


def test_outside_the_roots_no_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    work = Work(tmp_path, {"type": "file", "roots": [str(tmp_path / "elsewhere")]})
    work.path.write_text("secret = 1", "utf-8")
    assert work.session.recall(work.entry_id, pattern="value_123") == "124: value_123 = 861"
    work.close()


def test_a_tool_is_called_again_only_where_the_host_says_so(tmp_path: Path) -> None:
    work = Work(tmp_path, "tool")
    assert work.session.recall(work.entry_id, pattern="value_123").endswith("861")

    @work.memory.repeatable("read")
    async def read(path: str) -> str:
        return CHANGED if path.endswith("settings.py") else ""

    assert read is not None
    assert work.stale().reason == "stale"
    work.close()


@pytest.mark.parametrize("failure", [Unavailable("down"), KeyError("x"), SystemExit(3)])
def test_a_source_that_fails_in_any_way_gives_way_to_the_stored_text(
    tmp_path: Path, failure: BaseException
) -> None:
    work = Work(tmp_path, "own")

    @work.memory.source("own")
    def own(_wanted: FetchRequest, _plan: Refetch) -> str:
        raise failure

    work.path.write_text(CHANGED, "utf-8")
    assert work.session.recall(work.entry_id, pattern="value_123").endswith("861")
    work.close()


def test_a_custom_source_gets_what_the_rule_says_beside_its_name(tmp_path: Path) -> None:
    work = Work(tmp_path, {"type": "own", "project": "x"})

    @work.memory.source("own")
    def own(wanted: FetchRequest, plan: Refetch) -> str:
        assert wanted.arguments == {"path": str(work.path)}
        return TEXT if plan.options == {"project": "x"} else ""

    assert work.session.recall(work.entry_id, head=1) == "1: value_000 = 0"
    work.close()


def test_what_a_rule_takes_out_of_the_original_does_not_come_back_live(tmp_path: Path) -> None:
    rules = (
        *policy("tool").lifecycle_policies,
        Rule.model_validate(
            {"match": {}, "action": {"redact": {"patterns": "value_2\\d\\d", "original": True}}}
        ),
    )
    made = Hippocampus(tmp_path, policy=EAGER.model_copy(update={"lifecycle_policies": rules}))
    made.repeatable("read")(lambda path: CHANGED)
    with made.session("s") as session, no_fallback():
        session(conversation("a.py"))
        entry_id = session.entries[0].id
        with pytest.raises(RecallError) as told:
            session.recall(entry_id, pattern="value_1")
        assert "value_2" not in session.entries.text(newer_id(told.value))
    made.close()


@pytest.mark.parametrize("max_tokens", [1, 100, 100_000])
def test_what_a_stale_recall_says_is_bounded(work: Work, max_tokens: int) -> None:
    work.path.write_text("\n".join(reversed(LINES)), "utf-8")
    with pytest.raises(RecallError) as told:
        work.session.recall(work.entry_id, max_tokens=max_tokens)
    assert len(str(told.value)) < 600 + 4 * min(max_tokens, 1_100)


def test_a_recall_leaves_room_in_the_models_window(tmp_path: Path) -> None:
    from dataclasses import replace

    from hippocampus.prices import TABLES

    prices = replace(TABLES["anthropic-5m"], window_tokens=600)
    with managed(tmp_path, policy=EAGER, prices=prices) as session:
        session(conversation("a.py"))
        entry_id = session.entries[0].id
        free = 600 - session.status()["sent_tokens"]
        assert 64 < free < 600
        assert "left out" in session.recall(entry_id, lines=(1, 300), max_tokens=2_000)
        session([*conversation("a.py"), {"role": "user", "content": "why " * 590}])
        with pytest.raises(RecallError, match="narrow it") as told:
            session.recall(entry_id, lines=(1, 300))
        assert told.value.reason == "too_large"
