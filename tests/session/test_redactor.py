"""What a rule takes out stands in no view, entry, digest or recall; the original only where told."""

from __future__ import annotations

import contextlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from conversations import chat_step, managed, no_fallback
from hypothesis import given
from hypothesis import strategies as st

from hippocampus import Hippocampus, Policy, RecallError
from hippocampus.policy import Redaction

SECRETS = ("ada@example.org", "hunter2secret", "abcdef123456")
ARGUMENTS = {
    "path": "x.py",
    "password": SECRETS[1],
    "content": f"api_key = {SECRETS[2]}\n" + "a line of code\n" * 300,
}
ROWS = "\n".join(f"row {n} {SECRETS[0]} paid {7 * n} in order_{n}" for n in range(300))


def policy(*, original: bool) -> Policy:
    redact = {"kinds": ["email", "secret"], "original": original}
    rules = [{"match": {}, "action": {"redact": redact}}]
    return Policy.model_validate({"lifecycle_policies": rules})


def chat() -> list[dict[str, Any]]:
    said = f"I will write to {SECRETS[0]}."
    asked = {"role": "user", "content": f"Write to {SECRETS[0]}."}
    return [asked, *chat_step("c", "write", ARGUMENTS, ROWS, said)]


def anthropic() -> list[dict[str, Any]]:
    use = {"type": "tool_use", "id": "c", "name": "write", "input": ARGUMENTS}
    blocks = [{"type": "text", "text": ROWS}]
    return [
        {"role": "user", "content": f"Write to {SECRETS[0]}."},
        {"role": "assistant", "content": [{"type": "text", "text": f"To {SECRETS[0]}."}, use]},
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "c", "content": blocks}],
        },
    ]


@pytest.mark.parametrize("original", [False, True])
@pytest.mark.parametrize("items", [chat(), anthropic()], ids=["openai", "anthropic"])
def test_no_view_and_no_recall_shows_what_was_taken_out(
    tmp_path: Path, items: list[dict[str, Any]], original: bool
) -> None:
    with managed(tmp_path, policy=policy(original=original)) as session:
        session(items[:1])
        view = json.dumps(session([*items, {"role": "user", "content": "And now?"}]))
        assert not [secret for secret in SECRETS if secret in view]
        assert len(session.entries) == 2
        for entry in session.entries:
            recalled = session.recall(entry.id, pattern=".", max_tokens=8_000)
            shown = entry.summary + session.entries.text(entry.id) + recalled
            assert not [secret for secret in SECRETS if secret in shown]
            kept = json.dumps(session.entries.content(entry.id))
            assert any(secret in kept for secret in SECRETS) is not original


def test_the_original_comes_back_as_it_was_after_a_restart(tmp_path: Path) -> None:
    """Ids and contents are of what may be kept, so a restart finds them again."""
    items = anthropic()
    for _ in range(2):
        with managed(tmp_path, policy=policy(original=True)) as session:
            view = session(items)
            result = next(e for e in session.entries if "arguments" not in e.summary)
            [block] = session.entries.content(result.id)
            assert block["text"].startswith("row 0 [redacted email] paid 0")
    assert SECRETS[0] not in json.dumps(view)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(JSON, st.sampled_from(["[0-9]+", '[a-z"]+', "[{}:,]", "null|true"]))
def test_json_stays_json_whatever_is_taken_out(value: Any, pattern: str) -> None:
    text = json.dumps(value)
    json.loads(Redaction(patterns=(pattern,)).redacted_json(text))


BEHIND = {"rows": [{"id": f"ord_{number:06d}"} for number in range(200)]}
AT = "ada\\u0040example.org"
ESCAPED = {
    "in JSON": (json.dumps({"owner": "OWNER", **BEHIND}).replace("OWNER", AT), "$.owner"),
    "in JSON in JSON": (
        json.dumps({"x": json.dumps({"owner": "OWNER", **BEHIND}).replace("OWNER", AT)}),
        "$.x.owner",
    ),
    "in a JSON string": (
        json.dumps(json.dumps({"owner": "OWNER", **BEHIND}).replace("OWNER", AT)),
        "$.owner",
    ),
    "in a key": (json.dumps({"OWNER": BEHIND["rows"]}).replace("OWNER", AT), "$.*"),
    "in a label": (json.dumps({"pass": SECRETS[1], **BEHIND}).replace("ss", "ss\\u0077ord"), "$.*"),
    "in a list": (json.dumps({"passwords": [SECRETS[1], "h"], **BEHIND}), "$.passwords"),
    "in a quoted value": (json.dumps({"password": f'a"{SECRETS[1]}', **BEHIND}), "$.password"),
    "in HTML": (
        "<html><body><h1>Owner ada&#64;example.org</h1>"
        + "".join(f"<p>word {n}</p><a href='/{n}'>link {n}</a>" for n in range(300)),
        "Owner",
    ),
    "in HTML tags": (
        "<html><body><h1>Owner ada<b></b>@example.org</h1>"
        + "".join(f"<p>word {n}</p><a href='/{n}'>link {n}</a>" for n in range(300)),
        "Owner",
    ),
    "in colours": (
        "ERROR owner ada\x1b[0m@\x1b[1mexample.org failed\n"
        + "".join(f"2025-01-01T00:00:{n % 60:02d} INFO line {n} ok\n" for n in range(300)),
        None,
    ),
    "in CSV": (
        "id,owner,n\n" + '1,"password=""hunter2secret""",1\n' + "2,some words here,3\n" * 400,
        None,
    ),
}


@pytest.mark.parametrize(("text", "path"), ESCAPED.values(), ids=ESCAPED)
def test_what_escapes_hide_is_shown_nowhere(tmp_path: Path, text: str, path: str | None) -> None:
    items = [{"role": "user", "content": "Fetch it."}, *chat_step("c", "fetch", {"n": 1}, text)]
    with managed(tmp_path, policy=policy(original=False)) as session:
        shown = [json.dumps(session(items), ensure_ascii=False)]
        [entry] = session.entries
        shown.append(json.dumps(entry.fields()))
        asked: list[dict[str, Any]] = [
            {"query": "owner ada example password"},
            {"pattern": "(?i)owner|example|hunter|pass"},
            {"lines": (1, 3)},
            *([{"path": path}] if path else []),
        ]
        for each in asked:
            with contextlib.suppress(RecallError):
                shown.append(session.recall(entry.id, **each))
        with contextlib.suppress(RecallError):
            shown.append(session.recall(query="owner ada example password"))
        assert len(shown) > 3
    assert not [secret for secret in SECRETS if secret in "\n".join(shown)]


@pytest.mark.parametrize("key", ["to", "joe\\u0040example.org"])
def test_escapes_in_arguments_hide_nothing_from_a_rule(tmp_path: Path, key: str) -> None:
    told = f'{{"{key}": "{AT}", "body": "{"hello " * 300}"}}'
    function = {"name": "send", "arguments": told}
    call = {"id": "c", "type": "function", "function": function}
    items = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "ok"},
    ]
    with managed(tmp_path, policy=policy(original=False)) as session:
        view = session(items)
        assert "example.org" not in json.dumps(view)
        assert json.loads(view[0]["tool_calls"][0]["function"]["arguments"])["body"]


def test_a_label_counts_where_a_number_has_to_become_a_string() -> None:
    found = Redaction(kinds=("secret",), patterns=("[0-9]+",)).redacted_json(
        '{"password": "hunterpw", "ada@example.org": {"port": 80}}'
    )
    assert json.loads(found) == {
        "password": "[redacted secret]",
        "ada@example.org": {"port": "[redacted]"},
    }


@pytest.mark.parametrize("depth", [1, 300, 100_000])
def test_arguments_of_any_depth_are_screened(depth: int) -> None:
    text = '{"n": ' + '{"a":' * depth + "12345" + "}" * depth + "}"
    assert Redaction(patterns=("[0-9]{4,}",)).redacted_json(text) == text.replace(
        "12345", '"[redacted]"'
    )


@pytest.mark.parametrize("original", [False, True])
def test_a_summariser_reads_what_the_model_may_read(tmp_path: Path, original: bool) -> None:
    asked: list[str] = []

    def summarise(text: str) -> str:
        asked.append(text)
        return f"about {text[:60]}"

    with managed(tmp_path, policy=policy(original=original), summarise=summarise) as session:
        view = json.dumps(session(chat()))
        assert "about row 0 [redacted email]" in view
        assert not [secret for secret in SECRETS for text in asked if secret in text]


def test_words_to_remember_are_noted_without_what_was_taken_out(tmp_path: Path) -> None:
    persist = {"match": {"type": "message"}, "action": {"persist": True}}
    redact = {"match": {}, "action": {"redact": "email"}}
    memory = Hippocampus(
        tmp_path, policy=Policy.model_validate({"lifecycle_policies": [persist, redact]})
    )
    with memory.session("s") as session, no_fallback():
        session([{"role": "user", "content": f"Always remember: I am {SECRETS[0]}."}])
        [entry] = session.entries
        assert entry.summary == "Always remember: I am [redacted email]."
    memory.close()


def test_a_failure_sends_the_list_without_what_was_taken_out(tmp_path: Path) -> None:
    memory = Hippocampus(tmp_path / "state", policy=policy(original=False))
    items = chat()
    with memory.session("s") as session:
        session(items[:1])
        shutil.rmtree(tmp_path / "state" / "contents")
        (tmp_path / "state" / "contents").write_text("no folder")
        view = session(items)
        assert session.report.failures == 1
        assert len(view) == len(items)
        assert "row 299 [redacted email]" in view[2]["content"]
        assert not [secret for secret in SECRETS if secret in json.dumps(view)]
        assert items == chat()


@pytest.mark.parametrize(
    "text", ['{"type":' + "[" * 1_200 + "}", '{"a":' * 1_200 + "1" + "}" * 1_200]
)
def test_a_result_that_nests_too_deep_switches_nothing_off(tmp_path: Path, text: str) -> None:
    items = chat()
    with managed(tmp_path, policy=policy(original=False)) as session:
        call = {"id": "d", "type": "function", "function": {"name": "f", "arguments": text}}
        items += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "d", "content": text},
            {"role": "user", "content": "And now?"},
        ]
        assert SECRETS[0] not in json.dumps(session(items))
        assert session.handle(items) == []
