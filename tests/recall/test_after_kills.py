"""Hidden uses of recorded sessions come back by one recall, whoever was killed in between."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest
import re2

from hippocampus import Hippocampus
from hippocampus.formats.reader import read
from hippocampus.replay.measure import Script
from hippocampus.replay.readers import read_file

EXAMPLES = Path(__file__).parents[2] / "examples" / "transcripts"
RECORDED = [
    EXAMPLES / f"{name}.json" for name in ("api-client", "json-rename", "price-comparison-zh")
]
LOOP = """
import json, sys
from hippocampus import Hippocampus
items, ends = json.loads(open(sys.argv[2], encoding="utf-8").read())
session = Hippocampus(sys.argv[1], policy=sys.argv[3]).session("s")
print("ready", flush=True)
for end in ends:
    print(json.dumps(session(items[:end])), flush=True)
sys.stdin.readline()
"""
POLICY = """
extends: default
compression: 60
fresh_turns: {code: 0, prose: 0}
index_over_tokens: 100
bulk_over_tokens: 100
records_over_tokens: 100
"""


def recall_all(script: Script, folder: Path, policy: Path, number: int, view: list) -> int:
    """Bring back every value that the answer of a call uses and its view hides."""
    shown = "\0".join(text for message in read(view) for text in message.texts())
    missing = sorted(value for value in script.uses[number] if value not in shown)
    with Hippocampus(folder, policy=policy) as memory, memory.session("s") as session:
        texts = {entry.id: session.entries.text(entry.id) for entry in session.entries}
        for value in missing:
            holder = next(entry_id for entry_id, text in texts.items() if value in text)
            assert value in session.recall(holder, pattern=re2.escape(value)), value
    return len(missing)


@pytest.mark.parametrize("path", RECORDED, ids=[path.stem for path in RECORDED])
@pytest.mark.slow
def test_each_hidden_use_comes_back_after_a_kill_at_a_random_turn(
    path: Path, tmp_path: Path
) -> None:
    """A process of its own sends the views and is killed; another one than it recalls."""
    policy, told = tmp_path / "short.yaml", tmp_path / "list.json"
    policy.write_text(POLICY, "utf-8")
    script = Script(read_file(path)[0])
    chance = random.Random(path.name)
    killed = sorted(chance.sample(range(len(script.call_ends)), k=min(3, len(script.call_ends))))
    start = hidden = 0
    for turn in [*killed, len(script.call_ends) - 1]:
        told.write_text(json.dumps([script.recording.messages, script.call_ends[start : turn + 1]]))
        command = [sys.executable, "-c", LOOP, str(tmp_path / "state"), str(told), str(policy)]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        ) as process:
            assert process.stdout.readline() == "ready\n"
            for number in range(start, turn + 1):
                view = json.loads(process.stdout.readline())
                hidden += recall_all(script, tmp_path / "state", policy, number, view)
            process.kill()
        start = turn  # the call under which it died is made again
    assert hidden >= 20, hidden
