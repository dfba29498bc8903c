"""An outline by tree-sitter, for the languages whose grammar is installed (the extra `code`).

Without the packages there is no outline here, and the caller takes the one by keywords.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from functools import cache
from typing import Any

from hippocampus.indexing.code.outline import (
    MOST_SYMBOLS,
    SIGNATURE_CHARACTERS,
    Outline,
    Symbol,
    SymbolKind,
    title_of,
)
from hippocampus.indexing.lines import cut

LARGEST_CHARACTERS = 200_000
MOST_DEPTH = 12
GRAMMARS = {
    "javascript": ("tree_sitter_javascript", "language"),
    "typescript": ("tree_sitter_typescript", "language_tsx"),
    "go": ("tree_sitter_go", "language"),
    "rust": ("tree_sitter_rust", "language"),
    "java": ("tree_sitter_java", "language"),
    "c": ("tree_sitter_cpp", "language"),
}
"""Package and function of each grammar; C++ reads C as well."""
KIND_OF_NODE: dict[str, SymbolKind] = {
    "function_declaration": "def",
    "generator_function_declaration": "def",
    "function_definition": "def",
    "function_item": "def",
    "function_signature": "def",
    "method_definition": "def",
    "method_declaration": "def",
    "constructor_declaration": "def",
    "macro_definition": "def",
    "abstract_method_signature": "def",
    "class_declaration": "class",
    "abstract_class_declaration": "class",
    "class_specifier": "class",
    "record_declaration": "class",
    "impl_item": "class",
    "interface_declaration": "type",
    "type_alias_declaration": "type",
    "enum_declaration": "type",
    "type_spec": "type",
    "type_alias": "type",
    "struct_item": "type",
    "enum_item": "type",
    "trait_item": "type",
    "type_item": "type",
    "union_item": "type",
    "struct_specifier": "type",
    "enum_specifier": "type",
    "union_specifier": "type",
    "internal_module": "section",
    "mod_item": "section",
    "namespace_definition": "section",
    "package_clause": "section",
    "const_item": "const",
    "static_item": "const",
    "const_spec": "const",
    "var_spec": "const",
    "preproc_def": "const",
    "variable_declarator": "const",
    "public_field_definition": "const",
    "import_statement": "import",
    "import_spec": "import",
    "import_declaration": "import",
    "use_declaration": "import",
    "preproc_include": "import",
}
OUTER = frozenset(
    [
        "program",
        "source_file",
        "translation_unit",
        "export_statement",
        "lexical_declaration",
        "variable_declaration",
        "class_body",
        "field_declaration",
        "interface_body",
        "enum_body",
        "declaration_list",
        "field_declaration_list",
        "type_declaration",
        "const_declaration",
        "var_declaration",
        "var_spec_list",
        "import_spec_list",
        "statement_block",
        "linkage_specification",
        "template_declaration",
        "preproc_ifdef",
        "preproc_if",
        "ambient_declaration",
        "expression_statement",
        "namespace_body",
        "block",
        "enum_body_declarations",
        "preproc_else",
    ]
)
"""Nodes that are walked through to what they hold."""
FUNCTIONS = frozenset({"arrow_function", "function_expression", "function"})
NAME_FIELDS = ("name", "declarator", "type")
IMPORTED_FIELDS = ("path", "source", "argument")
IMPORTING_WORDS = ("import ", "static ", "using ")
IN_QUOTES = "\"'`<>;"


def outline(text: str, language: str, first_line: int = 1) -> Outline | None:
    """Return the outline of a source, or nothing without its grammar or for a large source."""
    grammar = _parser(language) if len(text) <= LARGEST_CHARACTERS else None
    if grammar is None:
        return None
    data = text.encode("utf-8", "replace")
    root = grammar.parse(data).root_node
    symbols: list[Symbol] = []
    for node, parent, depth in _walk(root, symbols):
        symbols.append(_symbol(node, data, parent, depth, first_line))
        if len(symbols) >= MOST_SYMBOLS:
            break
    return Outline(language, symbols, title_of(text)) if symbols else None


@cache
def _parser(language: str) -> Any:
    """Return the parser of a language, or nothing where it is not installed."""
    module, function = GRAMMARS.get(language, ("", ""))
    if not module:
        return None
    try:
        tree_sitter = importlib.import_module("tree_sitter")
        grammar = getattr(importlib.import_module(module), function)()
        return tree_sitter.Parser(tree_sitter.Language(grammar))
    except (ImportError, AttributeError, ValueError, TypeError):
        return None


def _walk(root: Any, symbols: list[Symbol]) -> Iterator[tuple[Any, int | None, int]]:
    """Yield the nodes that make a name with their parent's number; the caller appends each."""
    waiting: list[tuple[Any, int | None, int]] = [(root, None, 0)]
    while waiting:
        node, parent, depth = waiting.pop()
        if node.type in KIND_OF_NODE and _kept(node, parent, symbols):
            yield node, parent, depth
            parent, depth = len(symbols) - 1, depth + 1
        if depth <= MOST_DEPTH and (node.type in OUTER or node.type in KIND_OF_NODE):
            inside = [(child, parent, depth) for child in node.named_children]
            waiting.extend(reversed(inside))


def _kept(node: Any, parent: int | None, symbols: list[Symbol]) -> bool:
    """Leave out variables inside functions, unless they are functions, and lists of imports."""
    kind = KIND_OF_NODE[node.type]
    if kind == "import":
        return not any(child.type.startswith("import_spec") for child in node.named_children)
    if kind != "const" or _is_function(node):
        return True
    return parent is None or symbols[parent].kind != "def"


def _is_function(node: Any) -> bool:
    value = node.child_by_field_name("value")
    return value is not None and value.type in FUNCTIONS


def _symbol(node: Any, data: bytes, parent: int | None, depth: int, first_line: int) -> Symbol:
    kind: SymbolKind = "def" if _is_function(node) else KIND_OF_NODE[node.type]
    named = _imported(node) if kind == "import" else _name(node)
    name = data[named.start_byte : named.end_byte].decode("utf-8", "replace").strip(IN_QUOTES)
    for word in IMPORTING_WORDS:
        name = name.removeprefix(word)
    line = named.start_point[0] + first_line
    after = data[named.end_byte : named.end_byte + 3 * SIGNATURE_CHARACTERS]
    signature = "" if kind == "import" else _signature(after.decode("utf-8", "ignore"))
    return Symbol(line, kind, cut(name, 90), signature, depth, parent)


def _imported(node: Any) -> Any:
    return next(filter(None, map(node.child_by_field_name, IMPORTED_FIELDS)), node)


def _name(node: Any) -> Any:
    """Return the innermost node that carries the name."""
    for _ in range(6):
        inner = next(filter(None, map(node.child_by_field_name, NAME_FIELDS)), None)
        if inner is None:
            break
        node = inner
    return node


def _signature(after: str) -> str:
    """Return the rest of the line, or all parameters where they go over more lines."""
    first = after.split("\n", 1)[0]
    if first.count("(") > first.count(")"):
        first = after[: after.find(")") + 1] or first
    return cut(first, SIGNATURE_CHARACTERS).rstrip(" {:=;,")
