"""Patterns are read alike with google-re2 and without it, and no search goes on without end."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from conversations import reading
from secret_formats import examples

from hippocampus import Hippocampus, patterns
from hippocampus.errors import RecallError
from hippocampus.patterns import LimitedPattern, PatternError, compiled
from hippocampus.policy import Redaction
from hippocampus.policy.matching import expression, finds
from hippocampus.recall import RecallRequest as Request
from hippocampus.recall import take
from hippocampus.secrets import UNSEARCHED, encodings, find, redacted

TEXT = "GET /orders/417 late\nérror: Überlast in Köln 42 ms\nuser_id=7; (a)"
READ_ALIKE = [
    r"\d+", r"[0-9a-z_]+", r"(?i)ERROR", r"\p{L}+", r"[[:digit:]]+", r"^\S+", r"(?m)^\S+", r"(?s)late.+Köln",
    r"\bGET\b", r"(?P<name>user)_id", r"\Aget|\x41", r"\\1|\(\?=", r"a{1,2}", r"orders|ord", r"\.|\(a\)",
]  # fmt: skip
NOT_READ = [
    "(a", r"(a)\1", r"\\(a)\1", "a(?=b)", "a(?!b)", "(?<=a)b", "(?<!a)b", "(?>a)", "(?#a)b", r"a\Z",
    "(a)?(?(1)b)", "(?P<n>a)(?P=n)",
]  # fmt: skip
REDACTING = """
name: redacting
lifecycle_policies:
  - match: {type: tool_result}
    action: {redact: secret}
"""
WITHOUT_RE2 = """
import json, sys
sys.modules["re2"] = None
import importlib.util
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == "re2" else found(name, *rest)
from hippocampus import Hippocampus, patterns
from hippocampus.secrets import redacted
from hippocampus.storage import database
assert not patterns.HAS_RE2
database.new_mark = lambda: "aa"
given = json.load(sys.stdin)
memory = Hippocampus(sys.argv[1], policy=given["policy"])
with memory.session("s") as session:
    view = session(given["messages"])
    [entry] = session.entries
    answers = [session.answer({"entry_id": entry.id, **each}) for each in given["asked"]]
json.dump([[redacted(each) for each in given["texts"]], view, answers], sys.stdout)
"""


def spans(expression: object) -> list[tuple[int, int]]:
    return [match.span() for match in expression.finditer(TEXT)]  # type: ignore[attr-defined]


@pytest.mark.parametrize("pattern", READ_ALIKE)
def test_a_pattern_is_read_alike(pattern: str) -> None:
    ours, limited = compiled(pattern, has_groups=True), LimitedPattern(pattern)
    assert patterns.HAS_RE2
    assert spans(ours) == spans(limited)
    assert bool(ours.search(TEXT)) == bool(limited.search(TEXT))
    assert bool(ours.fullmatch(TEXT)) == bool(limited.fullmatch(TEXT))
    assert ours.groups == limited.groups


@pytest.mark.parametrize("make", [compiled, LimitedPattern])
@pytest.mark.parametrize("text", NOT_READ)
def test_what_re2_does_not_read_is_refused(make: type[LimitedPattern], text: str) -> None:
    with pytest.raises(PatternError):
        make(text)


@pytest.mark.parametrize("method", ["search", "fullmatch"])
def test_a_search_without_re2_ends(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "MAX_SECONDS", 0.1)
    evil = LimitedPattern(r"((a|aa)+)+$")
    with pytest.raises(PatternError, match="more than"):
        getattr(evil, method)("a" * 5_000 + "!")


def test_a_recall_by_a_pattern_that_takes_too_long_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "HAS_RE2", False)
    monkeypatch.setattr(patterns, "MAX_SECONDS", 0.1)
    with pytest.raises(RecallError, match="use a simpler one"):
        take("a" * 5_000 + "!", Request(pattern=r"((a|aa)+)+$"), 2_000)


def test_without_re2_a_session_redacts_and_recalls_the_same(tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text(REDACTING, "utf-8")
    asked = [
        {"pattern": r"row_\d*7\b"},
        {"pattern": "(?i)ROW_1[0-2]", "context": 1},
        {"pattern": "(a"},
    ]
    texts = [f"{before} {secret}" for before, secret in examples(1).values()]
    given = {"policy": str(policy), "messages": reading(1), "asked": asked, "texts": texts}
    with Hippocampus(tmp_path / "with", policy=policy) as memory, memory.session("s") as session:
        view = session(given["messages"])
        [entry] = session.entries
        answers = [session.answer({"entry_id": entry.id, **each}) for each in asked]
    program = [sys.executable, "-c", WITHOUT_RE2, str(tmp_path / "without")]
    done = subprocess.run(
        program, input=json.dumps(given), capture_output=True, text=True, check=True
    )
    found, other_view, other_answers = json.loads(done.stdout)
    assert found == [redacted(text) for text in texts]
    assert other_view == view
    assert other_answers[:2] == answers[:2]
    assert "no regular expression" in other_answers[2]


def test_a_text_whose_search_for_secrets_does_not_end_in_time_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slow = (" " * 400 + "Bearer abcdef0123456789 word\n") * 140
    monkeypatch.setattr(patterns, "HAS_RE2", False)
    monkeypatch.setattr(patterns, "MAX_SECONDS", 0.05)
    encodings.compiled.cache_clear()
    expression.cache_clear()
    try:
        assert find(slow) == [(0, len(slow), UNSEARCHED)]
        assert Redaction(kinds=("secret",)).redacted(slow) == UNSEARCHED
        arguments = Redaction(kinds=("secret",)).redacted_json(
            json.dumps({"path": "a", "text": slow})
        )
        assert json.loads(arguments) == {UNSEARCHED: UNSEARCHED}
        assert finds(r"((a|aa)+)+$", "a" * 5_000 + "!")
    finally:
        encodings.compiled.cache_clear()
        expression.cache_clear()
