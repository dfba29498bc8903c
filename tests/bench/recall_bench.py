"""Measures the bars of recall: on recordings what comes back and what it weighs, and how fast.

    python tests/bench/recall_bench.py PATH...

Every hidden use of every recording is asked for twice: with its value as the pattern of one recall,
and by a search over the whole session with the words of the message that needed it (the value taken
out) and its tool's name. The speeds are of made contents, read from a content store each time.
"""

from __future__ import annotations

import functools
import json
import random
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import re2

from hippocampus import policy, prices, recall
from hippocampus.errors import RecallError
from hippocampus.formats.conversation import Message
from hippocampus.formats.reader import read
from hippocampus.models import tokens
from hippocampus.recall import retrieval
from hippocampus.recall.lines import pages
from hippocampus.recall.retrieval import names_in
from hippocampus.recall.slices import content, terms
from hippocampus.replay.measure import Script
from hippocampus.replay.our_strategy import fresh_session
from hippocampus.replay.readers import find_files, read_file
from hippocampus.replay.recording import Recording
from hippocampus.storage.content_store import DiskStore
from hippocampus.storage.full_text import Content, Passages

PATTERN_TOKENS, QUERY_TOKENS = 2_000, 800
ROUNDS = 15


class Use(NamedTuple):
    """One hidden use, asked for in both ways."""

    kind: str
    where: str
    value: str
    by_pattern: bool
    pattern_tokens: int
    by_query: bool
    lacked: str
    """What the search lacked where it did not bring the value back."""


def hidden_uses(recording: Recording) -> Iterator[Use]:
    """Yield the hidden uses of one recording under the default policy."""
    script = Script(recording)
    with fresh_session(policy.load("default"), prices.TABLES["anthropic-5m"]) as session:
        index = Passages(lambda id_: about(session, id_))
        for number, end in enumerate(script.call_ends):
            view = read(session(recording.messages[:end]))
            shown = "\0".join(text for message in view for text in message.texts())
            for value in sorted(each for each in script.uses[number] if each not in shown):
                said = script.messages[script.answers[number]]
                found = ask(session, index, value, said, view)
                yield found._replace(where=Path(recording.path).name)


def about(session, entry_id: str) -> Content:
    record = next(each for each in session.report.records() if each.entry.id == entry_id)
    return content(session.entries.text(entry_id), f"{record.tool} {record.arguments}")


def ask(session, index: Passages, value: str, said: Message, view: list[Message]) -> Use:
    records = [
        each for each in session.report.records() if value in session.entries.text(each.entry.id)
    ]
    if not records:
        return Use("nowhere", "", value, False, 0, False, "in no entry")
    try:
        found = recall.take(
            session.entries.text(records[0].entry.id),
            recall.RecallRequest(pattern=re2.escape(value)),
            PATTERN_TOKENS,
        )
    except RecallError as told:
        found = str(told)
    ids = [each.entry.id for each in session.report.records()]
    query = " ".join(f"{part.tool} {part.text}" for part in said.parts).replace(value, " ")
    known = set().union(*(names_in(text) for message in view for text in message.texts()))
    try:
        searched = retrieval.search(index, query, QUERY_TOKENS, ids, session.entries.text, known)
    except RecallError as told:
        searched = str(told)
    return Use(
        records[0].kind, "", value, value in found, tokens.count(found), value in searched,
        "" if value in searched else lack(session, index, query, ids, value),
    )  # fmt: skip


def lack(session, index: Passages, query: str, ids: list[str], value: str) -> str:
    """Say where a search lost a value: in the index, among its lines, or in the question."""
    if len(query.split()) < 12:
        return "the message says nothing but the value"
    for rank, hit in enumerate(index.search(terms(query), ids, 60)):
        lines = pages(session.entries.text(hit.entry_id))[hit.first - 1 : hit.last]
        if value in "\n".join(lines):
            return f"its passage is number {rank}, its line too weak"
    return "its passage is not among the best 60"


def report(uses: list[Use]) -> None:
    """Print the table by kind of content, and what the misses lacked."""
    print(f"{'kind':<12}{'hidden':>8}{'pattern':>9}{'tokens':>8}{'query':>7}")
    for kind in [*sorted({use.kind for use in uses}), "all"]:
        chosen = [use for use in uses if kind in ("all", use.kind)]
        mean = statistics.fmean([use.pattern_tokens for use in chosen] or [0])
        brought = sum(use.by_query for use in chosen)
        share = 100 * brought / max(1, len(chosen))
        told = f"{sum(use.by_pattern for use in chosen):>9}{mean:>8.0f}{share:>6.0f}%"
        print(f"{kind:<12}{len(chosen):>8}{told}")
    for lacked, count in Counter(use.lacked for use in uses if use.lacked).most_common():
        print(f"  {count:>3} × {lacked}")
    for use in uses:
        if use.lacked or not use.by_pattern:
            print(
                f"      {use.where} {use.kind} {use.value[:60]!r}: {use.lacked or 'pattern failed'}"
            )


def records_of(characters: int, seed: int = 1) -> list[dict[str, object]]:
    chance = random.Random(seed)
    rows: list[dict[str, object]] = []
    while len(rows) * 190 < characters:
        number = len(rows)
        rows.append({
            "id": f"{chance.getrandbits(64):016x}", "name": f"customer {number} {WORDS[number % 97]}",
            "status": WORDS[chance.randrange(300)], "total": chance.randrange(10**6), "rank": number,
            "note": " ".join(chance.choice(WORDS) for _ in range(10)),
        })  # fmt: skip
    return rows


WORDS = [f"{first}{second}" for first in ("ab", "cor", "del", "fen", "gor", "hul", "jim", "kel", "lom", "mar",
    "nor", "pel", "qua", "ros", "sul", "tam", "ulm", "vex", "wol", "zan") for second in ("ance", "bury", "dale", "er",
    "field", "gate", "ion", "ing", "ium", "ment", "ness", "or", "ous", "ple", "ty")]  # fmt: skip


def timed(call: Callable[[], object]) -> tuple[float, float]:
    """Return the first and the median time of a call, in milliseconds."""
    times = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        call()
        times.append(1_000 * (time.perf_counter() - started))
    return times[0], statistics.median(times)


def speeds() -> None:
    """Print the times of slices out of large contents, read from a store each time."""
    tokens.count("the vocabulary is read once")
    with tempfile.TemporaryDirectory() as folder:
        store = DiskStore(Path(folder))
        for name, characters in (("1 MB", 1_000_000), ("1.2 million tokens", 3_150_000)):
            rows = records_of(characters)
            forms = {
                "JSON, one line": json.dumps(rows),
                "JSON, indented": json.dumps(rows, indent=2),
                "JSON in JSON": json.dumps({"result": json.dumps(rows)}),
                "table": "\n".join(",".join(str(value) for value in row.values()) for row in rows),
            }
            for form, text in forms.items():
                slices(store, name, form, text, rows)
        store.close()


def slices(store, name: str, form: str, text: str, rows: list[dict[str, object]]) -> None:
    key = store.put(text.encode())
    wanted = rows[len(rows) // 2]

    def take(request: recall.RecallRequest) -> str:
        return recall.take(store.get(key).decode(), request, PATTERN_TOKENS)

    first, median = timed(lambda: take(recall.RecallRequest(pattern=str(wanted["id"]))))
    told = (
        f"{name:<20}{form:<16}{len(text) / 1e6:>6.1f} MB  pattern {first:>7.1f} {median:>6.1f} ms"
    )
    path = {"JSON in JSON": "$.result[{}].id", "table": "$[{}]"}.get(form, "$[{}].id")
    first, median = timed(lambda: take(recall.RecallRequest(path=path.format(len(rows) // 2))))
    print(f"{told}   path {first:>7.1f} {median:>6.1f} ms   (first, median)")


def query_speed() -> None:
    """Print what it takes to fill an index with 1,000 results of 20 KB, and to search it."""
    texts = {
        f"entry{number:03}": json.dumps(records_of(20_000, number), indent=1)
        for number in range(1_000)
    }
    with tempfile.TemporaryDirectory() as folder:
        store = DiskStore(Path(folder) / "contents")
        keys = {entry_id: store.put(text.encode()) for entry_id, text in texts.items()}
        index = Passages(lambda id_: content(texts[id_], "list customers"))
        started = time.perf_counter()
        index.search(["customer"], list(texts))
        filling = time.perf_counter() - started
        total = sum(map(len, texts.values()))
        print(f"filled {total / 1e6:.0f} MB in {filling:.1f} s ({filling:.2f} ms each)")
        chance = random.Random(7)
        for words in (3, 12, 200):
            queries = [
                " ".join(chance.choice(WORDS) for _ in range(words)) + " customer 77"
                for _ in range(ROUNDS)
            ]
            search = functools.partial(search_next, index, store, keys, iter(queries))
            first, median = timed(search)
            print(
                f"query of {words:>3} words over 1,000 results: first {first:.1f} ms, median {median:.1f} ms"
            )


def search_next(
    index: Passages, store: DiskStore, keys: dict[str, str], queries: Iterator[str]
) -> str:
    def text(entry_id: str) -> str:
        return store.get(keys[entry_id]).decode()

    return retrieval.search(index, next(queries), QUERY_TOKENS, list(keys), text)


def main() -> None:
    uses = []
    for file in find_files([Path(each) for each in sys.argv[1:]]):
        try:
            recordings = read_file(file)
        except Exception as problem:  # noqa: BLE001 - a file that is no recording
            print(f"{file}: {problem}", file=sys.stderr)
            continue
        uses += [use for recording in recordings for use in hidden_uses(recording)]
    if uses:
        report(uses)
    speeds()
    query_speed()


if __name__ == "__main__":
    main()
