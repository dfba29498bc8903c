"""Whether the hooks of a coding agent work, and what they have saved.

Both are read from the transcripts that the host wrote: an edit has arrived where the result of the tool
has our entry. A hook sees no request: an answer counts as a request with everything before it.
"""

from __future__ import annotations

import contextlib
import functools
import json
import re
import shlex
import subprocess
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from hippocampus.errors import HippocampusError
from hippocampus.formats import reader
from hippocampus.integrations.hooks import Event, log_of, settings
from hippocampus.models import tokens
from hippocampus.policy import Policy
from hippocampus.replay.readers import read_file
from hippocampus.replay.recording import Recording
from hippocampus.session.costs import recall_tokens
from hippocampus.session.rules import Rules
from hippocampus.storage.savings import Savings, prices_of

NEWEST = 50
"""The number of edits that are checked."""
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
ENTRY = re.compile(r"\[([a-z2-7]{8,12}) ")
"""The beginning of an entry, with its id."""


def report(host: settings.Host, project: Path | None, state: str) -> tuple[list[str], bool]:
    """Return the findings for one host in lines, and whether both commands answer and edits arrive."""
    hook, server = settings.hook_command(host, project), settings.server_command(host, project)
    hooks = settings.hooks_path(host, project)
    answers, hook_answer = _probed(hook, PROBE, b"") if hooks else (True, "")
    serves, server_answer = _probed(shlex.join(server), INITIALIZE, b'"serverInfo"')
    events = log_of(state)
    arrived, dropped, gone = 0, list[str](), 0
    transcript = functools.cache(_transcript)
    for edit in [event for event in events if "entry" in event][-NEWEST:]:
        written, results = transcript(str(edit.get("transcript", "")))
        if written is None:
            gone += 1
        elif written == host.transcripts:
            has_arrived = f"[{edit['entry']} " in results
            arrived += has_arrived
            if not has_arrived:
                dropped.append(f"dropped  {edit['entry']}: the host kept the whole result")
    lost = f"; {gone} without a transcript" if gone else ""
    failures = [str(event["failed"]) for event in events if "failed" in event][-3:]
    is_edited = settings.RESULTS & host.matchers.keys()
    lines = [
        *([f"hooks    {hooks}: {hook_answer}"] if hooks else []),
        f"server   {settings.servers_path(host, project)}: {server_answer}",
        *([f"edits    {arrived} of {arrived + len(dropped)} arrived{lost}"] if is_edited else []),
        *dropped,
        *(f"failed   {failure}" for failure in failures),
    ]
    return lines, answers and serves and not dropped


def _probed(command: str, given: dict[str, Any], expected: bytes) -> tuple[bool, str]:
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


def with_transcripts(rows: Iterable[Savings], events: Sequence[Event], model: str) -> list[Savings]:
    """Return rows, with the costs of sessions that have entries of a hook, from their transcripts."""
    saved: defaultdict[str, dict[str, int]] = defaultdict(dict)
    paths = {}
    for event in events:
        if event.get("transcript") and "entry" in event:
            paths[event["session"]] = Path(event["transcript"])
            saved[event["session"]][event["entry"]] = event["tokens"] - event["shown"]
    found = []
    for row in rows:
        if path := paths.get(row["session"]):
            with contextlib.suppress(HippocampusError):  # the agent has removed it
                row = _priced(row, read_file(path), saved[row["session"]], model)  # noqa: PLW2901
        found.append(row)
    return found


def _priced(
    row: Savings, recordings: Sequence[Recording], saved: Mapping[str, int], model: str
) -> Savings:
    """Return a row with the costs of whole results, and of entries in place of the `saved` ones.

    Recalls are not in the list with the whole results, and a call that only they made costs it nothing.
    """
    models = (recording.model for recording in recordings if recording.model)
    prices = prices_of(model or next(models, ""))
    is_recall = Rules("", Policy(), prices).is_recall
    calls, count, raw_sum, sent_sum = 0, 0, 0, 0
    raw_cost, sent_cost, recall_cost, sent = 0.0, 0.0, 0.0, 0
    for recording in recordings:
        left = dict(saved)  # a recall names its entry again
        recalled = set[str]()
        raw = sent = raw_before = sent_before = 0
        for message in reader.read(recording.messages):
            if message.role == "assistant":
                calls, raw_sum, sent_sum = calls + 1, raw_sum + raw, sent_sum + sent
                cost = prices.call_cost(sent_before, sent)
                sent_cost += cost
                if raw == raw_before and sent > sent_before:
                    recall_cost += cost
                else:
                    raw_cost += prices.call_cost(raw_before, raw)
                raw_before, sent_before = raw, sent
            weight = tokens.count_message(message)
            results = [part.text for part in message.parts if part.kind == "result"]
            named = {entry_id for text in results for entry_id in ENTRY.findall(text)}
            recalled.update(
                p.call_id for p in message.parts if p.kind == "call" and is_recall(p.tool)
            )
            parts = enumerate(message.parts)
            recalls = {at for at, part in parts if part.call_id and part.call_id in recalled}
            count += len(recalls)
            sent += weight
            raw += weight + sum(left.pop(entry_id, 0) for entry_id in named)
            raw -= recall_tokens(message, weight, recalls) if recalls else 0
    return {
        **row,
        "model": prices.name,
        "calls": calls,
        "recalls": count,
        "raw_tokens": raw_sum,
        "sent_tokens": sent_sum,
        "raw_cost": round(raw_cost, 1),
        "sent_cost": round(sent_cost, 1),
        "saved_dollars": round(prices.dollars(raw_cost - sent_cost), 4),
        "recall_dollars": round(prices.dollars(recall_cost), 4),
        # The next call, once the provider's cache has expired.
        "resume_dollars": round(prices.dollars(prices.call_cost(0, sent)), 4),
    }
