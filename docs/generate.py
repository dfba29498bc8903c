"""Writes the generated parts of the documentation from the code: `python docs/generate.py`.

What stands between `<!-- generated: NAME -->` and `<!-- generated: end -->` becomes what NAME below returns.
When mkdocs builds the site, README.md, SPEC.md and their like become pages of it. No sentence about the
software is written here.
"""

from __future__ import annotations

import functools
import html
import importlib
import json
import posixpath
import re
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import typer

from hippocampus import indexing, policy, prices, recall
from hippocampus.cli.commands import app
from hippocampus.cli.memory import STORES, group_of
from hippocampus.errors import HippocampusError
from hippocampus.facts import tools as memory_tools
from hippocampus.facts.models import POLICIES as FACT_PRESETS
from hippocampus.formats import reader
from hippocampus.indexing import select
from hippocampus.indexing.kinds import KINDS
from hippocampus.models import tokens as token_counts
from hippocampus.replay import our_strategy
from hippocampus.replay.readers.formats import LISTS, READERS

ROOT = Path(__file__).parent.parent
LINK = re.compile(r"\]\((?!\w+:|#)([^)#\s]+)(#[\w-]+)?\)")
PAGES = {
    "README.md": "index.md",
    "SPEC.md": "specification.md",
    "SECURITY.md": "security.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "examples/README.md": "examples.md",
}
"""Documents that stand outside this folder, and the page that each becomes."""


def table(head: str, rows: Iterator[tuple[str, ...]] | list[tuple[str, ...]]) -> str:
    """Return a Markdown table; a bar in a cell is escaped."""
    columns = head.split(" | ")
    lines = [head, " | ".join("---" for _ in columns)]
    lines += [" | ".join(cell.replace("|", "\\|") for cell in row) for row in rows]
    return "\n".join(f"| {line} |" for line in lines)


# The command line


@functools.cache
def commands() -> dict[str, Any]:
    """Return every command by its full name, such as `policy check`, groups included.

    The verbs of other stores are those of `memory --as STORE`.
    """

    def below(group: Any, before: str) -> Iterator[tuple[str, Any]]:
        for name, each in group.commands.items():
            yield f"{before}{name}", each
            if hasattr(each, "commands"):
                yield from below(each, f"{before}{name} ")

    found = dict(below(typer.main.get_command(app), ""))
    for store in STORES:
        found |= {
            f"memory --as {store} {name}": verb for name, verb in group_of(store).commands.items()
        }
    return found


def command_line() -> str:
    """Return each command with the first sentence of its help."""
    rows = [
        (f"`hippocampus {name}`", _one_line(each.help.partition("\n\n")[0]))
        for name, each in commands().items()
        if not hasattr(each, "commands")
    ]
    return table("command | what it does", rows)


def _one_line(text: str) -> str:
    return " ".join(text.split())


# Policies


def policy_fields() -> str:
    """Return a table for each part of a policy file, from its JSON Schema."""
    schema = policy.Policy.model_json_schema(by_alias=True)
    shipped = policy.load("default").model_dump(by_alias=True)
    parts = [_part("A policy file", schema, shipped)]
    parts += [_part(f"`{name}`", each, {}) for name, each in _parts(schema).items()]
    return "\n\n".join(parts)


def _parts(schema: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {name: each for name, each in schema["$defs"].items() if "properties" in each}


def _part(title: str, schema: dict[str, Any], shipped: dict[str, Any]) -> str:
    required = schema.get("required", ())
    rows = [
        (
            f"`{name}`",
            _type(each),
            "required" if name in required else _value(each.get("default")),
            *([_value(shipped.get(name))] if shipped else []),
            _one_line(each.get("description", "")),
        )
        for name, each in schema["properties"].items()
    ]
    head = (
        "field | type | default | in `default` | meaning"
        if shipped
        else "field | type | default | meaning"
    )
    described = "" if shipped else f"{_one_line(schema.get('description', ''))}\n\n"
    return f"## {title}\n\n{described}{table(head, rows)}"


def _type(schema: dict[str, Any]) -> str:
    """Return what a JSON Schema accepts, in a few words."""
    match schema:
        case {"$ref": str(path)}:
            name = path.rpartition("/")[2]
            found = f"[`{name}`](#{name.lower()})"
        case {"enum": names}:
            found = ", ".join(f"`{each}`" for each in names)
        case {"anyOf": forms}:
            kept = [_type(each) for each in forms if each.get("type") != "null"]
            found = " or ".join(
                form for form in dict.fromkeys(kept) if f"list of {form}" not in kept
            )
        case {"type": "array", **rest}:
            found = f"list of {_type(rest.get('items', {}))}"
        case {"type": "object"}:
            found = "mapping"
        case {"type": kind, "minimum": least, "maximum": most} if most < MANY:
            found = f"{kind}, {least:g} to {most:g}"
        case {"const": value}:
            found = f"`{value}`"
        case _:
            found = str(schema.get("type", "any"))
    return found


MANY = 1_000_000
"""A bound from here on only keeps numbers sane, and is not worth a reader's time."""


def _value(value: Any) -> str:
    if value is None or value in ({}, (), []):
        return ""
    if isinstance(value, dict | list | tuple) and len(json.dumps(value, default=str)) > 100:
        return f"{len(value)} entries"
    if type(value) is float:
        return f"`{value:g}`"
    return f"`{json.dumps(value, ensure_ascii=False, default=str)}`"


def shipped_policies() -> str:
    """Return the shipped policies: for which agents each is, and the fields that it changes."""
    base = policy.load("default").model_dump(by_alias=True)

    def rows() -> Iterator[tuple[str, ...]]:
        for name in sorted(policy.shipped(), key=lambda each: (each != "default", each)):
            own = policy.load(name).model_dump(by_alias=True)
            changed = [
                key for key in own if own[key] != base[key] and key not in ("name", "extends")
            ]
            comment = policy.text_of(name).splitlines()[0].removeprefix("# ")
            yield (
                f"`{name}`",
                comment.partition(":")[0].rstrip("."),
                ", ".join(f"`{key}`" for key in changed),
            )

    return table("policy | purpose | fields that differ from `default`", rows())


def compression_levels() -> str:
    """Return the bounds of an entry by level of compression."""

    def rows() -> Iterator[tuple[str, ...]]:
        for level, (least, most) in select.BOUNDS.items():
            own = [kind for kind in KINDS.values() if kind.aggressive_tokens]
            kinds = own if level == "aggressive" else []
            other = "".join(f"; `{kind.name}` {kind.aggressive_tokens}" for kind in kinds)
            yield f"`{level}`", f"{least:,}", f"{most:,}{other}"

    return table("`compression` | least tokens | most tokens", rows())


def fact_presets() -> str:
    """Return the values of the presets of the fact store."""
    names = list(FACT_PRESETS)
    rows = [
        (f"`{each.name}`", *(_value(_preset(FACT_PRESETS[preset], each.name)) for preset in names))
        for each in fields(FACT_PRESETS["default"])
    ]
    return table(" | ".join(["field", *(f"`{name}`" for name in names)]), rows)


def half_lives() -> str:
    """Return the half-life of each type of memory, by preset."""
    tables = {name: dict(each.half_life_days) for name, each in FACT_PRESETS.items()}
    types = dict.fromkeys(kind for each in tables.values() for kind in each)
    rows = [(f"`{kind}`", *(_value(each.get(kind)) for each in tables.values())) for kind in types]
    return table(" | ".join(["type", *(f"`{name}`" for name in tables)]), rows)


def _preset(settings: Any, name: str) -> Any:
    value = getattr(settings, name)
    return dict(value) if hasattr(value, "keys") else value


# Tools, prices, formats, errors


def recall_tool() -> str:
    """Return the arguments of the recall tool, as a model reads them."""
    rows = [
        (f"`{name}`", each["type"], each["description"])
        for name, each in recall.PARAMETERS["properties"].items()
    ]
    return f"> {html.escape(recall.DESCRIPTION, quote=False)}\n\n{table('argument | type | meaning', rows)}"


def memory_tool_definitions() -> str:
    """Return the tools of the fact store, as a model reads them."""
    rows = [
        (
            f"`{each['name']}`",
            ", ".join(f"`{name}`" for name in each["input_schema"]["properties"]),
            each["description"],
        )
        for each in memory_tools.tools("anthropic", conversation=True)
    ]
    return table("tool | arguments | description", rows)


def mcp_tools() -> str:
    """Return the tools of the MCP server by profile, as a client lists them."""
    from hippocampus.integrations import mcp_server

    def rows(profile: str) -> Iterator[tuple[str, ...]]:
        for tool in mcp_server.tool_definitions(profile):
            named = ", ".join(f"`{name}`" for name in tool.input_schema["properties"])
            yield f"`{tool.name}`", named, html.escape(tool.description or "", quote=False)

    return "\n\n".join(
        f"**Profile `{name}`**\n\n{table('tool | arguments | description', list(rows(name)))}"
        for name in mcp_server.PROFILES
    )


def price_tables() -> str:
    """Return the price tables by name."""
    rows = [
        (f"`{each.name}`", f"{each.read:g}", f"{each.write:g}", f"{each.cache_seconds:,.0f}")
        for each in prices.TABLES.values()
    ]
    return table("`--prices` | cache read | cache write | seconds until the cache is cold", rows)


def recording_formats() -> str:
    """Return the formats that replay reads, each by the first sentence of its module."""
    rows = {each.NAME: (f"`{each.NAME}`", _sentence(each)) for each in (*READERS, *LISTS)}
    return table("format | what it is", list(rows.values()))


def _sentence(module: Any) -> str:
    return _one_line((module.__doc__ or "").strip().partition("\n\n")[0])


def error_tree() -> str:
    """Return every exception with the first sentence of its docstring."""
    importlib.import_module("hippocampus.errors")

    def below(kind: type, depth: int) -> Iterator[str]:
        sentence = _one_line((kind.__doc__ or "").partition("\n\n")[0])
        yield f"{'    ' * depth}- `{kind.__name__}`: {sentence}"
        for each in kind.__subclasses__():
            yield from below(each, depth + 1)

    return "\n".join(below(HippocampusError, 0))


# Examples


EXAMPLE_KINDS = ("json", "listing", "log", "code")
EXAMPLE_LINES = 14


def entry_examples() -> str:
    """Return the entry of one large result of each kind, from the recordings that ship."""
    found: dict[str, str] = {}
    for path in sorted((ROOT / "examples" / "transcripts").glob("*.json")):
        for message in reader.read(json.loads(path.read_text("utf-8"))):
            for part in message.parts:
                if part.kind == "result" and token_counts.count(part.text) > 2_000:
                    found.setdefault(indexing.kind_of(part.text), part.text)
    return "\n\n".join(_example(kind, found[kind]) for kind in EXAMPLE_KINDS if kind in found)


def _example(kind: str, text: str) -> str:
    call = {"id": "call_1", "type": "function", "function": {"name": "tool", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "Go on."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": text},
    ]
    told = policy.load("default").model_copy(
        update={"compression": "aggressive", "fresh_turns": {}}
    )
    with our_strategy.fresh_session(told, prices.TABLES["anthropic-5m"], "ours") as session:
        shown = session(messages)[-1]["content"].splitlines()
    more = [f"({len(shown) - EXAMPLE_LINES} more lines)"] if len(shown) > EXAMPLE_LINES else []
    cut = [line if len(line) <= 110 else f"{line[:110]} (…)" for line in shown]
    lines = [*cut[: EXAMPLE_LINES - 1], *more, cut[-1]] if more else cut
    return f"A result of kind `{kind}`:\n\n" + "```text\n" + "\n".join(lines) + "\n```"


def decisions() -> str:
    """Return the list of the decision records."""
    files = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))
    titles = [path.read_text("utf-8").partition("\n")[0].removeprefix("# ") for path in files]
    return "\n".join(f"- [{title}]({path.name})" for title, path in zip(titles, files, strict=True))


GENERATED: dict[str, Callable[[], str]] = {
    "command-line": command_line,
    "policy": policy_fields,
    "shipped-policies": shipped_policies,
    "compression": compression_levels,
    "fact-presets": fact_presets,
    "half-lives": half_lives,
    "recall-tool": recall_tool,
    "memory-tools": memory_tool_definitions,
    "prices": price_tables,
    "recordings": recording_formats,
    "errors": error_tree,
    "mcp-tools": mcp_tools,
    "entries": entry_examples,
    "decisions": decisions,
}


BLOCK = re.compile(r"(?s)(<!-- generated: (?!end)([\w-]+) -->\n).*?(?=<!-- generated: end -->)")


def written(markdown: str) -> str:
    """Return a page with its generated parts as the code is."""
    return BLOCK.sub(lambda block: f"{block[1]}\n{GENERATED[block[2]]()}\n\n", markdown)


def page_of(path: Path) -> str:
    """Return which page of the site a document is."""
    name = path.relative_to(ROOT).as_posix()
    return PAGES.get(name, name.removeprefix("docs/"))


def linked(markdown: str, source: Path) -> str:
    """Return a document with its links to other documents leading to their pages."""
    here = posixpath.dirname(page_of(source))

    def page(link: re.Match[str]) -> str:
        target = (source.parent / link[1]).resolve()
        if target.suffix != ".md":
            return link[0]
        return f"]({posixpath.relpath(page_of(target), here or '.')}{link[2] or ''})"

    return LINK.sub(page, markdown)


# What mkdocs calls


def on_files(files: Any, config: Any) -> Any:
    """Add the documents that stand outside this folder."""
    from mkdocs.structure.files import File

    for name, page in PAGES.items():
        text = linked((ROOT / name).read_text("utf-8"), ROOT / name)
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_others: Any) -> str:
    """Lead the links of a page to other pages."""
    if page.file.generated_by is None:
        markdown = linked(markdown, Path(page.file.abs_src_path))
    return markdown


if __name__ == "__main__":
    for path in (ROOT / "docs").rglob("*.md"):
        before = path.read_text("utf-8")
        if (text := written(before)) != before:
            path.write_text(text, "utf-8")
