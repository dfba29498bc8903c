"""One long conversation for every framework, and what must hold of all that its model was sent.

A framework's test gives its scripted model a `ScriptedModel` as its mind: each request is written
as chat messages by the test's own few lines, not by those of the adapter.
"""

from __future__ import annotations

import base64
import hashlib
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from hippocampus import Hippocampus, Policy
from hippocampus.formats.openai_chat import read
from hippocampus.testing import ScriptedModel, call, entry_ids

PAGES = Path(__file__).parents[2] / "docs/hosts"
ROWS = 80
CALLS = 32
WANTED_PAGE, WANTED_ROW = 2, 41
QUESTION = "Find the orders that are late."
DONE = "Two orders are late."


def list_orders(page: int) -> str:
    """List the orders of a page."""
    return json.dumps([order(page, row) for row in range(ROWS)])


def order(page: int, row: int) -> dict[str, Any]:
    key = hashlib.sha256(f"{page}/{row}".encode()).hexdigest()[:20]
    return {
        "id": key,
        "row": row,
        "state": ("paid", "sent", "late")[row % 3],
        "customer": f"c{row}",
    }


WANTED = order(WANTED_PAGE, WANTED_ROW)["id"]


def entry_of_page(view: list[Any], page: int) -> str:
    """Return the id of the entry that stands for a page in a request."""
    [call_id] = [
        each["id"]
        for item in view
        for each in item.get("tool_calls") or ()
        if each["function"]["name"] == "list_orders"
        and json.loads(each["function"]["arguments"]) == {"page": page}
    ]
    [found] = entry_ids([item for item in view if item.get("tool_call_id") == call_id])
    return found


def recall_wanted(view: list[Any]) -> Any:
    """Ask for the row that the test looks for, in the entry that its result became."""
    return call("recall", entry_id=entry_of_page(view, WANTED_PAGE), path=f"$[{WANTED_ROW}]")


def script(first: int = 0, calls: int = CALLS) -> list[Any]:
    """Read pages, some of them in parallel; take one row of the third page back; finish."""
    steps: list[Any] = []
    page = first
    while page < first + calls:
        together = 3 if page % 8 == 5 else 1
        pages = [call("list_orders", page=page + each) for each in range(together)]
        steps.append(pages)
        page += together
    return [*steps, recall_wanted, DONE]


TWO_RUNS = [*script(0, CALLS // 2), *script(CALLS // 2, CALLS // 2)]
"""What a model does that is asked again once another process has opened the memory."""


def mind(*steps: Any) -> ScriptedModel:
    """Return the scripted model of the whole conversation, or of these steps."""
    return ScriptedModel(*(steps or script()))


PAGE_SCRIPT: list[Any] = [
    call("list_orders", page=1),
    lambda view: call("recall", entry_id=entry_ids(view)[0], path="$[417]"),
    "Order A-417 is late.",
]
"""What a model does in the program of a page."""


def run_page(name: str, model: Any, written: str) -> dict[str, Any]:
    """Run the program on a framework's page with a scripted model in place of an expression."""
    [program] = re.findall(
        r"^```python\n(.*?)^```", (PAGES / name).read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    before, expression, after = program.rpartition(written)
    assert expression
    names: dict[str, Any] = {"scripted_model": model, "__name__": "page"}
    path = Path("page.py").resolve()  # some frameworks read the source of a tool
    path.write_text(f"{before}scripted_model{after}", "utf-8")
    exec(compile(path.read_text("utf-8"), path, "exec"), names)
    return names


def delegating(asked: Any) -> ScriptedModel:
    """Return the scripted model of an agent that calls another one, and recalls its own result."""
    return mind(
        call("list_orders", page=99),
        asked,
        lambda view: call("recall", entry_id=entry_of_page(view, 99), path=f"$[{WANTED_ROW}]"),
        DONE,
    )


def check_delegated(
    memory: Hippocampus, outer: ScriptedModel, inner: ScriptedModel, *, share: float = 0.5
) -> None:
    """Check that the two agents were sessions of their own; close the memory."""
    check(inner, CALLS * len(list_orders(0)), share=share)
    assert order(99, WANTED_ROW)["id"] in text_of(outer.requests[-1][-1])
    assert len(memory.unconsolidated()) == 2
    memory.close()


def failed(state: Path) -> tuple[Hippocampus, ScriptedModel]:
    """Return a memory that can open no session, and the scripted model of an agent that recalls."""
    memory = memory_in(state)
    memory.close()
    shutil.rmtree(state)
    state.write_text("no directory")
    return memory, mind(call("list_orders", page=1), call("recall", entry_id="kq3v7a2c"), DONE)


def check_failed(model: ScriptedModel) -> None:
    """Check that the model was sent the result as it is, and why recall has no answer."""
    shown, answer = [text_of(each) for each in model.requests[-1] if each["role"] == "tool"]
    assert shown.endswith(list_orders(1))
    assert "recall failed" in answer


def memory_in(state: os.PathLike[str]) -> Hippocampus:
    return Hippocampus(state, model="claude-sonnet-4-5")


def check(model: ScriptedModel, raw_characters: int, *, share: float = 0.5) -> None:
    """Check all that the model was sent: valid, small, stable, and recall was answered."""
    requests = model.requests
    for request in requests:
        assert_paired(request)
    answers = [text_of(item) for item in requests[-1] if item["role"] == "tool"]
    assert WANTED in answers[-1], answers[-1]
    assert sum(map(len, answers)) < share * raw_characters
    assert stable_share(requests) > 0.9


def text_of(item: dict[str, Any]) -> str:
    content = item["content"]
    return content if isinstance(content, str) else json.dumps(content)


def assert_paired(request: Sequence[dict[str, Any]]) -> None:
    """Every call has one result, behind its message and before any other words."""
    open_calls: list[str] = []
    for message in read(request):
        for part in message.parts:
            if part.kind == "result":
                assert part.call_id in open_calls
                open_calls.remove(part.call_id)
            else:
                assert part.kind == "call" or not open_calls, part
        open_calls += [part.call_id for part in message.parts if part.kind == "call"]
    assert not open_calls


def stable_share(requests: Sequence[list[Any]]) -> float:
    """Return the share of each request that stands unchanged at the beginning of the next one."""
    sent = same = 0
    for before, after in pairwise(map(_lines, requests)):
        sent += sum(map(len, before))
        for one, other in zip(before, after, strict=False):
            if one != other:
                break
            same += len(one)
    return same / sent


def _lines(request: list[Any]) -> list[str]:
    return [json.dumps(item, sort_keys=True) for item in request]


class OrderModel(BaseModel):
    """A row as a tool returns it that describes its values by a model."""

    id: str
    row: int
    state: str
    customer: str


@dataclass
class OrderRecord:
    """A row as a dataclass."""

    id: str
    row: int
    state: str
    customer: str


RESULT_ROWS = [order(0, row) for row in range(700)]
RESULT_LINES = [json.dumps(row) for row in RESULT_ROWS]
RESULTS: dict[str, Any] = {
    "JSON text": json.dumps(RESULT_ROWS),
    "text": "\n".join(RESULT_LINES),
    "dict": {"orders": RESULT_ROWS},
    "dict of one text": {"result": json.dumps(RESULT_ROWS)},
    "list of texts": RESULT_LINES,
    "list of dicts": RESULT_ROWS,
    "tuple": tuple(RESULT_ROWS),
    "list of numbers": [*range(12_000)],
    "list of lists": [[*row.values()] for row in RESULT_ROWS],
    "model": OrderModel(id="\n".join(RESULT_LINES), row=1, state="late", customer="c"),
    "list of models": [OrderModel(**row) for row in RESULT_ROWS],
    "list of dataclasses": [OrderRecord(**row) for row in RESULT_ROWS],
    "text and a number": ["\n".join(RESULT_LINES), 7],
    "text blocks": [{"type": "text", "text": "\n".join(RESULT_LINES[at::2])} for at in (0, 1)],
    "error": ValueError("\n".join(RESULT_LINES)),
    "short text": "late",
    "empty text": "",
    "empty list": [],
    "empty dict": {},
    "None": None,
    "number": 7,
    "flag": True,
    "short dict": {"state": "late"},
}
"""What tools return; what is long is long enough to be shortened at once."""
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
    "gg=="
)
"""A PNG of one pixel, in base64."""
Ask = Callable[[ScriptedModel, Hippocampus, Callable[[], Any]], object]
"""Runs an agent, with its model, its memory and its one tool."""
RAW = Policy(index_over_tokens=10**9, bulk_over_tokens=10**9, records_over_tokens=10**9)


def check_results(
    state: Path,
    sent: list[str],
    ask: Ask,
    more: dict[str, Any],
) -> None:
    """Check what a framework sends its model of each value that a tool returns.

    `sent` gets each request as the framework has it, `ask` runs an agent with a tool, and `more`
    has other values, such as the framework's own blocks.
    """
    wrong = {}
    for name, value in {**RESULTS, **more}.items():
        found = []
        for policy in (RAW, "default"):
            memory = Hippocampus(state / f"{name} {len(found)}", policy=policy)
            sent.clear()
            try:
                ask(mind(call("find"), DONE), memory, _returning(value))
            except Exception:  # some frameworks end a run where a tool raises
                if not isinstance(value, Exception):
                    raise
                sent.append("")
            found.append(sent[-1])
            memory.close()
        raw, view = found
        if len(raw) < 5_000:
            is_right = abs(len(raw) - len(view)) < 50  # times and ids are of each run
        else:
            is_right = len(view) < 0.6 * len(raw) and raw.count(PIXEL) == view.count(PIXEL)
        if not is_right:
            wrong[name] = len(raw), len(view), view[:300]
    assert not wrong, "\n".join(f"{name}: {found}" for name, found in wrong.items())


def _returning(value: Any) -> Callable[[], Any]:
    def find() -> Any:
        """Find the orders."""
        if isinstance(value, Exception):
            raise value
        return value

    return find


def leaves(value: Any) -> Iterator[Any]:
    """Yield the texts, numbers and bytes of what a model is sent, whatever its types are."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield key
            yield from leaves(each)
    elif isinstance(value, bytes):
        yield base64.b64encode(value).decode()
    elif isinstance(value, list | tuple | set):
        for each in value:
            yield from leaves(each)
    elif hasattr(value, "__dict__") and not isinstance(value, type):
        yield from leaves(vars(value))
    else:
        yield value


def resumed(test_file: str, state: Path) -> ScriptedModel:
    """Run both halves of the conversation, each in a process of its own; return what the model was sent.

    `resume(state, mind)` of the test file runs one half, and leaves in the directory `state` what
    its framework saves.
    """
    both = mind(*TWO_RUNS)
    for half in ("0", "1"):
        program = [sys.executable, "-W", "ignore", "-m", "integrations.scenario"]
        done = subprocess.run(
            [*program, Path(test_file).stem, str(state), half],
            cwd=Path(__file__).parents[1],
            check=False,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr[-4_000:]
        both.requests += json.loads((state / f"requests-{half}").read_text("utf-8"))
    return both


def run_half(name: str, state: Path, half: int) -> None:
    """Run one half in this process."""
    sys.path.insert(0, str(Path.cwd()))
    own, done = mind(*TWO_RUNS), half * len(TWO_RUNS) // 2
    own.requests = [[] for _ in range(done)]  # the ids of calls are numbered on
    state.mkdir(exist_ok=True)
    importlib.import_module(f"integrations.{name}").resume(state, own)
    (state / f"requests-{half}").write_text(json.dumps(own.requests[done:]), "utf-8")


if __name__ == "__main__":
    run_half(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
