"""What `install` and `uninstall` write into the settings of coding agents."""

from __future__ import annotations

import json
import os
import shlex
import sys
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hippocampus.cli.commands import app
from hippocampus.errors import StoreError
from hippocampus.integrations import hooks
from hippocampus.integrations.hooks import settings, status

HOSTS = ["claude-code", "codex", "gemini"]
OWN = {
    "model": "opus",
    "hooks": {
        "PostToolUse": [{"matcher": "Edit", "hooks": [{"type": "command", "command": "lint"}]}],
        "Stop": [{"hooks": [{"type": "command", "command": "~/hippocampus/hook --state-dir x"}]}],
    },
    "mcpServers": {"tracker": {"command": "tracker"}},
}
TOML = '# mine\nmodel = "gpt-5"  # kept\n\n[mcp_servers.tracker]\ncommand = "tracker"\n'


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(status, "PROBE_SECONDS", 600)  # a loaded machine starts a server late
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def paths(host: str) -> set[Path]:
    found = settings.HOSTS[host]
    return {settings.hooks_path(found, None), settings.servers_path(found, None)}


def run(*arguments: str) -> str:
    ended = CliRunner().invoke(app, list(arguments))
    assert ended.exit_code == 0, ended.output
    return ended.output


def with_own_settings(host: str) -> dict[Path, str]:
    """Write settings of the user's own into a host's files; return what stands in each."""
    written = {}
    for path in paths(host):
        path.parent.mkdir(exist_ok=True)
        text = TOML if path.suffix == ".toml" else json.dumps(OWN, indent=4)
        path.write_text(text)
        path.chmod(0o644)
        written[path] = text
    return written


@pytest.mark.parametrize("host", HOSTS)
def test_hooks_and_server_are_added_once_and_what_was_there_stays(host: str) -> None:
    own = with_own_settings(host)
    run("install", host)
    once = {path: path.read_text() for path in own}
    assert "nothing to change" in run("install", host)
    assert {path: path.read_text() for path in own} == once
    for path, text in once.items():
        assert path.stat().st_mode & 0o777 == 0o644
        if path.suffix == ".toml":
            assert text.startswith(TOML)
            assert set(tomllib.loads(text)["mcp_servers"]) == {"tracker", "hippocampus"}
            continue
        found = json.loads(text)
        assert found["model"] == "opus"
        assert found["hooks"]["PostToolUse"][0] == OWN["hooks"]["PostToolUse"][0]
        assert found["hooks"]["Stop"] == OWN["hooks"]["Stop"]
        assert found["mcpServers"]["tracker"] == {"command": "tracker"}
        assert text.startswith('{\n    "')  # with the indentation that it had


@pytest.mark.parametrize("host", HOSTS)
def test_uninstall_gives_back_what_was_there(host: str) -> None:
    own = with_own_settings(host)
    run("install", host)
    run("uninstall", host)
    for path, text in own.items():
        if path.suffix == ".toml":
            assert path.read_text() == text
        else:
            assert json.loads(path.read_text()) == json.loads(text)


@pytest.mark.parametrize("host", sorted(settings.HOSTS.keys() - set(HOSTS)))
def test_a_server_is_added_next_to_others_and_taken_out_again(host: str) -> None:
    found = settings.HOSTS[host]
    path = settings.servers_path(found, None)
    own = {"theme": "dark", found.key: {"tracker": {"command": "tracker"}}}
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(own))
    run("install", host)
    once = path.read_text()
    assert "nothing to change" in run("install", host)
    assert path.read_text() == once
    assert settings.server_command(found, None)[:5] == [
        sys.executable, "-P", "-m", "hippocampus", "mcp",
    ]  # fmt: skip
    run("uninstall", host)
    assert json.loads(path.read_text()) == own


def test_an_environment_that_uvx_removes_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "prefix", "/home/ann/.cache/uv/archive-v0/6L4DH0HLZLMLeoW2")
    ended = CliRunner().invoke(app, ["install", "kimi", "--dry-run"])
    assert ended.exit_code == 2
    assert "uv tool install" in ended.output


def test_a_host_without_settings_of_a_folder_refuses_project() -> None:
    ended = CliRunner().invoke(app, ["install", "cline", "--project"])
    assert "reads the servers of the user only" in str(ended.exception)


@pytest.mark.parametrize("host", HOSTS)
def test_a_dry_run_prints_the_change_and_writes_nothing(host: str) -> None:
    printed = run("install", host, "--dry-run")
    assert "+++" in printed
    assert "hippocampus hook --state-dir" in printed
    assert not any(path.exists() for path in paths(host))


@pytest.mark.parametrize("host", HOSTS)
def test_hand_edits_of_our_entries_are_kept(host: str) -> None:
    run("install", host)
    path = settings.hooks_path(settings.HOSTS[host], None)
    found = json.loads(path.read_text())
    event = "AfterTool" if host == "gemini" else "PostToolUse"
    found["hooks"][event][0]["matcher"] = "Bash"
    found["hooks"][event][0]["hooks"][0]["timeout"] = 5
    path.write_text(json.dumps(found))
    run("install", host, "--policy", "coding")
    [group] = json.loads(path.read_text())["hooks"][event]
    assert group["matcher"] == "Bash"
    assert group["hooks"][0]["timeout"] == 5
    assert group["hooks"][0]["command"].endswith("--policy coding")


def test_project_settings_are_those_that_are_not_shared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    run("install", "claude-code", "--project")
    written = json.loads((project / ".claude" / "settings.local.json").read_text())
    command = written["hooks"]["PostToolUse"][0]["hooks"][0]["command"]
    assert f"--state-dir {project / '.hippocampus'}" in command
    assert "hippocampus" in json.loads((project / ".mcp.json").read_text())["mcpServers"]


def test_a_state_in_a_project_is_kept_out_of_git(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run("install", "codex", "--project", "--state-dir", "own")
    run("install", "codex", "--project", "--state-dir", "postgresql://server/state")
    ignored = [path.relative_to(tmp_path) for path in tmp_path.rglob(".gitignore")]
    assert ignored == [Path("own/.gitignore")]
    assert (tmp_path / ignored[0]).read_text() == "*\n"


@pytest.mark.parametrize(
    ("host", "text", "reason"),
    [
        ("claude-code", '{"a": 1, // mine\n}', "not plain JSON"),
        ("claude-code", "[]", "not a JSON object"),
        ("claude-code", '{"hooks": []}', "not of the usual form"),
        ("gemini", '{"mcpServers": [1]}', "not of the usual form"),
        ("claude-code", '{"hooks": {"Stop": []}, "hooks": {}}', "'hooks' is there twice"),
        ("claude-code", '{"a": 1e999}', "not plain JSON"),
        ("claude-code", r'{"a": "\ud800"}', "not plain JSON"),
        ("claude-code", '{"a": ' + "[" * 9_999 + "]" * 9_999 + "}", "not plain JSON"),
    ],
)
def test_settings_that_cannot_be_read_are_refused_and_stay(
    host: str, text: str, reason: str
) -> None:
    path = settings.hooks_path(settings.HOSTS[host], None)
    path.parent.mkdir()
    path.write_text(text)
    for verb in ("install", "status"):
        ended = CliRunner().invoke(app, [verb, host])
        assert reason in str(ended.exception)
    assert path.read_text() == text


@pytest.mark.parametrize("kind", ["pipe", "loop", "read-only"])
def test_a_file_that_cannot_be_written_is_refused_and_stays(kind: str) -> None:
    path = settings.hooks_path(settings.HOSTS["claude-code"], None)
    path.parent.mkdir()
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "loop":
        path.symlink_to(path)
    else:
        path.write_text("{}")
        path.chmod(0o444)
    before = path.lstat()[:7], path.lstat().st_mtime_ns  # reading it changes its other times
    ended = CliRunner().invoke(app, ["install", "claude-code"])
    assert isinstance(ended.exception, StoreError)
    assert (path.lstat()[:7], path.lstat().st_mtime_ns) == before


LINES = {
    "claude-code": '{\r\n  "model": "x"\r\n}\r\n',
    "codex": '# mine\r\nmodel = "x"\r\n',
}


@pytest.mark.parametrize("host", LINES)
def test_line_ends_stay(host: str) -> None:
    of = settings.hooks_path if host == "claude-code" else settings.servers_path
    path = of(settings.HOSTS[host], None)
    path.parent.mkdir()
    path.write_bytes(LINES[host].encode())
    run("install", host)
    assert path.read_bytes().count(b"\n") == path.read_bytes().count(b"\r\n") > 3
    run("uninstall", host)
    assert path.read_bytes() == LINES[host].encode()


def test_uninstall_leaves_the_empty_hooks_of_others() -> None:
    path = settings.hooks_path(settings.HOSTS["claude-code"], None)
    path.parent.mkdir()
    own = {"hooks": {"Stop": [], "PostToolUse": [{"matcher": "Bash", "hooks": []}]}}
    path.write_text(json.dumps(own))
    run("install", "claude-code")
    run("uninstall", "claude-code")
    assert json.loads(path.read_text()) == own


def test_a_table_after_half_of_our_block_stays() -> None:
    path = settings.servers_path(settings.HOSTS["codex"], None)
    path.parent.mkdir()
    own = f'{settings.BEGIN}\n[mcp_servers.mine]\ncommand = "own"\n'
    path.write_text(own)
    run("install", "codex")
    run("uninstall", "codex")
    assert path.read_text() == own


def test_a_table_of_our_name_that_someone_else_wrote_is_refused() -> None:
    path = settings.servers_path(settings.HOSTS["codex"], None)
    path.parent.mkdir()
    path.write_text('[mcp_servers.hippocampus]\ncommand = "own"\n')
    ended = CliRunner().invoke(app, ["install", "codex"])
    assert "not valid TOML with our table in it" in str(ended.exception)


def test_a_link_to_settings_elsewhere_stays_a_link(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.json"
    real.write_text("{}")
    path = settings.hooks_path(settings.HOSTS["claude-code"], None)
    path.parent.mkdir()
    path.symlink_to(real)
    run("install", "claude-code")
    assert path.is_symlink()
    assert "hooks" in json.loads(real.read_text())
    real.unlink()
    ended = CliRunner().invoke(app, ["install", "claude-code"])
    assert "it is a link to nothing" in str(ended.exception)
    assert not real.exists()


def test_status_reports_a_hook_that_is_missing_or_does_not_run(tmp_path: Path) -> None:
    missing = CliRunner().invoke(app, ["status", "claude-code"])
    assert missing.exit_code == 1
    assert "not installed" in missing.output
    run("install", "claude-code")
    path = settings.hooks_path(settings.HOSTS["claude-code"], None)
    path.write_text(path.read_text().replace(" -P -m hippocampus hook", " -Q -m hippocampus hook"))
    broken = CliRunner().invoke(app, ["status", "claude-code"])
    assert broken.exit_code == 1
    assert "exit status 2" in broken.output


def test_status_reports_a_server_that_does_not_start(home: Path) -> None:
    pytest.importorskip("mcp")
    run("install", "gemini")
    assert "server" in run("status", "gemini")
    path = settings.servers_path(settings.HOSTS["gemini"], None)
    path.write_text(path.read_text().replace('"mcp"', '"mpc"'))
    broken = CliRunner().invoke(app, ["status", "gemini"])
    assert broken.exit_code == 1
    assert "No such command 'mpc'" in broken.output


def test_a_file_with_the_name_of_a_shipped_policy_is_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "default").write_text("compression: none\n")
    run("install", "claude-code")
    assert "--policy" not in settings.hook_command(settings.HOSTS["claude-code"], None)


@pytest.mark.parametrize("own", ["", f"{sys.executable} -P -m hippocampus hook --state-dir x; "])
def test_status_runs_no_command_of_a_cloned_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own: str
) -> None:
    monkeypatch.chdir(tmp_path)
    line = f"{own}touch ran # -m hippocampus hook --state-dir "
    hook = {"hooks": {"PostToolUse": [{"hooks": [{"type": "command", "command": line}]}]}}
    server = {"command": "sh", "args": ["-c", "touch ran"]}
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude/settings.local.json").write_text(json.dumps(hook))
    (tmp_path / ".mcp.json").write_text(json.dumps({"mcpServers": {"hippocampus": server}}))
    ended = CliRunner().invoke(app, ["status", "claude-code", "--project"])
    assert ended.exit_code == 1
    assert ended.output.count("of another program, and not run") == 2
    assert not (tmp_path / "ran").exists()


def test_status_runs_the_commands_that_install_wrote_into_a_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("mcp")
    project = tmp_path / "a project's"
    project.mkdir()
    monkeypatch.chdir(project)
    run("install", "claude-code", "--project")
    assert run("status", "claude-code", "--project").count("answers in") == 2
    line = shlex.join([str(Path(sys.executable).with_name("python3")), *settings.PROGRAM[1:]])
    assert settings.is_own(f"{line} mcp --state-dir x", "mcp")
    assert not settings.is_own(f"{line} forget x", "mcp")


def test_another_program_next_to_this_python_is_not_this_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `/usr/bin/bash` is: with the same options it runs the file `hippocampus` of a project."""
    (tmp_path / "python").symlink_to(sys.executable)
    (tmp_path / "bash").touch()
    monkeypatch.setattr(settings, "PROGRAM", [str(tmp_path / "python"), *settings.PROGRAM[1:]])
    (tmp_path / "python3").symlink_to(sys.executable)
    lines = [
        shlex.join([str(tmp_path / name), *settings.PROGRAM[1:], "hook"])
        for name in ("python3", "bash")
    ]
    assert [settings.is_own(line, "hook") for line in lines] == [True, False]


def test_nothing_is_installed_where_the_server_could_not_run(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    ended = CliRunner().invoke(app, ["install", "gemini"])
    assert ended.exit_code == 2
    assert 'pip install "hippocampus-context[mcp]"' in ended.output
    assert 'pipx install "hippocampus-context[mcp]"' in ended.output
    assert list(home.iterdir()) == []


def test_status_names_an_edit_that_the_host_dropped(tmp_path: Path) -> None:
    transcript = tmp_path / "s1.jsonl"
    state = tmp_path / ".hippocampus"
    state.mkdir()
    edits = [
        {"at": 1.0, "entry": name, "session": "s1", "transcript": str(transcript)}
        for name in ("aaaaaaaa", "bbbbbbbb")
    ]
    gone = {"at": 1.0, "entry": "cccccccc", "session": "s2", "transcript": "missing.jsonl"}
    for each in (*edits, gone):
        hooks.note_event(str(state), each)
    use = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}
    given = "[aaaaaaaa · Bash · 9 tokens · json]"
    result = {"type": "tool_result", "tool_use_id": "t1", "content": given}
    answer = {"role": "assistant", "model": "m", "content": [use]}
    hook = {"type": "attachment", "attachment": {"stdout": "[bbbbbbbb · Bash"}}
    lines = [
        {"type": "user", "sessionId": "s1", "message": {"role": "user", "content": "List."}},
        {"type": "assistant", "sessionId": "s1", "message": answer},
        {"type": "user", "sessionId": "s1", "message": {"role": "user", "content": [result]}},
        {"sessionId": "s1", **hook},
    ]
    transcript.write_text("\n".join(map(json.dumps, lines)))
    ended = CliRunner().invoke(app, ["status", "claude-code"])
    assert "1 of 2 arrived; 1 without a transcript" in ended.output
    assert "dropped  bbbbbbbb" in ended.output
    assert ended.exit_code == 1
    other = CliRunner().invoke(app, ["status", "codex"])
    assert "0 of 0 arrived; 1 without a transcript" in other.output
