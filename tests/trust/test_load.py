"""A short run of the load proof."""

from __future__ import annotations

from trust.load import long_session, together


def test_processes_and_threads_lose_nothing(tmp_path):
    found = together(tmp_path, 2, 4, 1.0)
    lost = {key: found[key] for key in ("facts lost", "texts lost", "errors", "damage")}
    assert lost == {"facts lost": 0, "texts lost": 0, "errors": 0, "damage": []}, found


def test_a_long_run_fills_six_times_the_compressed_raw_size_at_most(tmp_path):
    found = long_session(tmp_path, 300)
    assert found["state directory MB"] <= 6 * found["raw compressed MB"], found
