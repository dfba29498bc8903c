"""What a policy says of long-term memory: how facts fade, conflict and rank. Fields alone."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from hippocampus.policy.rules import Count, Declared, Rate, Share, Text

Days = Annotated[float, Field(gt=0)]


class FactFields(Declared):
    """The `facts` block of a policy; what it leaves out is the preset's."""

    preset: Literal["default", "hippo", "scriptling"] = "default"
    """Whose rules hold where nothing else is said."""
    half_life_days: dict[Text, Days] = Field(default_factory=dict)
    """By type, the days in which a memory loses half its strength; `.inf` does not fade."""
    other_half_life_days: Days | None = None
    """The same for the types that are not named."""
    resistance: Rate | None = None
    """How much each further access slows the fading; 0 lets accesses count for nothing."""
    hide_below: Share | None = None
    """What is weaker is not returned, and not deleted; 0 hides nothing."""
    prune_below: Share | None = None
    """What is weaker is taken away by `compact`; 0 keeps all."""
    prune_after_days: Rate | None = None
    """What was not accessed for longer goes too, preferences included; 0 keeps all."""
    boost: Share | None = None
    """What an access adds to the intensity; 0 adds nothing."""
    reinforce: Literal["confirmed", "returned"] | None = None
    """Whether only what was confirmed useful counts as accessed, or all that a recall returned."""
    duplicate_cosine: Share | None = None
    """Over this cosine two facts say the same, if no number, date, name, denial or unit differs."""
    new_cosine: Share | None = None
    """Under this cosine they have nothing to do with each other."""
    duplicate_minhash: Share | None = None
    """The first of these two bands for MinHash."""
    new_minhash: Share | None = None
    """And the second."""
    ranking: Literal["ours", "hippo", "scriptling"] | None = None
    """Which weights rank a recall."""
    importance: Share | None = None
    """The intensity of what is kept without one."""
    limit: Annotated[int, Field(ge=-1)] | None = None
    """How many results a recall returns; -1 is all."""
    block_characters: Count | None = None
    """The longest memory block; 0 is no limit."""
    content_characters: Count | None = None
    """The longest content; 0 is no limit."""
    keep_secrets: bool | None = None
    """Whether passwords, keys and tokens are kept; else what holds one is refused."""
