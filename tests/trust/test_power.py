"""What an acknowledgement means where the power fails: docs/reference/proofs.md has the table."""

from __future__ import annotations

import contextlib

from trust.crashes import conversation

from hippocampus import Hippocampus
from hippocampus.storage.ledger import Ledger
from hippocampus.storage.state_dir import StateDir

NORMAL, FULL = 1, 2


def test_facts_wait_for_the_disk_and_ledgers_and_payloads_do_not(tmp_path):
    with contextlib.closing(Hippocampus(tmp_path)) as memory, memory.session("s") as session:
        session(conversation(1))
        payloads = memory._store._cache._sql("PRAGMA synchronous").fetchone()
        facts = memory.facts.tables.database.value("PRAGMA synchronous")
        with contextlib.closing(Ledger(StateDir(tmp_path), "s")) as ledger:
            assert ledger._db.execute("PRAGMA synchronous").fetchone() == (NORMAL,)
    assert (payloads, facts) == ((NORMAL,), FULL)
