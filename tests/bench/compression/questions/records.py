"""What one asks about records and tables: the totals, the odd ones, and some row or other."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from statistics import fmean

from tests.bench.compression.question import Question, beside, says

Row = dict[str, str]


def api_response(text: str) -> list[Question]:
    """Twenty questions about one page of an API's list."""
    answer = json.loads(text)
    records = answer["data"]
    by_status = {
        status: [r for r in records if r["status"] == status] for status in ("failed", "queued")
    }
    failed = by_status["failed"][0]
    first, early, middle, late, last = (records[int((len(records) - 1) * n / 4)] for n in range(5))
    available = Counter(record["status"] for record in records)["available"]
    largest = max(records, key=lambda record: record["size_bytes"])
    return [
        beside("What is the next cursor?", "cursor|next_cursor|next", answer["next_cursor"]),
        beside("How many packages are there in all?", "total", answer["total"]),
        beside("Are there more?", "has_more|more", "true|yes"),
        beside("How many are on this page?", "data|records|items|rows|packages|objects", len(records)),
        says("Which request was it?", answer["request_id"]),
        beside("How many calls are left?", "remaining|rate_limit", answer["rate_limit"]["remaining"]),
        says("What does a record have?", "id", "name", "version", "status", "requires_python", "url"),
        beside("Which package failed?", "failed", failed["name"]),
        beside("Which id has the failed one?", "failed", failed["id"]),
        says("Why did it fail?", "checksum_mismatch"),
        says("What does its message say?", failed["error"]["message"]),
        beside("Which ones are queued?", "queued", *(r["name"] for r in by_status["queued"])),
        beside("How many are available?", "available", available),
        *(beside(f"Which id has {r['name']}?", r["name"], r["id"]) for r in (early, middle, last)),
        *(beside(f"Which version has {r['name']}?", r["name"], r["version"]) for r in (first, late)),
        beside("Which is the largest?", largest["name"], largest["size_bytes"]),
        beside(f"What is the licence of {early['name']}?", early["name"], early["license"] or early["version"]),
    ]  # fmt: skip


def csv_table(text: str) -> list[Question]:
    """Twenty questions about a CSV table."""
    rows = list(csv.DictReader(io.StringIO(text)))
    columns = list(rows[0])
    packages = Counter(row["package"] for row in rows)
    (package, most), (second, fewer) = packages.most_common(2)
    spread = [rows[int((len(rows) - 1) * share)] for share in (0.0, 0.3, 0.5, 0.8, 1.0)]
    largest, longest = _largest(rows, "bytes"), _largest(rows, "lines")
    return [
        beside("How many rows?", "rows|row|records", len(rows)),
        says("Which columns?", *columns),
        beside("How many columns?", "columns|column|cols", len(columns)),
        beside("Which file has most bytes?", largest["file"], largest["bytes"]),
        beside("Which has most lines?", longest["file"], longest["lines"]),
        beside("What is the most of functions?", "functions", _largest(rows, "functions")["functions"]),
        beside("What is the most of imports?", "imports", _largest(rows, "imports")["imports"]),
        beside("Which file has most classes?", _largest(rows, "classes")["file"], _largest(rows, "classes")["classes"]),
        beside("What is the least of lines?", "lines", min(int(row["lines"]) for row in rows)),
        beside("How many lines in all?", "lines", sum(int(row["lines"]) for row in rows)),
        beside("How many on average?", "lines", *_mean(rows, "lines")),
        beside("Which package has most rows?", package, most),
        beside("Which is second?", second, fewer),
        beside("How many packages?", "package|packages", len(packages)),
        *(beside(f"How many lines has {row['file']}?", row["file"], row["lines"]) for row in spread),
        beside("By what is it sorted?", "file", "sorted|ascending|ordered|order|A-Z|…|.."),
    ]  # fmt: skip


def _largest(rows: list[Row], column: str) -> Row:
    return max(rows, key=lambda row: int(row[column]))


def _mean(rows: list[Row], column: str) -> list[str]:
    mean = fmean(int(row[column]) for row in rows)
    return [f"{mean:.0f}|{mean:.1f}|{mean:.2f}|{int(mean)}"]


def markdown_table(text: str) -> list[Question]:
    """Twenty questions about a Markdown table."""
    table = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| U+")]
    by_kind = Counter(row[3] for row in table)
    upper = [row for row in table if row[3] == "Lu"]
    rare = min(by_kind, key=by_kind.__getitem__)
    spread = [table[int((len(table) - 1) * n / 7)] for n in range(8)]
    return [
        beside("How many rows?", "rows|row|letters|records", len(table)),
        says("Which columns?", "code point", "letter", "name", "category", "lower case"),
        beside("How many columns?", "columns|column|cols", 5),
        says("What is it called?", "Letters"),
        says("Where does it begin?", table[0][0]),
        says("Where does it end?", table[-1][0]),
        *(beside(f"How many are {kind}?", kind, n) for kind, n in by_kind.most_common(2)),
        says("Which categories are there?", *by_kind),
        beside("Which category is the rarest?", rare, by_kind[rare]),
        beside("Which Unicode version is it?", "Unicode", re.findall(r"Unicode ([\d.]+)", text)[0]),
        *(beside(f"What is {row[0]} called?", row[0], row[2]) for row in spread[1:7]),
        *(beside(f"Which is the code point of {row[2]}?", row[2], row[0]) for row in (upper[3], upper[-3])),
        beside("What is the lower case of the last capital?", upper[-1][0], upper[-1][4]),
    ]  # fmt: skip
