"""Tool calls: their arguments, the files that they read and write, and whether they failed. Pure."""

from __future__ import annotations

import functools
import itertools
import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hippocampus.formats import json_text

PATH_KEYS = frozenset(
    ("path", "file", "filename", "filepath", "absolutepath", "notebookpath", "targetfile")
)
"""The argument names that tools use for the file that they read or write, as `_key` has them."""
TEXT_KEYS = frozenset(("content", "contents", "filetext", "text"))
"""The argument names of a text that becomes a whole file."""
PLACED = re.compile(
    r"append|old|new|search|find|replace|insert|start|end|line|range|offset|position|diff|patch|edit"
)
"""How the names of other arguments begin where the text becomes a part of the file."""
ADDING = ("a", "a+", "append")
"""The values of an argument such as `mode` by which a text is added to the file."""
ABSOLUTE = re.compile(r"/|~|[a-z]:/|[a-z]+://")
PARTED = re.compile(r"(?<=[\w\])]):(?:raw|\d+(?:-\d+)?)$")
"""What a reading tool takes after a path: the lines to read."""
WRITTEN_CHARACTERS = 80
"""A call with a file's name and an argument longer than this writes the file."""
KEPT_CALLS = 8
"""How many calls are remembered: several questions in a row are about the same one."""
_written_sorted = json.JSONEncoder(sort_keys=True).encode


def leaves_in(value: Any) -> Iterator[Any]:
    """Yield the scalars in a JSON value in their order, without the names in it."""
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from leaves_in(inner)
    else:
        yield value


def texts_in(value: Any) -> Iterator[str]:
    """Yield the texts in a JSON value."""
    return (leaf for leaf in leaves_in(value) if isinstance(leaf, str))


@functools.lru_cache(KEPT_CALLS)
def fields_in(arguments: str) -> Mapping[str, Any] | None:
    """Return the arguments of a call by name, which no caller may change; None if they are no object."""
    value = json_text.read(arguments)
    return value if isinstance(value, dict) else None


@functools.lru_cache(KEPT_CALLS)
def lines_in(arguments: str) -> frozenset[str]:
    """Return the lines of the texts that a call's arguments have."""
    texts = texts_in(json_text.read(arguments, arguments))
    return frozenset(line for text in texts for line in text.split("\n"))


def normal(arguments: str) -> str:
    """Return arguments with their keys sorted, so that equal arguments are equal texts."""
    try:
        return _written_sorted(json.loads(arguments))
    except json_text.UNREADABLE:
        return arguments


@functools.lru_cache(KEPT_CALLS)
def file_of(arguments: str) -> tuple[str, bool]:
    """Return the file that a call names (empty for none), and whether its arguments have a text.

    >>> file_of('{"filePath": "a.py", "limit": 40}')
    ('a.py', False)
    """
    given = fields_in(arguments) or {}
    texts = {_key(name): inner for name, inner in given.items() if isinstance(inner, str)}
    name = PARTED.sub("", next((texts[key] for key in texts if key in PATH_KEYS), ""))
    others = (inner for key, inner in texts.items() if key not in PATH_KEYS)
    return name, any(len(text) > WRITTEN_CHARACTERS for text in others)


def file_key(path: str) -> str:
    """Return the last part of a path, as paths of all systems are written."""
    return re.split(r"[/\\]", path)[-1].lower()


def is_one_file(path: str, other: str) -> bool:
    """Return whether two paths may name one file: a relative one is in some folder of the other.

    >>> is_one_file("/srv/site/src/a.py", "src/a.py"), is_one_file("site/src/a.py", "src/a.py")
    (True, False)
    """
    one, two = (name.replace("\\", "/").removeprefix("./").lower() for name in (path, other))
    whole, part = (one, two) if ABSOLUTE.match(one) else (two, one)
    is_part = ABSOLUTE.match(whole) and not ABSOLUTE.match(part) and "://" not in whole
    return one == two or bool(is_part and whole.endswith("/" + part))


def writes_whole(tool: str, arguments: str) -> bool:
    """Return whether a call gives a file a new text as a whole: it replaces and adds nothing.

    >>> writes_whole("write_file", '{"path": "a.py", "content": "x = 1"}')
    True
    >>> writes_whole("write_file", '{"path": "a.py", "content": "x = 1", "mode": "append"}')
    False
    """
    given = {_key(name): value for name, value in (fields_in(arguments) or {}).items()}
    if any(map(PLACED.match, given.keys() - PATH_KEYS)) or "append" in tool.lower():
        return False
    adds = any(given[key] in ADDING for key in given.keys() - TEXT_KEYS - PATH_KEYS)
    has_text = any(isinstance(given.get(key), str) for key in TEXT_KEYS)
    return has_text and not adds and bool(file_of(arguments)[0])


def text_written(arguments: str) -> str:
    """Return the text that a call gives a whole file."""
    given = fields_in(arguments) or {}
    texts = (value for name, value in given.items() if _key(name) in TEXT_KEYS)
    return max((text for text in texts if isinstance(text, str)), key=len, default="")


def _key(name: str) -> str:
    """Return an argument's name as all makers of tools would write it."""
    return name.replace("_", "").lower()


# Which calls ask to read a text: a file, a page, a document, a skill, a sub-agent's answer. The text
# that came back is not seen here: whether it is prose, code or data is decided where its kind is known.


def _names(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


READING_TOOLS = _names(
    "browse cat fetch goto open read readfile scroll_down scroll_up view webfetch "
    "activate_skill skill use_skill delegate_task new_task task task_output"
)
"""Tools that print a text, by their whole name: files, pages, skills, tasks of sub-agents."""
SUB_AGENT = re.compile(
    r"(?:(?:call|delegate|dispatch|run|spawn|use|wait)_)?(?:(?:for|to)_)?(?:sub_?)?agents?(?:_output)?(?:_tool)?"
)
"""The names of tools that return a sub-agent's answer: `spawn_agent`, `delegate_to_agent`."""
READING_VERBS = _names(
    "browse crawl download extract fetch get load open read retrieve scrape show view visit"
)
READABLE_NOUNS = _names(
    "article content contents doc docs document documentation documents file files guide "
    "instructions link markdown notebook page pages pdf readme site skill text url urls web "
    "webpage website wiki"
)
"""A name with a reading verb and one of these nouns reads: `get_file_contents`, `web_fetch`."""
COMMAND_KEYS = ("command", "cmd", "CommandLine", "script")
"""Argument names under which tools of all makers take a command line."""
MAX_COMMAND_CHARACTERS = 20_000
"""A longer command line writes: it is not taken apart."""

NAME_PREFIX = re.compile(r"^.*(?:__|[./:])")
"""What hosts write before a tool's own name: `mcp__server__`, `server.`."""
NAME_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
HEREDOC = re.compile(r"<<-?[ \t]*(['\"]?)(\w++)\1")
COMMENT = re.compile(r"^[ \t]*#.*$", re.MULTILINE)
"""Taken out first: an apostrophe in it would open a quotation."""
BEFORE = re.compile(
    r"[!{]|-.*|\d+[smh]?|\w+=.*|(?:command|do|else|env|sudo|then|time|timeout|xargs)", re.DOTALL
)
"""A word that may come before a program."""

PRINTERS = _names(
    "bat batcat cat docx2txt gc get-content head html2text less lynx man more nl pandoc pdftotext "
    "tail type w3m"
)
"""Programs that print the files they are given, or a document or a page as text."""
SHELLS = _names("bash cmd powershell pwsh sh ssh wsl zsh")
"""Programs that run their last word as a command line."""
FILTERS = PRINTERS | _names("awk col cut fold iconv out-string sed select-object tr")
"""Programs that pass on their input, or its beginning."""
CURL_OTHERWISE = re.compile(
    r"-[A-Za-z]*[dFIoOTX]|--(?:data|form|head|output|remote-name|request|upload)"
)
"""Options of `curl` that send something, save the page, or ask for its headers only."""
SILENT = _names("[ cd export if mkdir set set-location source test test-path true") | {""}
"""Programs that print nothing, where they do not fail."""
REDIRECTION = re.compile(r"[<>&]*[<>][<>&]*")
PATCHED = re.compile(r"(?m)^\*\*\* (?:Update|Add|Delete) File: +(\S.*)$")
"""The heads of a patch for `apply_patch`."""
WRITTEN = re.compile(r"(?:(?<![0-9&=-])>>?|\btee(?: -a)?) *[\"']?([\w./~\\:-]+)")
SED_WRITTEN = re.compile(r"\bsed +-[nEr]*i[^\n;|&]* [\"']?([\w./~\\:-]+)")
"""The files into which a command line writes."""
CAT = re.compile(r"\s*cat [^|;&<>\n]+")
"""A command that prints a file and does nothing else."""
END_OF_COMMAND = re.compile(r"[;&()\n]+|\|\|")
POINTER = re.compile(
    r"(?i)\b(?:(?:unchanged|(?:not|n't|n’t) changed) since (?:(?:your )?last read|you last read)"
    r"|identical to result\b[^\n]{0,60}\bearlier)\b"
)
MAX_POINTER_CHARACTERS = 400
NOWHERE = ("/dev/null", "$null", "1", "2")
"""Where output is sent that goes into no file."""


@functools.lru_cache(KEPT_CALLS)
def asks_to_read(tool: str, arguments: str) -> bool:
    """Return whether a call asks for a text to read, by the tool's name and its arguments.

    >>> asks_to_read("Read", '{"file_path": "a.py"}'), asks_to_read("Grep", '{"pattern": "a"}')
    (True, False)
    >>> asks_to_read("Bash", '{"command": "cd src && nl -ba a.py | sed -n 1,80p"}')
    True
    >>> asks_to_read("exec_command", '{"cmd": "pytest | tail -20"}')
    False
    """
    words = [word.lower() for word in NAME_WORD.findall(NAME_PREFIX.sub("", tool))]
    name = "_".join(words)
    if name in READING_TOOLS or SUB_AGENT.fullmatch(name):
        return True
    if READING_VERBS.intersection(words) and READABLE_NOUNS.intersection(words):
        return True
    command = _command(arguments)
    if command == "view":  # an editor's own verb, not a program
        return True
    return bool(_printed(command))


def file_read(tool: str, arguments: str) -> str:
    """Return the name of the file that a call asks to read and nothing else; empty for none.

    >>> file_read("Bash", '{"command": "cd src && nl -ba a.py | sed -n 1,80p"}')
    'a.py'
    >>> file_read("Grep", '{"pattern": "a", "path": "a.py"}')
    ''
    >>> file_read("Bash", '{"command": "cat a.py; pytest"}')
    ''
    """
    name, _ = file_of(arguments)
    if name:
        return name if asks_to_read(tool, arguments) else ""
    command = _command(arguments)
    printed = _printed(command)
    if len(printed) != 1:
        return ""
    is_line = isinstance(command, str)
    return printed[0] if not is_line or sum(map(_prints, _pipelines(command))) == 1 else ""


def reads_whole(arguments: str) -> bool:
    """Return whether a call that reads a file asks for all of it: it names no lines.

    >>> reads_whole('{"file_path": "a.py"}'), reads_whole('{"file_path": "a.py", "limit": 40}')
    (True, False)
    """
    given = fields_in(arguments)
    if given is None:
        return False
    command = _command(arguments)
    if command:
        return CAT.fullmatch(str(command)) is not None
    parts = (isinstance(value, int | list) and value is not True for value in given.values())
    return not any(parts) and not any(map(PARTED.search, texts_in(given)))


def points_back(result: str) -> bool:
    """Return whether a host answered a read with a pointer to an earlier one.

    >>> points_back("Wasted call — file unchanged since your last Read. Refer to that result instead.")
    True
    """
    return len(result) <= MAX_POINTER_CHARACTERS and POINTER.search(result) is not None


def files_written(tool: str, arguments: str) -> list[str]:
    """Return the names of the files that a call writes, edits or patches.

    >>> files_written("Write", f'{{"path": "a.py", "content": "{80 * "x = 1;"}"}}')
    ['a.py']
    >>> files_written("Bash", '{"command": "sed -i s/a/b/ x.py && cat > y.py <<E"}')
    ['y.py', 'x.py']
    """
    name, has_text = file_of(arguments)
    if name:
        keys = {_key(given) for given in fields_in(arguments) or ()}
        writes = has_text or any(
            key in TEXT_KEYS or key.startswith(("newt", "news")) for key in keys
        )
        return [name] if writes and not asks_to_read(tool, arguments) else []
    given = fields_in(arguments)
    texts = [arguments] if given is None else list(given.values())
    found = [name.rstrip() for text in texts for name in PATCHED.findall(str(text))]
    command = _command(arguments) or ""
    line = _without_heredocs(
        " ".join(map(str, command)) if isinstance(command, list) else str(command)
    )
    found += [*WRITTEN.findall(line), *SED_WRITTEN.findall(line)]
    return [name for name in dict.fromkeys(found) if name not in NOWHERE]


def _command(arguments: str) -> Any:
    given = fields_in(arguments) or {}
    return next((given[key] for key in COMMAND_KEYS if given.get(key)), None)


def _printed(command: Any) -> list[str]:
    """Return the files and pages that a command line, or a list of its words, prints."""
    if isinstance(command, list) and all(isinstance(word, str) for word in command):
        return _printed_by([command])
    if not isinstance(command, str) or len(command) > MAX_COMMAND_CHARACTERS:
        return []
    return [name for pipeline in _pipelines(command) for name in _printed_by(pipeline)]


class _Program(NamedTuple):
    """One program of a pipeline, without the words before it."""

    name: str
    options: list[str]
    operands: list[str]
    """Its other words, without numbers and redirections."""
    writes: bool
    """Whether its output goes into a file, or the command itself has its input."""


def _without_heredocs(command: str) -> str:
    """Return a command line without the text of its here-documents; one without an end stays."""
    kept: list[str] = []
    inside: list[str] = []
    word = ""
    for line in command.split("\n"):
        if not word:
            kept.append(line)
            found = HEREDOC.search(line)
            word = found[2] if found else ""
        elif line.strip() == word:
            inside, word = [], ""
        else:
            inside.append(line)
    return "\n".join(kept + inside)


def _pipelines(command: str) -> Iterator[list[list[str]]]:
    """Yield the pipelines of a command line as the words of their programs."""
    text = COMMENT.sub("", _without_heredocs(command))
    lexer = shlex.shlex(text, posix=True, punctuation_chars=";|&<>()\n")
    lexer.whitespace, lexer.commenters, lexer.whitespace_split = " \t\r", "", True
    pipeline: list[list[str]] = [[]]
    try:
        for word in lexer:
            if END_OF_COMMAND.fullmatch(word):
                yield pipeline
                pipeline = [[]]
            elif word in ("|", "|&"):
                pipeline.append([])
            else:
                pipeline[-1].append(word)
    except ValueError:  # a quotation without an end: the pipelines before it count
        return
    yield pipeline


def _printed_by(pipeline: Sequence[Sequence[str]]) -> list[str]:
    """Return the files that one program of a pipeline prints and that the others only pass on."""
    programs = list(map(_program, pipeline))
    for at, (name, options, operands, writes) in enumerate(programs):
        prints, files = name in PRINTERS, operands
        if name in SHELLS:
            prints, files = True, _printed(pipeline[at][-1]) if len(pipeline[at]) > 1 else []
        elif name == "sed":
            prints, files = any(option.startswith("-n") for option in options), operands[1:]
        elif name == "awk":  # by the numbers of lines
            prints, files = "NR" in "".join(operands[:1]), operands[1:]
        elif name == "wget":
            prints = any(word.endswith("O-") for word in (*options, *operands))
        elif name == "git":
            prints, files = operands[:1] == ["show"], [name for name in operands if ":" in name]
        elif name == "curl":
            prints = not any(map(CURL_OTHERWISE.match, options))
        if prints and files and not writes:
            passes = all(other.name in FILTERS and not other.writes for other in programs[at + 1 :])
            return files if passes else []
    return []


def _prints(pipeline: Sequence[Sequence[str]]) -> bool:
    """Return whether a pipeline has a program that may print something."""
    return any(_program(words).name not in SILENT for words in pipeline)


def _program(words: Sequence[str]) -> _Program:
    own = list(itertools.dropwhile(BEFORE.fullmatch, words))
    name = re.split(r"[/\\]", own[0])[-1].lower().removesuffix(".exe") if own else ""
    options: list[str] = []
    operands = ["(its input)"] if "xargs" in words[: len(words) - len(own)] else []
    writes = False
    words_left = iter(own[1:])
    for word in words_left:
        if not REDIRECTION.fullmatch(word):
            if word.startswith("-"):
                options.append(word)
            elif word != "}" and not word.lstrip("+").isdigit():
                operands.append(word)
        elif ">" in word:
            writes |= next(words_left, "") not in NOWHERE
        else:
            writes |= "<<" in word
    return _Program(name, options, operands, writes)


# Whether a result reports a failed call, where the format has no field for it


END_CHARACTERS = 300
"""The characters at both ends of a text in which its tool reports how it went."""
FAILED = re.compile(
    r"\s*(?:[\w.]{0,80}(?:error|exception)[:(]|traceback \(most recent call last\):"
    r"|file (?:not found|does not exist|content .{1,30} exceeds)\b"
    r"|\{\s*\"errors?\"\s*:(?!\s*(?:null|false|\"\"|\[\s*\]|\{\s*\}|0)))",
    re.IGNORECASE,
)
FAILED_STATUS = re.compile(
    r"\"(?:success|ok)\"\s*:\s*false\b|\"is_?error\"\s*:\s*true\b"
    r"|\b(?:exit(?:ed)?(?: with)?[ _]?(?:code|status)|returncode|rc)\b[\"'>:= ]{1,4}-?[1-9]",
    re.IGNORECASE,
)
STATUS_SIGNS = ("false", "error", "exit", "code", "rc")
"""Signs of a status: a text without one needs no search by `FAILED_STATUS`."""


def says_it_failed(text: str) -> bool:
    r"""Return whether a result opens with an error, or names a failing exit code at one of its ends.

    >>> says_it_failed("Exit code: 2\nmake: no rule"), says_it_failed("0 errors, 12 passed")
    (True, False)
    """
    if FAILED.match(text):
        return True
    for start, end in ((0, END_CHARACTERS), (max(0, len(text) - END_CHARACTERS), len(text))):
        said = text[start:end].lower()
        if any(map(said.__contains__, STATUS_SIGNS)) and FAILED_STATUS.search(text, start, end):
            return True
    return False
