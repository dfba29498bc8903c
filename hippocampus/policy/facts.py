"""The `facts` block of a policy: how long-term memory fades, conflicts and ranks. Only fields."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from hippocampus.policy.rules import Count, Declared, Rate, Share, Text

Days = Annotated[float, Field(gt=0)]


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
