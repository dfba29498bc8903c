"""Decisive steps: the calls that wrote the submitted patch, and what views showed of what they quote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from commands import run

from hippocampus.prices import TABLES
from hippocampus.replay.measure import Script, measure, prepare
from hippocampus.replay.outcomes import DecisiveSums, decisive_sums, outcomes
from hippocampus.replay.recording import Recording

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
        function = {"name": "bash", "arguments": json.dumps({"command": command})}
        call = {"id": f"c{number}", "type": "function", "function": function}
        items.append({"role": "assistant", "content": None, "tool_calls": [call]})
        items.append({"role": "tool", "tool_call_id": f"c{number}", "content": result})
    return prepare(Recording("f.json", "f", "chat", items, submission=submission))


def hide(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**each, "content": "gone"} if each["role"] == "tool" else each for each in items]


def test_the_last_call_that_writes_a_line_of_the_patch_is_decisive() -> None:
    assert dict(script().decisive.quotes) == {2: frozenset({OLD})}


@pytest.mark.parametrize(
    "patch", ["", PATCH.replace(NEW, "pass"), PATCH.replace("+++ b/src/oracle", "+++ b/b")]
)
def test_without_a_line_that_a_call_wrote_to_its_file_no_step_is_decisive(patch: str) -> None:
    assert dict(script(patch).decisive.quotes) == {}


def test_what_a_step_quotes_is_looked_for_from_its_arrival_on() -> None:
    steps = script().decisive
    assert [steps.ahead(call) for call in range(4)] == [set(), {OLD}, set(), set()]


def test_hidden_quotes_count_at_the_step_and_in_the_calls_before_it() -> None:
    prepared, prices = script(), TABLES["anthropic-5m"]
    everything, hidden = measure(prepared, list), measure(prepared, hide)
    shown = decisive_sums(prepared, everything, everything, prices)
    assert (shown.steps, shown.steps_hidden, shown.lines, shown.lines_shown) == (1, 0, 1, 1)
    assert (shown.calls_before, shown.calls_hidden) == (1, 0)
    gone = decisive_sums(prepared, hidden, everything, prices)
    assert (gone.steps_hidden, gone.lines_shown, gone.calls_hidden) == (1, 0, 1)
    assert gone.raw_cost == shown.cost == everything.cost(prices)


def sums(steps: int, steps_hidden: int) -> dict[str, DecisiveSums]:
    return {"ours": DecisiveSums(steps, steps_hidden, 0, 0, 0, 0, 0, 0, 8.0, 10.0)}


def test_figures_are_ratios_of_sums_with_intervals_over_recordings() -> None:
    found = outcomes({"solved": [sums(1, 0), sums(3, 2)], "unsolved": [sums(2, 2), sums(2, 2)]})
    solved, unsolved = (
        found["folders"][name]["strategies"]["ours"]["percent"] for name in ("solved", "unsolved")
    )
    assert solved["steps_hidden"] == pytest.approx([50.0, 0.0, 66.67])
    assert unsolved["steps_hidden"] == [100.0, 100.0, 100.0]
    assert (solved["lines"], solved["cost"]) == (None, [80.0, 80.0, 80.0])
    assert found["difference"]["ours"]["steps_hidden"] == pytest.approx([50.0, 33.33, 100.0])
    assert outcomes({"solved": [sums(1, 0)]})["difference"] is None


def test_the_command_prints_folders_and_says_that_it_is_a_proxy(tmp_path: Path) -> None:
    for folder in ("solved", "unsolved"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "one.traj.json").write_text(json.dumps(trajectory()))
    printed = " ".join(run("replay", tmp_path, "--outcomes", cwd=tmp_path).stdout.split())
    assert "solved: 1 of 1 recordings have a decisive step." in printed
    assert "unsolved minus solved: 0.0 [0.0, 0.0] points: no difference was found." in printed
    assert "This is a proxy" in printed
    figures = json.loads(run("replay", tmp_path, "--outcomes", "--json", cwd=tmp_path).stdout)
    assert figures["outcomes"]["folders"]["solved"]["strategies"]["hippocampus"]["lines"] == 1
