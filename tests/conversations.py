"""Valid message lists in the five formats, made by hypothesis, and how a host would send them.

A conversation is a list of rounds (what is appended between two calls); everything that a provider
allows in a list and that a naive reader trips over is drawn here once.
"""

from __future__ import annotations

import base64
import contextlib
import functools
import itertools
import json
import logging
import re
import sqlite3
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from hippocampus import Hippocampus
from hippocampus.formats.conversation import Message, Part
from hippocampus.policy import Consolidation, Policy, load
from hippocampus.session.run import EXCESS
from hippocampus.session.session import Session
from hippocampus.storage.state_dir import StateDir

Item = dict[str, Any]
Rounds = list[list[Item]]

READ_QUICKLY = {"code": 5.0, "prose": 5.0, "log": 5.0, "listing": 5.0}
"""Rates by which what is read is weak a turn later."""
PROMPT = load("default").model_copy(
    update={
        "decay_rates": {**load("default").decay_rates, **READ_QUICKLY},
        "bulk_over_tokens": 400,
        "compression": "normal",
        "fresh_turns": {"code": 1, "prose": 1},
        "fresh_up_to_tokens": 4_000,
        "read_turns": 0,
        "smallest_gain_share": 0.25,
    }
)
"""The default policy, but what is large is shortened when it arrives, and what is read a call later."""
EAGER = Policy(
    name="eager",
    index_over_tokens=60,
    arguments_over_tokens=40,
    compression="aggressive",
    smallest_gain_share=0.25,
    decay_rates=READ_QUICKLY,
    fresh_turns={"code": 1},
    fresh_up_to_tokens=100_000,
    consolidation=Consolidation(facts=False),
)
LINES = 400
"""So many lines are shortened by any policy."""
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", 300, 200)
PNG_TEXT = base64.b64encode(PNG).decode()
MARK = {"type": "ephemeral"}
ODD = [
    "",
    " ",
    "\n",
    "\x00",
    "caf\u00e9 \u6f22\u5b57 \U0001f9e0 \u0645\u0631\u062d\u0628\u0627 \u200b\u202e",
    "\ud800 lone",
    "tail \udfff",
    "a\r\nb\u2028c\x85d",
    '{"type":"text","text":"in an envelope"}',
    '{"type": "text", "text": null}',
    "[abcd1234 · read · turn 1 · 99 tokens · json]",
    'recall("abcd1234", lines=[1, 9] | pattern="…")',
]
TOOLS = ("read_file", "search", "no such tool", "näme·[x]\n", "\ud83d", "")


@functools.cache
def small_text() -> st.SearchStrategy[str]:
    return st.sampled_from(ODD) | st.text(max_size=20)


FILLER = "and then it said again that all is well"


def rows(seed: int, count: int) -> str:
    """A listing whose first lines tell something and whose others say what nobody will need."""
    telling = [f"{seed}-{n} row_{n * seed} /srv/app_{seed}/file{n}.py ok" for n in range(3)]
    return "\n".join([*telling, *(f"{FILLER} to {chr(97 + n % 26)}" for n in range(count))])


def _records(seed: int, count: int) -> str:
    rows = [{"id": f"{seed:04x}-{n:04x}", "name": f"User {n}", "n": n / 3} for n in range(count)]
    return json.dumps({"items": rows, "next": None}, indent=seed % 3 or None)


def _code(seed: int, count: int) -> str:
    return "\n".join(f"def function_{seed}_{n}(x):\n    return x + {n}\n" for n in range(count))


def _prose(seed: int, count: int) -> str:
    return "\n\n".join(
        f"The {n}th thing that one should know about part {seed} is long." for n in range(count)
    )


def _odd_lines(seed: int, count: int) -> str:
    return "\n".join(ODD[(seed + n) % len(ODD)] for n in range(4 * count))


@st.composite
def large_text(draw: st.DrawFn) -> str:
    make = draw(st.sampled_from((rows, _records, _code, _prose, _odd_lines)))
    return make(draw(st.integers(1, 999)), draw(st.sampled_from((8, 30, LINES))))


@functools.cache
def text() -> st.SearchStrategy[str]:
    return small_text() | large_text()


@functools.cache
def extras() -> st.SearchStrategy[Item]:
    """Fields that no documentation has."""
    return st.sampled_from([{}, {}, {"x_trace": {"span": [1, None, "ü"]}}, {"index": 0}])


@functools.cache
def arguments() -> st.SearchStrategy[Item]:
    return st.dictionaries(
        st.sampled_from(["path", "query", "content", "limit"]),
        text() | st.integers() | st.none() | st.lists(small_text(), max_size=2),
        max_size=3,
    )


class _Ids:
    """Call ids, in a row; some hosts use one again."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw
        self._numbers = itertools.count()

    def __call__(self) -> str:
        number = next(self._numbers)
        return f"call_{0 if self._draw(st.integers(0, 9)) == 0 else number}"


# OpenAI Chat Completions


@st.composite
def chat(draw: st.DrawFn) -> Rounds:
    ids = _Ids(draw)
    head = [{"role": role, "content": draw(_chat_content())} for role in draw(_heads())]
    rounds = [[*head, _chat_user(draw)]]
    rounds.extend(_chat_round(draw, ids) for _ in range(draw(st.integers(0, 4))))
    return rounds


@functools.cache
def _heads() -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(["system", "developer"]), max_size=1)


@functools.cache
def _chat_content() -> st.SearchStrategy[Any]:
    block = st.builds(
        lambda words, mark: {"type": "text", "text": words, **mark},
        text(),
        st.sampled_from([{}, {"cache_control": MARK}]),
    )
    return text() | st.lists(block, max_size=3)


def _chat_user(draw: st.DrawFn) -> Item:
    content = draw(_chat_content())
    if isinstance(content, list) and draw(st.booleans()):
        address = draw(
            st.sampled_from(["https://x.test/a.png", f"data:image/png;base64,{PNG_TEXT}"])
        )
        content = [*content, {"type": "image_url", "image_url": {"url": address}}]
    return {"role": "user", "content": content, **draw(extras())}


def _chat_round(draw: st.DrawFn, ids: _Ids) -> list[Item]:
    if draw(st.integers(0, 7)) == 0:
        called = {"name": draw(st.sampled_from(TOOLS)), "arguments": draw(_json_arguments())}
        return [
            {"role": "assistant", "content": None, "function_call": called},
            {"role": "function", "name": called["name"], "content": draw(text())},
        ]
    calls = [_chat_call(draw, ids()) for _ in range(draw(st.integers(0, 3)))]
    answer: Item = {"role": "assistant", **draw(extras())}
    match draw(st.integers(0, 3)):
        case 0:
            answer["content"] = draw(text())
        case 1:
            answer["content"] = None
        case 2:
            answer["content"] = [{"type": "refusal", "refusal": draw(small_text())}]
    if calls:
        answer["tool_calls"] = calls
    results = [_chat_result(draw, call["id"]) for call in calls]
    follow = [] if calls and draw(st.booleans()) else [_chat_user(draw)]
    return [answer, *results, *follow]


@functools.cache
def _json_arguments() -> st.SearchStrategy[str]:
    written = st.builds(json.dumps, arguments(), ensure_ascii=st.booleans())
    return written | st.sampled_from(["", "{", "[1, 2]", "null"]) | text()


def _chat_call(draw: st.DrawFn, call_id: str) -> Item:
    name = draw(st.sampled_from(TOOLS))
    if draw(st.integers(0, 5)) == 0:
        return {"id": call_id, "type": "custom", "custom": {"name": name, "input": draw(text())}}
    function = {"name": name, "arguments": draw(_json_arguments())}
    return {"id": call_id, "type": "function", "function": function, **draw(extras())}


def _chat_result(draw: st.DrawFn, call_id: str) -> Item:
    result: Item = {"role": "tool", "tool_call_id": call_id, **draw(extras())}
    if draw(st.integers(0, 9)):
        result["content"] = draw(_chat_content())
    return result


# Anthropic Messages


@st.composite
def anthropic(draw: st.DrawFn) -> Rounds:
    ids = _Ids(draw)
    rounds = [[{"role": "user", "content": draw(text() | _anthropic_words())}]]
    for _ in range(draw(st.integers(0, 4))):
        calls = [_tool_use(draw, ids()) for _ in range(draw(st.integers(0, 3)))]
        before = draw(_anthropic_opening())
        content: Any = [*before, *calls]
        if not calls and draw(st.booleans()):
            content = draw(text())
        results = [_tool_result(draw, call["id"]) for call in calls]
        words = draw(_anthropic_words())
        answer = {"role": "assistant", "content": content, **draw(extras())}
        rounds.append([answer, {"role": "user", "content": [*results, *words]}])
    return rounds


@st.composite
def _anthropic_word(draw: st.DrawFn) -> Item:
    mark = {"cache_control": MARK} if draw(st.integers(0, 2)) == 2 else {}
    return {"type": "text", "text": draw(text()), **mark}


@functools.cache
def _anthropic_words() -> st.SearchStrategy[list[Item]]:
    image = st.just({"type": "image", "source": _png_source()})
    unknown = st.just({"type": "from_the_future", "payload": {"deep": ["x"]}})
    return st.lists(_anthropic_word() | image | unknown, max_size=2)


def _png_source() -> Item:
    return {"type": "base64", "media_type": "image/png", "data": PNG_TEXT}


@functools.cache
def _anthropic_opening() -> st.SearchStrategy[list[Item]]:
    return st.lists(_thought() | _anthropic_word(), max_size=2)


def _thought() -> st.SearchStrategy[Item]:
    return st.sampled_from(
        [
            {"type": "thinking", "thinking": "Let me see…", "signature": "EqQBCgIYAhIM"},
            {"type": "redacted_thinking", "data": "EmwKAhgBEgy3va3pzix"},
            {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"q": "x"}},
        ]
    )


def _tool_use(draw: st.DrawFn, call_id: str) -> Item:
    name = draw(st.sampled_from(TOOLS))
    return {"type": "tool_use", "id": call_id, "name": name, "input": draw(arguments())}


def _tool_result(draw: st.DrawFn, call_id: str) -> Item:
    result: Item = {"type": "tool_result", "tool_use_id": call_id, **draw(extras())}
    if draw(st.booleans()):
        result["is_error"] = draw(st.booleans())
    if draw(st.integers(0, 3)) == 0:
        result["cache_control"] = MARK
    if draw(st.integers(0, 9)):
        result["content"] = draw(text() | _anthropic_words())
    return result


# OpenAI Responses


@st.composite
def responses(draw: st.DrawFn) -> Rounds:
    ids = _Ids(draw)
    head = [{"role": role, "content": draw(text())} for role in draw(_heads())]
    rounds: Rounds = [[*head, _input_message(draw)]]
    for _ in range(draw(st.integers(0, 4))):
        calls = [_response_call(draw, ids()) for _ in range(draw(st.integers(0, 3)))]
        before = draw(_outputs())
        results = [_response_output(draw, call) for call in calls]
        follow = [_input_message(draw)] if not calls or draw(st.booleans()) else []
        rounds.append([*before, *calls, *results, *follow])
    return rounds


def _input_message(draw: st.DrawFn) -> Item:
    if draw(st.booleans()):
        return {"role": "user", "content": draw(text()), **draw(extras())}
    return {"type": "message", "role": "user", "content": draw(_input_blocks())}


@functools.cache
def _input_blocks() -> st.SearchStrategy[list[Item]]:
    words = st.builds(lambda value: {"type": "input_text", "text": value}, text())
    image = st.just({"type": "input_image", "image_url": f"data:image/png;base64,{PNG_TEXT}"})
    return st.lists(words | image | st.just({"type": "input_file", "file_id": "f_1"}), max_size=3)


@functools.cache
def _outputs() -> st.SearchStrategy[list[Item]]:
    said = st.builds(
        lambda value: {
            "type": "message",
            "role": "assistant",
            "id": "msg_1",
            "content": [{"type": "output_text", "text": value, "annotations": []}],
        },
        text(),
    )
    others = [
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAA="},
        {"type": "web_search_call", "id": "ws_1", "status": "completed"},
        {"type": "item_reference", "id": "msg_0"},
        {"role": "assistant", "content": "short form"},
    ]
    return st.lists(said | st.sampled_from(others), max_size=2)


def _response_call(draw: st.DrawFn, call_id: str) -> Item:
    named = {"call_id": call_id, "name": draw(st.sampled_from(TOOLS))}
    if draw(st.integers(0, 4)) == 0:
        return {"type": "custom_tool_call", **named, "input": draw(text())}
    return {
        "type": "function_call",
        **named,
        "arguments": draw(_json_arguments()),
        **draw(extras()),
    }


def _response_output(draw: st.DrawFn, call: Item) -> Item:
    output = draw(text() | _input_blocks())
    return {"type": f"{call['type']}_output", "call_id": call["call_id"], "output": output}


# Bedrock Converse


@st.composite
def bedrock(draw: st.DrawFn) -> Rounds:
    ids = _Ids(draw)
    # Until a block has a key of Converse, a list may be of another format.
    opening = draw(
        _converse_words().filter(lambda blocks: any("fromTheFuture" not in b for b in blocks))
    )
    rounds = [[{"role": "user", "content": opening}]]
    for _ in range(draw(st.integers(0, 4))):
        calls = [_converse_use(draw, ids()) for _ in range(draw(st.integers(0, 3)))]
        results = [_converse_result(draw, each["toolUse"]["toolUseId"]) for each in calls]
        answer = {"role": "assistant", "content": [*draw(_converse_words()), *calls]}
        user = {"role": "user", "content": [*results, *draw(_converse_words())]}
        rounds.append([{**answer, **draw(extras())}, user])
    return rounds


@functools.cache
def _converse_words() -> st.SearchStrategy[list[Item]]:
    others: list[Item] = [
        {"image": {"format": "png", "source": {"bytes": PNG_TEXT}}},
        {"cachePoint": {"type": "default"}},
        {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "EqQB"}}},
        {"fromTheFuture": {"deep": ["x"]}},
    ]
    words = st.builds(lambda value: {"text": value}, text())
    return st.lists(words | st.sampled_from(others), min_size=1, max_size=2)


def _converse_use(draw: st.DrawFn, call_id: str) -> Item:
    named = {"toolUseId": call_id, "name": draw(st.sampled_from(TOOLS))}
    return {"toolUse": {**named, "input": draw(arguments())}}


@functools.cache
def _converse_content() -> st.SearchStrategy[list[Item]]:
    block = (
        st.builds(lambda value: {"text": value}, text())
        | st.builds(lambda value: {"json": value}, arguments())
        | st.just({"image": {"format": "png", "source": {"bytes": PNG_TEXT}}})
    )
    return st.lists(block, max_size=3)


def _converse_result(draw: st.DrawFn, call_id: str) -> Item:
    result: Item = {"toolUseId": call_id, "content": draw(_converse_content())}
    if draw(st.booleans()):
        result["status"] = draw(st.sampled_from(("success", "error")))
    return {"toolResult": result}


# Gemini


@st.composite
def gemini(draw: st.DrawFn) -> Rounds:
    """Calls with ids and without, in the spelling of the API or of its SDK."""
    ids = _Ids(draw) if draw(st.booleans()) else None
    spelled = draw(st.sampled_from([("functionCall", "functionResponse", "inlineData", "mimeType"),
                                    ("function_call", "function_response", "inline_data", "mime_type")]))  # fmt: skip
    media = {spelled[2]: {spelled[3]: "image/png", "data": PNG_TEXT}}
    rounds = [[{"role": "user", "parts": draw(_gemini_words(media))}]]
    for _ in range(draw(st.integers(0, 4))):
        calls, results = [], []
        for _ in range(draw(st.integers(0, 3))):
            named = {"name": draw(st.sampled_from(TOOLS)), **({"id": ids()} if ids else {})}
            calls.append({spelled[0]: {**named, "args": draw(arguments())}})
            results.append({spelled[1]: {**named, "response": draw(_gemini_response())}})
        thought = {"text": "Let me see.", "thought": True, "thoughtSignature": "EqQB"}
        before = draw(st.lists(st.just(thought), max_size=1))
        answer = {"role": "model", "parts": [*before, *draw(_gemini_words(media)), *calls]}
        user = {"role": "user", "parts": [*results, *draw(_gemini_words(media))]}
        rounds.append([{**answer, **draw(extras())}, user])
    return rounds


def _gemini_words(media: Item) -> st.SearchStrategy[list[Item]]:
    words = st.builds(lambda value: {"text": value}, text())
    code = st.just({"executableCode": {"language": "PYTHON", "code": "print(1)"}})
    return st.lists(words | st.just(media) | code, min_size=1, max_size=2)


@functools.cache
def _gemini_response() -> st.SearchStrategy[Item]:
    one = st.builds(lambda key, value: {key: value}, st.sampled_from(("output", "result", "error")), text())  # fmt: skip
    return one | arguments()


FORMATS: dict[str, Callable[[], st.SearchStrategy[Rounds]]] = {
    "openai": chat,
    "responses": responses,
    "anthropic": anthropic,
    "bedrock": bedrock,
    "gemini": gemini,
}
ONE_FORMAT = [
    next(iter(FORMATS)),
    *(pytest.param(each, marks=pytest.mark.slow) for each in [*FORMATS][1:]),
]
"""The first for every run, the others for the nightly one: for tests that open sessions in each example."""


def any_rounds() -> st.SearchStrategy[Rounds]:
    return st.one_of(*(make() for make in FORMATS.values()))


# A plain one, for tests that want to know every word


def chat_call(call_id: str, tool: str, arguments: Item, said: str | None = None) -> Item:
    """Return an answer with one call, in the form of Chat Completions."""
    function = {"name": tool, "arguments": json.dumps(arguments)}
    call = {"id": call_id, "type": "function", "function": function}
    return {"role": "assistant", "content": said, "tool_calls": [call]}


def chat_step(
    call_id: str, tool: str, arguments: Item, result: str, said: str | None = None
) -> list[Item]:
    """Return an answer with one call, and the result of that."""
    answer = {"role": "tool", "tool_call_id": call_id, "content": result}
    return [chat_call(call_id, tool, arguments, said), answer]


def reading(rounds: int, lines: int = LINES, start: int = 0) -> list[Item]:
    """A chat in which each round reads one file of its own."""
    items: list[Item] = [{"role": "user", "content": "Read them."}] if not start else []
    for number in range(start, start + rounds):
        items += chat_step(
            f"c{number}", "read", {"path": f"/srv/{number}"}, rows(number + 7, lines)
        )
    return items


# What a host does with them


def growing(rounds: Rounds) -> Iterator[list[Item]]:
    """Yield the list at each call."""
    return (list(itertools.chain(*rounds[: end + 1])) for end in range(len(rounds)))


class _Loud(logging.Handler):
    """Raises what is logged, but for a view that its host must see to."""

    def emit(self, record: logging.LogRecord) -> None:
        if EXCESS in record.getMessage():
            return
        cause = record.exc_info[1] if record.exc_info else None
        raise AssertionError(record.getMessage()) from cause


@contextlib.contextmanager
def no_fallback() -> Iterator[None]:
    """Law 3 hides failures; here one that it hid fails the test."""
    log, loud = logging.getLogger("hippocampus"), _Loud()
    log.addHandler(loud)
    try:
        yield
    finally:
        log.removeHandler(loud)


@contextlib.contextmanager
def managed(folder: str | Path, **options: Any) -> Iterator[Session]:
    """Open a session in a memory of its own; a fallback to the raw list fails."""
    with Hippocampus(folder, **options) as memory, memory.session("s") as session, no_fallback():
        yield session


def views(session: Session, rounds: Rounds) -> list[list[Item]]:
    """Send a conversation as it grows; a fallback to the raw list fails."""
    with no_fallback():
        return [session(items) for items in growing(rounds)]


FRAME = re.compile(r"\[([a-z2-7]{8,12}) · ")


def put_away(raw: list[Message], view: list[Message]) -> Iterator[tuple[str, Message, Part]]:
    """Yield id, raw message and raw part of each entry that stands in a view."""
    for message, shown in zip(raw, view, strict=True):
        for part, instead in zip(_text_parts(message), _text_parts(shown), strict=True):
            if part.text != instead.text:
                found = FRAME.search(instead.text)
                assert found, instead.text
                yield found[1], message, part


def _text_parts(message: Message) -> list[Part]:
    return [part for part in message.parts if part.kind != "image"]


def held(message: Message, part: Part) -> Any:
    """Return the value that the list holds at a part."""
    value: Any = message.raw
    for key in part.path:
        value = value[key]
    return value


def written_at(state: Path, at: float, *sessions: str) -> None:
    """Make sessions look as if they had been active at a time, in seconds since 1970."""
    with contextlib.closing(sqlite3.connect(StateDir(state).database)) as db, db:
        db.executemany(
            "UPDATE session SET active_at = ? WHERE name = ?", [(at, name) for name in sessions]
        )
