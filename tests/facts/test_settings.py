"""What a policy's `facts` block says is what a store does, in code and at the command line."""

from __future__ import annotations

import math

import pytest

from hippocampus import Hippocampus, policy
from hippocampus.cli.fact_database import open_facts
from hippocampus.errors import PolicyError
from hippocampus.facts.models import POLICIES, FactPolicy, settings_of
from hippocampus.policy.policy import FactFields

BLOCK = """
facts:
  preset: hippo
  half_life_days: {note: 3, decision: .inf}
  hide_below: 0.2
  prune_after_days: 30
  keep_secrets: true
"""


def test_without_a_block_the_defaults_hold():
    assert settings_of(FactFields()) == FactPolicy()


def test_a_block_changes_what_it_names_and_leaves_the_preset_s_rest(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(BLOCK)
    settings = settings_of(policy.load(path).facts)
    assert settings.half_life_days == {"note": 3.0, "decision": math.inf}
    assert (settings.hide_below, settings.prune_after_days) == (0.2, 30)
    assert (settings.prune_below, settings.keep_secrets) == (0.1, True)
    assert settings.weights == POLICIES["hippo"].weights
    assert settings.other_half_life_days == POLICIES["hippo"].other_half_life_days


def test_a_policy_that_extends_keeps_the_block_s_other_fields(tmp_path):
    (tmp_path / "mine.yaml").write_text(BLOCK)
    (tmp_path / "more.yaml").write_text("extends: mine.yaml\nfacts:\n  prune_below: 0.3\n")
    settings = settings_of(policy.load(tmp_path / "more.yaml").facts)
    assert (settings.prune_below, settings.keep_secrets) == (0.3, True)


def test_a_memory_opens_its_facts_by_its_policy(tmp_path):
    (tmp_path / "mine.yaml").write_text(BLOCK)
    memory = Hippocampus(tmp_path / "state", policy=tmp_path / "mine.yaml")
    assert memory.facts.policy.prune_after_days == 30
    memory.close()


def test_a_mistake_is_told_with_its_place(tmp_path, monkeypatch):
    path = tmp_path / "mine.yaml"
    path.write_text("facts:\n  prune_after: 9\n  half_life_days: {note: 0}\n")
    with pytest.raises(PolicyError) as told:
        policy.load(path)
    assert "prune_after_days" in str(told.value)
    assert "half_life_days" in str(told.value)
    monkeypatch.setenv("HIPPOCAMPUS_POLICY", "no-such-preset")
    with pytest.raises(PolicyError):
        open_facts(tmp_path / "m.sqlite3")
