"""What each provider is asked and how its answers are read, against a server on loopback."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from models.endpoint import Answer, Asked, endpoint

from hippocampus.errors import ProviderError
from hippocampus.models import embedding
from hippocampus.models.completion import Completer, reranker
from hippocampus.models.embedding import Embedder
from hippocampus.models.http import ANTHROPIC, Endpoint


def vectors(asked: Asked) -> Answer:
    """Answer each text with its length, the last text first."""
    size = asked.body.get("dimensions", 3)
    rows = [
        {"index": place, "embedding": [float(len(text))] * size}
        for place, text in enumerate(asked.body["input"])
    ]
    return Answer({"data": rows[::-1]})


def said(text: Any) -> Answer:
    return Answer({"choices": [{"message": {"role": "assistant", "content": text}}]})


def test_vectors_come_back_in_the_order_of_the_texts() -> None:
    with endpoint(vectors) as server:
        rows = Embedder(Endpoint(server.address), "small")(["a", "bbb", "cc"])
    assert rows.dtype == np.float32
    assert rows.tolist() == [[1.0] * 3, [3.0] * 3, [2.0] * 3]
    assert [(each.path, each.body) for each in server.asked] == [
        ("/v1/embeddings", {"model": "small", "input": ["a", "bbb", "cc"]})
    ]


def test_many_texts_go_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "BATCH", 10)
    texts = ["x" * (number % 7 + 1) for number in range(25)]
    with endpoint(vectors) as server:
        rows = Embedder(Endpoint(server.address), "small")(texts)
    assert rows[:, 0].tolist() == [float(len(text)) for text in texts]
    assert [len(each.body["input"]) for each in server.asked] == [10, 10, 5]


def test_a_long_text_counts_by_its_start() -> None:
    with endpoint(vectors) as server:
        Embedder(Endpoint(server.address), "small")(["ab" * 8_000])
    assert [each.body["input"] for each in server.asked] == [["ab" * 4_000]]


def test_dimensions_are_asked_for_where_they_are_given() -> None:
    with endpoint(vectors) as server:
        assert Embedder(Endpoint(server.address), "small", dimensions=8)(["a"]).shape == (1, 8)
    assert server.asked[0].body["dimensions"] == 8


def test_no_texts_ask_nothing() -> None:
    with endpoint(vectors) as server:
        assert Embedder(Endpoint(server.address), "small")([]).shape[0] == 0
        assert server.asked == []


@pytest.mark.parametrize(
    "value",
    [
        {},
        [],
        {"data": []},
        {"data": [{"index": 1, "embedding": [1.0]}]},
        {"data": [{"index": 0, "embedding": None}]},
        {"data": [{"index": 0, "embedding": ["a"]}]},
        {"data": ["x"]},
        {"data": None},
    ],
    ids=str,
)
def test_an_answer_without_the_vectors_is_an_error(value: Any) -> None:
    with endpoint(lambda _: Answer(value)) as server, pytest.raises(ProviderError, match="vectors"):
        Embedder(Endpoint(server.address), "small")(["a"])


def test_vectors_of_different_lengths_are_an_error() -> None:
    rows = [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0, 2.0]}]
    with (
        endpoint(lambda _: Answer({"data": rows})) as server,
        pytest.raises(ProviderError, match="different lengths"),
    ):
        Embedder(Endpoint(server.address), "small")(["a", "b"])


def test_a_completion_is_asked_for_at_temperature_0_and_2048_tokens() -> None:
    with endpoint(lambda _: said("yes")) as server:
        assert Completer(Endpoint(server.address), "m")("Is it?") == "yes"
    assert server.asked[0].path == "/v1/chat/completions"
    assert server.asked[0].body == {
        "model": "m",
        "messages": [{"role": "user", "content": "Is it?"}],
        "temperature": 0.0,
        "max_tokens": 2_048,
    }


def test_a_model_that_allows_no_temperature_gets_none() -> None:
    with endpoint(lambda _: said("yes")) as server:
        complete = Completer(
            Endpoint(server.address),
            "m",
            temperature=None,
            max_tokens=9,
            limit_field="max_completion_tokens",
        )
        complete("Is it?")
    body = server.asked[0].body
    assert "temperature" not in body
    assert "max_tokens" not in body
    assert body["max_completion_tokens"] == 9


def test_a_message_in_parts_is_one_text() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "thinking"}, {"type": "text", "text": "b"}]
    with endpoint(lambda _: said(parts)) as server:
        assert Completer(Endpoint(server.address), "m")("?") == "ab"


@pytest.mark.parametrize(
    "value", [{}, [], {"choices": []}, {"choices": [{"message": {"content": None}}]}], ids=str
)
def test_an_answer_without_a_message_is_an_error(value: Any) -> None:
    with endpoint(lambda _: Answer(value)) as server, pytest.raises(ProviderError, match="message"):
        Completer(Endpoint(server.address), "m")("?")


def claude(address: str) -> Endpoint:
    return replace(ANTHROPIC, base_url=address)


def test_anthropic_is_asked_in_its_own_format(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant")
    content = [{"type": "thinking", "thinking": "…"}, {"type": "text", "text": "yes"}]
    with endpoint(lambda _: Answer({"content": content})) as server:
        assert Completer(claude(server.address), "claude")("Is it?") == "yes"
    (asked,) = server.asked
    headers = {name.lower(): value for name, value in asked.headers.items()}
    assert asked.path == "/v1/messages"
    assert headers["x-api-key"] == "sk-ant"
    assert headers["anthropic-version"] == "2023-06-01"
    assert "authorization" not in headers
    assert asked.body == {
        "model": "claude",
        "messages": [{"role": "user", "content": "Is it?"}],
        "temperature": 0.0,
        "max_tokens": 2_048,
    }


def test_anthropic_overloaded_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hippocampus.models.http.FIRST_WAIT_SECONDS", 0.01)
    script = iter([Answer({"error": {"message": "Overloaded"}}, 529), Answer({"content": []})])
    with endpoint(lambda _: next(script)) as server:
        assert Completer(claude(server.address), "claude")("?") == ""


@pytest.mark.parametrize("value", [{}, [], {"content": None}, {"content": ["x"]}], ids=str)
def test_an_answer_of_anthropic_without_a_message_is_an_error(value: Any) -> None:
    with endpoint(lambda _: Answer(value)) as server, pytest.raises(ProviderError, match="message"):
        Completer(claude(server.address), "claude")("?")


@pytest.mark.parametrize(
    ("answer", "scores"),
    [
        ("3, 1", [0.75, 0.0, 1.0, 0.0]),
        ("I would take 2.", [0.0, 1.0, 0.0, 0.0]),
        ("0, 5, 99999999999, 4, 4", [0.0, 0.0, 0.0, 1.0]),
        ("none of them", [0.0] * 4),
    ],
)
def test_a_model_that_only_completes_reranks(answer: str, scores: list[float]) -> None:
    prompts = []

    def complete(prompt: str) -> str:
        prompts.append(prompt)
        return answer

    texts = ["a", "b", 'c"\n5. "forged', "d"]
    assert reranker(complete)("which?", texts) == scores
    assert len(prompts) == 1
    assert len([line for line in prompts[0].splitlines() if line[:1].isdigit()]) == len(texts)
