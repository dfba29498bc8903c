"""The command line: figures on stdout, one helpful sentence on stderr."""

from __future__ import annotations

import io
import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from commands import run as hippocampus
from conversations import EAGER, reading
from rich.console import Console

from hippocampus import Hippocampus
from hippocampus.cli import options
from hippocampus.cli.options import PIPED_WIDTH
from hippocampus.replay.table import WIDE_COLUMNS, figures_table


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "one.json").write_text(json.dumps(reading(3)))
    return folder


def test_help_begins_with_the_commands_that_a_newcomer_needs(tmp_path: Path) -> None:
    done = hippocampus("--help", cwd=tmp_path)
    assert done.returncode == 0
    first = done.stdout.partition("─ Commands ─")[2].partition("╰")[0]
    names = re.findall(r"^│ (\w+)", first, re.MULTILINE)
    assert names == ["replay", "explain", "status", "install", "proxy", "mcp", "memory", "policy"]
    assert "─ State directories ─" in done.stdout


@pytest.mark.parametrize("command", [[], ["gc"], ["memory", "remember"], ["study"]])
def test_help_names_no_type_of_a_flag(command: list[str], tmp_path: Path) -> None:
    assert "bool" not in hippocampus(*command, "--help", cwd=tmp_path).stdout


@pytest.mark.parametrize("command", ["doctor", "forget", "trial"])
def test_a_paragraph_of_help_is_broken_where_the_terminal_ends(
    command: str, tmp_path: Path
) -> None:
    text = hippocampus(command, "--help", cwd=tmp_path).stdout.partition("╭")[0]
    assert len([line for line in text.splitlines() if line.strip()]) == 3  # the usage, then two


def test_a_table_in_a_pipe_has_no_trailing_blanks(source: Path) -> None:
    lines = hippocampus("replay", source, "--compare", cwd=source).stdout.splitlines()
    assert [line for line in lines if line != line.rstrip()] == []


@pytest.mark.parametrize("width", [60, 80, 120])
def test_a_table_fits_the_width_and_cuts_no_figure(width: int) -> None:
    outcome = {"tokens_percent": 100.0, "cost_percent": 100.0, "dollars": 1234.5}
    outcome |= dict.fromkeys(
        ("visible_percent", "lines_percent", "own_percent", "read_percent"), 100.0
    )
    outcome |= dict.fromkeys(WIDE_COLUMNS, 0)
    out = Console(width=width, file=io.StringIO())
    out.print(figures_table("policy", {"a name that is longer than the column": outcome}))
    text = out.file.getvalue()
    assert max(map(len, text.splitlines())) <= width
    assert (text.count("100.0"), text.count("1,234.50")) == (6, 1)


def test_a_state_directory_is_replayed_by_its_name_and_explained_by_its_sessions(
    tmp_path: Path,
) -> None:
    memory = Hippocampus(tmp_path / "state", model="gpt-5.4-mini")
    for name in ("a", "b c"):
        with memory.session(name) as session:
            session(reading(3))
    memory.close()
    missing = hippocampus("explain", "state/state.sqlite3/c", cwd=tmp_path).stderr
    assert "no conversation of this session is stored" in missing
    replayed = hippocampus("replay", "state", cwd=tmp_path).stdout
    assert "state: 2 recordings" in replayed.split("\n")
    assert "at prices gpt-5.4-mini (recordings: 2" in replayed
    refused = hippocampus("explain", "state", cwd=tmp_path).stderr
    path = refused.strip().partition("name one, such as ")[2]
    unquoted = hippocampus("explain", "state/state.sqlite3/b c", cwd=tmp_path).stdout
    rules = hippocampus("explain", path, cwd=tmp_path).stdout
    assert "tool_result" in rules
    assert "tool_result" in unquoted
    assert rules.endswith("no rule of policy default sets anything here\n")


def test_of_a_file_with_many_conversations_explain_shows_the_named_one(tmp_path: Path) -> None:
    texts = ("alpha", "beta")
    lists = [[{"role": "user", "content": text}, *reading(1)[1:]] for text in texts]
    lines = (json.dumps({"messages": messages}) for messages in lists)
    (tmp_path / "many.jsonl").write_text("\n".join(lines))
    refused = hippocampus("explain", "many.jsonl", "--turn", 0, cwd=tmp_path).stderr
    assert "2 conversations; name one, such as many.jsonl#1" in refused
    shown = hippocampus("explain", "many.jsonl#2", "--turn", 0, cwd=tmp_path).stdout
    assert ("alpha" in shown, "beta" in shown) == (False, True)


@pytest.mark.parametrize(
    ("options", "model"), [((), "claude-opus-4-5"), (("--model", "gpt-5.4-mini"), "gpt-5.4-mini")]
)
def test_explain_takes_the_prices_of_the_recorded_model(
    tmp_path: Path, options: tuple[str, ...], model: str
) -> None:
    line = json.dumps({"model": "claude-opus-4-5", "messages": reading(1)})
    (tmp_path / "one.jsonl").write_text(line)
    shown = hippocampus("explain", "one.jsonl", "--turn", 0, *options, cwd=tmp_path).stdout
    assert f"turn 0, at prices {model}" in shown


def test_two_policies_are_compared_view_by_view(tmp_path: Path) -> None:
    line = json.dumps({"model": "claude-opus-4-5", "messages": reading(4)})
    (tmp_path / "one.jsonl").write_text(line)
    (tmp_path / "eager.yaml").write_text(EAGER.model_dump_json(exclude_unset=True))

    def compared(before: str) -> str:
        return hippocampus("policy", "diff", before, "eager.yaml", "one.jsonl", cwd=tmp_path).stdout

    assert "0 of 4 views have another size, in 0 of 1 recordings." in compared("eager.yaml")
    changed = compared("default")
    assert "3 of 4 views have another size, in 1 of 1 recordings." in changed
    own = hippocampus(
        "replay", "one.jsonl", "--policy", "eager.yaml", "--json", cwd=tmp_path
    ).stdout
    figures = json.loads(own)["total"]["strategies"]["hippocampus"]
    [row] = re.findall(r"^ *eager.yaml (.+)", changed, re.MULTILINE)
    assert f"{figures['cost_percent']:.1f}" in row.split()


def test_progress_in_a_pipe_is_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert list(options.track("ab", 2)) == ["a", "b"]
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(options, "PROGRESS_SECONDS", 0)
    assert list(options.track("ab", 2)) == ["a", "b"]
    assert capsys.readouterr().err == "replaying: 1 of 2\nreplaying: 2 of 2\n"


@pytest.mark.parametrize(
    "command",
    [("mcp", "--state-dir"), ("store", "copy", "state")],
)
def test_a_state_directory_that_is_a_file_is_named(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    (tmp_path / "file").write_text("mine")
    Hippocampus(tmp_path / "state").close()
    done = hippocampus(*command, "file", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.endswith("file is not a directory\n")
    assert "Errno" not in done.stderr


def test_a_taken_port_is_named_in_the_last_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = hippocampus("proxy", "--upstream", "http://localhost", "--port", port, cwd=tmp_path)
    assert done.returncode == 2
    [line] = done.stderr.splitlines()
    assert f"cannot listen on 127.0.0.1:{port}" in line
    assert "in use" in line


def test_replay_prints_one_json_object(source: Path) -> None:
    done = hippocampus("replay", source, "--json", "--compare", cwd=source)
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert found["total"]["raw"]["recordings"] == 1
    assert found["total"]["strategies"][found["ours"]]["invalid_views"] == 0
    assert list(source.iterdir()) == [source / "one.json"]


def test_replay_prints_a_table(source: Path) -> None:
    done = hippocampus("replay", source, "--compare", cwd=source)
    assert (done.returncode, done.stderr) == (0, "")
    for name in ("hippocampus", "send everything", "floor"):
        assert name in done.stdout


def test_explain_shows_both_lists_and_why(source: Path) -> None:
    policy = source / "prompt.yaml"
    policy.write_text("extends: default\nfresh_turns: {code: 0, prose: 0}\nread_turns: 0\n")
    options = ("--turn", 2, "--policy", policy)
    done = hippocampus("explain", source / "one.json", *options, cwd=source)
    assert (done.returncode, done.stderr) == (0, "")
    assert "raw list" in done.stdout
    assert "indexed" in done.stdout
    assert "on arrival" in done.stdout
    assert max(map(len, done.stdout.splitlines())) == PIPED_WIDTH


def test_no_text_of_a_recording_or_name_of_a_policy_is_markup(tmp_path: Path) -> None:
    messages = reading(2)
    messages[0]["content"] = r"Keep \[/b] and [red]this[/red] as they are \\"
    (tmp_path / "one.json").write_text(json.dumps(messages))
    (tmp_path / "[b].yaml").write_text(
        "extends: default\nlifecycle_policies:\n"
        '- name: "[/b]"\n  match: {}\n  action: {decay_rate: 0.5, compression: 200}\n'
        "fresh_up_to_tokens: 0\n"
    )
    policy = ("--policy", "[b].yaml")
    shown = hippocampus("explain", "one.json", "--turn", 1, *policy, cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert r"Keep \[/b] and [red]this[/red]" in " ".join(re.sub("│", "", shown.stdout).split())


def test_a_report_next_to_the_recordings_is_written_again_and_not_read(source: Path) -> None:
    for _ in range(2):
        done = hippocampus("replay", ".", "--report", "report.html", cwd=source)
        assert (done.returncode, done.stderr) == (0, "")
    assert "left out" not in done.stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["replay", "missing.json"], ["missing.json"]),
        (["replay", "empty"], ["no recorded session"]),
        (
            ["replay", "source", "--policy", "defualt"],
            ["no policy 'defualt': no such file or directory; did you mean default?"],
        ),
        (["replay", "source", "--policy", "bad.yaml"], ["bad.yaml:1:1", "recall_tokens", "@ $."]),
        (["replay", "source", "--model", "claude-sonet-4-5x"], ["unknown model", "did you mean"]),
        (["replay", "source", "--prices", "antropic-5m"], ["did you mean anthropic-5m"]),
        (["replay", "source", "--report", "no/x.html"], ["no/x.html: No such"]),
        (["replay", "source", "--report", "source"], ["source", "Is a directory"]),
        (["replay", "source", "--report", "loop"], ["Too many levels of symbolic links"]),
        (["replay", "source", "--report", "pipe"], ["nothing can be written to pipe"]),
        (["replay", "source", "--report", "x.html", "--texts"], ["x-texts is not a directory"]),
        (["replay", "source", "--out", "bad.yaml/rows"], ["bad.yaml is not a directory"]),
        (["replay", "source", "--out", "loop", "--resume"], ["loop is not a directory"]),
        (["replay", "loop", "--out", "rows"], ["loop: no such file or directory"]),
        (["replay", "pipe"], ["pipe: cannot be read: no regular file"]),
        (["bench", "locomo", "pipe"], ["pipe: cannot be read: no regular file"]),
        (["bench", "locomo", "wide.json"], ["wide.json: not a LoCoMo file: "]),
        (["explain", "pipe"], ["pipe: cannot be read: no regular file"]),
        (["replay", "source", "--report", "source/one.json"], ["it is a recording"]),
        (["replay", "source", "--texts"], ["name it by --report"]),
        (
            ["replay", "source/one.json", "--out", "source"],
            ["to source, in a folder of recordings"],
        ),
        (["replay", "asked.json"], ["asked.json: no model answered in it"]),
        (["study-recall", "empty/no", "{}"], ["empty/no is no case of a study"]),
        (["tune", "source", "--out", "source/one.json"], ["it is a recording"]),
        (["replay", "gone", "away"], ["gone"]),
        (["replay", "source", "--prices", "zzz"], ["there are anthropic-5m, anthropic-1h, openai"]),
        (["explain", "missing.json", "--turn", "0"], ["missing.json"]),
        (["explain", ".", "--turn", "0"], ["has 5 files or sessions; name one, such as"]),
        (["replay", "source", "--model", "foo"], ["those of the package genai-prices"]),
        (["explain", "source/one.json", "--turn", "99"], ["no turn 99", "0 to 2"]),
        (["explain", "source/one.json", "--turn", "-1"], ["no turn -1"]),
        (["explain", "bad.yaml", "--turn", "0"], ["bad.yaml"]),
    ],
    ids=lambda each: " ".join(each[:4]),
)
def test_a_mistake_is_one_helpful_sentence_and_status_2(
    source: Path, arguments: list[str], told: list[str]
) -> None:
    folder = source.parent
    (folder / "empty").mkdir()
    (folder / "bad.yaml").write_text("recall_token: 9\n")
    (folder / "x-texts").write_text("")
    (folder / "loop").symlink_to("loop")
    (folder / "wide.json").write_bytes('{"a": 1'.encode("utf-16"))
    os.mkfifo(folder / "pipe")
    (folder / "asked.json").write_text(json.dumps(reading(1)[:1]))
    done = hippocampus(*arguments, cwd=folder)
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) <= 2
    for words in told:
        assert words in done.stderr


def test_a_recording_comes_from_a_pipe_and_its_report_goes_into_one(source: Path) -> None:
    command = "cat one.json | $0 -m hippocampus replay /dev/stdin --report /dev/stderr > /dev/null"
    done = subprocess.run(
        ["sh", "-c", command, sys.executable],
        cwd=source,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "</html>" in done.stderr
    assert hippocampus("replay", "one.json", "--report", "/dev/null", cwd=source).returncode == 0


def test_the_known_formats_are_listed_once(tmp_path: Path) -> None:
    for name in ("one.txt", "two.txt"):
        (tmp_path / name).write_text("hello")
    done = hippocampus("replay", tmp_path, cwd=tmp_path)
    assert (done.returncode, done.stderr.count("claude-code")) == (2, 1)


@pytest.mark.skipif(os.name != "posix", reason="a shell of POSIX")
def test_a_command_runs_without_standard_streams(source: Path) -> None:
    line = f'exec "{sys.executable}" -m hippocampus replay "{source}" <&- >&- 2>&-'
    assert subprocess.run(["sh", "-c", line], check=False).returncode == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_output_that_cannot_be_written_is_one_sentence() -> None:
    command = [sys.executable, "-m", "hippocampus", "policy", "schema"]
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (
        2,
        "hippocampus: [Errno 28] No space left on device\n",
    )


def test_a_wrong_choice_lists_the_choices(source: Path) -> None:
    done = hippocampus("replay", source, "--marks", "hers", cwd=source)
    assert done.returncode == 2
    assert (
        "Invalid value for '--marks': 'hers' is not one of 'tail', 'ours', 'ideal'" in done.stderr
    )


def test_a_timeout_of_no_time_is_refused(tmp_path: Path) -> None:
    done = hippocampus("proxy", "--upstream", "http://127.0.0.1:9", "--timeout", -3, cwd=tmp_path)
    assert done.returncode == 2
    assert "Invalid value for '--timeout'" in done.stderr


def test_of_several_paths_one_that_is_not_there_is_told_and_left_out(source: Path) -> None:
    done = hippocampus("replay", "gone", source, cwd=source.parent)
    assert done.returncode == 0
    assert "left out gone: no such file or directory" in done.stdout
    told = json.loads(hippocampus("replay", source, "gone", "--json", cwd=source.parent).stdout)
    assert told["skipped"] == [{"path": "gone", "reason": "no such file or directory"}]
    assert hippocampus("replay", source, "gone", "--strict", cwd=source.parent).returncode == 1


def test_strict_ends_with_status_1_on_a_broken_line(source: Path) -> None:
    lines = [json.dumps(item) for item in reading(2)]
    (source / "two.jsonl").write_text("\n".join([*lines, "{broken"]))
    assert hippocampus("replay", source, "--json", cwd=source).returncode == 0
    done = hippocampus("replay", source, "--json", "--strict", cwd=source)
    assert done.returncode == 1
    assert "not read" in done.stderr
    assert json.loads(done.stdout)["total"]["raw"]["broken_lines"] == 1
