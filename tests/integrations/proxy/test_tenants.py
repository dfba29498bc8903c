"""Proxies on one PostgreSQL server: any of them takes any request, and no tenant reaches another."""

from __future__ import annotations

import contextlib
import json
import re
import shlex
import shutil
import socket
import subprocess
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("prometheus_client")
import httpx2
import yaml
from integrations.proxy.hosts import ROWS, ChatHost, recalling, run
from integrations.proxy.test_callers import SECRET, body, chat_list
from integrations.proxy.test_proxy import LIMIT_SECONDS, figures
from integrations.proxy.upstream import Upstream, provider, served
from postgres_server import Server
from typer.testing import CliRunner

from hippocampus.cli.commands import app as cli
from hippocampus.integrations.proxy import service
from hippocampus.integrations.proxy.apis import ANSWERS
from hippocampus.integrations.proxy.app import Proxy
from hippocampus.integrations.proxy.metrics import MAX_TENANTS, TenantMetrics
from hippocampus.integrations.proxy.service import Exchange, Service
from hippocampus.replay.measure import Script
from hippocampus.replay.readers import read_file
from hippocampus.session.resources import DEADLINE_SECONDS
from hippocampus.storage.postgres import connections
from hippocampus.storage.state import CALLER_KEY, state_of

FLEET = Path(__file__).parents[3] / "examples" / "fleet"
RECORDINGS = sorted((FLEET.parent / "transcripts").glob("*.json"))
PATH = "/chat/completions"
APIS = {"openai-chat": PATH, "anthropic": "/messages", "openai-responses": "/responses"}
Items = list[dict[str, Any]]


def grown(steps: int) -> Iterator[Items]:
    """Yield the lists of a conversation in which each call reads rows of its own."""
    items = chat_list(ROWS)
    for step in range(steps):
        yield list(items)
        called = json.loads(json.dumps(items[3]))
        called["tool_calls"][0]["id"] = f"call_{step + 1}"
        rows = ROWS.replace("row-", f"row-{step}-")
        items += [called, {**items[4], "tool_call_id": f"call_{step + 1}", "content": rows}]


def recorded(path: Path) -> Iterator[tuple[str, Items]]:
    """Yield the path of the API and the list of each call of a recorded session."""
    [recording] = read_file(path)
    for end in (*Script(recording).call_ends, len(recording.messages)):
        yield APIS[recording.format], recording.messages[:end]


def sent(
    proxy: Service, items: Items, *credentials: str, tenant: str = "", api: str = PATH
) -> Exchange:
    found = proxy.exchange(ANSWERS[api], body(api, items), credentials, tenant)
    assert isinstance(found, Exchange), found
    return found


@pytest.mark.parametrize(
    "calls",
    [
        pytest.param([(PATH, items) for items in grown(8)], id="grown"),
        *(pytest.param(path, id=path.stem, marks=pytest.mark.slow) for path in RECORDINGS),
    ],
)
def test_two_proxies_in_turn_send_the_bytes_of_one(
    postgres: Server,
    state: Path,
    monkeypatch: pytest.MonkeyPatch,
    calls: Path | list[tuple[str, Items]],
) -> None:
    monkeypatch.setattr("secrets.token_hex", lambda _: "0")  # ids are those of the session's name
    tenant = uuid.uuid4().hex
    with (
        contextlib.closing(state_of(state).database()) as db,
        db.transaction(),
    ):  # so that their ids are the same
        db.set_meta(CALLER_KEY, tenant.encode().hex())
    alone = Service(state, "default")
    two = [Service(postgres.address, "default", tenant=tenant) for _ in range(2)]
    for number, (api, items) in enumerate(recorded(calls) if isinstance(calls, Path) else calls):
        exchanges = [sent(each, items, "key", api=api) for each in (two[number % 2], alone)]
        assert exchanges[0].content == exchanges[1].content
        assert not exchanges[0].conversation.session.report.failures
    names = {key[1] for each in two for key in each._open._slots}
    assert len(names) == 1
    for each in (*two, alone):
        each.close()


def test_a_tenant_is_named_by_the_request_else_by_its_key(postgres: Server) -> None:
    proxy = Service(postgres.address, "default")
    items = chat_list(ROWS)
    assert proxy.exchange(ANSWERS[PATH], body(PATH, items), [""]) == "no tenant"
    given = [("a", ""), ("b", ""), ("a", "acme"), ("a", "apex")]
    found = [sent(proxy, items, key, tenant=tenant) for key, tenant in given]
    tenants = {key[0] for key in proxy._open._slots}
    assert len(tenants) == 4
    assert {"acme", "apex"} < tenants
    entries = [each.conversation.session.entries[0].id for each in found]
    for number, exchange in enumerate(found):
        for other, entry in enumerate(entries):
            answer = exchange.conversation.session.answer({"entry_id": entry, "pattern": SECRET})
            assert ('"state": "late"' in answer) == (other == number), answer
    again = Service(postgres.address, "default")
    assert sent(again, items, "a").conversation.session.id == found[0].conversation.session.id
    assert entries[0] in sent(again, items, "a").content.decode()
    for each in (proxy, again):
        each.close()


def test_a_request_without_the_header_passes_as_it_is(postgres: Server) -> None:
    with provider(Upstream(lambda _: "Done.")) as upstream:
        proxy = Proxy(
            upstream.url, postgres.address, "default", LIMIT_SECONDS, tenant_header="X-Tenant"
        )
        app = proxy.app()
        with served(app) as url:
            for headers in ({"x-api-key": "k"}, {"x-api-key": "k", "X-Tenant": "acme"}):
                items = body(PATH, chat_list(ROWS))
                httpx2.post(f"{url}/v1{PATH}", content=items, headers=headers).raise_for_status()
            counted = figures(url, app.state.page[1:])
    assert counted['requests_total{outcome="no tenant"}'] == 1
    assert counted['requests_total{outcome="managed"}'] == 1
    assert upstream.sent[0].items == chat_list(ROWS)
    assert upstream.sent[1].items != chat_list(ROWS)


@pytest.mark.parametrize(
    ("header", "callers"),
    [
        (
            "X-Tenant",
            [{"x-tenant": "acme", "x-api-key": "k"}, {"x-tenant": "apex", "x-api-key": "k"}],
        ),
        ("", [{"x-api-key": "a"}, {"authorization": "Bearer b"}]),
    ],
    ids=["header", "key"],
)
def test_page_and_figures_show_one_tenant(
    postgres: Server, header: str, callers: list[dict[str, str]]
) -> None:
    """A request is of a tenant as a call is; without one, and without the operator's key, it sees nothing."""
    with provider(Upstream(lambda _: "Done.")) as upstream:
        given = (upstream.url, postgres.address, "default", LIMIT_SECONDS)
        app = Proxy(*given, tenant_header=header, key="operator").app()
        with served(app) as url:

            def got(path: str, headers: Any = None, status: int = 200) -> httpx2.Response:
                found = httpx2.get(url + path, headers=headers)
                assert found.status_code == status, found.text
                assert status != 200 or found.headers["cache-control"] == "no-store"
                return found

            marks = [f"model-{uuid.uuid4().hex}" for _ in callers]
            for number, (headers, mark) in enumerate(zip(callers, marks, strict=True)):
                for _ in range(number + 1):
                    content = json.dumps({**json.loads(body(PATH, chat_list(ROWS))), "model": mark})
                    httpx2.post(f"{url}/v1{PATH}", content=content, headers=headers)
                httpx2.post(f"{url}/v1{PATH}", content=b"{}", headers=headers)
                httpx2.get(f"{url}/v1/models", headers=headers)
            whole = got("/conversations?key=operator").json()
            sessions = {conversation["session"] for conversation in whole}
            assert len(sessions) == len(callers)
            counts = []
            for headers, mark in zip(callers, marks, strict=True):
                text = got("/conversations", headers).text
                [shown] = json.loads(text)
                assert mark in text
                assert not any(other in text for other in {*marks} - {mark})
                assert [each for each in whole if mark in json.dumps(each)] == [shown]
                assert got("/conversations?key=wrong", {**headers, "x-tenant": "x"}).json() == []
                counts.append(figures(url, **headers))
            managed = [each['requests_total{outcome="managed"}'] for each in counts]
            assert managed == [1, 2]
            assert [each['views_total{outcome="managed"}'] for each in counts] == managed
            assert [each['upstream_total{status="200"}'] for each in counts] == managed
            assert [each["added_seconds_count"] for each in counts] == [2, 3]
            total = figures(url, "?key=operator")
            for name, value in total.items():
                if not name.startswith("upstream") and "_created" not in name:
                    assert value == pytest.approx(sum(each.get(name, 0) for each in counts)), name
            stranger = {name: f"{value}s" for name, value in callers[0].items()}
            assert got("/conversations", stranger).json() == []
            assert figures(url, **stranger)["added_seconds_count"] == 0
            # Two values of the header, as where a caller adds one to its gateway's, are another tenant.
            if header:
                both = [*callers[0].items(), ("x-tenant", "apex")]
                assert got("/conversations", both).json() == []
            nothing = {"x-api-key": "k"} if header else {}
            for path in (
                "/conversations",
                "/metrics",
                "/conversations?key=",
                "/metrics?k=operator",
            ):
                for mark in (*marks, *sessions):
                    assert mark not in got(path, nothing, 403).text
                # A page whose name was made to lead to this machine has the headers that it likes.
                got(path, {**callers[0], "host": "attacker.example"}, 421)
                got(path, {**callers[0], "origin": "https://attacker.example"}, 403)


def test_the_calls_of_one_tenant_end_no_figures_of_another() -> None:
    """A request asks for its figures more than once, and a busy tenant asks for many."""
    metrics = TenantMetrics()

    def counted(tenant: str) -> str:
        *_, own = metrics.of(tenant)
        return own.text().decode()

    metrics.of("quiet")[1].requests.labels("no tools").inc()
    for _ in range(2 * MAX_TENANTS):
        metrics.of("busy")
    assert "no tools" in counted("quiet")
    *_, held = metrics.of("quiet")  # as an open session has it
    for number in range(MAX_TENANTS):
        metrics.of(f"tenant-{number}")
    assert metrics.of("quiet")[1] is held
    for number in range(MAX_TENANTS):
        metrics.of(f"tenant-{number}")
    del held
    assert "no tools" not in counted("quiet")


def test_requests_that_a_frozen_server_missed_take_their_deadline_and_split_no_conversation(
    postgres: Server, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(service, "DEADLINE_SECONDS", DEADLINE_SECONDS)
    monkeypatch.setattr(connections, "RETRY_SECONDS", 0.5)
    with provider(Upstream(lambda _: "Done.")) as upstream:
        proxy = Proxy(upstream.url, postgres.address, "default", LIMIT_SECONDS, tenant="frozen")
        app = proxy.app()
        with served(app) as url:

            def send(items: Items) -> None:
                httpx2.post(f"{url}/v1{PATH}", content=body(PATH, items)).raise_for_status()

            first, *missed, last = grown(6)
            send(first)
            with postgres.frozen():
                for items in missed:
                    send(items)
                counted = figures(url)
            lines = [each.getMessage() for each in caplog.records]
            for _ in range(100):  # its connections come back after a while
                send(last)
                if figures(url)['requests_total{outcome="managed"}'] == 2:
                    break
                time.sleep(0.1)
            shown = httpx2.get(url + app.state.page.replace("/", "/conversations", 1)).json()
    assert counted['requests_total{outcome="failed: StoreError"}'] == len(missed) == 4
    logged = [line for line in lines if "requests pass as they are" in line]
    assert len(logged) == len(set(logged)) > 0
    assert len(shown) == 1


# The files of a fleet


def test_the_commands_of_compose_and_manifest_start_a_proxy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compose = yaml.safe_load((FLEET / "compose.yaml").read_text("utf-8"))
    deployment, _, other = yaml.safe_load_all((FLEET / "kubernetes.yaml").read_text("utf-8"))
    for name, each in (("consolidator", other), ("proxy", deployment)):
        [container] = each["spec"]["template"]["spec"]["containers"]
        command = shlex.split(compose["services"][name]["command"])
        assert command == container["args"]
    started = []
    listening = lambda _, sockets: started.append(sockets[0].getsockname()[0])  # noqa: E731
    monkeypatch.setattr("uvicorn.Server.run", listening)
    monkeypatch.setenv("HIPPOCAMPUS_STATE", "postgresql://nobody@127.0.0.1:1/none")
    consolidate = shlex.split(compose["services"]["consolidator"]["command"])[1:]
    assert "connection" in str(CliRunner().invoke(cli, consolidate).exception)
    done = CliRunner().invoke(cli, [*command[1:], "--port", "0"])
    assert (done.exit_code, started) == (0, ["0.0.0.0"])


@pytest.mark.skipif(not shutil.which("haproxy"), reason="no haproxy on the PATH")
def test_a_conversation_goes_through_the_balancer(postgres: Server, tmp_path: Path) -> None:
    compose = yaml.safe_load((FLEET / "compose.yaml").read_text("utf-8"))
    configured = compose["configs"]["balancer"]["content"]
    with contextlib.ExitStack() as closing:
        upstream = closing.enter_context(provider(Upstream(recalling)))
        given = (upstream.url, postgres.address, "default", LIMIT_SECONDS)
        urls = [
            closing.enter_context(served(Proxy(*given, tenant="balanced").app())) for _ in range(3)
        ]
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        servers = "".join(f"  server p{n} {url[7:]} check\n" for n, url in enumerate(urls))
        lines = [
            line.replace(":8787", f"127.0.0.1:{port}")
            for line in configured.splitlines(keepends=True)
            if not re.match(r"\s*(server-template|resolvers|nameserver)", line)
        ]
        file = tmp_path / "haproxy.cfg"
        file.write_text("".join(lines) + servers, "utf-8")
        running = subprocess.Popen(["haproxy", "-q", "-f", file])
        closing.callback(running.wait)
        closing.callback(running.terminate)
        host = ChatHost(f"http://127.0.0.1:{port}")
        for _ in range(100):
            with contextlib.suppress(httpx2.HTTPError):
                if httpx2.get(f"http://127.0.0.1:{port}/health").status_code == 200:
                    break
            time.sleep(0.05)
        run(host)
        managed = [figures(url).get('requests_total{outcome="managed"}', 0) for url in urls]
    assert "Order row-417 is late." in host.text
    assert sum(count > 0 for count in managed) >= 2
    assert len(upstream.sent) == 4
