"""Policies: the shipped ones load, and a wrong one tells every problem with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from hippocampus.errors import PolicyError
from hippocampus.policy import Policy, load, shipped


@pytest.mark.parametrize("name", shipped())
def test_every_shipped_policy_loads_under_its_name(name: str) -> None:
    assert "default" in shipped()
    assert load(name).name == name


def problems(tmp_path: Path, text: str) -> list[str]:
    path = tmp_path / "mine.yaml"
    path.write_text(text, "utf-8")
    with pytest.raises(PolicyError) as told:
        load(path)
    assert str(told.value) == "\n".join(told.value.problems)
    assert all(str(path) in problem for problem in told.value.problems)
    return [problem.removeprefix(str(path)) for problem in told.value.problems]


def test_every_problem_is_told_at_once_with_line_column_and_path(tmp_path: Path) -> None:
    text = "name: mine\nindex_over_tokens: -1\nrecall_token: 9\nfresh_turns:\n  code: soon\n"
    found = problems(tmp_path, text)
    assert len(found) == 3
    places = {problem.split(": ")[0]: problem for problem in found}
    assert places[":2:1"].endswith("@ $.index_over_tokens")
    assert "unknown field 'recall_token'; did you mean recall_tokens" in places[":3:1"]
    assert places[":5:3"].endswith("@ $.fresh_turns.code")


@pytest.mark.parametrize(
    "text",
    ["- a list", "just text", "", "a: [1", "a: *nowhere", "\tx: 1", "a: 2001-99-99", "a: \x00"],
)
def test_a_file_that_is_no_policy_is_one_told_problem(tmp_path: Path, text: str) -> None:
    assert len(problems(tmp_path, text)) >= 1


def test_an_unknown_name_lists_the_shipped_ones() -> None:
    with pytest.raises(PolicyError, match=r"no policy 'defualt'.*default"):
        load("defualt")
    with pytest.raises(PolicyError, match="no policy"):
        load("nul\0l")


def test_a_policy_that_is_no_text_is_told(tmp_path: Path) -> None:
    path = tmp_path / "binary.yaml"
    path.write_bytes(b"\xff\xfe\x00\x80")
    with pytest.raises(PolicyError, match=r"binary\.yaml"):
        load(path)


def test_a_policy_larger_than_any_policy_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "large.yaml"
    path.write_bytes(b"#" * 1_000_001)
    with pytest.raises(PolicyError, match="larger than"):
        load(path)


def test_fresh_turns_end_where_contents_are_large() -> None:
    policy = Policy(fresh_turns={"code": 2}, fresh_up_to_tokens=100)
    assert [policy.fresh_turns_of("code", size) for size in (100, 101)] == [2, 0]
    assert policy.fresh_turns_of("json", 1) == 0
