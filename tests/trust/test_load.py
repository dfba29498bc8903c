"""A short run of the load proof."""

from __future__ import annotations

import pytest
from trust.load import long_session, together


@pytest.mark.slow
def test_processes_and_threads_lose_nothing(tmp_path):
    found = together(tmp_path, 2, 4, 1.0)
    lost = {key: found[key] for key in ("facts lost", "texts lost", "errors", "damage")}
    assert lost == {"facts lost": 0, "texts lost": 0, "errors": 0, "damage": []}, found


@pytest.mark.slow
def test_a_long_run_fills_less_than_three_and_a_half_times_the_compressed_raw_size(tmp_path):
    found = long_session(tmp_path, 300)
    empty = 0.32  # the tables of the database, which 100,000 turns do not fill
    assert found["state directory MB"] - empty <= 3.5 * found["raw compressed MB"], found
