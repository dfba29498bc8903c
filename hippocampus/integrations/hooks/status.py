"""Whether the hooks of a coding agent work.

That is read from the transcripts that the host wrote: an edit has arrived where the result of the tool has
our entry.
"""

from __future__ import annotations

import functools
import json
import re
import shlex
import subprocess
import time
from pathlib import Path
from typing import Any

from hippocampus.errors import HippocampusError
from hippocampus.formats import reader
from hippocampus.integrations.hooks import log_of, settings
from hippocampus.replay.readers import read_file

NEWEST = 50
"""The number of edits that are checked."""
MAX_FAILURES = 3
"""The newest failures are named."""
PROBE = {"hook_event_name": "Probe"}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "hippocampus status", "version": "1"},
    },
}
PROBE_SECONDS = 30


def report(host: settings.Host, project: Path | None, state: str) -> tuple[list[str], bool]:
    """Return the findings for one host in lines, and whether both commands answer and edits arrive."""
    hook, server = settings.hook_command(host, project), settings.server_command(host, project)
    hooks = settings.hooks_path(host, project)

    def probed(line: str, verb: str, given: dict[str, Any], expected: bytes) -> tuple[bool, str]:
        # The line may be anyone's, as in a cloned repository.
        if line and project and not settings.is_own(line, verb):
            return False, "of another program, and not run: install it again"
        return _probe(line, given, expected)

    answers, hook_answer = probed(hook, "hook", PROBE, b"") if hooks else (True, "")
    serves, server_answer = probed(shlex.join(server), "mcp", INITIALIZE, b'"serverInfo"')
    events = log_of(state)
    arrived, dropped, gone = 0, list[str](), 0
    transcript = functools.cache(_transcript)
    for edit in [event for event in events if "entry" in event][-NEWEST:]:
        written, results = transcript(str(edit.get("transcript", "")))
        if written is None:
            gone += 1
        elif written == host.transcripts:  # a state may have edits of other hosts too
            has_arrived = f"[{edit['entry']} " in results
            arrived += has_arrived
            if not has_arrived:
                dropped.append(f"dropped  {edit['entry']}: the host kept the whole result")
    lost = f"; {gone} without a transcript" if gone else ""
    failures = [str(event["failed"]) for event in events if "failed" in event][-MAX_FAILURES:]
    is_edited = settings.RESULTS & host.matchers.keys()
    lines = [
        *([f"hooks    {hooks}: {hook_answer}"] if hooks else []),
        f"server   {settings.servers_path(host, project)}: {server_answer}",
        *([f"edits    {arrived} of {arrived + len(dropped)} arrived{lost}"] if is_edited else []),
        *dropped,
        *(f"failed   {failure}" for failure in failures),
    ]
    return lines, answers and serves and not dropped


def _probe(command: str, given: dict[str, Any], expected: bytes) -> tuple[bool, str]:
    """Run a command as its host does; return whether it answers as expected, and how."""
    if not command:
        return False, "not installed"
    started = time.monotonic()
    try:
        ended = subprocess.run(  # noqa: S602 - the line of the settings, as the host runs it
            command,
            shell=True,
            input=json.dumps(given).encode() + b"\n",
            capture_output=True,
            timeout=PROBE_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False, f"no answer within {PROBE_SECONDS} seconds"
    spent = time.monotonic() - started
    if ended.returncode or expected not in ended.stdout or (not expected and ended.stdout):
        printed = (ended.stderr or ended.stdout).decode(errors="replace")
        lines = re.findall(r"\w.*\w", printed) or ["no output"]
        return False, f"exit status {ended.returncode}: {lines[-1]}"
    return True, f"answers in {spent * 1000:.0f} ms"


def _transcript(path: str) -> tuple[str | None, str]:
    """Return the format of a transcript, None where it cannot be read, and its tool results, joined."""
    try:
        recordings = read_file(path)
    except HippocampusError:
        return None, ""
    messages = (message for recording in recordings for message in reader.read(recording.messages))
    parts = (part for message in messages for part in message.parts)
    results = "\n".join(part.text for part in parts if part.kind == "result")
    return recordings[0].format if recordings else "", results
