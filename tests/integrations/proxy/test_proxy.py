"""A proxy between real client packages and a scripted provider, all on loopback."""

from __future__ import annotations

import asyncio
import gzip
import itertools
import json
import logging
import re
import shutil
import socket
import sqlite3
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
import zstandard

pytest.importorskip("starlette")
pytest.importorskip("prometheus_client")
from integrations.proxy.hosts import (
    HOSTS,
    KEY,
    QUESTION,
    ROWS,
    TOOL,
    ChatHost,
    Items,
    MessagesHost,
    ResponsesHost,
    calls_and_results,
    listing,
    recalling,
    run,
)
from integrations.proxy.upstream import Sent, Upstream, provider, served
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from hippocampus import Hippocampus
from hippocampus.errors import StoreError
from hippocampus.formats import reader
from hippocampus.integrations.proxy import app as proxy_app
from hippocampus.integrations.proxy import service
from hippocampus.integrations.proxy.apis import ANSWERS
from hippocampus.integrations.proxy.app import Proxy
from hippocampus.integrations.proxy.events import Event
from hippocampus.integrations.proxy.service import Exchange, Service
from hippocampus.models import tokens
from hippocampus.replay.readers import read_file
from hippocampus.replay.readers.our_archive import sessions
from hippocampus.storage.content_store import DiskStore
from hippocampus.storage.session_costs import prices_of
from hippocampus.testing import Decided, call, entry_ids

LIMIT_SECONDS = 60.0
"""How long a provider may be silent: it shares this process, and its processor, with the proxy."""
RECALL_TOOLS = [TOOL, "recall"]
EACH_API = [(ChatHost, False), (ResponsesHost, True), (MessagesHost, True)]
PAGES: dict[str, str] = {}
"""By a proxy's address, the path of its live page."""


@contextmanager
def proxied(
    state: Path, decide: Callable[[Items], Decided], **options: Any
) -> Iterator[tuple[Upstream, str]]:
    """Serve a provider with a proxy in front of it; yield the provider and the proxy's address."""
    with provider(Upstream(decide, **options)) as upstream, in_front(upstream, state) as url:
        yield upstream, url


@contextmanager
def in_front(upstream: Upstream, state: Path) -> Iterator[str]:
    """Serve a proxy of a provider; yield its address."""
    app = Proxy(upstream.url, state, "default", LIMIT_SECONDS).app()
    with served(app) as url:
        PAGES[url] = app.state.page
        yield url


def tool_names(sent: Sent) -> list[str]:
    return [each.get("name") or each["function"]["name"] for each in sent.body.get("tools", [])]


def figures(url: str, query: str = "", **headers: str) -> dict[str, float]:
    text = httpx2.get(f"{url}/metrics{query}", headers=headers).raise_for_status().text
    return {
        name: float(value)
        for name, value in re.findall(r"^hippocampus_proxy_(.+) (\S+)$", text, re.MULTILINE)
    }


def conversations(url: str) -> list[dict[str, Any]]:
    return httpx2.get(url + PAGES[url].replace("/", "/conversations", 1)).json()


# Recalls


def raw_cost(items: list[Any], model: str) -> float:
    """Return what the requests of a host with such a list cost, sent as they are."""
    prices, cost, before, total = prices_of(model), 0.0, 0, 0
    for message in reader.read(items):
        if message.role == "assistant":
            cost, before = cost + prices.call_cost(before, total), total
        total += tokens.count_message(message)
    return cost


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("kind", HOSTS)
def test_recalls_are_answered_inside_and_stay_in_the_conversation(
    kind: Any, stream: bool, state: Path
) -> None:
    with proxied(state, recalling, thinking="Hm.") as (upstream, url):
        host = kind(url, stream=stream)
        run(host)
        for _ in range(100):  # a stream is billed once its last byte is out
            [shown] = conversations(url)
            if shown["billed"] and shown["billed"]["calls"] == 4:
                break
            time.sleep(0.05)
        counted = figures(url)
    assert "Order row-417 is late." in host.text
    assert "recall" not in json.dumps(host.items)
    assert len(upstream.sent) == 4
    for sent in upstream.sent:
        calls, results = calls_and_results(sent.items)
        assert sorted(calls) == sorted(results)
        assert tool_names(sent) == RECALL_TOOLS
    last = json.dumps(upstream.sent[-1].items)
    assert last.count("row-417") >= 2
    assert len(last) < len(json.dumps(host.items)) / 2
    for before, after in zip(upstream.sent, upstream.sent[1:], strict=False):
        assert after.items[: len(before.items)] == before.items
    assert shown["recalls"]["full"] == counted['recalls_total{outcome="full"}'] == 2
    # Without the memory the host would have made its own requests only.
    assert shown["raw_cost"] == pytest.approx(raw_cost(host.items, shown["model"]), rel=1e-3)
    assert counted['views_total{outcome="managed"}'] == len(upstream.sent)
    assert counted['tokens_total{list="sent"}'] < counted['tokens_total{list="raw"}']
    assert counted['billed_input_tokens_total{price="cache_read"}'] == 4 * 90


@pytest.mark.parametrize("kind", HOSTS)
def test_a_recall_that_failed_is_sent_with_the_same_bytes_later(kind: Any, state: Path) -> None:
    steps: list[Decided] = [call(TOOL), call("recall", entry_id="nowhere"), call(TOOL, page=2)]

    def decide(items: Items) -> Decided:
        return [*steps, "Done."][len(calls_and_results(items)[0])]

    with proxied(state, decide) as (upstream, url):
        run(kind(url))
    assert len(upstream.sent) == 4
    assert "nowhere" in json.dumps(upstream.sent[-1].items)
    for before, after in zip(upstream.sent, upstream.sent[1:], strict=False):
        assert after.items[: len(before.items)] == before.items


@pytest.mark.parametrize("kind", HOSTS)
def test_a_restarted_proxy_sends_the_same_prefix(kind: Any, state: Path) -> None:
    with provider(Upstream(recalling)) as upstream:
        with in_front(upstream, state) as url:
            host = kind(url, stream=True)
            run(host, steps=2)
        before = len(upstream.sent)
        with in_front(upstream, state) as url:
            again = kind(url)
            again.items = host.items
            run(again)
            [shown] = conversations(url)
    same = upstream.sent[before - 1].items
    assert upstream.sent[before].items[: len(same)] == same
    assert "Order row-417 is late." in again.text
    assert shown["turn"] == 3


def test_thinking_that_a_host_leaves_out_moves_no_recall(state: Path) -> None:
    with proxied(state, recalling, thinking="Hm.") as (upstream, url):
        host = MessagesHost(url)
        for _ in range(2):
            for call_id, _ in host.ask():
                host.give(call_id, ROWS)
        for item in host.items:
            if item["role"] == "assistant":
                item["content"] = [each for each in item["content"] if each["type"] != "thinking"]
        run(host)
    kinds = [
        [block["type"] for block in item["content"]]
        for item in upstream.sent[-1].items
        if item["role"] == "assistant"
    ]
    assert kinds == [["text", "tool_use"], ["text", "tool_use"], ["text", "tool_use", "tool_use"]]


@pytest.mark.parametrize(
    ("taken", "ours"),
    [
        (["recall"], "hippocampus_recall"),
        (["recall", "hippocampus_recall"], "hippocampus_hippocampus_recall"),
    ],
)
def test_a_host_with_a_tool_named_recall_keeps_it(state: Path, taken: list[str], ours: str) -> None:
    def decide(items: Items) -> Decided:
        made = len(calls_and_results(items)[0])
        steps: dict[int, Decided] = {0: call(TOOL), 1: call(taken[-1], words="x")}
        return steps.get(made, "Done.")

    with proxied(state, decide) as (upstream, url):
        host = ChatHost(url, stream=True)
        host.tools += [
            {"type": "function", "function": {"name": name, "parameters": {}}} for name in taken
        ]
        [(call_id, _)] = host.ask()
        host.give(call_id, ROWS)
        [(_, name)] = host.ask()
        host.client.close()
    assert name == taken[-1]
    assert tool_names(upstream.sent[-1]) == [TOOL, *taken, ours]


def test_a_model_that_recalls_for_ever_is_stopped(state: Path) -> None:
    def decide(items: Items) -> Decided:
        return call("recall", query="late") if calls_and_results(items)[0] else call(TOOL)

    with proxied(state, decide) as (upstream, url):
        host = MessagesHost(url, stream=True)
        [(call_id, _)] = host.ask()
        host.give(call_id, ROWS)
        with pytest.raises(Exception, match="called recall 16 times"):
            host.ask()
        assert len(upstream.sent) == 1 + 17
        host.stream = False
        [(_, name)] = host.ask()
        host.client.close()
    assert name == "recall"
    assert tool_names(upstream.sent[-1]) == [TOOL]


# Bytes


ODD = (
    '{"model" : "gpt-5", "x_unknown": [1.0, 1e5, "\\u00e9"],\n "messages": [ {"role":"user",'
    '"content":"Hé"} ,{"role":"user","content":"\\ud83d\\ude00"}], "tools":[{"name":"t"} ]}'
)


def test_a_request_that_is_not_changed_is_sent_byte_for_byte_but_for_the_tool(state: Path) -> None:
    with proxied(state, listing(0)) as (upstream, url):
        headers = {"anthropic-beta": "a,b", "X-Odd": "1", "content-type": "application/json"}
        address = f"{url}/v1/messages?beta=true&x=%2F%20"
        httpx2.post(address, content=ODD.encode(), headers=headers).raise_for_status()
    [sent] = upstream.sent
    assert sent.target == "/v1/messages?beta=true&x=%2F%20"
    assert (sent.headers["anthropic-beta"], sent.headers["x-odd"]) == ("a,b", "1")
    before, _, after = sent.content.decode().partition(',{"name":"recall"')
    assert before + after.partition(" ]}")[1] == ODD
    assert tool_names(sent) == ["t", "recall"]


NOT_MANAGED: list[tuple[str, dict[str, Any]]] = [
    ("/v1/chat/completions", {"messages": [{"role": "user", "content": "A title?"}]}),
    ("/v1/chat/completions", {"messages": [1, 2], "tools": [{}]}),
    ("/v1/chat/completions", {"messages": [{"role": "user"}], "tools": [{}], "n": 2}),
    ("/v1/responses", {"input": [{"role": "user"}], "tools": [{}], "previous_response_id": "r"}),
    ("/v1/responses", {"input": "x", "tools": [{}]}),
    ("/v1/responses", {"input": "x", "tools": [{}], "context_management": [{"type": "compaction"}]}),
    ("/v1/messages", {
        "messages": [{"role": "user", "content": "x"}], "tools": [{}],
        "context_management": {"edits": [{"type": "clear_tool_uses_20250919"}]},
    }),
    ("/v1/messages/count_tokens", {"messages": [{"role": "user", "content": "x"}], "tools": [{}]}),
    ("/v1/embeddings", {"input": "x"}),
]  # fmt: skip


def test_a_request_that_is_not_managed_passes_byte_for_byte(state: Path) -> None:
    with proxied(state, lambda _: "Yes.") as (upstream, url):
        for path, request_body in NOT_MANAGED:
            content = json.dumps({"model": "m", **request_body}, indent=1).encode()
            upstream.sent.clear()
            answer = httpx2.post(url + path, content=content)
            direct = httpx2.post(upstream.url + path, content=content)
            assert conversations(url) == []
            assert [each.content for each in upstream.sent] == [content] * 2
            assert answer.status_code == direct.status_code
            contents = [re.sub(rb'(_|-)\d+"', b'"', each.content) for each in (answer, direct)]
            assert contents[0] == contents[1]


def test_a_request_that_is_not_managed_is_redacted(state: Path, tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text(
        "extends: default\nlifecycle_policies: [{match: {}, action: {redact: [email]}}]"
    )
    words = {"role": "user", "content": "Write to ada@example.org"}
    asked = {"messages": [words], "model": "m"}
    requests = [
        *(("/v1/messages", asked), ("/v1/messages/", asked), ("/v1/messages/count_tokens", asked)),
        ("/v1/responses", {"input": words["content"], "model": "m", "tools": [{}]}),
        ("/v1/chat/completions", {**asked, "tools": [TOOL]}),  # whose view is refused
    ]
    refusing = Upstream(
        lambda _: "Yes.",
        refuses=lambda sent: 400 if "tools" in sent.body and sent.body["tools"][1:] else 0,
    )
    with provider(refusing) as upstream:
        app = Proxy(upstream.url, state, str(tmp_path / "p.yaml"), LIMIT_SECONDS).app()
        with served(app) as url:
            for path, body in requests:
                assert httpx2.post(url + path, json=body).status_code == 200
    assert len(upstream.sent) == len(requests) + 1
    assert all(b"Write to [redacted email]" in sent.content for sent in upstream.sent)


def test_no_body_is_in_the_log(
    state: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "p.yaml").write_text("lifecycle_policies: [{match: {}, action: {redact: [email]}}]")
    unlike_utf8 = b'{"messages": [{"content": "ada@example.org \xff"}]}'

    class Answering(Upstream):
        async def answer(self, request: Request) -> Response:
            return Response(unlike_utf8, media_type="application/json")

    with provider(Answering(listing(1))) as upstream:
        app = Proxy(upstream.url, state, str(tmp_path / "p.yaml"), LIMIT_SECONDS).app()
        with served(app) as url:
            for content in (unlike_utf8, json.dumps(ChatHost(url).body).encode()):
                assert httpx2.post(url + ChatHost.path, content=content).content == unlike_utf8
    assert caplog.text.count("can't decode byte") == 2
    assert "example.org" not in caplog.text


def frames(content: bytes) -> bytes:
    """Compress in frames, as a client that flushes them may: together they are one body."""
    return b"".join(zstandard.compress(content[at : at + 99]) for at in range(0, len(content), 99))


COMPRESSED = {
    "gzip": gzip.compress, "Zstd": zstandard.compress, "zstd": frames, "identity": bytes,
}  # fmt: skip


def test_a_compressed_request_is_managed_and_redacted(state: Path, tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text(
        "extends: default\nlifecycle_policies: [{match: {}, action: {redact: [email]}}]"
    )
    with provider(Upstream(listing(1))) as upstream:
        app = Proxy(upstream.url, state, str(tmp_path / "p.yaml"), LIMIT_SECONDS).app()
        with served(app) as url:
            for encoding, tools in itertools.product(COMPRESSED, ([], MessagesHost(url).tools)):
                body = {**MessagesHost(url).body, "tools": tools}
                body["messages"] = [{"role": "user", "content": "Write to ada@example.org"}]
                sent = COMPRESSED[encoding](json.dumps(body).encode())
                headers = {"content-encoding": encoding}
                httpx2.post(
                    url + MessagesHost.path, content=sent, headers=headers
                ).raise_for_status()
    assert [tool_names(sent) for sent in upstream.sent] == [[], RECALL_TOOLS] * len(COMPRESSED)
    assert all(b"Write to [redacted email]" in sent.content for sent in upstream.sent)


def test_a_body_that_cannot_be_decompressed_passes_byte_for_byte(state: Path) -> None:
    bodies = [b"no gzip", gzip.compress(b"{" * 99)[:-9], zstandard.compress(bytes(10**6))[:-9]]
    answers = Unknown(lambda _: "")
    answers.text = "{}"
    with provider(answers) as upstream, in_front(upstream, state) as url:
        for content, encoding in itertools.product(bodies, ("gzip", "zstd", "br")):
            headers = {"content-encoding": encoding}
            httpx2.post(
                url + MessagesHost.path, content=content, headers=headers
            ).raise_for_status()
    assert answers.got == [content for content in bodies for _ in range(3)]


def test_a_body_that_unpacks_to_more_than_a_provider_takes_is_not_unpacked(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proxy_app, "MAX_BODY_BYTES", 10_000)
    with proxied(state, listing(1)) as (upstream, url):
        for content, headers, status in (
            (gzip.compress(b" " * 10_001), {"content-encoding": "gzip"}, 500),
            (b" " * 10_001, {}, 413),
            (iter([b" " * 5_000] * 3), {}, 413),
        ):
            answer = httpx2.post(url + MessagesHost.path, content=content, headers=headers)
            assert answer.status_code == status
            assert status != 413 or "larger" in answer.json()["error"]["message"]
        assert len(upstream.sent) == 1


@pytest.mark.slow
def test_a_body_of_20_megabytes_passes_and_is_shortened(state: Path) -> None:
    result = "\n".join(
        f"2026-03-01T10:00:{n % 60:02} INFO worker took {n} ms" for n in range(400_000)
    )
    assert len(result) > 15_000_000
    with proxied(state, listing(1)) as (upstream, url):
        host = ChatHost(url, stream=True, timeout=600)
        run(host, result=result)
        uploaded = httpx2.post(f"{url}/v1/files", content=b"x" * 20_000_000, timeout=60)
        assert uploaded.json()["bytes"] == 20_000_000
    assert host.text == "Done."
    assert len(upstream.sent[1].content) < len(result) / 100


def marks_of(value: Any) -> int:
    """Return how many cache marks a JSON value carries."""
    if isinstance(value, list):
        return sum(map(marks_of, value))
    if not isinstance(value, dict):
        return 0
    return ("cache_control" in value) + sum(map(marks_of, value.values()))


class MarkedHost(MessagesHost):
    """An agent that marks two blocks of its system prompt, and the end of its list, as Claude Code."""

    @property
    def body(self) -> dict[str, Any]:
        mark = {"cache_control": {"type": "ephemeral"}}
        system = [
            {"type": "text", "text": f"Part {n} of the rules. " * 300, **mark} for n in (1, 2)
        ]
        last = self.items[-1]
        content = last["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        marked = {**last, "content": [*blocks[:-1], {**blocks[-1], **mark}]}
        return {**super().body, "system": system, "messages": [*self.items[:-1], marked]}


def test_a_request_has_four_cache_marks_at_most_and_the_host_s_stay(state: Path) -> None:
    with proxied(state, listing(12)) as (upstream, url):
        host = MarkedHost(url, stream=True)
        run(host)
    assert host.text == "Done."
    assert {marks_of(sent.body["system"]) for sent in upstream.sent} == {2}
    assert all(3 <= marks_of(sent.body) <= 4 for sent in upstream.sent)
    assert all("cache_control" in sent.items[-1]["content"][-1] for sent in upstream.sent)


# Conversations


@pytest.mark.slow
def test_64_conversations_at_once_keep_apart(state: Path) -> None:
    """All begin with the same words; each has rows of its own, and must see no others."""

    def decide(items: Items) -> Decided:
        made = len(calls_and_results(items)[0])
        if made < 2:
            return call(TOOL, page=made)
        if made == 2:
            return call("recall", entry_id=entry_ids(items)[0], pattern="row-7 ")
        return json.dumps(items[-1])

    def one(number: int) -> str:
        host = HOSTS[number % 3](url, stream=number % 2 == 0)
        rows = json.dumps([{"id": f"agent-{number:03} row-{n} of all"} for n in range(600)])
        run(host, result=rows)
        return host.text

    with proxied(state, decide) as (upstream, url), ThreadPoolExecutor(64) as pool:
        texts = list(pool.map(one, range(64)))
        shown = conversations(url)
    for number, text in enumerate(texts):
        assert set(re.findall(r"agent-\d+", text)) == {f"agent-{number:03}"}
        assert "row-7 of all" in text
    assert sum(each["failures"] for each in shown) == 0
    assert len(shown) == 64
    for sent in upstream.sent:
        assert len(set(re.findall(r"agent-\d+", sent.content.decode()))) <= 1


def test_a_sub_agent_and_a_second_start_are_conversations_of_their_own(state: Path) -> None:
    with proxied(state, listing(2)) as (_, url):
        main, sub, second = MessagesHost(url), MessagesHost(url), MessagesHost(url)
        sub.items[0]["content"] = "Find the file."
        for host in (main, sub, second):
            [(call_id, _)] = host.ask()
            host.give(call_id, ROWS)
        for host in (main, sub, second):
            run(host)
        shown = conversations(url)
    assert {each["turn"] for each in shown} == {2}


def continued(host: MessagesHost, url: str) -> MessagesHost:
    """Return an agent with the list of another, whose client is closed."""
    other = MessagesHost(url)
    other.items = host.items
    return other


@pytest.mark.parametrize("missed", ["no tools", "locked"])
def test_requests_that_passed_as_they_are_split_no_conversation(
    missed: str, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "DEADLINE_SECONDS", 0.5)
    with proxied(state, listing(6)) as (_, url):
        host = MessagesHost(url)
        run(host, steps=2)
        host = continued(host, url)
        if missed == "locked":
            with closing(sqlite3.connect(state / "state.sqlite3", isolation_level=None)) as db:
                db.execute("BEGIN IMMEDIATE")
                run(host, steps=2)
            host = continued(host, url)
        else:
            asked = {**host.body, "tools": []}
            for _ in range(2):
                answer = httpx2.post(url + host.path, json=asked).raise_for_status().json()
                asked["messages"] = [
                    *asked["messages"],
                    {"role": "assistant", "content": answer["content"]},
                    {"role": "user", "content": "Go on."},
                ]
            host.items = asked["messages"]
        run(host)
        shown = conversations(url)
    assert len(shown) == 1


def test_a_rewound_list_goes_on_in_its_session(state: Path) -> None:
    with proxied(state, listing(5)) as (upstream, url):
        host = MessagesHost(url)
        run(host, steps=4)
        before = upstream.sent[2].items
        rewound = MessagesHost(url)
        rewound.items = [*host.items[:5], {"role": "user", "content": "Only the first page."}]
        run(rewound)
        assert len(conversations(url)) == 1
        assert upstream.sent[4].items[:4] == before[:4]


def test_a_conversation_goes_to_two_models_at_once(state: Path) -> None:
    """The request to the second model does not end the session of the first one's."""
    result = {"type": "tool_result", "tool_use_id": "c", "content": ROWS}
    use = {"type": "tool_use", "id": "c", "name": TOOL, "input": {}}
    items = [
        {"role": "user", "content": QUESTION},
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [result]},
    ]
    service = Service(state, "default")
    bodies = [
        json.dumps({"model": model, "tools": [{"name": TOOL}], "messages": items}).encode()
        for model in ("claude-sonnet-4-5", "claude-opus-4-5")
    ]
    first, second = (service.exchange(ANSWERS["/messages"], body) for body in bodies)
    assert isinstance(first, Exchange)
    assert isinstance(second, Exchange)
    again = json.loads(first.send_view())
    service.close()
    assert again["messages"] == json.loads(second.content)["messages"] != items


# Failures


def test_errors_of_the_provider_reach_the_host_as_they_are(state: Path) -> None:
    with proxied(state, listing(0)) as (upstream, url):
        for status in (401, 404, 429, 500, 529):
            upstream.refuses = lambda _, status=status: status
            answer = httpx2.post(url + ChatHost.path, json=ChatHost(url).body)
            assert answer.status_code == status
            assert answer.json() == {"error": {"message": "refused"}}


def test_a_view_that_the_provider_refuses_is_followed_by_the_host_s_own_request(
    state: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def refuses(sent: Sent) -> int:
        return 400 if "recall" in tool_names(sent) else 0

    with proxied(state, listing(2), refuses=refuses) as (upstream, url):
        host = MessagesHost(url, stream=True)
        run(host)
        counted = figures(url)
    assert host.text == "Done."
    assert [tool_names(sent) for sent in upstream.sent] == [RECALL_TOOLS, [TOOL], [TOOL], [TOOL]]
    assert counted['requests_total{outcome="refused"}'] == 1
    assert "refused its request (400)" in caplog.text


def test_a_request_that_both_forms_of_are_refused_ends_no_management(state: Path) -> None:
    wrong = iter([400, 400])
    with proxied(state, listing(1), refuses=lambda _: next(wrong, 0)) as (upstream, url):
        answer = httpx2.post(url + ChatHost.path, json=ChatHost(url).body)
        assert answer.status_code == 400
        run(ChatHost(url))
    assert tool_names(upstream.sent[-1]) == RECALL_TOOLS


def test_a_provider_that_is_not_there_is_a_502_and_a_silent_one_a_504(state: Path) -> None:
    with socket.socket() as nothing:
        nothing.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{nothing.getsockname()[1]}"
        with served(Proxy(address, state, "default", 1.0).app()) as url:
            answer = httpx2.post(url + ChatHost.path, json=ChatHost(url).body)
            assert answer.status_code == 502
            assert address.removeprefix("http://") in answer.json()["error"]["message"]
        nothing.listen()
        with served(Proxy(address, state, "default", 0.3).app()) as url:
            answer = httpx2.post(url + ChatHost.path, json=ChatHost(url).body)
            assert answer.status_code == 504


async def ever() -> AsyncIterator[None]:
    await asyncio.sleep(60)
    yield


def test_a_host_that_leaves_a_stream_frees_the_provider_s(state: Path) -> None:
    with proxied(state, listing(1), pause=ever) as (upstream, url):
        host = MessagesHost(url)
        with httpx2.stream("POST", url + host.path, json={**host.body, "stream": True}) as answer:
            first = next(answer.iter_raw())
            assert b"message_start" in first
        assert upstream.closed.wait(10)
        upstream.pause = None
        run(host)
    assert host.text == "Done."


def test_a_stream_that_breaks_off_while_it_recalls_ends_with_an_error(state: Path) -> None:
    def refuses(sent: Sent) -> int:
        return 529 if len(calls_and_results(sent.items)[0]) == 2 else 0

    with proxied(state, recalling, refuses=refuses) as (upstream, url):
        host = MessagesHost(url, stream=True)
        [(call_id, _)] = host.ask()
        host.give(call_id, ROWS)
        with pytest.raises(Exception, match="529"):
            host.ask()
        upstream.refuses = lambda _: 0
        run(host)
    assert "Order row-417 is late." in host.text


async def cut() -> AsyncIterator[None]:
    raise ConnectionError("the provider is gone")
    yield


@pytest.mark.parametrize("kind", HOSTS)
def test_a_stream_that_the_provider_cuts_ends_with_an_error_and_one_line(
    kind: type[Any], state: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with proxied(state, listing(1), pause=cut) as (upstream, url):
        host = kind(url, stream=True)
        with pytest.raises(Exception, match="peer closed connection"):
            host.ask()
        upstream.pause = None
        run(host)
    assert host.text == "Done."
    assert caplog.text.count("an answer broke off") == 1
    assert "Traceback" not in caplog.text


class Ending(Upstream):
    """A provider whose streams end before the event that gives the reason."""

    async def streamed(self, events: list[bytes]) -> AsyncIterator[bytes]:
        for each in events:
            if any(
                sign in each for sign in (b'"finish_reason": "', b"message_delta", b".completed")
            ):
                return
            yield each


def test_a_call_of_a_number_that_no_answer_has_is_not_made_room_for() -> None:
    piece = {"index": 10**6, "function": {"name": "f", "arguments": "{}"}}
    data = {"choices": [{"delta": {"tool_calls": [piece]}}]}
    with pytest.raises(ValueError, match="1000000"):
        list(ANSWERS["/chat/completions"]("recall").feed(Event(b"", data)))


PIECES = [
    {"index": 0, "id": "a", "function": {"name": "recall", "arguments": ""}},
    {"index": 0, "id": "other", "function": {"arguments": '{"query": "x"}'}},
    {"index": 0, "id": "b", "function": {"name": TOOL, "arguments": "{"}},
    {"index": 0, "function": {"arguments": "}"}},
]


def test_calls_of_one_index_are_those_of_their_ids() -> None:
    """As some servers stream them, and others a new id with each piece."""
    answer = ANSWERS["/chat/completions"]("recall")
    passed = [
        list(answer.feed(Event(b"passed", {"choices": [{"delta": {"tool_calls": [piece]}}]})))
        for piece in PIECES
    ]
    list(answer.feed(Event(b"", {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]})))
    assert answer.is_mixed
    assert [arguments for _, arguments in answer.calls] == ['{"query": "x"}']
    assert [each["function"]["arguments"] for each in answer.seen[1:]] == ["{}"]
    assert passed == [[], [], [b"passed"], [b"passed"]]


@pytest.mark.parametrize("kind", HOSTS)
def test_a_model_that_recalls_for_ever_ends_with_an_error_and_a_line_in_the_log(
    kind: type[Any], state: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with proxied(state, lambda _: call("recall", query="row-417")) as (upstream, url):
        host = kind(url)
        answer = httpx2.post(url + kind.path, json={**host.body, "stream": True}, timeout=120)
        host.client.close()
    assert "the model called recall 16 times in one answer" in answer.text
    assert len(upstream.sent) == 17
    [line] = [each for each in caplog.records if "broke off" in each.getMessage()]
    assert line.exc_info in {None, False}


@pytest.mark.parametrize("kind", HOSTS)
def test_a_stream_that_ends_within_a_recall_ends_with_an_error(
    kind: type[Any], state: Path, caplog: pytest.LogCaptureFixture
) -> None:
    asks = Ending(lambda items: call("recall", query="row-417"))
    with provider(asks) as upstream, in_front(upstream, state) as url:
        host = kind(url, stream=True)
        answer = httpx2.post(url + kind.path, json={**host.body, "stream": True})
        host.client.close()
    assert "ends within a call" in answer.text
    assert caplog.text.count("an answer broke off") == 1
    assert "Traceback" not in caplog.text


class Encoding(Upstream):
    """A provider that compresses whatever was asked for."""

    async def answer(self, request: Request) -> Response:
        await request.body()
        headers = {"content-encoding": "br"}
        return Response(b"\x1b no one reads this", media_type="application/json", headers=headers)


@pytest.mark.parametrize("stream", [True, False])
def test_an_answer_that_cannot_be_decompressed_passes_with_its_encoding(
    stream: bool, state: Path
) -> None:
    with provider(Encoding(listing(1))) as upstream, in_front(upstream, state) as url:
        body = {**MessagesHost(url).body, "stream": stream}
        with httpx2.stream("POST", url + MessagesHost.path, json=body) as answer:
            assert answer.headers["content-encoding"] == "br"
            assert b"".join(answer.iter_raw()) == b"\x1b no one reads this"


class Loud(Upstream):
    """A provider that compresses whatever was asked for, and writes that in capital letters."""

    async def answer(self, request: Request) -> Response:
        whole = await super().answer(request)
        headers = {"content-encoding": "GZIP"}
        return Response(gzip.compress(whole.body), headers=headers, media_type="application/json")


def test_an_answer_is_read_whatever_the_case_of_its_encoding(state: Path) -> None:
    """A call of recall in it reached the host, which has no such tool."""
    with provider(Loud(listing(1))) as upstream, in_front(upstream, state) as url:
        answer = httpx2.post(url + MessagesHost.path, json=MessagesHost(url).body)
    assert "content-encoding" not in answer.headers
    assert answer.json()["role"] == "assistant"


class Unknown(Upstream):
    """A provider whose answers are JSON of no known form."""

    text = ""

    async def answer(self, request: Request) -> Response:
        self.got = [*getattr(self, "got", ()), await request.body()]
        return Response(self.text, media_type="application/json")


@pytest.mark.parametrize("kind", HOSTS)
def test_an_answer_in_an_unknown_form_passes_with_one_line(
    kind: type[Any], state: Path, caplog: pytest.LogCaptureFixture
) -> None:
    upstream, texts = Unknown(listing(1)), ["[null]"]
    for blocks in ('"recall"', "[5, 6]", "7"):
        message = f'{{"role":"assistant","tool_calls":{blocks}}}'
        choice = f'{{"message":{message},"finish_reason":"tool_calls"}}'
        texts.append(f'{{"choices":[{choice}],"content":{blocks},"output":{blocks}}}')
    with provider(upstream), in_front(upstream, state) as url:
        host = kind(url)
        for upstream.text in texts:
            caplog.clear()
            assert httpx2.post(url + kind.path, json=host.body).text == upstream.text
            assert caplog.text.count("passes as it is") == 1
            assert "Traceback" not in caplog.text
        host.client.close()


class Unusual(Upstream):
    """A provider whose answers are accepted and not OK, or of a kind that they are not."""

    async def answer(self, request: Request) -> Response:
        found = await super().answer(request)
        found.status_code = 202
        if isinstance(found, StreamingResponse):
            found.headers["content-type"] = "application/octet-stream"
        return found


@pytest.mark.parametrize(("kind", "stream"), EACH_API)
def test_recalls_are_answered_inside_whatever_the_status_and_kind_of_an_answer(
    kind: Any, stream: bool, state: Path
) -> None:
    upstream = Unusual(recalling)
    with provider(upstream), in_front(upstream, state) as url:
        host = kind(url, stream=stream)
        run(host)
    assert "Order row-417 is late." in host.text
    assert len(upstream.sent) == 4


@pytest.mark.parametrize("address", ["/v1/messages?#x", "/../admin", "/v1/%2e%2e/%2E./admin"])
def test_an_address_that_no_client_writes_is_a_400(state: Path, address: str) -> None:
    with proxied(state, listing(1)) as (upstream, url), socket.socket() as client:
        client.connect(("127.0.0.1", int(url.rpartition(":")[2])))
        opening = f"POST {address} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 0\r\n\r\n"
        client.sendall(opening.encode())
        assert client.recv(1_000).startswith(b"HTTP/1.1 400")
    assert not upstream.sent


# What is kept and shown


def test_keys_are_passed_on_and_nowhere_kept(
    state: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG, "hippocampus")
    with proxied(state, recalling) as (upstream, url):
        for kind in HOSTS:
            run(kind(url, stream=True))
        shown = json.dumps(conversations(url)) + httpx2.get(f"{url}/metrics").text
    for sent in upstream.sent:
        assert KEY in (sent.headers.get("authorization", "") + sent.headers.get("x-api-key", ""))
    files = [path for path in state.rglob("*") if path.is_file()]
    assert len(files) > 5
    assert not any(KEY.encode() in path.read_bytes() for path in files)
    assert KEY not in shown + caplog.text + "".join(capfd.readouterr())


def test_a_request_whose_store_fails_is_not_counted_as_managed(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_given: object) -> str:
        raise StoreError("the disk is full")

    monkeypatch.setattr(DiskStore, "put", full)
    with proxied(state, listing(2)) as (upstream, url):
        run(ChatHost(url))
        [shown] = conversations(url)
        counted = figures(url)
    failed = counted['views_total{outcome="failed: StoreError"}']
    assert failed == shown["raw"] == shown["failures"] > 0
    assert counted['requests_total{outcome="failed: StoreError"}'] == failed
    assert failed + counted['requests_total{outcome="managed"}'] == len(upstream.sent)


def test_a_request_whose_store_is_held_by_another_process_is_a_line_in_the_log(
    state: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "DEADLINE_SECONDS", 0.1)
    with proxied(state, lambda _: "Done.") as (_, url):
        run(MessagesHost(url))
        with closing(sqlite3.connect(state / "state.sqlite3", isolation_level=None)) as db:
            db.execute("BEGIN IMMEDIATE")
            caplog.clear()
            run(MessagesHost(url))
    [line] = [each for each in caplog.records if each.name == "hippocampus"]
    assert "requests pass as they are" in line.getMessage()
    assert line.exc_info in {None, False}


@pytest.mark.parametrize("problem", ["damaged", "file"])
def test_a_proxy_starts_on_a_state_that_cannot_be_used_and_uses_it_once_it_can(
    problem: str, state: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    policy = tmp_path / "p.yaml"
    policy.write_text(
        "extends: default\nlifecycle_policies: [{match: {}, action: {redact: [email]}}]"
    )
    broken = state if problem == "file" else state / "state.sqlite3"
    broken.parent.mkdir(parents=True, exist_ok=True)
    broken.write_bytes(b"no database" * 1_000)
    with provider(Upstream(lambda _: "Done.")) as upstream:
        app = Proxy(upstream.url, state, str(policy), LIMIT_SECONDS).app()
        with served(app) as url:
            PAGES[url] = app.state.page
            words = {"role": "user", "content": "Write to ada@example.org"}
            asked = {"messages": [words], "model": "m", "tools": [{"name": TOOL}]}
            for _ in range(3):
                httpx2.post(f"{url}/v1/messages", json=asked).raise_for_status()
            lines = [each.getMessage() for each in caplog.records if each.name == "hippocampus"]
            broken.unlink()
            httpx2.post(f"{url}/v1/messages", json=asked).raise_for_status()
            [shown] = conversations(url)
    assert sum("requests pass as they are" in line for line in lines) == 1
    assert [tool_names(sent) for sent in upstream.sent] == [[TOOL]] * 3 + [RECALL_TOOLS]
    assert all(b"Write to [redacted email]" in sent.content for sent in upstream.sent)
    assert shown["raw"] == shown["failures"] == 0


def test_a_database_that_is_moved_away_while_the_proxy_runs_is_made_again(state: Path) -> None:
    with proxied(state, lambda _: "Done.") as (upstream, url):
        for question in ("One?", "Two?", "Three?"):
            host = MessagesHost(url)
            host.items[0]["content"] = question
            run(host)
            for path in state.glob("state.sqlite3*") if question == "One?" else ():
                path.unlink()
    assert [tool_names(sent) for sent in upstream.sent] == [RECALL_TOOLS] * 3


def test_the_state_directory_of_a_proxy_is_one_of_any_memory(state: Path) -> None:
    with proxied(state, recalling) as (_, url):
        run(ChatHost(url))
        [shown] = conversations(url)
    entry = shown["newest"][-1]
    assert (entry["tool"], shown["entries"]) == (TOOL, len(shown["newest"]))
    memory = Hippocampus(state)
    session = memory.session(shown["session"])
    assert "row-417" in session.recall(entry["id"], pattern="row-417")
    memory.close()


@pytest.mark.parametrize(("kind", "stream"), EACH_API)
def test_a_replay_of_its_state_has_the_last_answer(kind: Any, stream: bool, state: Path) -> None:
    def replayed() -> list[Any]:
        [session] = sessions(str(state / "state.sqlite3"))
        [recording] = read_file(session)
        return recording.messages

    with provider(Upstream(recalling)) as upstream:
        with in_front(upstream, state) as url:
            host = kind(url, stream=stream)
            run(host)
        assert "Order row-417 is late." in str(replayed()[-1])
        with in_front(upstream, state) as url:  # the host may write that answer in another way
            again = kind(url, stream=stream)
            again.items = [*host.items, {"role": "user", "content": "And now?"}]
            run(again)
    assert str(replayed()).count("And now?") == 1


def test_a_proxy_that_another_one_has_overtaken_cuts_no_list(state: Path) -> None:
    with (
        provider(Upstream(recalling)) as upstream,
        in_front(upstream, state) as other,
        in_front(upstream, state) as url,
    ):
        host = ChatHost(url)
        run(host)
        later = ChatHost(other)
        later.items = [*host.items, {"role": "user", "content": "And now?"}]
        run(later)
    [session] = sessions(str(state / "state.sqlite3"))
    [recording] = read_file(session)
    assert str(recording.messages).count("And now?") == 1
    assert recording.messages[-1]["role"] == "assistant"


def test_health_and_figures_are_served_to_all_and_conversations_to_who_has_the_key_of_the_page(
    state: Path,
) -> None:
    with proxied(state, listing(1)) as (_, url):
        run(ChatHost(url))
        assert httpx2.get(f"{url}/health").json() == {"status": "ok"}
        assert "hippocampus proxy" in httpx2.get(f"{url}/").text
        assert figures(url)['requests_total{outcome="managed"}'] == 2
        assert conversations(url)
        for query in ("", "?key=", "?key=%C3%A9"):
            assert httpx2.get(f"{url}/conversations{query}").status_code == 403


def test_the_printed_page_opens_with_a_key_of_any_letters(state: Path) -> None:
    app = Proxy("http://127.0.0.1:1", state, "default", LIMIT_SECONDS, key="a+b/c&d=#%41é").app()
    with served(app) as url:
        shown = httpx2.get(url + app.state.page.replace("/", "/conversations", 1))
    assert shown.json() == []


@pytest.mark.skipif(not shutil.which("chromium"), reason="no chromium")
def test_the_live_page_shows_conversations_as_text(state: Path, tmp_path: Path) -> None:
    with proxied(state, listing(1)) as (_, url):
        host = ChatHost(url)
        host.model = "<img src=x onerror=document.title='hacked'>"
        run(host)
        options = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
        ]
        options += ["--disable-background-networking", "--disable-component-update"]
        options += ["--disable-sync", f"--user-data-dir={tmp_path}", "--virtual-time-budget=3000"]
        done = subprocess.run(
            ["chromium", *options, "--dump-dom", url + PAGES[url]],
            check=True,
            capture_output=True,
            text=True,
            timeout=120,
        )
    assert "&lt;img src=x onerror" in done.stdout
    assert "<title>hippocampus proxy</title>" in done.stdout
    assert "Open conversations: 1." in done.stdout
    assert "Entries: 1" in done.stdout
