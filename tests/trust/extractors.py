"""Every extractor on texts of hypothesis: it raises nothing, reads in linear time, and what it writes holds.

`python -m tests.trust.extractors --examples 2000 --seed 7` prints a row for each; the status is 1 where
one is broken. Called directly, since the session reads plainly what an extractor fails at.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import sys
from collections.abc import Callable
from time import process_time
from typing import Any, NamedTuple

import hypothesis
from conversations import chat_step
from hypothesis import HealthCheck, Phase, given, settings

from hippocampus.errors import RecallError
from hippocampus.facts import pasted
from hippocampus.formats.conversation import Item, unpaired, without_envelope
from hippocampus.formats.reader import read
from hippocampus.indexing import ExtractionContext, index, json_documents, price_of, unwrap
from hippocampus.indexing.arguments import shorten
from hippocampus.indexing.extraction import NUMBER, Extraction
from hippocampus.indexing.kinds import KINDS, ContentKind, extraction_of, read_large, read_small
from hippocampus.models import tokens
from hippocampus.policy import Policy, Redaction
from hippocampus.prices import TABLES
from hippocampus.recall.definition import RecallRequest as Request
from hippocampus.recall.slices import take
from hippocampus.replay.our_strategy import fresh_session
from hippocampus.session.work_files import WorkFile, described
from tests.trust.odd_texts import texts

MAX_SECONDS_PER_MB, NOISE_SECONDS = 1.0, 0.15
"""The CPU time of a text; a small one may take the noise of a busy machine besides."""
PATHS = (
    "$..*",
    "$..a",
    f"$..[{','.join(['0', repr('a')] * 90)}]",
    "$..[?@.a > 3 || @[0] == 'x']",
    "$..[?search(@, '(a+)+$')]",
    "$[*][?count(@..*) > 2]",
)
COPIES = {"conversation": 4, "paths": len(PATHS)}
"""How often a check reads its text, where that is more than once."""
PRICES = TABLES["anthropic-5m"]
EAGER = Policy(
    index_over_tokens=60, smallest_gain_share=0, fresh_turns={"code": 0}, budget_tokens=12_000
)
EVERYTHING = Redaction(kinds=("secret", "card", "email", "iban", "phone"))
FRAME = "[abcdefgh · 9 tokens]"
ASKED = (
    Request(pattern=r"\w+\W"),
    Request(lines=(2, 9), context=2),
    Request(query="word name a b"),
    Request(path="$..a"),
    Request(path="$[1]"),
    Request(path="A.f0"),
    Request(path="e1"),
    Request(tail=3),
)


def sound(found: Extraction) -> None:
    """Check that the lines of an extraction can be chosen from, and read."""
    assert found.summary
    assert "\n" not in found.summary
    for at, line in enumerate(found.lines):
        assert line.parent is None or 0 <= line.parent < at, "a heading comes after its line"
        assert line.number is None or line.number >= 0
        assert line.count >= 0
        assert math.isfinite(line.weight)
        assert line.weight >= 0


def by_kind(kind: ContentKind) -> Callable[[str], None]:
    """Return the check of a kind's recogniser and extractor."""

    def check(text: str) -> None:
        assert kind.recognises is None or 0 <= kind.recognises(text) <= 1
        if kind.extract and (found := kind.extract(text)):
            sound(found)

    return check


def json_value(text: str) -> None:
    value, words = unwrap.json_and_words(text)
    assert all(isinstance(word, str) for word in words)
    if value is not None:
        sound(json_documents.read(value))
        unwrap.parted(value, len(text))


def tool_output(text: str) -> None:
    found = unwrap.output_of(text, 5)
    assert found.first_number >= 0
    assert len(unwrap.line_numbers(text, '{"offset": 7}')) == text.count("\n") + 1
    unwrap.without_numbers(text)
    unwrap.thinned(text, 10, '{"new": "a\\nb"}')


def entry(text: str) -> None:
    """An entry keeps its bounds, is UTF-8, and its selectors and line numbers lead where they say."""
    count = max(1, len(text) // 4)
    context = ExtractionContext(content_tokens=count, is_error=count % 2 == 0, task="name a")
    found = index(text, context, price_of("json", "normal", PRICES, 10_000, 10))
    summary, *lines = found.lines
    summary.encode()
    "\n".join(lines).encode()
    assert sum(map(tokens.count, lines)) <= max(0, 2_500 - tokens.count(summary)) + len(lines)
    pairs = (selector.partition("=") for selector in found.selectors)
    asked = [Request(**{name: json.loads(value)}) for name, _, value in pairs if value != '"…"']
    extraction = extraction_of(text, context)
    sound(extraction)
    numbers = [line.number for line in extraction.lines if line.form == NUMBER and line.number]
    for request in (*asked, *(Request(lines=(number, number)) for number in numbers[-5:])):
        try:
            take(text, request, 2_000)
        except RecallError as refused:
            if refused.reason != "too_large":
                raise AssertionError(f"{request}: {refused}") from None


def arguments(text: str) -> None:
    given = {"file_path": "a.py", "content": text, "edits": [{"old": text[:300], "new": text}]}
    whole = json.dumps(given)
    short = json.loads(shorten(whole, FRAME))
    assert short.keys() == given.keys()
    json.dumps(short, ensure_ascii=False)
    shorten(text, FRAME, 40)


def recalls(text: str) -> None:
    for request in ASKED:
        try:
            found = take(text, request, 300)
        except RecallError as refused:
            assert refused.reason in {"bad_request", "no_match", "too_large"}  # noqa: PT017
        else:
            assert tokens.count(found) <= 300


def paths(text: str) -> None:
    """Paths into as many small values as a text of its length can have."""
    whole = json.dumps([[[text[:3]], {"a": len(text)}]] * (len(text) // 30))
    for path in PATHS:
        with contextlib.suppress(RecallError):
            take(whole, Request(path=path), 300)


def redaction(text: str) -> None:
    EVERYTHING.redacted(text)
    whole = json.dumps({"a": text[:5_000], "b": [1, text[:99]]})
    json.loads(EVERYTHING.redacted_json(whole))


def work_file(text: str) -> None:
    file = WorkFile("a.py", changed=2)
    file.read(1, text.split("\n"), 1, whole=True)
    described(file, 2_000, 5)


def conversation(text: str) -> None:
    """A list in which tools print and calls write the text: none raw, none unpaired, all recalled."""
    items: list[Item] = [{"role": "user", "content": "read it, then write it"}]
    with fresh_session(EAGER, PRICES) as session:
        for turn in range(9):
            given = {"path": f"{turn}.txt"} | ({"content": text} if turn == 1 else {})
            printed = text if turn in {0, 3} else f"done {turn}"
            items += chat_step(f"c{turn}", "run", given, printed)
            view = session([*items])
            assert not unpaired(read(view))
            assert len(json.dumps(view)) <= len(json.dumps(items)) + 2_000
        assert session.status()["raw"] == 0, session.status()["problem"]
        written = (json.dumps({"path": "1.txt", "content": text}), without_envelope(text))
        for entry in session.entries:
            assert session.entries.text(entry.id) in written


CHECKS: dict[str, Callable[[str], Any]] = {
    **{kind.name: by_kind(kind) for kind in KINDS.values() if kind.recognises},
    "json": json_value,
    "output": tool_output,
    "entry": entry,
    "arguments": arguments,
    "recalls": recalls,
    "paths": paths,
    "redaction": redaction,
    "work file": work_file,
    "claims": pasted.by_author,
    "conversation": conversation,
}


def seconds(name: str, text: str) -> float:
    """Return the CPU time of a check, with nothing remembered."""
    read_small.cache_clear()
    read_large.cache_clear()
    started = process_time()
    CHECKS[name](text)
    return process_time() - started


def check(name: str, text: str) -> float:
    """Check an extractor with a text; return its CPU time, the least of three where it is long."""
    bar = NOISE_SECONDS + MAX_SECONDS_PER_MB * COPIES.get(name, 1) * len(text) / 1e6
    took = seconds(name, text)
    for _ in range(2 if took > bar else 0):
        took = min(took, seconds(name, text))
    assert took <= bar, f"{took:.2f} s for {len(text):,} characters"
    return took


class Findings(NamedTuple):
    """The result of one extractor."""

    tried: int
    megabytes: float
    cpu_seconds: float
    broken: str


def run(name: str, examples: int, seed: int) -> Findings:
    """Check an extractor with as many texts, and shorten the one that breaks it."""
    tried, characters, spent = 0, 0, 0.0

    @hypothesis.seed(seed)
    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )
    @given(texts())
    def checked(text: str) -> None:
        nonlocal tried, characters, spent
        tried, characters = tried + 1, characters + len(text)
        spent += check(name, text)

    failures: tuple[BaseException, ...] = ()
    try:
        checked()
    except ExceptionGroup as several:
        failures = several.exceptions
    except Exception as failure:  # noqa: BLE001 - these are what is looked for
        failures = (failure,)
    broken = "\n".join(
        "\n".join((f"{type(failure).__name__}: {failure!s:.200}", *failure.__notes__))[:2_000]
        for failure in failures
    )
    return Findings(tried, characters / 1e6, spent, broken)


def main() -> bool:
    """Print the table; return whether a text broke an extractor."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=500, help="for each extractor")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--extractor", choices=list(CHECKS), action="append")
    asked, is_broken = parser.parse_args(), False
    print(f"{'extractor':<12}{'texts':>8}{'MB':>8}{'s/MB':>8}  broken")
    for name in asked.extractor or CHECKS:
        found = run(name, asked.examples, asked.seed)
        rate = found.cpu_seconds / max(found.megabytes, 1e-9)
        row = f"{name:<12}{found.tried:>8}{found.megabytes:>8.1f}{rate:>8.2f}"
        print(f"{row}  {found.broken or 0}", flush=True)
        is_broken |= bool(found.broken)
    return is_broken


if __name__ == "__main__":
    sys.exit(main())
