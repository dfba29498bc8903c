"""Images of tools, in results and after them: they leave the view, and a recall brings them back."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
from conversations import chat_call, chat_step, managed
from storage.memory_store import MemoryStore

from hippocampus import Hippocampus, policy
from hippocampus.formats.reader import read
from hippocampus.models.tokens import count_message

Item = dict[str, Any]
SIZE = (1024).to_bytes(4) + (768).to_bytes(4)


def png(number: int) -> str:
    """The head of a picture of 1,024 by 768 pixels, with bytes of its own."""
    head = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + SIZE
    return base64.b64encode(head + bytes([number]) * 600).decode()


def anthropic(steps: int, said: str) -> list[Item]:
    items: list[Item] = [{"role": "user", "content": "Order the lamp."}]
    for number in range(steps):
        source = {"type": "base64", "media_type": "image/png", "data": png(number)}
        words = [{"type": "text", "text": f"{said} {number}"}] if said else []
        use = {"type": "tool_use", "id": f"c{number}", "name": "screenshot", "input": {}}
        blocks = [*words, {"type": "image", "source": source}]
        result = {"type": "tool_result", "tool_use_id": f"c{number}", "content": blocks}
        items += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    return items


def responses(steps: int, said: str) -> list[Item]:
    items: list[Item] = [{"role": "user", "content": "Order the lamp."}]
    for number in range(steps):
        words = [{"type": "input_text", "text": f"{said} {number}"}] if said else []
        image = {"type": "input_image", "image_url": f"data:image/png;base64,{png(number)}"}
        call = {"type": "function_call", "call_id": f"c{number}", "name": "see", "arguments": "{}"}
        output = {
            "type": "function_call_output",
            "call_id": f"c{number}",
            "output": [*words, image],
        }
        items += [call, output]
    return items


def bedrock(steps: int, said: str) -> list[Item]:
    """As boto3 takes them: the image is bytes."""
    items: list[Item] = [{"role": "user", "content": [{"text": "Order the lamp."}]}]
    for number in range(steps):
        image = {"format": "png", "source": {"bytes": base64.b64decode(png(number))}}
        words = [{"text": f"{said} {number}"}] if said else []
        use = {"toolUseId": f"c{number}", "name": "screenshot", "input": {}}
        result = {"toolUseId": f"c{number}", "content": [*words, {"image": image}]}
        items += [
            {"role": "assistant", "content": [{"toolUse": use}]},
            {"role": "user", "content": [{"toolResult": result}]},
        ]
    return items


def chat(steps: int, said: str) -> list[Item]:
    """Results hold text alone, so that the host puts each screenshot after one."""
    items: list[Item] = [{"role": "user", "content": "Order the lamp."}]
    for number in range(steps):
        url = {"url": f"data:image/png;base64,{png(number)}"}
        words = [{"type": "text", "text": f"{said} {number}"}] if said else []
        shown = {"role": "user", "content": [*words, {"type": "image_url", "image_url": url}]}
        items += [*chat_step(f"c{number}", "screenshot", {}, "taken"), shown]
    return items


def gemini(steps: int, said: str) -> list[Item]:
    items: list[Item] = [{"role": "user", "parts": [{"text": "Order the lamp."}]}]
    for number in range(steps):
        call = {"functionCall": {"name": "screenshot", "args": {}}}
        result = {"functionResponse": {"name": "screenshot", "response": {"output": said}}}
        media = {"inlineData": {"mimeType": "image/png", "data": png(number)}}
        items += [{"role": "model", "parts": [call]}, {"role": "user", "parts": [result, media]}]
    return items


def recalled(items: list[Item], entry_id: str) -> Item:
    """The call of an entry, in the format of a list."""
    if "parts" in items[-1]:
        call = {"name": "recall", "args": {"entry_id": entry_id}}
        return {"role": "model", "parts": [{"functionCall": call}]}
    if "tool_calls" in items[1]:
        return chat_call("r", "recall", {"entry_id": entry_id})
    if items[-1].get("type") == "function_call_output":
        asked = f'{{"entry_id": "{entry_id}"}}'
        return {"type": "function_call", "call_id": "r", "name": "recall", "arguments": asked}
    if "toolResult" in items[-1]["content"][0]:
        asked = {"toolUseId": "r", "name": "recall", "input": {"entry_id": entry_id}}
        return {"role": "assistant", "content": [{"toolUse": asked}]}
    use = {"type": "tool_use", "id": "r", "name": "recall", "input": {"entry_id": entry_id}}
    return {"role": "assistant", "content": [use]}


def image_of(result: Item) -> Item:
    """The image of a step's result, or of a recall's."""
    inner = result["output"] if "output" in result else result["content"][0]
    inner = inner.get("toolResult", inner)["content"] if isinstance(inner, dict) else inner
    found: Item = next(block for block in inner if "text" not in block)
    return found


def size(items: list[Item]) -> int:
    return sum(map(count_message, read(items)))


@pytest.mark.parametrize("said", ["", "The button is at the left of step"])
@pytest.mark.parametrize("made", [anthropic, responses, bedrock])
def test_old_screenshots_leave_the_view_and_come_back(made: Any, said: str, tmp_path: Path) -> None:
    items = made(40, said)
    with managed(tmp_path, policy=policy.load("default"), model="claude-sonnet-4-5") as session:
        views = [session(items[:end]) for end in range(1, len(items) + 1, 2)]
        assert views[1] == items[:3]  # the newest stands as it came
        assert size(views[-1]) < size(items) / 2
        record = next(each for each in session.report.records() if each.form == "blocks")
        entry_id, place = record.entry.id, 2 * record.entry.source.turn
        assert f"images of {765 if made is responses else 1_048} tokens" in str(views[-1][place])
        asked = [*views[-1], recalled(items, entry_id)]
        [answer] = session.handle(asked)
        assert image_of(answer) == image_of(items[place])
        assert "images are not in this text" in session.answer({"entry_id": entry_id})
        assert session.entries.content(entry_id)[-1] == image_of(items[place])
        following = session(items)
    with managed(tmp_path, policy=policy.load("default"), model="claude-sonnet-4-5") as again:
        assert again(items) == following == views[-1]


@pytest.mark.parametrize("said", ["", "The button is at the left of step"])
@pytest.mark.parametrize(("made", "step"), [(chat, 3), (gemini, 2)])
def test_old_screenshots_after_results_leave_the_view_and_come_back(
    made: Any, step: int, said: str, tmp_path: Path
) -> None:
    items = made(40, said)
    with managed(tmp_path, policy=policy.load("default"), model="claude-sonnet-4-5") as session:
        views = [session(items[:end]) for end in range(1, len(items) + 1, step)]
        assert views[1] == items[: step + 1]  # the newest stands as it came
        assert size(views[-1]) < size(items) / 2
        assert len(views[-1]) == len(items)
        record = next(each for each in session.report.records() if each.kind == "image")
        entry_id, place = record.entry.id, step * record.entry.source.turn
        assert f'recall("{entry_id}")' in str(views[-1][place])
        asked = [*items, recalled(items, entry_id)]
        answers = session.handle(asked)
        image = items[place].get("parts", items[place].get("content"))[-1]
        assert answers[-1].get("parts", answers[-1].get("content"))[-1] == image
        assert session.entries.content(entry_id) == [image]
        following = session([*asked, *answers])
        assert following[-len(answers) :] == answers
    with managed(tmp_path, policy=policy.load("default"), model="claude-sonnet-4-5") as again:
        assert again([*asked, *answers]) == following


def test_an_image_of_the_users_own_stays(tmp_path: Path) -> None:
    items = chat(20, "")
    own = {"role": "user", "content": [items[3]["content"][0]]}
    items[1:1] = [{"role": "assistant", "content": "Which one?"}, own]
    with managed(tmp_path, policy=policy.load("default"), model="claude-sonnet-4-5") as session:
        for end in range(3, len(items) + 1, 3):
            view = session(items[:end])
    assert view[2] == own
    assert size(view) < size(items) / 2


def test_an_image_with_a_long_text_stays(tmp_path: Path) -> None:
    """The text is an entry before the model has seen the image."""
    items = anthropic(3, "\n".join(f"{n},{n * 7},open" for n in range(2_000)))
    with managed(tmp_path, policy=policy.load("default"), model="claude-sonnet-4-5") as session:
        view = session(items)
    assert [image_of(view[at]) for at in (2, 4, 6)] == [image_of(items[at]) for at in (2, 4, 6)]
    assert size(view) < size(items) / 2


def test_images_with_a_long_text_leave_once_its_entry_is_dormant(tmp_path: Path) -> None:
    items = anthropic(30, "\n".join(f"{n},{n * 7},open" for n in range(300)))
    chosen = policy.load("default").model_copy(update={"digest_below": 0.01})
    with managed(tmp_path, policy=chosen, model="claude-sonnet-4-5") as session:
        for end in range(1, len(items) + 1, 2):
            view = session(items[:end])
        gone = [at for at in range(2, len(items), 2) if "'image'" not in str(view[at])]
        assert all("images of 1048 tokens" in str(view[at]) for at in gone)
        assert 2 in gone
        assert len(items) - 1 not in gone
        [answer] = session.handle([*view, recalled(view, session.report.records()[0].entry.id)])
        assert image_of(answer) == image_of(items[2])
    with managed(tmp_path, policy=chosen, model="claude-sonnet-4-5") as again:
        assert again(items) == view


def test_the_user_s_own_images_stay(tmp_path: Path) -> None:
    items = anthropic(30, "")
    source = {"type": "base64", "media_type": "image/png", "data": png(99)}
    items[0] = {"role": "user", "content": [{"type": "image", "source": source}]}
    with managed(tmp_path, policy=policy.load("default"), model="claude-sonnet-4-5") as session:
        for end in range(1, len(items) + 1, 2):
            view = session(items[:end])
    assert view[0] == items[0]
    assert size(view) < size(items) / 2


class ClosingStore(MemoryStore):
    """A store of the host that fails, by a bug, once it is closed."""

    is_closed = False

    def get(self, key: str) -> bytes | None:
        if self.is_closed:
            raise RuntimeError("the pool is closed")
        return super().get(key)


def test_a_recall_of_an_image_that_fails_inside_is_answered(tmp_path: Path) -> None:
    store = ClosingStore()
    memory = Hippocampus(tmp_path, model="claude-sonnet-4-5", store=store)
    with memory.session("s") as session:
        items = anthropic(40, "step")
        for end in range(1, len(items) + 1, 2):
            session(items[:end])
        entry = next(record for record in session.report.records() if record.form == "blocks").entry
        store.is_closed = True
        [message] = session.handle([*items, recalled(items, entry.id)])
    [result] = message["content"]
    assert result["is_error"]
    memory.close()
