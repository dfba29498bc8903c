"""A policy's `facts` block to the settings of a fact store. Nothing is opened."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hippocampus.facts.models import POLICIES, FactPolicy
from hippocampus.policy.facts import FactFields


def settings_of(fields: FactFields) -> FactPolicy:
    """Return a preset's settings with those of a block put over them.

    >>> settings_of(FactFields(preset="hippo", hide_below=0.1)).hide_below
    0.1
    """
    base = POLICIES[fields.preset]
    said: dict[str, Any] = {
        name: value
        for name, value in fields.model_dump(exclude={"preset", "ranking"}).items()
        if value is not None
    }
    said["half_life_days"] = {**base.half_life_days, **fields.half_life_days}
    return replace(base, **said, preset=fields.ranking or base.preset)
