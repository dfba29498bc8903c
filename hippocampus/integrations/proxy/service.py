"""From a host's request to the one that is sent, and from an answer to what the host sees of it.

Everything here blocks and runs in threads; requests are sent in `app`.
"""

from __future__ import annotations

import functools
import hashlib
import json
import logging
import math
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from hippocampus import recall
from hippocampus.errors import MALFORMED, MessagesError
from hippocampus.formats import reader
from hippocampus.formats.conversation import Item, ToolResult
from hippocampus.integrations.proxy.apis.answer import ModelAnswer
from hippocampus.integrations.proxy.body import Body
from hippocampus.integrations.proxy.conversations import (
    Chain,
    caller_of,
    chain_after,
    chains_of,
    restore_rounds,
)
from hippocampus.memory import Hippocampus
from hippocampus.policy import load as load_policy
from hippocampus.prices.prompt_cache import OWN_MARKS, UNSEEN_MARKS
from hippocampus.session.open_sessions import OpenSessions, Use
from hippocampus.session.resources import DEADLINE_SECONDS, Observer
from hippocampus.session.session import Session
from hippocampus.storage.deadline import bounded
from hippocampus.storage.engines import is_address
from hippocampus.storage.proxy_conversations import Conversations
from hippocampus.storage.state import state_of

LOG = logging.getLogger("hippocampus")
IDLE_SECONDS = 1_800.0
"""After this time without a request a conversation is closed, and its facts are kept."""
MAX_CONVERSATIONS = 256
"""Of more open conversations, those that were not used for longest are closed; none in use is."""
MAX_ENDED = 64
"""Of more conversations that wait to be closed, the first ones are released: their facts are kept later."""
CLOSING_SECONDS = 0.5
"""How long a shutdown keeps facts; `hippocampus consolidate` keeps those of the other sessions."""
MAX_ROUNDS = 16
"""How many times in one answer a model may call recall and nothing else."""
PREFIX = "hippocampus_"
"""Begins the name of our tool where the host has one named `recall`."""
MAX_LISTED = 50
"""How many entries of a conversation the live page lists, the newest first."""
END_USER = ("safety_identifier", "user", "user_id")
"""The members of a request to OpenAI, and of its `metadata` to Anthropic, that identify the user of an application."""
OF_SESSION = re.compile(
    r'^(user_\w+_account_[\w-]*?)_session_[\w-]+$|^(\{"device_id".*?)"session_id"\s*:\s*"[\w-]+"'
)
"""What Claude Code writes after its user, who has many sessions; an application's users may be sessions."""
UNNAMED = "proxy"
"""The tenant of the handle that opens the connections; no request is of it."""


class TooManyRoundsError(Exception):
    """A model went on calling recall and nothing else."""


Key = tuple[str, str, tuple[Any, ...]]
"""Tenant, session and caching: requests of one conversation may go to two models at once."""


@dataclass
class OpenConversation:
    """A conversation with its session."""

    session: Session
    tenant: str
    model: str
    is_refused: bool = False
    """Whether the provider took the host's own request where it had refused ours."""
    newest: list[Item] | None = None
    """The list of the last request."""
    ended: list[Item] | None = None
    """The same with the answer to it, which no request has yet; None before that came."""


@dataclass(eq=False)
class Exchange:
    """One request of a host, with the answer to it as far as it has come."""

    conversation: OpenConversation
    use: Use
    body: Body
    items: list[Item]
    """The host's list with the rounds that it has not seen, those of this request included."""
    chains: Sequence[Chain]
    answer: ModelAnswer
    known: Conversations
    content: bytes = b""
    """The body to send."""

    def send_view(self, idle_seconds: float = 0.0) -> bytes:
        """Take a turn of the session, and return the body with its view and our tool."""
        session, answer = self.conversation.session, self.answer
        # Before the turn: calls of the name that a tool gets are recalls.
        tools = [*self.body.values["tools"], *session.tools(answer.ADAPTER.NAME, answer.tool)]
        view = session(self.items, idle_seconds=idle_seconds)
        self.conversation.newest, self.conversation.ended = self.items, None
        self.content = _encode_body(self.body, answer.ITEMS, view, {"tools": tools})
        return self.content

    def results(self) -> list[ToolResult]:
        """Answer the calls of recall of the present round."""
        result = self.conversation.session.tool_result
        return [result(call_id, arguments) for call_id, arguments in self.answer.calls]

    def next_request(self) -> bytes:
        """Answer the present round, and return the request with which the answer goes on.

        Raises:
            TooManyRoundsError: the model has called recall too often.
        """
        if len(self.answer.rounds) >= MAX_ROUNDS:
            raise TooManyRoundsError(
                f"the model called {self.answer.tool} {MAX_ROUNDS} times in one answer; send the "
                "request again"
            )
        self.account()
        results = self.results()
        self.items = [*self.items, *self.answer.turn(results)]
        self.answer.next_round(results)
        return self.send_view()

    def account(self) -> None:
        """Add the usage of the present round to the figures of its conversation."""
        usage, self.answer.usage = self.answer.usage, {}
        if usage:
            self.conversation.session.billed(usage)

    def keep(self) -> None:
        """Keep the answer, and the rounds that the host has not seen, before it sees the end."""
        answer = self.answer
        if self.conversation.newest is self.items:  # else the answer to an older list came last
            self.conversation.ended = [*self.items, *answer.message_of(answer.blocks)]
        rounds = list(answer.rounds)
        if answer.is_mixed:
            rounds.append(answer.closed_round(self.results()))
        if rounds:
            chain = chain_after(self.chains[-1].key, type(answer), answer.as_item())
            self.known.keep(chain, self.conversation.session.id, json.dumps(rounds))


class Service:
    """The memories, conversations and sessions of one proxy."""

    def __init__(
        self,
        state: str | Path,
        policy: str,
        upstream: str = "",
        observers: Callable[[str], Sequence[Observer]] = lambda _tenant: (),
        tenant: str = "",
    ) -> None:
        """Open a state; a conversation belongs to its caller and to one `upstream`.

        On a server a request belongs to a tenant too: this one, else its own. `observers` returns those
        of a tenant's sessions.

        Raises:
            PolicyError: the policy cannot be read.
            StoreError: the address of a server cannot be read, or a driver is not installed.
        """
        self._policy, self._upstream = load_policy(policy), upstream
        self._observers = observers
        self._tenant, self._has_tenants = tenant, is_address(state)
        self.is_shared = self._has_tenants and not tenant
        """Whether requests name their tenants."""
        self._root = state_of(state, tenant or UNNAMED)
        self._memories = OpenSessions[str, Hippocampus](MAX_CONVERSATIONS, lambda _: None)
        """By tenant; its sessions share a database, whatever their models, and go on without it."""
        self._redacted = self._memory(tenant).redacted
        self._ended: SimpleQueue[OpenConversation | None] = SimpleQueue()
        self._open = OpenSessions[Key, OpenConversation](
            MAX_CONVERSATIONS, self._ended.put, IDLE_SECONDS
        )
        self._closes_until = math.inf
        self._closer = threading.Thread(target=self._close_ended, daemon=True)
        self._closer.start()
        self._warned: set[str] = set()

    def exchange(
        self,
        answers: type[ModelAnswer],
        content: bytes,
        credentials: Sequence[str] = (),
        named: str | None = "",
    ) -> Exchange | str:
        """Return a request as it is sent, or why it is passed on as it is; its tenant is as in `tenant_of`."""
        tenant = self._tenant or self.tenant_of(credentials, named)
        if named is None or (self._has_tenants and not tenant):
            return "no tenant"
        conversations = self._conversations(tenant)
        now = time.time()
        try:
            body = Body(content)
            request = body.values
            # An application with one key names its users to the provider in these.
            fields = {**(request.get("metadata") or {}), **request}
            users = [
                f"{name}: " + OF_SESSION.sub(r"\1\2", str(fields[name]))
                for name in END_USER
                if fields.get(name)
            ]
            caller = caller_of([*credentials, *users], conversations.secret)
            items = _messages_in(request.get(answers.ITEMS))
            reason = reader.reason_of_request(request) or answers.unmanaged(request)
            reason = reason if request.get("tools") else "no tools"
            if reason or not items:
                if reason not in {"", "no tools", *self._warned}:
                    self._warned.add(reason)
                    LOG.warning("requests pass as they are: %s", reason)
                return reason or "no messages"
            chains = chains_of(answers, request, items, f"{caller} {self._upstream}")
            caching = _caching_of(request)
            tool = _free_name(request["tools"])
        except (*MALFORMED, MessagesError):
            return "malformed"  # the provider answers why
        session, sent = conversations.place([chain.key for chain in chains], now)

        def begun() -> OpenConversation:
            memory = self._memory(tenant)
            made = memory.session(session, agent=caller, **caching)
            return OpenConversation(made, tenant, caching["model"] or "")

        conversation, use = self._open.use((tenant, session, (*caching.values(),)), begun)
        if conversation.is_refused:
            return "refused before"
        whole = restore_rounds(answers, chains, items, conversations)
        exchange = Exchange(conversation, use, body, whole, chains, answers(tool), conversations)
        exchange.send_view(now - sent if sent else 0.0)
        return exchange

    def tenant_of(self, credentials: Sequence[str], named: str | None) -> str:
        """Return the tenant of a request: the `named` one, else a hash of its credentials.

        It is empty where requests name none, and of a request without either; `named` is None of one
        without the header that names it, which no key replaces.
        """
        if not self.is_shared or named is None:
            return ""
        if named or not any(credentials):
            return named
        written = json.dumps(credentials).encode()
        return f"caller-{hashlib.sha256(written).hexdigest()[:32]}"

    def unmanaged(self, answers: type[ModelAnswer], content: bytes) -> bytes:
        """Return a request as it is sent without a session: what the policy redacts is left out."""
        if not self._policy.redacts:
            return content
        try:
            body = Body(content)
            items = _messages_in(body.values[answers.ITEMS])
            return _encode_body(body, answers.ITEMS, self._redacted(items), {})
        except (*MALFORMED, MessagesError) as wrong:
            LOG.warning("a request is sent with what the policy redacts: %s", wrong)
            return content

    def _conversations(self, tenant: str) -> Conversations:
        """Return the conversations of a tenant."""
        root = self._root.of_tenant(tenant)
        with bounded(DEADLINE_SECONDS):
            key = root.caller_key()
            return Conversations(root.database(), key, DEADLINE_SECONDS)

    def _memory(self, tenant: str) -> Hippocampus:
        """Return a tenant's memory; one that is open waits for none that is being opened."""
        opened = functools.partial(
            Hippocampus,
            self._root.of_tenant(tenant or UNNAMED),
            policy=self._policy,
            observers=self._observers(tenant),
            deadline_seconds=DEADLINE_SECONDS,
        )
        return self._memories.use(tenant, opened)[0]

    def conversations(self, tenant: str = "") -> list[dict[str, Any]]:
        """Return the open conversations, the one that was used last first: figures and newest entries.

        They are those of a tenant; without one, of all.
        """
        opened = reversed(self._open.values())
        return [_describe(each) for each in opened if tenant in {"", each.tenant}]

    def _close_ended(self) -> None:
        """Close sessions one after another: more at once would keep requests from the database they share."""
        for conversation in iter(self._ended.get, None):
            session = conversation.session
            if self._ended.qsize() > MAX_ENDED or time.monotonic() > self._closes_until:
                session.release()
            else:  # another proxy may have sent a later list, which this one would cut
                session.close(conversation.ended if session.report.is_newest() else None)

    def close(self) -> None:
        """Close every session and memory; the facts of as many as half a second allows are kept now."""
        self._closes_until = time.monotonic() + CLOSING_SECONDS
        for conversation in self._open.close():
            self._ended.put(conversation)
        self._ended.put(None)
        self._closer.join()
        for memory in self._memories.close():
            memory.close()
        self._root.close()


def _caching_of(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return how a request is cached, as parameters of its session: its model, and the marks around its messages."""
    blocks = [*(request.get("tools") or ()), *_messages_in(request.get("system"))]
    unseen = sum("cache_control" in block for block in blocks)
    return {
        "model": str(request.get("model") or "") or None,
        # A session leaves one mark free for the system prompt and the tools.
        "marks": max(0, OWN_MARKS - max(0, unseen - UNSEEN_MARKS)),
        # The provider marks the end of the messages itself.
        "tail_mark": bool(request.get("cache_control")),
    }


def _free_name(tools: Sequence[Any]) -> str:
    """Return the name of our tool, which none of the host's has."""
    taken = {
        (tool.get("function") or tool.get("custom") or tool).get("name")
        for tool in tools
        if isinstance(tool, dict)
    }
    name = recall.TOOL_NAME
    while name in taken:
        name = PREFIX + name
    return name


def _encode_body(
    body: Body, name: str, view: Sequence[Item], lists: Mapping[str, Sequence[Item]]
) -> bytes:
    """Return a body with its messages replaced, unless they are a text that stays, and other lists."""
    own = body.values[name]
    is_same = not isinstance(own, list) and [*view] == _messages_in(own)
    return body.with_lists({**lists, **({} if is_same else {name: view})})


def _messages_in(items: Any) -> list[Item]:
    """Return the messages of a request; a text is the user's message in the Responses API."""
    if isinstance(items, str):
        return [{"role": "user", "content": items}]
    return items if isinstance(items, list) else []


def _describe(conversation: OpenConversation) -> dict[str, Any]:
    session = conversation.session
    figures: dict[str, Any] = {**session.status()}
    del figures["strengths"]  # one for each entry, however many
    newest = [
        {
            "id": record.entry.id,
            "stage": str(record.stage),
            "kind": record.kind,
            "tool": record.tool,
            "tokens": record.tokens,
            "summary": record.entry.summary,
        }
        for record in session.report.records()[: -MAX_LISTED - 1 : -1]
    ]
    return {"session": session.id, "model": conversation.model, **figures, "newest": newest}
