"""Writes our hooks and our MCP server into the settings of a coding agent, and takes them out again.

Only our own entries are touched; all else in a file stays as its owner wrote it. Nothing is printed.
"""

from __future__ import annotations

import contextlib
import difflib
import errno
import json
import os
import re
import shlex
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hippocampus.errors import StoreError
from hippocampus.storage import files

NAME = "hippocampus"
PROGRAM = [sys.executable, "-P", "-m", NAME]
OURS = re.compile(r"-m hippocampus hook --state-dir ")
"""How a command of ours is recognised among the hooks of a file."""
BEGIN, END = "# hippocampus: begin", "# hippocampus: end"
BLOCK = re.compile(
    rf"(?:\r?\n)?^{BEGIN}\r?$(?:(?!^{BEGIN}).)*?^{END}\r?$\n?", re.DOTALL | re.MULTILINE
)
HOOK_SECONDS = 30
STARTUP_SECONDS = 60
"""Codex waits ten seconds for a server: too few on a busy machine."""
INDENT = re.compile(r"^\{\s*?\n( +|\t)", re.MULTILINE)

Settings = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Host:
    """One coding agent: the files that hold its MCP servers and its hooks, and their form."""

    name: str
    folder: str
    """Its folder in the user's home."""
    servers: tuple[str, str]
    """The file of MCP servers, in its folder or the home folder and in a project; empty for none."""
    variable: str = ""
    """The variable that names its folder in place of the usual one."""
    key: str = "mcpServers"
    """Where that file has the servers."""
    fields: Mapping[str, Any] = field(default_factory=dict)
    """What an entry of a server has next to its command."""
    is_one_list: bool = False
    """Whether a command and its arguments are one list."""
    hooks: tuple[str, str] = ("", "")
    """The file of hooks, in its folder and in a project; empty where it runs none that we answer."""
    matchers: Mapping[str, str] = field(default_factory=dict)
    """By event, the tools or causes that a hook is called for; empty is all."""
    transcripts: str = ""
    """The format of the transcripts that it writes."""
    time_unit: int = 1
    """How many units of its time-outs make a second."""


RESULTS = {"PostToolUse", "AfterTool"}
"""The events with the result of a tool, which an answer replaces."""
TABLES = tomllib.loads(Path(__file__).with_name("hosts.toml").read_text("utf-8"))
HOSTS = {name: Host(name, **fields) for name, fields in TABLES.items()}


@dataclass(frozen=True, slots=True)
class SettingsChange:
    """What one file becomes."""

    path: Path
    before: str
    after: str

    def diff(self) -> str:
        """Return the change as a unified diff."""
        before, after = (text.splitlines(keepends=True) for text in (self.before, self.after))
        return "".join(difflib.unified_diff(before, after, str(self.path), str(self.path)))

    def write(self) -> None:
        """Replace the file in one step, with the mode that it had.

        Raises:
            StoreError: it cannot be written, or is read-only.
        """
        try:
            real = self.path.resolve()  # a link to a file elsewhere stays a link
            if self.path.is_symlink() and not real.exists():
                raise FileNotFoundError(errno.ENOENT, "it is a link to nothing")
            mode = real.stat().st_mode & 0o777 if real.exists() else 0o600
            if not mode & 0o222:  # a folder that can be written would let it be replaced
                raise PermissionError(errno.EACCES, "it is read-only")
            files.replace_file(real, self.after.encode())
            real.chmod(mode)
        except (OSError, RuntimeError) as failure:  # the second is of a link to itself
            raise StoreError(f"{self.path}: cannot be written: {failure}") from failure


def hooks_path(host: Host, project: Path | None) -> Path | None:
    """Return the file that holds the hooks; None where the host runs none that we answer."""
    name = host.hooks[bool(project)]
    return (project or _folder(host)) / name if name else None


def servers_path(host: Host, project: Path | None) -> Path:
    """Return the file that holds the MCP servers.

    Raises:
        StoreError: the host reads none in a project.
    """
    if project and not host.servers[1]:
        raise StoreError(f"{host.name} reads the servers of the user only: leave out --project")
    at_home = host.name == "claude-code" and not os.environ.get(host.variable)
    return (project or (Path.home() if at_home else _folder(host))) / host.servers[bool(project)]


def _folder(host: Host) -> Path:
    return Path(os.environ.get(host.variable) or Path.home() / host.folder)


def command(verb: str, state: str, policy: str) -> list[str]:
    """Return the command line of a verb; `-P` keeps the modules of a project from being imported."""
    named = [] if policy == "default" else ["--policy", policy]
    transport = ["--transport", "stdio"] if verb == "mcp" else []
    return [*PROGRAM, verb, "--state-dir", state, *transport, *named]


def is_own(line: str, verb: str) -> bool:
    """Return whether a line of a shell runs a verb of this program, and nothing else."""
    try:
        words = shlex.split(line)
    except ValueError:
        return False
    python, *module = PROGRAM
    if words[1:5] != [*module, verb] or shlex.join(words) != line:  # no sign is the shell's
        return False
    # It has several names in its folder, where `bash` may be too: it would run a file of the project.
    ours, named = Path(python), Path(words[0])
    return (named.parent, named.resolve()) == (ours.parent, ours.resolve())


def install_changes(
    host: Host, project: Path | None, state: str, policy: str
) -> list[SettingsChange]:
    """Return the changes that add our hooks and our server, and keep a state in a project out of git.

    A second time, there are none.
    """
    hooks, servers, found = _files(host, project)
    if hooks:
        line = shlex.join(command("hook", state, policy))
        with _of_usual_form(hooks):
            for event, matcher in host.matchers.items():
                groups = found[hooks].setdefault("hooks", {}).setdefault(event, [])
                own = [hook for group in groups for hook in _ours(group)]
                for hook in own:
                    hook["command"] = line
                if not own:
                    seconds = HOOK_SECONDS * host.time_unit
                    hook = {"type": "command", "command": line, "timeout": seconds}
                    groups.append({**({"matcher": matcher} if matcher else {}), "hooks": [hook]})
    program, *arguments = command("mcp", state, policy)
    split: Settings = {"command": program, "args": arguments}
    entry = {**host.fields, **({"command": [program, *arguments]} if host.is_one_list else split)}
    with _of_usual_form(servers):
        known = found[servers].setdefault(host.key, {})
        known[NAME] = {**known.get(NAME, {}), **entry}
    # JSON's strings and lists are TOML's.
    named, given = (json.dumps(value, ensure_ascii=False) for value in (program, arguments))
    table = f"[{host.key}.{NAME}]\ncommand = {named}\nargs = {given}\nstartup_timeout_sec = {STARTUP_SECONDS}\n"
    changes = [_change_of(path, values, table) for path, values in found.items()]
    ignored = Path(state, ".gitignore")
    if project in ignored.parents:  # git takes in no conversation
        before = _text(ignored)
        changes.append(SettingsChange(ignored, before, before or "*\n"))
    return changes


def uninstall_changes(host: Host, project: Path | None) -> list[SettingsChange]:
    """Return the changes that take out our hooks and our server, and nothing else."""
    hooks, servers, found = _files(host, project)
    if hooks:
        with _of_usual_form(hooks):
            events = found[hooks].get("hooks", {})
            for event, groups in [*events.items()]:
                rest = []
                for group in groups:
                    own = _ours(group)
                    others = [hook for hook in group.get("hooks", []) if hook not in own]
                    if others or not own:
                        rest.append({**group, "hooks": others} if own else group)
                events[event] = rest
                if groups and not rest:
                    del events[event]
                    if not events:
                        del found[hooks]["hooks"]
    with _of_usual_form(servers):
        found[servers].get(host.key, {}).pop(NAME, None)
        if not found[servers].get(host.key, True):
            del found[servers][host.key]
    return [_change_of(path, values, "") for path, values in found.items()]


def _files(host: Host, project: Path | None) -> tuple[Path | None, Path, dict[Path, Settings]]:
    """Return the files of hooks and of servers, which may be one, and their settings by file."""
    hooks, servers = hooks_path(host, project), servers_path(host, project)
    paths = filter(None, (hooks, servers))
    return hooks, servers, {path: _parse(path, _text(path)) for path in paths}


def hook_command(host: Host, project: Path | None) -> str:
    """Return the command line of our hook as a file has it; empty for none."""
    path = hooks_path(host, project)
    if path is None:
        return ""
    with _of_usual_form(path):
        events = _parse(path, _text(path)).get("hooks", {}).values()
        own = (hook["command"] for groups in events for group in groups for hook in _ours(group))
        return next(own, "")


def server_command(host: Host, project: Path | None) -> list[str]:
    """Return the command line of our MCP server as a file has it; empty for none."""
    with _of_usual_form(path := servers_path(host, project)):
        found = _parse(path, _text(path)).get(host.key, {}).get(NAME)
        if not found:
            return []
        named = found["command"]
        return [*(named if host.is_one_list else [named]), *found.get("args", [])]


@contextlib.contextmanager
def _of_usual_form(path: Path) -> Iterator[None]:
    try:
        yield
    except (AttributeError, KeyError, TypeError) as odd:
        raise StoreError(f"{path}: hooks or MCP servers are not of the usual form") from odd


def _change_of(path: Path, values: Settings, table: str) -> SettingsChange:
    """Return a file with other values; in TOML, with our table as a marked block at its end, or without."""
    after = before = _text(path)
    line_end = "\r\n" if "\r\n" in before else "\n"
    if path.suffix == ".toml":
        rest = BLOCK.sub("", before)
        block = f"{BEGIN}\n{table}{END}\n" if table else ""
        gap = "\n" if rest.strip() and block else ""
        after = rest + f"{gap}{block}".replace("\n", line_end)
        _parse(path, after)
    # Settings that stay equal keep their text: our form of it would be a change to its owner.
    elif values != _parse(path, before):
        indent = INDENT.search(before)
        text = json.dumps(values, indent=indent[1] if indent else 2, ensure_ascii=False) + "\n"
        after = text.replace("\n", line_end)
    return SettingsChange(path, before, after)


def _text(path: Path) -> str:
    """Return the text of a file with its own line ends; empty where it is missing."""
    try:
        if path.exists() and not path.is_file():  # a pipe may never end
            raise StoreError(f"{path}: not a file")
        return path.read_bytes().decode() if path.exists() else ""
    except (OSError, UnicodeDecodeError) as failure:
        raise StoreError(f"{path}: cannot be read: {failure}") from failure


def _parse(path: Path, text: str) -> Settings:
    is_toml = path.suffix == ".toml"
    try:
        if is_toml:
            return tomllib.loads(text)
        found = json.loads(text if text.strip() else "{}", object_pairs_hook=_members)
        # A number may be one that is lost when it is written, and half of a character cannot be.
        json.dumps(found, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError) as wrong:
        problem = f"not valid TOML with our table in it: {wrong}"
        if not is_toml:
            problem = f"not plain JSON ({wrong}); take that out, such as comments, or add our entries by hand"
        raise StoreError(f"{path}: {problem}") from wrong
    if not isinstance(found, dict):
        raise StoreError(f"{path}: the settings are not a JSON object")
    return found


def _members(pairs: list[tuple[str, Any]]) -> Settings:
    """Return the members of a JSON object, of which none would be lost when it is written."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{max(names, key=names.count)!r} is there twice")
    return found


def _ours(group: Settings) -> list[Settings]:
    return [hook for hook in group.get("hooks", []) if OURS.search(str(hook.get("command", "")))]
