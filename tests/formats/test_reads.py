"""Which calls ask to read a text, by tool name and command."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippocampus.formats.tool_calls import asks_to_read, file_read, files_written, reads_whole


def asks(tool: str, **arguments: Any) -> bool:
    return asks_to_read(tool, json.dumps(arguments))


def test_a_tool_reads_whose_name_says_so() -> None:
    reading = [
        "Read",
        "read_file",
        "readFile",
        "mcp__github__get_file_contents",
        "filesystem.read_text_file",
        "WebFetch",
        "web_fetch",
        "fetch",
        "visit_webpage",
        "get-library-docs",
        "view_file",
        "open",
        "Skill",
        "activate_skill",
        "Task",
        "Agent",
        "use_subagents",
        "spawn_agent",
        "delegate_to_agent",
    ]
    others = [
        "Write",
        "Edit",
        "Glob",
        "Grep",
        "TaskCreate",
        "TaskUpdate",
        "TodoWrite",
        "web_search",
        "list_files",
        "list_agents",
        "search_files",
        "push_files",
        "create_or_update_file",
        "execute_sql",
        "list_commits",
        "browser_snapshot",
        "read_console_messages",
        "apply_patch",
    ]
    assert [tool for tool in [*reading, *others, ""] if asks(tool, path="a.py")] == reading


READING = r"""
cat a.py
cd src && cat a.py b.py
nl -ba a.py | sed -n '1,200p'
sed -n '10,80p' a.py
head -n 50 README.md
ls -la; echo '--- a.py'; cat a.py 2>/dev/null
cat a.py | head -100
FOO=1 sudo cat /etc/fstab
timeout 5s curl -s https://example.org
if [ -f a.py ]; then cat a.py; fi
for f in *.py; do echo $f; cat $f; done
find . -name '*.md' | xargs cat
rg -l word | xargs -n 1 sed -n '1,80p'
awk 'NR>=10 && NR<=90' a.py
bash -lc 'sed -n 1,80p a.py'
ssh host 'cat a.py'
git show HEAD:src/a.py
curl -sL https://example.org/page
wget -qO- https://example.org/page
pdftotext paper.pdf - | head -200
curl -s https://example.org | html2text | head -50
Get-Content src\a.ts
Get-Content a.ts | Select-Object -First 80
type c:\a.txt
cat < a.py
"""
NOT_READING = r"""
pytest -q | tail -20
npm test 2>&1 | head -50
cat a.py | grep word
cat a.json | jq .x
cat a.py | wc -l
cat a b > c
sed -i 's/a/b/' a.py
sed 's/a/b/' a.py
rg -n word src
ls -la src
git diff
git show HEAD
curl -sO https://example.org/a.tgz
curl -X POST -d a=1 https://example.org
curl -LsSf https://example.org/install.sh | sh
wget https://example.org/a.tgz
sudo systemctl restart web
timeout 60 pytest -q
which cat
echo cat a.py
cat
bash
bash bash
"""


def test_a_command_that_prints_a_file_or_a_page_reads() -> None:
    documents = ["# Let's look at it\ncat a.py", "cat <<'EOF' > note\ncat nothing\nEOF\ncat a.py"]
    for command in [*READING.strip().splitlines(), *documents]:
        assert asks("bash", command=command), command
        assert asks("exec_command", cmd=command), command
        assert asks("shell", command=["bash", "-lc", command]), command


def test_a_brace_after_a_command_is_no_file() -> None:
    command = {"command": r"if (Test-Path a.json) { Get-Content a.json }"}
    assert file_read("shell_command", json.dumps(command)) == "a.json"


def test_other_commands_do_not() -> None:
    documents = ["cat > a.py <<'EOF'\nprint(1)\nEOF", "python - <<'EOF'\ncat a.py\nEOF", ""]
    for command in [*NOT_READING.strip().splitlines(), *documents]:
        assert not asks("bash", command=command), command
        assert not asks("shell", command=["bash", "-lc", command]), command


def test_an_editor_reads_when_it_views() -> None:
    assert asks("str_replace_editor", command="view", path="/a.py")
    assert not asks("str_replace_editor", command="create", path="/a.py", file_text="cat")


def test_a_list_of_words_is_one_command() -> None:
    assert asks("shell", command=["cat", "a.py"])
    assert not asks("shell", command=["echo", "a", "|", "cat"])


@pytest.mark.parametrize(
    ("tool", "call", "name"),
    [
        ("Read", {"file_path": "src/a.py"}, "src/a.py"),
        ("read", {"filePath": "a.py", "offset": 40}, "a.py"),
        ("view_file", {"AbsolutePath": "c:\\a.py", "toolSummary": "A look at it"}, "c:\\a.py"),
        ("Bash", {"command": "cat b.py | head -20"}, "b.py"),
        ("Bash", {"command": "cat a.md b.py | head -20"}, ""),
        ("Bash", {"command": "cat a.py; pytest"}, ""),
        ("Bash", {"command": "cat src/[id]/page.tsx"}, "src/[id]/page.tsx"),
        ("Bash", {"command": "python a.py | tail -40"}, ""),
        ("Grep", {"pattern": "def", "path": "a.py"}, ""),
        ("Agent", {"prompt": "Read src/a.py and report."}, ""),
        ("Write", {"path": "a.py", "content": "x = 1"}, ""),
    ],
)
def test_the_file_that_a_call_reads_is_named(tool: str, call: dict[str, Any], name: str) -> None:
    assert file_read(tool, json.dumps(call)) == name


def test_a_read_with_a_long_note_writes_nothing() -> None:
    call = {"path": "a.py", "task_progress": "- [x] look at every file of it\n" * 5}
    assert not files_written("read_file", json.dumps(call))
    assert files_written("write_to_file", json.dumps(call)) == ["a.py"]


@given(st.text(), st.text())
def test_no_text_raises(tool: str, text: str) -> None:
    assert asks_to_read(tool, text) in (True, False)
    assert asks("bash", command=text) in (True, False)


@pytest.mark.parametrize(
    ("command", "whole"), [("cat a.py", True), ("cat a.py | head -20", False), ("head a.py", False)]
)
def test_a_part_of_a_file_is_not_the_whole(command: str, whole: bool) -> None:
    assert reads_whole(json.dumps({"command": command})) == whole


def test_what_stands_in_a_here_document_names_no_file() -> None:
    command = "cat > page.html <<E\n<div>text</div>\nE"
    assert files_written("Bash", json.dumps({"command": command})) == ["page.html"]
