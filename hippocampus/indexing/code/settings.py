"""Configuration files (YAML, TOML, INI, .env) as dotted paths with their values and lines.

One pass over the lines; no parser is needed, so a partial file reads as well as a whole one.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from hippocampus.indexing.lines import cut

SECTION = re.compile(r"\[{1,2}([^\[\]\n]{1,120})\]{1,2}[ \t]*(?:[#;].*)?$")
ENTRY = re.compile(
    r"(?P<indent> {0,80}+)(?P<dash>(?:-[ \t]++){0,4}+)"
    r"(?P<key>\"[^\"\n]{1,80}\"|'[^'\n]{1,80}'|[\w./$@*-][^:=#\n\"'{}]{0,79}?)"
    r"(?:[ \t]*+=[ \t]*+|:(?:[ \t]++|$))(?P<value>.*)"
)
ITEM = re.compile(r"(?P<indent> {0,80}+)-[ \t]++(?P<value>[^\s].*)")
VALUE_CHARACTERS = 70
LINE_CHARACTERS = 1_000
MOST_SETTINGS = 20_000
MOST_LEVELS = 12


class ConfigSetting(NamedTuple):
    """One value and where it stands."""

    line: int
    path: str
    """The names of the sections that hold it, joined by dots."""
    key: str
    """Empty for an item of a list."""
    value: str
    """Empty where a section opens."""


def settings(text: str, first_line: int = 1) -> list[ConfigSetting]:
    """Return the settings of a configuration file, in order."""
    reader = _SettingsReader()
    for number, line in enumerate(text.split("\n"), first_line):
        if len(reader.found) >= MOST_SETTINGS:
            break
        reader.read(number, line[:LINE_CHARACTERS])
    return reader.found


class _SettingsReader:
    """Knows which sections are open while lines pass."""

    def __init__(self) -> None:
        self.found: list[ConfigSetting] = []
        self._section = ""
        self._open: list[tuple[int, str]] = []
        self._text_below: int | None = None

    def read(self, number: int, line: str) -> None:
        """Take one line."""
        start = line.lstrip(" ")
        indent = len(line) - len(start)
        if not start or start[0] in "#;" or self._in_text(indent):
            return
        section = SECTION.match(start) if start[0] == "[" else None
        if section:
            self._section, self._open = section[1].strip("\"' "), []
            self.found.append(ConfigSetting(number, self._section, "", ""))
        elif entry := ENTRY.match(line):
            self._entry(number, entry)
        elif item := ITEM.match(line):
            self._close(len(item["indent"]) + 1)
            self._add(number, "", item["value"])

    def _in_text(self, indent: int) -> bool:
        """Return whether a line belongs to a block of text that a key opened with `|` or `>`."""
        if self._text_below is not None and indent > self._text_below:
            return True
        self._text_below = None
        return False

    def _entry(self, number: int, entry: re.Match[str]) -> None:
        indent = len(entry["indent"]) + len(entry["dash"])
        self._close(indent)
        key, value = entry["key"].strip(" \t\"'"), entry["value"].split(" #")[0].strip()
        if value[:1] in ("|", ">") and len(value) < 4:
            self._text_below, value = indent, "(text)"
        self._add(number, key, value)
        if not value and len(self._open) < MOST_LEVELS:
            self._open.append((indent, key))

    def _close(self, indent: int) -> None:
        while self._open and self._open[-1][0] >= indent:
            self._open.pop()

    def _add(self, number: int, key: str, value: str) -> None:
        names = [self._section] if self._section else []
        path = ".".join(names + [name for _, name in self._open])
        self.found.append(
            ConfigSetting(number, path, key, cut(value, VALUE_CHARACTERS).strip("\"'"))
        )
