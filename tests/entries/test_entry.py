"""Entries: the protocol's schema, field by field."""

from __future__ import annotations

import pytest
import yaml
from pydantic import ValidationError

from hippocampus import Entry

EXAMPLE = """
hippocampus_entry:
  id: "ctx_001"
  type: "tool_result"
  source:
    type: "browser.snapshot"
    ref: "snap_abc123"
    turn: 12
    retrievable: true
  summary: |
    Dashboard: 19 users table,
    settings panel open
  key_data:
    user_count: 19
    refs: {submit: "e12", nav: "e3"}
  strength: 0.85
  decay:
    rate: 0.1
    floor: 0.0
    last_access: 15
  modifiers:
    priority: "normal"
    encoding: "auto"
    associations: ["ctx_002"]
  lifecycle:
    created: 12
    expires: null
    persist: false
"""


def test_the_protocols_example_loads_and_is_written_back_equal() -> None:
    example = yaml.safe_load(EXAMPLE)["hippocampus_entry"]
    assert Entry.parsed(example).fields() == example


@pytest.mark.parametrize(
    "change", [{"strength": 1.2}, {"type": "thought"}, {"colour": "red"}, {"summary": None}]
)
def test_what_the_schema_does_not_know_is_refused(change: dict[str, object]) -> None:
    example = yaml.safe_load(EXAMPLE)["hippocampus_entry"]
    with pytest.raises(ValidationError):
        Entry.parsed({**example, **change})
