"""What a policy says of consolidation: what a session leaves behind, and for how long.

Fields alone; what is kept is decided in `consolidation`.
"""

from __future__ import annotations

from typing import Literal

from hippocampus.policy.rules import Count, Declared, Rate


class Consolidation(Declared):
    """The `consolidation` block of a policy."""

    facts: bool = True
    """Write what is worth keeping to the fact store."""
    archive: bool = True
    """Keep the raw conversation as compressed JSONL."""
    memory_file: bool = True
    """Keep MEMORY.md in the state directory."""
    memory_format: Literal["markdown", "json"] = "markdown"
    """How that file is written: `markdown`, or `json` as MEMORY.json."""
    daily_logs: bool = True
    """Keep `memory/YYYY-MM-DD.md` in the state directory."""
    context_load_tokens: Count = 0
    """Tokens that memories of earlier sessions may take at the start of one; 0 is none."""
    model_seconds: Rate = 10.0
    """How long the optional model may take; 0 does not ask it."""
    forget_after_sessions: Count = 50
    """Dormant entries that so many sessions have not used are pruned; 0 is never."""


NOTHING = Consolidation(facts=False, archive=False, memory_file=False, daily_logs=False)
"""Leaves nothing behind, as in a replay."""
