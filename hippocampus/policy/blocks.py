"""The blocks of a policy on memory: what a session leaves and for how long, and how facts fade and rank.

Only fields; `consolidation` and `facts` read them.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from hippocampus.policy.rules import Count, Declared, Rate, Share, Text

Days = Annotated[float, Field(gt=0)]


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


class FactFields(Declared):
    """The `facts` block of a policy; fields that are left out have the preset's values."""

    preset: Literal["default", "hippo", "scriptling"] = "default"
    """The values of the fields that are left out."""
    half_life_days: dict[Text, Days] = Field(default_factory=dict)
    """By type, the days in which a memory loses half of its strength; `.inf` does not fade."""
    other_half_life_days: Days | None = None
    """`half_life_days` for all other types."""
    resistance: Rate | None = None
    """How much a further access slows the fading; 0 ignores accesses."""
    hide_below: Share | None = None
    """Weaker memories are not returned, and not deleted; 0 hides none."""
    prune_below: Share | None = None
    """`compact` removes weaker memories; 0 keeps all."""
    prune_after_days: Rate | None = None
    """`compact` removes memories without an access for longer, preferences included; 0 keeps all."""
    boost: Share | None = None
    """How much an access adds to the intensity; 0 adds nothing."""
    duplicate_cosine: Share | None = None
    """Over this cosine two facts are duplicates, if no number, date, name, negation or unit differs."""
    duplicate_minhash: Share | None = None
    """`duplicate_cosine` for MinHash similarity."""
    new_minhash: Share | None = None
    """Facts under this similarity are unrelated: `compact` does not ask a model about them."""
    ranking: Literal["ours", "hippo", "scriptling"] | None = None
    """The weights that rank the results of a recall."""
    importance: Share | None = None
    """The intensity of memories that are stored without one."""
    limit: Annotated[int, Field(ge=-1)] | None = None
    """The most results of a recall; -1 is all."""
    block_characters: Count | None = None
    """The length of the longest memory block; 0 is no limit."""
    content_characters: Count | None = None
    """The length of the longest memory; 0 is no limit."""
    keep_secrets: bool | None = None
    """Whether memories with passwords, keys and tokens are stored; if not, they are refused."""
