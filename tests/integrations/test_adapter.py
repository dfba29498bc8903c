"""What adapters share, on a toy framework: its view is the session's own, message by message."""

from __future__ import annotations

import copy
import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from conversations import EAGER, reading

from hippocampus import Hippocampus, Policy
from hippocampus.integrations.adapter import ConversationAdapter, text_in, with_text


@dataclass
class Bundle:
    """A message of the toy framework: several chat messages in one."""

    items: tuple[dict[str, Any], ...]


def edit(message: Bundle, kind: str, place: int, text: str) -> Bundle:
    items = copy.deepcopy(message.items)
    assert kind != "call", "no call of this conversation is long"
    items[place]["content"] = text
    return Bundle(items)


def adapter(memory: Hippocampus) -> ConversationAdapter[Bundle]:
    return ConversationAdapter(
        memory,
        lambda message: list(message.items),
        edit,
        lambda role, text: Bundle(({"role": role, "content": text},)),
        "items",
    )


def bundled(items: list[Any]) -> list[Bundle]:
    """Put each result into one message with the answer behind it."""
    return [Bundle(tuple(items[at : at + 2])) for at in range(0, len(items), 2)]


def test_the_view_of_a_framework_is_that_of_the_session(tmp_path: Path) -> None:
    policy = EAGER.model_copy(update={"budget_tokens": 2_500})
    ours, plain = (Hippocampus(tmp_path / name, policy=policy) for name in ("ours", "plain"))
    framework, session = adapter(ours), plain.session("s")
    items = reading(60, 60)
    for end in range(2, len(items) + 1, 2):
        raw = copy.deepcopy(items[:end])
        view = framework.view("s", bundled(items[:end]))
        assert list(itertools.chain(*(each.items for each in view))) == session(items[:end])
        assert items[:end] == raw
    assert len(view) < len(bundled(items)) / 2, "digests replace most messages"
    ours.close()
    plain.close()


def test_an_edited_copy_is_made_once(tmp_path: Path) -> None:
    memory = Hippocampus(tmp_path, policy=EAGER)
    framework, messages = adapter(memory), bundled(reading(4))
    first, second = framework.view("s", messages), framework.view("s", messages)
    assert all(one is other for one, other in zip(first, second, strict=True))
    assert first[0] is not messages[0] or first[1] is not messages[1]
    memory.close()


def test_only_new_and_changed_messages_are_read(tmp_path: Path) -> None:
    memory, read = Hippocampus(tmp_path, policy=EAGER), []
    framework = ConversationAdapter[Bundle](
        memory, lambda message: read.append(message) or list(message.items), edit, None, "items"
    )
    messages = bundled(reading(6))
    framework.view("s", messages[:4])
    read.clear()
    framework.view("s", messages[:5])
    assert read == messages[4:5]
    read.clear()
    messages[3].items = ({"role": "user", "content": "Something else."},)
    view = framework.view("s", messages)
    assert read == messages[3:]
    assert view[3] is messages[3]
    memory.close()


@pytest.mark.parametrize("is_framework", [True, False])
@pytest.mark.parametrize("problem", ["id", "agent"])
def test_what_is_redacted_is_not_sent_where_no_session_opens(
    tmp_path: Path, problem: str, *, is_framework: bool
) -> None:
    redact = {"redact": {"patterns": ["row_\\d+"]}}
    policy = Policy.model_validate({"lifecycle_policies": [{"match": {}, "action": redact}]})
    items = reading(2, 30)
    with Hippocampus(tmp_path, policy=policy, agent="ann") as memory:
        if problem == "agent":
            memory.session("s", agent="bob").close(items)
        named: Any = 5 if problem == "id" else "s"
        if is_framework:
            bundles = adapter(memory).view(named, bundled(items))
            view = list(itertools.chain(*(each.items for each in bundles)))
        else:
            view = ConversationAdapter[Any](memory).view(named, items)
    assert len(view) == len(items)
    assert "row_" in str(items)
    assert "row_" not in str(view)
    assert view[0] == items[0]


@pytest.mark.parametrize(
    ("value", "edited"),
    [
        ("long", "short"),
        (["long", 1], ["short", 1]),
        ([1, "long", 2, "more"], [1, "short", 2]),
        (
            [{"type": "text", "text": "long", "x": 1}, 1],
            [{"type": "text", "text": "short", "x": 1}, 1],
        ),
        ([1], ["short", 1]),
    ],
)
def test_a_text_is_replaced_and_the_rest_stays(value: Any, edited: Any) -> None:
    before = copy.deepcopy(value)
    assert with_text(value, "short") == edited
    assert text_in(edited) == "short"
    assert value == before


def test_the_texts_of_a_list_are_joined() -> None:
    assert text_in(["a", 1, {"type": "text", "text": "b"}]) == "a\nb"
    assert text_in(None) == ""
