"""Decisive steps: the calls that wrote the submitted patch, and what views showed of what they quote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from commands import run
from conversations import chat_step

from hippocampus.prices import TABLES
from hippocampus.replay.measure import Script, measure
from hippocampus.replay.recording import Recording
from hippocampus.replay.summary import totals

OLD = "return the answer of the oracle"
NEW = "return the reply of the oracle"
PATCH = f"""\
diff --git a/src/oracle.py b/src/oracle.py
--- a/src/oracle.py
+++ b/src/oracle.py
@@ -7,1 +7,1 @@
-    {OLD}
+    {NEW}
diff --git a/try.py b/try.py
new file mode 100644
--- /dev/null
+++ b/try.py
@@ -0,0 +1 @@
+print("a line of a new file")
"""
COMMANDS = (
    "cat src/oracle.py",
    "echo 'print(\"a line of a new file\")' > try.py",
    f"edit src/oracle.py 7\n{OLD}\n{NEW}",
    "git diff",
)
RESULTS = (f"7: {OLD}", "", "", PATCH)


def trajectory() -> dict[str, Any]:
    messages = [{"role": "user", "content": "Mend the oracle."}]
    for command, result in zip(COMMANDS, RESULTS, strict=True):
        messages.append({"role": "assistant", "content": f"```bash\n{command}\n```"})
        messages.append({"role": "user", "content": result})
    info = {"submission": PATCH}
    return {"trajectory_format": "mini-swe-agent-1", "info": info, "messages": messages}


def script(submission: str = PATCH) -> Script:
    items: list[dict[str, Any]] = [{"role": "user", "content": "Mend the oracle."}]
    for number, (command, result) in enumerate(zip(COMMANDS, RESULTS, strict=True)):
        items += chat_step(f"c{number}", "bash", {"command": command}, result)
    return Script(Recording("f.json", "f", "chat", items, submission=submission))


def hide(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**each, "content": "gone"} if each["role"] == "tool" else each for each in items]


def test_the_last_call_that_writes_a_line_of_the_patch_is_decisive() -> None:
    assert script().decisive == (2,)


@pytest.mark.parametrize(
    "patch", ["", PATCH.replace(NEW, "pass"), PATCH.replace("+++ b/src/oracle", "+++ b/b")]
)
def test_without_a_line_that_a_call_wrote_to_its_file_no_step_is_decisive(patch: str) -> None:
    assert script(patch).decisive == ()


def test_hidden_quotes_count_at_the_step() -> None:
    prepared, prices = script(), TABLES["anthropic-5m"]
    shown = totals(prepared, measure(prepared, list), prices)
    assert (shown["steps"], shown["steps_hidden"]) == (1, 0)
    gone = totals(prepared, measure(prepared, hide), prices)
    assert (gone["steps"], gone["steps_hidden"]) == (1, 1)
    assert shown["step_lines"] == gone["step_lines"] == gone["step_lines_hidden"] > 0
    assert shown["step_lines_hidden"] == 0


def test_the_command_prints_hidden_steps_by_folder_and_names_them_a_proxy(tmp_path: Path) -> None:
    for folder in ("solved", "unsolved"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "one.traj.json").write_text(json.dumps(trajectory()))
    printed = " ".join(run("replay", tmp_path, cwd=tmp_path).stdout.split())
    assert printed.count("0 of 1 used something that was hidden, 0.0 % [0.0, 79.3]") == 2
    assert "1 of the 1 lines that they quote were shown" in printed
    assert "This is a proxy" in printed
    assert "With the others" not in printed
    compared = " ".join(run("replay", tmp_path, "--compare", cwd=tmp_path).stdout.split())
    assert "With the others: sliding window 32k 0.0 %, clear over 100k" in compared
