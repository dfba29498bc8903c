"""The signs of each programming language, as a table of patterns."""

from __future__ import annotations

import re
from typing import NamedTuple


class Language(NamedTuple):
    """One language, or a family that is written alike."""

    name: str
    extensions: tuple[str, ...]
    marks: re.Pattern[str]
    """Found in most lines of it, and in few of others."""


FLOW = (
    r"|^\s*this\.\w+[.(\[=]|^\s*[\w.]+\(.*\)?;$|^\s*(?:return\b.*;|break;|continue;)$|^\s*\}|"
    r"^\s*(?:if|for|while|switch) \(|^\s*case .*:$|^\s*(?:else|catch|finally)\b.*\{$"
)
"""Marks of a function's inside, for parts of a file that name nothing."""


def _language(name: str, extensions: str, marks: str) -> Language:
    return Language(name, tuple(extensions.split()), re.compile(marks))


LANGUAGES = (
    _language(
        "python",
        "py pyi pyx",
        r"^\s*(?:(?:async )?def \w+\(|class \w+[(:]|from [\w.]+ import |import [\w.]+(?: as \w+)?$|"
        r"(?:if|elif|for|while|with|try|except|else)\b.*:$|@\w[\w.]*(?:\(|$)|return\b[^;]*$|raise \w|\"\"\")"
        r"|\bself\.\w",
    ),
    _language(
        "typescript",
        "ts tsx mts cts vue svelte",
        r": (?:string|number|boolean|void|unknown|any|Promise<|Record<)|^(?:export )?(?:interface|type) \w|"
        r"^import type |\b(?:private|public|readonly) \w+[?]?:|^import \{.* from [\"']|"
        r"^\s*(?:const|let) [\w{\[]|=> ?[{(]|\(\w+: \w|\bawait " + FLOW,
    ),
    _language(
        "javascript",
        "js jsx mjs cjs",
        r"\b(?:const|let|var) [\w${\[]|=> ?[{(\w]|^import .*from [\"']|^export |\bfunction\b[ \w$]*\(|===|"
        r"\brequire\([\"']|^\s*\}\)?;$|\bawait |module\.exports" + FLOW,
    ),
    _language(
        "go",
        "go",
        r"^func |^package \w+$|:= |^import \(|\berr != nil|^type \w+ (?:struct|interface)|^\t+return\b|"
        r"^\tdefer |\*\w+\.\w+",
    ),
    _language(
        "rust",
        "rs",
        r"\bfn \w+|\blet (?:mut )?\w+|^(?:pub )?use [\w:]+|^\s*(?:pub )?(?:impl|struct|enum|trait|mod)\b.*\{|"
        r"^\s*#!?\[|\w::\w|&mut |\bSome\(|\bOk\(|^\s*///",
    ),
    _language(
        "java",
        "java kt kts cs scala swift",
        r"^\s*(?:public|private|protected|internal|override|static) [\w<]|^(?:import|using|package) [\w.]+;?$|"
        r"^\s*@[A-Z]\w+|^\s*(?:fun|val|var|func) \w+|\bnew [A-Z]\w*[(<]|^namespace [\w.]+|"
        r"^\s*[A-Z]\w*(?:<.*>)? \w+ = .*;$",
    ),
    _language(
        "c",
        "c h cc cpp cxx hpp hh ino m",
        r"^#\s*(?:include|define|if|ifdef|ifndef|endif|pragma)|"
        r"^(?:static |extern |const |unsigned |inline )*(?:void|int|char|bool|long|float|double|size_t|"
        r"undefined\d?|struct \w+|std::\w+)[ *&]+\w+|\w->\w+[;.(\[= ]|\bstd::|^\s+(?:int|char|long|uint\w*|size_t|"
        r"undefined\d?|auto)\b[ *]+\w+.*;|\bNULL\b|\bnullptr\b|^template ?<",
    ),
    _language(
        "ruby",
        "rb rake gemspec",
        r"^\s*(?:def (?:self\.)?\w|end$|require(?:_relative)? ['\"]|module [A-Z]|attr_\w+|"
        r"class [A-Z]\w*(?: < .*)?$|unless |elsif )| do(?: \|.*\|)?$",
    ),
    _language(
        "php",
        "php phtml",
        r"<\?php|\$\w+ = |\bfunction \w*\(.*\$|\$\w+->\w+|^(?:namespace|use) [\w\\]+;|^\s*\$\w+",
    ),
    _language(
        "shell",
        "sh bash zsh ksh",
        r"^#!.*sh|^\s*(?:fi|done|esac|then|set -\w|export \w+=|if \[|for \w+ in |local \w+|echo )|\$\{\w+|"
        r"\"\$\w+|\$\(|^\w+\(\) ?\{",
    ),
    _language(
        "sql",
        "sql psql ddl",
        r"(?i)^\s*(?:create (?:table|index|view|function|or|unique)|alter table|insert into|select\b.*[,*\w]$|"
        r"drop \w+|grant \w+|from \w+[;, ]*\w*$|where \w+.*[=<>]|(?:left |inner |right )?join \w+.* on |order by|"
        r"group by|values\b|\w+ (?:int|integer|text|varchar|timestamp|boolean|numeric|serial|uuid|bigint)\b)",
    ),
    _language(
        "css",
        "css scss sass less",
        r"^[.#*:@&a-z\[][^{};\"'=]{0,100}\{\s*$|^\s+[a-z-]+: [^;{}]+;$|^\s*--[\w-]+:",
    ),
)
SOME_LANGUAGE = _language(
    "source",
    "lua pl pm ex exs erl hs ml clj tf hcl mk r jl dart zig nim proto graphql vim cmake gradle groovy",
    r"^\s*(?:(?:local |export |pub(?:lic)? )?(?:def|fn|func|fun|function|sub|class|struct|module|resource|"
    r"message|FROM|RUN|COPY)\b|end$|\})|[;{]\s*$|^\t\S",
)
BY_EXTENSION = {
    extension: language
    for language in (*LANGUAGES, SOME_LANGUAGE)
    for extension in language.extensions
}
