"""Rules: what they match, what they say, and which of them has the last word."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from hippocampus.entries.entry import Entry
from hippocampus.policy import Policy, Redaction, Resolution, Subject, load, shipped
from hippocampus.policy.matching import fold, has_word
from hippocampus.policy.rules import OWN_SOURCES
from hippocampus.policy.value_types import Encoding, EntryType, Priority
from hippocampus.recall.sources import known_sources

SECTION_10 = """
lifecycle_policies:
  # Tool results decay fast unless high priority
  - match:
      type: tool_result
      priority: [normal, low]
    action:
      decay_rate: 0.15
      persist: false
  
  # User instructions persist
  - match:
      type: message
      contains: ["remember", "always", "never", "important"]
    action:
      priority: high
      persist: true
  
  # Errors expire after 50 turns
  - match:
      type: tool_result
      source.type: error
    action:
      expires_after_turns: 50
  
  # Browser snapshots are highly compressible
  - match:
      source.type: browser.snapshot
    action:
      index: true
      compression: aggressive
      decay_rate: 0.2
  
  # Config/schema rarely needed twice
  - match:
      source.type: [config.schema, config.get]
    action:
      decay_rate: 0.3
      persist: false
"""  # noqa: W293 - as the protocol has it
"""The protocol's own policy, to the letter."""


@pytest.fixture(scope="module")
def section_10(tmp_path_factory: pytest.TempPathFactory) -> Policy:
    path = tmp_path_factory.mktemp("policies") / "section-10.yaml"
    path.write_text(SECTION_10, "utf-8")
    return load(path)


def said(treatment: Resolution) -> dict[str, Any]:
    return {name: getattr(treatment, name) for name in treatment.because}


def result(tool: str = "tool", text: str = "", **more: Any) -> Subject:
    return Subject("tool_result", tool=tool, text=text, **more)


def message(text: str) -> Subject:
    return Subject("message", source_type="user", text=text)


def ruled(*rules: dict[str, Any], **fields: Any) -> Policy:
    return Policy.model_validate({"lifecycle_policies": list(rules), **fields})


def matches(match: dict[str, Any], subject: Subject) -> bool:
    return bool(ruled({"match": match, "action": {"floor": 0.0}}).resolve(subject).because)


# The protocol's own policy


def test_a_file_without_a_name_has_that_of_the_file(section_10: Policy) -> None:
    assert section_10.name == "section-10"


@pytest.mark.parametrize("tool", ["browser.snapshot", "browser_snapshot", "mcp__browser__snapshot"])
def test_section_10_browser_snapshots(section_10: Policy, tool: str) -> None:
    treatment = section_10.resolve(result(tool))
    assert said(treatment) == {
        "decay_rate": 0.2, "persist": False, "index": True, "compression": "aggressive",
    }  # fmt: skip
    assert treatment.because["decay_rate"] == "rule 4"
    assert treatment.because["persist"] == "rule 1"


def test_section_10_instructions_errors_and_configuration(section_10: Policy) -> None:
    kept = section_10.resolve(message("Please REMEMBER: tabs, not spaces."))
    assert said(kept) == {"priority": "high", "persist": True}
    assert said(section_10.resolve(message("remembering is hard"))) == {}
    failed = section_10.resolve(result("browser_snapshot", is_error=True))
    assert said(failed) == {"decay_rate": 0.15, "persist": False, "expires_after_turns": 50}
    assert said(section_10.resolve(result("get_config", priority="high")))["decay_rate"] == 0.3
    assert said(section_10.resolve(result("grep", priority="high"))) == {}


# What a match can ask


@pytest.mark.parametrize(
    ("match", "subject", "holds"),
    [
        ({}, result(), True),
        ({"type": ["state", "memory"]}, Subject("state"), True),
        ({"type": ["state", "memory"]}, result(), False),
        ({"tool": "read*"}, result("READ_file"), True),
        ({"tool": ["write", "read_?"]}, result("read_file"), False),
        ({"tool": "[rw]*_[!x]ile"}, result("read_file"), True),
        ({"tool": "a.b"}, result("a-b"), False),
        ({"source.type": "config.*"}, result("get_config"), True),
        ({"source.type": "error"}, result("x", is_error=True), True),
        ({"tokens": {"over": 1000}}, result(tokens=1000), False),
        ({"tokens": {"over": 1000}}, result(tokens=1001), True),
        ({"tokens": {"over": 0, "under": 9}}, result(tokens=9), False),
        ({"tokens": {"over": 2}}, result(text="three words here"), True),
        ({"kind": ["code", "diff"]}, result(kind=lambda: "diff"), True),
        ({"kind": "code"}, result(kind="json"), False),
        ({"pattern": r"E\d{4}"}, result(text="failed: E1234"), True),
        ({"pattern": ["(?i)panic", "^x"]}, result(text="a PANIC"), True),
        ({"pattern": "^x"}, result(text="a\nx"), False),
        ({"arguments": {"path": "*.py"}}, result(arguments='{"path": "src/A.PY"}'), True),
        ({"arguments": {"path": "*.py", "n": "3"}}, result(arguments='{"path": "a.py"}'), False),
        ({"arguments": {"n": "3"}}, result(arguments='{"n": 3}'), True),
        ({"arguments": {"edits[*].path": ["*.md", "*.py"]}},
         result(arguments='{"edits": [{"path": "a.c"}, {"path": "a.py"}]}'), True),
        ({"arguments": {"a.b": "x"}}, result(arguments='{"a.b": "x"}'), True),
        ({"arguments": {"*": "*hello*"}}, result(arguments="echo hello"), True),
        ({"arguments": {"path": "*"}}, result(arguments="[" * 100_000), False),
        ({"type": "tool_result", "tool": "a", "kind": "code"}, result("a"), False),
    ],
)  # fmt: skip
def test_lists_mean_any_and_keys_mean_all(
    match: dict[str, Any], subject: Subject, holds: bool
) -> None:
    assert matches(match, subject) is holds


@pytest.mark.parametrize(
    ("word", "text", "holds"),
    [
        ("always", "I ALWAYS do", True),
        ("all", "tall", False),
        ("merk dir", "Merk\n dir das", True),
        ("nie", "niemand", False),
        ("größe", "GRÖSSE", True),
        ("größe", "gro\u0308ße", True),
        ("n'oublie pas", "n\u2019oublie pas !", True),
        ("hatırla", "HATIRLA", True),
        ("всегда", "Всегда так", True),
        ("重要", "这很重要。", True),
        ("必ず", "テストを必ず実行", True),
        ("항상", "항상은 아니다", True),
        ("remember", "请remember这个", True),
        ("दिल", "दिल्ली", False),
        ("c++", "use C++, please", True),
        ("always", "\ud800 always", True),
    ],
)
def test_words_are_whole_where_their_script_has_boundaries(
    word: str, text: str, holds: bool
) -> None:
    assert matches({"contains": word}, message(text)) is holds


@given(st.text(min_size=1).filter(fold), st.text())
def test_a_word_is_found_between_spaces_whatever_it_is(word: str, around: str) -> None:
    assert has_word(f"{fold(around)} {fold(word)} {fold(around)}", (word,))


def test_a_kind_is_asked_only_where_a_rule_needs_it() -> None:
    def refuse() -> str:
        raise AssertionError

    policy = ruled({"match": {"kind": "code", "tool": "read"}, "action": {"pin": True}})
    assert policy.resolve(result("write", kind=refuse)).because == {}


# Which rule has its say

FIRST = {"name": "one", "match": {"tool": "r*"}, "action": {"decay_rate": 0.3, "floor": 0.1}}
SECOND = {"match": {"tool": "read"}, "action": {"decay_rate": 0.0}}


def test_all_rules_are_heard_and_the_last_word_counts() -> None:
    treatment = ruled(FIRST, SECOND).resolve(result("read"))
    assert (treatment.decay_rate, treatment.floor) == (0.0, 0.1)
    assert treatment.because == {"decay_rate": "rule 2", "floor": "one"}


def test_rules_of_one_name_both_apply() -> None:
    rules = [
        {"name": "a", "match": {}, "action": {"pin": True}},
        {"name": "a", "match": {}, "action": {"floor": 0.5}},
    ]
    found = Policy.model_validate({"lifecycle_policies": rules}).resolve(Subject("message"))
    assert (found.pin, found.floor, found.because) == (True, 0.5, {"pin": "a", "floor": "a"})


def test_a_rule_sees_the_priority_that_the_rules_above_gave() -> None:
    raised = {"match": {"tool": "read"}, "action": {"priority": "high"}}
    slow = {"match": {"priority": ["normal", "low"]}, "action": {"decay_rate": 0.9}}
    assert ruled(raised, slow).resolve(result("read")).decay_rate is None
    assert ruled(slow, raised).resolve(result("read")).decay_rate == 0.9


RAISING = {"priority": "critical", "persist": True, "pin": True, "encoding": "manual", "floor": 0.5}


def test_content_cannot_raise_itself() -> None:
    rule = {"match": {"contains": "important"}, "action": {**RAISING, "compression": "light"}}
    own = ruled(rule).resolve(result(text="this is IMPORTANT"))
    assert said(own) == {"compression": "light"}
    assert set(own.withheld) == set(RAISING)
    assert said(ruled(rule).resolve(message("important"))) == rule["action"]


def test_content_is_raised_where_the_policy_names_tool_results() -> None:
    rule = {"match": {"type": "tool_result", "pattern": "CVE-"}, "action": RAISING}
    assert said(ruled(rule).resolve(result(text="CVE-2025-1"))) == RAISING


def test_without_rules_nothing_is_said() -> None:
    assert Policy().resolve(result()) == Resolution()


# What the policy makes of it


def test_a_rule_overrides_the_sizes_of_the_policy() -> None:
    policy = Policy(index_over_tokens=1_000, bulk_over_tokens=1_000)
    assert policy.indexes(10, lambda: "json", Resolution(index=True))
    assert not policy.indexes(9_000, lambda: "json", Resolution(index=False))
    assert not policy.indexes(9_000, lambda: "json", Resolution(compression="none"))
    assert not policy.indexes(9_000, lambda: "json", Resolution(compression="none", index=True))
    assert policy.fresh_turns_of("json", 9_000, Resolution(fresh_turns=3)) == 3
    assert policy.compression_of(Resolution(compression=300)) == 300
    assert Policy(compression="none").indexes(
        9_000, lambda: "json", Resolution(compression="light")
    )


def test_what_a_rule_shows_fresh_is_read_and_not_looked_up() -> None:
    policy = Policy(bulk_over_tokens=400)
    assert policy.indexes(500, lambda: "json")
    assert not policy.indexes(500, lambda: "json", Resolution(fresh_turns=1))


def test_decay_rates_are_those_of_section_8_1_and_in_default_those_that_were_fitted() -> None:
    types: list[EntryType] = ["tool_result", "message", "state", "memory"]
    assert [Policy().decay_rate_of(each) for each in types] == [0.1, 0.05, 0.02, 0.01]
    assert [load("default").decay_rate_of(each) for each in types] == [0.6, 0.3, 0.03, 0.01]
    assert load("default").decay_rate_of("tool_result", kind="code") == 0.15
    assert load("default").decay_rate_of("tool_result", kind="log") == 0.6
    assert Policy().decay_rate_of("state", Resolution(decay_rate=0.0)) == 0.0
    assert Policy(decay_rates={"state": 0.5}).decay_rates["tool_result"] == 0.1


def test_the_table_names_sources_and_the_first_glob_counts() -> None:
    policy = Policy(source_types={"*snap*": "page", "*": "other"})
    assert policy.source_type_of("Take_SNAPshot") == "page"
    assert policy.source_type_of("ls") == "other"
    assert policy.source_type_of("Take_SNAPshot", is_error=True) == "error"
    assert Policy().source_type_of("ls") == "ls"
    assert Policy().source_type_of("") == "tool"


# What is taken out

SECRETS = [
    "sk-proj-" + "a1B2" * 8,
    "ghp_" + "x" * 30,
    "AKIA" + "ABCD1234" * 2,
    "eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl",
]


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("email", "to Ada <ada.l@example.co.uk>!", "to Ada <[redacted email]>!"),
        ("card", "4111 1111 1111 1111 and 4111 1111 1111 1112",
         "[redacted card] and 4111 1111 1111 1112"),
        ("iban", "DE89 3704 0044 0532 0130 00", "[redacted iban]"),
        ("phone", "call +49 (30) 1234-5678, not 1234567890",
         "call [redacted phone], not 1234567890"),
        *[("secret", f"use {each} now", "use [redacted secret] now") for each in SECRETS],
        ("secret", "Authorization: Bearer abc.def-ghi_jkl",
         "Authorization: Bearer [redacted secret]"),
        ("secret", '{"password": "two words", "n": 1}',
         '{"password": "[redacted secret]", "n": 1}'),
        ("secret", '"{\\"token\\": \\"abcd1234\\"}"', '"{\\"token\\": \\"[redacted secret]\\"}"'),
        ("secret", "API_KEY=8f2c11aa", "API_KEY=[redacted secret]"),
        ("secret", "postgres://me:hunter2@db/x", "postgres://me:[redacted secret]@db/x"),
        ("secret", "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n", "[redacted secret]"),
        ("secret", "5,000 tokens: fine", "5,000 tokens: fine"),
    ],
)  # fmt: skip
def test_named_kinds_are_taken_out(kind: Any, text: str, expected: str) -> None:
    redaction = Redaction(kinds=(kind,))
    assert redaction.redacted(text) == expected
    assert redaction.redacted(expected) == expected


def test_redactions_of_several_rules_add_up() -> None:
    policy = ruled(
        {"match": {}, "action": {"redact": "email"}},
        {"match": {}, "action": {"redact": {"patterns": "K-(\\d+)", "original": True}}},
        {"match": {}, "action": {"redact": ["email", "card"]}},
    )
    treatment = policy.resolve(result())
    assert treatment.redacted("a@b.cd paid K-77") == "[redacted email] paid K-[redacted]"
    assert treatment.redact
    assert treatment.redact.original
    assert treatment.redact.kinds == ("email", "card")
    assert treatment.because["redact"] == "rule 1, rule 2, rule 3"
    assert Resolution().redacted("a@b.cd") == "a@b.cd"


def test_a_copy_of_a_policy_redacts_by_its_own_rules() -> None:
    plain = ruled({"match": {}, "action": {"priority": "low"}})
    assert not plain.redacts
    hiding = ruled({"match": {}, "action": {"redact": "email"}})
    rules = {"lifecycle_policies": hiding.lifecycle_policies}
    assert plain.model_copy(update=rules).redacts


@given(st.text())
def test_what_has_nothing_to_hide_stays_as_it_is(text: str) -> None:
    assert Resolution().redacted(text) == text
    policy = ruled({"match": {}, "action": {"redact": {"patterns": "\\x{10FFFF}{9}"}}})
    assert policy.resolve(result()).redacted(text) == text


def test_the_sources_that_come_with_the_package_are_the_ones_whose_fields_are_known() -> None:
    assert set(known_sources({})) == set(OWN_SOURCES)


def test_a_source_is_a_name_or_a_mapping_with_a_type() -> None:
    short = ruled({"match": {}, "action": {"source": "files"}}).resolve(result()).source
    long = ruled({"match": {}, "action": {"source": {"type": "files", "root": "src"}}})
    assert short
    assert short.type == "files"
    assert long.resolve(result()).source.model_extra == {"root": "src"}
    roots = ruled({"match": {}, "action": {"source": {"type": "file", "roots": "src"}}})
    assert roots.resolve(result()).source.roots == ("src",)


# The words


def test_words_and_patterns_take_linear_time() -> None:
    """An expression that backtracks would not come back from this text."""
    policy = ruled({"match": {"contains": ["a b", "zz"], "pattern": "(a*)*c"}, "action": {}})
    assert policy.resolve(message("a" * 3_000_000 + " zz")) == Resolution()


def test_the_words_are_those_that_the_rest_knows() -> None:
    modifiers = TypeAdapter(Entry).json_schema()["$defs"]["Modifiers"]["properties"]
    assert set(get_args(Priority)) == set(modifiers["priority"]["enum"])
    assert set(get_args(Encoding)) == set(modifiers["encoding"]["enum"])


@pytest.mark.parametrize("name", shipped())
def test_a_shipped_policy_survives_a_copy_by_json(name: str) -> None:
    policy = load(name)
    copied = Policy.model_validate_json(policy.model_dump_json(by_alias=True))
    assert copied == policy
    assert json.loads(policy.model_dump_json())["name"] == name


def test_records_have_a_size_and_no_share_of_their_own() -> None:
    policy = Policy(index_over_tokens=1_000, bulk_over_tokens=800, records_over_tokens=300)
    large = {kind: policy.indexes(500, lambda kind=kind: kind) for kind in ("json", "log", "text")}
    assert large == {"json": True, "log": False, "text": False}
    fresh = policy.model_copy(update={"fresh_turns": {"json": 2}})
    assert not fresh.indexes(500, lambda: "json")
    assert not Policy(bulk_over_tokens=800).indexes(500, lambda: "json")
    assert policy.is_worth_shortening(900, 700, "json")
    assert not policy.is_worth_shortening(900, 700, "log")


@pytest.mark.parametrize(("kind", "turns"), [("json", 8), ("code", 8), ("log", 8)])
def test_a_file_that_the_agent_asked_to_read_stands_in_full(kind: str, turns: int) -> None:
    assert load("default").fresh_turns_of(kind, 6_000, asked=True) == turns
