"""A short run of the crash proof in every phase."""

from __future__ import annotations

import pytest
from trust.crashes import PHASES, run

FIRST, *OTHERS = PHASES


@pytest.mark.parametrize(
    "phase", [FIRST, *(pytest.param(phase, marks=pytest.mark.slow) for phase in OTHERS)]
)
def test_nothing_acknowledged_is_lost_by_a_kill(tmp_path, phase):
    under_way, lost, _ = run(phase, 2, 3, tmp_path)
    assert lost == {}
    assert under_way <= 2
