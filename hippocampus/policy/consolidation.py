"""The `consolidation` block of a policy: what a session leaves, and for how long.

Only fields; `consolidation` reads them.
"""

from __future__ import annotations

from hippocampus.policy.rules import Count, Declared, Rate


class Consolidation(Declared):
    """The `consolidation` block of a policy."""

    facts: bool = True
    """Write lasting statements to the fact store."""
    archive: bool = True
    """Keep the raw conversation as compressed JSONL."""
    memory_file: bool = True
    """Keep MEMORY.md in the state directory."""
    daily_logs: bool = True
    """Keep `memory/YYYY-MM-DD.md` in the state directory."""
    context_load_tokens: Count = 0
    """The most tokens of earlier sessions' memories at the start of a session; 0 is none."""
    model_seconds: Rate = 10.0
    """How long the optional model may take; 0 does not call it."""
    idle_minutes: Rate = 10.0
    """On a server, how long a session has not changed before `consolidate --watch` reads it; 0 is at once."""
    forget_after_sessions: Count = 50
    """Dormant entries are pruned after this number of sessions without use; 0 is never."""


NOTHING = Consolidation(facts=False, archive=False, memory_file=False, daily_logs=False)
"""Leaves nothing, for replays."""
