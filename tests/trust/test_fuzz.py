"""A short run of the fuzz proof at every edge, and the inputs that broke one."""

from __future__ import annotations

import contextlib
import json

import pytest
from trust.fuzz import EDGES, Edges, fuzz

from hippocampus import policy as policies
from hippocampus.errors import PolicyError
from hippocampus.formats.tool_calls import asks_to_read


@pytest.fixture(scope="module")
def edges(tmp_path_factory):
    with contextlib.closing(Edges(tmp_path_factory.mktemp("fuzz"))) as found:
        yield found


@pytest.mark.parametrize("name", EDGES)
def test_no_input_raises_an_exception_that_is_not_ours(edges, name):
    assert fuzz(edges, name, 11, count=5 if name == "sessions" else 15).broken == {}


@pytest.mark.parametrize(
    "number", ["9" * 5_000, "-" + "9" * 5_000, "0x" + "f" * 5_000, "9" * 5_000 + ".5"]
)
@pytest.mark.parametrize(
    "field",
    ["recall_tokens: {}", "budget_tokens: {}", "lifecycle_policies: [{{match: {{type: {}}}}}]"],
)
def test_a_number_of_5000_digits_is_a_problem_of_the_policy(tmp_path, number, field):
    path = tmp_path / "policy.yaml"
    path.write_text(field.format(number))
    with pytest.raises(PolicyError):
        policies.load(path)


@pytest.mark.parametrize(
    ("tool", "command"),
    [
        ("a" * 70_000, ""),
        ("Bash", "\n" * 19_000),
        ("Bash", "<<a\n" * 4_900),
        ("Bash", "<<" + "a" * 19_000),
        ("Bash", "'" * 19_001),
    ],
)
def test_a_call_of_any_length_takes_linear_time(tool, command):
    """Each of these once took from seconds to hours."""
    assert not asks_to_read(tool, json.dumps({"command": command}))
