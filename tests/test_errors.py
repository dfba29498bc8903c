"""Errors: each keeps its fields across processes, and names what was near."""

from __future__ import annotations

import pickle

from hippocampus import errors

EVERY = [
    errors.PolicyError(["a:1:1: one @ $", "a:2:2: two @ $.x"]),
    errors.MessagesError("messages[0] is no message"),
    errors.ViewError("the view is not sent"),
    errors.RecordingError("a.json", "is empty", 3),
    errors.ModelError("model", "gpt-5x", ["gpt-5", "claude"]),
    errors.RecallError("expired", "no longer stored", "abcd1234"),
    errors.FactError("memory x is not there"),
    errors.BlockError("too_long", "persona", "block 'persona' would have 9 characters; 8 fit"),
    errors.ProviderError("http://127.0.0.1:1/v1 does not answer"),
    errors.StoreError("ledger x: disk full"),
    errors.DamageError("content 12ab is damaged"),
    errors.SealedError("state x is encrypted"),
    errors.EmbeddingModelError("bge-small", "other"),
]


def test_an_error_crosses_a_process_boundary_whole() -> None:
    for error in EVERY:
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error)
        assert str(again) == str(error)
        assert vars(again) == vars(error)


def test_every_error_is_one_of_ours_and_drawn_in_the_tree() -> None:
    kinds = {type(error) for error in EVERY}
    assert kinds == {
        kind
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, errors.HippocampusError)
    } - {errors.HippocampusError}
    for kind in kinds:
        assert kind.__name__ in errors.__doc__


def test_near_names_come_best_first_whatever_their_case() -> None:
    assert errors.nearest("ANTHROPIC-5", ["openai", "anthropic-5m", "anthropic-1h"])[0] == (
        "anthropic-5m"
    )
    assert errors.nearest("zzzz", ["openai"]) == ()
