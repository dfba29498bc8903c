"""An access by a message is written down: housekeeping and consolidation know of it."""

from __future__ import annotations

import json
from pathlib import Path

from hippocampus import Hippocampus


def test_a_mention_of_an_entry_stands_in_the_ledger(tmp_path: Path) -> None:
    rows = json.dumps([{"id": f"order-{n:04}", "state": "paid"} for n in range(900)])
    call = {"id": "c1", "type": "function", "function": {"name": "list_orders", "arguments": "{}"}}
    messages: list[dict[str, object]] = [
        {"role": "user", "content": "List them."},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": rows},
    ]
    memory = Hippocampus(tmp_path)
    with memory.session("s") as session:
        session(messages)
        messages += [
            {"role": "assistant", "content": "Which?"},
            {"role": "user", "content": "The one with order-0417."},
        ]
        session(messages)
    again = memory.session("s")
    (entry,) = again.entries
    assert entry.decay.last_access == entry.lifecycle.created + 1
    again.close()
    memory.close()
