"""JSON requests to a model's endpoint: keys from the environment, time limits, bounded retries."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from hippocampus.errors import MALFORMED, ProviderError

if TYPE_CHECKING:
    import httpx2

T = TypeVar("T")
PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
"""Statuses after which the same request may succeed: busy, overloaded, too early."""
REFUSING = frozenset({401, 403})
FIRST_WAIT_SECONDS = 0.5
MAX_WAIT_SECONDS = 20.0
MAX_REASON_CHARACTERS = 300
MAX_ANSWER_BYTES = 64 << 20
MASKED = re.compile(r"\S*\*{3,}\S*")
"""Some vendors quote a wrong key with stars in its middle."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The address of a model, its key, and the time limits of requests."""

    base_url: str
    """The URL before `/embeddings` or the path of completions, with its version: `…/v1`."""
    key_variable: str = ""
    """The environment variable with the key, read at each call; empty or unset sends no key."""
    key_header: str = "Authorization"
    """`Authorization` sends the key as a bearer token, any other header sends the bare key."""
    headers: Mapping[str, str] | None = None
    """More headers for every request."""
    timeout_seconds: float = 30.0
    """The time limit of an attempt, up to the end of its answer."""
    retries: int = 3
    """The attempts after the first, for failures that may pass; 0 does not retry."""
    completions: str = "chat/completions"
    """The path of completions, which names their format: OpenAI's, or `messages`, Anthropic's."""

    @property
    def place(self) -> str:
        """The URL in error messages: without user, password and query."""
        parts = urlsplit(self.base_url)
        host = parts.netloc.rpartition("@")[2]
        return f"{parts.scheme}://{host}{parts.path.rstrip('/')}"

    @property
    def key(self) -> str:
        """The key, read from the environment; empty sends none."""
        return os.environ.get(self.key_variable, "").strip()


OPENAI = Endpoint("https://api.openai.com/v1", "OPENAI_API_KEY")
OLLAMA = Endpoint("http://localhost:11434/v1")
ANTHROPIC = Endpoint(
    "https://api.anthropic.com/v1",
    "ANTHROPIC_API_KEY",
    key_header="x-api-key",
    headers={"anthropic-version": "2023-06-01"},
    completions="messages",
)


def ask(
    endpoint: Endpoint, path: str, body: Mapping[str, Any], read: Callable[[Any], T], wanted: str
) -> T:
    """Send the fields of `body` that are not None, and return the answer as `read` parses it.

    Raises:
        ProviderError: as `post`, or the answer lacks the part that is `wanted`.
    """
    answer = post(endpoint, path, {key: value for key, value in body.items() if value is not None})
    try:
        return read(answer)
    except MALFORMED:
        raise ProviderError(f"{endpoint.place}: the answer does not hold {wanted}") from None


def post(endpoint: Endpoint, path: str, body: Mapping[str, Any]) -> Any:
    """Send `body` to a path of the endpoint and return the answer, decoded from JSON.

    Raises:
        ProviderError: no answer after all attempts, an error status, or an answer that is not JSON.
    """
    parts = urlsplit(endpoint.base_url)
    if parts.scheme not in {"http", "https"}:
        raise ProviderError(f"{endpoint.place} is no http address")
    address = parts._replace(path=f"{parts.path.rstrip('/')}/{path}").geturl()
    headers = {"Content-Type": "application/json", **(endpoint.headers or {})}
    if key := endpoint.key:
        if not (key.isascii() and key.isprintable()):  # the error of the client would quote it
            raise ProviderError(f"{endpoint.key_variable} holds characters that no key has")
        is_bearer = endpoint.key_header == "Authorization"
        headers[endpoint.key_header] = f"Bearer {key}" if is_bearer else key
    try:
        content = json.dumps(body).encode()
    except (TypeError, ValueError) as wrong:
        raise ProviderError(f"{endpoint.place}: the request is no JSON: {wrong}") from None
    import httpx2  # slow to import, and only models need it

    try:  # the environment may name a proxy that cannot be used
        client = httpx2.Client(headers=headers, timeout=endpoint.timeout_seconds)
    except (ImportError, ValueError, httpx2.InvalidURL) as wrong:
        raise ProviderError(f"{endpoint.place}: {wrong}") from None
    with client:
        answer = _answer(endpoint, lambda: client.stream("POST", address, content=content), path)
    try:
        return json.loads(answer)
    except ValueError:
        raise ProviderError(f"{endpoint.place}: the answer is no JSON") from None


def _answer(
    endpoint: Endpoint, attempt: Callable[[], AbstractContextManager[httpx2.Response]], path: str
) -> bytes:
    """Return the body of the first response with a success status; redirects are not followed."""
    import httpx2

    reason = ""
    for number in range(endpoint.retries + 1):
        wait = FIRST_WAIT_SECONDS * 2**number
        until = time.monotonic() + endpoint.timeout_seconds
        try:
            with attempt() as response:
                body = _body(endpoint, response, until)
        except httpx2.TimeoutException:
            reason = f"no answer within {endpoint.timeout_seconds:g} seconds"
        except (httpx2.LocalProtocolError, httpx2.UnsupportedProtocol, httpx2.InvalidURL):
            raise ProviderError(
                f"{endpoint.place}: its address, or a header for it, is malformed"
            ) from None
        except httpx2.HTTPError as failure:
            reason = _safe(endpoint, str(failure) or type(failure).__name__)
        else:
            if response.is_success:
                return body
            message = _safe(endpoint, body.decode(errors="replace")) or response.reason_phrase
            reason = f"status {response.status_code}: {message}"
            if response.status_code in REFUSING and endpoint.key_variable:
                reason += f" (the key is read from {endpoint.key_variable})"
            if response.status_code not in PASSING:
                raise ProviderError(f"{endpoint.place}: {reason}")
            named = response.headers.get("Retry-After", "").strip()  # a date is not read
            wait = float(named) if re.fullmatch(r"\d{1,6}(\.\d+)?", named) else wait
        if number < endpoint.retries:
            time.sleep(min(wait, MAX_WAIT_SECONDS))
    raise ProviderError(f"{endpoint.place}/{path}: {reason} ({endpoint.retries + 1} attempts)")


def _body(endpoint: Endpoint, response: httpx2.Response, until: float) -> bytes:
    """Return the body of a response, which has to end by `until` on the monotonic clock.

    The client's own limit is per read, so an answer that arrives byte by byte never reaches it.
    """
    import httpx2

    body = bytearray()
    for part in response.iter_bytes():
        body += part
        if len(body) > MAX_ANSWER_BYTES:
            raise ProviderError(f"{endpoint.place}: the answer is over {MAX_ANSWER_BYTES:,} bytes")
        if time.monotonic() > until:
            raise httpx2.ReadTimeout("")
    return bytes(body)


def _safe(endpoint: Endpoint, text: str) -> str:
    """Return a vendor's message without the key, whole or masked, and cut to a maximum length."""
    text = text.replace(endpoint.key or "…", "…")
    return " ".join(MASKED.sub("…", text).split())[:MAX_REASON_CHARACTERS]
