"""Policy files: what one extends, every problem at its place, and YAML that means harm."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from policy.test_policy import problems
from typer.testing import CliRunner

from hippocampus import prices
from hippocampus.cli.commands import app
from hippocampus.errors import PolicyError
from hippocampus.policy import (
    Policy,
    Subject,
    load,
    matching,
    shipped,
    text_of,
    yaml_files,
)
from hippocampus.policy.yaml_files import read

ROOT = Path(__file__).parents[2]


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / f"{name}.yaml"
    path.write_text(text, "utf-8")
    return path


def one_rule(match: str = "{}", action: str = "{}") -> str:
    return f"lifecycle_policies:\n  - match: {match}\n    action: {action}\n"


# Problems


@pytest.mark.parametrize(
    ("text", "place", "told"),
    [
        ("prices: openia", ":1:1", "did you mean openai"),
        ("model: gpt-9", ":1:1", "unknown model 'gpt-9'; did you mean gpt-"),
        ("compression: agressive", ":1:1", "did you mean aggressive"),
        ("compression: 0", ":1:1", "or the most tokens"),
        ("compression: true", ":1:1", "found True"),
        ("strong: 1.5", ":1:1", "expected at most 1.0, found the number 1.5"),
        ("fade_over_tokens: 1" + "0" * 99, ":1:1", "expected at most 1000000000, found the number"),
        ("exponent: 1.0e+300", ":1:1", "expected at most 1000000.0"),
        (one_rule(action="{expires_after_turns: 10000000000}"), ":3:14", "expected at most 1000000000"),
        ("exponent: .nan", ":1:1", "found the number nan"),
        ("budget_tokens: 1.5", ":1:1", "expected a whole number, found the number 1.5"),
        ("budget_tokens: yes", ":1:1", "expected a whole number, found true"),
        ("budget_tokens:", ":1:1", "expected a whole number, found nothing"),
        ("name: 5", ":1:1", "expected text, found the number 5; put it in quotes"),
        ("fresh_turns: 1", ":1:1", "expected a mapping, found the number 1"),
        ("fresh_turns: {cod: 1}", ":1:15", "found text 'cod'; did you mean code?"),
        ("decay_rates: {message: -1}", ":1:15", "expected at least 0"),
        ("decay_rates: {code: 800}", ":1:15", "expected at most 100"),
        (one_rule(action="{decay_rate: 800}"), ":3:14", "expected at most 100"),
        ("source_types: {'a[z-b]': x}", ":1:16", "z-b is no range of characters: b-z is one"),
        (one_rule("{tool: ['[a-z]*', '*[!0z-b]']}"), ":2:30", "z-b is no range"),
        ("decay_rate: 1", ":1:1", "unknown field 'decay_rate'; did you mean decay_rates"),
        ("lifecycle_policies: {}", ":1:1", "expected a list, found a mapping"),
        ("lifecycle_policies:\n  - match: {}", ":2:5", "field 'action' is missing"),
        ("lifecycle_policies:\n  - 5", ":2:5", "expected a mapping of fields, found the number 5"),
        (one_rule("{type: tool}"), ":2:13", "did you mean tool_result"),
        (one_rule("{priority: [low, hi]}"), ":2:29", "did you mean high"),
        (one_rule("{kind: cod}"), ":2:13", "did you mean code"),
        (one_rule("{contains: [yes]}"), ":2:24", "expected text, found true; put it in quotes"),
        (one_rule("{contains: ' '}"), ":2:13", "only space"),
        (one_rule("{kind: []}"), ":2:13", "expected at least one item, found a list"),
        (one_rule(action="{}"), ":3:5", "the rule sets no field"),
        ("lifecycle_policies:\n" + "  - {name: a, match: {}, action: {pin: true}}\n" * 2, ":3:6", "has the name 'a' too"),
        (one_rule("{contains: ''}"), ":2:13", "text that is not empty"),
        (one_rule("{tool: ['']}"), ":2:20", "expected text that is not empty, found text ''"),
        (one_rule("{tokens: {over: 10, under: 11}}"), ":2:13", "no size is over 10 and under 11"),
        ("facts: {half_life_days: {decision: -3}}", ":1:26", "expected more than 0.0, found the number -3"),
        (one_rule("{pattern: '(?=a)'}"), ":2:13", "no RE2 expression"),
        (one_rule("{pattern: '((a{99}){99}){99}'}"), ":2:13", "no RE2 expression"),
        (one_rule("{arguments: {path: 5}}"), ":2:25", "put it in quotes"),
        (one_rule("{source: x}"), ":2:13", "did you mean source.type"),
        (one_rule("{source_type: x}"), ":2:13", "did you mean source.type"),
        (one_rule("{persist: true}"), ":2:13", "unknown field 'persist'"),
        (one_rule(action="{tool: x}"), ":3:14", "unknown field 'tool'; known: decay_rate"),
        (one_rule(action="{priority: urgent}"), ":3:14", "expected one of critical, high, normal, low"),
        (one_rule(action="{persist: 'yes'}"), ":3:14", "expected true or false, found text 'yes'"),
        (one_rule(action="{redact: emial}"), ":3:14", "did you mean email"),
        (one_rule(action="{redact: {pattern: x}}"), ":3:23", "did you mean patterns"),
        (one_rule(action="{source: {name: x}}"), ":3:14", "field 'type' is missing"),
        (one_rule(action="{source: {type: file, root: x}}"), ":3:14", "'root' of source 'file'; did you mean roots?"),
        ("extends: defualt", ":1:1", "no policy 'defualt'"),
        (f"extends: {'a' * 300}", ":1:1", "file name too long"),
        ("name: a\nname: b", ":2:1", "'name' stands twice; first in line 1"),
        ("1: 2", ":1:1", "expected text as a key"),
    ],
)  # fmt: skip
def test_a_problem_says_what_is_expected_and_what_is_near(
    tmp_path: Path, text: str, place: str, told: str
) -> None:
    found = problems(tmp_path, text)
    assert [each for each in found if each.startswith(f"{place}: ") and told in each], found
    assert len(found) == 1


def test_every_problem_of_every_level_is_told_at_once(tmp_path: Path) -> None:
    write(tmp_path, "base", "strong: 2\n")
    text = "extends: base.yaml\nstrong: 0.4\nstrong: 0.5\n" + one_rule("{type: x}", "{pin: 3}")
    path = write(tmp_path, "mine", text)
    with pytest.raises(PolicyError) as told:
        load(path)
    places = [
        re.sub(r"^.*/(\w+\.yaml:\d+:\d+): .* @ ", r"\1 ", each) for each in told.value.problems
    ]
    assert places == [
        "mine.yaml:3:1 $.strong",
        "mine.yaml:5:13 $.lifecycle_policies[0].match.type",
        "mine.yaml:6:14 $.lifecycle_policies[0].action.pin",
        "base.yaml:1:1 $.strong",
    ]


def test_a_text_that_is_not_utf_8_has_a_position(tmp_path: Path) -> None:
    (path := tmp_path / "mine.yaml").write_bytes("strong: 0.5\nname: café\n".encode("latin-1"))
    with pytest.raises(PolicyError, match=r"mine.yaml:2:10: not UTF-8"):
        load(path)


def test_a_path_quotes_what_is_no_name(tmp_path: Path) -> None:
    (found,) = problems(tmp_path, one_rule("{source.type: 5}"))
    assert found.endswith('@ $.lifecycle_policies[0].match["source.type"]')


# What one extends

BASE = """
index_over_tokens: 7
decay_rates: {tool_result: 0.5}
source_types: {"*": thing}
lifecycle_policies:
  - {name: kept, match: {}, action: {floor: 0.1}}
  - {match: {}, action: {decay_rate: 0.9}}
  - {name: replaced, match: {}, action: {pin: true}}
"""


def test_a_policy_has_what_it_leaves_out_from_the_one_it_extends(tmp_path: Path) -> None:
    write(tmp_path, "base", BASE)
    own = "decay_rates: {message: 0.2}\nsource_types: {'r*': read}\nfresh_turns: {code: 3}\n"
    rules = "lifecycle_policies:\n  - {name: replaced, match: {}, action: {decay_rate: 0.1}}\n"
    policy = load(write(tmp_path, "mine", f"extends: base.yaml\n{own}{rules}"))
    assert (policy.name, policy.index_over_tokens) == ("mine", 7)
    assert (policy.decay_rates["tool_result"], policy.decay_rates["message"]) == (0.5, 0.2)
    assert policy.fresh_turns == {"code": 3, "prose": 1}
    assert [policy.source_type_of(tool) for tool in ("read", "write")] == ["read", "thing"]
    treatment = policy.resolve(Subject("tool_result"))
    assert treatment.because == {"floor": "kept", "decay_rate": "replaced"}
    assert treatment.pin is None
    assert [rule.name for rule in policy.lifecycle_policies] == ["kept", "base rule 2", "replaced"]


def test_a_rule_that_sets_nothing_takes_away_the_one_that_it_replaces(tmp_path: Path) -> None:
    write(tmp_path, "base", "lifecycle_policies:\n- {name: a, match: {}, action: {pin: true}}")
    rules = "lifecycle_policies:\n- {name: a, match: {}, action: {}}"
    policy = load(write(tmp_path, "mine", f"extends: base.yaml\n{rules}"))
    assert policy.resolve(Subject("message")).pin is None


def test_a_policy_extends_no_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    write(tmp_path, "one", "extends: pipe")
    with pytest.raises(PolicyError, match="'pipe' is not a file"):
        load(tmp_path / "one.yaml")


def test_a_chain_and_a_shipped_name_are_followed_and_a_cycle_is_told(tmp_path: Path) -> None:
    write(tmp_path, "one", "extends: two.yaml\nstrong: 0.6")
    write(tmp_path, "two", "extends: coding")
    policy = load(tmp_path / "one.yaml")
    assert (policy.strong, policy.source_types["read"]) == (0.6, "file.read")
    write(tmp_path, "two", "extends: ./one.yaml")
    with pytest.raises(PolicyError, match=r"extend itself: one\.yaml → two\.yaml → one"):
        load(tmp_path / "one.yaml")


def test_the_shipped_policies_differ_and_every_number_has_its_reason() -> None:
    assert set(shipped()) == {
        "default", "coding", "browser", "research", "service", "long-context",
    }  # fmt: skip
    assert len({load(name).model_dump_json() for name in shipped()}) == 6
    for path in shipped().values():
        assert bare_numbers(path.read_text("utf-8")) == []


def bare_numbers(text: str) -> list[str]:
    """The lines with a number that no comment stands above, in the same block or its parent's."""
    lines, bare = text.splitlines(), []
    for at, line in enumerate(lines):
        above = lines[:at]
        block = above[max((n for n, each in enumerate(above) if not each.strip()), default=0) :]
        if re.search(r"^ *[^# ].*: \[?\d", line) and not any("#" in each for each in block):
            bare.append(line)
    return bare


INSTRUCTIONS = """
    Always run the tests. | Don\N{RIGHT SINGLE QUOTATION MARK}t forget the licence. | do not forget | IMPORTANT: no tabs
    Merk dir: keine Tabs. | das ist wichtige Post | am wichtigsten ist | nicht vergessen! | Nie wieder
    N\N{RIGHT SINGLE QUOTATION MARK}oublie pas les tests | n'oubliez pas | Souvenez-vous | les règles importantes | jamais
    Recuerda esto | no olvides | No se olvide de nada | Acuérdate | importantes | jamás
    Lembre-se disso | não se esqueça | Nao esqueca | sempre | as coisas importantes
    Ricordatevi | non dimenticare | non scordarti | mai più | importanti
    Onthoud dit | vergeet niet | een belangrijke regel | nooit
    Zapamiętaj to | nie zapomnij o tym | Najważniejsze jest | ważna rzecz | nigdy
    BUNU UNUTMA | unutmayın | HATIRLA | hiçbir zaman | önemlidir
    Всегда запускай тесты | не забудь | Не забывайте | это важная вещь | помните
    запам\N{MODIFIER LETTER APOSTROPHE}ятай | не забувай | важливі правила | ніколи
    تذكّر هذا | لا تنس | دائمًا | أبدًا | هذا مهم
    हमेशा परीक्षण चलाएँ | याद रखिए | मत भूलना | कभी मत
    请务必运行测试 | 不要忘记 | 别忘了运行 | 請記得 | 絕不 | 千万别删
    必ずテストを実行して | 忘れないで | 覚えておいて | 絶対に
    항상 테스트를 실행해 | 기억하세요 | 잊지 마세요 | 절대로 | 중요한
"""
NO_INSTRUCTIONS = """
    run the tests | I remembered it | nevertheless | unimportant | a forgotten branch | remembrance
    Das ist gewichtig | ich merke nichts | Der Mai ist da | vergessene Dateien | die Wichtigkeit
    To nie działa | to sie nie uda | Hvilket merke er det | le 3 mai | il ricordo | un recuerdo
    simmer | nimmer | semper | la memoria | herinnering | помнить | неважно | تذكرة القطار
    نفذ المهمة | 一千万用户 | 절대 경로 | 오늘 | 覚悟 | いつもありがとう
"""


def phrases(told: str) -> list[str]:
    return [each.strip() for each in re.split(r"[|\n]", told) if each.strip()]


@pytest.mark.parametrize("name", ["default", "browser", "coding"])
def test_shipped_policies_keep_the_instructions_of_people_in_many_languages(name: str) -> None:
    policy = load(name)
    for text in phrases(INSTRUCTIONS):
        assert policy.resolve(Subject("message", source_type="user", text=text)).persist, text
        spoken = Subject("message", source_type="assistant", text=text)
        assert policy.resolve(spoken).because == {}
        assert policy.resolve(Subject("tool_result", text=text)).because == {}


def test_words_that_only_look_like_an_instruction_are_none() -> None:
    policy = load("default")
    for text in phrases(NO_INSTRUCTIONS):
        said = Subject("message", source_type="user", text=text)
        assert not policy.resolve(said).because, text


def test_every_word_of_the_instructions_is_found_as_it_stands() -> None:
    policy = load("default")
    words = matching.instruction_words()
    assert len(words) == len(set(words)) > 300
    for word in words:
        assert policy.resolve(Subject("message", source_type="user", text=f"({word})")).persist, (
            word
        )


# YAML that means harm

LAUGHS = "a0: &a0 [x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join(['*a' + str(n - 1)] * 9)}]\n" for n in range(1, 12)
)
MERGES = "a0: &a0 {x: 1}\n" + "".join(
    f"a{n}: &a{n} {{<<: [{', '.join(['*a' + str(n - 1)] * 9)}]}}\n" for n in range(1, 12)
)
CHAIN = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 3_000))


@pytest.mark.parametrize(
    "text",
    [
        LAUGHS, MERGES, CHAIN, "a: &a [*a]", "a: &a {b: *a}", "- " * 5_000, "[" * 40_000,
        "{a: " * 5_000, "[" + "x," * 1_001 + "]", "a: !!python/name:os.system",
        "a: !!binary aGk=", "a: !!set {x}", "a: !x y", "--- 1\n--- 2", "a: 0x" + "f" * 9_000,
        "? [a]\n: 1", "a: \ud7ff\ufffe", "%YAML 9.9\n---\na: 1", "a: 1" + "0" * 5_000,
    ],
    ids=range(19),
)  # fmt: skip
def test_hostile_yaml_is_refused_before_it_is_unfolded(
    tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(yaml_files, "MAX_NODES", 1_000)
    assert problems(tmp_path, text)


def test_an_alias_is_a_value_that_wants_quotes(tmp_path: Path) -> None:
    text = "lifecycle_policies:\n  - match: {tool: *browser}\n    action: {}\n"
    [problem] = problems(tmp_path, text)
    assert ":2:19: quote a value that begins with '*'" in problem


@given(st.text(st.characters(codec="utf-8"), max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(PolicyError):
        assert isinstance(read(text, "p.yaml").twice, list)


def test_a_date_is_text_and_a_mark_of_byte_order_is_none(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_bytes(b"\xef\xbb\xbfname: 2026-02-01\n")
    assert load(path).name == "2026-02-01"


def test_a_policy_crosses_a_process_boundary() -> None:
    policy = load("coding")
    policy.resolve(Subject("tool_result", tool="read"))
    assert pickle.loads(pickle.dumps(policy)) == policy


# The command


def run(*arguments: str) -> tuple[int, str, str]:
    group = [] if arguments[0] == "explain" else ["policy"]
    done = CliRunner().invoke(app, [*group, *arguments])
    return done.exit_code, done.stdout, done.stderr


def test_check_tells_all_problems_of_all_files_and_ends_with_1(tmp_path: Path) -> None:
    good, bad = write(tmp_path, "good", "strong: 0.4"), write(tmp_path, "bad", "strong: 4\nx: 1")
    status, out, err = run("check", str(good), str(bad), "coding")
    assert status == 1
    assert out.splitlines() == [f"{good}: policy good, 0 rules", "coding: policy coding, 7 rules"]
    assert [line.split(": ")[0] for line in err.splitlines()] == [f"{bad}:1:1", f"{bad}:2:1"]
    assert run("check", *shipped())[0] == 0


def test_check_names_sources_that_no_package_has(tmp_path: Path) -> None:
    rules = [one_rule(action="{source: tickts}"), one_rule(action="{source: file}")]
    unknown, known = (write(tmp_path, f"p{n}", rule) for n, rule in enumerate(rules))
    status, out, _ = run("check", str(unknown), str(known))
    assert status == 0
    assert "the source 'tickts' is the host's" in out
    assert len(out.splitlines()) == 3


def test_show_prints_the_file_and_resolved_what_works(tmp_path: Path) -> None:
    assert run("show", "coding")[1] == text_of("coding")
    status, out, _ = run("show", "coding", "--resolved")
    resolved = load(write(tmp_path, "resolved", out))
    assert status == 0
    assert "extends" not in out
    assert resolved == load("coding").model_copy(update={"extends": None})


def test_schema_names_every_field_and_word() -> None:
    status, out, _ = run("schema")
    schema = json.loads(out)
    assert status == 0
    assert set(schema["properties"]) == set(Policy.model_fields)
    assert all(each.get("description") for each in schema["properties"].values())
    assert all(
        each.get("description") for each in schema["$defs"]["RuleAction"]["properties"].values()
    )
    match = schema["$defs"]["Match"]["properties"]
    assert "source.type" in match
    lists = [match[name]["anyOf"][1] for name in ("type", "tool", "pattern", "contains")]
    assert [found.get("minItems") for found in lists] == [1, 1, 1, 1]
    for word in ("aggressive", "tool_result", "critical", "email", "listing", *prices.TABLES):
        assert f'"{word}"' in out


RECORDING: list[dict[str, Any]] = [
    {"role": "user", "content": "Remember: never push."},
    {"role": "assistant", "content": "", "tool_calls": [
        {"id": "c1", "type": "function",
         "function": {"name": "get_config", "arguments": '{"path": "a.py"}'}}]},
    {"role": "tool", "tool_call_id": "c1", "content": "important: keep me"},
    {"role": "assistant", "content": "Done."},
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("fresh_turns: {code: *old*}", ":1:21: quote a value that begins with '*'"),
        ("lifecycle_policies:\n  - a: 1\n  b: [2", ":3:3: not YAML: expected <block end>"),
    ],
)
def test_a_file_that_is_no_yaml_says_so(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(PolicyError, match=re.escape(problem)):
        load(write(tmp_path, "mine", text))


def test_explain_says_which_rule_decided_what(tmp_path: Path) -> None:
    path = tmp_path / "session.json"
    path.write_text(json.dumps(RECORDING), "utf-8")
    status, out, _ = run("explain", str(path))
    assert status == 0
    assert "priority: high (instructions)" in out
    assert "decay_rate: 0.8 (configuration)" in out
    mine = write(
        tmp_path,
        "mine",
        one_rule("{contains: important}", "{pin: true, floor: 0.0, redact: [email]}"),
    )
    _, table, _ = run("explain", str(path), "--policy", str(mine))
    assert "floor: 0.0 (rule 1)" in table
    assert 'redact: {"kinds": ["email"]} (rule 1)' in table
    assert "pin withheld" in table


def test_the_consolidation_block_is_checked_with_its_place(tmp_path: Path) -> None:
    text = "consolidation:\n  facts: 1\n  arcive: true\n  model_seconds: -1\n"
    with pytest.raises(PolicyError) as failure:
        load(write(tmp_path, "mine", text))
    told = str(failure.value)
    assert ":2:3: expected true or false, found the number 1 @ $.consolidation.facts" in told
    assert ":3:3: unknown field 'arcive'; did you mean archive?" in told
    assert ":4:3: expected at least 0.0, found the number -1" in told


def test_an_extending_policy_completes_the_consolidation_block(tmp_path: Path) -> None:
    write(tmp_path, "whole", "consolidation: {context_load_tokens: 900, archive: false}")
    own = write(tmp_path, "own", "extends: whole.yaml\nconsolidation: {archive: true}")
    block = load(own).consolidation
    assert (block.context_load_tokens, block.archive) == (900, True)
