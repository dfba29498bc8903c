"""What one asks about a run or a log: what failed, where, how often, from when to when."""

from __future__ import annotations

import re

from tests.bench.compression.question import Question, beside, says

OUTCOME = re.compile(r"(\d+) (failed|passed|skipped|xfailed|warning|error)s?")


def test_log(text: str) -> list[Question]:
    """Twenty questions about a verbose pytest run."""
    counts = {word: number for number, word in OUTCOME.findall(text.splitlines()[-2])}
    collected = re.findall(r"collected (\d+) items", text)[0]
    seconds = re.findall(r" in ([\d.]+)s", text)[-1]
    python = re.findall(r"Python ([\d.]+\w*)", text)[0]
    return [
        *(beside(f"How many {word}?", f"{word}|{word}s", counts[word]) for word in ("failed", "passed", "skipped", "xfailed", "error")),
        beside("How many were collected?", "collected|tests|items|ran|total", collected),
        beside("How long did it take?", "in|took|duration|seconds|s", f"{seconds}s|{seconds}"),
        beside("What was the exit code?", "exit code|exit|code|exited", 1),
        beside("Which rounding test failed first?", "test_gross_rounds[1999-2379]", "failed|2378"),
        says("Which other tests failed?", "test_parse_single_digit_cents", "test_parse_empty"),
        says("In which file are the failures?", "tests/test_prices.py"),
        beside("Where does the rounding test fail?", "test_prices.py", "15"),
        says("What came out instead of 2379?", "assert 2378 == 2379|2378 == 2379"),
        says("What came out for 12.5?", "assert 1205 == 1250|1205 == 1250"),
        says("Why did test_parse_empty fail?", "invalid literal for int() with base 10"),
        beside("On which line of the code was that raised?", "shop/prices.py", "11"),
        beside("Which test had an error?", "test_reserve", "error"),
        says("Why?", "warehouse.internal:5432 refused the connection|warehouse.internal:5432 refused"),
        says("What was the warning?", "the rate 'reduced' changes on 2025-07-01"),
        beside("Which Python ran it?", "Python", python),
    ]  # fmt: skip


test_log.__test__ = False  # type: ignore[attr-defined]


def server_log(text: str) -> list[Question]:
    """Twenty questions about a server's log."""
    lines = text.splitlines()
    events = [line for line in lines if re.match(r"\d{4}-", line)]
    levels = {
        level: sum(f" {level} " in line[:32] for line in events) for level in ("ERROR", "WARN")
    }
    statuses = {status: len(re.findall(rf" {status} \d+B ", text)) for status in (200, 404)}
    broken = re.findall(r"req=(\w+) client=\S+ GET (\S+) 500", text)
    missing = re.findall(r"GET (\S+) 404", text)[0]
    slow = re.findall(r"slow request req=(\w+)", text)[0]
    return [
        says("When does it begin?", _time(lines[0])),
        says("When does it end?", _time(lines[-1])),
        beside("How many lines?", "lines|line|events|entries", f"{len(lines)}|{len(events)}"),
        beside("How many errors?", "error|errors", levels["ERROR"]),
        beside("How many warnings?", "warn|warning|warnings", levels["WARN"]),
        beside("Which version runs?", "fileserver", "2.4.0"),
        says("Where does it listen?", "0.0.0.0:8443|:8443|8443"),
        says("Which is the configuration file?", "/etc/fileserver/config.toml"),
        says("What could not be read?", "cannot read the manifest"),
        says("Why?", "JSONDecodeError", "line 1 column 17"),
        beside("When?", "manifest", _time(next(line for line in lines if "manifest" in line))),
        says("Which worker was killed, and why?", "worker-2", "out of memory"),
        beside("As which process did it come back?", "restarted|pid", "58"),
        beside("Which host timed out?", "storage.internal:9000", "timed out"),
        beside("How often was the pool exhausted?", "pool exhausted|connection pool", "3|×3|3×|x3|3x"),
        *(beside(f"Which request for {path} failed?", path, request) for request, path in broken[:1]),
        *(beside(f"How many answers are {status}?", str(status), n) for status, n in statuses.items()),
        says("Which files were missing?", missing),
        beside("How slow was the slowest?", slow, "12874ms|12,874ms|12.874s|12.9s"),
    ]  # fmt: skip


def _time(line: str) -> str:
    """The time of a line as the log has it, or to the second, with or without its date."""
    stamp = line.split(maxsplit=1)[0]
    return f"{stamp}|{stamp[:19]}|{stamp[11:19]}"
