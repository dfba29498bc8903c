"""Mutated inputs at every edge: no exception but ours, and no input that takes long.

`python -m tests.trust.fuzz --seconds 300 --seed 7` runs all edges in turn and prints the table;
`--count 20000 --seed 1 --seed 2 --edge lists` runs one with as many inputs of each seed.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import itertools
import json
import logging
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from hippocampus import Hippocampus, Policy, indexing, secrets
from hippocampus import policy as policies
from hippocampus.errors import HippocampusError
from hippocampus.facts.exchange import hippo, import_file
from hippocampus.facts.exchange.ours import document as export
from hippocampus.facts.store import Facts
from hippocampus.formats import reader
from hippocampus.integrations import hooks, mcp_server
from hippocampus.integrations.proxy.apis import ANSWERS
from hippocampus.integrations.proxy.service import Service
from hippocampus.prices import TABLES
from hippocampus.replay.readers import read_file
from hippocampus.session.view import unpaired
from hippocampus.storage.state import DirectoryState
from hippocampus.storage.state_dir import StateDir

ROOT = Path(__file__).parents[2]
TRANSCRIPTS = sorted((ROOT / "examples" / "transcripts").glob("*.json"))
EVENTS = ROOT / "tests" / "integrations" / "hooks" / "events.jsonl"
ENDS = {"PreCompact", "SessionEnd"}
"""Hooks that start a process of their own."""
MAX_SECONDS = 5.0
"""The CPU time that no input of these sizes may take; other programs do not change it."""
ODD: list[Any] = [
    None, True, 0, -1, 1e308, float("nan"), 10**400, "", " ", "\x00", "\ud800", "[x · y]", "{", "]" * 99,
    "a" * 70_000, [], {}, [[]], [{}], {"": ""}, {"type": 7}, "9" * 5_000, "0x" + "f" * 5_000, "\\u0000", "é" * 999,
]  # fmt: skip


def nested(rng: random.Random) -> Any:
    """Return a value that nests deeper than most readers recurse."""
    value: Any = "x"
    for _ in range(rng.choice([60, 200])):
        value = [value] if rng.random() < 0.5 else {"content": value}
    return value


def mutated(rng: random.Random, value: Any) -> Any:
    """Return a copy of a JSON value with one part replaced, removed, repeated or moved."""
    value = copy.deepcopy(value)
    spots: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting:
        each = waiting.pop()
        keys = (
            list(each)
            if isinstance(each, dict)
            else range(len(each))
            if isinstance(each, list)
            else ()
        )
        spots += [(each, key) for key in keys]
        waiting += [each[key] for key in keys]
    if not spots:
        return copy.deepcopy(rng.choice(ODD))
    holder, key = rng.choice(spots)
    match rng.randrange(6):
        case 0:
            del holder[key]
        case 1:
            other, at = rng.choice(spots)
            with contextlib.suppress(KeyError, IndexError):
                holder[key] = copy.deepcopy(other[at])
        case 2 if isinstance(holder, list):
            holder.insert(rng.randrange(len(holder) + 1), copy.deepcopy(holder[key]))
        case 3 if isinstance(holder[key], str):
            text = holder[key]
            at = rng.randrange(len(text) + 1)
            holder[key] = text[:at] + str(rng.choice(ODD))[:2_000] + text[at:]
        case 4 if rng.random() < 0.2:
            holder[key] = nested(rng)
        case _:
            holder[key] = copy.deepcopy(rng.choice(ODD))
    return value


def damaged(rng: random.Random, content: bytes) -> bytes:
    """Return bytes with some flipped, cut out, repeated or put in."""
    out = bytearray(content)
    for _ in range(rng.randrange(1, 6)):
        at = rng.randrange(len(out) + 1)
        match rng.randrange(4):
            case 0:
                out[at : at + 1] = bytes([rng.randrange(256)])
            case 1:
                del out[at : at + rng.randrange(1, 200)]
            case 2:
                out[at:at] = out[at : at + rng.randrange(1, 200)] * rng.randrange(1, 20)
            case _:
                out[at:at] = rng.choice(
                    [b"\x00", b"\xff\xfe", b"[" * 300, b"{" * 3_000, b"9" * 5_000, b'"']
                )
    return bytes(out)


def conversations() -> list[list[Any]]:
    """Return the message lists of the examples, cut to a size that fuzzes fast."""
    return [each.messages[:30] for path in TRANSCRIPTS for each in read_file(path)]


class Edges:
    """One method an edge; each takes a random source, and may raise `HippocampusError` only."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lists = conversations()
        self._texts = [
            t
            for items in self._lists
            for m in reader.read(items)
            for t in m.texts()
            if len(t) > 200
        ]
        self._memory = Hippocampus(
            folder / "state",
            policy=Policy(
                index_over_tokens=60,
                compression="aggressive",
                smallest_gain_share=0,
                fresh_turns={"code": 0},
            ),
            deadline_seconds=10.0,  # a busy machine is no finding
        )
        self._odd, self._left = self._memory.session("odd"), 100
        self._session = self._memory.session("recalls")
        for end in range(2, len(self._lists[0]) + 1, 4):
            self._session(self._lists[0][:end])
        self._price = indexing.price_of("json", "normal", TABLES["anthropic-5m"], 9_000, 5)
        self._exports = []
        with contextlib.closing(Facts(folder / "facts.sqlite3")) as facts:
            facts.remember("Ann lives in Rome. Ann likes tea. The build needs Java 21.")
            for document in (export(facts, facts.agent), hippo.document(facts, facts.agent)):
                self._exports.append(json.loads(json.dumps(document, default=str)))
        self._facts = Facts(folder / "imports.sqlite3")
        state = StateDir(folder / "state")
        self._tools = mcp_server.Tools(DirectoryState(state), self._memory, self._memory.facts)
        self._service = Service(folder / "proxy", "default")
        lines = map(json.loads, EVENTS.read_text("utf-8").splitlines())
        found = [each["event"] for each in lines]
        self._events = [each for each in found if each["hook_event_name"] not in ENDS]

    def close(self) -> None:
        self._service.close()
        self._odd.close()
        self._session.close()
        self._memory.close()
        self._facts.close()

    def adapters(self, rng: random.Random) -> None:
        items = rng.choice(self._lists)[: rng.randrange(2, 30)]
        for _ in range(rng.randrange(1, 5)):
            items = mutated(rng, items)
        reader.read(reader.plain(reader.listed(items)))

    def sessions(self, rng: random.Random) -> None:
        items = rng.choice(self._lists)[: rng.randrange(2, 30)]
        for _ in range(rng.randrange(1, 5)):
            items = mutated(rng, items)
        session = self._memory.session(f"s{rng.randrange(10**9)}")
        view = session(items)
        if isinstance(items, list):
            assert len(str(view)) <= len(str(items)) + 2_000, "the view is larger than the list"
        session.close()

    def lists(self, rng: random.Random) -> None:
        """An odd list costs its session nothing: the next one is shortened, with its calls and results."""
        if self._left == 0:
            self._odd.close()
            self._odd, self._left = self._memory.session(f"odd {rng.random()}"), 100
        self._left -= 1
        items = odd = rng.choice(self._lists)[: rng.randrange(2, 9)]
        for _ in range(rng.randrange(1, 4)):
            odd = mutated(rng, odd)
        self._odd(odd)
        before = self._odd.status()["raw"]
        view = self._odd(items)
        assert self._odd.status()["raw"] == before, self._odd.report.problem
        assert unpaired(reader.read(view)) == unpaired(reader.read(items))

    def readers(self, rng: random.Random) -> None:
        path = self._folder / f"recording{rng.choice(['.json', '.jsonl'])}"
        document = json.loads(rng.choice(TRANSCRIPTS).read_bytes())
        if rng.random() < 0.5:
            path.write_bytes(json.dumps(mutated(rng, mutated(rng, document)), default=str).encode())
        else:
            path.write_bytes(damaged(rng, json.dumps(document).encode()[:60_000]))
        read_file(path)

    def indexers(self, rng: random.Random) -> None:
        text = damaged(rng, rng.choice(self._texts)[:30_000].encode("utf-8", "replace")).decode(
            "utf-8", "replace"
        )
        indexing.index(text, indexing.ExtractionContext(), self._price)

    def secrets(self, rng: random.Random) -> None:
        text = damaged(rng, rng.choice(self._texts)[:30_000].encode("utf-8", "replace")).decode(
            "utf-8", "replace"
        )
        secrets.find(text, cards=True)

    def policies(self, rng: random.Random) -> None:
        path = self._folder / "policy.yaml"
        written = rng.choice(list(policies.shipped().values())).read_bytes()
        if rng.random() < 0.5:
            value = yaml.safe_load(written)
            path.write_text(
                yaml.safe_dump(mutated(rng, mutated(rng, value)), allow_unicode=False), "utf-8"
            )
        else:
            path.write_bytes(damaged(rng, written))
        policies.load(path)

    def recalls(self, rng: random.Random) -> None:
        ids = [each.id for each in self._session.entries] or ["none"]
        asked = {
            "entry_id": rng.choice(ids), "pattern": rng.choice(["(a+)+$", "row", "[", "(?P<x>", "a{1000}"]),
            "lines": [rng.randrange(-9, 99), rng.randrange(99)], "path": rng.choice(["$.a[0]", "$..", "$[1]"]),
            "query": "late order", "head": rng.randrange(-2, 99), "max_tokens": rng.randrange(-9, 10**6),
        }  # fmt: skip
        chosen = {key: asked[key] for key in rng.sample(sorted(asked), rng.randrange(1, 5))}
        value = mutated(rng, chosen) if rng.random() < 0.7 else chosen
        given = (
            value
            if rng.random() < 0.5 and isinstance(value, dict)
            else json.dumps(value, default=str)
        )
        assert isinstance(self._session.answer(given), str)

    def imports(self, rng: random.Random) -> None:
        path = self._folder / "import"
        document = rng.choice(self._exports)
        for _ in range(rng.randrange(1, 4)):
            document = mutated(rng, document)
        path.write_text(json.dumps(document, default=str), "utf-8")
        import_file(self._facts, path)

    def databases(self, rng: random.Random) -> None:
        path = self._folder / "import.sqlite3"
        path.write_bytes(damaged(rng, (self._folder / "facts.sqlite3").read_bytes()))
        import_file(self._facts, path)

    def mcp(self, rng: random.Random) -> None:
        profile = rng.choice(sorted(mcp_server.PROFILES))
        tool = rng.choice(mcp_server.tool_definitions(profile))
        given = {
            "entry_id": self._session.entries[0].id, "query": "late order", "lines": [1, 9], "text": "I like tea.",
            "content": "I like tea.", "key": "persona", "session_id": "recalls", "agent_id": "a", "limit": 3, "id": "x",
            "memory_id": "x", "max_tokens": 99, "type": "fact", "old_text": "a", "new_text": "b", "message": "tea",
        }  # fmt: skip
        given = {key: v for key, v in given.items() if key in tool.input_schema["properties"]}
        arguments = mutated(rng, given) if given and rng.random() < 0.5 else given
        called, _ = mcp_server.PROFILES[profile][tool.name]
        text, _ = self._tools.call(tool.name, called, arguments)
        assert isinstance(text, str)

    def proxy(self, rng: random.Random) -> None:
        tool = {"type": "function", "function": {"name": "run", "parameters": {"type": "object"}}}
        request = {
            "model": rng.choice(["gpt-5", "claude-opus-4-5"]), "tools": [tool], "system": "Be brief.", "stream": True,
            rng.choice(["messages", "input"]): rng.choice(self._lists)[: rng.randrange(2, 20)],
        }  # fmt: skip
        content = json.dumps(mutated(rng, mutated(rng, request)), default=str).encode()
        if rng.random() < 0.3:
            content = damaged(rng, content)
        if self._service.exchange(rng.choice(list(ANSWERS.values())), content) == "malformed":
            raise HippocampusError("it is passed on as it is")

    def hooks(self, rng: random.Random) -> None:
        event = copy.deepcopy(rng.choice(self._events))
        event["transcript_path"] = str(rng.choice([*TRANSCRIPTS, self._folder, "/dev/null"]))
        if "tool_response" in event and rng.random() < 0.7:
            event["tool_response"] = {"stdout": rng.choice(self._texts), "stderr": ""}
        for _ in range(rng.randrange(1, 4)):
            event = mutated(rng, event)
        if not isinstance(event, dict) or str(event.get("hook_event_name")) not in ENDS:
            json.dumps(hooks.answer_event(event, str(self._folder / "hooks"), "default"))


EDGES = [name for name in vars(Edges) if name != "close" and not name.startswith("_")]


class Findings(NamedTuple):
    """The result of one edge."""

    tried: int
    cpu_seconds: float
    refused: int
    slowest_seconds: float
    broken: Counter[str]
    seeds: dict[str, int]
    """The seed that shows each of the broken ones."""


def fuzz(edges: Edges, name: str, seed: int, *, seconds: float = 0.0, count: int = 0) -> Findings:
    """Try an edge for some time, or for some inputs."""
    broken: Counter[str] = Counter()
    seeds: dict[str, int] = {}
    tried = refused = 0
    slowest, until = 0.0, time.monotonic() + seconds
    first = time.process_time()
    while tried < count or time.monotonic() < until:
        rng = random.Random(f"{seed} {tried}")
        started = time.process_time()
        try:
            getattr(edges, name)(rng)
        except HippocampusError:
            refused += 1
        except Exception as failure:  # noqa: BLE001 - these are what is looked for
            text = f"{type(failure).__name__}: {str(failure)[:80]}"
            broken[text] += 1
            seeds.setdefault(text, tried)
        took = time.process_time() - started
        if took > MAX_SECONDS:
            broken[f"took {took:.0f} s"] += 1
            seeds.setdefault(f"took {took:.0f} s", tried)
        slowest = max(slowest, took)
        tried += 1
    return Findings(tried, time.process_time() - first, refused, slowest, broken, seeds)


def main() -> bool:
    """Print the table; return whether an input broke an edge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="for all edges together")
    parser.add_argument(
        "--count", type=int, help="inputs of each edge and seed, in place of seconds"
    )
    parser.add_argument("--seed", type=int, action="append")
    parser.add_argument("--edge", choices=EDGES, action="append")
    asked = parser.parse_args()
    names, seeds, is_broken = asked.edge or EDGES, asked.seed or [0], False
    seconds = 0.0 if asked.count else asked.seconds / len(names) / len(seeds)
    logging.disable()
    with tempfile.TemporaryDirectory() as folder, contextlib.closing(Edges(Path(folder))) as edges:
        titles = ("inputs", "refused", "CPU s", "slowest s")
        print(f"{'edge':<12}{'seed':>6}{''.join(f'{title:>11}' for title in titles)}  broken")
        for name, seed in itertools.product(names, seeds):
            found = fuzz(edges, name, seed, seconds=seconds, count=asked.count or 0)
            row = (
                f"{name:<12}{seed:>6}{found.tried:>11}{found.refused:>11}{found.cpu_seconds:>11.0f}"
            )
            row = f"{row}{found.slowest_seconds:>11.2f}"
            print(f"{row}  {sum(found.broken.values())}", flush=True)
            for text, number in found.broken.most_common():
                print(f"    {number} × {text} (seed {seed} {found.seeds[text]})")
            is_broken |= bool(found.broken)
    return is_broken


if __name__ == "__main__":
    sys.exit(main())
