"""Two callers of one proxy, who send the same messages: neither reaches anything of the other."""

from __future__ import annotations

import contextlib
import itertools
import json
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import factual
import pytest

pytest.importorskip("starlette")
pytest.importorskip("prometheus_client")
import httpx2
from genai_prices.data_snapshot import get_snapshot
from integrations.proxy.hosts import ROWS, TOOL
from integrations.proxy.test_proxy import conversations, figures, proxied
from integrations.proxy.upstream import Upstream, provider, served

from hippocampus import Hippocampus
from hippocampus.integrations.proxy import service as module
from hippocampus.integrations.proxy.apis import ANSWERS
from hippocampus.integrations.proxy.app import Proxy
from hippocampus.integrations.proxy.service import Exchange, Service
from hippocampus.session.session import Session
from hippocampus.storage.state import DirectoryState, state_of
from hippocampus.storage.state_dir import StateDir
from hippocampus.testing import call

Items = list[dict[str, Any]]
SECRET = "row-417"
BEARERS = ({"authorization": "Bearer a"}, {"authorization": "Bearer b"})
API_KEYS = ({"x-api-key": "a"}, {"x-api-key": "b"})
SAME_KEY = {"authorization": "Bearer team"}


def chat_list(rows: str) -> Items:
    function = {"name": TOOL, "arguments": "{}"}
    return [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "Hello! How can I help?"},
        {"role": "user", "content": "Read the rows."},
        {"role": "assistant", "tool_calls": [
            {"id": "call_0", "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": "call_0", "content": rows},
    ]  # fmt: skip


def messages_list(rows: str) -> Items:
    use = {"type": "tool_use", "id": "call_0", "name": TOOL, "input": {}}
    result = {"type": "tool_result", "tool_use_id": "call_0", "content": rows}
    return [
        *chat_list(rows)[:3],
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [result]},
    ]


def responses_list(rows: str) -> Items:
    return [
        *chat_list(rows)[:3],
        {"type": "function_call", "call_id": "call_0", "name": TOOL, "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_0", "output": rows},
    ]


APIS: dict[str, tuple[str, Callable[[str], Items], dict[str, Any]]] = {
    "/chat/completions": ("messages", chat_list, {"function": {"name": TOOL}}),
    "/messages": ("messages", messages_list, {"name": TOOL}),
    "/responses": ("input", responses_list, {"type": "function", "name": TOOL}),
}


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def body(path: str, items: Items) -> bytes:
    name, _, tool = APIS[path]
    sent = {"model": "m", "tools": [tool], name: items, "store": False}
    return json.dumps(sent).encode()


def exchanged(service: Service, path: str, items: Items, *credentials: str) -> Exchange:
    found = service.exchange(ANSWERS[path], body(path, items), credentials)
    assert isinstance(found, Exchange), found
    return found


@pytest.mark.parametrize("path", APIS)
def test_the_same_list_under_another_key_is_another_session(path: str, state: Path) -> None:
    service = Service(state, "default")
    lists = APIS[path][1]
    for end in (1, 3, 5):
        first = exchanged(service, path, lists(ROWS)[:end], "a")
    assert "row-416" in first.conversation.session.answer({"query": SECRET})
    [entry] = first.conversation.session.entries
    for length in (1, 3, 4):
        other = exchanged(service, path, lists(ROWS)[:length], f"b{length}").conversation.session
        assert other.id != first.conversation.session.id
        for arguments in ({"query": SECRET}, {"entry_id": entry.id}, {"pattern": SECRET}):
            assert "row-4" not in other.answer(arguments).replace(SECRET, ""), arguments
    service.close()


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/chat/completions", BEARERS),
        ("/messages", API_KEYS),
        ("/messages", BEARERS),
        ("/responses", BEARERS),
    ],
)
def test_no_recall_of_one_caller_is_written_into_the_request_of_another(
    path: str, headers: tuple[dict[str, str], ...], state: Path
) -> None:
    lists = APIS[path][1]
    asked = iter([call("recall", query=SECRET)])
    with proxied(state, lambda items: next(asked, "The same words.")) as (upstream, url):
        for given, rows in zip(headers, (ROWS, "none"), strict=True):
            items = lists(rows)
            answer = httpx2.post(f"{url}/v1{path}", content=body(path, items), headers=given)
            answer.raise_for_status()
            said = {"role": "assistant", "content": "The same words."}
            more = [*items, said, {"role": "user", "content": "Go on."}]
            httpx2.post(f"{url}/v1{path}", content=body(path, more), headers=given)
        assert len(conversations(url)) == 2
    assert SECRET in json.dumps(upstream.sent[1].items)  # the recall of the first caller
    assert all(SECRET not in json.dumps(each.items) for each in upstream.sent[-2:])


PLACES = [
    ("params", "key"), ("params", "access_token"), ("headers", "api_key"),
    ("headers", "x-litellm-api-key"), ("headers", "Helicone-Auth"), ("headers", "X-Auth-Token"),
    ("headers", "Cookie"), ("headers", "Authentication"), ("headers", "X-Credentials"),
    ("headers", "X-Password"), ("headers", "X-Forwarded-User"), ("headers", "X-Forwarded-Email"),
]  # fmt: skip


def test_a_key_tells_callers_apart_wherever_it_is(state: Path) -> None:
    sent = body("/chat/completions", chat_list(ROWS)[:1])
    with proxied(state, lambda items: "The same words.") as (_, url):
        for before, (place, name) in enumerate(PLACES):
            for number, key in enumerate(["a", "b", "a"]):
                each = {"params": {}, "headers": {"idempotency-key": f"{number}"}}
                each[place][name] = f"{name}-{key}"
                httpx2.post(f"{url}/v1/chat/completions", content=sent, **each).raise_for_status()
            assert len(conversations(url)) == 2 * before + 2, name


@pytest.mark.parametrize(
    "named",
    [
        {"user": "{}"},
        {"safety_identifier": "{}"},
        {"user": "shop_session_{}"},
        {"metadata": {"user_id": "{}"}},
        {"metadata": {"user_id": '{"session_id":"{}"}'}},
        {"metadata": {"user_id": "user_{}_account__session_1f2e-{n}"}},
        {"metadata": {"user_id": '{"device_id":"{}","session_id":"1f2e-{n}"}'}},
    ],
)
def test_the_users_of_an_application_with_one_key_are_callers(
    named: dict[str, Any], state: Path
) -> None:
    with proxied(state, lambda items: "The same words.") as (_, url):
        for number, user in enumerate(("ann", "ben", "ann")):
            more = json.dumps(named).replace("{}", user).replace("{n}", str(number))
            sent = json.loads(body("/messages", messages_list(ROWS)[:1])) | json.loads(more)
            httpx2.post(f"{url}/v1/messages", json=sent, headers=SAME_KEY).raise_for_status()
        assert len(conversations(url)) == 2


def test_a_cookie_next_to_a_key_is_no_other_caller(state: Path) -> None:
    with proxied(state, lambda items: "The same words.") as (_, url):
        for cookie in ("__cf_bm=a", "__cf_bm=b"):
            sent = body("/chat/completions", chat_list(ROWS)[:1])
            headers = SAME_KEY | {"cookie": cookie}
            httpx2.post(f"{url}/v1/chat/completions", content=sent, headers=headers)
        assert len(conversations(url)) == 1


def test_a_key_in_the_path_tells_callers_apart(state: Path) -> None:
    with proxied(state, lambda items: "The same words.") as (_, url):
        for path in ("", "/v1", "/openai/deployments/gpt-5", "/key-a/v1", "/key-b/v1", "/key-a"):
            sent = body("/chat/completions", chat_list(ROWS)[:1])
            httpx2.post(f"{url}{path}/chat/completions", content=sent).raise_for_status()
        assert len(conversations(url)) == 3


def test_a_named_header_tells_callers_of_one_key_apart(state: Path) -> None:
    sent = body("/messages", messages_list(ROWS)[:1])
    with provider(Upstream(lambda _: "Done.")) as upstream:
        proxy = Proxy(upstream.url, state, "default", 60.0, tenant_header="X-Tenant").app()
        with served(proxy) as url:
            for tenants in (["a"], ["b"], [], ["a"], ["a", "b"]):
                headers = [("x-api-key", "team"), *(("x-tenant", name) for name in tenants)]
                httpx2.post(f"{url}/v1/messages", content=sent, headers=headers).raise_for_status()
            shown = httpx2.get(url + proxy.state.page.replace("/", "/conversations", 1)).json()
            counted = figures(url)
    assert len(shown) == 3
    assert counted['requests_total{outcome="no tenant"}'] == 1


@pytest.mark.parametrize("changed", ["system", "upstream", "first", "image", "credential"])
def test_a_conversation_belongs_to_its_whole_beginning(changed: str, state: Path) -> None:
    opening = {"role": "user", "content": "Some text before it."}

    def one(**given: str) -> str:
        service = Service(state, "default", given.get("upstream", "https://a.example"))
        request = json.loads(body("/messages", messages_list(ROWS)[:3]))
        request["system"] = given.get("system", "You find late orders.")
        source = {"type": "file", "file_id": given.get("image", "a")}
        image = {"type": "image", "source": source, **({"cache_control": {}} if given else {})}
        text = {"type": "text", "text": given.get("first", "x")}
        request["messages"].insert(0, {**opening, "content": [image, text]})
        content = json.dumps(request).encode()
        found = service.exchange(ANSWERS["/messages"], content, [given.get("credential", "a")])
        assert isinstance(found, Exchange)
        service.close()
        return found.conversation.session.id

    assert one() == one() == one(first="x")
    assert one() != one(**{changed: "another"})


def test_the_line_that_claude_code_changes_in_each_request_begins_no_conversation(
    state: Path,
) -> None:
    service = Service(state, "default")
    ids = set()
    for number in range(2):
        request = json.loads(body("/messages", messages_list(ROWS)[: 1 + 2 * number]))
        head = f"x-anthropic-billing-header: cc_version=2.1; cch=a{number};"
        request["system"] = [{"type": "text", "text": text} for text in (head, "You help.")]
        found = service.exchange(ANSWERS["/messages"], json.dumps(request).encode())
        assert isinstance(found, Exchange)
        ids.add(found.conversation.session.id)
    service.close()
    assert len(ids) == 1


def test_no_new_conversation_has_the_session_of_one_that_goes_on(state: Path) -> None:
    """Where one that began alike is forgotten, as after a month without a request."""
    service = Service(state, "default")
    opening = chat_list(ROWS)[:1]

    def begun(answer: str) -> str:
        first = exchanged(service, "/chat/completions", opening, "a")
        items = [*opening, {"role": "assistant", "content": answer}, *opening]
        exchanged(service, "/chat/completions", items, "a")
        return first.conversation.session.id

    first, second = begun("Hello."), begun("Good day.")
    with contextlib.closing(DirectoryState(StateDir(state)).database()) as db:
        db.run("DELETE FROM proxy_conversation WHERE session = ?", (first,))
    assert begun("Yes?") not in {first, second}
    service.close()


def test_a_conversation_goes_on_after_requests_that_it_missed_and_none_that_began_alike(
    state: Path,
) -> None:
    service = Service(state, "default")

    def asked(turns: int, words: str) -> str:
        items = chat_list(ROWS)[:1]
        for turn in range(turns):
            answer = {"role": "assistant", "content": f"{words} {turn}"}
            items += [answer, {"role": "user", "content": "Go on."}]
        key = f"{seen}, {missed}"
        return exchanged(service, "/chat/completions", items, key).conversation.session.id

    for seen, missed in itertools.product((0, 1, 2), (0, 1, 3)):
        own = {asked(turns, "One") for turns in range(seen + 1)}
        others = {asked(2, "Other")} if seen else set()  # one only begun is whose comes first
        own.add(asked(seen + missed + 1, "One"))
        others.add(asked(2 + missed, "Other"))
        assert (len(own), len(others), own & others) == (1, 1, set()), (seen, missed)
    service.close()


def test_facts_belong_to_the_caller_who_said_them(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CLOSING_SECONDS", 60.0)
    service = Service(state, "default")
    for key, allergy in (("a", "hazelnuts"), ("b", "crab")):
        said = f"I am allergic to {allergy}. Remember that for good."
        items = [{"role": "user", "content": said}, *messages_list(ROWS)[1:]]
        exchanged(service, "/messages", items, key)
    service.close()
    memory = Hippocampus(state)
    agents = list(factual.agents(memory.facts))
    known = [str(memory.facts.memories(agent=each)) for each in agents]
    memory.close()
    assert [each.startswith("caller-") for each in agents] == [True, True]
    assert sorted(("hazelnuts" in each, "crab" in each) for each in known) == [
        (False, True),
        (True, False),
    ]


@pytest.mark.slow
def test_many_conversations_hold_few_descriptors_and_end_where_there_is_no_time(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = []
    monkeypatch.setattr(module, "CLOSING_SECONDS", 0.0)
    monkeypatch.setattr(Session, "close", closed.append)
    before = descriptors()
    service = Service(state, "default")
    [vendor] = (each for each in get_snapshot().providers if each.id == "openai")
    models = [each.id for each in vendor.models if each.id.startswith("gpt-")]
    for number in range(80):
        items = chat_list(ROWS)
        items[0]["content"] = f"Question {number}"
        request = json.loads(body("/chat/completions", items)) | {"model": models[number % 60]}
        service.exchange(ANSWERS["/chat/completions"], json.dumps(request).encode(), ["a"])
    assert descriptors() < before + 60
    service.close()
    assert closed == []
    assert descriptors() < before + 40


def test_a_model_without_prices_is_logged_once(
    state: Path, caplog: pytest.LogCaptureFixture
) -> None:
    service = Service(state, "default")
    for number in range(6):
        request = json.loads(body("/messages", messages_list(ROWS)[:1]))
        request |= {"model": "no-such-model-500", "max_tokens": number}
        request |= {"cache_control": {"type": "ephemeral"}} if number % 2 else {}
        service.exchange(ANSWERS["/messages"], json.dumps(request).encode(), ["a"])
    service.close()
    assert caplog.text.count("no-such-model-500") == 1


def opened(service: Service, question: str) -> Exchange:
    """Send a request that begins a conversation of its own."""
    items = chat_list(ROWS)
    items[0]["content"] = question
    content = body("/chat/completions", items)
    exchange = service.exchange(ANSWERS["/chat/completions"], content, ["a"])
    assert isinstance(exchange, Exchange)
    return exchange


def test_a_session_that_opens_slowly_delays_no_other_conversation(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service, release, plain = Service(state, "default"), threading.Event(), Hippocampus.session
    waiting = threading.Event()

    def slow(memory: Hippocampus, name: str, **options: Any) -> Session:
        if not waiting.is_set():
            waiting.set()
            release.wait(60)
        return plain(memory, name, **options)

    monkeypatch.setattr(Hippocampus, "session", slow)
    with ThreadPoolExecutor(3) as threads:
        first = threads.submit(opened, service, "Question 1")
        assert waiting.wait(60)
        second = threads.submit(opened, service, "Question 2")
        same = threads.submit(opened, service, "Question 1")
        assert second.result(30).content
        assert not first.done()
        assert len(service.conversations()) == 1
        release.set()
        assert first.result().conversation is same.result().conversation
    service.close()


def test_a_session_that_cannot_be_opened_is_opened_at_the_next_request(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = Service(state, "default")
    with monkeypatch.context() as broken:
        broken.setattr(Hippocampus, "session", None)
        with pytest.raises(TypeError):
            opened(service, "Question 1")
    assert opened(service, "Question 1").content
    service.close()


@pytest.mark.parametrize(("name", "bound"), [("IDLE_SECONDS", -1.0), ("MAX_CONVERSATIONS", 1)])
def test_a_conversation_with_a_request_under_way_is_not_closed(
    name: str, bound: float, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, name, bound)
    service = Service(state, "default")
    first = opened(service, "Question 1")
    for number in range(2, 5):
        opened(service, f"Question {number}")
    name = first.conversation.session.id
    assert name in [each["session"] for each in service.conversations()]
    assert first.send_view() == first.content
    assert first.conversation.session.report.raw_reason == ""
    del first
    last = opened(service, "Question 5").conversation.session.id
    assert [each["session"] for each in service.conversations()] == [last]
    service.close()


def test_a_conversation_that_a_request_is_about_to_use_is_not_closed(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_CONVERSATIONS", 1)
    service, restored = Service(state, "default"), module.restore_rounds

    def slowly(*arguments: Any) -> Any:
        monkeypatch.setattr(module, "restore_rounds", restored)
        opened(service, "Question 2")
        return restored(*arguments)

    monkeypatch.setattr(module, "restore_rounds", slowly)
    first = opened(service, "Question 1")
    assert first.conversation.session.report.raw_reason == ""
    service.close()


def test_conversations_over_the_bound_are_closed_one_at_a_time(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closing, most, plain, release = 0, 0, Session.close, Session.release
    released = []

    def counted(session: Session, messages: Any = None) -> None:
        nonlocal closing, most
        closing += 1
        most = max(most, closing)
        time.sleep(0.3)
        closing -= 1
        plain(session, messages)

    def noted(session: Session) -> None:
        if not session._is_closed:  # a closing memory releases those that it made, also closed ones
            released.append(session.id)
        release(session)

    monkeypatch.setattr(Session, "close", counted)
    monkeypatch.setattr(Session, "release", noted)
    monkeypatch.setattr(module, "MAX_CONVERSATIONS", 1)
    monkeypatch.setattr(module, "MAX_ENDED", 3)
    service = Service(state, "default")
    for number in range(8):
        opened(service, f"Question {number}")
    service.close()
    assert most == 1
    assert 2 <= len(released) < 8  # those for which there is no time


def test_a_custom_tool_named_recall_keeps_its_name(state: Path) -> None:
    service = Service(state, "default")
    request = json.loads(body("/chat/completions", chat_list(ROWS)))
    request["tools"].append({"type": "custom", "custom": {"name": "recall"}})
    content = json.dumps(request).encode()
    exchange = service.exchange(ANSWERS["/chat/completions"], content, ["a"])
    assert json.loads(exchange.content)["tools"][-1]["function"]["name"] == "hippocampus_recall"
    service.close()


def test_an_answer_to_an_older_list_that_ends_last_cuts_no_newer_one(state: Path) -> None:
    """Two requests of one conversation may be under way: the stored list was cut to the older one."""
    service, lists = Service(state, "default"), [chat_list(ROWS)[:3], chat_list(ROWS)]
    exchanges = []
    for items in lists:
        content = body("/chat/completions", items)
        exchange = service.exchange(ANSWERS["/chat/completions"], content, ["a"])
        assert isinstance(exchange, Exchange)
        exchanges.append(exchange)
    for exchange in reversed(exchanges):
        message = {"role": "assistant", "content": f"done after {len(exchange.items)}"}
        exchange.answer.take({"choices": [{"message": message, "finish_reason": "stop"}]})
        exchange.keep()
    name = exchange.conversation.session.id
    service.close()
    exported = state_of(state).exported(name).decode()
    assert f"done after {len(lists[1])}" in exported
    assert '"cut"' not in exported
