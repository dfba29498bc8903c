"""The ASGI application: passes requests and their headers on, and sends the views of managed ones.

Law 3 holds here for the proxy: whatever fails inside, the host's own bytes are sent.
"""

from __future__ import annotations

import hmac
import json
import logging
import re
import secrets
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from http import HTTPStatus
from pathlib import Path
from time import perf_counter
from urllib.parse import urlencode

import anyio
import httpx2
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from hippocampus.errors import MALFORMED, StoreError
from hippocampus.integrations.proxy.apis import ANSWERS
from hippocampus.integrations.proxy.apis.answer import ModelAnswer
from hippocampus.integrations.proxy.events import Event, event_bytes, events
from hippocampus.integrations.proxy.metrics import Metrics, TenantMetrics
from hippocampus.integrations.proxy.service import Exchange, Service, TooManyRoundsError
from hippocampus.integrations.web import LOOPBACK, refusal
from hippocampus.session.guard import Guard
from hippocampus.session.resources import MANAGED, Observer
from hippocampus.storage import packing

LOG = logging.getLogger("hippocampus")
HOP_BY_HOP = {
    b"connection", b"keep-alive", b"proxy-authenticate", b"proxy-authorization", b"proxy-connection",
    b"te", b"trailer", b"transfer-encoding", b"upgrade",
}  # fmt: skip
MADE_ANEW = {b"host", b"content-length", b"expect"}
REFUSALS = {
    HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.UNPROCESSABLE_ENTITY,
}  # fmt: skip
"""The statuses with which a provider refuses a request for its content."""
CLIENT_CLOSED = 499
"""nginx's status for a client that is gone, which reads none."""
MAX_REASON_BYTES = 500
"""How much of a provider's refusal is logged."""
CONNECT_SECONDS = 10.0
MAX_IDLE_CONNECTIONS = 64
COUNTING = "/count_tokens"
"""The end of an address at which Anthropic counts a request's tokens."""
MAX_BODY_BYTES = 512 * 1024 * 1024
"""No provider takes a larger request, and one that is read is in memory."""
PACKED = {"gzip", "zstd"}
"""The encodings of a request that are read; another one passes as it is."""
DECODED = {"identity", "gzip", "deflate"}
"""The encodings of an answer that are read whatever is installed."""
METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
CREDENTIAL = re.compile(
    r"(?:auth(?:entication|orization)?|(?<!idempotency-)key|secret|token|credentials?|password|user(?:[-_]?(?:id|name))?|e?mail)$",
    re.IGNORECASE,
)
"""The end of the name of a header or a query field that identifies a caller."""
API = re.compile(
    r"(?:/openai(?:/deployments/[^/]+)?)?(?:/v\d\w*)?/(?:chat/completions|messages|responses)/?$"
    r"|^/(?:conversations|metrics)$"
)
"""The provider's part of a path, or ours; a gateway's part before it may have a key in it."""
MAX_THREADS = 4
"""The most requests at a time: all compute under one lock, and wait a bounded time for the same files.
With 16, one in eight found them locked by the others for too long, and was no faster."""
PAGE = Path(__file__).with_name("page.html")
FIGURES = "text/plain; version=0.0.4"
UNSTORED = {"cache-control": "no-store"}
"""No cache on the way gives the answer for one tenant to another."""


class Proxy:
    """One proxy before one provider."""

    def __init__(  # noqa: PLR0913, PLR0917 - one parameter a setting
        self,
        upstream: str,
        state: str | Path,
        policy: str,
        timeout_seconds: float,
        observers: Sequence[Observer] = (),
        tenant: str = "",
        tenant_header: str = "",
        key: str = "",
    ) -> None:
        """Open a state; an operator, who sees every tenant, has the `key`, else a new one.

        Requests of one credential with different values of `tenant_header` have different callers, and
        one without it is not managed. On a server the tenant of a request is `tenant`, else what its
        `tenant_header` has, else a hash of its key.

        Raises:
            PolicyError: the policy cannot be read.
            StoreError: the address of a server cannot be read, or a driver is not installed.
        """
        self._tenant_header = tenant_header.lower()
        self._page_key = key or secrets.token_urlsafe(16)
        self._upstream = httpx2.URL(upstream.rstrip("/"))
        self._metrics = TenantMetrics()
        self._guard = Guard("*")
        self._service = Service(
            state, policy, upstream, lambda each: (*self._metrics.of(each), *observers), tenant
        )
        self._client = httpx2.AsyncClient(
            timeout=httpx2.Timeout(timeout_seconds, connect=CONNECT_SECONDS, pool=None),
            limits=httpx2.Limits(
                max_connections=None, max_keepalive_connections=MAX_IDLE_CONNECTIONS
            ),
        )

    def app(self) -> Starlette:
        """Return the application; its `state.page` is the path of the live page with its key."""

        @asynccontextmanager
        async def lifespan(_app: Starlette) -> AsyncGenerator[None]:
            anyio.to_thread.current_default_thread_limiter().total_tokens = MAX_THREADS
            yield
            await self._client.aclose()
            await run_in_threadpool(self._service.close)

        def figures(request: Request) -> Response:
            *_, metrics = self._metrics.of(
                self._tenant_seen(request, is_open=not self._service.is_shared)
            )
            return Response(metrics.text(), headers=UNSTORED, media_type=FIGURES)

        async def conversations(request: Request) -> Response:
            shown = await run_in_threadpool(self._service.conversations, self._tenant_seen(request))
            return JSONResponse(shown, headers=UNSTORED)

        routes = [
            Route("/", lambda _: HTMLResponse(PAGE.read_text("utf-8")), methods=["GET"]),
            Route("/health", lambda _: JSONResponse({"status": "ok"}), methods=["GET"]),
            Route("/metrics", figures, methods=["GET"]),
            Route("/conversations", conversations, methods=["GET"]),
            Route("/{path:path}", self._forward, methods=METHODS),
        ]
        handlers = {HTTPException: _error}
        made = Starlette(routes=routes, lifespan=lifespan, exception_handlers=handlers)
        made.state.page = f"/?{urlencode({'key': self._page_key})}"
        return made

    def _tenant_seen(self, request: Request, *, is_open: bool = False) -> str:
        """Return the tenant that a request sees, by which its calls are known; empty sees all.

        Raises:
            HTTPException: it has neither the operator's key nor a tenant, unless all `is_open`.
        """
        given = request.query_params.get("key", "")
        if hmac.compare_digest(given.encode(), self._page_key.encode()):
            return ""
        address, _ = request.scope.get("server") or ("", None)
        if wrong := refusal(request.headers, is_local=address in LOOPBACK):
            raise HTTPException(*wrong)
        tenant = self._service.tenant_of(*self._caller(request))
        if not tenant and not is_open:
            text = "open the page that the proxy printed, or name your tenant as in a call"
            raise HTTPException(HTTPStatus.FORBIDDEN, text)
        return tenant

    def _count(self, request: Request, count: Callable[[Metrics], None]) -> None:
        """Count a request in the figures of the proxy, and of its tenant if it has the address of a call."""
        is_call = self._service.is_shared and API.search(request.url.path)
        tenant = self._service.tenant_of(*self._caller(request)) if is_call else ""
        for metrics in self._metrics.of(tenant):
            count(metrics)

    # Requests of hosts

    async def _forward(self, request: Request) -> Response:
        if wrong := refusal(request.headers):
            raise HTTPException(*wrong)
        path = request.url.path.rstrip("/")
        counted = path.removesuffix(COUNTING)
        answers = next((api for end, api in ANSWERS.items() if counted.endswith(end)), None)
        try:
            if answers is None or request.method != "POST":
                return _stream(await self._send(request, request.stream()))
            request, content = await _readable(request)
            if "content-encoding" in request.headers:
                return _stream(await self._send(request, content))
            send = self._send_own if path.endswith(COUNTING) else self._send_managed
            return await send(request, answers, content)
        except ClientDisconnect:
            return Response(status_code=CLIENT_CLOSED)
        except httpx2.InvalidURL as wrong:
            text = f"the address cannot be read: {wrong}"
            raise HTTPException(HTTPStatus.BAD_REQUEST, text) from wrong
        except httpx2.HTTPError as failure:
            where, why = self._upstream.netloc.decode(), type(failure).__name__
            text = f"hippocampus proxy: the provider at {where} does not answer ({why})"
            error = {"type": "error", "error": {"type": "api_error", "message": text}}
            is_late = isinstance(failure, httpx2.TimeoutException)
            status = HTTPStatus.GATEWAY_TIMEOUT if is_late else HTTPStatus.BAD_GATEWAY
            return JSONResponse(error, status)

    async def _send_managed(
        self, request: Request, answers: type[ModelAnswer], content: bytes
    ) -> Response:
        started = perf_counter()
        exchange = await run_in_threadpool(
            self._guard.run,
            lambda: self._service.exchange(answers, content, *self._caller(request)),
            lambda: f"failed: {self._guard.cause}",
            "requests pass as they are",
        )
        seconds = perf_counter() - started
        self._count(request, lambda figures: figures.added.observe(seconds))
        if isinstance(exchange, str):
            self._count(request, lambda figures: figures.requests.labels(exchange).inc())
            return await self._send_own(request, answers, content)
        response = await self._send(request, exchange.content, is_read=True)
        if response.status_code in REFUSALS:
            return await self._retry_refused(request, exchange, response, content)
        outcome = exchange.conversation.session.report.raw_reason or MANAGED
        self._count(request, lambda figures: figures.requests.labels(outcome).inc())
        encoding = response.headers.get("content-encoding", "identity").lower()
        if not response.is_success or encoding not in DECODED:  # though `identity` was asked for
            return _stream(response)
        kind = response.headers.get("content-type", "")
        is_asked = exchange.body.values.get("stream") is True  # some servers name no kind
        if "text/event-stream" in kind or (is_asked and "json" not in kind):
            relayed = self._relay(request, exchange, response)
            return _response(response, StreamingResponse(relayed, response.status_code))
        return await self._finish(request, exchange, response, content)

    def _caller(self, request: Request) -> tuple[list[str], str | None]:
        """Return the credentials of a request, and the tenant in its header; None where that lacks."""
        fields = [*request.headers.items(), *request.query_params.multi_items()]
        credentials = [
            f"{name}: {value}"
            for name, value in sorted(fields)
            if value and (CREDENTIAL.search(name) or name == self._tenant_header)
        ] or request.headers.getlist("cookie")  # which a provider may change next to a key
        credentials += filter(None, [API.sub("", request.url.path)])
        # All values: what a caller adds to its gateway's makes another tenant.
        named = ",".join(request.headers.getlist(self._tenant_header))
        return credentials, None if self._tenant_header and not named else named

    async def _retry_refused(
        self, request: Request, exchange: Exchange, refused: httpx2.Response, content: bytes
    ) -> Response:
        """Send the host's own request; if the provider takes that, the conversation passes from now on."""
        reason = await refused.aread()
        await refused.aclose()
        response = await self._send_own(request, type(exchange.answer), content)
        if response.status_code < HTTPStatus.BAD_REQUEST:
            exchange.conversation.is_refused = True
            self._count(request, lambda figures: figures.requests.labels("refused").inc())
            LOG.warning(
                "session %s: the provider refused its request (%s) and took the host's own; this "
                "conversation passes as it is: %s",
                exchange.conversation.session.id,
                refused.status_code,
                _start_of(reason),
            )
        return response

    async def _send_own(
        self, request: Request, answers: type[ModelAnswer], content: bytes
    ) -> Response:
        """Send a request of the host's own, without what the policy redacts."""
        own = await run_in_threadpool(self._service.unmanaged, answers, content)
        return _stream(await self._send(request, own))

    async def _send(
        self, request: Request, content: bytes | AsyncIterable[bytes], *, is_read: bool = False
    ) -> httpx2.Response:
        """Send a request with the host's headers; an answer that is read here comes uncompressed."""
        left_out = MADE_ANEW | ({b"accept-encoding"} if is_read else set())
        headers = [pair for pair in _end_to_end(request.headers.raw) if pair[0] not in left_out]
        if is_read:
            headers.append((b"accept-encoding", b"identity"))
        has_body = "content-length" in request.headers or "transfer-encoding" in request.headers
        if ".." in request.url.path.split("/"):  # also where it was written as %2e%2e
            raise httpx2.InvalidURL("'..' would leave the path of the provider")
        # Path and query as the host wrote them.
        path: bytes = request.scope.get("raw_path") or request.url.path.encode()
        query: bytes = request.scope["query_string"]
        target = path + (b"?" + query if query else b"")
        url = self._upstream.copy_with(raw_path=self._upstream.raw_path.rstrip(b"/") + target)
        sent = httpx2.Request(
            request.method, url, headers=headers, content=content if has_body else None,
            extensions={"timeout": self._client.timeout.as_dict()},
        )  # fmt: skip
        try:
            response = await self._client.send(sent, stream=True)
        except httpx2.HTTPError as failure:
            kind = type(failure).__name__
            self._count(request, lambda figures: figures.upstream.labels(kind).inc())
            raise
        status = response.status_code
        self._count(request, lambda figures: figures.upstream.labels(status).inc())
        return response

    # Answers

    async def _relay(
        self, request: Request, exchange: Exchange, response: httpx2.Response
    ) -> AsyncGenerator[bytes]:
        """Yield the events that the host sees, of one answer after the other until no recall waits."""
        answer, is_kept, is_read = exchange.answer, False, True
        name, problem = exchange.conversation.session.id, ""
        try:
            while not problem:
                async for event in events(response.aiter_bytes()):
                    passed, is_read = _feed(answer, event, is_read=is_read)
                    # Before the host sees the end: its next request may come at once.
                    if answer.reason and not answer.is_inside and not is_kept:
                        is_kept = True
                        await _run_logged(exchange, Exchange.keep, "recalls are not kept")
                    for chunk in passed:
                        yield chunk
                if not answer.is_inside or not is_read:
                    is_cut = is_read and answer.held and not answer.reason
                    problem = "the provider's answer ends within a call" if is_cut else ""
                    break
                await response.aclose()
                response = await self._next(request, exchange)
                if not response.is_success:
                    reason = _start_of(await response.aread())
                    problem = f"the provider answered {response.status_code}: {reason}"
        except (httpx2.HTTPError, TooManyRoundsError) as failure:
            problem = str(failure) or type(failure).__name__
        except Exception as failure:
            LOG.exception("session %s: an answer broke off", name)
            yield _broken_off(failure)
        finally:
            with anyio.CancelScope(shield=True):  # a host that is gone has its answer billed too
                await response.aclose()
                await _run_logged(exchange, Exchange.account, "a usage is not read")
        if problem:  # the provider's or its model's, and no failure of ours
            LOG.warning("session %s: an answer broke off: %s", name, problem)
            yield _broken_off(problem)

    async def _finish(
        self, request: Request, exchange: Exchange, response: httpx2.Response, own: bytes
    ) -> Response:
        """Return a whole answer, once no recall waits; `own` is the host's request."""
        answer, content = exchange.answer, await response.aread()
        try:
            answer.take(body := json.loads(content))
            while answer.is_inside:
                response = await self._next(request, exchange)
                content = await response.aread()
                if not response.is_success:
                    break
                answer.take(body := json.loads(content))
            else:
                await _run_logged(exchange, Exchange.keep, "recalls are not kept")
                if answer.is_changed:
                    content = json.dumps(answer.merge(body)).encode()
        except httpx2.HTTPError:
            raise
        except Exception as failure:  # law 3: where an answer cannot go on, the host's own is sent
            name, is_bug = exchange.conversation.session.id, not isinstance(failure, MALFORMED)
            LOG.warning("session %s: passes as it is: %s", name, failure, exc_info=is_bug)
            if answer.is_changed:
                return await self._send_own(request, type(answer), own)
        finally:
            with anyio.CancelScope(shield=True):  # a host that is gone has its answer billed too
                await response.aclose()
                await _run_logged(exchange, Exchange.account, "a usage is not read")
        return _response(response, Response(content, response.status_code))

    async def _next(self, request: Request, exchange: Exchange) -> httpx2.Response:
        """Answer the calls of recall, and send the request with which the answer goes on."""
        content = await run_in_threadpool(exchange.next_request)
        return await self._send(request, content, is_read=True)


async def _readable(request: Request) -> tuple[Request, bytes]:
    """Return a request and its body, without its compression where that can be read."""
    content = bytearray()
    async for chunk in request.stream():
        content += chunk
        if len(content) > MAX_BODY_BYTES:
            text = "the request is larger than any provider takes"
            raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, text)
    plain = bytes(content)
    encoding = ", ".join(request.headers.getlist("content-encoding")).lower()
    if encoding in PACKED:
        try:
            plain = await run_in_threadpool(packing.unpacked, plain, most=MAX_BODY_BYTES)
        except packing.DamagedError:
            return request, plain
    elif encoding != "identity":
        return request, plain
    own = [pair for pair in request.scope["headers"] if pair[0] != b"content-encoding"]
    return Request({**request.scope, "headers": own}), plain


def _error(_request: Request, wrong: Exception) -> Response:
    """Return an error in the form of a provider's."""
    assert isinstance(wrong, HTTPException)
    return JSONResponse({"error": {"message": wrong.detail}}, wrong.status_code)


async def _run_logged(exchange: Exchange, work: Callable[[Exchange], None], problem: str) -> None:
    """Run work of an exchange in a thread; a failure is logged with its problem, and no more.

    Law 3: the host has its answer, and the model asks again for what it recalled.
    """
    try:
        await run_in_threadpool(work, exchange)
    except Exception as failure:
        name, is_bug = exchange.conversation.session.id, not isinstance(failure, StoreError)
        LOG.warning("session %s: %s: %s", name, problem, failure, exc_info=is_bug)


def _start_of(reason: bytes) -> str:
    return reason[:MAX_REASON_BYTES].decode("utf-8", "replace")


def _broken_off(failure: object) -> bytes:
    """Return the event that reports it: the answer has begun, so that no status can."""
    error = {"type": "api_error", "message": f"hippocampus proxy: {failure}"}
    return event_bytes({"type": "error", "error": error}, "error")


def _feed(answer: ModelAnswer, event: Event, *, is_read: bool) -> tuple[list[bytes], bool]:
    """Return what to pass on for an event; once one cannot be read, all that follow pass as they are."""
    if is_read:
        try:
            return list(answer.feed(event)), True
        except Exception as failure:  # law 3: a stream in an unknown form is the host's to read
            is_bug = not isinstance(failure, MALFORMED)
            LOG.warning("a stream passes as it is: %s", failure, exc_info=is_bug)
    return [event.content], False


def _stream(response: httpx2.Response) -> Response:
    """Return a provider's answer byte for byte, as it comes."""

    async def content() -> AsyncIterator[bytes]:
        try:
            async for chunk in response.aiter_raw():
                yield chunk
        finally:
            await response.aclose()

    return _response(response, StreamingResponse(content(), response.status_code), is_raw=True)


def _response(source: httpx2.Response, made: Response, *, is_raw: bool = False) -> Response:
    """Return a response with the provider's headers."""
    left_out = set() if is_raw else {b"content-length", b"content-encoding"}
    own = [] if is_raw else [pair for pair in made.raw_headers if pair[0] == b"content-length"]
    kept = (pair for pair in _end_to_end(source.headers.raw) if pair[0].lower() not in left_out)
    made.raw_headers = [*own, *kept]
    return made


def _end_to_end(headers: Sequence[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Return headers without those of one connection: the usual ones, and those that it names."""
    named = b",".join(value for name, value in headers if name.lower() == b"connection")
    left_out = HOP_BY_HOP | {name.strip().lower() for name in named.split(b",")}
    return [pair for pair in headers if pair[0].lower() not in left_out]
