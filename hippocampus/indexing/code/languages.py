"""The signs of each programming language, and which lines of it define a name: tables of patterns.

Every pattern starts at a line's start and takes back nothing (possessive), so that it is linear.
The one group that matches names the symbol's kind.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from hippocampus.indexing.code.outline import SymbolKind

KINDS: dict[str, SymbolKind] = {
    "class": "class",
    "type": "type",
    "def": "def",
    "method": "def",
    "arrow": "def",
    "const": "const",
    "import": "import",
    "block": "import",
    "test": "test",
    "main": "main",
    "section": "section",
}
"""What a group of a pattern makes; a pattern may need two groups for one kind."""


class Language(NamedTuple):
    """One language, or a family that is written alike."""

    name: str
    extensions: tuple[str, ...]
    marks: re.Pattern[str]
    """Found in most lines of it, and in few of others."""
    makers: re.Pattern[str]
    """Finds the lines that make a name; the group is the kind, its text the name."""


TOP = r"(?<![ \t])"
"""No indentation before: the name belongs to the whole file."""
NO_CALL = (
    r"(?!(?:if|for|while|switch|catch|return|else|do|function|with|await|new|throw|yield|case|typeof|"
    r"sizeof|delete|using|lock|elif|assert|print|goto|super|this)\b)"
)
MODIFIERS = (
    r"(?:(?:public|private|protected|internal|static|final|abstract|async|override|readonly|virtual|"
    r"synchronized|native|default|sealed|partial|open|suspend|inline|data|export|declare|get|set|"
    r"extern|unsafe|pub(?:\([a-z: ]{1,20}\))?|const)[ \t]++)"
)
TYPES = r"(?P<type>[A-Za-z_$][\w$]*+)"
QUOTED = r"""["'`](?P<{}>[^"'`\n]{{1,90}})["'`]"""

SCRIPT = (
    rf"{MODIFIERS}*+function[ \t]*+\*?[ \t]*+(?P<def>[\w$]++)",
    rf"{MODIFIERS}*+class[ \t]++(?P<class>[\w$]++)",
    rf"{MODIFIERS}*+(?:interface|type|enum|namespace|module)[ \t]++{TYPES}(?=[ \t]*+[<={{]|[ \t]++extends)",
    (
        r"(?:export[ \t]++)?(?:const|let|var)[ \t]++(?P<arrow>[\w$]++)(?=(?:[ \t]*+:[^=\n]{1,80})?[ \t]*+="
        r"[ \t]*+(?:async\b[ \t]*+)?(?:function\b|[\w$]++[ \t]*+=>|(?:<[^<>\n]{1,60}>)?\([^()\n]{0,200}"
        r"(?:\)[^\n;]{0,80}=>|\n|$)))"
    ),
    rf"{TOP}(?:export[ \t]++)?(?:declare[ \t]++)?(?:const|let|var)[ \t]++(?P<const>[\w$]++)",
    r"(?:import|export)\b[^\"'\n]{0,200}" + QUOTED.format("import") + r"(?=;?[ \t]*$)",
    r"\}[ \t]*+from[ \t]++" + QUOTED.format("block"),
    r"(?:describe|it|test)(?:\.\w{1,12})?\(" + QUOTED.format("test"),
    (
        rf"(?<=[ \t]){MODIFIERS}*+{NO_CALL}[*#]?(?P<method>[\w$]++)[ \t]*+(?:<[^<>\n]{{1,60}}>)?"
        r"\((?!(?:async )?function\b)(?=[^\n]{0,200}(?<!=>)(?<!=> )\{[ \t]*$|$)"
    ),
)
BRACES = (
    rf"{MODIFIERS}*+(?:class|record|object)[ \t]++(?P<class>\w++)",
    (
        rf"{MODIFIERS}*+(?:@?interface|enum|struct|namespace|protocol|trait|extension)[ \t]++"
        r"(?P<type>[\w.]++)"
    ),
    rf"{MODIFIERS}*+(?:fun|func)[ \t]++(?:<[^<>\n]{{1,60}}>[ \t]*+)?(?P<def>[\w.]++)",
    r"(?:import|using|package)[ \t]++(?:static[ \t]++)?(?P<import>[\w.*]++)(?=[ \t]*+;|[ \t]*$)",
    (
        r"(?=[^\n(;=]{0,60}\b(?:static|final|const|val)\b)[^=\n(;]{0,80}?\b(?P<const>[A-Z][A-Z0-9_]++)"
        r"(?=[ \t]*+[=:])"
    ),
    (
        rf"(?<=[ \t]){NO_CALL}(?:{MODIFIERS}++|(?=[A-Za-z<]))(?:[\w<>\[\],.?&]++[ \t]++){{0,5}}?"
        r"(?P<method>\w++)[ \t]*+\((?=[^\n;=]{0,200}\{[ \t]*$|[^\n;=]{0,200},[ \t]*$|[^\n;{}=]{0,200}\)"
        r"[ \t]*+(?:throws[^\n]{1,80})?$)"
    ),
)
C_FAMILY = (
    r"\#[ \t]*+include[ \t]++[<\"](?P<import>[^>\"\n]{1,90})",
    r"\#[ \t]*+define[ \t]++(?P<const>\w++)",
    rf"{TOP}(?:typedef[ \t]++)?(?:struct|enum|union)[ \t]++(?P<type>\w++)(?=[^\n;()]{{0,80}}$|[ \t]*+\{{)",
    r"(?:template[ \t]*+<[^\n]{0,80}>[ \t]*+)?class[ \t]++(?P<class>\w++)(?![^\n]{0,80};[ \t]*$)",
    r"namespace[ \t]++(?P<section>[\w:]++)",
    (
        rf"{TOP}{NO_CALL}(?:[A-Za-z_][\w:<>,&*\[\]]*+[ \t*&]++){{1,6}}?\**(?P<def>~?[A-Za-z_][\w:~]*+)"
        r"[ \t]*+\((?![^\n]{0,200};[ \t]*$)"
    ),
    (
        rf"{TOP}{NO_CALL}(?:[A-Za-z_][\w:<>,&*\[\]]*+[ \t*&]++){{1,6}}?\**(?P<method>~?[A-Za-z_][\w:~]*+)"
        r"[ \t]*+\((?=[^\n]{0,200}\)[^\n]{0,40};[ \t]*$)"
    ),
)
GO = (
    r"func[ \t]++(?:\([^()\n]{1,60}\)[ \t]*+)?(?P<def>\w++)",
    r"type[ \t]++(?P<type>\w++)",
    rf"{TOP}(?:const|var)[ \t]++(?P<const>\w++)",
    r"(?:import[ \t]++)?(?:[\w.]++[ \t]++)?\"(?P<import>[\w./-]++)\"(?=[ \t]*$)",
    rf"{TOP}package[ \t]++(?P<section>\w++)",
)
RUST = (
    rf"{MODIFIERS}*+(?:extern[ \t]++\"C\"[ \t]++)?fn[ \t]++(?P<def>\w++)",
    rf"{MODIFIERS}*+(?:struct|enum|trait|type|union)[ \t]++(?P<type>\w++)",
    r"impl\b(?:<[^\n{]{1,80}?>)?[ \t]++(?P<class>[\w:]++(?:<[^\n{]{0,60}?>)?(?:[ \t]++for[ \t]++[\w:]++)?)",
    rf"{MODIFIERS}*+mod[ \t]++(?P<section>\w++)",
    r"macro_rules![ \t]*+(?P<method>\w++)",
    rf"{TOP}(?:pub(?:\([a-z: ]{{1,20}}\))?[ \t]++)?(?:const|static)[ \t]++(?:mut[ \t]++)?(?P<const>\w++)",
    r"(?:pub[ \t]++)?use[ \t]++(?P<import>[^;\n]{1,90})",
)
PYTHON = (
    r"(?:async[ \t]++)?def[ \t]++(?P<def>\w++)(?=[ \t]*+[(\[])",
    r"class[ \t]++(?P<class>\w++)(?=[ \t]*+[(:\[])",
    r"from[ \t]++(?P<import>[\w.]++)(?=[ \t]++import\b)",
    r"import[ \t]++(?P<block>[\w.]++)(?=[ \t]*+(?:$|,|as\b|#))",
    rf"{TOP}if[ \t]++(?P<main>__name__)",
    rf"{TOP}(?P<const>[A-Z][A-Z0-9_]++)(?=[ \t]*+(?::[^=\n]{{1,80}})?=(?!=))",
)
RUBY = (
    r"def[ \t]++(?P<def>(?:self\.)?[\w?!=\[\]]++)",
    r"class[ \t]++(?P<class>[\w:]++)",
    r"module[ \t]++(?P<type>[\w:]++)",
    r"require(?:_relative)?[ \t]++" + QUOTED.format("import"),
    r"(?:describe|context|it)[ \t]++" + QUOTED.format("test"),
    r"(?P<const>[A-Z][A-Z0-9_]++)(?=[ \t]*+=(?!=))",
)
PHP = (
    rf"{MODIFIERS}*+function[ \t]++&?(?P<def>\w++)",
    rf"{MODIFIERS}*+class[ \t]++(?P<class>\w++)",
    rf"{MODIFIERS}*+(?:interface|trait|enum)[ \t]++(?P<type>\w++)",
    rf"{TOP}(?:use|namespace)[ \t]++(?P<import>[\w\\]++)",
    r"(?:(?:public|private|protected|final)[ \t]++)*+const[ \t]++(?P<const>\w++)",
)
SHELL = (
    r"(?:function[ \t]++)?(?P<def>[\w:.-]++)[ \t]*+\([ \t]*+\)",
    r"function[ \t]++(?P<method>[\w:.-]++)",
    rf"{TOP}(?:export[ \t]++|readonly[ \t]++|declare[ \t]++)?(?P<const>[A-Za-z_]\w*+)(?==)",
    r"(?:source|\.)[ \t]++(?P<import>[^\s;|&]{1,90})",
)
SQL = (
    (
        r"(?i:create|alter)[ \t]++(?i:or[ \t]++replace[ \t]++)?(?i:(?:temp|temporary|unique|materialized)[ \t]++)?"
        r"(?:(?i:table|view|type|schema|database|sequence|extension|domain|role|policy)[ \t]++"
        r"(?i:if[ \t]++(?:not[ \t]++)?exists[ \t]++|only[ \t]++)?(?P<type>[\w.\"`\[\]-]++)|"
        r"(?i:function|procedure|trigger|index)[ \t]++"
        r"(?i:concurrently[ \t]++)?(?i:if[ \t]++not[ \t]++exists[ \t]++)?(?P<def>[\w.\"`\[\]-]++))"
    ),
    r"(?i:insert[ \t]++into|update|delete[ \t]++from|drop[ \t]++table)[ \t]++(?P<section>[\w.\"`\[\]-]++)",
    r"(?:(?i:with)[ \t]++|,[ \t]*+)?(?P<method>\w++)[ \t]++(?i:as)[ \t]*+\(",
)
CSS = (
    r"(?P<import>@import[^;\n]{1,90})",
    r"(?P<section>@(?:media|supports|layer|keyframes|container|font-face)[^{;\n]{0,90})",
    r"(?P<const>(?:--|\$|@)[\w-]++)(?=[ \t]*+:)",
    r"(?P<type>[.#*:&\[a-zA-Z][^{};\n]{0,110})(?=[ \t]*+\{)",
)
OTHER = (
    (
        rf"{MODIFIERS}*+(?:def|defn|defp|fn|func|fun|function|sub|proc|method|procedure)[ \t]++"
        r"(?P<def>[\w.:$?!-]++)"
    ),
    rf"{MODIFIERS}*+(?:class|object)[ \t]++(?P<class>[\w.:]++)",
    (
        rf"{MODIFIERS}*+(?:struct|interface|trait|enum|module|defmodule|protocol|record|type|extension|"
        r"resource|variable|output|data|provider)[ \t]++(?P<type>[\w.:\"]++(?:[ \t]++\"[\w.-]++\")?)"
    ),
    r"(?:import|use|require|include|using|load)[ \t]++(?P<import>[^\s;]{1,90})",
    rf"{TOP}(?P<const>[A-Z][A-Z0-9_]++)(?=[ \t]*+:?=)",
    rf"{TOP}(?P<method>[\w.%/-]++)(?=:(?!=)[^\n]{{0,120}}\n\t)",
)


FLOW = (
    r"|^\s*this\.\w+[.(\[=]|^\s*[\w.]+\(.*\)?;$|^\s*(?:return\b.*;|break;|continue;)$|^\s*\}|"
    r"^\s*(?:if|for|while|switch) \(|^\s*case .*:$|^\s*(?:else|catch|finally)\b.*\{$"
)
"""Marks of a function's inside, for parts of a file that name nothing."""


def _language(name: str, extensions: str, marks: str, makers: tuple[str, ...]) -> Language:
    made = re.compile(r"^(?P<indent>[ \t]{0,60}+)(?:" + "|".join(makers) + ")", re.MULTILINE)
    return Language(name, tuple(extensions.split()), re.compile(marks), made)


LANGUAGES = (
    _language(
        "python",
        "py pyi pyx",
        r"^\s*(?:(?:async )?def \w+\(|class \w+[(:]|from [\w.]+ import |import [\w.]+(?: as \w+)?$|"
        r"(?:if|elif|for|while|with|try|except|else)\b.*:$|@\w[\w.]*(?:\(|$)|return\b[^;]*$|raise \w|\"\"\")"
        r"|\bself\.\w",
        PYTHON,
    ),
    _language(
        "typescript",
        "ts tsx mts cts vue svelte",
        r": (?:string|number|boolean|void|unknown|any|Promise<|Record<)|^(?:export )?(?:interface|type) \w|"
        r"^import type |\b(?:private|public|readonly) \w+[?]?:|^import \{.* from [\"']|"
        r"^\s*(?:const|let) [\w{\[]|=> ?[{(]|\(\w+: \w|\bawait " + FLOW,
        SCRIPT,
    ),
    _language(
        "javascript",
        "js jsx mjs cjs",
        r"\b(?:const|let|var) [\w${\[]|=> ?[{(\w]|^import .*from [\"']|^export |\bfunction\b[ \w$]*\(|===|"
        r"\brequire\([\"']|^\s*\}\)?;$|\bawait |module\.exports" + FLOW,
        SCRIPT,
    ),
    _language(
        "go",
        "go",
        r"^func |^package \w+$|:= |^import \(|\berr != nil|^type \w+ (?:struct|interface)|^\t+return\b|"
        r"^\tdefer |\*\w+\.\w+",
        GO,
    ),
    _language(
        "rust",
        "rs",
        r"\bfn \w+|\blet (?:mut )?\w+|^(?:pub )?use [\w:]+|^\s*(?:pub )?(?:impl|struct|enum|trait|mod)\b.*\{|"
        r"^\s*#!?\[|\w::\w|&mut |\bSome\(|\bOk\(|^\s*///",
        RUST,
    ),
    _language(
        "java",
        "java kt kts cs scala swift",
        r"^\s*(?:public|private|protected|internal|override|static) [\w<]|^(?:import|using|package) [\w.]+;?$|"
        r"^\s*@[A-Z]\w+|^\s*(?:fun|val|var|func) \w+|\bnew [A-Z]\w*[(<]|^namespace [\w.]+|"
        r"^\s*[A-Z]\w*(?:<.*>)? \w+ = .*;$",
        BRACES,
    ),
    _language(
        "c",
        "c h cc cpp cxx hpp hh ino m",
        r"^#\s*(?:include|define|if|ifdef|ifndef|endif|pragma)|"
        r"^(?:static |extern |const |unsigned |inline )*(?:void|int|char|bool|long|float|double|size_t|"
        r"undefined\d?|struct \w+|std::\w+)[ *&]+\w+|\w->\w+[;.(\[= ]|\bstd::|^\s+(?:int|char|long|uint\w*|size_t|"
        r"undefined\d?|auto)\b[ *]+\w+.*;|\bNULL\b|\bnullptr\b|^template ?<",
        C_FAMILY,
    ),
    _language(
        "ruby",
        "rb rake gemspec",
        r"^\s*(?:def (?:self\.)?\w|end$|require(?:_relative)? ['\"]|module [A-Z]|attr_\w+|"
        r"class [A-Z]\w*(?: < .*)?$|unless |elsif )| do(?: \|.*\|)?$",
        RUBY,
    ),
    _language(
        "php",
        "php phtml",
        r"<\?php|\$\w+ = |\bfunction \w*\(.*\$|\$\w+->\w+|^(?:namespace|use) [\w\\]+;|^\s*\$\w+",
        PHP,
    ),
    _language(
        "shell",
        "sh bash zsh ksh",
        r"^#!.*sh|^\s*(?:fi|done|esac|then|set -\w|export \w+=|if \[|for \w+ in |local \w+|echo )|\$\{\w+|"
        r"\"\$\w+|\$\(|^\w+\(\) ?\{",
        SHELL,
    ),
    _language(
        "sql",
        "sql psql ddl",
        r"(?i)^\s*(?:create (?:table|index|view|function|or|unique)|alter table|insert into|select\b.*[,*\w]$|"
        r"drop \w+|grant \w+|from \w+[;, ]*\w*$|where \w+.*[=<>]|(?:left |inner |right )?join \w+.* on |order by|"
        r"group by|values\b|\w+ (?:int|integer|text|varchar|timestamp|boolean|numeric|serial|uuid|bigint)\b)",
        SQL,
    ),
    _language(
        "css",
        "css scss sass less",
        r"^[.#*:@&a-z\[][^{};\"'=]{0,100}\{\s*$|^\s+[a-z-]+: [^;{}]+;$|^\s*--[\w-]+:",
        CSS,
    ),
)
SOME_LANGUAGE = _language(
    "source",
    "lua pl pm ex exs erl hs ml clj tf hcl mk r jl dart zig nim proto graphql vim cmake gradle groovy",
    r"^\s*(?:(?:local |export |pub(?:lic)? )?(?:def|fn|func|fun|function|sub|class|struct|module|resource|"
    r"message|FROM|RUN|COPY)\b|end$|\})|[;{]\s*$|^\t\S",
    OTHER,
)
BY_EXTENSION = {
    extension: language
    for language in (*LANGUAGES, SOME_LANGUAGE)
    for extension in language.extensions
}
