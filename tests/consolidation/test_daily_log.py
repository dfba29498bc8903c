"""Daily logs: each consolidation is told once, on its day, in words."""

from __future__ import annotations

from pathlib import Path

from hippocampus.consolidation import memory_file
from hippocampus.consolidation.memory_file import log
from hippocampus.facts.store import Facts
from hippocampus.session.resources import ConsolidationOutcome, KeptItem
from hippocampus.storage.state_dir import StateDir

AT = 1_770_649_200.0
FACT = "0190c3a1-0000-7000-8000-003f2a9c1b0d"
KEPT = (
    KeptItem("Answer in French.", "preference", "user", "ticket 47", 3, None, FACT, "added"),
    KeptItem("Build -->\n## failed", "error", "tool", "ticket 47", 5, "kq3v7a2c"),
)
WRITTEN = """\
# 2026-02-09

## 15:00 ticket 47, turn 6 <!-- session 8b5c5e5a6d2c turn 6 -->

- preference: Answer in French. (user, turn 3, added) <!-- 3f2a9c1b0d -->
- error: Build -- > ## failed (tool, turn 5, entry kq3v7a2c)
"""


def outcome(
    turn: int = 6, *, finished: bool = True, session: str = "ticket 47"
) -> ConsolidationOutcome:
    return ConsolidationOutcome(session, turn, KEPT, finished)


def test_a_day_has_what_each_session_kept(tmp_path: Path) -> None:
    assert log(StateDir(tmp_path), outcome(), AT)
    [path] = StateDir(tmp_path).daily_logs()
    key = memory_file._name("ticket 47")
    assert path.read_text() == WRITTEN.replace("8b5c5e5a6d2c", key)


def test_a_consolidation_of_messages_only_is_not_one_of_nothing(tmp_path: Path) -> None:
    assert log(StateDir(tmp_path), ConsolidationOutcome("talk", 1, (), finished=True), AT)
    [path] = StateDir(tmp_path).daily_logs()
    assert path.read_text().endswith("\n\nNo statement was kept; messages are not listed.\n")


def test_a_consolidation_is_told_once(tmp_path: Path) -> None:
    """Also where it is repeated the day after; an unfinished one is told when it is finished."""
    assert not log(StateDir(tmp_path), outcome(finished=False), AT)
    assert log(StateDir(tmp_path), outcome(), AT)
    before = StateDir(tmp_path).daily_logs()[0].read_bytes()
    assert not log(StateDir(tmp_path), outcome(), AT + 86_400)
    assert [path.read_bytes() for path in StateDir(tmp_path).daily_logs()] == [before]
    assert log(StateDir(tmp_path), outcome(9), AT + 86_400)
    assert log(StateDir(tmp_path), outcome(6, session="another"), AT)
    assert [path.name for path in StateDir(tmp_path).daily_logs()] == [
        "2026-02-09.md",
        "2026-02-10.md",
    ]
    assert StateDir(tmp_path).daily_logs()[0].read_bytes().startswith(before)


def test_what_a_person_writes_into_it_stays(tmp_path: Path) -> None:
    log(StateDir(tmp_path), outcome(6), AT)
    [path] = StateDir(tmp_path).daily_logs()
    path.write_text("My notes.\n" + path.read_text())
    log(StateDir(tmp_path), outcome(9), AT)
    assert path.read_text().startswith("My notes.\n# 2026-02-09\n")


def test_a_session_may_have_half_a_character_in_its_name(tmp_path: Path) -> None:
    assert log(StateDir(tmp_path), outcome(session="a\ud800"), AT)
    [path] = StateDir(tmp_path).daily_logs()
    assert "15:00 a\\ud800, turn 6" in path.read_text()


def test_a_log_with_line_ends_of_windows_keeps_them_and_a_persons_words(tmp_path: Path) -> None:
    state = StateDir(tmp_path)
    log(state, outcome(), AT)
    [path] = state.daily_logs()
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n").replace(b"-09", b"-09 Busy."))
    log(state, outcome(session="another"), AT)
    assert path.read_bytes().count(b"\n") == path.read_bytes().count(b"\r\n")
    for session in ("ticket 47", "another"):
        memory_file.remove_from_logs(state, session)
    assert path.read_bytes() == b"# 2026-02-09 Busy.\r\n"
    path.write_text("# 2026-02-09\n")
    memory_file.remove_from_logs(state, "another")
    assert not path.exists()


def test_the_line_of_a_deleted_fact_goes_from_a_log_of_windows(tmp_path: Path) -> None:
    state = StateDir(tmp_path)
    with Facts(tmp_path / "memory.sqlite3") as facts:
        kept = facts.store("Answer in French.").memory
        assert kept
        found = KeptItem("Answer in French.", "preference", "user", "one", 3, None, kept.id)
        log(state, ConsolidationOutcome("one", 3, (found,), finished=True), AT)
        [path] = state.daily_logs()
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
        facts.delete([kept.id])
        memory_file.sync_logs(state, facts.tables.database)
        assert b"French" not in path.read_bytes()
