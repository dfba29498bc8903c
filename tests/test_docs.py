"""The documents are true: their code runs, their blocks are what the software prints, none is missing."""

from __future__ import annotations

import ast
import contextlib
import doctest
import functools
import importlib
import io
import json
import pkgutil
import re
import shutil
import sys
import tokenize
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import generate
import pytest
from bench.readme_tables import DOCUMENTS, QUICK, REPLAY, SLOW, blocks_in
from commands import run
from models.endpoint import Answer, Asked, endpoint

import hippocampus
from hippocampus import policy, prices
from hippocampus.consolidation import scheduler
from hippocampus.errors import HippocampusError
from hippocampus.formats.reader import FORMATS
from hippocampus.indexing.kinds import KINDS
from hippocampus.replay.readers.formats import LISTS, READERS
from hippocampus.replay.strategies import BASELINES, FLOOR
from hippocampus.testing import ScriptedModel, call, entry_ids

ROOT = Path(__file__).parent.parent
README, SPEC, CHANGELOG, SECURITY = (
    (ROOT / name).read_text("utf-8")
    for name in ("README.md", "SPEC.md", "CHANGELOG.md", "SECURITY.md")
)
PAGES = sorted((ROOT / "docs").rglob("*.md"))
DOCUMENT_PATHS = [
    *(ROOT / f"{name}.md" for name in ("README", "SPEC", "CHANGELOG", "SECURITY")),
    *PAGES,
]
TEXTS = {path: path.read_text("utf-8") for path in DOCUMENT_PATHS}
DOCUMENTED = "\n".join(TEXTS.values())
SOURCES = sorted((ROOT / "hippocampus").rglob("*.py"))
FENCE = re.compile(r"```.*?```", re.DOTALL)
PYTHON = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
PYCON = re.compile(r"^```pycon\n(.*?)^```", re.DOTALL | re.MULTILINE)
YAML = re.compile(r"^```yaml\n(.*?)^```", re.DOTALL | re.MULTILINE)
BOX = re.compile(r"[─│╭╮╰╯]+|\[[-\d.]+<=x[^\]]*\]|<[^>]*>|\b[A-Z]{3,}\b")
"""What differs between versions of the library that prints the help: frames and type names."""
NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
TOLERANCE = 0.03
"""Other versions of what the figures were written with may move one by this share."""


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


# Code blocks


PROVIDERS = {
    "docs/providers/openai-chat.md": "openai",
    "docs/providers/openai-responses.md": "responses",
    "docs/providers/anthropic.md": "anthropic",
    "docs/providers/local.md": "openai",
    "docs/providers/bedrock.md": "bedrock",
    "docs/providers/gemini.md": "gemini",
}
SDKS = {"anthropic": "anthropic", "bedrock": "boto3", "gemini": "google.genai"}
CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "unused",
    "AWS_SECRET_ACCESS_KEY": "unused",
    "AWS_DEFAULT_REGION": "us-east-1",
    "ANTHROPIC_API_KEY": "unused",
    "GEMINI_API_KEY": "unused",
    "OPENAI_API_KEY": "unused",
}
LOCAL_SERVER = "http://localhost:11434/v1"


def answered(format_name: str, body: Any, items: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the items of an answer as the body that a provider's server sends."""
    whole = {"id": "answer", "model": body.get("model")}
    if format_name == "openai":
        reason = "tool_calls" if "tool_calls" in items[0] else "stop"
        choice = {"index": 0, "finish_reason": reason, "message": items[0]}
        return {**whole, "object": "chat.completion", "created": 0, "choices": [choice]}
    if format_name == "responses":
        output = [
            {"id": f"item_{place}", "status": "completed", **each}
            for place, each in enumerate(items)
        ]
        more = {"created_at": 0, "parallel_tool_calls": True, "tool_choice": "auto"}
        return {**whole, **more, "object": "response", "output": output, "tools": []}
    calls = [each["function"] for each in items[0].get("tool_calls", ())]
    if format_name == "bedrock":
        uses = [
            {
                "toolUseId": f"use_{place}",
                "name": each["name"],
                "input": json.loads(each["arguments"]),
            }
            for place, each in enumerate(calls)
        ]
        content = [{"toolUse": each} for each in uses] or [{"text": items[0]["content"]}]
        message = {"role": "assistant", "content": content}
        return {
            "output": {"message": message},
            "stopReason": "end_turn",
            "usage": {},
            "metrics": {},
        }
    if format_name == "gemini":
        parts: list[Any] = [
            {"functionCall": {"name": each["name"], "args": json.loads(each["arguments"])}}
            for each in calls
        ]
        content = {"role": "model", "parts": parts or [{"text": items[0]["content"]}]}
        return {"candidates": [{"content": content}]}
    usage = {"input_tokens": 1, "output_tokens": 1}
    more = {"type": "message", "role": "assistant", "stop_reason": None, "stop_sequence": None}
    return {**whole, **more, "content": items[0]["content"], "usage": usage}


def offered_in(body: Any) -> list[Any]:
    """Return the tools of a request, each with its name."""
    if "toolConfig" in body:
        return [each["toolSpec"] for each in body["toolConfig"]["tools"]]
    return [own for each in body["tools"] for own in each.get("functionDeclarations", [each])]


@pytest.mark.parametrize("page", PROVIDERS)
def test_the_program_of_a_provider_page_runs_with_its_sdk(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip(SDKS.get(PROVIDERS[page], "openai"))
    model = ScriptedModel(
        call("list_modules"),
        lambda view: call("recall", entry_id=entry_ids(view)[0], pattern='"textwrap"'),
        call("recall", entry_id="nosuchid"),
        "It is small.",
        format_name="openai" if PROVIDERS[page] in {"bedrock", "gemini"} else PROVIDERS[page],
    )

    def answer(asked: Asked) -> Answer:
        body = asked.body
        request = body.get("messages") or body.get("contents") or body["input"]
        return Answer(answered(PROVIDERS[page], body, model(request, offered_in(body))))

    monkeypatch.chdir(tmp_path)
    [program] = PYTHON.findall(TEXTS[ROOT / page])
    with endpoint(answer) as server:
        address = server.address.removesuffix("/v1")
        for name, value in CREDENTIALS.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("OPENAI_BASE_URL", f"{address}/v1")
        for name in ("ANTHROPIC_BASE_URL", "AWS_ENDPOINT_URL", "GOOGLE_GEMINI_BASE_URL"):
            monkeypatch.setenv(name, address)
        names: dict[str, Any] = {}
        exec(program.replace(LOCAL_SERVER, f"{address}/v1"), names)
        names["client"].close()
    [entry, *_] = entry_ids(model.requests[1])
    large = names["list_modules"]()
    assert json.dumps(large)[1:-1] not in json.dumps(model.requests[-1])
    assert names["session"].report.failures == 0
    recalled = json.dumps(model.requests[-1][-3:] + model.requests[2][-1:])
    assert "textwrap" in recalled
    assert "never existed" in json.dumps(model.requests[-1])
    assert f"[{entry} · " in json.dumps(model.requests[-1], ensure_ascii=False)
    assert "It is small." in capsys.readouterr().out


CORPUS = ROOT / "docs" / "how-to" / "corpus.md"
WITH_CODE = [  # the programs of a framework run in `tests/integrations`, where it is installed
    path
    for path, text in TEXTS.items()
    if PYTHON.search(text)
    and named(path) not in PROVIDERS
    and not named(path).startswith("docs/hosts/")
    and path != CORPUS
]


@pytest.mark.parametrize("path", WITH_CODE, ids=named)
def test_the_code_of_a_document_runs_as_printed(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    # The facts of a session that has ended come later where the machine has much to do.
    monkeypatch.setattr(scheduler, "END_SECONDS", 60.0)
    names: dict[str, Any] = {}
    for block in PYTHON.findall(TEXTS[path]):
        exec(block, names)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Ray sets options that it deprecates
@pytest.mark.parametrize("engine", ["ray.data", "dask.bag", "pyspark"])
def test_an_engine_gives_the_object_that_the_command_prints(
    engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip(engine)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    shutil.copytree(ROOT / "examples" / "transcripts", tmp_path / "sessions")
    blocks = PYTHON.findall(TEXTS[CORPUS])
    names: dict[str, Any] = {}
    for block in (blocks[0], *(each for each in blocks if engine in each), blocks[-1]):
        exec(block, names)
    found, printed = (
        json.loads(each)
        for each in (names["found"], run("replay", "sessions", "--json", cwd=tmp_path).stdout)
    )
    for recording in found["recordings"]:
        recording["path"] = str(Path("sessions", Path(recording["path"]).name))
    assert found == printed


def test_the_loop_in_the_readme_is_a_dozen_lines_and_saves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    [program] = PYTHON.findall(README)
    loop = program.partition("memory = ")[2].partition("status = ")[0]
    assert len(loop.splitlines()) <= 10
    exec(program, {})
    answer, raw, sent = re.fullmatch(
        r"(.*\.) (\d+) tokens raw, (\d+) sent\n", capsys.readouterr().out
    ).groups()  # type: ignore[union-attr]
    assert answer == "Order A-417 is late."
    assert int(sent) < int(raw) / 2


ODD_ARGUMENTS: list[Any] = [
    {"lines": "5-7"}, {"lines": [5]}, {"lines": ["5", "7"]}, {"lines": {"a": 1}}, {"lines": [7, 5]},
    {"head": "2"}, {"tail": -3}, {"max_tokens": "100"}, {"max_tokens": -1}, {"context": "1"},
    {"entry_id": 5}, {"entry_id": ["a"]}, {"entry_id": ""}, {"entry_id": "", "query": "order"},
    {"query": ""}, {"query": '\ud800 ( " OR *'}, {"pattern": "("}, {"pattern": 42}, {"path": "$["},
    {"path": "$[999].x"}, {"page": 2}, {"id": "kq3v7a2c"}, {"head": 10**30}, {"lines": [10**30, 0]},
    {"session_id": None}, [], 7, None, "text",
]  # fmt: skip


def test_the_answer_of_the_loop_survives_whatever_arguments_a_model_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    [program] = PYTHON.findall(README)
    names: dict[str, Any] = {}
    exec(program.partition("session.close")[0], names)
    session = names["session"]
    [entry] = [each for each in session.entries if each.source.type == "list_orders"]
    for odd in ODD_ARGUMENTS:
        for asked in (odd, {"entry_id": entry.id, **odd}) if isinstance(odd, dict) else (odd,):
            for written in (json.dumps(asked), asked):
                assert session.answer(written)
    assert "not JSON" in session.answer('{"entry_id": "abc')
    session.close()
    names["memory"].close()


@pytest.mark.parametrize("path", [path for path in PAGES if PYCON.search(TEXTS[path])], ids=named)
def test_the_examples_of_a_document_hold(path: Path) -> None:
    examples = "\n".join(PYCON.findall(TEXTS[path]))
    found = doctest.DocTestParser().get_doctest(examples, {}, named(path), None, None)
    failed, tried = doctest.DocTestRunner().run(found)
    assert tried > 0
    assert failed == 0


def test_the_decay_formula_stands_once_in_the_documents() -> None:
    assert len(re.findall(r"\*\* ?-exponent", DOCUMENTED)) == 1


def test_every_python_block_has_a_language_that_is_run() -> None:
    languages = set(re.findall(r"^```(\w*)\n(?:.*?)^```", DOCUMENTED, re.DOTALL | re.MULTILINE))
    assert languages == {"python", "pycon", "yaml", "sh", "text"}


def test_the_policies_in_the_documents_load(tmp_path: Path) -> None:
    for block in (block for path in PAGES for block in YAML.findall(TEXTS[path])):
        (tmp_path / "agent.yaml").write_text(block, "utf-8")
        assert policy.load(tmp_path / "agent.yaml").lifecycle_policies is not None


def modules() -> Iterator[str]:
    for found in pkgutil.walk_packages(hippocampus.__path__, "hippocampus."):
        is_adapter = found.name.startswith("hippocampus.integrations.")  # needs its framework
        if not found.name.endswith("__main__") and not is_adapter:
            yield found.name


def test_every_doctest_holds() -> None:
    results = {name: doctest.testmod(importlib.import_module(name)) for name in modules()}
    assert sum(result.attempted for result in results.values()) > 0
    assert [name for name, result in results.items() if result.failed] == []


# Measured blocks


def words(text: str) -> list[str]:
    return BOX.sub(" ", text.removeprefix("```text").removesuffix("```")).split()


def test_the_measured_blocks_stand_in_the_documents() -> None:
    found = {name for path in DOCUMENTS for name in blocks_in((ROOT / path).read_text("utf-8"))}
    assert found == {*QUICK, *SLOW, "replay-command", "test-command"}


@pytest.mark.slow
def test_the_figures_in_the_readme_are_those_of_its_command() -> None:
    """Where not: `python -m tests.bench.readme_tables replay`."""
    written, fresh = blocks_in(README)["replay"], QUICK["replay"]()
    assert f"hippocampus {' '.join(REPLAY)}" in README
    (table, versions), (printed, present) = (
        text.strip().rsplit("\n\n", 1) for text in (written, fresh)
    )
    if versions == present:
        assert words(printed) == words(table)
    figures, again = (
        [float(number.replace(",", "")) for number in NUMBER.findall(text)]
        for text in (table, printed)
    )
    assert again == pytest.approx(figures, rel=TOLERANCE, abs=1.5)
    assert [line.split("  ")[0] for line in written.splitlines()][:1] == ["```text"]


# Nothing is missing


COMMANDS = {
    name: each for name, each in generate.commands().items() if not hasattr(each, "commands")
}


def test_the_generated_parts_of_pages_are_current() -> None:
    pages = [path for path in PAGES if "<!-- generated:" in TEXTS[path]]
    stale = [path for path in pages if generate.written(TEXTS[path]) != TEXTS[path]]
    assert stale == [], "run python docs/generate.py"


def test_every_command_that_is_documented_exists() -> None:
    groups = {name.split()[0] for name in COMMANDS}
    commands = generate.commands().values()
    known = {option for each in commands for param in each.params for option in param.opts}
    lines = re.findall(
        rf"hippocampus (?:{'|'.join(groups)})\b[^`\n|]*",
        "\n".join((ROOT / path).read_text("utf-8") for path in DOCUMENT_PATHS),
    )
    used = {option for line in lines for option in re.findall(r"(?<![\w-])--[a-z][\w-]*", line)}
    assert used <= known | {"--help"}
    for line in lines:
        found = line.split()
        if hasattr(generate.commands()[found[1]], "commands") and len(found) > 2:
            names = {" ".join(found[1:3]), " ".join(found[1:4])}  # a group may be in a group
            assert names & set(COMMANDS) or not found[2].isalpha(), line


def backticked(names: Sequence[str], text: str = DOCUMENTED) -> list[str]:
    """Return the names that stand nowhere in backquotes, alone or as the start of an example."""
    return [
        name for name in names if not re.search(rf"`[^`\n]*(?<!\w){re.escape(name)}(?!\w)", text)
    ]


def test_every_public_name_is_documented() -> None:
    assert backticked(hippocampus.__all__) == []
    api = TEXTS[ROOT / "docs/reference/api.md"]
    assert [each for each in hippocampus.__all__ if f"::: hippocampus.{each}\n" not in api] == []


@pytest.mark.parametrize("owner", ["Hippocampus", "Session"])
def test_every_public_method_has_a_docstring(owner: str) -> None:
    kind = getattr(hippocampus, owner)
    public = {name: each for name, each in vars(kind).items() if not name.startswith("_")}
    assert [name for name, each in public.items() if not each.__doc__] == []


QUICKSTART = TEXTS[ROOT / "docs/quickstart.md"]


def test_the_five_methods_that_return_text_are_in_one_table() -> None:
    table = QUICKSTART.partition("## Which method to call")[2]
    rows = re.findall(r"^\| `session\.(?:entries\.)?(\w+)\(", table, re.MULTILINE)
    assert sorted(rows) == ["answer", "content", "handle", "recall", "text"]


def test_every_field_of_the_status_is_documented(tmp_path: Path) -> None:
    memory = hippocampus.Hippocampus(tmp_path)
    with memory.session("status") as session:
        fields = list(session.status())
    memory.close()
    table = QUICKSTART.partition("| field | meaning |")[2].partition("\n\n")[0]
    first = " ".join(row.split(" | ")[0] for row in table.splitlines())
    assert sorted(re.findall(r"`(\w+)`", first)) == sorted(fields)


def test_every_policy_field_is_documented_with_its_meaning() -> None:
    page = TEXTS[ROOT / "docs/reference/policy.md"]
    schema = policy.Policy.model_json_schema(by_alias=True)
    parts = [schema, *(each for each in schema["$defs"].values() if "properties" in each)]
    for part in parts:
        for name, field in part["properties"].items():
            row = re.search(rf"^\| `{re.escape(name)}` \|.*\| (.*) \|$", page, re.MULTILINE)
            assert row, name
            assert field.get("description") or name in ("match", "action"), name


def test_every_shipped_policy_is_documented() -> None:
    assert backticked(policy.shipped(), TEXTS[ROOT / "docs/how-to/policies.md"]) == []


def test_every_strategy_price_table_and_format_is_documented() -> None:
    names = [*BASELINES, FLOOR]
    names += [*prices.TABLES, *(reader.NAME for reader in (*READERS, *LISTS))]
    assert backticked(names) == []


def test_every_error_and_every_reason_is_documented() -> None:
    errors = [HippocampusError, *HippocampusError.__subclasses__()]
    assert backticked([each.__name__ for each in errors]) == []
    recalling = sorted((ROOT / "hippocampus/recall").glob("*.py"))
    text = "\n".join(path.read_text("utf-8") for path in recalling)
    reasons = set(re.findall(r"(?:RecallError\(|_of\(record,)\s*\"(\w+)\"", text))
    assert len(reasons) == 8
    assert backticked(sorted(reasons), TEXTS[ROOT / "docs/how-to/recall.md"]) == []


def test_every_name_of_the_reference_exists() -> None:
    names = re.findall(r"^::: ([\w.]+)$", TEXTS[ROOT / "docs/reference/api.md"], re.MULTILINE)
    assert names
    for name in names:
        module, _, own = name.rpartition(".")
        with contextlib.suppress(ImportError):  # a module
            importlib.import_module(name)
            continue
        assert hasattr(importlib.import_module(module), own), name


def test_every_kind_of_content_is_documented() -> None:
    page = TEXTS[ROOT / "docs/reference/entries.md"].partition("## Examples")[0]
    assert backticked(KINDS, page) == []


def test_every_environment_variable_is_documented() -> None:
    text = "\n".join(path.read_text("utf-8") for path in SOURCES)
    variables = set(re.findall(r"\bHIPPOCAMPUS_\w+", text))
    page = TEXTS[ROOT / "docs/how-to/memory.md"]
    prefixes = {name for name in variables if f"`{name}_URL`" in page}
    assert prefixes == {"HIPPOCAMPUS_EMBED", "HIPPOCAMPUS_COMPLETE"}
    assert backticked(sorted(variables - prefixes), page) == []


def test_every_table_of_the_state_is_documented() -> None:
    from hippocampus.storage.salvage import columns_of
    from hippocampus.storage.schema import migrated

    with contextlib.closing(migrated(":memory:")) as db:
        tables = columns_of(db)
    assert len(tables) >= 4
    assert backticked(sorted(tables), SPEC) == []


def test_the_table_of_dependencies_has_each_of_them_and_every_extra() -> None:
    table = TEXTS[ROOT / "SECURITY.md"].partition("## Dependencies")[2].lower()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    named = [re.split(r"[^\w-]", each)[0] for each in project["dependencies"]]
    assert [name for name in named if not re.search(rf"\b{name}\b", table)] == []
    frameworks = {path.stem for path in (ROOT / "docs/hosts").glob("*.md")} - {"mcp", "proxy"}
    extras = set(project["optional-dependencies"]) - frameworks - {"test", "docs", "dev"}
    assert [name for name in extras if f"(`{name}`)" not in table] == []


# The JSON object


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("replay")
    recording = ROOT / "examples" / "transcripts" / "api-client.json"
    odd = folder / "odd.txt"
    odd.write_text("no recording", "utf-8")
    options = ("--json", "--compare", "--texts", "--report", folder / "report.html")
    return json.loads(run("replay", recording, odd, *options, cwd=folder).stdout)


NAMED = {"sources", "strategies", "call_tokens", "call_costs", "priced_as", "unpriced"}
"""Objects whose keys are names of sources, strategies, prices and models."""


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
    page = TEXTS[ROOT / "docs/reference/replay-json.md"]
    assert set(re.findall(r"^\| `(\w+)`", page, re.MULTILINE)) == set(keys_of(outcome))


# Links, sizes, architecture


def test_no_text_of_a_document_reads_as_a_tag() -> None:
    for path, whole in TEXTS.items():
        text = re.sub(r"(?s)`[^`]*`|<!--.*?-->", "", FENCE.sub("", whole))
        assert re.findall(r"<[A-Za-z/][^>]*>", text) == [], path


def test_links_of_a_document_lead_somewhere() -> None:
    for path, text in TEXTS.items():
        for target, anchor in re.findall(r"\]\(([\w./-]*)(#[\w-]+)?\)", FENCE.sub("", text)):
            other = (path.parent / target).resolve() if target else path
            assert other.exists(), (path, target)
            if anchor:
                assert anchor[1:] in anchors(other), (path, target, anchor)


@functools.cache
def anchors(path: Path) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", path.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings}


def test_the_documents_are_short() -> None:
    sizes = {named(path): path.stat().st_size for path in DOCUMENT_PATHS}
    assert sizes["README.md"] <= 8_192
    assert sizes["SPEC.md"] <= 15 * 1_024
    explanations = [size for name, size in sizes.items() if name.startswith("docs/explanation/")]
    assert all(5_000 <= size <= 8 * 1_024 for size in explanations)
    records = {name: size for name, size in sizes.items() if re.search(r"decisions/\d", name)}
    assert {name: size for name, size in records.items() if size > 1_500} == {}


def test_each_decision_has_its_number_and_its_three_parts() -> None:
    records = [path for path in PAGES if path.parent.name == "decisions" and path.stem != "index"]
    assert [int(path.stem[:4]) for path in records] == list(range(1, len(records) + 1))
    for path in records:
        text = path.read_text("utf-8")
        assert text.startswith(f"# {path.stem[:4]} ")
        assert re.findall(r"^\*\*(.+?)\.\*\*", text, re.MULTILINE) == [
            "Decision",
            "Reason",
            "Instead of",
        ]


ARCHITECTURE = TEXTS[ROOT / "docs/architecture.md"]


def test_the_rooms_are_those_of_the_import_contract_in_its_order() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    layers = contracts["contracts"][0]["layers"]
    rooms = [room.strip() for layer in layers for room in layer.split("|")]
    table = ARCHITECTURE.partition("| room | contents |")[2].partition("\n\n")[0]
    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == rooms


def test_the_files_that_a_document_names_exist() -> None:
    names = re.findall(r"`((?:hippocampus|policies|tests|examples)/[\w/.-]*)`", DOCUMENTED)
    elsewhere = {"hippocampus/policies"}  # in a wheel
    assert [name for name in set(names) - elsewhere if not (ROOT / name).exists()] == []


def test_where_a_change_leads_names_what_exists() -> None:
    places = re.findall(r"`(\w+)` (?:of|in) `(hippocampus/[\w/]+\.py)`", ARCHITECTURE)
    assert len(places) >= 8
    for name, path in places:
        assert re.search(rf"\b{name}\b", (ROOT / path).read_text("utf-8")), (name, path)


def test_a_format_is_one_file_and_one_line() -> None:
    package = "hippocampus.replay.readers."
    assert {each.read.__module__.startswith(package) for each in (*READERS, *LISTS)} == {True}
    assert {each.__name__.startswith("hippocampus.formats.") for each in FORMATS} == {True}  # type: ignore[attr-defined]


# Language


IDIOM = re.compile(
    r"\b(told|tells|heard|hears|says|stands? for|so many|what is|of what|a content|whoever|nobody"
    r"|somebody|beside|put away|at hand|say whether)\b",
    re.IGNORECASE,
)
"""Words that the reference manual of a library does not use; plain ones are in most cases: text,
redacted, reloaded, returns, replaces, N, the X that, payload, anyone, next to, stored, return whether."""


def prose(text: str) -> str:
    """Return a document without its code."""
    return re.sub(r"`[^`\n]*`", "", FENCE.sub("", text))


def test_documents_are_in_plain_english() -> None:
    found = {named(path): IDIOM.findall(prose(text)) for path, text in TEXTS.items()}
    assert {name: words for name, words in found.items() if words} == {}


def test_help_texts_are_in_plain_english() -> None:
    for name, command in generate.commands().items():
        texts = [command.help, *(getattr(each, "help", "") for each in command.params)]
        assert IDIOM.findall(" ".join(filter(None, texts))) == [], name


def explanations(path: Path) -> Iterator[str]:
    """Yield the docstrings of a file, those below its names too, and its comments."""
    text = path.read_text("utf-8")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield str(node.value.value)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.string


def test_docstrings_and_comments_are_in_plain_english() -> None:
    suspects = [path for path in SOURCES if IDIOM.search(path.read_text("utf-8"))]
    texts = [(path, text) for path in suspects for text in explanations(path)]
    assert [(named(path), text) for path, text in texts if IDIOM.search(text)] == []


def test_the_comments_of_policies_are_in_plain_english() -> None:
    for path in (ROOT / "policies").glob("*.yaml"):
        comments = re.findall(r"^ *# ?(.*)$", path.read_text("utf-8"), re.MULTILINE)
        assert IDIOM.findall(prose("\n".join(comments))) == [], path
