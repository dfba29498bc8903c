"""The documents do not lie: their code runs, their blocks are what the software says, none lacks."""

from __future__ import annotations

import doctest
import importlib
import json
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer
from bench.readme_tables import BLOCK, QUICK, REPLAY, blocks_in

import hippocampus
from hippocampus.cli import app
from hippocampus.errors import HippocampusError
from hippocampus.policy import Policy
from hippocampus.prices import TABLES
from hippocampus.replay.readers.formats import LISTS, READERS
from hippocampus.replay.strategies import BASELINES, FLOOR

ROOT = Path(__file__).parent.parent
README, SPEC, CHANGELOG = (
    (ROOT / name).read_text("utf-8") for name in ("README.md", "SPEC.md", "CHANGELOG.md")
)
DOCUMENTED = README + SPEC
CODE = re.compile(r"```python\n(.*?)```", re.DOTALL)
BOX = re.compile(r"[─│╭╮╰╯]+|<[^>]*>|\b[A-Z]{3,}\b")
"""What differs between versions of the library that prints the help: frames and type names."""
NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
TOLERANCE = 0.03
"""Other versions of what the figures were written with may move one by so much."""


# The code in README


class Scripted:
    """A model behind a client: it calls a tool, recalls what it then sees, and answers."""

    def __init__(self, make: Any) -> None:
        self._make = make
        self.views: list[list[dict[str, Any]]] = []

    def create(self, *, tools: list[dict[str, Any]], **sent: Any) -> Any:
        """Answer the view as the clients of the three providers do."""
        view = sent.get("messages") or sent["input"]
        self.views.append(view)
        names = [tool.get("name") or tool["function"]["name"] for tool in tools]
        entry = re.search(r"\[(\w{8}) · ", json.dumps(view, ensure_ascii=False))
        match len(self.views):
            case 1:
                return self._make("list_orders", {"customer": 7})
            case 2:
                assert names == ["list_orders", "recall"]
                assert entry
                return self._make("recall", {"entry_id": entry[1], "pattern": "order_0042"})
            case 3:
                return self._make("recall", {"entry_id": "nosuchid"})
        return self._make("", {})


class Block(SimpleNamespace):
    """An object as the clients return it."""

    def model_dump(self, **_options: Any) -> dict[str, Any]:
        return json.loads(json.dumps(vars(self), default=vars))


def chat(tool: str, arguments: dict[str, Any]) -> Any:
    function = SimpleNamespace(name=tool, arguments=json.dumps(arguments))
    call = SimpleNamespace(id=f"call_{tool}_{len(arguments)}", type="function", function=function)
    answer = Block(role="assistant", content="done")
    answer.tool_calls = [call] if tool else []
    return SimpleNamespace(choices=[SimpleNamespace(message=answer)])


def responses(tool: str, arguments: dict[str, Any]) -> Any:
    said = Block(type="message", role="assistant", content=[{"type": "output_text", "text": "ok"}])
    call = Block(
        type="function_call",
        call_id=f"call_{tool}_{len(arguments)}",
        name=tool,
        arguments=json.dumps(arguments),
    )
    return SimpleNamespace(output=[said, call] if tool else [said])


def anthropic(tool: str, arguments: dict[str, Any]) -> Any:
    said = Block(type="text", text="ok")
    call = Block(type="tool_use", id=f"call_{tool}_{len(arguments)}", name=tool, input=arguments)
    return SimpleNamespace(content=[said, call] if tool else [said])


def client(create: Scripted) -> Any:
    return SimpleNamespace(
        chat=SimpleNamespace(completions=create), responses=create, messages=create
    )


ORDERS = json.dumps(
    [{"id": f"order_{number:04d}", "sum": f"{number}.50", "note": "x" * 40} for number in range(90)]
)
MINE = {
    "OpenAI Chat Completions": {"type": "function", "function": {"name": "list_orders"}},
    "OpenAI Responses": {"type": "function", "name": "list_orders"},
    "Anthropic Messages": {"name": "list_orders"},
}


@pytest.mark.parametrize(
    ("title", "make"),
    [
        ("OpenAI Chat Completions", chat),
        ("OpenAI Responses", responses),
        ("Anthropic Messages", anthropic),
    ],
)
def test_the_loops_in_the_readme_run(
    title: str, make: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    opening, closing = CODE.findall(README)[0], CODE.findall(README)[-1]
    loop = CODE.search(README, README.index(f"**{title}**"))
    assert loop
    model = Scripted(make)
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Which orders are there?"}]
    names = {
        "MODEL": "claude-sonnet-4-5",
        "client": client(model),
        "messages": messages,
        "my_tools": [MINE[title]],
        "run_tool": lambda _name, _arguments: ORDERS,
    }
    exec(opening + loop[1] + closing, names)
    said = json.dumps(messages)
    assert ORDERS in json.dumps(messages).replace('\\"', '"')
    assert json.dumps(ORDERS)[1:-1] not in json.dumps(model.views[-1])
    assert "order_0042" in said
    assert "never existed" in said
    assert (tmp_path / "agent-state").is_dir()


ODD_ARGUMENTS: list[Any] = [
    {"lines": "5-7"}, {"lines": [5]}, {"lines": ["5", "7"]}, {"lines": {"a": 1}}, {"lines": [7, 5]},
    {"head": "2"}, {"tail": -3}, {"max_tokens": "100"}, {"max_tokens": -1}, {"context": "1"},
    {"entry_id": 5}, {"entry_id": ["a"]}, {"entry_id": ""}, {"entry_id": "", "query": "order"},
    {"query": ""}, {"query": '\ud800 ( " OR *'}, {"pattern": "("}, {"pattern": 42}, {"path": "$["},
    {"path": "$[999].x"}, {"page": 2}, {"id": "kq3v7a2c"}, {"head": 10**30}, {"lines": [10**30, 0]},
    {"session_id": None}, [], 7, None, "text",
]  # fmt: skip


def test_the_loop_in_the_readme_survives_whatever_arguments_a_model_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"run_tool": None}
    exec(CODE.findall(README)[0], names)
    session = names["session"]
    messages = list(made_of(ORDERS))
    session(messages)
    [entry] = session.entries()
    for odd in ODD_ARGUMENTS:
        for asked in (odd, {"entry_id": entry.id, **odd}) if isinstance(odd, dict) else (odd,):
            for written in (json.dumps(asked), asked):
                assert names["run"]("recall", written)
    assert "not JSON" in names["run"]("recall", '{"entry_id": "abc')
    session.close()
    names["memory"].close()


def made_of(result: str) -> Iterator[dict[str, Any]]:
    """Yield a short chat in which one call has a result."""
    yield {"role": "user", "content": "Which orders are there?"}
    call = chat("list_orders", {"customer": 7}).choices[0].message.tool_calls[0]
    called = {"name": call.function.name, "arguments": call.function.arguments}
    yield {
        "role": "assistant",
        "tool_calls": [{"id": call.id, "type": "function", "function": called}],
    }
    yield {"role": "tool", "tool_call_id": call.id, "content": result}


def test_every_python_block_of_the_readme_is_run() -> None:
    assert len(CODE.findall(README)) == 2 + len(MINE)


def modules() -> Iterator[str]:
    for found in pkgutil.walk_packages(hippocampus.__path__, "hippocampus."):
        if not found.name.endswith("__main__"):
            yield found.name


def test_every_doctest_holds() -> None:
    tried = sum(doctest.testmod(importlib.import_module(name))[1] for name in modules())
    assert tried > 0


def test_the_decay_formula_in_the_spec_is_the_one_in_the_code() -> None:
    written = doctest.DocTestParser().get_doctest(BLOCK.sub("", SPEC), {}, "SPEC.md", None, None)
    failed, tried = doctest.DocTestRunner().run(written)
    assert tried > 0
    assert failed == 0
    assert len(re.findall(r"\*\* ?-0\.5", DOCUMENTED)) == 1


# The generated blocks


def words(text: str) -> list[str]:
    return BOX.sub(" ", text.removeprefix("```text").removesuffix("```")).split()


@pytest.mark.parametrize("name", [name for name in QUICK if name != "replay"])
def test_a_generated_block_is_what_the_software_says(name: str) -> None:
    """Where not: `python -m tests.bench.readme_tables`."""
    told = {**blocks_in(README), **blocks_in(SPEC)}[name]
    assert words(told) == words(QUICK[name]())


def test_the_figures_in_the_readme_are_those_of_its_command() -> None:
    """Where not: `python -m tests.bench.readme_tables replay`."""
    told, said = blocks_in(README)["replay"], QUICK["replay"]()
    assert f"hippocampus {' '.join(REPLAY)}" in README
    (table, versions), (printed, present) = (
        text.strip().rsplit("\n\n", 1) for text in (told, said)
    )
    if versions == present:
        assert words(printed) == words(table)
    figures, fresh = (
        [float(number.replace(",", "")) for number in NUMBER.findall(text)]
        for text in (table, printed)
    )
    assert fresh == pytest.approx(figures, rel=TOLERANCE, abs=1.5)
    assert [line.split("  ")[0] for line in told.splitlines()][:1] == ["```text"]


# Nothing is missing


def commands() -> dict[str, Any]:
    """Every command by its full name, such as `policy check`."""
    return dict(commands_below(typer.main.get_command(app)))


def commands_below(group: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    for name, each in group.commands.items():
        if hasattr(each, "commands"):
            yield from commands_below(each, f"{before}{name} ")
        else:
            yield f"{before}{name}", each


@pytest.mark.parametrize("name", commands())
def test_every_command_and_option_is_documented(name: str) -> None:
    """By its full name, or in the help of its group or a table of its group's verbs."""
    group, _, verb = name.rpartition(" ")
    told = f"hippocampus {name}" in DOCUMENTED
    assert told or (
        f"hippocampus {group}" in DOCUMENTED and re.search(rf"`{verb}[`\s]", DOCUMENTED)
    )
    options = [option for each in commands()[name].params for option in each.opts]
    assert [each for each in options if each.startswith("--") and each not in DOCUMENTED] == []


def test_every_option_that_is_documented_exists() -> None:
    names = "|".join({name.split()[0] for name in commands()})
    lines = [
        line for line in DOCUMENTED.splitlines() if re.search(rf"hippocampus ({names})\b", line)
    ]
    known = {
        option for each in commands().values() for param in each.params for option in param.opts
    }
    told = {option for line in lines for option in re.findall(r"(?<![\w-])--[a-z][\w-]*", line)}
    assert told <= known | {"--help"}


def backticked(names: Sequence[str], text: str = DOCUMENTED) -> list[str]:
    """Return the names that stand nowhere in backquotes, alone or as the start of an example."""
    return [
        name for name in names if not re.search(rf"`[^`\n]*(?<!\w){re.escape(name)}(?!\w)", text)
    ]


def test_every_public_name_is_documented() -> None:
    assert backticked(hippocampus.__all__) == []


@pytest.mark.parametrize("owner", ["Hippocampus", "Session"])
def test_every_public_method_is_documented(owner: str) -> None:
    kind = getattr(hippocampus, owner)
    assert backticked([name for name in vars(kind) if not name.startswith("_")]) == []


def test_every_policy_field_is_documented() -> None:
    assert backticked(list(Policy.model_fields)) == []


def test_every_strategy_price_table_and_format_is_documented() -> None:
    names = [each.name for each in (*BASELINES, FLOOR)]
    names += [*TABLES, *(reader.NAME for reader in (*READERS, *LISTS))]
    assert backticked(names) == []


def test_every_error_and_every_reason_is_documented() -> None:
    errors = [HippocampusError, *HippocampusError.__subclasses__()]
    assert [
        each.__name__
        for each in errors
        if not re.search(rf"── {each.__name__} |{each.__name__}\n", SPEC)
    ] == []
    recalling = sorted((ROOT / "hippocampus/recall").glob("*.py"))
    text = "\n".join(path.read_text("utf-8") for path in recalling)
    reasons = set(re.findall(r"(?:RecallError\(|_of\(record,)\s*\"(\w+)\"", text))
    assert len(reasons) == 7
    assert backticked(sorted(reasons), SPEC) == []


def test_every_kind_of_content_is_documented() -> None:
    source = "\n".join(
        path.read_text("utf-8") for path in sorted((ROOT / "hippocampus/indexing").rglob("*.py"))
    )
    kinds = set(re.findall(r"\bDraft\(\s*\"(\w+)\"", source)) - {"empty"}
    assert len(kinds) > 10
    assert backticked(sorted(kinds), README) == []
    assert backticked(sorted(kinds), SPEC) == []


def test_every_table_of_the_ledger_is_documented() -> None:
    from hippocampus.storage.ledger import MIGRATIONS

    tables = re.findall(r"CREATE TABLE (\w+) \((.*?)\) STRICT", "".join(MIGRATIONS), re.DOTALL)
    assert len(tables) >= 4
    for name, columns in tables:
        assert (
            backticked([name, *re.findall(r"^\s*(\w+) [A-Z]", columns, re.MULTILINE)], SPEC) == []
        )


# The JSON object


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("replay")
    recording = ROOT / "examples" / "transcripts" / "api-client.json"
    odd = folder / "odd.txt"
    odd.write_text("no recording", "utf-8")
    command = [sys.executable, "-m", "hippocampus", "replay", str(recording), str(odd), "--json"]
    command += ["--compare", "--report", str(folder / "report.html")]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=folder)
    return json.loads(done.stdout)


NAMED = {"sources", "strategies", "call_tokens", "call_costs"}
"""Objects whose keys are names of sources and strategies."""


def keys_of(value: Any, inside: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if inside not in NAMED:
                yield key
            yield from keys_of(inner, "" if inside in NAMED else key)
    elif isinstance(value, list):
        for inner in value:
            yield from keys_of(inner)


def test_every_field_of_the_json_object_is_documented_and_no_other(outcome: Any) -> None:
    section = re.search(r"\n#+ The JSON object\n(.*?)\n## ", SPEC, re.DOTALL)
    assert section
    told = set(re.findall(r"^\| `(\w+)`", section[1], re.MULTILINE))
    found = set(keys_of(outcome))
    assert found - told == set()
    assert told - found == set()


def test_links_between_documents_lead_somewhere() -> None:
    for text in (README, SPEC, CHANGELOG):
        for target, anchor in re.findall(r"\]\(([\w./-]*)(#[\w-]+)?\)", text):
            path = ROOT / target if target else None
            assert path is None or path.exists(), target
            if anchor:
                inside = path.read_text("utf-8") if path else text
                assert anchor[1:] in set(anchors(inside)), (target, anchor)


def test_the_contents_of_the_specification_name_each_section_once_and_in_order() -> None:
    contents = SPEC.partition("\n## ")[0]
    sections = [
        title.lower().replace(" ", "-") for title in re.findall(r"^## (.+)$", SPEC, re.MULTILINE)
    ]
    listed = re.findall(r"- (\[.+)$", contents, re.MULTILINE)
    assert re.findall(r"\(#([\w-]+)\)", "\n".join(listed)) == sections


def anchors(text: str) -> Iterator[str]:
    for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE):
        yield re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
