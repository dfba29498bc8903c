"""The entry of new content, by a policy and its rules. Pure."""

from __future__ import annotations

from hippocampus.entries.entry import Decay, Entry, Lifecycle, Modifiers, Source
from hippocampus.policy.fields import Policy
from hippocampus.policy.resolution import Resolution
from hippocampus.policy.words import Encoding, EntryType


def new_entry(  # noqa: PLR0913, PLR0917 - a record, and its policy
    entry_id: str,
    entry_type: EntryType,
    source: Source,
    policy: Policy,
    resolution: Resolution,
    kind: str = "",
) -> Entry:
    """Return an entry without a summary, made and last accessed in the turn of its source."""
    expires = resolution.expires_after_turns
    usual: Encoding = "manual" if entry_type in {"message", "state"} else "auto"
    return Entry(
        id=entry_id,
        type=entry_type,
        source=source,
        summary="",
        strength=policy.initial_strength,
        decay=Decay(
            rate=policy.decay_rate_of(entry_type, resolution, kind),
            floor=resolution.floor or 0.0,
            last_access=source.turn,
        ),
        modifiers=Modifiers(
            priority=resolution.priority or "normal", encoding=resolution.encoding or usual
        ),
        lifecycle=Lifecycle(
            created=source.turn,
            expires=None if expires is None else source.turn + expires,
            persist=bool(resolution.persist),
        ),
    )
