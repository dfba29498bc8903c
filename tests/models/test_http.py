"""The way to a model's endpoint: it retries within bounds, ends in time, and shows no key."""

from __future__ import annotations

import logging
import threading
import time
import traceback
from itertools import count

import pytest
from models.endpoint import Answer, Asked, endpoint

from hippocampus.errors import ProviderError
from hippocampus.models import http
from hippocampus.models.http import Endpoint, post

KEY = "sk-very-secret-0123456789"


@pytest.fixture(autouse=True)
def _fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "FIRST_WAIT_SECONDS", 0.01)
    monkeypatch.setenv("TEST_KEY", KEY)


def failing(times: int, first: Answer) -> list[Answer]:
    return [first] * times + [Answer({"fine": True})]


@pytest.mark.parametrize("status", sorted(http.PASSING))
def test_what_may_pass_is_tried_again(status: int) -> None:
    script = iter(failing(2, Answer({"error": "busy"}, status)))
    with endpoint(lambda _: next(script)) as server:
        assert post(Endpoint(server.address), "x", {}) == {"fine": True}
        assert len(server.asked) == 3


def test_a_dropped_connection_is_tried_again() -> None:
    script = iter(failing(1, Answer(drop=True)))
    with endpoint(lambda _: next(script)) as server:
        assert post(Endpoint(server.address), "x", {}) == {"fine": True}


@pytest.mark.parametrize(("retries", "attempts"), [(0, 1), (1, 2), (3, 4)])
def test_retries_are_bounded(retries: int, attempts: int) -> None:
    with endpoint(lambda _: Answer({"error": {"message": "busy"}}, 503)) as server:
        with pytest.raises(ProviderError, match=rf"status 503: .*busy.* \({attempts} attempts\)"):
            post(Endpoint(server.address, retries=retries), "x", {})
        assert len(server.asked) == attempts


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_a_refusal_is_final(status: int) -> None:
    with endpoint(lambda _: Answer({"error": {"message": "no"}}, status)) as server:
        with pytest.raises(ProviderError, match=f"status {status}: .*no"):
            post(Endpoint(server.address), "x", {})
        assert len(server.asked) == 1


def test_the_wait_that_the_server_asks_for_is_kept() -> None:
    script = iter(failing(1, Answer({}, 429, {"Retry-After": "0.3"})))
    with endpoint(lambda _: next(script)) as server:
        started = time.monotonic()
        post(Endpoint(server.address), "x", {})
        assert time.monotonic() - started >= 0.3


def test_the_wait_that_the_server_asks_for_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "MAX_WAIT_SECONDS", 0.05)
    script = iter(failing(1, Answer({}, 503, {"Retry-After": "86400"})))
    with endpoint(lambda _: next(script)) as server:
        post(Endpoint(server.address), "x", {})


def test_an_attempt_ends_in_time() -> None:
    release = threading.Event()
    with endpoint(lambda _: Answer({}, wait=release)) as server:
        with pytest.raises(ProviderError, match=r"no answer within 0.2 seconds \(2 attempts\)"):
            post(Endpoint(server.address, timeout_seconds=0.2, retries=1), "x", {})
        release.set()


def test_an_answer_that_comes_a_byte_at_a_time_ends_in_time_too() -> None:
    with (
        endpoint(lambda _: Answer({"text": "x" * 5_000}, pause_seconds=0.05)) as server,
        pytest.raises(ProviderError, match=r"no answer within 0.3 seconds"),
    ):
        post(Endpoint(server.address, timeout_seconds=0.3, retries=0), "x", {})


def test_an_answer_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "MAX_ANSWER_BYTES", 100)
    with endpoint(lambda _: Answer({"text": "x" * 5_000})) as server:
        with pytest.raises(ProviderError, match="over 100 bytes"):
            post(Endpoint(server.address), "x", {})
        assert len(server.asked) == 1


def test_a_malformed_header_is_no_attempt_and_is_not_quoted() -> None:
    with endpoint(lambda _: Answer({})) as server:
        with pytest.raises(ProviderError, match="a header for it, is malformed") as refused:
            post(Endpoint(server.address, headers={"x-api-key": f"{KEY}\n"}), "x", {})
        assert KEY not in str(refused.value)
        assert server.asked == []


def test_a_proxy_of_the_environment_that_cannot_be_used_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ALL_PROXY", "carrier-pigeon://roof")
    with pytest.raises(ProviderError, match="proxy"):
        post(Endpoint("http://192.0.2.1/v1", retries=0), "x", {})


def test_the_key_comes_from_the_environment_at_each_call(monkeypatch: pytest.MonkeyPatch) -> None:
    with endpoint(lambda _: Answer({})) as server:
        bearer = Endpoint(server.address, "TEST_KEY")
        post(bearer, "x", {})
        post(Endpoint(server.address, "TEST_KEY", key_header="X-Api-Key"), "x", {})
        monkeypatch.delenv("TEST_KEY")
        post(bearer, "x", {})
    first, second, third = (asked.headers for asked in server.asked)
    assert first["Authorization"] == f"Bearer {KEY}"
    assert second["X-Api-Key"] == KEY
    assert "Authorization" not in {**second, **third}


@pytest.mark.parametrize(
    "answer",
    [
        lambda asked: Answer({"error": {"message": asked.headers["Authorization"]}}, 401),
        lambda _: Answer(
            {"error": {"message": f"Incorrect API key: {KEY[:6]}****{KEY[-4:]}."}}, 401
        ),
        lambda asked: Answer(asked.headers["Authorization"].encode(), 500),
        lambda asked: Answer(asked.headers["Authorization"].encode()),
        lambda _: Answer(drop=True),
    ],
    ids=["echoed", "masked", "no json", "answer", "dropped"],
)
def test_no_failure_shows_the_key(answer: object, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG), endpoint(answer) as server:  # type: ignore[arg-type]
        with pytest.raises(ProviderError) as caught:
            post(Endpoint(server.address, "TEST_KEY", retries=1), "x", {})
        told = "".join(traceback.format_exception(caught.value)) + caplog.text + repr(caught.value)
    assert KEY not in told
    assert KEY[-4:] not in told


@pytest.mark.parametrize("key", ["sk-\u200bcopied", "sk-one\nsk-two"])
def test_a_key_that_no_header_can_carry_is_named_and_not_shown(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_KEY", key)
    with pytest.raises(ProviderError, match="TEST_KEY") as caught:
        post(Endpoint("http://127.0.0.1:1/v1", "TEST_KEY"), "x", {})
    assert key[:3] not in "".join(traceback.format_exception(caught.value)).replace("ask", "")


def test_a_key_goes_to_no_other_address() -> None:
    with endpoint(lambda _: Answer({})) as other:
        moved = Answer({}, 302, {"Location": f"{other.address}/x"})
        with endpoint(lambda _: moved) as server, pytest.raises(ProviderError, match="status 302"):
            post(Endpoint(server.address, "TEST_KEY"), "x", {})
        assert other.asked == []


def test_an_address_is_shown_without_its_password() -> None:
    with pytest.raises(ProviderError) as caught:
        post(Endpoint("http://user:pass@127.0.0.1:1/v1?key=abc", retries=0), "x", {})
    assert "http://127.0.0.1:1/v1/x" in str(caught.value)
    assert "pass" not in str(caught.value)
    assert "abc" not in str(caught.value)


def test_a_query_of_the_address_stays_behind_the_path() -> None:
    with endpoint(lambda _: Answer({})) as server:
        post(Endpoint(f"{server.address}/?api-version=1"), "embeddings", {})
        assert server.asked[0].path == "/v1/embeddings?api-version=1"


@pytest.mark.parametrize("address", ["file:///etc/passwd", "ftp://127.0.0.1/v1", "", "localhost:1"])
def test_only_http_is_spoken(address: str) -> None:
    with pytest.raises(ProviderError, match="no http address"):
        post(Endpoint(address), "x", {})


def test_an_answer_that_is_no_json_is_an_error() -> None:
    with endpoint(lambda _: Answer(b"<html>")) as server:
        with pytest.raises(ProviderError, match="no JSON"):
            post(Endpoint(server.address), "x", {})
        assert len(server.asked) == 1


def test_threads_share_an_endpoint() -> None:
    numbers = count()

    def numbered(_: Asked) -> Answer:
        return Answer({"number": next(numbers)})

    with endpoint(numbered) as server:
        found: list[int] = []
        shared = Endpoint(server.address)
        workers = [
            threading.Thread(target=lambda: found.append(post(shared, "x", {})["number"]))
            for _ in range(8)
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    assert sorted(found) == list(range(8))
