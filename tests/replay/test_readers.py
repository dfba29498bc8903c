"""Files are found, unpacked and recognised by what is in them, and a bad one never ends a walk."""

from __future__ import annotations

import gzip
import json
import os
import pickle
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from hippocampus.errors import MessagesError, RecordingError
from hippocampus.memory import Hippocampus
from hippocampus.replay.measure import Script
from hippocampus.replay.readers import find_files, formats, read_file
from hippocampus.replay.readers.json_files import JsonDocument
from hippocampus.replay.readers.make_recordings import make_recordings
from hippocampus.replay.readers.values import as_records
from hippocampus.storage import packing

CHAT = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Where is it?"},
    {"role": "assistant", "content": "There."},
]


def write(path: Path, data: bytes | str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def jsonl(records: list[Any]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


@pytest.mark.parametrize(
    "data",
    [
        json.dumps(CHAT).encode(),
        json.dumps(CHAT, indent=2).encode(),
        jsonl(CHAT).encode(),
        b"\xef\xbb\xbf" + jsonl(CHAT).replace("\n", "\r\n").encode(),
        gzip.compress(json.dumps(CHAT).encode(), mtime=0),
        zstandard.compress(jsonl(CHAT).encode()),
        zstandard.compress(jsonl(CHAT[:2]).encode()) + zstandard.compress(jsonl(CHAT[2:]).encode()),
        json.dumps({"messages": CHAT}).encode(),
        json.dumps([{"messages": CHAT}]).encode(),
        json.dumps([CHAT]).encode(),
        jsonl(CHAT).encode("utf-16"),
    ],
    ids=[
        "list",
        "indented",
        "lines",
        "bom-and-crlf",
        "gzip",
        "zstd",
        "zstd-frames",
        "record",
        "records",
        "list-of-lists",
        "utf-16",
    ],
)
def test_the_same_conversation_is_read_from_any_packing(tmp_path: Path, data: bytes) -> None:
    [recording] = read_file(write(tmp_path / "any.name", data))
    assert recording.messages == CHAT
    assert (recording.format, recording.name) == ("openai-chat", "any.name")


def test_several_conversations_in_a_file_are_numbered(tmp_path: Path) -> None:
    records = [{"messages": CHAT, "model": "gpt-4o"}, {"messages": CHAT}, {"messages": CHAT[:2]}]
    first, second = read_file(write(tmp_path / "many.jsonl", jsonl(records)))
    assert (first.name, second.name) == ("many.jsonl#1", "many.jsonl#2")
    assert (first.model, second.model) == ("gpt-4o", None)


def test_broken_lines_are_named_and_the_rest_is_read(tmp_path: Path) -> None:
    lines = ["{torn", *jsonl(CHAT).splitlines(), "17", '{"role": "user", "cont']
    path = write(tmp_path / "torn.jsonl", "\n".join(lines))
    [recording] = read_file(path)
    assert recording.messages == CHAT
    assert [line.rsplit(": ", 1)[0] for line in recording.broken] == [
        f"{path}:1",
        f"{path}:5",
        f"{path}:6",
    ]


def test_of_many_broken_lines_the_first_are_named(tmp_path: Path) -> None:
    path = write(tmp_path / "torn.jsonl", jsonl(CHAT) + "17\n" * 1500)
    [recording] = read_file(path)
    assert len(recording.broken) == 1001
    assert recording.broken[-1] == f"{path}: 500 further lines or items are broken"


def test_a_record_without_messages_beside_others_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "mixed.jsonl", jsonl([{"messages": CHAT}, {"score": 1}]))
    assert read_file(path)[0].broken == (f"{path}:2: no message list in this record",)


@pytest.mark.parametrize(
    ("data", "seen"),
    [
        (b"", "an empty file"),
        (b" \n\n", "an empty file"),
        (b"\x89PNG\r\n\x1a\n" + bytes(500), "a binary file"),
        (gzip.compress(bytes(500), mtime=0), "a binary file"),
        (b"# Notes\n\nSome text.\n", "text that is not JSON"),
        (b"[1, 2]", "JSON without an object in it"),
        (b'"text"', "JSON without an object in it"),
        (b'{"name": "left-pad", "version": "1.0.0"}', "a JSON object with the keys name, version"),
        (b'{"a": 1}\n{"b": 2}\n', "2 JSON objects, the first with the keys a"),
        (b'{"messages": [1]}', "a JSON object with the keys messages"),
        (b'[\n{"a": [\n{"b": 1}\n], "c', "text that is not JSON (line 4: Unterminated string"),
    ],
)
def test_an_unknown_file_is_one_line_that_describes_it(
    tmp_path: Path, data: bytes, seen: str
) -> None:
    path = write(tmp_path / "unknown", data)
    with pytest.raises(RecordingError) as caught:
        read_file(path)
    assert seen in caught.value.reason
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "data", [gzip.compress(b"{}", mtime=0)[:-9], b"\x1f\x8b junk", b"\x28\xb5\x2f\xfd junk"]
)
def test_a_damaged_archive_cannot_be_read(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(RecordingError, match="cannot be unpacked"):
        read_file(write(tmp_path / "damaged.gz", data))


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_a_small_file_cannot_unpack_to_fill_the_memory(tmp_path: Path, pack: Any) -> None:
    with pytest.raises(RecordingError, match="unpacks to over 64 MiB"):
        read_file(write(tmp_path / "bomb", pack(b"[" + bytes(packing.MAX_SMALL_BYTES))))


@pytest.mark.parametrize(
    ("value", "reason"),
    [("[" * 300 + "]" * 300, "nested more than 200 deep"), ("7" * 5000, "more than 4,300 digits")],
)
def test_a_line_that_no_parser_takes_is_named(tmp_path: Path, value: str, reason: str) -> None:
    path = write(tmp_path / "odd.jsonl", f'{jsonl(CHAT)}{{"value": {value}}}\n')
    [recording] = read_file(path)
    assert recording.messages == CHAT
    assert reason in recording.broken[0]
    with pytest.raises(RecordingError, match=f"cannot be read: .*{reason}"):
        read_file(write(tmp_path / "whole.json", f'{{"messages": [{value}]}}'))


def test_what_nothing_can_be_read_from_ends_no_walk(tmp_path: Path) -> None:
    whole = write(tmp_path / "whole.json", json.dumps(CHAT))
    os.mkfifo(tmp_path / "pipe.json")
    for name in ("loop.json", "dangling.json"):
        (tmp_path / name).symlink_to("loop.json")
    (tmp_path / "folder.json").mkdir()
    assert list(find_files([tmp_path])) == [whole]
    for name in ("pipe.json", "folder.json"):
        with pytest.raises(RecordingError, match="cannot be read: no regular file"):
            read_file(tmp_path / name)


def test_a_missing_file_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="No such file"):
        read_file(tmp_path / "nowhere.json")
    with pytest.raises(RecordingError, match="no such file"):
        list(find_files([tmp_path / "nowhere"]))


def test_halves_of_surrogate_pairs_become_replacement_characters(tmp_path: Path) -> None:
    text = r'[{"role": "assistant", "content": "a\ud83d b\ud83d\ude00 \udc00"}]'
    [recording] = read_file(write(tmp_path / "half.json", text))
    assert recording.messages[0]["content"] == "a\ufffd b\U0001f600 \ufffd"


def test_bytes_that_are_no_utf8_do_not_stop_the_reader(tmp_path: Path) -> None:
    data = json.dumps(CHAT).encode().replace(b"There.", b"Th\xffre.")
    [recording] = read_file(write(tmp_path / "latin.json", data))
    assert recording.messages[-1]["content"] == "Th\ufffdre."


def test_a_walk_is_sorted_and_skips_hidden_files_and_doubles(tmp_path: Path) -> None:
    for name in ("b/2.json", "b/1.json", "a.json", ".git/x.json", "b/.hidden"):
        write(tmp_path / name, "[]")
    found = find_files([tmp_path, tmp_path / "b" / "1.json", tmp_path / "b"])
    assert [str(path.relative_to(tmp_path)) for path in found] == ["a.json", "b/1.json", "b/2.json"]


def test_the_prompt_and_tools_of_a_request_are_kept(tmp_path: Path) -> None:
    tools = [{"name": "ls", "input_schema": {}}]
    body = {"system": [{"type": "text", "text": "Be kind."}], "tools": tools, "messages": CHAT[1:]}
    [recording] = read_file(write(tmp_path / "body.json", json.dumps(body)))
    assert (recording.system_prompt, recording.tools) == ("Be kind.", tuple(tools))
    [in_list] = read_file(write(tmp_path / "list.json", json.dumps(CHAT)))
    assert in_list.system_prompt == "Be brief."


def test_calls_without_an_id_get_one_and_keep_their_results(tmp_path: Path) -> None:
    call = {"type": "function", "function": {"name": "ls", "arguments": {"path": "."}}}
    answer = {"role": "assistant", "content": None, "tool_calls": [call, {**call, "id": 3}]}
    results = [{"role": "tool", "content": text} for text in ("one", "two")]
    [recording] = read_file(write(tmp_path / "x", json.dumps([*CHAT[:2], answer, *results])))
    _, _, answered, *paired = recording.messages
    ids = [each["id"] for each in answered["tool_calls"]]
    assert [(each["tool_call_id"], each["content"]) for each in paired] == [
        (ids[0], "one"),
        (ids[1], "two"),
    ]


def test_an_item_that_its_provider_would_not_take_is_left_out(tmp_path: Path) -> None:
    broken = [{"role": "assistant", "content": [7]}, {"role": "assistant", "tool_calls": [7]}]
    [recording] = read_file(write(tmp_path / "x", json.dumps([*CHAT, *broken])))
    assert recording.messages == CHAT


def test_recordings_cross_a_process_boundary(tmp_path: Path) -> None:
    recordings = read_file(write(tmp_path / "chat.json", json.dumps(CHAT)))
    assert pickle.loads(pickle.dumps(recordings)) == recordings


KEYS = st.sampled_from(
    """
role content type message messages payload tool_calls function id arguments values uuid
parentUuid isSidechain sessionId item call_id output input history trajectory action samples
epoch resourceSpans scopeSpans spans attributes key value toolCalls result functionResponse
response tokens usage info model name tool_call_id tool_use_id args kwargs data text parts
timestamp cwd summary instructions tool_id tool_name session_id $set $rewindTo projectHash
last_token_usage total_token_usage replacement_history usage_metadata events state status callID
cache meta token_counts session_meta _metadata _timestamp metrics observation source cause
tool_call_metadata model_response choices extras step_index truncated_fields raw content_blocks
extra response created cost usage prompt_tokens trajectory_format mini_version submission config
attachment prompt session_thread_id forgotten_event_ids forgotten_events_start_id tools system
    """.split()  # noqa: SIM905 - a hundred words
)
WORDS = st.sampled_from(
    """
user assistant tool system human ai gemini message session compaction toolResult function
tool_use tool_result text thinking image function_call function_call_output reasoning init
response_item event_msg session_meta turn_context compacted token_count toolCall constructor
progress summary a b local_shell_call custom_tool_call attachment queued_command custom_message
step-start step-finish completed tool_output agent environment run condensation finish MODEL
PLANNER_RESPONSE VIEW_FILE CHECKPOINT agent.tool_use agent.tool_result user.message
mini-swe-agent-1 exit span.model_request_end assistant-subagent-a <environment_details>
    """.split()  # noqa: SIM905 - a hundred words
)
LEAVES = st.none() | st.booleans() | st.integers(-9, 9) | st.floats() | WORDS
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=30,
)


@given(st.lists(st.dictionaries(KEYS, JSON, min_size=1, max_size=6), min_size=1, max_size=5))
def test_no_reader_fails_on_fields_of_unexpected_types(records: list[dict[str, Any]]) -> None:
    document = JsonDocument("fuzz.json", as_records(records), "JSON")
    try:
        recordings = make_recordings(document.path, *formats.read(document))
    except (MessagesError, RecordingError):
        return
    assert all(recording.messages for recording in recordings)
    json.dumps([recording.messages for recording in recordings])
    for recording in recordings:
        Script(recording)


GEMINI = [
    {"role": "user", "parts": [{"text": "Which order is late?"}]},
    {
        "role": "model",
        "parts": [{"functionCall": {"id": "c1", "name": "orders", "args": {"n": 9}}}],
    },
    {
        "role": "user",
        "parts": [{"functionResponse": {"id": "c1", "name": "orders", "response": {"late": 7}}}],
    },
    {"role": "model", "parts": [{"text": "Order 7 is late."}]},
]
BEDROCK = [
    {"role": "user", "content": [{"text": "Which order is late?"}]},
    {
        "role": "assistant",
        "content": [{"toolUse": {"toolUseId": "c1", "name": "orders", "input": {"n": 9}}}],
    },
    {
        "role": "user",
        "content": [{"toolResult": {"toolUseId": "c1", "content": [{"text": "order 7 is late"}]}}],
    },
    {"role": "assistant", "content": [{"text": "Order 7 is late."}]},
]


@pytest.mark.parametrize("messages", [GEMINI, BEDROCK], ids=["gemini", "bedrock"])
def test_an_archived_session_is_read_whatever_its_format(tmp_path: Path, messages: Any) -> None:
    with Hippocampus(tmp_path / "state") as memory, memory.session("s") as session:
        session(messages[:-1])
        session.close(messages)
    [path] = find_files([tmp_path / "state"])
    [recording] = read_file(path)
    roles = [each["role"] for each in recording.messages]
    assert roles == ["user", "assistant", "tool", "assistant"]
    assert "7" in recording.messages[2]["content"]
    assert recording.messages[1]["tool_calls"][0]["function"]["arguments"] == '{"n": 9}'
