"""A package renamed throughout: every hit patched, one file written anew, a real fault found."""

from __future__ import annotations

import re

from recorder.agent import Agent, want
from recorder.finding import every, first, source
from recorder.workspace import Workspace

INSTRUCTIONS = (
    "You refactor Python packages. Read a file before you patch it, patch exactly, and run the "
    "tests after each step. Files are below work/."
)
KIT = "work/jsonkit"
FILES = ("__init__.py", "decoder.py", "encoder.py", "scanner.py", "tool.py")
NAMES = {
    "JSONDecodeError": "DecodeError",
    "py_scanstring": "scan_string",
    "py_make_scanner": "make_python_scanner",
}
TESTS = '''"""The renamed package reads, writes, and raises its own error."""

import jsonkit
import pytest


@pytest.mark.parametrize("value", [None, True, 1, 1.5, "a\\u00e9", [1, [2]], {"a": {"b": []}}])
def test_round_trip(value):
    assert jsonkit.loads(jsonkit.dumps(value)) == value


@pytest.mark.parametrize("text", ["", "[1,", '{"a" 1}', '["a', "[1] 2", '"\\\\x"'])
def test_own_error(text):
    with pytest.raises(jsonkit.DecodeError):
        jsonkit.loads(text)


def test_position():
    with pytest.raises(jsonkit.DecodeError) as caught:
        jsonkit.loads('{"a": 1,\\n "b" 2}')
    assert (caught.value.lineno, caught.value.colno) == (2, 6)
'''


def prepare(workspace: Workspace) -> None:
    """Copy the library's package."""
    workspace.path(KIT).mkdir()
    for name in FILES:
        text = workspace.path(f"stdlib/json/{name}").read_bytes()
        (workspace.path(KIT) / name).write_bytes(text)


def play(agent: Agent) -> None:
    """Read all, rename name by name, test, repair what the tests show, and document."""
    renames = ", ".join(f"{old} to {new}" for old, new in NAMES.items())
    agent.user(f"work/jsonkit is a copy of json. Let it import itself, and rename {renames}.")
    agent.call("", "list_directory", path=KIT)
    texts = _read(agent)
    _imports(agent, texts)
    for old, new in NAMES.items():
        _rename(agent, texts, old, new)
    _test(agent, texts)
    agent.user("Important: never leave a C accelerator in use, the encoder's included.")
    _rewrite_encoder(agent, texts)
    _finish(agent, texts)


def _read(agent: Agent) -> dict[str, str]:
    first_two = [f"{KIT}/{name}" for name in FILES[:2]]
    results = agent.calls("", *(want("read_file", path=path) for path in first_two))
    for name in FILES[2:]:
        results.append(agent.call("", "read_file", path=f"{KIT}/{name}"))
    return {f"{KIT}/{name}": source(text) + "\n" for name, text in zip(FILES, results, strict=True)}


def _imports(agent: Agent, texts: dict[str, str]) -> None:
    hits = agent.call("Who imports json?", "grep", pattern=r"^\s*(from|import) json\b", path=KIT)
    for path, line in re.findall(r"^(\S+?):\d+:(.*)$", hits, re.MULTILINE):
        _patch(agent, texts, path, line, re.sub(r"\bjson\b", "jsonkit", line))


def _rename(agent: Agent, texts: dict[str, str], old: str, new: str) -> None:
    hits = agent.call(f"`{old}` becomes `{new}`.", "grep", pattern=rf"\b{old}\b", path=KIT)
    places = re.findall(r"^(\S+?):\d+:(.*)$", hits, re.MULTILINE)
    for path, line in places[:12]:
        if line in texts[path].splitlines():
            _patch(agent, texts, path, line, re.sub(rf"\b{old}\b", new, line))
    left = agent.call("", "grep", pattern=rf"\b{old}\b", path=KIT)
    for path in every(r"^(\S+?):\d+:", left):
        texts[path] = re.sub(rf"\b{old}\b", new, texts[path])
        agent.call(
            f"The rest of {path} in one piece.", "write_file", path=path, content=texts[path]
        )


def _patch(agent: Agent, texts: dict[str, str], path: str, line: str, new: str) -> None:
    """Patch one line, with as many lines before it as make the passage unique."""
    lines = texts[path].splitlines()
    at = start = lines.index(line)
    while texts[path].count("\n".join(lines[start : at + 1]) + "\n") > 1:
        start -= 1
    old = "\n".join(lines[start : at + 1]) + "\n"
    replacement = "\n".join([*lines[start:at], new]) + "\n"
    agent.call("", "patch_file", path=path, old=old, new=replacement)
    texts[path] = texts[path].replace(old, replacement)


def _test(agent: Agent, texts: dict[str, str]) -> None:
    agent.call("", "write_file", path="work/test_jsonkit.py", content=TESTS)
    log = agent.call("", "run_tests", arguments=["work"])
    failed = every(r"^FAILED (\S+)", log)
    raised = first(r"^E +((?:\w+\.)+\w+Error)", log)
    hits = agent.call(
        f"{len(failed)} fail, {failed[0]} the first: {raised} is the library's own error. It "
        "comes from the C accelerator.",
        "grep",
        pattern=r"c_scanstring or|c_make_scanner or",
        path=KIT,
    )
    for path, line in re.findall(r"^(\S+?):\d+:(.*)$", hits, re.MULTILINE):
        _patch(agent, texts, path, line, re.sub(r"c_\w+ or ", "", line))
    agent.call("", "run_tests", arguments=["work", "-q"])


def _rewrite_encoder(agent: Agent, texts: dict[str, str]) -> None:
    path = f"{KIT}/encoder.py"
    hits = agent.call("", "grep", pattern=r"\bc_\w+", path=path)
    names = every(r"\b(c_\w+)", hits)
    text = texts[path]
    for name in names:
        text = re.sub(rf"try:\n    from _json import {name}\nexcept ImportError:\n", "", text)
        text = re.sub(rf"^    {name} = None$", f"{name} = None", text, flags=re.MULTILINE)
        text = re.sub(rf"^from _json import \w+ as {name}$", "", text, flags=re.MULTILINE)
    text = re.sub(r"try:\n    from _json import (\w+) as (c_\w+)\nexcept ImportError:\n", "", text)
    text = re.sub(r"^    (c_\w+) = None$", r"\1 = None", text, flags=re.MULTILINE)
    agent.call(
        f"{', '.join(names)} go; the file changes in several places, so I write it whole.",
        "write_file",
        path=path,
        content=text,
    )
    agent.call("", "run_tests", arguments=["work", "-v"])
    again = agent.call("", "read_file", path=path)
    texts[path] = source(again) + "\n"
    agent.call("", "grep", pattern="from _json import", path=path)


def _finish(agent: Agent, texts: dict[str, str]) -> None:
    text = texts[f"{KIT}/__init__.py"]
    agent.call(
        "The version says that something has changed.",
        "patch_file",
        path=f"{KIT}/__init__.py",
        old=first(r"^(__version__ = .*)$", text),
        new="__version__ = '3.0.0'",
    )
    code = "import sys; sys.path.insert(0, 'work'); import jsonkit; print(jsonkit.__all__)"
    exported = agent.call("", "run_python", code=code)
    agent.call("", "hash_file", path=f"{KIT}/decoder.py")
    agent.answer(
        f"jsonkit exports {exported.splitlines()[0]}; {', '.join(NAMES.values())} are in place, "
        f"and no C accelerator is used in {KIT}/decoder.py, {KIT}/scanner.py or {KIT}/encoder.py."
    )
