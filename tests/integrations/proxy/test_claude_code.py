"""The real Claude Code behind the proxy, where it is installed: `npm install -g @anthropic-ai/claude-code`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("starlette")
pytest.importorskip("prometheus_client")
from integrations.proxy.hosts import Items, calls_and_results
from integrations.proxy.test_proxy import conversations, proxied

from hippocampus.testing import Decided, call, entry_ids

CLAUDE = shutil.which("claude")


def decide(items: Items) -> Decided:
    """Print many rows, recall one, and end."""
    made = len(calls_and_results(items)[0])
    if made == 0:
        return call("Bash", command="cat rows.json", description="Print the rows")
    if made == 1:
        return call("recall", entry_id=entry_ids(items)[0], pattern="row-417")
    return "Row 417 is late."


@pytest.mark.skipif(CLAUDE is None, reason="no claude: npm install -g @anthropic-ai/claude-code")
def test_claude_code_runs_through_the_proxy_and_never_sees_a_recall(
    state: Path, tmp_path: Path
) -> None:
    home, folder = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    folder.mkdir()
    rows = [{"id": f"row-{n}", "state": "late" if n == 417 else "open"} for n in range(600)]
    (folder / "rows.json").write_text(json.dumps(rows), "utf-8")
    with proxied(state, decide, thinking="Hm.") as (upstream, url):
        variables = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "sk-ant-unused",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "IS_SANDBOX": "1",
        }
        options = ["--allowedTools", "Bash", "--model", "claude-sonnet-4-5"]
        done = subprocess.run(
            [str(CLAUDE), "-p", "Which row is late?", *options, "--output-format", "json"],
            check=True, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL,
            cwd=folder, env=variables,
        )  # fmt: skip
        [shown] = conversations(url)
    assert "Row 417 is late." in json.loads(done.stdout)["result"]
    sent = [each for each in upstream.sent if each.target.startswith("/v1/messages")]
    assert [len(calls_and_results(each.items)[0]) for each in sent] == [0, 1, 2]
    assert "row-417" in json.dumps(sent[2].items[-1])
    assert len(sent[1].content) < len(sent[0].content) + len(json.dumps(rows)) / 2
    assert shown["recalled"] == 1
    assert shown["status"]["failures"] == 0
