"""The logs of agents become conversations whose calls have their results, whatever is broken."""

from __future__ import annotations

import contextlib
import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from replay.test_readers_formats import chat_call, chat_result

from hippocampus.errors import RecordingError
from hippocampus.formats.usage import Usage
from hippocampus.replay.measure import Script, unpaired
from hippocampus.replay.readers import find_files, formats, read_file
from hippocampus.replay.readers.json_files import JsonDocument
from hippocampus.replay.readers.make_recordings import make_recordings
from hippocampus.replay.readers.pairing import NO_RESULT
from hippocampus.replay.readers.values import as_records
from hippocampus.replay.recording import Recording

Record = dict[str, Any]
RECORDINGS = Path(__file__).parent / "recordings"
SAMPLES = {path.stem: json.loads(path.read_text("utf-8")) for path in RECORDINGS.glob("*.json")}
LISTS = ("anthropic", "openai-chat", "openai-responses")
PROGRAMS = sorted(SAMPLES.keys() - set(LISTS))


def text(content: str) -> Record:
    return {"type": "text", "text": content}


def opencode_answer(parts: list[Record], **info: Any) -> Record:
    tokens = {"total": 190, "input": 2, "output": 30, "cache": {"read": 150, "write": 8}}
    return {"info": {"role": "assistant", "modelID": "m", "tokens": tokens, **info}, "parts": parts}


def opencode_prompt(*parts: Record) -> Record:
    return {"info": {"role": "user"}, "parts": list(parts)}


READ = {"filePath": "a.py"}


def billed(time: int, fresh: int, cached: int, output: int) -> Record:
    usage = {"input_tokens": fresh, "cached_input_tokens": cached, "output_tokens": output}
    return {"type": "token_count", "_timestamp": time, "info": {"last_token_usage": usage}}


def exported(role: str, time: int, *blocks: Record, **fields: Any) -> Record:
    return {"role": role, "content": list(blocks), "_metadata": {"timestamp": time}, **fields}


def exported_call(time: int, call_id: str, role: str = "assistant") -> Record:
    block = {"type": "tool_call", "tool_call_id": call_id, "name": "Read", "arguments": "{}"}
    return exported(role, time, block, tool_calls=[chat_call(call_id, "Read", {})])


def exported_result(time: int, call_id: str, content: Any, role: str = "tool") -> Record:
    return exported(role, time, {"type": "tool_output", "text": content}, tool_call_id=call_id)


AGENT = "assistant-subagent-7f"
SUBAGENT = [
    exported("user", 10, text("Find it.")) | {"role": AGENT},
    exported_call(11, "s1") | {"role": AGENT},
    exported_result(12, "s1", "found") | {"role": AGENT},
]
for line, original in zip(SUBAGENT, ("user", "assistant", "tool"), strict=True):
    line["_metadata"]["original_role"] = original

SURROUNDINGS = text("<environment_details>\n# Time\n</environment_details>")


PAIR = [chat_call("t1", "run", {"command": "ls"}), chat_call("t2", "run", {"command": "pwd"})]


def openhands_event(own: str, parent: str, kind: str, **fields: Any) -> Record:
    event = {"id": own, "parent_id": parent, "timestamp": "2026-11-24T00:00:00", "kind": kind}
    return {**event, **fields}


def openhands_said(own: str, parent: str, role: str, words: str, **fields: Any) -> Record:
    message = {"role": role, "content": [text(words)], "thinking_blocks": []}
    return openhands_event(own, parent, "MessageEvent", llm_message=message, **fields)


def openhands_usage(response: str, cached: int) -> Record:
    counts = {"prompt_tokens": 100, "completion_tokens": 7, "cache_read_tokens": cached}
    return {"model": "openai/gpt-4o", "response_id": response, **counts}


OPENHANDS_STATE = {
    "stats": {
        "usage_to_metrics": {
            "agent": {"token_usages": [openhands_usage("r1", 0), openhands_usage("r2", 60)]}
        }
    }
}


def step(index: int, kind: str, content: str, **fields: Any) -> Record:
    source = {"PLANNER_RESPONSE": "MODEL", "USER_INPUT": "USER_EXPLICIT"}.get(kind, "SYSTEM")
    return {
        "step_index": index,
        "source": source,
        "type": kind,
        "status": "DONE",
        "content": content,
        **fields,
    }


def event(kind: str, **fields: Any) -> Record:
    raw = {"type": kind, "id": f"id-{kind}", **fields}
    return {"role": "agent", "kind": kind.partition(".")[2], "time": "now", "raw": raw}


def read(tmp_path: Path, records: list[Record]) -> list[Recording]:
    path = tmp_path / "recording"
    path.write_text(json.dumps(records))
    return read_file(path)


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_format_is_recognised_by_its_own_reader_alone(name: str) -> None:
    records = as_records(SAMPLES[name])
    recognised = [each.NAME for each in formats.READERS if any(map(each.is_own, records))]
    assert recognised == ["cline" if name == "roo" else name]


def test_opencode_steps_become_answers_with_results_and_usage(tmp_path: Path) -> None:
    [recording] = read(tmp_path, SAMPLES["opencode"])
    calls = [chat_call(each, "read", READ) for each in ("c1", "c2", "c3")]
    assert recording.messages == [
        {"role": "user", "content": "Look."},
        {"role": "assistant", "content": "Reading.", "tool_calls": calls},
        *(chat_result("c1", "x = 1"), chat_result("c2", "not found"), chat_result("c3", NO_RESULT)),
        {"role": "assistant", "content": "Done."},
    ]
    assert recording.usage == {0: Usage(2, 150, 8, 30), 1: Usage(2, 150, 8, 30)}
    assert (recording.model, recording.unanswered) == ("m", 1)


def test_a_database_is_a_binary_file(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    path.write_bytes(b"SQLite format 3\0" + b"CREATE TABLE session (id) " * 200)
    with pytest.raises(RecordingError, match="a binary file"):
        read_file(path)


def test_an_opencode_message_of_several_steps_is_several_answers(tmp_path: Path) -> None:
    start = {"type": "step-start"}
    answer = opencode_answer([start, text("One."), start, text("Two.")])
    [recording] = read(tmp_path, [{"info": {}, "messages": [opencode_prompt(text("Go.")), answer]}])
    assert [each["content"] for each in recording.messages] == ["Go.", "One.", "Two."]


def test_an_opencode_compaction_starts_a_context_with_its_summary(tmp_path: Path) -> None:
    [session] = SAMPLES["opencode"]
    messages = [
        *session["messages"],
        opencode_prompt({"type": "compaction", "auto": True}),
        opencode_answer([text("Summary.")], summary=True),
        opencode_prompt(text("Go on.")),
        opencode_answer([text("Yes.")]),
    ]
    first, second = read(tmp_path, [{**session, "messages": messages}])
    assert first.messages[-1]["content"] == "Summary."
    assert [each["content"] for each in second.messages[1:]] == ["Summary.", "Go on.", "Yes."]
    assert list(second.usage) == [1]


def test_blocks_of_one_exported_answer_are_one_message(tmp_path: Path) -> None:
    main, _ = read(tmp_path, SAMPLES["messages-meta"])
    calls = [chat_call("c1", "Read", {}), chat_call("c2", "Read", {})]
    assert main.messages == [
        {"role": "user", "content": "Look."},
        {"role": "assistant", "content": "Reading.", "tool_calls": calls},
        *(chat_result("c1", "one"), chat_result("c2", "two\nlines")),
        {"role": "assistant", "content": "Done."},
    ]
    assert main.usage == {0: Usage(3, 100, 0, 40), 1: Usage(5, 900, 0, 20)}
    assert main.system_prompt == "Be brief."


def test_an_export_without_figures_keeps_its_answers(tmp_path: Path) -> None:
    records = copy.deepcopy(SAMPLES["messages-meta"])
    records[0]["meta"]["token_counts"] = [billed(time, 0, 0, 0) for time in (2, 3, 5, 7)]
    main, _ = read(tmp_path, records)
    assert main.messages[-1]["content"] == "Done.\nAPI Error: 403"
    assert main.usage == {}


def test_exported_sub_agents_are_conversations_of_their_own(tmp_path: Path) -> None:
    _, agent = read(tmp_path, SAMPLES["messages-meta"])
    assert agent.name == "recording#agent-7f"
    assert [each["role"] for each in agent.messages] == ["user", "assistant", "tool"]


def test_an_exported_copy_of_the_main_conversation_is_left_out(tmp_path: Path) -> None:
    records = copy.deepcopy(SAMPLES["messages-meta"])
    for message in records[0]["messages"]:
        if message["role"] == AGENT:
            message["tool_calls"] = [chat_call("c1", "Read", {})] * ("tool_calls" in message)
    assert len(read(tmp_path, records)) == 1


def test_cached_tokens_inside_the_exported_input_are_counted_once(tmp_path: Path) -> None:
    records = copy.deepcopy(SAMPLES["messages-meta"])
    records[0]["meta"]["token_counts"] = [billed(2, 130, 100, 1), billed(7, 950, 900, 20)]
    assert read(tmp_path, records)[0].usage[0] == Usage(30, 100, 0, 1)


def test_a_summary_starts_a_context_of_an_export(tmp_path: Path) -> None:
    records = copy.deepcopy(SAMPLES["messages-meta"])
    summary = "This session is being continued from a previous conversation that ran out."
    records[0]["messages"] += [
        exported("user", 20, text(summary)),
        exported("assistant", 21, text("Going on.")),
    ]
    assert [len(each.messages) for each in read(tmp_path, records)] == [5, 2, 3]


def test_cline_results_become_results_of_their_calls(tmp_path: Path) -> None:
    [recording] = read(tmp_path, SAMPLES["cline"])
    first, second = recording.messages[2]["content"], recording.messages[4]["content"]
    results = [(each["tool_use_id"], each["content"]) for each in first[:3]]
    assert results == [("c1", "a.py"), ("c2", "x = 1"), ("c3", "All found.")]
    assert first[3] == second[1] == SURROUNDINGS
    assert (second[0]["tool_use_id"], second[0]["content"]) == ("c4", "a")
    assert recording.usage == {0: Usage(90, 10, 0, 7)}
    assert (recording.format, recording.model, recording.unanswered) == ("cline", "m", 0)


def test_requests_of_cline_that_left_messages_out_are_named(tmp_path: Path) -> None:
    records = copy.deepcopy(SAMPLES["cline"])
    records[3]["metrics"] = {"tokens": {"prompt": 70, "completion": 7}}
    [recording] = read(tmp_path, records)
    assert recording.cut == (
        "call 1: older messages were not sent, the file does not record which",
    )


def test_contents_that_pi_moved_out_of_the_file_are_named(tmp_path: Path) -> None:
    records = copy.deepcopy(SAMPLES["pi"])
    evicted = "[Compacted history content evicted to durable cold storage]"
    records[3]["message"]["content"] = [text(evicted)]
    first, second = read(tmp_path, records)
    assert first.cut == ("entry 3: the recording program moved content out of the file",)
    assert second.cut == ()


def test_xml_calls_of_roo_become_calls_with_arguments(tmp_path: Path) -> None:
    [recording] = read(tmp_path, SAMPLES["roo"])
    said, call = recording.messages[1]["content"]
    assert said == text("Writing.")
    assert (call["name"], call["input"]) == (
        "write_to_file",
        {"path": "a.py", "content": "x = '</content>'"},
    )
    result, surroundings = recording.messages[2]["content"]
    assert (result["tool_use_id"], result["content"]) == (call["id"], "Saved.")
    assert surroundings == SURROUNDINGS


def test_openhands_responses_and_observations_are_paired(tmp_path: Path) -> None:
    first, _ = read(tmp_path, SAMPLES["openhands"])
    assert first.messages == [
        {"role": "user", "content": "Look."},
        {"role": "user", "content": "Use git."},
        {"role": "assistant", "content": "Running.", "tool_calls": PAIR},
        chat_result("t1", "a.py\n[exit code 0]"),
        chat_result("t2", "/src\n[exit code 0]"),
    ]
    assert first.usage == {0: Usage(40, 60, 0, 9)}
    assert (first.model, first.system_prompt, len(first.tools)) == ("m", "Be brief.", 1)


def test_an_openhands_condensation_replaces_what_it_forgets(tmp_path: Path) -> None:
    _, second = read(tmp_path, SAMPLES["openhands"])
    assert [each["content"] for each in second.messages] == [
        *("Look.", "Use git.", "Two commands ran.", "Now.", "x = 1", "Done.")
    ]
    assert (second.orphans, second.unanswered) == (0, 0)


def test_openhands_conversations_of_version_one_are_read_with_their_state(tmp_path: Path) -> None:
    folder = tmp_path / "5fe1"
    (folder / "events").mkdir(parents=True)
    (folder / "base_state.json").write_text(json.dumps(OPENHANDS_STATE))
    for number, event in enumerate(SAMPLES["openhands-sdk"]):
        (folder / "events" / f"event-{number:05}-{event['id']}.json").write_text(json.dumps(event))
    [path] = find_files([tmp_path])
    [recording] = read_file(path)
    calls = [chat_call(each, "terminal", {"command": "ls"}) for each in ("t1", "t2")]
    assert recording.messages == [
        {"role": "user", "content": "Look."},
        {"role": "assistant", "content": "Hm.", "tool_calls": calls},
        chat_result("t1", "a.py\n[exit code 0]"),
        chat_result("t2", "No such tool."),
        {"role": "assistant", "content": "One file."},
    ]
    assert recording.usage == {0: Usage(100, 0, 0, 7), 1: Usage(40, 60, 0, 7)}
    assert (recording.name, recording.model) == ("5fe1", "gpt-4o")
    assert recording.system_prompt == "Be brief."


def test_openhands_condensations_and_ways_back_start_a_context(tmp_path: Path) -> None:
    condensation = openhands_event(
        *("9", "8", "Condensation"),
        forgotten_event_ids=["3", "4", "5", "6"],
        summary="One file was listed.",
        summary_offset=2,
    )
    more = openhands_said("10", "9", "user", "And now?")
    answer = openhands_said("11", "10", "assistant", "Nothing.", llm_response_id="r3")
    again = openhands_said("12", "10", "assistant", "All done.", llm_response_id="r4")
    first, second, third = read(
        tmp_path, [*SAMPLES["openhands-sdk"], condensation, more, answer, again]
    )
    said = [message["content"] for message in second.messages]
    assert len(first.messages) == 5
    assert said == ["Look.", "One file was listed.", "One file.", "And now?", "Nothing."]
    assert [message["content"] for message in third.messages] == [*said[:4], "All done."]


def test_antigravity_results_answer_calls_in_order(tmp_path: Path) -> None:
    first, _ = read(tmp_path, SAMPLES["antigravity"])
    _, answer, *results, notice, _, _ = first.messages
    assert [each["content"] for each in results] == ["x = 1", "No such file"]
    arguments = json.loads(answer["tool_calls"][0]["function"]["arguments"])
    assert arguments == {"Path": "a.py", "Cut": '"x = '}
    assert notice == {"role": "user", "content": "A task has ended."}
    assert first.cut == (
        "step 3: the recording program cut content",
        "step 5 to 7: left out by the recording program",
    )


def test_an_antigravity_checkpoint_starts_a_context(tmp_path: Path) -> None:
    _, second = read(tmp_path, SAMPLES["antigravity"])
    assert [each["content"] for each in second.messages] == [
        *("Earlier: a file was read.", "And now?", "Nothing.")
    ]


def test_events_of_managed_agents_become_answers_with_usage(tmp_path: Path) -> None:
    main, thread = read(tmp_path, SAMPLES["managed-agents"])
    task, answer, results, done = main.messages
    assert task["content"] == "Look.\n\nIt is found."
    assert [each["type"] for each in answer["content"]] == ["text", "tool_use", "tool_use"]
    search, failed = results["content"]
    assert search["content"] == [text("T\nhttps://t\nfound")]
    assert (failed["tool_use_id"], failed["is_error"]) == ("t2", True)
    assert done["content"] == [text("Done.")]
    assert main.usage == {0: Usage(2, 90, 30, 7), 1: Usage(2, 90, 0, 7)}
    assert thread.messages[0]["content"] == [text("Elsewhere.")]


JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**4000), 10**4000),
    st.floats(),
    st.text(max_size=5),
    st.lists(st.none() | st.integers() | st.text(max_size=3), max_size=3),
    st.dictionaries(st.sampled_from(["id", "type", "text"]), st.none() | st.integers(), max_size=2),
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path of everything inside a JSON value."""
    found: list[tuple[Any, ...]] = []
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            found += [(*path, key), *places(item, (*path, key))]
    return found


@pytest.mark.parametrize("name", sorted(SAMPLES))
@given(data=st.data())
def test_a_damaged_recording_is_mended_or_refused(name: str, data: st.DataObject) -> None:
    records = copy.deepcopy(SAMPLES[name])
    for _ in range(data.draw(st.integers(1, 4))):
        if not (found := places(records)):
            break
        *path, last = data.draw(st.sampled_from(found))
        owner: Any = records
        for key in path:
            owner = owner[key]
        if data.draw(st.booleans()):
            del owner[last]
        else:
            owner[last] = data.draw(JUNK)
    records = as_records(records)
    try:
        document = JsonDocument("sample", records, "JSON")
        recordings = make_recordings(document.path, *formats.read(document))
    except RecordingError:
        return
    for recording in recordings:
        assert unpaired(Script(recording).messages) == []


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_torn_file_is_read_up_to_the_tear_or_refused(tmp_path: Path, name: str) -> None:
    lines = "\n".join(map(json.dumps, SAMPLES[name]))
    path = tmp_path / "torn.jsonl"
    for end in range(1, len(lines), 37):
        path.write_text(lines[:end])
        with contextlib.suppress(RecordingError):
            assert all(recording.messages for recording in read_file(path))
