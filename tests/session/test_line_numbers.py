"""Line numbers that a tool printed: every tenth stays in the view, and edits are not printed back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conversations import chat_step, managed

from hippocampus import Policy

LINES = [f"room_{number} = hall({number})" for number in range(1, 31)]
PRINTED = "\n".join(f"{number:6}→{line}" for number, line in enumerate(LINES, 1))


def asked(tool: str, arguments: dict[str, Any], result: str) -> list[dict[str, Any]]:
    return [{"role": "user", "content": "Look."}, *chat_step("c1", tool, arguments, result)]


def view_of(path: Path, items: list[dict[str, Any]], every: int) -> str:
    with managed(path, policy=Policy(line_numbers=every)) as session:
        view = session(items)
        assert session(items) == view
    return str(view[2]["content"])


def test_every_tenth_number_of_a_file_stays(tmp_path: Path) -> None:
    rows = view_of(tmp_path, asked("Read", {"file_path": "a.py"}, PRINTED), 10).split("\n")
    numbered = {at: f"{at}→{LINES[at - 1]}" for at in (1, 10, 20, 30)}
    assert rows == [numbered.get(at, line) for at, line in enumerate(LINES, 1)]


@pytest.mark.parametrize("every", [0, 1])
def test_a_policy_keeps_all_numbers(tmp_path: Path, every: int) -> None:
    assert view_of(tmp_path, asked("Read", {"file_path": "a.py"}, PRINTED), every) == PRINTED


def test_a_gap_ends_a_range(tmp_path: Path) -> None:
    """Two hunks of one file, of which the second is far below the first."""
    lines = [f"room_{number} = hall({number})" for number in range(1, 131)]
    printed = [f"{at:6}→{line}" for at, line in enumerate(lines, 1) if not 90 < at < 110]
    edit = {"file_path": "a.py", "old_string": "x = 1", "new_string": "\n".join(lines)}
    rows = view_of(tmp_path, asked("Edit", edit, "\n".join(printed)), 10).split("\n")
    assert rows == ["1-90→as written", "110-130→as written"]


def test_lines_that_an_edit_wrote_become_their_range(tmp_path: Path) -> None:
    edit = {"file_path": "a.py", "old_string": "x = 1", "new_string": "\n".join(LINES[4:20])}
    rows = view_of(tmp_path, asked("Edit", edit, PRINTED), 10).split("\n")
    assert "5-20→as written" in rows
    assert rows[0] == f"1→{LINES[0]}"
    assert rows[-1] == f"30→{LINES[-1]}"
