"""JSON requests to a model's endpoint: keys from the environment, time limits, bounded retries.

Each provider's module writes the requests and reads the answers.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlsplit

from hippocampus.errors import MALFORMED, ProviderError
from hippocampus.models.bounded import in_thread

T = TypeVar("T")
PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
"""The statuses after which the same request may succeed: busy, overloaded, too early."""
FIRST_WAIT_SECONDS = 0.5
MAX_WAIT_SECONDS = 20.0
MAX_ANSWER_BYTES = 256 << 20
MAX_REASON_CHARACTERS = 300
MASKED = re.compile(r"\S*\*{3,}\S*")
"""Some vendors quote a wrong key with stars in its middle."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The address of a model, its key, and the time limits of requests."""

    base_url: str
    """The URL before `/embeddings` or `/chat/completions`, with its version: `…/v1`."""
    key_variable: str = ""
    """The environment variable with the key, read at each call; empty or unset sends no key."""
    key_header: str = "Authorization"
    """`Authorization` sends the key as a bearer token, any other header the key alone."""
    headers: Mapping[str, str] | None = None
    """More headers for every request; None is none."""
    timeout_seconds: float = 30.0
    """The time of one attempt, from the connection to the last byte."""
    retries: int = 3
    """The attempts after the first, for failures that may pass; 0 is none."""

    @property
    def place(self) -> str:
        """The URL in error messages: without user, password and query."""
        parts = urlsplit(self.base_url)
        host = parts.netloc.rpartition("@")[2]
        return f"{parts.scheme}://{host}{parts.path.rstrip('/')}"


class _Passing(Exception):  # noqa: N818 - it never leaves this file
    """A failure that may pass; `wait_seconds` is the wait that the server asks for."""

    def __init__(self, reason: str, wait_seconds: float | None = None) -> None:
        self.reason = reason
        self.wait_seconds = wait_seconds
        super().__init__(reason)


def ask(
    endpoint: Endpoint, path: str, body: Mapping[str, Any], read: Callable[[Any], T], wanted: str
) -> T:
    """Send the fields of `body` that are not None, and return what `read` finds in the answer.

    Raises:
        ProviderError: as `post`, or the answer lacks the part that is `wanted`.
    """
    answer = post(endpoint, path, {name: each for name, each in body.items() if each is not None})
    try:
        return read(answer)
    except MALFORMED:
        raise ProviderError(f"{endpoint.place}: the answer does not hold {wanted}") from None


def text_of(content: Any) -> str:
    """Return the text of a message's content: a string, or parts of which some are text.

    Raises:
        TypeError: it is neither.
    """
    if isinstance(content, list):
        return "".join(part["text"] for part in content if part.get("type") == "text")
    if not isinstance(content, str):
        raise TypeError("no text")
    return content


def post(endpoint: Endpoint, path: str, body: Mapping[str, Any]) -> Any:
    """Send `body` to a path of the endpoint and return the answer, decoded from JSON.

    Raises:
        ProviderError: no answer after all attempts, an error status, or an answer that is not JSON.
    """
    where = f"{endpoint.place}/{path}"
    parts = urlsplit(endpoint.base_url)
    if parts.scheme not in {"http", "https"}:
        raise ProviderError(f"{endpoint.place} is no http address")
    address = parts._replace(path=f"{parts.path.rstrip('/')}/{path}").geturl()
    headers = {"Content-Type": "application/json", **(endpoint.headers or {}), **_key(endpoint)}
    try:
        request = urllib.request.Request(address, json.dumps(body).encode(), headers)  # noqa: S310
    except (TypeError, ValueError) as wrong:
        raise ProviderError(f"{endpoint.place}: the request is no JSON: {wrong}") from None
    attempt = 0
    while True:
        try:
            return _in_time(endpoint, request)
        except _Passing as failure:
            if attempt == endpoint.retries:
                problem = f"{where}: {failure.reason} ({attempt + 1} attempts)"
                raise ProviderError(problem) from None
            wait = failure.wait_seconds
            seconds = FIRST_WAIT_SECONDS * 2**attempt if wait is None else wait
            time.sleep(min(seconds, MAX_WAIT_SECONDS))
            attempt += 1


def _key(endpoint: Endpoint) -> dict[str, str]:
    """Return the header with the key; an error about an invalid key does not quote it."""
    key = os.environ.get(endpoint.key_variable, "").strip() if endpoint.key_variable else ""
    if not key:
        return {}
    if not (key.isascii() and key.isprintable()):
        raise ProviderError(f"{endpoint.key_variable} holds characters that no key has")
    bearer = endpoint.key_header == "Authorization"
    return {endpoint.key_header: f"Bearer {key}" if bearer else key}


def _in_time(endpoint: Endpoint, request: urllib.request.Request) -> Any:
    """Make one attempt in a thread, so that it can end at the time limit.

    An abandoned attempt ends in its thread, at the latest when its socket times out.
    """
    future = in_thread(lambda: _answer(endpoint, request))
    try:
        failure = future.exception(endpoint.timeout_seconds)
    except TimeoutError:
        raise _late(endpoint) from None
    if failure is not None:
        raise failure
    return future.result()


def _late(endpoint: Endpoint) -> _Passing:
    return _Passing(f"no answer within {endpoint.timeout_seconds:g} seconds")


def _answer(endpoint: Endpoint, request: urllib.request.Request) -> Any:
    try:
        opener = urllib.request.build_opener(_NoRedirect)
        with opener.open(request, timeout=endpoint.timeout_seconds) as response:
            text = response.read(MAX_ANSWER_BYTES)
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
    """Follows no redirect, so that a key is sent to its own endpoint alone."""

    def redirect_request(self, *_: Any) -> None:
        """Return None, which makes the redirect an error with its status."""


def _refused(endpoint: Endpoint, refusal: urllib.error.HTTPError) -> Exception:
    """Return the exception for an error status: one that may pass, or a ProviderError."""
    try:
        body = refusal.read(1 << 16).decode("utf-8", "replace")
    except (OSError, http.client.HTTPException):
        body = ""
    reason = f"status {refusal.code}: {_safe(endpoint, _message(body)) or refusal.reason}"
    if refusal.code in PASSING:
        wait = (refusal.headers.get("Retry-After") or "").strip()  # a date is not read
        is_number = re.fullmatch(r"\d{1,6}(\.\d+)?", wait)
        return _Passing(reason, float(wait) if is_number else None)
    if refusal.code in {401, 403} and endpoint.key_variable:
        reason += f" (the key is read from {endpoint.key_variable})"
    return ProviderError(f"{endpoint.place}: {reason}")


def _message(body: str) -> str:
    """Return the message in an error's body, from any of the common shapes."""
    try:
        found = json.loads(body)
    except ValueError:
        return body
    for key in ("error", "message", "detail"):
        if isinstance(found, dict) and key in found:
            found = found[key]
    return found if isinstance(found, str) else json.dumps(found)


def _safe(endpoint: Endpoint, text: str) -> str:
    """Return a vendor's message without the key, whole or masked, and bounded in length."""
    key = os.environ.get(endpoint.key_variable, "").strip() if endpoint.key_variable else ""
    text = text.replace(key, "…") if key else text
    return " ".join(MASKED.sub("…", text).split())[:MAX_REASON_CHARACTERS]
