"""Which requests the proxy passes on, and which of their headers; events with any character."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

pytest.importorskip("starlette")
pytest.importorskip("prometheus_client")
import httpx2
from integrations.proxy.hosts import ChatHost, listing
from integrations.proxy.test_proxy import proxied

from hippocampus.integrations.proxy.events import Event, event_bytes, events


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("https://evil.example", 403),
        ("null", 403),
        ("http://[::1", 400),
        ("http://localhost:port", 400),
        ("http://localhost:3000", 200),
        ("http://[::1]:3000", 200),
    ],
)
def test_a_page_of_another_site_reaches_neither_the_provider_nor_a_session(
    origin: str, status: int, state: Path
) -> None:
    with proxied(state, listing(0)) as (upstream, url):
        body = ChatHost(url).body
        headers = {"origin": origin}
        assert httpx2.post(url + ChatHost.path, json=body, headers=headers).status_code == status
        rebound = {"origin": "http://evil.example:80", "host": "evil.example"}
        assert httpx2.post(url + ChatHost.path, json=body, headers=rebound).status_code == 403
        assert len(upstream.sent) == (status == 200)


def test_the_figures_are_not_served_to_a_page_whose_name_leads_to_this_machine(state: Path) -> None:
    with proxied(state, listing(0)) as (_, url):
        for host, status in (("evil.example", 421), ("localhost:8787", 200), ("[::1]", 200)):
            assert httpx2.get(f"{url}/metrics", headers={"host": host}).status_code == status


def test_headers_of_one_connection_are_not_passed_on(state: Path) -> None:
    headers = {"connection": "close, X-Private", "x-private": "1", "x-kept": "2", "te": "trailers"}
    with proxied(state, listing(0)) as (upstream, url):
        httpx2.post(url + ChatHost.path, json=ChatHost(url).body, headers=headers)
        httpx2.get(f"{url}/v1/models", headers=headers)
    for sent in upstream.sent:
        assert sent.headers["x-kept"] == "2"
        assert not {"x-private", "te"} & sent.headers.keys()


@pytest.mark.parametrize("sign", ["\u2028", "\u2029", "\x85", "\x0b", "\x1c"])
def test_an_event_has_its_data_whatever_character_stands_in_it(sign: str) -> None:
    data = {"type": "x", "text": f"a{sign}b"}
    whole = f"data: {json.dumps(data, ensure_ascii=False)}\n\n".encode()

    async def read(content: bytes) -> list[Event]:
        async def chunks() -> AsyncIterator[bytes]:
            for at in range(len(content)):
                yield content[at : at + 1]

        return [each async for each in events(chunks())]

    if sign >= " ":  # JSON has no control characters in its strings
        assert asyncio.run(read(whole)) == [Event(whole, data)]
    assert asyncio.run(read(event_bytes(data)))[0].data == data
