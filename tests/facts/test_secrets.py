"""The fact store refuses secrets, whichever way they come."""

from __future__ import annotations

import factual
import pytest

from hippocampus.errors import BlockError, FactError
from hippocampus.facts.models import FactPolicy
from hippocampus.facts.store import Facts


def test_only_the_sentence_with_the_secret_is_left_out_and_the_raw_text_has_none(facts):
    said = (
        "Ann works at IBM. Her password is hunter2! She likes tea.\n"
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA\nabcdef0\n-----END RSA PRIVATE KEY-----"
    )
    outcomes = facts.remember(said)
    assert [each.action for each in outcomes] == ["added", "refused", "added", "refused"]
    assert [each.reason.split(",")[0] for each in outcomes if each.action == "refused"] == [
        "it holds a password",
        "it holds a private key",
    ]
    everything = repr(facts.memories()) + repr(outcomes)
    assert not any(part in everything for part in ("hunter2", "MIIEow", "abcdef0"))


def test_no_block_and_no_metadata_has_a_secret(facts):
    key = "ghp_" + "aB3dE5fG7hJ9" * 3
    facts.blocks.append("access", f"Notes {key[:8]}~")
    for change in (
        lambda: facts.blocks.append("access", f"and {key}"),
        lambda: facts.blocks.append(key, "a name"),
        lambda: facts.blocks.replace("access", "~", key[8:]),
    ):
        with pytest.raises(BlockError, match="it holds an API key or token, which is not kept"):
            change()
    assert facts.store("A note.", metadata={"token": key}).action == "refused"
    assert [block.value for block in facts.blocks.list()] == [f"Notes {key[:8]}~"]
    assert not facts.memories()


def test_no_model_sees_a_secret(opened):
    seen = []

    def complete(prompt):
        seen.append(prompt)
        return '[{"fact": "Ann works at IBM"}, {"fact": "The password is [a password left out]"}]'

    store = opened(complete=complete)
    outcomes = store.remember("Ann works at IBM. The password is hunter2")
    assert seen
    assert not any("hunter2" in prompt for prompt in seen)
    assert [each.action for each in outcomes] == ["added", "refused"]


def test_every_way_in_refuses_a_secret(facts):
    said = "the password is hunter2"
    assert facts.store(said).action == "refused"
    assert factual.remember_many(facts, [said])[0].action == "refused"
    assert factual.remember_triple(facts, "the server", "password", "hunter2").action == "refused"
    kept = factual.remember_triple(facts, "Ann", "likes", "tea")
    with pytest.raises(FactError, match="it holds a password"):
        factual.update(facts, kept.memory.id, said)


def test_a_policy_may_keep_secrets():
    with Facts(":memory:", settings=FactPolicy(keep_secrets=True)) as facts:
        assert facts.remember("The password is hunter2")[0].action == "added"
