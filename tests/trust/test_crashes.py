"""A short run of the crash proof in every phase."""

from __future__ import annotations

import pytest
from trust.crashes import PHASES, run


@pytest.mark.parametrize(
    "phase", [PHASES[0], *(pytest.param(each, marks=pytest.mark.slow) for each in PHASES[1:])]
)
def test_nothing_acknowledged_is_lost_by_a_kill(tmp_path, phase):
    under_way, lost, _ = run(phase, 2, 3, tmp_path)
    assert lost == {}
    assert under_way <= 2
