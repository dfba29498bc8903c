"""The installed standard library as raw material: its files, texts and names, in a stable order.

Nothing here knows about questions or entries.
"""

from __future__ import annotations

import hashlib
import os
import re
import sysconfig
from functools import cache
from pathlib import Path

ROOT = Path(sysconfig.get_path("stdlib"))
LEFT_OUT = {"__pycache__", "site-packages", "dist-packages", "config", "lib-dynload"}
ADDRESS = re.compile(r"(?: |&nbsp;)at(?: |&nbsp;)0x[0-9a-f]+")


@cache
def files() -> tuple[str, ...]:
    """Every file of the standard library, relative and sorted, without compiled ones."""
    found: list[str] = []
    for folder, below, names in os.walk(ROOT):
        below[:] = sorted(name for name in below if name not in LEFT_OUT)
        at = Path(folder).relative_to(ROOT)
        found += [(at / name).as_posix() for name in names if not name.endswith((".pyc", ".pyo"))]
    return tuple(sorted(found))


@cache
def modules() -> tuple[str, ...]:
    """The Python files that every installation has: no tests, no idlelib, no build's own data."""
    skipped = (
        "test/",
        "idlelib/",
        "lib2to3/",
        "turtledemo/",
        "tkinter/",
        "distutils/",
        "_sysconfig",
    )
    return tuple(
        name
        for name in files()
        if name.endswith(".py") and not name.startswith(skipped) and "/test" not in name
    )


@cache
def read(name: str) -> str:
    """The text of one file of the standard library."""
    return (ROOT / name).read_text("utf-8", errors="replace")


def scrubbed(text: str) -> str:
    """The text without what differs between two machines: the folder and memory addresses."""
    return ADDRESS.sub("", text).replace(str(ROOT), "/usr/lib/python3")


def digest(*parts: object, length: int = 40) -> str:
    """A hash of the parts, for ids that look like ids and never change."""
    return hashlib.sha1("\0".join(map(str, parts)).encode(), usedforsecurity=False).hexdigest()[
        :length
    ]
