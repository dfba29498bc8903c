"""A client written from an installed OpenAPI document: operations, definitions, code, tests."""

from __future__ import annotations

import json
import re
from typing import Any

from recorder.agent import Agent, want
from recorder.finding import every, first, source

INSTRUCTIONS = (
    "You write small typed HTTP clients. The API document is the only authority: read each "
    "operation before you write its method. Files go below work/."
)
CLIENT = "work/client.py"
TYPES = "work/types_.py"
HEAD = '''"""A client for {title}, version {version}."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Send = Callable[[str, str, dict[str, Any] | None], Any]


class Client:
    """One method for each operation; `send(method, path, body)` does the rest."""

    def __init__(self, send: Send) -> None:
        self.send = send
'''
METHOD = '''
    def {name}(self{parameters}) -> Any:
        """{summary}."""
        return self.send("{verb}", f"{path}", {body})
'''
TYPES_HEAD = '''"""The definitions of the document as typed dictionaries."""

from typing import Any, TypedDict
'''
TESTS = '''"""Each method sends its verb to its path."""

from client import Client


class Echo(list):
    def __call__(self, verb, path, body):
        self.append((verb, path, body))
        return self[-1]
'''
TEST = """

def test_{name}():
    answer = Client(Echo()).{name}({arguments})
    assert answer[:2] == ("{verb}", "{path}")
"""
LAST_OF_INIT = "        self.send = send\n"
CHECK = """
    @staticmethod
    def check(*arguments: str) -> None:
        if not all(arguments):
            raise ValueError("empty path argument")
"""
VERBS = ("get", "post", "put", "patch", "delete")
Operation = dict[str, Any]


def play(agent: Agent) -> None:
    """Read the document piece by piece, write the client and its tests, repair, and describe."""
    agent.user("Write a client for the API in the installed document: one method per operation.")
    agent.call("", "api_keys")
    info = json.loads(agent.call("", "api_get", pointer="#/info"))
    operations = _operations(agent)
    definitions = _definitions(agent, operations)
    _wrong_pointer(agent, definitions)
    _write(agent, info, operations)
    _tests(agent, operations)
    agent.user("Remember: every method checks that its path arguments are not empty. Add that.")
    _add_checks(agent, operations)
    _types(agent, definitions)
    _finish(agent, info, operations)


def _operations(agent: Agent) -> list[Operation]:
    keys = json.loads(agent.call("", "api_keys", pointer="#/paths"))
    found: list[Operation] = []
    for path in keys:
        pointer = "#/paths/" + path.replace("/", "~1")
        entry = json.loads(agent.call(f"{path}: what can be done?", "api_get", pointer=pointer))
        shared = [one.get("$ref", "") for one in entry.get("parameters", [])]
        for verb in (verb for verb in VERBS if verb in entry):
            refs = [*shared, *every(r'"\$ref": "([^"]+)"', json.dumps(entry[verb]))]
            found.append({"path": path, "verb": verb, "refs": refs, **entry[verb]})
    return found


def _definitions(agent: Agent, operations: list[Operation]) -> dict[str, str]:
    refs = list(dict.fromkeys(ref for one in operations for ref in one["refs"] if ref))
    definitions: dict[str, str] = {}
    for at in range(0, len(refs), 4):
        group = refs[at : at + 4]
        texts = agent.calls(
            f"Still unread: {', '.join(group)}.", *(want("api_get", pointer=ref) for ref in group)
        )
        definitions |= dict(zip(group, texts, strict=True))
    return definitions


def _wrong_pointer(agent: Agent, definitions: dict[str, str]) -> None:
    name = next(iter(definitions)).rpartition("/")[2]
    agent.call(
        f"Perhaps `{name}` is among the shared responses too.",
        "api_get",
        pointer=f"#/responses/{name}",
    )


def _name(operation: Operation) -> str:
    words = re.findall(r"[a-zA-Z]+", re.sub(r"\{.*?\}", "", operation["path"]))
    one = "_one" if operation["path"].endswith("}") else ""
    return "_".join([operation["verb"], *map(str.lower, words[1:] or ["version"])]) + one


def _arguments(operation: Operation) -> list[str]:
    return re.findall(r"\{(\w+)\}", operation["path"])


def _method(operation: Operation) -> str:
    has_body = operation["verb"] in {"post", "put", "patch"}
    names = [f"{name}: str" for name in _arguments(operation)]
    names += ["body: dict[str, Any]"] if has_body else []
    return METHOD.format(
        name=_name(operation),
        parameters="".join(f", {name}" for name in names),
        summary=str(operation.get("summary", operation["path"])).rstrip("."),
        verb=operation["verb"].upper(),
        path=operation["path"],
        body="body" if has_body else "None",
    )


def _write(agent: Agent, info: dict[str, Any], operations: list[Operation]) -> None:
    head = HEAD.format(title=info["title"], version=info["version"])
    agent.call(
        f"{len(operations)} operations in all, from `{_name(operations[0])}` on.",
        "write_file",
        path=CLIENT,
        content=head + "".join(map(_method, operations)),
    )


def _tests(agent: Agent, operations: list[Operation]) -> None:
    """Write the tests with a mistake (a body for nobody), see them fail, and repair them."""
    parts = [_test(operation, body="") for operation in operations]
    agent.call("", "write_file", path="work/test_client.py", content=TESTS + "".join(parts))
    log = agent.call("", "run_tests", arguments=["work"])
    failed = every(r"^FAILED \S+::test_(\w+)", log)
    agent.call(
        f"{len(failed)} fail: `{failed[0]}` and the like want a body.",
        "grep",
        pattern=f"def ({'|'.join(failed)})\\b",
        path=CLIENT,
    )
    parts = [_test(operation, body="{}") for operation in operations]
    agent.call("", "write_file", path="work/test_client.py", content=TESTS + "".join(parts))
    agent.call("", "run_tests", arguments=["work", "-q"])


def _test(operation: Operation, body: str) -> str:
    arguments = [f'"{name}"' for name in _arguments(operation)]
    if body and operation["verb"] in {"post", "put", "patch"}:
        arguments.append(body)
    path = re.sub(r"[{}]", "", operation["path"])
    return TEST.format(
        name=_name(operation),
        arguments=", ".join(arguments),
        verb=operation["verb"].upper(),
        path=path,
    )


def _add_checks(agent: Agent, operations: list[Operation]) -> None:
    """Patch two methods, add what they call, and write the others in one go."""
    agent.call("", "read_file", path=CLIENT)
    one, two, *others = [operation for operation in operations if _arguments(operation)]
    for operation in (one, two):
        text = f"`{_name(operation)}` takes {', '.join(_arguments(operation))}."
        old, new = _checked(operation)
        agent.call(text, "patch_file", path=CLIENT, old=old, new=new)
    log = agent.call("", "run_tests", arguments=["work", "-q"])
    missing = first(r"has no attribute '(\w+)'", log)
    text = f"`{missing}` itself is missing."
    agent.call(text, "patch_file", path=CLIENT, old=LAST_OF_INIT, new=LAST_OF_INIT + CHECK)
    content = source(agent.call("", "read_file", path=CLIENT))
    for operation in others:
        content = content.replace(*_checked(operation))
    text = f"The other {len(others)} in one go, down to `{_name(others[-1])}`."
    agent.call(text, "write_file", path=CLIENT, content=f"{content}\n")
    agent.call("", "run_tests", arguments=["work", "-q"])


def _checked(operation: Operation) -> tuple[str, str]:
    """Return the start of a method's last line, without and with the check before it."""
    old = f'        return self.send("{operation["verb"].upper()}", f"{operation["path"]}"'
    return old, f"        self.check({', '.join(_arguments(operation))})\n{old}"


def _types(agent: Agent, definitions: dict[str, str]) -> None:
    named = {ref.rpartition("/")[2]: ref for ref in definitions if "/definitions/" in ref}
    classes = (_class(name, definitions[ref]) for name, ref in named.items())
    content = TYPES_HEAD + "".join(classes)
    agent.call("The definitions as types.", "write_file", path=TYPES, content=content)
    _parse_types(agent)


def _class(name: str, definition: str) -> str:
    fields: dict[str, Any] = json.loads(definition).get("properties", {})
    kinds = {field: one.get("type", one.get("$ref")) for field, one in fields.items()}
    lines = [f"    {field}: Any  # {kind}" for field, kind in kinds.items()]
    return "\n".join(["", "", f"class {name}(TypedDict):", *lines, ""])


def _parse_types(agent: Agent) -> None:
    """Compile the types; a definition without properties has left an empty class."""
    code = "import ast; print(len(ast.parse(open('work/types_.py').read()).body), 'statements')"
    output = agent.call("", "run_python", code=code)
    if "IndentationError" not in output:
        return
    line = int(first(r"on line (\d+)", output))
    shown = agent.call(
        f"Line {line} opens an empty class.", "read_file", path=TYPES, start=line, lines=3
    )
    header = source(shown).splitlines()[0]
    fixed = f'{header}\n    """Any keys."""'
    agent.call("", "patch_file", path=TYPES, old=header, new=fixed)
    agent.call("", "run_python", code=code)


def _finish(agent: Agent, info: dict[str, Any], operations: list[Operation]) -> None:
    last = operations[-1]
    paths = [one["path"] for one in operations]
    pointer = "#/paths/" + max(paths, key=paths.count).replace("/", "~1")
    agent.call(
        "For the summary, the operation with the most variants once more.",
        "api_get",
        pointer=pointer,
    )
    hits = agent.call("", "grep", pattern=r"^    def ", path=CLIENT)
    agent.answer(
        f"work/client.py covers {info['title']} {info['version']} with {len(operations)} methods, "
        f"`{first(r'def (get_[a-z_]+)', hits)}` to `{_name(last)}` ({last['verb'].upper()} "
        f"{last['path']}); {pointer} has the most variants. All tests pass."
    )
