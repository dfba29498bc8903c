"""Files that several processes write: one that another process does not let go of is not waited for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from conversations import reading

from hippocampus import Hippocampus, files

HOLDING = """
import sys
from pathlib import Path
from hippocampus import files

with files.held(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no locks between processes there")
def test_a_session_ends_though_another_process_holds_its_archive_and_the_memory_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(files, "PATIENCE_SECONDS", 0.05)
    memory = Hippocampus(tmp_path)
    session = memory.session("s")
    session(reading(1))
    [journal] = (tmp_path / "archive").glob("*.jsonl")
    holders = [_holding(path) for path in (journal, tmp_path / "memory" / ".lock")]
    session(reading(2))
    session.close()
    for each in holders:
        each.communicate()
    memory.close()
    assert session.failures == 0
    assert caplog.text.count("held by another process") >= len(holders)
    assert journal.exists()


def _holding(path: Path) -> subprocess.Popen[str]:
    """Return a process that holds a file until its input ends."""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDING, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout
    assert holder.stdout.readline() == "held\n"
    return holder
