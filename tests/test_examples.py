"""The examples run, and the recordings are what their README says."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from hippocampus.formats import reader
from hippocampus.formats.conversation import Message, Part, write
from hippocampus.models import tokens

EXAMPLES = Path(__file__).parent.parent / "examples"
RECORDINGS = sorted((EXAMPLES / "transcripts").glob("*.json"))
VALUE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./:@#\-]{4,}[A-Za-z0-9_]|\d[\d.,]{3,}\d")
MAIL = re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]+")
REGISTRY = re.compile(r"(?:pypi|pythonhosted|anaconda|npmjs|crates)\.(?:org|com|io)")
each_recording = pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)


def items_of(path: Path) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))
    return items


@cache
def read(path: Path) -> tuple[Message, ...]:
    return tuple(reader.read(items_of(path)))


def format_of(path: Path) -> str:
    adapter, telling = reader.adapter_of(items_of(path))
    assert telling is not None
    return str(getattr(adapter, "__name__", "")).rpartition(".")[2]


def parts(path: Path, kind: str) -> Iterator[Part]:
    return (part for message in read(path) for part in message.parts if part.kind == kind)


def weight(path: Path) -> int:
    return sum(tokens.count_message(message) for message in read(path))


def values(text: str) -> set[str]:
    """Return what looks like a name, path, id or number in a text."""
    return {value for value in VALUE.findall(text) if re.search(r"\d|_|/|\w\.\w|[a-z][A-Z]", value)}


def uses(path: Path) -> list[tuple[int, str]]:
    """Return each value that a call takes from an earlier result, and how many turns earlier."""
    seen: dict[str, int] = {}
    used: list[tuple[int, str]] = []
    turn = 0
    for message in read(path):
        turn += message.role == "assistant"
        for part in message.parts:
            found = values(part.text)
            if part.kind == "call":
                used += [(turn - seen[one], one) for one in found if one in seen]
            if part.kind == "result":
                seen = dict.fromkeys(found, turn) | seen
    return used


def record(into: Path, *names: str) -> None:
    """Run the recorder as a user would."""
    only = [option for name in names for option in ("--only", name)]
    command = [sys.executable, str(EXAMPLES / "record.py"), "--into", str(into), *only]
    subprocess.run(command, check=True, capture_output=True, timeout=60)


@each_recording
def test_a_recording_is_written_back_as_read_and_has_one_message_on_each_line(path: Path) -> None:
    assert write(list(read(path))) == items_of(path)
    lines = path.read_text("utf-8").splitlines()
    assert (lines[0], lines[-1]) == ("[", "]")
    assert [json.loads(line.removesuffix(",")) for line in lines[1:-1]] == items_of(path)


@each_recording
def test_each_call_is_answered_once_and_many_use_results_of_long_before(path: Path) -> None:
    called = [part.call_id for part in parts(path, "call")]
    answered = list(dict.fromkeys(part.call_id for part in parts(path, "result")))
    assert called == answered
    assert len(set(called)) == len(called)
    assert 15 <= len(called) <= 60
    assert sum(distance >= 8 for distance, _ in uses(path)) >= 20  # turns before


def test_calls_take_values_from_results_just_read() -> None:
    distances = [distance for path in RECORDINGS for distance, _ in uses(path)]
    assert sum(distance <= 2 for distance in distances) >= 80


@each_recording
def test_nothing_of_the_machine_is_shown(path: Path) -> None:
    text = path.read_text("utf-8")
    places = {str(Path.home()), sys.prefix, sys.base_prefix, tempfile.gettempdir()} - {"/usr"}
    assert [one for one in places if re.search(rf"(?<![\w.-]){re.escape(one)}/", text)] == []
    assert REGISTRY.findall(text) == []
    mails = [one for one in MAIL.findall(re.sub(r"\\+[nt]", " ", text)) if set(one) - set("x@.")]
    assert mails == []


def test_the_recordings_have_what_an_adapter_must_stand() -> None:
    every = [part for path in RECORDINGS for part in parts(path, "result")]
    assert any(part.is_error for part in every)
    assert any(not part.text for part in every)
    assert any(True for path in RECORDINGS for _ in parts(path, "image"))
    called = [
        [part.kind for part in message.parts] for path in RECORDINGS for message in read(path)
    ]
    assert any(kinds.count("call") > 2 for kinds in called)
    assert any({"result", "text"} <= set(kinds) for kinds in called)


def test_there_are_enough_recordings_and_the_readme_lists_each_with_its_size() -> None:
    readme = (EXAMPLES / "README.md").read_text("utf-8")
    weights = {path: weight(path) for path in RECORDINGS}
    for path, size in weights.items():
        calls = len(list(parts(path, "call")))
        assert f"| `{path.stem}` | {format_of(path)} | {calls} | {size:,} |" in readme
    assert len(weights) >= 6
    assert len(set(map(format_of, weights))) == 3
    assert sum(weights.values()) > 300_000


@pytest.mark.slow
def test_a_session_can_be_recorded_again_with_real_tools(tmp_path: Path) -> None:
    record(tmp_path, "fork-repair")
    fresh = tmp_path / "fork-repair.json"
    assert format_of(fresh) == "anthropic"
    results = [part.text for part in parts(fresh, "result")]
    assert "passed" in results[-2]
    assert "failed" in next(text for text in results if "test session starts" in text)
    assert len(uses(fresh)) > 20


def test_recording_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    record(tmp_path / "one", "docs-browser")
    record(tmp_path / "two", "docs-browser")
    one, two = ((tmp_path / name / "docs-browser.json").read_bytes() for name in ("one", "two"))
    assert one == two


def test_the_loop_runs_without_network() -> None:
    command = [sys.executable, str(EXAMPLES / "loop.py")]
    output = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout
    assert "argparse.ArgumentError" in output
    kept, sent = re.findall(r"(\d+) tokens", output) + re.findall(r"sent (\d+)", output)
    assert int(sent) < 0.6 * int(kept)
