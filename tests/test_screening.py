"""What a rule takes out stands in no view, entry, digest or recall; the original only where told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conversations import no_fallback
from hypothesis import given
from hypothesis import strategies as st

from hippocampus import Hippocampus, Policy
from hippocampus.policy import Redaction

SECRETS = ("ada@example.org", "hunter2secret", "abcdef123456")
ARGUMENTS = {
    "path": "x.py",
    "password": SECRETS[1],
    "content": f"api_key = {SECRETS[2]}\n" + "a line of code\n" * 300,
}
ROWS = "\n".join(f"row {n} {SECRETS[0]} paid {7 * n} in order_{n}" for n in range(300))


def policy(*, original: bool) -> Policy:
    redact = {"kinds": ["email", "secret"], "original": original}
    rules = [{"match": {}, "action": {"redact": redact}}]
    return Policy.model_validate({"lifecycle_policies": rules})


def chat() -> list[dict[str, Any]]:
    function = {"name": "write", "arguments": json.dumps(ARGUMENTS)}
    return [
        {"role": "user", "content": f"Write to {SECRETS[0]}."},
        {
            "role": "assistant",
            "content": f"I will write to {SECRETS[0]}.",
            "tool_calls": [{"id": "c", "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": "c", "content": ROWS},
    ]


def anthropic() -> list[dict[str, Any]]:
    use = {"type": "tool_use", "id": "c", "name": "write", "input": ARGUMENTS}
    blocks = [{"type": "text", "text": ROWS}]
    return [
        {"role": "user", "content": f"Write to {SECRETS[0]}."},
        {"role": "assistant", "content": [{"type": "text", "text": f"To {SECRETS[0]}."}, use]},
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "c", "content": blocks}],
        },
    ]


@pytest.mark.parametrize("original", [False, True])
@pytest.mark.parametrize("items", [chat(), anthropic()], ids=["openai", "anthropic"])
def test_no_view_and_no_recall_shows_what_was_taken_out(
    tmp_path: Path, items: list[dict[str, Any]], original: bool
) -> None:
    memory = Hippocampus(tmp_path, policy=policy(original=original))
    with memory.session("s") as session, no_fallback():
        session(items[:1])
        view = json.dumps(session([*items, {"role": "user", "content": "And now?"}]))
        assert not [secret for secret in SECRETS if secret in view]
        assert len(session.entries()) == 2
        for entry in session.entries():
            recalled = session.recall(entry.id, pattern=".", max_tokens=8_000)
            shown = entry.summary + session.text(entry.id) + recalled
            assert not [secret for secret in SECRETS if secret in shown]
            kept = json.dumps(session.content(entry.id))
            assert any(secret in kept for secret in SECRETS) is not original
    memory.close()


def test_the_original_comes_back_as_it_was_after_a_restart(tmp_path: Path) -> None:
    """Ids and contents are of what may be kept, so a restart finds them again."""
    items = anthropic()
    for _ in range(2):
        memory = Hippocampus(tmp_path, policy=policy(original=True))
        with memory.session("s") as session, no_fallback():
            view = session(items)
            result = next(e for e in session.entries() if "arguments" not in e.summary)
            [block] = session.content(result.id)
            assert block["text"].startswith("row 0 [redacted email] paid 0")
        memory.close()
    assert SECRETS[0] not in json.dumps(view)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(JSON, st.sampled_from(["[0-9]+", '[a-z"]+', "[{}:,]", "null|true"]))
def test_json_stays_json_whatever_is_taken_out(value: Any, pattern: str) -> None:
    text = json.dumps(value)
    json.loads(Redaction(patterns=(pattern,)).redacted_json(text))
