"""A pattern without an id searches everything that is stored, by its words."""

from __future__ import annotations

import json
from pathlib import Path

from hippocampus import Hippocampus


def test_a_pattern_without_an_id_searches_everything_by_its_words(tmp_path: Path) -> None:
    rows = json.dumps(
        [{"id": f"A-{n}", "state": "zanzibar" if n == 417 else "paid"} for n in range(900)]
    )
    call = {"id": "c1", "type": "function", "function": {"name": "list_orders", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "Which order is late?"},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": rows},
    ]
    memory = Hippocampus(tmp_path)
    with memory.session("s") as session:
        session(messages)
        assert "A-417" in session.answer({"pattern": "zanzibar"})
    memory.close()
