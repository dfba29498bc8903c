"""The logs of agents become conversations whose calls have their results, whatever is broken."""

from __future__ import annotations

import contextlib
import copy
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippocampus.errors import RecordingError
from hippocampus.formats.usage import Usage
from hippocampus.replay.measure import prepare, unpaired
from hippocampus.replay.readers import find_files, formats, read_file
from hippocampus.replay.readers.documents import JsonDocument
from hippocampus.replay.readers.make_recordings import make_recordings
from hippocampus.replay.readers.pairing import NO_RESULT
from hippocampus.replay.readers.values import as_records
from hippocampus.replay.recording import Recording

Record = dict[str, Any]


def text(content: str) -> Record:
    return {"type": "text", "text": content}


def chat_call(call_id: str, name: str, arguments: Any) -> Record:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"id": call_id, "type": "function", "function": function}


def chat_result(call_id: str, content: Any) -> Record:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def opencode_tool(call_id: str, state: Record) -> Record:
    return {"type": "tool", "callID": call_id, "tool": "read", "state": state}


def opencode_answer(parts: list[Record], **info: Any) -> Record:
    tokens = {"total": 190, "input": 2, "output": 30, "cache": {"read": 150, "write": 8}}
    return {"info": {"role": "assistant", "modelID": "m", "tokens": tokens, **info}, "parts": parts}


def opencode_prompt(*parts: Record) -> Record:
    return {"info": {"role": "user"}, "parts": list(parts)}


READ = {"filePath": "a.py"}
OPENCODE = [
    {
        "info": {"id": "ses_1", "version": "1"},
        "messages": [
            opencode_prompt(text("Look."), {**text("<hidden>"), "ignored": True}),
            opencode_answer(
                [
                    {"type": "step-start"},
                    {"type": "reasoning", "text": "Hm."},
                    text("Reading."),
                    opencode_tool("c1", {"status": "completed", "input": READ, "output": "x = 1"}),
                    opencode_tool("c2", {"status": "error", "input": READ, "error": "not found"}),
                    opencode_tool("c3", {"status": "running", "input": READ}),
                    {"type": "step-finish"},
                ]
            ),
            opencode_answer([text("Done.")]),
        ],
    }
]


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
MESSAGES_META = [
    {
        "messages": [
            exported("user", 1, text("Look.")),
            exported("assistant", 2, text("Reading.")),
            exported_call(3, "c1"),
            exported_result(4, "c1", "one"),
            *SUBAGENT,
            exported_call(5, "c2"),
            exported_result(6, "c2", [text("two"), text("lines")]),
            exported("assistant", 7, text("Done.")),
            exported("assistant", 8, text("API Error: 403")),
        ],
        "meta": {
            "session_meta": {"base_instructions": {"text": "Be brief."}},
            "token_counts": [
                *(billed(2, 3, 100, 1), billed(3, 3, 100, 1), billed(5, 3, 100, 40)),
                *(billed(7, 5, 900, 20), billed(8, 0, 0, 0)),
            ],
        },
    }
]

SURROUNDINGS = text("<environment_details>\n# Time\n</environment_details>")


def cline_call(call_id: str, name: str) -> Record:
    return {"type": "tool_use", "id": call_id, "call_id": call_id, "name": name, "input": {}}


CLINE = [
    {"role": "user", "content": [text("<task>Look.</task>"), SURROUNDINGS]},
    {
        "role": "assistant",
        "content": [
            text("Reading."),
            cline_call("c1", "list_files"),
            cline_call("c2", "read_file"),
            cline_call("c3", "use_subagents"),
        ],
        "metrics": {"tokens": {"prompt": 90, "completion": 7, "cached": 10}},
        "modelInfo": {"modelId": "m"},
    },
    {
        "role": "user",
        "content": [
            text("[list_files for '.'] Result:\na.py"),
            text("[subagents] Result:\nAll found."),
            text("[read_file for 'a.py'] Result:\nx = 1"),
            SURROUNDINGS,
        ],
    },
    {"role": "assistant", "content": [cline_call("c4", "ask_followup_question")]},
    {
        "role": "user",
        "content": [
            text("[ask_followup_question for 'Which?\n- a\n- b'] Result:\na"),
            SURROUNDINGS,
        ],
    },
    {"role": "assistant", "content": [text("Done.")]},
]
WRITE = (
    "<write_to_file>\n<path>a.py</path>\n<content>\nx = '</content>'\n</content>\n</write_to_file>"
)
ROO = [
    {"role": "user", "content": "<task>Write.</task>"},
    {"role": "assistant", "content": [text(f"Writing.\n{WRITE}")]},
    {
        "role": "user",
        "content": [text("[write_to_file for 'a.py'] Result:"), text("Saved."), SURROUNDINGS],
    },
    {"role": "assistant", "content": "Done."},
]


def openhands_call(event: int, call_id: str, response: str, calls: list[Record]) -> Record:
    message = {"role": "assistant", "content": "Running.", "tool_calls": calls}
    usage = {"prompt_tokens": 100, "completion_tokens": 9}
    usage |= {"prompt_tokens_details": {"cached_tokens": 60}}
    answer = {"id": response, "model": "host/m", "choices": [{"message": message}], "usage": usage}
    metadata = {"tool_call_id": call_id, "function_name": "run", "model_response": answer}
    run = {"command": "ls", "thought": "Running."}
    return {
        "id": event,
        "source": "agent",
        "action": "run",
        "args": run,
        "tool_call_metadata": metadata,
    }


def openhands_result(event: int, cause: int, call_id: str, content: str) -> Record:
    return {
        "id": event,
        "source": "agent",
        "observation": "run",
        "cause": cause,
        "content": content,
        "tool_call_metadata": {"tool_call_id": call_id},
        "extras": {"metadata": {"prefix": "", "suffix": "\n[exit code 0]"}},
    }


PAIR = [chat_call("t1", "run", {"command": "ls"}), chat_call("t2", "run", {"command": "pwd"})]
OPENHANDS = [
    {
        "id": 0,
        "source": "agent",
        "action": "system",
        "args": {"content": "Be brief.", "tools": [{"type": "function"}]},
    },
    {"id": 1, "source": "user", "action": "message", "args": {"content": "Look."}},
    {
        "id": 2,
        "source": "environment",
        "observation": "recall",
        "content": "Added",
        "extras": {"microagent_knowledge": [{"content": "Use git."}]},
    },
    openhands_call(3, "t1", "r1", PAIR),
    openhands_call(4, "t2", "r1", PAIR),
    openhands_result(5, 3, "t1", "a.py"),
    openhands_result(6, 4, "t2", "/src"),
    {
        "id": 7,
        "source": "agent",
        "action": "condensation",
        "args": {
            "forgotten_events_start_id": 3,
            "forgotten_events_end_id": 6,
            "summary": "Two commands ran.",
        },
    },
    {"id": 8, "source": "agent", "action": "read", "args": {"path": "a.py", "thought": "Now."}},
    {"id": 9, "source": "agent", "observation": "read", "cause": 8, "content": "x = 1"},
    {"id": 10, "source": "agent", "action": "finish", "args": {"final_thought": "Done."}},
]


def openhands_event(own: str, parent: str, kind: str, **fields: Any) -> Record:
    event = {"id": own, "parent_id": parent, "timestamp": "2026-11-24T00:00:00", "kind": kind}
    return {**event, **fields}


def openhands_said(own: str, parent: str, role: str, words: str, **fields: Any) -> Record:
    message = {"role": role, "content": [text(words)], "thinking_blocks": []}
    return openhands_event(own, parent, "MessageEvent", llm_message=message, **fields)


def openhands_action(own: str, parent: str, call_id: str, *thought: str) -> Record:
    call = {"id": call_id, "name": "terminal", "arguments": '{"command": "ls"}'}
    fields = {"thought": [text(each) for each in thought], "llm_response_id": "r1"}
    return openhands_event(own, parent, "ActionEvent", tool_call=call, **fields)


def openhands_usage(response: str, cached: int) -> Record:
    counts = {"prompt_tokens": 100, "completion_tokens": 7, "cache_read_tokens": cached}
    return {"model": "openai/gpt-4o", "response_id": response, **counts}


OPENHANDS_OUTPUT = {
    "content": [text("a.py")],
    "metadata": {"prefix": "", "suffix": "\n[exit code 0]"},
    "kind": "TerminalObservation",
}
OPENHANDS_STATE = {
    "stats": {
        "usage_to_metrics": {
            "agent": {"token_usages": [openhands_usage("r1", 0), openhands_usage("r2", 60)]}
        }
    }
}
OPENHANDS_SDK = [
    openhands_event("1", "", "SystemPromptEvent", system_prompt=text("Be brief.")),
    openhands_said("2", "1", "user", "Look."),
    openhands_action("3", "2", "t1", "Hm."),
    openhands_action("4", "3", "t2"),
    openhands_event("5", "4", "ObservationEvent", tool_call_id="t1", observation=OPENHANDS_OUTPUT),
    openhands_event("6", "5", "AgentErrorEvent", tool_call_id="t2", error="No such tool."),
    openhands_event("7", "6", "ConversationStateUpdateEvent", key="stats", value={}),
    openhands_said("8", "7", "assistant", "One file.", llm_response_id="r2"),
]


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


def planned(*names: str) -> list[Record]:
    return [{"name": name, "args": {"Path": '"a.py"', "Cut": '"x = '}} for name in names]


ANTIGRAVITY = [
    step(0, "USER_INPUT", "Look."),
    step(1, "EPHEMERAL_MESSAGE", "Remember to be brief."),
    step(2, "PLANNER_RESPONSE", "", tool_calls=planned("view_file", "view_file")),
    step(3, "VIEW_FILE", "x = 1", truncated_fields=["content"]),
    step(4, "ERROR_MESSAGE", "No such file"),
    step(8, "SYSTEM_MESSAGE", "A task has ended."),
    step(9, "PLANNER_RESPONSE", "Done."),
    step(10, "USER_INPUT", "And now?"),
    step(11, "CHECKPOINT", "Earlier: a file was read."),
    step(12, "PLANNER_RESPONSE", "Nothing."),
]


def event(kind: str, **fields: Any) -> Record:
    raw = {"type": kind, "id": f"id-{kind}", **fields}
    return {"role": "agent", "kind": kind.partition(".")[2], "time": "now", "raw": raw}


TOKENS = {"input_tokens": 2, "cache_read_input_tokens": 90, "output_tokens": 7}
PAGE = {"type": "search_result", "title": "T", "source": "https://t", "content": [text("found")]}
MANAGED_AGENTS = [
    event("session.status_running"),
    event("user.define_outcome", description="Look.", rubric={"content": "It is found."}),
    event("span.model_request_start"),
    event("agent.thinking"),
    event("agent.message", content=[text("Searching.")]),
    event("agent.tool_use", id="t1", name="web_search", input={"query": "it"}),
    event("agent.tool_use", id="t2", name="bash", input={"command": "ls"}),
    event("span.model_request_end", model_usage={**TOKENS, "cache_creation_input_tokens": 30}),
    event("agent.tool_result", tool_use_id="t2", content=[text("no")], is_error=True),
    event("agent.tool_result", tool_use_id="t1", content=[PAGE], is_error=False),
    event("agent.message", content=[text("Elsewhere.")], session_thread_id="t2"),
    event("agent.message", content=[text("Done.")]),
    event("span.model_request_end", model_usage=TOKENS),
]

ANTHROPIC = [
    {"role": "user", "content": "Look."},
    {
        "role": "assistant",
        "content": [text("Reading."), {"type": "tool_use", "id": "c1", "name": "ls", "input": {}}],
    },
    {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "c1", "content": [text("a.py")]}],
    },
    {"role": "assistant", "content": [text("Done.")]},
]
CHAT = [
    {"role": "user", "content": "Look."},
    {"role": "assistant", "content": None, "tool_calls": [chat_call("c1", "ls", {})]},
    chat_result("c1", "a.py"),
    {"role": "assistant", "content": "Done."},
]
RESPONSES = [
    {"role": "user", "content": [{"type": "input_text", "text": "Look."}]},
    {"type": "function_call", "call_id": "c1", "name": "ls", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "c1", "output": "a.py"},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Ok."}]},
]
PI = [
    {"type": "session", "id": "s", "cwd": "/src", "timestamp": "now"},
    {"type": "message", "id": "1", "message": {"role": "user", "content": "Look."}},
    {
        "type": "message",
        "id": "2",
        "parentId": "1",
        "message": {
            "role": "assistant",
            "stopReason": "toolUse",
            "usage": {"input": 3, "cacheRead": 9},
            "content": [{"type": "toolCall", "id": "c1", "name": "ls", "arguments": {}}],
        },
    },
    {
        "type": "message",
        "id": "3",
        "parentId": "2",
        "message": {"role": "toolResult", "toolCallId": "c1", "content": [text("a.py")]},
    },
    {"type": "custom_message", "id": "4", "parentId": "3", "content": "<tree>"},
    {"type": "compaction", "id": "5", "parentId": "4", "summary": "S", "firstKeptEntryId": "2"},
    {
        "type": "message",
        "id": "6",
        "parentId": "5",
        "message": {"role": "assistant", "stopReason": "stop", "content": [text("Done.")]},
    },
]
CLAUDE_CODE = [
    {"sessionId": "s", "uuid": str(number), "parentUuid": str(number - 1), **line}
    for number, line in enumerate(
        [
            {"type": "user", "message": {"role": "user", "content": "Look."}},
            {
                "type": "assistant",
                "message": {**ANTHROPIC[1], "id": "m1", "usage": {"input_tokens": 3}},
            },
            {"type": "user", "message": ANTHROPIC[2]},
            {"type": "attachment", "attachment": {"type": "queued_command", "prompt": "And b?"}},
            {"type": "user", "isSidechain": True, "message": {"role": "user", "content": "Go."}},
            {"type": "assistant", "message": {**ANTHROPIC[3], "id": "m2"}},
        ]
    )
]
CODEX = [
    {"type": "session_meta", "payload": {"base_instructions": {"text": "Be brief."}}},
    *({"type": "response_item", "payload": item} for item in RESPONSES),
    {
        "type": "event_msg",
        "payload": {
            "type": "token_count",
            "info": {"last_token_usage": {"input_tokens": 9, "cached_input_tokens": 3}},
        },
    },
    {"type": "compacted", "payload": {"message": "S", "replacement_history": RESPONSES[:1]}},
    {"type": "response_item", "payload": RESPONSES[3]},
]
GEMINI_CHAT = [
    {"id": "1", "type": "user", "content": [{"text": "Look."}]},
    {
        "id": "2",
        "type": "gemini",
        "content": "",
        "tokens": {"input": 9, "cached": 3},
        "toolCalls": [
            {
                "id": "c1",
                "name": "ls",
                "args": {},
                "result": [{"functionResponse": {"response": {"output": "a.py"}}}],
            }
        ],
    },
    {"$rewindTo": "2"},
    {"id": "3", "type": "gemini", "content": "Done."},
]
GEMINI_STREAM = [
    {"type": "init", "session_id": "s", "model": "m"},
    {"type": "message", "role": "user", "content": "Look."},
    {"type": "tool_use", "tool_id": "c1", "tool_name": "ls", "parameters": {}},
    {"type": "tool_result", "tool_id": "c1", "output": "a.py"},
    {"type": "message", "role": "assistant", "content": "Done."},
]
LANGGRAPH = [
    {
        "values": {
            "messages": [
                {"type": "human", "content": [text("Look.")]},
                {
                    "type": "ai",
                    "content": "",
                    "tool_calls": [{"id": "c1", "name": "ls", "args": {}}],
                },
                {"type": "tool", "tool_call_id": "c1", "content": "a.py"},
                {"type": "ai", "content": "Done.", "usage_metadata": {"input_tokens": 9}},
            ]
        }
    }
]
SWE_AGENT = [
    {
        "trajectory": [],
        "replay_config": "{}",
        "history": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Look."},
            {"role": "assistant", "content": "Now.\n```\nls\n```", "action": "ls"},
            {"role": "user", "content": "a.py"},
            {**CHAT[1], "action": "ls"},
            {"role": "tool", "content": "a.py", "tool_call_ids": ["c1"]},
        ],
    }
]
MINI_SWE_AGENT = [
    {
        "trajectory_format": "mini-swe-agent-1",
        "info": {"submission": "", "mini_version": "1.15.0"},
        "messages": [
            {"role": "user", "content": "Look."},
            {
                "role": "assistant",
                "content": "Now.\n```bash\nls\n```",
                "extra": {"response": {"model": "m", "usage": {"prompt_tokens": 9, "cost": 0.01}}},
            },
            {"role": "user", "content": "<returncode>0</returncode>\n<output>\na.py\n</output>"},
        ],
    }
]
INSPECT = [
    {
        "eval": {"model": "host/m"},
        "samples": [
            {
                "id": 1,
                "epoch": 1,
                "attachments": {"x": "a.py"},
                "messages": [
                    {"role": "user", "content": "Look."},
                    {
                        "id": "m1",
                        "role": "assistant",
                        "content": [text("Now.")],
                        "tool_calls": [{"id": "c1", "function": "ls", "arguments": {}}],
                    },
                    {"role": "tool", "tool_call_id": "c1", "content": "attachment://x"},
                ],
                "events": [
                    {
                        "output": {
                            "usage": {"input_tokens": 9},
                            "choices": [{"message": {"id": "m1"}}],
                        }
                    }
                ],
            }
        ],
    }
]
QWEN_CODE = [
    {
        "uuid": "1",
        "parentUuid": None,
        "sessionId": "s",
        "type": "user",
        "message": {"role": "user", "parts": [{"text": "Look."}]},
    },
    {
        "uuid": "2",
        "parentUuid": "1",
        "sessionId": "s",
        "type": "assistant",
        "model": "m",
        "message": {
            "role": "model",
            "parts": [{"functionCall": {"id": "c1", "name": "ls", "args": {"path": "."}}}],
        },
        "usageMetadata": {"promptTokenCount": 9, "totalTokenCount": 11},
    },
    {
        "uuid": "3",
        "parentUuid": "2",
        "sessionId": "s",
        "type": "tool_result",
        "message": {
            "role": "user",
            "parts": [{"functionResponse": {"id": "c1", "response": {"output": "a.py"}}}],
        },
    },
]
OTEL = [
    {
        "resourceSpans": [
            {
                "scopeSpans": [
                    {
                        "spans": [
                            {
                                "startTimeUnixNano": "1",
                                "attributes": {
                                    "gen_ai.input.messages": json.dumps(CHAT[:3]),
                                    "gen_ai.output.messages": json.dumps(CHAT[3:]),
                                    "gen_ai.usage.input_tokens": 9,
                                    "llm.tools.0.tool.json_schema": '{"name": "ls"}',
                                },
                            }
                        ]
                    }
                ]
            }
        ]
    }
]

SAMPLES = {
    "opencode": OPENCODE,
    "messages-meta": MESSAGES_META,
    "cline": CLINE,
    "roo": ROO,
    "openhands": OPENHANDS,
    "openhands-sdk": OPENHANDS_SDK,
    "antigravity": ANTIGRAVITY,
    "managed-agents": MANAGED_AGENTS,
    "pi": PI,
    "claude-code": CLAUDE_CODE,
    "codex": CODEX,
    "gemini-chat": GEMINI_CHAT,
    "gemini-stream": GEMINI_STREAM,
    "langgraph": LANGGRAPH,
    "swe-agent": SWE_AGENT,
    "mini-swe-agent": MINI_SWE_AGENT,
    "qwen-code": QWEN_CODE,
    "inspect-ai": INSPECT,
    "otel": OTEL,
}
LISTS = {"anthropic": ANTHROPIC, "openai-chat": CHAT, "openai-responses": RESPONSES}


def read(tmp_path: Path, records: list[Record]) -> list[Recording]:
    path = tmp_path / "recording"
    path.write_text(json.dumps(records))
    return read_file(path)


@pytest.mark.parametrize("name", SAMPLES)
def test_each_format_is_recognised_by_its_own_reader_alone(name: str) -> None:
    records = as_records(SAMPLES[name])
    recognised = [each.NAME for each in formats.READERS if each.recognises(records)]
    assert recognised == ["cline" if name == "roo" else name]


def test_opencode_steps_become_answers_with_results_and_usage(tmp_path: Path) -> None:
    [recording] = read(tmp_path, OPENCODE)
    calls = [chat_call(each, "read", READ) for each in ("c1", "c2", "c3")]
    assert recording.messages == [
        {"role": "user", "content": "Look."},
        {"role": "assistant", "content": "Reading.", "tool_calls": calls},
        *(chat_result("c1", "x = 1"), chat_result("c2", "not found"), chat_result("c3", NO_RESULT)),
        {"role": "assistant", "content": "Done."},
    ]
    assert recording.usage == {0: Usage(2, 150, 8, 30), 1: Usage(2, 150, 8, 30)}
    assert (recording.model, recording.unanswered) == ("m", 1)


def test_a_database_of_opencode_has_what_it_exports(tmp_path: Path) -> None:
    [exported] = OPENCODE
    path = tmp_path / "opencode.db"
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE session (id, parent_id, time_created)")
        db.execute("CREATE TABLE message (id, session_id, time_created, data)")
        db.execute("CREATE TABLE part (id, message_id, session_id, data)")
        db.execute("INSERT INTO session VALUES ('s', NULL, 1)")
        for at, message in enumerate(exported["messages"]):
            row = (f"m{at}", "s", at, json.dumps(message["info"]))
            db.execute("INSERT INTO message VALUES (?, ?, ?, ?)", row)
            for number, part in enumerate(message["parts"]):
                row = (f"p{at}{number}", f"m{at}", "s", json.dumps(part))
                db.execute("INSERT INTO part VALUES (?, ?, ?, ?)", row)
    [stored], [read_back] = read_file(path), read(tmp_path, OPENCODE)
    assert stored.format == "opencode"
    assert (stored.messages, stored.usage) == (read_back.messages, read_back.usage)


@pytest.mark.parametrize("damage", [False, True])
def test_another_database_is_refused_with_the_reason(tmp_path: Path, damage: bool) -> None:
    path = tmp_path / "other.db"
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE a (b)")
    if damage:
        path.write_bytes(path.read_bytes()[:100] + b"x" * 900)
    with pytest.raises(RecordingError, match=r"no database of opencode|cannot be read"):
        read_file(path)


def test_an_opencode_message_of_several_steps_is_several_answers(tmp_path: Path) -> None:
    start = {"type": "step-start"}
    answer = opencode_answer([start, text("One."), start, text("Two.")])
    [recording] = read(tmp_path, [{"info": {}, "messages": [opencode_prompt(text("Go.")), answer]}])
    assert [each["content"] for each in recording.messages] == ["Go.", "One.", "Two."]


def test_an_opencode_compaction_starts_a_context_with_its_summary(tmp_path: Path) -> None:
    [session] = OPENCODE
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
    main, _ = read(tmp_path, MESSAGES_META)
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
    records = copy.deepcopy(MESSAGES_META)
    records[0]["meta"]["token_counts"] = [billed(time, 0, 0, 0) for time in (2, 3, 5, 7)]
    main, _ = read(tmp_path, records)
    assert main.messages[-1]["content"] == "Done.\nAPI Error: 403"
    assert main.usage == {}


def test_exported_sub_agents_are_conversations_of_their_own(tmp_path: Path) -> None:
    _, agent = read(tmp_path, MESSAGES_META)
    assert agent.name == "recording#agent-7f"
    assert [each["role"] for each in agent.messages] == ["user", "assistant", "tool"]


def test_an_exported_copy_of_the_main_conversation_is_left_out(tmp_path: Path) -> None:
    records = copy.deepcopy(MESSAGES_META)
    for message in records[0]["messages"]:
        if message["role"] == AGENT:
            message["tool_calls"] = [chat_call("c1", "Read", {})] * ("tool_calls" in message)
    assert len(read(tmp_path, records)) == 1


def test_cached_tokens_inside_the_exported_input_are_counted_once(tmp_path: Path) -> None:
    records = copy.deepcopy(MESSAGES_META)
    records[0]["meta"]["token_counts"] = [billed(2, 130, 100, 1), billed(7, 950, 900, 20)]
    assert read(tmp_path, records)[0].usage[0] == Usage(30, 100, 0, 1)


def test_a_summary_starts_a_context_of_an_export(tmp_path: Path) -> None:
    records = copy.deepcopy(MESSAGES_META)
    summary = "This session is being continued from a previous conversation that ran out."
    records[0]["messages"] += [
        exported("user", 20, text(summary)),
        exported("assistant", 21, text("Going on.")),
    ]
    assert [len(each.messages) for each in read(tmp_path, records)] == [5, 2, 3]


def test_cline_results_become_results_of_their_calls(tmp_path: Path) -> None:
    [recording] = read(tmp_path, CLINE)
    first, second = recording.messages[2]["content"], recording.messages[4]["content"]
    results = [(each["tool_use_id"], each["content"]) for each in first[:3]]
    assert results == [("c1", "a.py"), ("c2", "x = 1"), ("c3", "All found.")]
    assert first[3] == second[1] == SURROUNDINGS
    assert (second[0]["tool_use_id"], second[0]["content"]) == ("c4", "a")
    assert recording.usage == {0: Usage(90, 10, 0, 7)}
    assert (recording.format, recording.model, recording.unanswered) == ("cline", "m", 0)


def test_requests_of_cline_that_left_messages_out_are_named(tmp_path: Path) -> None:
    records = copy.deepcopy(CLINE)
    records[3]["metrics"] = {"tokens": {"prompt": 70, "completion": 7}}
    [recording] = read(tmp_path, records)
    assert recording.cut == (
        "call 1: older messages were not sent, the file does not record which",
    )


def test_contents_that_pi_moved_out_of_the_file_are_named(tmp_path: Path) -> None:
    records = copy.deepcopy(PI)
    evicted = "[Compacted history content evicted to durable cold storage]"
    records[3]["message"]["content"] = [text(evicted)]
    first, second = read(tmp_path, records)
    assert first.cut == ("entry 3: the recording program moved content out of the file",)
    assert second.cut == ()


def test_xml_calls_of_roo_become_calls_with_arguments(tmp_path: Path) -> None:
    [recording] = read(tmp_path, ROO)
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
    first, _ = read(tmp_path, OPENHANDS)
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
    _, second = read(tmp_path, OPENHANDS)
    assert [each["content"] for each in second.messages] == [
        *("Look.", "Use git.", "Two commands ran.", "Now.", "x = 1", "Done.")
    ]
    assert (second.orphans, second.unanswered) == (0, 0)


def test_openhands_conversations_of_version_one_are_read_with_their_state(tmp_path: Path) -> None:
    folder = tmp_path / "5fe1"
    (folder / "events").mkdir(parents=True)
    (folder / "base_state.json").write_text(json.dumps(OPENHANDS_STATE))
    for number, event in enumerate(OPENHANDS_SDK):
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
    first, second, third = read(tmp_path, [*OPENHANDS_SDK, condensation, more, answer, again])
    said = [message["content"] for message in second.messages]
    assert len(first.messages) == 5
    assert said == ["Look.", "One file was listed.", "One file.", "And now?", "Nothing."]
    assert [message["content"] for message in third.messages] == [*said[:4], "All done."]


def test_antigravity_results_answer_calls_in_order(tmp_path: Path) -> None:
    first, _ = read(tmp_path, ANTIGRAVITY)
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
    _, second = read(tmp_path, ANTIGRAVITY)
    assert [each["content"] for each in second.messages] == [
        *("Earlier: a file was read.", "And now?", "Nothing.")
    ]


def test_events_of_managed_agents_become_answers_with_usage(tmp_path: Path) -> None:
    main, thread = read(tmp_path, MANAGED_AGENTS)
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


@pytest.mark.parametrize("name", [*SAMPLES, *LISTS])
@given(data=st.data())
def test_a_damaged_recording_is_mended_or_refused(name: str, data: st.DataObject) -> None:
    records = copy.deepcopy((SAMPLES | LISTS)[name])
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
        recordings = make_recordings(document, formats.read(document))
    except RecordingError:
        return
    for recording in recordings:
        assert unpaired(prepare(recording).messages) == []


@pytest.mark.parametrize("name", SAMPLES)
def test_a_torn_file_is_read_up_to_the_tear_or_refused(tmp_path: Path, name: str) -> None:
    lines = "\n".join(map(json.dumps, SAMPLES[name]))
    path = tmp_path / "torn.jsonl"
    for end in range(1, len(lines), 37):
        path.write_text(lines[:end])
        with contextlib.suppress(RecordingError):
            assert all(recording.messages for recording in read_file(path))
