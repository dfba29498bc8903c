"""Real coding agents behind the proxy, each with the settings that its page in the documentation has."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

pytest.importorskip("starlette")
pytest.importorskip("prometheus_client")
from integrations.proxy.hosts import Items, calls_and_results
from integrations.proxy.test_proxy import conversations, proxied

from hippocampus.testing import Decided, call, entry_ids

PAGES = Path(__file__).parents[3] / "docs" / "hosts"
MODEL = "claude-sonnet-4-5"
ADDRESS = "http://127.0.0.1:8787"


class Agent(NamedTuple):
    """How an agent is set up, and run with a prompt at the end of its arguments."""

    package: str
    settings: str
    """The file in the home folder that its page names; empty where a variable is enough."""
    shell: str
    """Its tool that runs a command."""
    arguments: tuple[str, ...]
    again: tuple[str, ...] = ()
    """What continues its last session."""
    variables: Mapping[str, str] = {"ANTHROPIC_BASE_URL": ADDRESS}
    """As its page has them."""
    is_continued: bool = True
    """Whether its next run sends the list of the last one, so that the proxy knows it again."""


AGENTS = {
    "claude": Agent(
        "@anthropic-ai/claude-code",
        "",
        "Bash",
        ("--allowedTools=Bash", "--model", MODEL, "-p"),
        ("--continue",),
    ),
    "opencode": Agent(
        "opencode-ai",
        ".config/opencode/opencode.json",
        "bash",
        ("run", "-m", f"anthropic/{MODEL}"),
        ("--continue",),
    ),
    "pi": Agent(
        "@earendil-works/pi-coding-agent",
        ".pi/agent/models.json",
        "bash",
        ("--offline", "--provider", "anthropic", "--model", MODEL, "-p"),
        ("--continue",),
    ),
    "openclaw": Agent(
        "openclaw",
        ".openclaw/openclaw.json",
        "exec",
        ("agent", "--local", "--agent", "main", "--model", f"anthropic/{MODEL}", "-m"),
    ),
    "qwen": Agent(
        "@qwen-code/qwen-code",
        "",
        "run_shell_command",
        ("--auth-type=anthropic", "--yolo", "-p"),
        variables={"ANTHROPIC_BASE_URL": ADDRESS, "ANTHROPIC_MODEL": MODEL},
        is_continued=False,
    ),
}


def deciding(shell: str, rows: Path) -> Callable[[Items], Decided]:
    """Return a model that prints many rows, recalls one, and ends."""

    def decide(items: Items) -> Decided:
        made = len(calls_and_results(items)[0])
        if made == 0:
            printing = f"python3 -c 'print(open(\"{rows}\").read())'"
            return call(shell, command=printing, description="Print the rows")
        if made == 1:
            return call("recall", entry_id=entry_ids(items)[0], pattern="row-417")
        return "Row 417 is late."

    return decide


def without_marks(items: Items) -> Items:
    """Return messages with blocks for text, and without what the host moves from call to call."""
    blocks = [
        [{"type": "text", "text": each["content"]}]
        if isinstance(each["content"], str)
        else [{k: v for k, v in block.items() if k != "cache_control"} for block in each["content"]]
        for each in items
    ]
    return [{**each, "content": content} for each, content in zip(items, blocks, strict=True)]


@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_runs_and_continues_through_the_proxy_and_never_sees_a_recall(
    name: str, state: Path, tmp_path: Path
) -> None:
    agent, program = AGENTS[name], shutil.which(name)
    if program is None:
        pytest.skip(f"no {name}: npm install -g {agent.package}")
    home, folder = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    folder.mkdir()
    path = folder / "rows.json"
    rows = [{"id": f"row-{n}", "state": "late" if n == 417 else "open"} for n in range(600)]
    path.write_text(json.dumps(rows), "utf-8")
    with proxied(state, deciding(agent.shell, path), thinking="Hm.") as (upstream, url):
        variables = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "PWD": str(folder),
            "ANTHROPIC_API_KEY": "sk-ant-unused",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "IS_SANDBOX": "1",
        }
        if agent.settings:
            page = (PAGES / f"{name}.md").read_text("utf-8")
            assert f"`~/{agent.settings}`" in page
            [settings] = re.findall(r"```text\n(.*?)```", page, re.DOTALL)
            (home / agent.settings).parent.mkdir(parents=True)
            (home / agent.settings).write_text(settings.replace("http://127.0.0.1:8787", url))
        else:
            given = agent.variables.items()
            variables |= {each: value.replace(ADDRESS, url) for each, value in given}
        prompts = [("Which row is late?", ()), ("Is that all?", agent.again)]
        for prompt, flags in prompts[: 1 + agent.is_continued]:
            done = subprocess.run(
                [program, agent.arguments[0], *flags, *agent.arguments[1:], prompt],
                check=False, capture_output=True, text=True, timeout=200,
                stdin=subprocess.DEVNULL, cwd=folder, env=variables,
            )  # fmt: skip
            assert done.returncode == 0, done.stdout + done.stderr
            assert "Row 417 is late." in done.stdout
        shown = [each for each in conversations(url) if each["recalls"]["full"]]
    sent = [each for each in upstream.sent if each.body.get("tools")]
    assert [len(calls_and_results(each.items)[0]) for each in sent] == [0, 1, 2, 2][
        : 3 + agent.is_continued
    ]
    assert "row-417" in json.dumps(sent[2].items[-1])
    assert len(sent[1].content) < len(sent[0].content) + len(json.dumps(rows)) / 2
    later = [without_marks(each.items)[:3] for each in sent[2:]]
    assert later[0] == later[-1]
    [conversation] = shown
    assert conversation["recalls"]["full"] == 1
    assert conversation["failures"] == 0
