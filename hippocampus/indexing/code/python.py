"""An outline of Python by its own parser, for sources that parse.

Nothing is run; a source that does not parse (a partial read) is left to the keyword outline.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from hippocampus.indexing import python_source
from hippocampus.indexing.code.outline import (
    MOST_SYMBOLS,
    SIGNATURE_CHARACTERS,
    Outline,
    Symbol,
    SymbolKind,
)
from hippocampus.indexing.lines import cut

LARGEST_CHARACTERS = 200_000
"""Larger sources take the parser longer than an entry is worth; keywords read them."""
OTHER_LINES = re.compile(r"\r(?!\n)")
"""Ends of lines to the parser that are none to a recall."""
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def outline(text: str, first_line: int = 1) -> Outline | None:
    """Return the outline of a Python source, or nothing where it does not parse."""
    module = _parsed(text)
    if module is None:
        return None
    symbols: list[Symbol] = []
    _read(module.body, symbols, None, first_line - 1)
    return Outline("python", symbols[:MOST_SYMBOLS], _first_sentence(module))


def _parsed(text: str) -> ast.Module | None:
    if len(text) > LARGEST_CHARACTERS or OTHER_LINES.search(text):
        return None
    module = python_source.parsed(text)
    return module if isinstance(module, ast.Module) else None


def _read(
    body: list[ast.stmt], symbols: list[Symbol], parent: int | None, before: int, depth: int = 0
) -> None:
    """Write the symbols of a block behind the others, in order, those inside them too."""
    for node in _statements(body):
        if isinstance(node, Definition):
            symbols.append(_definition(node, parent, before, depth))
            _read(node.body, symbols, len(symbols) - 1, before, depth + 1)
        elif depth == 0 or (parent is not None and symbols[parent].kind == "class"):
            symbols.extend(_plain(node, parent, before, depth))


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a block, those under `if` and `try` too, for they define as well."""
    for node in body:
        yield node
        if isinstance(node, ast.If | ast.Try) and not _is_main(node):
            for inner in (*node.body, *node.orelse):
                if isinstance(inner, Definition | ast.Import | ast.ImportFrom | ast.Assign):
                    yield inner


def _definition(node: Definition, parent: int | None, before: int, depth: int) -> Symbol:
    kind: SymbolKind = "class" if isinstance(node, ast.ClassDef) else "def"
    signature = _bases(node) if isinstance(node, ast.ClassDef) else _parameters(node)
    note = " ".join(f"@{cut(ast.unparse(each), 60)}" for each in node.decorator_list[:3])
    return Symbol(node.lineno + before, kind, node.name, signature, depth, parent, note)


def _bases(node: ast.ClassDef) -> str:
    bases = ", ".join(
        ast.unparse(base) for base in (*node.bases, *(k.value for k in node.keywords))
    )
    return cut(f"({bases})", SIGNATURE_CHARACTERS) if bases else ""


def _parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return cut(f"({ast.unparse(node.args)}){result}", SIGNATURE_CHARACTERS)


def _plain(node: ast.stmt, parent: int | None, before: int, depth: int) -> list[Symbol]:
    """Return what a statement that defines nothing else names: imports, constants, fields."""
    line = node.lineno + before
    if isinstance(node, ast.ImportFrom):
        module = "." * node.level + (node.module or "")
        names = ", ".join(alias.name for alias in node.names)
        return [Symbol(line, "import", module, f" ({cut(names, 80)})", depth, parent)]
    if isinstance(node, ast.Import):
        return [Symbol(line, "import", alias.name, "", depth, parent) for alias in node.names]
    if isinstance(node, ast.If) and _is_main(node):
        return [Symbol(line, "main", "__main__")]
    return [Symbol(line, "const", name, _value(node), depth, parent) for name in _assigned(node)]


def _is_main(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.If)
        and isinstance(node.test, ast.Compare)
        and isinstance(node.test.left, ast.Name)
        and node.test.left.id == "__name__"
    )


def _assigned(node: ast.stmt) -> list[str]:
    targets = [node.target] if isinstance(node, ast.AnnAssign) else getattr(node, "targets", [])
    if isinstance(node, ast.Assign | ast.AnnAssign):
        return [target.id for target in targets if isinstance(target, ast.Name)]
    return []


def _value(node: ast.stmt) -> str:
    """Return a constant's value, or a field's type, where it is short."""
    value = getattr(node, "value", None)
    if isinstance(value, ast.Constant):
        return f" = {cut(repr(value.value), 50)}"
    annotation = getattr(node, "annotation", None)
    return f": {cut(ast.unparse(annotation), 50)}" if annotation is not None else ""


def _first_sentence(module: ast.Module) -> str:
    return cut((ast.get_docstring(module) or "").split("\n\n")[0], SIGNATURE_CHARACTERS)
