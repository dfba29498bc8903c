"""What programs print: a test run with failures (really run) and a service's log.

The log's clock is made up, its files and sizes are real.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.bench.compression.corpus import sources

START = datetime(2025, 3, 3, 8, 14, 2, 118_000, tzinfo=UTC)
LOG_LINES = 420
TESTS = {
    "shop/__init__.py": "",
    "shop/prices.py": '''
RATES = {"standard": 0.19, "reduced": 0.07}


def gross(net: int, rate: str = "standard") -> int:
    """The price with tax, in cents."""
    return int(net * (1 + RATES[rate]))


def parse_amount(text: str) -> int:
    whole, _, cents = text.partition(".")
    return int(whole) * 100 + int(cents or 0)
''',
    "tests/test_codecs.py": """
import encodings.aliases
import pytest

NAMES = sorted(set(encodings.aliases.aliases.values()))


@pytest.mark.parametrize("name", NAMES)
def test_ascii_survives(name):
    if name in ("mbcs", "oem"):
        pytest.skip("only on Windows")
    try:
        data = "hippocampus".encode(name)
    except LookupError:
        pytest.skip("no text encoding")
    assert data.decode(name) == "hippocampus"
""",
    "tests/test_orders.py": """
import pytest


@pytest.fixture
def warehouse():
    raise ConnectionRefusedError(111, "warehouse.internal:5432 refused the connection")


def test_reserve(warehouse):
    assert warehouse.reserve("A-1001", 2)


@pytest.mark.xfail(reason="waits for issue 88")
def test_partial_refund():
    assert 1 == 2


def test_totals():
    cart = {"A-1001": 2, "B-2002": 1}
    assert sum(cart.values()) == 3
""",
    "tests/test_prices.py": """
import warnings

import pytest

from shop.prices import gross, parse_amount


@pytest.mark.parametrize("net", range(100, 6100, 100))
def test_gross_is_larger(net):
    assert gross(net) > net


@pytest.mark.parametrize(("net", "expected"), [(1999, 2379), (4999, 5949), (100, 119)])
def test_gross_rounds(net, expected):
    assert gross(net) == expected


def test_parse_single_digit_cents():
    assert parse_amount("12.5") == 1250


def test_parse_empty():
    assert parse_amount("") == 0


def test_old_rate():
    warnings.warn("the rate 'reduced' changes on 2025-07-01", FutureWarning)
    assert gross(100, "reduced") == 107
""",
}


def test_log() -> str:
    """A verbose pytest run of a small project, with what a shell tool adds."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        for name, text in TESTS.items():
            (root / name).parent.mkdir(exist_ok=True)
            (root / name).write_text(text.lstrip("\n"), "utf-8")
        command = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", "--color=no"]
        environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(root)}
        environment |= {"COLUMNS": "100", "PYTEST_ADDOPTS": ""}
        run = subprocess.run(
            command, cwd=root, env=environment, capture_output=True, text=True, check=False
        )
        text = run.stdout.replace(str(root), "/srv/shop").replace(sys.executable, "/usr/bin/python")
    return f"$ python -m pytest -v\n{text}[exit code {run.returncode}]\n"


test_log.__test__ = False  # type: ignore[attr-defined]


def server_log() -> str:
    """A morning of a file server: starts, requests, slow ones, failures, a restart."""
    clock = START
    out: list[str] = []
    for at, (level, worker, text) in enumerate(_events()):
        clock += timedelta(milliseconds=int(sources.digest("gap", at, length=4), 16) // 4)
        stamp = f"{clock:%Y-%m-%dT%H:%M:%S}.{clock.microsecond // 1000:03}Z"
        first, *more = text.split("\n")
        out += [f"{stamp} {level:<5} [{worker}] {first}", *more]
    return "\n".join(out) + "\n"


def _events() -> Iterator[tuple[str, str, str]]:
    yield "INFO", "main", "fileserver 2.4.0 starting, pid 7, config /etc/fileserver/config.toml"
    yield "INFO", "main", "listening on 0.0.0.0:8443, 4 workers"
    special = _special()
    for at in range(LOG_LINES):
        if at in special:
            yield special[at]
        yield _request(at)
    yield "INFO", "main", "received SIGTERM, draining 3 connections"
    yield "INFO", "main", "stopped after 421 requests, exit code 0"


def _request(at: int) -> tuple[str, str, str]:
    names = sources.modules()
    name = names[at * 37 % len(names)]
    seed = sources.digest("request", at, length=12)
    status, size = 200, len(sources.read(name))
    if at % 53 == 17:
        status, size, name = 404, 0, name.replace(".py", ".pyx")
    if at in {140, 331}:
        status, size = 500, 0
    text = f"req={seed} client=10.0.{at % 4}.{at * 7 % 200} GET /lib/{name} {status} {size}B {3 + at * at % 41}ms"
    return ("ERROR" if status == 500 else "INFO"), f"worker-{at % 4}", text


def _special() -> dict[int, tuple[str, str, str]]:
    slow = (
        f"slow request req={sources.digest('slow', length=12)} GET /search?q=asyncio took 12874ms"
    )
    pool = "connection pool exhausted (20 of 20), waiting"
    return {
        60: ("WARN", "worker-1", "disk cache at 91 percent of 2048 MB, evicting"),
        118: ("WARN", "worker-2", pool),
        119: ("WARN", "worker-3", pool),
        124: ("WARN", "worker-0", pool),
        139: ("ERROR", "worker-0", f"cannot read the manifest\n{_traceback()}"),
        205: ("WARN", "worker-1", slow),
        262: ("ERROR", "main", "worker-2 (pid 31) killed by signal 9, out of memory at 1893 MB"),
        263: ("INFO", "main", "worker-2 restarted, pid 58"),
        330: ("ERROR", "worker-3", "upstream storage.internal:9000 timed out after 30s, attempt 3 of 3"),
    }  # fmt: skip


def _traceback() -> str:
    try:
        json.loads('{"files": [1, 2,]}')
    except ValueError:
        text = re.sub(r"\n +[~^]+(?=\n)", "", traceback.format_exc())
        text = text.replace(__file__, "/srv/fileserver/manifest.py")
    return sources.scrubbed(text).rstrip()
