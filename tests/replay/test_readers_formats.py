"""Each format of recorded sessions is recognised by its content and becomes a valid conversation."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any, ClassVar

import pytest

from hippocampus.errors import RecordingError
from hippocampus.formats.usage import Usage
from hippocampus.replay.readers import find_files, read_file
from hippocampus.replay.readers.pairing import NO_RESULT
from hippocampus.replay.recording import Recording
from hippocampus.storage import packing

Record = dict[str, Any]


@pytest.fixture
def save(tmp_path: Path) -> Any:
    def _save(value: Any, *, lines: bool = False) -> list[Recording]:
        records = "\n".join(map(json.dumps, value)) if lines else json.dumps(value)
        path = tmp_path / "recording"
        path.write_text(records)
        return read_file(path)

    return _save


def prompt(text: str) -> Record:
    return {"role": "user", "content": text}


def chat_call(call_id: str, name: str, arguments: Record) -> Record:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"id": call_id, "type": "function", "function": function}


def chat_result(call_id: str, content: Any) -> Record:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


LS = chat_call("c1", "ls", {"path": "."})
CALLING = {"role": "assistant", "content": None, "tool_calls": [LS]}
CHAT = [prompt("List."), CALLING, chat_result("c1", "a.txt"), {"role": "assistant", "content": "a"}]


class TestMessageLists:
    def test_chat_messages_pass_through_but_for_reasoning(self, save: Any) -> None:
        thought = {**CALLING, "reasoning_content": "Hm.", "vendor_field": 1}
        [recording] = save([CHAT[0], thought, *CHAT[2:]])
        assert recording.format == "openai-chat"
        assert recording.messages == [CHAT[0], {**CALLING, "vendor_field": 1}, *CHAT[2:]]

    def test_an_answer_that_says_nothing_is_left_out(self, save: Any) -> None:
        empty = [{"role": "assistant", "content": text} for text in (None, "", " \n", [])]
        assert save([*CHAT, *empty])[0].messages == CHAT

    def test_outdated_function_calls_become_tool_calls(self, save: Any) -> None:
        function = {"name": "ls", "arguments": "{}"}
        calling = {"role": "assistant", "content": None, "function_call": function}
        result = {"role": "function", "name": "ls", "content": "a.txt"}
        [recording] = save([CHAT[0], calling, result])
        [call] = recording.messages[1]["tool_calls"]
        assert call["function"] == function
        assert recording.messages[2]["tool_call_id"] == call["id"]
        assert (recording.unanswered, recording.orphans) == (0, 0)

    def test_anthropic_messages_pass_through_but_for_thinking(self, save: Any) -> None:
        use = {"type": "tool_use", "id": "t1", "name": "ls", "input": {}}
        thinking = {"type": "thinking", "thinking": "Hm.", "signature": "x"}
        result = {"type": "tool_result", "tool_use_id": "t1", "content": "a", "is_error": True}
        answer = {"role": "assistant", "content": [use], "id": "msg_1"}
        user = {"role": "user", "content": [result, {"type": "text", "text": "Well?"}]}
        [recording] = save([prompt("List."), {**answer, "content": [thinking, use]}, user])
        assert recording.format == "anthropic"
        assert recording.messages == [prompt("List."), answer, user]

    def test_responses_items_pass_through_but_for_reasoning(self, save: Any) -> None:
        call = {"type": "function_call", "call_id": "c1", "name": "ls", "arguments": "{}", "id": 1}
        output = {"type": "function_call_output", "call_id": "c1", "output": "a.txt"}
        reasoning = {"type": "reasoning", "summary": []}
        [recording] = save([prompt("List."), reasoning, call, output], lines=True)
        assert recording.format == "openai-responses"
        assert recording.messages == [prompt("List."), call, output]

    def test_a_request_body_is_read_as_its_message_list(self, save: Any) -> None:
        content = [{"type": "input_text", "text": "Hello."}]
        items = [{"role": "user", "content": content}, {"role": "assistant", "content": "Hi."}]
        [recording] = save({"model": "gpt-5", "input": items})
        assert (recording.format, recording.model) == ("openai-responses", "gpt-5")


class TestPi:
    HEADER: ClassVar[Record] = {
        "type": "session",
        "id": "s",
        "timestamp": "2025-11-20",
        "cwd": "/src",
    }

    @staticmethod
    def said(*blocks: Record, **fields: Any) -> Record:
        message = {"role": "assistant", "content": list(blocks), "stopReason": "stop", **fields}
        return {"type": "message", "message": message}

    @staticmethod
    def result(call_id: str, text: str, *, is_error: bool = False) -> Record:
        content = [{"type": "text", "text": text}]
        message = {"role": "toolResult", "toolCallId": call_id, "content": content}
        return {"type": "message", "message": {**message, "isError": is_error}}

    def test_results_in_a_row_are_one_message_and_usage_is_kept(self, save: Any) -> None:
        calls = [
            {"type": "toolCall", "id": each, "name": "read", "arguments": {"path": each}}
            for each in ("a", "b")
        ]
        usage = {"input": 3, "output": 191, "cacheRead": 10, "cacheWrite": 1684}
        [recording] = save(
            [
                self.HEADER,
                {"type": "message", "message": prompt("Read both.")},
                self.said(stopReason="aborted", usage={"input": 0}),
                self.said(*calls, usage=usage, model="claude-sonnet-4-5"),
                self.result("a", "A"),
                self.result("b", "B", is_error=True),
                {"type": "message", "message": prompt("And?")},
                self.said({"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "Ok."}),
            ],
            lines=True,
        )
        roles = [message["role"] for message in recording.messages]
        assert roles == ["user", "assistant", "user", "user", "assistant"]
        first, second = recording.messages[2]["content"]
        assert (first["tool_use_id"], second["is_error"]) == ("a", True)
        assert recording.messages[-1]["content"] == [{"type": "text", "text": "Ok."}]
        assert recording.usage == {0: Usage(3, 10, 1684, 191)}
        assert recording.model == "claude-sonnet-4-5"

    def test_custom_messages_and_branch_summaries_are_the_users(self, save: Any) -> None:
        tree = {"type": "custom_message", "content": "<tree>", "display": False}
        summary = {"type": "branch_summary", "summary": "Tried one way."}
        said = self.said({"type": "text", "text": "Ok."})
        [recording] = save([self.HEADER, tree, summary, said], lines=True)
        assert recording.messages[:2] == [prompt("<tree>"), prompt("Tried one way.")]

    def test_a_compaction_starts_a_context_with_its_summary(self, save: Any) -> None:
        said = self.said({"type": "text", "text": "Ok."})
        summary = {"type": "compaction", "summary": "We did much."}
        asked = {"type": "message", "message": prompt("Go.")}
        first, second = save([self.HEADER, asked, said, summary, said], lines=True)
        assert (first.name, second.name) == ("recording#1", "recording#2")
        assert second.messages[0] == prompt("We did much.")

    def test_a_branch_is_a_conversation_of_its_own(self, save: Any) -> None:
        def at(record: Record, own: str, parent: str) -> Record:
            return {**record, "id": own, "parentId": parent}

        go = {"type": "message", "message": prompt("Go.")}
        one, two = (self.said({"type": "text", "text": text}) for text in ("One.", "Two."))
        records = [at(go, "a", ""), at(one, "b", "a"), at(go, "c", "b"), at(two, "d", "a")]
        first, second = save([self.HEADER, *records], lines=True)
        assert len(first.messages) == 3
        assert [message["content"] for message in second.messages] == [
            "Go.",
            [{"type": "text", "text": "Two."}],
        ]

    def test_a_branch_before_an_answer_keeps_the_bill_of_what_it_goes_on_from(
        self, save: Any
    ) -> None:
        def at(record: Record, own: str, parent: str) -> Record:
            return {**record, "id": own, "parentId": parent}

        go, other = ({"type": "message", "message": prompt(text)} for text in ("Go.", "No, this."))
        one = self.said({"type": "text", "text": "One."}, usage={"input": 3, "output": 5})
        records = [at(go, "a", ""), at(one, "b", "a"), at(go, "c", "b"), at(other, "d", "b")]
        [recording] = save([self.HEADER, *records], lines=True)
        assert [message["content"] for message in recording.messages[2:]] == ["No, this."]
        assert recording.usage == {0: Usage(3, 0, 0, 5)}


class TestSweAgent:
    SYSTEM: ClassVar[Record] = {
        "role": "system",
        "content": "You are a programmer.",
        "agent": "main",
    }

    def test_an_action_becomes_a_call_and_the_observation_its_result(self, save: Any) -> None:
        history = [
            self.SYSTEM,
            {"role": "user", "content": "Fix it.", "agent": "main"},
            {
                "role": "assistant",
                "content": "Look first.\n```\nopen a.py\n```",
                "thought": "Look first.\n",
                "action": "open a.py\n",
            },
            {"role": "user", "content": "[File: a.py]\n1:x\n"},
            {
                "role": "assistant",
                "content": "Run.\n```\npython a.py\n```",
                "action": "python a.py",
            },
            {"role": "user", "content": ""},
            {"role": "assistant", "content": "I am lost.", "action": ""},
            {"role": "user", "content": "Your output was not formatted correctly."},
            {"role": "assistant", "content": "Done.\n```\nsubmit\n```", "action": "submit\n"},
        ]
        [recording] = save({"environment": "swe", "trajectory": [], "history": history})
        _, _, look, opened, run, ran, lost, again, _, end = recording.messages
        assert (look["content"], run["content"]) == ("Look first.", "Run.")
        functions = [each["tool_calls"][0]["function"] for each in (look, run)]
        assert functions[0] == {"name": "open", "arguments": '{"command": "open a.py"}'}
        assert functions[1] == {"name": "bash", "arguments": '{"command": "python a.py"}'}
        assert opened == chat_result(look["tool_calls"][0]["id"], "[File: a.py]\n1:x\n")
        assert ran["content"] == ""
        assert "tool_calls" not in lost
        assert again["role"] == "user"
        assert end["content"] == NO_RESULT
        assert recording.unanswered == 1

    def test_recorded_tool_calls_are_kept(self, save: Any) -> None:
        answer = {**CALLING, "content": "Look.", "action": "ls .", "message_type": "action"}
        result = {"role": "tool", "content": "a.txt", "tool_call_ids": ["c1"]}
        config = json.dumps({"agent": {"model": {"name": "gpt-4o"}}})
        history = [self.SYSTEM, answer, result]
        ended = {"info": {"submission": "diff"}}
        [recording] = save({"trajectory": [], "history": history, "replay_config": config, **ended})
        assert recording.submission == "diff"
        assert recording.messages[1:] == [{**CALLING, "content": "Look."}, CHAT[2]]
        assert (recording.model, recording.unanswered) == ("gpt-4o", 0)


class TestMiniSweAgent:
    @staticmethod
    def answer(text: str, usage: Record | None = None, **extra: Any) -> Record:
        response = {"model": "m", "created": 1_700_000_000, "usage": usage}
        return {"role": "assistant", "content": text, "extra": {"response": response, **extra}}

    def save(self, save: Any, *messages: Record) -> Recording:
        info = {"submission": "diff --git a/a.py b/a.py", "exit_status": "Submitted"}
        trajectory = {"trajectory_format": "mini-swe-agent-1", "info": info, "messages": messages}
        [recording] = save(trajectory)
        return recording

    def test_the_one_command_is_a_call_and_the_observation_its_result(self, save: Any) -> None:
        seen = "<returncode>0</returncode>\n<output>\na.py\n</output>"
        answer = self.answer("THOUGHT: Look.\n\n```bash\nls\n```")
        recording = self.save(save, prompt("Fix it."), answer, prompt(seen))
        call = chat_call("call_1", "bash", {"command": "ls"})
        assert recording.messages == [
            prompt("Fix it."),
            {"role": "assistant", "content": "THOUGHT: Look.", "tool_calls": [call]},
            chat_result("call_1", seen),
        ]
        assert recording.submission == "diff --git a/a.py b/a.py"

    def test_an_answer_of_several_commands_runs_none(self, save: Any) -> None:
        two = self.answer("```bash\nls\n```\n```bash\ncat a.py\n```")
        error = prompt("Please always provide EXACTLY ONE action, found 2 actions.")
        recording = self.save(save, prompt("Fix it."), two, error, self.answer("I am lost."), error)
        assert recording.messages[1:] == [
            {"role": "assistant", "content": two["content"]},
            error,
            {"role": "assistant", "content": "I am lost."},
            error,
        ]

    def test_each_call_has_its_usage_and_its_time(self, save: Any) -> None:
        usage = {"prompt_tokens": 100, "completion_tokens": 7}
        usage["prompt_tokens_details"] = {"cached_tokens": 60}
        said = [self.answer("One.", usage), self.answer("Two.", {"prompt_tokens": 9})]
        recording = self.save(save, prompt("Fix it."), *said)
        assert recording.usage == {0: Usage(40, 60, 0, 7), 1: Usage(9)}
        assert recording.times == {0: 1_700_000_000, 1: 1_700_000_000}

    def test_what_was_not_recorded_is_left_out(self, save: Any) -> None:
        command = {"role": "assistant", "content": "```bash\nls\n```"}
        odd = self.answer("```bash\nls\n```", {"cost": None})
        odd["extra"]["response"]["created"] = 10**17
        recording = self.save(save, prompt("Fix it."), command, prompt(""), odd)
        assert [each["content"] for each in recording.messages[2:]] == ["", None, NO_RESULT]
        assert (recording.usage, recording.times) == ({}, {})

    def test_recorded_tool_calls_are_kept_and_the_exit_is_no_message(self, save: Any) -> None:
        messages = [*CHAT[:3], {"role": "exit", "content": "diff", "extra": {}}]
        assert self.save(save, *messages).messages == CHAT[:3]


class TestLanggraph:
    AI: ClassVar[Record] = {
        "type": "ai",
        "content": [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "Look."}],
        "tool_calls": [{"name": "ls", "args": {"path": "."}, "id": "c1", "type": "tool_call"}],
        "usage_metadata": {
            "input_tokens": 100,
            "output_tokens": 5,
            "input_token_details": {"cache_read": 60},
        },
        "response_metadata": {"model_name": "deepseek-v3"},
    }
    HUMAN: ClassVar[Record] = {"type": "human", "content": [{"type": "text", "text": "List."}]}
    TOOL: ClassVar[Record] = {
        "type": "tool",
        "content": "a.txt",
        "tool_call_id": "c1",
        "name": "ls",
    }

    def test_a_thread_becomes_chat_messages_with_usage(self, save: Any) -> None:
        messages = [self.HUMAN, self.AI, self.TOOL, {"type": "ai", "content": ""}]
        [recording] = save({"values": {"messages": messages, "title": "x"}, "next": []})
        assert recording.format == "langgraph"
        assert recording.messages == [
            {"role": "user", "content": self.HUMAN["content"]},
            {**CALLING, "content": "Look."},
            chat_result("c1", "a.txt"),
        ]
        assert recording.usage == {0: Usage(40, 60, 0, 5)}
        assert recording.model == "deepseek-v3"

    def test_other_dumps_of_langchain_messages_are_read_alike(self, save: Any) -> None:
        names = {"human": "HumanMessage", "ai": "AIMessage", "tool": "ToolMessage"}
        plain = [self.HUMAN, self.AI, self.TOOL]
        kwargs = [{"type": each["type"], "data": each} for each in plain]
        dumped = [
            {"lc": 1, "type": "constructor", "id": ["langchain", names[each["type"]]]}
            | {"kwargs": each}
            for each in plain
        ]
        [expected] = save({"values": {"messages": plain}})
        for variant in ({"messages": plain}, kwargs, dumped, {"messages": dumped}):
            assert save(variant) == [expected]


class TestClaudeCode:
    @staticmethod
    def line(kind: str, uuid: str, parent: str | None, content: Any, **fields: Any) -> Record:
        message = {"role": kind, "content": content, **fields.pop("message", {})}
        own = {"uuid": uuid, "parentUuid": parent, "sessionId": "s", "isSidechain": False}
        return {"type": kind, **own, "message": message, **fields}

    @classmethod
    def said(cls, uuid: str, parent: str, block: Record, message_id: str, output: int) -> Record:
        usage = {"input_tokens": 2, "cache_read_input_tokens": 30, "output_tokens": output}
        usage |= {"cache_creation_input_tokens": 4}
        message = {"id": message_id, "model": "claude-opus-4-5", "usage": usage}
        return cls.line("assistant", uuid, parent, [block], message=message)

    @staticmethod
    def text(text: str) -> Record:
        return {"type": "text", "text": text}

    @staticmethod
    def use(call_id: str) -> Record:
        return {"type": "tool_use", "id": call_id, "name": "Bash", "input": {"command": "ls"}}

    @staticmethod
    def result(call_id: str) -> Record:
        return {"type": "tool_result", "tool_use_id": call_id, "content": "a.txt"}

    def test_lines_of_one_response_are_one_message(self, save: Any) -> None:
        [recording] = save(
            [
                {"type": "file-history-snapshot", "messageId": "x", "isSnapshotUpdate": False},
                {"type": "summary", "summary": "Old", "leafUuid": "z"},
                {"type": "progress", "uuid": "p", "sessionId": "s", "data": {"type": "hook"}},
                self.line("user", "1", "p", "List."),
                self.line("user", "m", "1", "<caveat>", isMeta=True),
                {"type": "attachment", "uuid": "q", "sessionId": "s", "attachment": {}},
                self.said("2", "1", {"type": "thinking", "thinking": "Hm."}, "msg_1", 1),
                self.said("3", "2", self.text("Look."), "msg_1", 1),
                self.said("4", "3", self.use("t1"), "msg_1", 1),
                self.line("user", "5", "4", [self.result("t1")]),
                self.said("6", "4", self.use("t2"), "msg_1", 9),
                self.line("user", "7", "6", [self.result("t2")]),
                self.said("8", "7", self.text("Done."), "msg_2", 3),
                self.line("assistant", "9", "8", "Failed.", message={"model": "<synthetic>"}),
                {"type": "system", "subtype": "turn_duration", "sessionId": "s", "uuid": "t"},
            ],
            lines=True,
        )
        assert recording.format == "claude-code"
        assert recording.messages == [
            prompt("List."),
            prompt("<caveat>"),
            {"role": "assistant", "content": [self.text("Look."), self.use("t1"), self.use("t2")]},
            {"role": "user", "content": [self.result("t1"), self.result("t2")]},
            {"role": "assistant", "content": [self.text("Done.")]},
        ]
        assert recording.usage == {0: Usage(2, 30, 4, 9), 1: Usage(2, 30, 4, 3)}
        assert (recording.model, recording.unanswered) == ("claude-opus-4-5", 0)

    def test_a_usage_that_counts_no_tokens_is_none(self, save: Any) -> None:
        message = {"usage": {"service_tier": "standard"}}
        asked = self.line("user", "1", None, "List.")
        answer = self.line("assistant", "2", "1", [self.text("Done.")], message=message)
        [recording] = save([asked, answer], lines=True)
        assert (len(recording.messages), recording.usage) == (2, {})

    def test_attached_prompts_and_files_are_read_and_reminders_not(self, save: Any) -> None:
        def attached(**attachment: Any) -> Record:
            return {"type": "attachment", "sessionId": "s", "attachment": attachment}

        file = {"type": "text", "file": {"content": "x = 1"}}
        [recording] = save(
            [
                attached(type="queued_command", prompt="And b?"),
                attached(type="edited_text_file", filename="a.py", snippet="1\tx"),
                attached(type="file", filename="a.py", content=file),
                attached(type="task_reminder", content=[]),
                self.said("2", "1", self.text("Done."), "msg_1", 1),
            ],
            lines=True,
        )
        assert [each["content"] for each in recording.messages[:-1]] == [
            *("And b?", "a.py\n1\tx", "a.py\nx = 1")
        ]

    def test_a_compaction_starts_a_context(self, save: Any) -> None:
        boundary = {"type": "system", "subtype": "compact_boundary", "sessionId": "s", "uuid": "3"}
        first, second = save(
            [
                self.line("user", "1", None, "Go."),
                self.said("2", "1", self.text("One."), "msg_1", 1),
                boundary,
                self.line("user", "4", "3", "Summary.", isCompactSummary=True),
                self.said("5", "4", self.text("Two."), "msg_2", 1),
            ],
            lines=True,
        )
        assert (first.name, second.name) == ("recording#1", "recording#2")
        assert [message["role"] for message in first.messages] == ["user", "assistant"]
        assert second.messages[0] == prompt("Summary.")

    def test_a_prompt_replaced_before_its_answer_keeps_the_bill_before_it(self, save: Any) -> None:
        [recording] = save(
            [
                self.line("user", "1", None, "Go."),
                self.said("2", "1", self.text("One."), "msg_1", 5),
                self.line("user", "3", "2", "Then that."),
                self.line("user", "4", "2", "No, this."),
                self.said("5", "4", self.text("Two."), "msg_2", 7),
            ],
            lines=True,
        )
        assert [message["content"] for message in recording.messages[2:3]] == ["No, this."]
        assert recording.usage == {0: Usage(2, 30, 4, 5), 1: Usage(2, 30, 4, 7)}

    def test_sidechains_are_conversations_of_their_own(self, save: Any) -> None:
        def aside(line: Record, **fields: Any) -> Record:
            return {**line, "isSidechain": True, **fields}

        named, unnamed, main = save(
            [
                aside(self.line("user", "a1", None, "Find it."), agentId="7f"),
                aside(self.line("user", "b1", None, "Find that.")),
                self.line("user", "1", None, "Go."),
                aside(self.said("b2", "b1", self.text("That."), "msg_b", 1)),
                self.said("2", "1", self.text("Two agents went."), "msg_1", 1),
                aside(self.said("a2", "a1", self.text("It."), "msg_a", 1), agentId="7f"),
            ],
            lines=True,
        )
        assert named.name == "recording#agent-7f"
        assert unnamed.name == "recording#agent-b1"
        assert [len(each.messages) for each in (named, unnamed, main)] == [2, 2, 2]
        assert main.messages[0] == prompt("Go.")

    def test_a_prompt_that_replaces_another_starts_a_branch(self, save: Any) -> None:
        first, second = save(
            [
                self.line("user", "1", None, "Go."),
                self.said("2", "1", self.text("Gone."), "msg_1", 1),
                self.line("user", "3", "2", "Wrong way."),
                self.said("4", "3", self.text("Sorry."), "msg_2", 1),
                self.line("user", "5", "2", "Right way."),
                self.said("6", "5", self.text("Good."), "msg_3", 1),
            ],
            lines=True,
        )
        assert [message["content"] for message in first.messages][2] == "Wrong way."
        assert [message["content"] for message in second.messages][2] == "Right way."
        assert len(second.messages) == 4

    def test_the_printed_stream_is_read_like_the_session(self, save: Any) -> None:
        init = {"type": "system", "subtype": "init", "session_id": "s"}
        user = {"type": "user", "session_id": "s", "message": prompt("Go.")}
        said = {"role": "assistant", "id": "msg_1", "content": [self.text("Gone.")]}
        answer = {"type": "assistant", "session_id": "s", "message": said}
        [recording] = save([init, user, answer, {"type": "result"}], lines=True)
        assert [message["role"] for message in recording.messages] == ["user", "assistant"]

    def test_a_session_in_which_no_model_answered_is_no_error(self, save: Any) -> None:
        summary = {"type": "summary", "summary": "Old", "leafUuid": "z"}
        assert save([summary, summary], lines=True) == []


class TestCodex:
    USER: ClassVar[Record] = {
        "type": "message",
        "role": "user",
        "content": [{"type": "input_text", "text": "List."}],
    }
    ANSWER: ClassVar[Record] = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "Look."}],
    }
    CALL: ClassVar[Record] = {
        "type": "function_call",
        "name": "shell",
        "arguments": "{}",
        "call_id": "c1",
    }
    OUTPUT: ClassVar[Record] = {"type": "function_call_output", "call_id": "c1", "output": "a.txt"}
    PATCH: ClassVar[Record] = {
        "type": "custom_tool_call",
        "call_id": "c2",
        "name": "patch",
        "input": "***",
    }
    PATCHED: ClassVar[Record] = {
        "type": "custom_tool_call_output",
        "call_id": "c2",
        "output": "Done",
    }
    REASONING: ClassVar[Record] = {"type": "reasoning", "summary": [], "encrypted_content": "x"}

    @staticmethod
    def of(kind: str, payload: Record) -> Record:
        return {"timestamp": "2025-10-01T00:00:00Z", "type": kind, "payload": payload}

    @classmethod
    def items(cls, *payloads: Record) -> list[Record]:
        return [cls.of("response_item", payload) for payload in payloads]

    @classmethod
    def count(cls, total: int, tokens: int) -> Record:
        last = {"input_tokens": tokens, "cached_input_tokens": 60, "output_tokens": 7}
        info = {"total_token_usage": {"total_tokens": total}, "last_token_usage": last}
        return cls.of("event_msg", {"type": "token_count", "info": info})

    def test_items_are_kept_and_usage_goes_to_the_call_before_it(self, save: Any) -> None:
        [recording] = save(
            [
                self.of("session_meta", {"id": "s", "base_instructions": {"text": "Be brief."}}),
                self.of("event_msg", {"type": "token_count", "info": None}),
                self.of("turn_context", {"cwd": "/src", "model": "gpt-5-codex"}),
                *self.items(self.USER),
                self.of("event_msg", {"type": "user_message", "message": "List."}),
                self.of("world_state", {"full": True, "state": {"model": "gpt-5-codex"}}),
                *self.items(self.REASONING, self.ANSWER, self.CALL),
                self.count(100, 100),
                *self.items(self.OUTPUT, {"type": "ghost_snapshot"}, self.PATCH, self.PATCHED),
                self.of("token_usage_record", {"usage": {"input_tokens": 120}}),
                self.count(220, 120),
                self.count(220, 120),
                *self.items(self.ANSWER),
            ],
            lines=True,
        )
        assert recording.format == "codex"
        assert recording.messages == [
            self.USER,
            *(self.ANSWER, self.CALL, self.OUTPUT),
            *(self.PATCH, self.PATCHED, self.ANSWER),
        ]
        assert recording.usage == {0: Usage(40, 60, 0, 7), 1: Usage(60, 60, 0, 7)}
        assert (recording.model, recording.system_prompt) == ("gpt-5-codex", "Be brief.")

    def test_a_shell_call_is_a_function_call_since_its_output_is_one(self, save: Any) -> None:
        action = {"type": "exec", "command": ["ls"]}
        shell = {"type": "local_shell_call", "call_id": "c1", "status": "ok", "action": action}
        output = {**self.OUTPUT, "output": {"content": "a.txt", "success": True}}
        [recording] = save(self.items(self.USER, shell, output), lines=True)
        assert recording.messages[1]["type"] == "function_call"
        assert json.loads(recording.messages[1]["arguments"]) == action
        assert recording.messages[2] == self.OUTPUT
        assert (recording.unanswered, recording.orphans) == (0, 0)

    @pytest.mark.parametrize("recorded", [True, False])
    def test_a_compaction_starts_a_context(self, save: Any, recorded: bool) -> None:
        summary = {**self.USER, "content": [{"type": "input_text", "text": "Summary."}]}
        payload: Record = {"message": "Summary."}
        if recorded:
            payload["replacement_history"] = [self.USER, summary, {"type": "compaction"}]
        lines = [*self.items(self.USER, self.ANSWER), self.of("compacted", payload)]
        first, second = save([*lines, *self.items(self.ANSWER)], lines=True)
        assert first.messages == [self.USER, self.ANSWER]
        assert second.messages == [self.USER, summary, self.ANSWER]

    @pytest.mark.parametrize(("gone", "left"), [(1, 3), (2, 1), (9, 1)])
    def test_turns_that_were_rolled_back_are_no_part_of_what_follows(
        self, save: Any, gone: int, left: int
    ) -> None:
        context = {**self.USER, "content": [{"type": "input_text", "text": "<cwd>/src</cwd>"}]}
        asked = self.of("event_msg", {"type": "user_message", "message": "List."})
        turn = [*self.items(self.USER), asked, *self.items(self.ANSWER)]
        rollback = self.of("event_msg", {"type": "thread_rolled_back", "num_turns": gone})
        end = self.items(self.ANSWER)
        first, second = save([*self.items(context), *turn, *turn, rollback, *end], lines=True)
        assert len(first.messages) == 5
        assert second.messages == [*[context, self.USER, self.ANSWER][:left], self.ANSWER]
        assert second.usage == {}

    def test_a_turn_rolled_back_before_its_answer_is_no_conversation_of_its_own(
        self, save: Any
    ) -> None:
        asked = self.of("event_msg", {"type": "user_message", "message": "List."})
        rollback = self.of("event_msg", {"type": "thread_rolled_back", "num_turns": 1})
        answered = [*self.items(self.USER), asked, *self.items(self.ANSWER), self.count(100, 90)]
        lines = [*answered, *self.items(self.USER), asked, rollback, *self.items(self.USER)]
        [recording] = save([*lines, *self.items(self.ANSWER)], lines=True)
        assert recording.messages == 2 * [self.USER, self.ANSWER]
        assert list(recording.usage) == [0]

    def continued(self, name: str, base: str = "", end: int = 0, *items: Record) -> str:
        """Return a file as version 0.169 writes it: with numbers that go on from those of its base."""
        meta: Record = {"id": name, "history_mode": "paginated"}
        if base:
            meta["history_base"] = {"thread_id": base, "end_ordinal_exclusive": end}
        lines = [self.of("session_meta", meta), *self.items(*items), self.count(end + 90, 90)]
        return "\n".join(
            json.dumps({**line, "ordinal": number}) for number, line in enumerate(lines, end)
        )

    def test_forks_and_reverted_sessions_begin_in_other_files(self, tmp_path: Path) -> None:
        other = {**self.USER, "content": [{"type": "input_text", "text": "Other."}]}
        texts = {
            "2026/11/22/rollout-2026-11-22T10-00-00-aaa.jsonl": self.continued(
                "aaa", "", 0, self.USER, self.CALL, self.OUTPUT, self.ANSWER, other, self.ANSWER
            ),
            "2026/11/22/rollout-2026-11-22T10-00-00-aaa_bbb.jsonl": self.continued(
                "aaa", "aaa", 5, other, self.CALL, self.OUTPUT
            ),
            "2026/11/23/rollout-2026-11-23T10-00-00-ccc.jsonl": self.continued(
                "ccc", "bbb", 9, self.ANSWER
            ),
        }
        for name, text in texts.items():
            path = tmp_path / "sessions" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        whole, reverted, fork = (
            recording for file in find_files([tmp_path]) for recording in read_file(file)
        )
        before = [self.USER, self.CALL, self.OUTPUT, self.ANSWER]
        assert whole.messages == [*before, other, self.ANSWER]
        assert reverted.messages == [*before, other, self.CALL, self.OUTPUT]
        assert fork.messages == [*before, other, self.CALL, self.OUTPUT, self.ANSWER]
        assert [list(each.usage) for each in (whole, reverted, fork)] == [[2], [2], [3]]
        assert not any(each.broken for each in (whole, reverted, fork))

    def test_a_missing_beginning_is_told(self, tmp_path: Path) -> None:
        path = tmp_path / "rollout-2026-11-23T10-00-00-ccc.jsonl"
        path.write_text(self.continued("ccc", "ccc", 8, self.USER, self.ANSWER))
        [recording] = read_file(path)
        assert recording.messages == [self.USER, self.ANSWER]
        assert recording.broken == (
            f"{path}:1: goes on from the session ccc, of which there is no file",
        )


class TestNoReader:
    """Sessions that no reader knows are named as such, and not read as another program's."""

    QWEN_CODE: ClassVar[list[Record]] = [
        {"sessionId": "s", "type": "system", "subtype": "ui_telemetry"},
        *(
            {"sessionId": "s", "type": kind, "message": {"role": "user", "parts": [part]}}
            for kind, part in [
                ("user", {"text": "List."}),
                ("assistant", {"functionCall": {"id": "c1", "name": "ls", "args": {}}}),
                ("tool_result", {"functionResponse": {"id": "c1", "response": {"output": "a"}}}),
            ]
        ),
    ]
    COPILOT_CLI: ClassVar[list[Record]] = [
        {"type": "session.start", "data": {"producer": "copilot-agent"}},
        {"type": "user.message", "data": {"content": "List."}},
        {"type": "assistant.message", "data": {"content": "a", "toolRequests": []}},
    ]
    KIMI_CODE: ClassVar[list[Record]] = [
        {"type": "context.append_message", "message": prompt("List.")},
        {"type": "context.append_loop_event", "event": {"type": "tool.call", "name": "ls"}},
        {"type": "llm.request", "model": "kimi-k2"},
    ]

    @pytest.mark.parametrize("lines", [QWEN_CODE, COPILOT_CLI, KIMI_CODE])
    def test_is_one_line_on_a_file_in_no_known_format(self, lines: Any, save: Any) -> None:
        with pytest.raises(RecordingError, match="in no known format"):
            save(lines, lines=True)


class TestGeminiStream:
    def test_pieces_of_text_and_calls_in_a_row_are_one_answer(self, save: Any) -> None:
        def said(text: str) -> Record:
            return {"type": "message", "role": "assistant", "content": text, "delta": True}

        use = {"type": "tool_use", "tool_name": "ls", "tool_id": "c1", "parameters": {"path": "."}}
        failed = {"type": "tool_result", "tool_id": "c2", "error": {"message": "No such file"}}
        [recording] = save(
            [
                {"type": "init", "session_id": "s", "model": "gemini-2.5-pro"},
                {"type": "message", "role": "user", "content": "List."},
                *(said("Loo"), said("k."), use, {**use, "tool_id": "c2"}),
                {"type": "tool_result", "tool_id": "c1", "status": "success", "output": "a.txt"},
                *(failed, said("Done."), {"type": "result", "status": "success", "stats": {}}),
            ],
            lines=True,
        )
        assert recording.format == "gemini-stream"
        assert recording.model == "gemini-2.5-pro"
        assert recording.messages == [
            prompt("List."),
            {"role": "assistant", "content": "Look.", "tool_calls": [LS, {**LS, "id": "c2"}]},
            chat_result("c1", "a.txt"),
            chat_result("c2", "No such file"),
            {"role": "assistant", "content": "Done."},
        ]


class TestGeminiChat:
    @staticmethod
    def user(own: str, text: str) -> Record:
        return {"id": own, "type": "user", "content": [{"text": text}]}

    @staticmethod
    def said(own: str, text: str, *results: Record) -> Record:
        call = {"id": "c1", "name": "ls", "args": {"path": "."}, "result": list(results)}
        tokens = {"input": 100, "cached": 30, "output": 5, "thoughts": 2, "total": 107}
        message = {"id": own, "type": "gemini", "content": text, "tokens": tokens}
        return message | {"model": "gemini-2.5-pro", "toolCalls": [call] if results else []}

    @staticmethod
    def response(value: Record) -> Record:
        return {"functionResponse": {"id": "c1", "name": "ls", "response": value}}

    def test_a_saved_chat_becomes_chat_messages_with_usage(self, save: Any) -> None:
        info = {"id": "i", "type": "info", "content": "Request cancelled."}
        listed = self.said("2", "", self.response({"output": "a.txt"}))
        messages = [self.user("1", "List."), listed, info, self.said("3", "a")]
        [recording] = save({"sessionId": "s", "projectHash": "h", "messages": messages})
        assert recording.format == "gemini-chat"
        assert recording.messages == CHAT
        assert recording.usage == {number: Usage(70, 30, 0, 7) for number in (0, 1)}

    def test_a_log_of_changes_is_replayed(self, save: Any) -> None:
        first, second = save(
            [
                {"sessionId": "s", "projectHash": "h", "messages": []},
                self.user("1", "List."),
                self.said("2", ""),
                self.said("2", "", self.response({"entries": ["a"], "more": False})),
                self.user("3", "Wrong way."),
                self.said("4", "Sorry."),
                {"$rewindTo": "3"},
                {"$set": {"lastUpdated": "later"}},
                self.user("5", "Right way."),
                self.said("6", "Good."),
            ],
            lines=True,
        )
        assert [len(each.messages) for each in (first, second)] == [5, 5]
        assert [list(each.usage) for each in (first, second)] == [[0, 1], [1]]
        assert second.messages[2]["content"] == '{"entries": ["a"], "more": false}'
        assert [message["content"] for message in second.messages[3:]] == ["Right way.", "Good."]

    def test_a_resumed_chat_keeps_its_calls_and_their_results_once(self, save: Any) -> None:
        """As version 0.61 writes it: results stand twice, and after `--resume` all are parts."""
        response = self.response({"output": "a.txt"})
        call = {"functionCall": {"id": "c1", "name": "ls", "args": {"path": "."}}}
        resumed: list[Record] = [
            self.user("1", "List."),
            {"id": "2", "type": "gemini", "content": [call]},
            {"id": "2_response", "type": "user", "content": [response]},
            {"id": "3", "type": "user", "content": [response]},
            {"id": "4", "type": "gemini", "content": [{"text": "a"}]},
        ]
        first, second = save(
            [
                {"sessionId": "s", "projectHash": "h", "kind": "main"},
                self.user("1", "List."),
                self.said("2", "", response),
                {"id": "3", "type": "user", "content": [response]},
                self.said("4", "a"),
                {"sessionId": "s", "projectHash": "h", "kind": "main"},
                {"$set": {"messages": [self.user("1", "List.")]}},
                {"$set": {"messages": resumed}},
                self.user("5", "And now?"),
                self.said("6", "b"),
            ],
            lines=True,
        )
        assert first.messages == CHAT
        more = [prompt("And now?"), {"role": "assistant", "content": "b"}]
        assert second.messages == [*CHAT, *more]

    def test_a_call_without_a_result_is_counted(self, save: Any) -> None:
        said = self.said("2", "")
        said["toolCalls"] = [{"name": "ls", "args": {"path": "."}, "status": "cancelled"}]
        [recording] = save({"messages": [self.user("1", "List."), said]})
        assert recording.unanswered == 1
        assert recording.messages[-1]["content"] == NO_RESULT


class TestInspect:
    @staticmethod
    def log() -> tuple[Record, list[Record]]:
        """Return the head of a log and its samples, two epochs of one."""
        call = {"id": "c1", "function": "ls", "arguments": {"path": "."}, "type": "function"}
        reasoning = {"type": "reasoning", "reasoning": "Hm."}
        messages = [
            {"role": "user", "content": "List.", "source": "input"},
            {"id": "m1", "role": "assistant", "content": [reasoning], "tool_calls": [call]},
            {"role": "tool", "content": "attachment://x", "tool_call_id": "c1", "function": "ls"},
            {"id": "m2", "role": "assistant", "content": "a", "model": "openai/gpt-4o"},
        ]
        usage = {"input_tokens": 9, "output_tokens": 2, "input_tokens_cache_read": 90}
        output = {"choices": [{"message": {"id": "m2"}}], "usage": usage}
        sample = {
            "id": 4,
            "epoch": 1,
            "messages": messages,
            "attachments": {"x": "a.txt"},
            "events": [{"event": "model", "output": output}, {"event": "score"}],
        }
        return {"version": 2, "eval": {"model": "openai/gpt-4o"}}, [sample, {**sample, "epoch": 2}]

    def test_each_sample_is_a_conversation(self, save: Any) -> None:
        head, samples = self.log()
        first, second = save({**head, "samples": samples})
        assert (first.name, second.name) == ("recording#4-1", "recording#4-2")
        assert (first.format, first.model) == ("inspect-ai", "gpt-4o")
        assert first.messages == CHAT
        assert first.usage == {1: Usage(9, 90, 0, 2)}

    @pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, packing.ZIP_ZSTD])
    def test_a_packed_log_has_a_member_for_each_sample(self, tmp_path: Path, method: int) -> None:
        """inspect_ai packs with zstandard, which Python reads from 3.14 on, and packed with zlib."""
        head, samples = self.log()
        path = tmp_path / "log.eval"
        is_zlib = method == zipfile.ZIP_DEFLATED
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED if is_zlib else 0) as file:
            members = {f"samples/4_epoch_{each['epoch']}.json": each for each in samples}
            for name, member in {**members, "header.json": head, "summaries.json": []}.items():
                written = json.dumps(member).encode()
                file.writestr(name, written if is_zlib else packing.packed(written, 3))
            for each in file.infolist():
                each.compress_type = method
        recordings = read_file(path)
        assert [each.name for each in recordings] == ["log.eval#4-1", "log.eval#4-2"]
        assert all(each.messages == CHAT for each in recordings)


class TestOtel:
    @staticmethod
    def trace(*spans: Record) -> Record:
        written = [
            {
                "name": "chat",
                "startTimeUnixNano": str(number),
                "attributes": [
                    {"key": key, "value": {"intValue": str(value)}}
                    if isinstance(value, int)
                    else {"key": key, "value": {"stringValue": value}}
                    for key, value in attributes.items()
                ],
            }
            for number, attributes in enumerate(spans)
        ]
        return {"resourceSpans": [{"scopeSpans": [{"scope": {}, "spans": written}]}]}

    @staticmethod
    def openinference(sent: list[Record], answer: Record, tokens: int) -> Record:
        flat: Record = {"openinference.span.kind": "LLM", "llm.model_name": "o1"}
        flat |= {"llm.token_count.prompt": tokens, "llm.token_count.completion": 5}
        flat["llm.token_count.prompt_details.cache_read"] = 10
        for name, messages in (("input", sent), ("output", [answer])):
            for number, message in enumerate(messages):
                base = f"llm.{name}_messages.{number}.message"
                flat[f"{base}.role"] = message["role"]
                if message["role"] == "user":
                    content = f"{base}.contents.0.message_content"
                    flat |= {f"{content}.type": "text", f"{content}.text": message["content"]}
                elif message["content"]:
                    flat[f"{base}.content"] = message["content"]
                for at, call in enumerate(message.get("tool_calls", [])):
                    tool = f"{base}.tool_calls.{at}.tool_call"
                    flat[f"{tool}.id"] = call["id"]
                    flat[f"{tool}.function.name"] = call["function"]["name"]
                    flat[f"{tool}.function.arguments"] = call["function"]["arguments"]
                if "tool_call_id" in message:
                    flat[f"{base}.tool_call_id"] = message["tool_call_id"]
        return flat

    def test_calls_that_extend_each_other_are_one_conversation(self, save: Any) -> None:
        first = self.openinference(CHAT[:1], CHAT[1], 100)
        other = self.openinference([prompt("Plan.")], {"role": "assistant", "content": "Ok."}, 20)
        last = self.openinference(CHAT[:3], CHAT[3], 200)
        agent = {**last, "openinference.span.kind": "AGENT"}
        one, two = save([self.trace(first, other), self.trace(agent, last, last)])
        assert one.format == "otel"
        assert one.messages == CHAT
        assert one.usage == {0: Usage(90, 10, 0, 5), 1: Usage(190, 10, 0, 5)}
        assert (one.name, two.name, one.model) == ("recording#1", "recording#2", "o1")
        assert two.messages[0] == prompt("Plan.")

    def test_genai_messages_are_read(self, save: Any) -> None:
        call = {"type": "tool_call", "id": "c1", "name": "ls", "arguments": {"path": "."}}
        response = {"type": "tool_call_response", "id": "c1", "response": "a.txt"}
        sent = [
            {"role": "user", "parts": [{"type": "text", "content": "List."}]},
            {"role": "assistant", "parts": [{"type": "reasoning", "content": "Hm."}, call]},
            {"role": "tool", "parts": [response]},
        ]
        answer = [{"role": "assistant", "parts": [{"type": "text", "content": "a"}]}]
        attributes = {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "gpt-4o",
            "gen_ai.system_instructions": json.dumps([{"type": "text", "content": "Be brief."}]),
            "gen_ai.input.messages": json.dumps(sent),
            "gen_ai.output.messages": json.dumps(answer),
            "gen_ai.usage.input_tokens": 50,
        }
        [recording] = save(self.trace(attributes))
        assert recording.messages == [{"role": "system", "content": "Be brief."}, *CHAT]
        assert (recording.model, recording.usage) == ("gpt-4o", {1: Usage(50)})

    def test_numbered_attributes_are_read_and_ids_made_up(self, save: Any) -> None:
        attributes = {
            "gen_ai.prompt.0.role": "user",
            "gen_ai.prompt.0.content": "List.",
            "gen_ai.prompt.1.role": "assistant",
            "gen_ai.prompt.1.tool_calls.0.name": "ls",
            "gen_ai.prompt.1.tool_calls.0.arguments": "{}",
            "gen_ai.prompt.2.role": "tool",
            "gen_ai.prompt.2.content": "a.txt",
            "gen_ai.completion.0.role": "assistant",
            "gen_ai.completion.0.content": "a",
            "llm.tools.0.tool.json_schema": '{"name": "ls"}',
        }
        [recording] = save(self.trace(attributes))
        assert recording.tools == ({"name": "ls"},)
        assert [message["role"] for message in recording.messages] == [
            *("user", "assistant", "tool", "assistant")
        ]
        assert (recording.unanswered, recording.orphans) == (0, 0)
