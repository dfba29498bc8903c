"""The figures of a session that its state has: tokens, costs, entries, strengths, and the largest messages. Pure."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hippocampus.entries.decay import explained
from hippocampus.session.rules import Rules
from hippocampus.session.state import State
from hippocampus.session.turn import excess_tokens
from hippocampus.session.view import View

MAX_LARGEST = 3


def figures(state: State, rules: Rules) -> dict[str, Any]:
    """Return the figures of a state, as `Session.status` documents them."""
    view, history, costs, policy = state.view, state.history, state.costs, rules.policy
    entries = [record.entry for record in state.records.values()]
    bounds = history.turn, policy.exponent, policy.initial_strength
    return {
        "raw_tokens": history.total,
        "sent_tokens": view.shown_total,
        "raw_cost": round(costs.raw, 1),
        "sent_cost": round(costs.sent, 1),
        "saved_dollars": rules.prices.dollars(costs.raw - costs.sent),
        "entries": len(entries),
        "stages": dict(Counter(str(record.stage) for record in state.records.values())),
        "strengths": {each.id: explained(each, *bounds)._asdict() for each in entries},
        "due": len(state.payloads.due(history.turn, view.shown_total, rules)),
        "over_limit_tokens": excess_tokens(view, rules),
        "too_large": largest_messages(view, rules),
    }


def largest_messages(view: View, rules: Rules) -> list[str]:
    """Return the largest messages of a view that passes its limit, in words; else nothing."""
    if not excess_tokens(view, rules):
        return []
    weights = sorted(enumerate(view.shown_tokens), key=lambda each: -each[1])[:MAX_LARGEST]
    return [f"message {at} ({view.shown[at].role}): {weight:,} tokens" for at, weight in weights]
