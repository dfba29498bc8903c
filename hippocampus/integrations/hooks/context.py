"""What a hook adds to a conversation: memories at its start, and those that fit a prompt.

Nothing is loaded where the state directory has no memory yet.
"""

from __future__ import annotations

import contextlib
import time
from pathlib import Path
from typing import Any

from hippocampus.integrations.hooks import log_of, note_event, open_state
from hippocampus.storage.engines import is_address
from hippocampus.storage.state_dir import StateDir

PROMPT_TOKENS = 1_000
"""The most tokens of the memories for a prompt."""


def text_for(event: dict[str, Any], state: str, policy: str) -> str:
    """Return the text that an event adds to the conversation; empty for none."""
    is_start, text = event["hook_event_name"] == "SessionStart", ""
    if is_start:
        # A resumed conversation has the memories of its start. Newer ones before it would rewrite the
        # provider's cache, so that they pay only once that has expired.
        is_resumed = str(event.get("source")) in {"resume", "fork"}
        if not is_resumed or event.get("prompt_cache_likely_expired") is True:
            text = _load(event, state, policy)
    else:
        text = _retrieve(event, state)
    # A frame without memories is not worth adding.
    lines = [line for line in text.splitlines() if line.startswith(("- ", "["))]
    if not lines:
        return ""
    note_event(state, {"session": event.get("session_id"), "added": lines, "starts": is_start})
    return text


def _retrieve(event: dict[str, Any], state: str) -> str:
    """Return the memories that fit a prompt and that its conversation has not had since its start."""
    # Gemini CLI puts the text of SessionStart before the first prompt.
    prompt = str(event.get("prompt") or "").rpartition("</hook_context>")[2]
    with open_state(state) as memory:
        if not is_address(state) and not memory.has_facts():  # nothing more is loaded
            return ""
        from hippocampus.facts.store import Facts

        with Facts(memory) as facts:
            text = facts.retrieve(prompt, token_budget=PROMPT_TOKENS)
    seen: set[str] = set()
    for earlier in log_of(state) if text else ():
        if earlier.get("session") == event.get("session_id") and "added" in earlier:
            seen = (set() if earlier["starts"] else seen) | set(earlier["added"])
    return "\n".join(line for line in text.splitlines() if line not in seen)


def _load(event: dict[str, Any], state: str, policy_name: str) -> str:
    if not is_address(state) and not StateDir(Path(state)).database.exists():
        return ""
    from hippocampus import policy
    from hippocampus.consolidation.context_load import opening
    from hippocampus.consolidation.scheduler import ConsolidationResources
    from hippocampus.facts.query import CONTEXT_TOKENS
    from hippocampus.facts.store import Facts
    from hippocampus.session.resources import ContextLoadRequest

    rules = policy.load(policy_name)
    if not rules.consolidation.context_load_tokens:
        block = rules.consolidation.model_copy(update={"context_load_tokens": CONTEXT_TOKENS})
        rules = rules.model_copy(update={"consolidation": block})
    # After a compaction, the entries of the session itself are gone from the conversation too.
    own = "" if event.get("source") == "compact" else str(event.get("session_id") or "")
    request = ContextLoadRequest(own, "", "", time.time())
    with contextlib.ExitStack() as closing:
        memory = closing.enter_context(open_state(state))
        store = closing.enter_context(memory.contents())
        facts = closing.enter_context(Facts(memory))
        resources = ConsolidationResources(memory, store, rules, lambda: facts)
        return opening(request, resources)[0].strip()
