"""JSON to a model's endpoint and back: keys from the environment, limits of time, bounded retries.

What is asked, and what an answer means, is known in each provider's own file.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from hippocampus.errors import ProviderError

PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
"""The statuses after which the same request may succeed: busy, overloaded, too early."""
FIRST_WAIT_SECONDS = 0.5
LONGEST_WAIT_SECONDS = 20.0
LOOK_SECONDS = 0.05
"""How often a request under way looks whether it was cancelled."""
LARGEST_ANSWER_BYTES = 256 << 20
LONGEST_REASON_CHARACTERS = 300
MASKED = re.compile(r"\S*\*{3,}\S*")
"""Vendors quote a wrong key back with stars in its middle."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model is served, who may ask it, and how patiently."""

    base_url: str
    """What comes before `/embeddings` or `/chat/completions`, with its version: `…/v1`."""
    key_variable: str = ""
    """The environment variable that holds the key, read at each call; empty or unset: no key."""
    key_header: str = "Authorization"
    """`Authorization` takes the key as a bearer token, any other header the key alone."""
    headers: Mapping[str, str] | None = None
    """Sent with every request; None sends nothing more."""
    timeout_seconds: float = 30.0
    """For one attempt, from connecting to the last byte."""
    retries: int = 3
    """Attempts after the first when the failure may pass; 0 asks once."""
    cancel: threading.Event | None = None
    """Set from another thread, it ends the call, under way or waiting; None: nobody will."""

    @property
    def place(self) -> str:
        """The address as messages show it: without a user, a password or a query."""
        parts = urlsplit(self.base_url)
        host = parts.netloc.rpartition("@")[2]
        return f"{parts.scheme}://{host}{parts.path.rstrip('/')}"

    def cancelled(self) -> bool:
        """Say whether somebody has called it off."""
        return self.cancel is not None and self.cancel.is_set()


class _Passing(Exception):  # noqa: N818 - it never leaves this file
    """An attempt failed in a way that may pass; `wait_seconds` is what the server asks for."""

    def __init__(self, reason: str, wait_seconds: float | None = None) -> None:
        self.reason = reason
        self.wait_seconds = wait_seconds
        super().__init__(reason)


def post(endpoint: Endpoint, path: str, body: Mapping[str, Any]) -> Any:
    """Send `body` to a path below the endpoint and return its answer, read as JSON.

    Raises:
        ProviderError: no answer after all attempts, a refusal, no JSON, or cancelled.

    """
    where = f"{endpoint.place}/{path}"
    request = _request(endpoint, path, body)
    for attempt in range(endpoint.retries + 1):
        if endpoint.cancelled():
            break
        try:
            return _interruptible(endpoint, request)
        except CancelledError:
            break
        except _Passing as failure:
            if attempt == endpoint.retries:
                told = f"{where}: {failure.reason} ({attempt + 1} attempts)"
                raise ProviderError(told) from None
            _wait(endpoint, failure.wait_seconds, attempt)
    raise ProviderError(f"{where}: cancelled")


def _request(endpoint: Endpoint, path: str, body: Mapping[str, Any]) -> urllib.request.Request:
    parts = urlsplit(endpoint.base_url)
    if parts.scheme not in {"http", "https"}:
        raise ProviderError(f"{endpoint.place} is no http address")
    address = parts._replace(path=f"{parts.path.rstrip('/')}/{path}").geturl()
    headers = {"Content-Type": "application/json", **(endpoint.headers or {}), **_key(endpoint)}
    try:
        return urllib.request.Request(address, json.dumps(body).encode(), headers)  # noqa: S310
    except (TypeError, ValueError) as wrong:
        raise ProviderError(f"{endpoint.place}: the request is no JSON: {wrong}") from None


def _key(endpoint: Endpoint) -> dict[str, str]:
    """Return the header that carries the key; a key that no header can carry is not shown."""
    key = os.environ.get(endpoint.key_variable, "").strip() if endpoint.key_variable else ""
    if not key:
        return {}
    if not (key.isascii() and key.isprintable()):
        raise ProviderError(f"{endpoint.key_variable} holds characters that no key has")
    bearer = endpoint.key_header == "Authorization"
    return {endpoint.key_header: f"Bearer {key}" if bearer else key}


def _interruptible(endpoint: Endpoint, request: urllib.request.Request) -> Any:
    """Make one attempt in a thread, so that it ends in time and when it is called off.

    An attempt that is given up ends by itself, at the latest when its socket times out.
    """
    future: Future[Any] = Future()
    worker = threading.Thread(target=_attempt, args=(endpoint, request, future), daemon=True)
    worker.start()
    ends = time.monotonic() + endpoint.timeout_seconds
    while not future.done():
        if endpoint.cancelled():
            raise CancelledError
        left = ends - time.monotonic()
        if left <= 0:
            raise _late(endpoint)
        with contextlib.suppress(TimeoutError):
            future.exception(left if endpoint.cancel is None else min(left, LOOK_SECONDS))
    return future.result()


def _late(endpoint: Endpoint) -> _Passing:
    return _Passing(f"no answer within {endpoint.timeout_seconds:g} seconds")


def _attempt(endpoint: Endpoint, request: urllib.request.Request, future: Future[Any]) -> None:
    try:
        future.set_result(_answer(endpoint, request))
    except BaseException as failure:  # noqa: BLE001 - it is raised again where it is waited for
        future.set_exception(failure)


def _answer(endpoint: Endpoint, request: urllib.request.Request) -> Any:
    try:
        with _opener().open(request, timeout=endpoint.timeout_seconds) as response:
            text = response.read(LARGEST_ANSWER_BYTES)
    except urllib.error.HTTPError as refusal:
        with refusal:
            raise _refused(endpoint, refusal) from None
    except (OSError, http.client.HTTPException) as failure:
        reason = getattr(failure, "reason", None) or failure
        if isinstance(reason, TimeoutError):
            raise _late(endpoint) from None
        raise _Passing(_safe(endpoint, str(reason) or type(failure).__name__)) from None
    try:
        return json.loads(text)
    except ValueError:
        raise ProviderError(f"{endpoint.place}: the answer is no JSON") from None


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A key is sent to the address that it was given for, and to no other."""

    def redirect_request(self, *_: Any) -> None:
        """Follow nothing; the redirect is then an error with its status."""


def _opener() -> urllib.request.OpenerDirector:
    return urllib.request.build_opener(_NoRedirect)


def _refused(endpoint: Endpoint, refusal: urllib.error.HTTPError) -> Exception:
    """Return what a status above 299 means: try again, or say why not."""
    try:
        said = refusal.read(1 << 16).decode("utf-8", "replace")
    except (OSError, http.client.HTTPException):
        said = ""
    reason = f"status {refusal.code}: {_safe(endpoint, _message(said)) or refusal.reason}"
    if refusal.code in PASSING:
        return _Passing(reason, _seconds(refusal.headers.get("Retry-After")))
    if refusal.code in {401, 403} and endpoint.key_variable:
        reason += f" (the key is read from {endpoint.key_variable})"
    return ProviderError(f"{endpoint.place}: {reason}")


def _message(said: str) -> str:
    """Return the sentence in an error's body, whichever of the common shapes it has."""
    try:
        found = json.loads(said)
    except ValueError:
        return said
    for key in ("error", "message", "detail"):
        if isinstance(found, dict) and key in found:
            found = found[key]
    return found if isinstance(found, str) else json.dumps(found)


def _safe(endpoint: Endpoint, text: str) -> str:
    """Return a vendor's words without the key, whole or masked, and not too many of them."""
    key = os.environ.get(endpoint.key_variable, "").strip() if endpoint.key_variable else ""
    text = text.replace(key, "…") if key else text
    return " ".join(MASKED.sub("…", text).split())[:LONGEST_REASON_CHARACTERS]


def _seconds(told: str | None) -> float | None:
    """Return the seconds of a Retry-After header; a date there is not read."""
    return float(told) if told and re.fullmatch(r"\d{1,6}(\.\d+)?", told.strip()) else None


def _wait(endpoint: Endpoint, asked_seconds: float | None, attempt: int) -> None:
    """Wait before the next attempt: as long as the server asks, else twice as long each time."""
    seconds = FIRST_WAIT_SECONDS * 2**attempt if asked_seconds is None else asked_seconds
    seconds = min(seconds, LONGEST_WAIT_SECONDS)
    if endpoint.cancel is None:
        time.sleep(seconds)
    else:
        endpoint.cancel.wait(seconds)
