"""Names for the places that the tools may see, and what a recording must not show of them.

`stdlib/` is the standard library, `site-packages/` the installed packages, `work/` the session's
own directory. Nothing is read or written here.
"""

from __future__ import annotations

import re
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from recorder.tools import ToolError

MAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
REGISTRY = re.compile(r"\b(?:[\w-]+\.)*(?:pypi|pythonhosted|anaconda|npmjs|crates)\.(?:org|com|io)")
ADDRESS = re.compile(r"\b0x[0-9a-f]{9,16}\b")
DURATION = re.compile(r"\bin \d+\.\d+s\b")

UNSEEN = {"__pycache__", "dist-packages", "site-packages", "test", "tests"}
MACHINE_DEPENDENT = ("_sysconfigdata", "config-", ".")
COMPILED = {".a", ".pyd", ".so"}


@dataclass(frozen=True)
class Workspace:
    """The places of one session; `work` is a directory that it has for itself."""

    work: Path

    @property
    def roots(self) -> dict[str, Path]:
        """Return the directory behind each name that a path may start with."""
        paths = sysconfig.get_paths()
        return {
            "work": self.work,
            "site-packages": Path(paths["purelib"]),
            "stdlib": Path(paths["stdlib"]),
        }

    def path(self, name: str) -> Path:
        """Return the path behind a name such as `stdlib/json/decoder.py`."""
        root, _, rest = name.strip("/").partition("/")
        if root not in self.roots or ".." in rest.split("/"):
            message = f"{name}: not below stdlib/, site-packages/ or work/"
            raise ToolError(message)
        return self.roots[root] / rest

    def existing(self, name: str) -> Path:
        """Return the path behind a name, or raise `ToolError` if nothing is there."""
        path = self.path(name)
        if not path.exists():
            message = f"{name}: no such file or directory"
            raise ToolError(message)
        return path

    def name(self, path: Path) -> str:
        """Return the name of a path below one of the roots."""
        return self.hide(path.as_posix())

    def hide(self, text: str) -> str:
        """Put the roots' names in place of their paths, and the interpreter's in place of its."""
        text = text.replace(sys.executable, "python")
        for name, root in self.roots.items():
            text = text.replace(root.as_posix(), name)
        return text


def seen(path: Path) -> bool:
    """Say whether a file or directory is shown at all: not if it was built for one machine."""
    if path.name in UNSEEN or path.suffix in COMPILED:
        return False
    return not path.name.startswith(MACHINE_DEPENDENT)


def masked(text: str) -> str:
    """Blank out mail addresses, package registries, memory addresses and durations."""
    text = MAIL.sub(lambda match: re.sub(r"[^@.]", "x", match[0]), text)
    text = REGISTRY.sub(lambda match: re.sub(r"[^.]", "x", match[0]), text)
    text = ADDRESS.sub("0x7f0000000000", text)
    return DURATION.sub("in 0.10s", text)
