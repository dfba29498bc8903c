"""What is not replaced of a request, and of a stream, keeps its bytes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from integrations.proxy.upstream import WIRES

from hippocampus.integrations.proxy.apis import ANSWERS
from hippocampus.integrations.proxy.body import Body
from hippocampus.integrations.proxy.events import Event, events
from hippocampus.testing import call

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
ITEMS = st.lists(st.dictionaries(st.text(), VALUES, max_size=3), max_size=5)
BODIES = st.dictionaries(st.text(), VALUES, max_size=4)
LAYOUTS = st.sampled_from([{}, {"indent": 2}, {"separators": (",", ":")}, {"ensure_ascii": False}])


@given(BODIES, ITEMS, LAYOUTS)
def test_a_body_whose_lists_are_its_own_is_written_as_it_arrived(
    others: dict[str, Any], items: list[Any], layout: dict[str, Any]
) -> None:
    text = json.dumps({"messages": items, **others, "tools": [{}]}, **layout)
    content = f" \n{text}\r\n".encode("utf-8", "surrogatepass")
    try:
        body = Body(content)
    except UnicodeDecodeError:  # lone surrogates, which no JSON has: it passes as it is
        return
    assert body.values == json.loads(text)
    own = {"messages": body.values["messages"], "tools": body.values["tools"]}
    assert isinstance(own["messages"], list)
    assert body.with_lists(own) == content
    assert json.loads(body.with_lists({"tools": [*own["tools"], {"a": "é"}]})) == {
        **body.values,
        "tools": [{}, {"a": "é"}],
    }


@given(ITEMS.filter(bool), st.data())
def test_an_element_that_is_not_replaced_keeps_its_text(
    items: list[Any], data: st.DataObject
) -> None:
    texts = [json.dumps(each, separators=(" ,", ":  ")) for each in items]
    body = Body(f'{{"messages": [{"  ,".join(texts)}]}}'.encode())
    mine = list(body.values["messages"])
    place = data.draw(st.integers(0, len(mine) - 1))
    mine[place] = {"role": "user", "content": "shorter"}
    texts[place] = '{"role":"user","content":"shorter"}'
    written = body.with_lists({"messages": mine}).decode()
    assert json.loads(written)["messages"] == mine
    assert all(text in written for text in texts)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "7",
        "{",
        '{"a":',
        '{"a": 1',
        '{"a": [1}',
        '{"a": 1, "a": 2}',
        '{"a": 1} x',
        "{1: 2}",
    ],
)
def test_what_is_no_object_with_each_name_once_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - any sentence will do: the request passes
        Body(text.encode())


async def chunked(content: bytes, sizes: list[int]) -> AsyncIterator[bytes]:
    for size in [*sizes, len(content)]:
        yield content[:size]
        content = content[size:]


async def read(content: bytes, sizes: list[int]) -> list[Event]:
    return [each async for each in events(chunked(content, sizes))]


LINES = st.sampled_from([b"data: {}", b"event: x", b": comment", b"data:[DONE]", b"id: 7", b"\xff"])
ENDINGS = st.sampled_from([b"\n", b"\r\n"])


@given(st.lists(st.lists(LINES, max_size=3)), ENDINGS, st.lists(st.integers(0, 9)))
def test_events_are_the_same_however_a_stream_is_cut(
    blocks: list[list[bytes]], ending: bytes, sizes: list[int]
) -> None:
    content = b"".join(ending.join([*lines, b""]) + ending for lines in blocks) + b"data: {"
    found = asyncio.run(read(content, sizes))
    assert b"".join(each.content for each in found) == content
    assert found == asyncio.run(read(content, []))


@pytest.mark.parametrize("path", ANSWERS)
@pytest.mark.parametrize("calls", [[], [call("list_orders", page=1), call("run", command="ls")]])
def test_a_stream_without_recalls_passes_byte_for_byte(path: str, calls: list[Any]) -> None:
    _, stream = WIRES[path.removeprefix("/")](1, "gpt-5", "Fine.", calls, "Hm.")
    answer = ANSWERS[path]("recall")
    found = asyncio.run(read(b": hello\n\n" + b"".join(stream), [3, 50, 1]))
    assert b"".join(
        out for each in found for out in answer.feed(each)
    ) == b": hello\n\n" + b"".join(stream)
    assert not answer.is_changed
    assert not answer.is_inside
