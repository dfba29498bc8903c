"""A short run of the load proof."""

from __future__ import annotations

import contextlib

import pytest
from trust.crashes import conversation
from trust.load import long_session, together

from hippocampus import Hippocampus
from hippocampus.storage.state_dir import StateDir


@pytest.mark.slow
def test_processes_and_threads_lose_nothing(tmp_path):
    found = together(tmp_path, 2, 4, 1.0)
    lost = {key: found[key] for key in ("facts lost", "texts lost", "errors", "damage")}
    assert lost == {"facts lost": 0, "texts lost": 0, "errors": 0, "damage": []}, found


def test_a_session_that_is_never_searched_has_no_search_index(tmp_path):
    with contextlib.closing(Hippocampus(tmp_path)) as memory, memory.session("s") as session:
        session(conversation(3))
        assert not StateDir(tmp_path).index.exists()
        assert "row_2_7" in session.recall(query="row_2_7 ok")
        assert StateDir(tmp_path).index.exists()


@pytest.mark.slow
def test_a_long_run_fills_less_than_three_and_a_half_times_the_compressed_raw_size(tmp_path):
    found = long_session(tmp_path, 300)
    empty = 0.32  # the tables of the two databases, which 100,000 turns do not fill
    assert found["state directory MB"] - empty <= 3.5 * found["raw compressed MB"], found
