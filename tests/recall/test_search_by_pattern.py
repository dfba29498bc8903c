"""A pattern without an id searches everything that is stored, by its words."""

from __future__ import annotations

import json
from pathlib import Path

from conversations import chat_step

from hippocampus import Hippocampus


def test_a_pattern_without_an_id_searches_everything_by_its_words(tmp_path: Path) -> None:
    rows = json.dumps(
        [{"id": f"A-{n}", "state": "zanzibar" if n == 417 else "paid"} for n in range(900)]
    )
    asked = {"role": "user", "content": "Which order is late?"}
    messages = [asked, *chat_step("c1", "list_orders", {}, rows)]
    with Hippocampus(tmp_path) as memory, memory.session("s") as session:
        session(messages)
        assert "A-417" in session.answer({"pattern": "zanzibar"})
