"""The files that an agent works on, as a list's reads, writes, edits and patches leave them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from conversations import chat_step

from hippocampus.formats.conversation import Message
from hippocampus.formats.reader import read
from hippocampus.models import tokens
from hippocampus.session import digest
from hippocampus.session.digest import Room
from hippocampus.session.history import History
from hippocampus.session.work_files import WorkFiles, described

SOURCE = "".join(f"def room_{n}(guests):\n    return guests + {n}\n\n" for n in range(60))


def talk(*steps: tuple[str, dict[str, Any], str]) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = [{"role": "user", "content": "Mend the rooms."}]
    for number, (tool, arguments, result) in enumerate(steps):
        items += chat_step(f"c{number}", tool, arguments, result)
    return items


def cat(first: int, lines: list[str]) -> str:
    return "\n".join(f"{number:6}→{line}" for number, line in enumerate(lines, first))


def known(*steps: tuple[str, dict[str, Any], str]) -> WorkFiles:
    messages = read(talk(*steps))
    found, turns, turn = WorkFiles(), [], 0
    for message in messages:
        turn += message.role == "assistant"
        turns.append(turn)
    found.read_on(messages, turns)
    return found


def test_a_list_is_read_on_and_another_one_anew() -> None:
    edit = (
        "Edit",
        {"file_path": "/srv/house/rooms.py", "old_string": OLD, "new_string": NEW},
        "ok",
    )
    longer, other = (
        History().extended(talk(READ, *steps)) for steps in ([edit, edit], [edit, READ])
    )
    files = WorkFiles()
    for history in (longer, other, longer):
        for end in (3, 5, len(history.raw), 3, len(history.raw)):
            files.read_to(end, history)
            anew = WorkFiles()
            anew.read_on(history.raw[:end], history.turns[:end])
            assert files.newest() == anew.newest()


class Interrupted(WorkFiles):
    """Files whose reading can be interrupted after some messages, as by the user."""

    is_armed = False

    def read_on(self, messages: Sequence[Message], turns: Sequence[int]) -> None:
        if not self.is_armed:
            super().read_on(messages, turns)
            return
        super().read_on(messages[:2], turns[:2])
        raise KeyboardInterrupt


def test_after_an_interruption_a_list_is_read_anew() -> None:
    steps = [("Read", {"file_path": f"/srv/{n}.py"}, SOURCE) for n in range(4)]
    history = History().extended(talk(*steps))
    files = Interrupted()
    files.read_to(3, history)
    files.is_armed = True
    with pytest.raises(KeyboardInterrupt):
        files.read_to(len(history.raw), history)
    files.is_armed = False
    files.read_to(3, history)
    assert [file.path for file in files.newest()] == ["/srv/0.py"]


def text_of(files: WorkFiles) -> str:
    [file] = files.newest()
    return file.text


READ = ("Read", {"file_path": "/srv/house/rooms.py"}, SOURCE)
OLD, NEW = "    return guests + 30", "    return max(guests, 30)"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("Edit", {"file_path": "/srv/house/rooms.py", "old_string": OLD, "new_string": NEW}),
        ("edit", {"path": "house/rooms.py", "oldText": OLD, "newText": NEW}),
        (
            "apply_patch",
            {
                "input": "*** Begin Patch\n*** Update File: house/rooms.py\n@@\n def room_30(guests):\n"
                f"-{OLD}\n+{NEW}\n*** End Patch"
            },
        ),
    ],
)
def test_an_edit_is_in_the_text(tool: str, arguments: dict[str, Any]) -> None:
    files = known(READ, (tool, arguments, "done"))
    assert text_of(files) == SOURCE.rstrip("\n").replace(OLD, NEW)
    assert files.newest()[0].unfollowed == 0


def test_a_change_by_a_command_is_counted_and_not_followed() -> None:
    files = known(READ, ("Bash", {"command": "sed -i s/guests/people/ rooms.py"}, ""))
    assert files.newest()[0].unfollowed == 1


def test_a_whole_write_replaces_what_was_read() -> None:
    files = known(READ, ("Write", {"file_path": "rooms.py", "content": "ROOMS = 7\n"}, "written"))
    assert text_of(files) == "ROOMS = 7"


ADDED = "*** Begin Patch\n*** Add File: rooms.py\n+ROOMS = 7\n+\n+BEDS = 9\n*** End Patch"


@pytest.mark.parametrize(
    ("tool", "arguments", "text"),
    [
        ("apply_patch", {"input": ADDED}, "ROOMS = 7\n\nBEDS = 9"),
        ("Write", {"file_path": "/srv/a/long/path/of/rooms.py", "content": "B = 9"}, "B = 9"),
        ("write_file", {"path": "rooms.py", "content": "B = 9\n", "description": "b"}, "B = 9"),
        ("create", {"command": "create", "path": "rooms.py", "file_text": "B = 9"}, "B = 9"),
    ],
)
def test_a_new_file_has_the_text_that_its_call_gives_it(
    tool: str, arguments: dict[str, Any], text: str
) -> None:
    [file] = known((tool, arguments, "done")).newest()
    assert (file.text, file.pieces[0].first, file.unfollowed) == (text, 1, 0)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("write_file", {"mode": "append"}),
        ("append_to_file", {}),
        ("write_file", {"append": True}),
        ("write_file", {"content": ["    return 7", ""]}),
    ],
)
def test_a_text_that_a_call_adds_to_a_file_is_not_all_of_it(
    tool: str, arguments: dict[str, Any]
) -> None:
    added = {"path": "/srv/house/rooms.py", "content": "\n\ndef room():\n    return 7\n"}
    files = known(READ, (tool, {**added, **arguments}, "done"))
    assert text_of(files) == SOURCE.rstrip("\n")
    assert files.newest()[0].unfollowed == 1


def test_a_file_that_is_emptied_has_no_text() -> None:
    emptied = ("write_file", {"path": "/srv/house/rooms.py", "content": ""}, "done")
    assert text_of(known(READ, emptied)) == ""


def test_lines_lose_their_numbers_where_a_text_before_them_may_have_grown() -> None:
    lines = SOURCE.split("\n")
    head = ("Bash", {"command": "head -20 /srv/house/rooms.py"}, "\n".join(lines[:20]))
    part = {"file_path": "/srv/house/rooms.py", "offset": 101, "limit": 20}
    read_part = ("Read", part, cat(101, lines[100:120]))
    same = {"file_path": "/srv/house/rooms.py", "old_string": lines[4], "new_string": "    pass"}
    more = {**same, "new_string": f"{lines[4]}\n    pass"}
    firsts = [
        [piece.first for piece in known(head, read_part, ("Edit", edit, "done")).newest()[0].pieces]
        for edit in (same, more)
    ]
    assert firsts == [[101, 0], [0, 0]]


PATCHES = [
    ("a\nb\nc", "-b", "a\nc"),
    ("x = 10\nx = 1\n\nb", "-x = 1\n-\n+y = 2", "x = 10\ny = 2\nb"),
    ("    return\nreturn\nb", "-return\n+yield\n b", "    return\nyield\nb"),
    ("a\n\nb", " a\n\n-b\n+c", "a\n\nc"),
    ("a\nb", " a\n b", "a\nb"),
    ("def a():\n  x\ndef b():\n  x", "@@ def b():\n-  x\n+  y", "def a():\n  x\ndef b():\n  y"),
    ("a\nx\n b\nx", "@@ -3,2 +3,1 @@  b\n-x", "a\nx\n b"),
    ("a\nx\nb\nx", "@@ b\n b\n-x\n+y\n@@ other\n-a", "x\nb\ny"),
]


@pytest.mark.parametrize(("before", "hunk", "after"), PATCHES)
def test_a_hunk_of_a_patch_replaces_whole_lines(before: str, hunk: str, after: str) -> None:
    mark = "" if hunk.startswith("@@") else "@@\n"
    patch = f"*** Begin Patch\n*** Update File: a.py\n{mark}{hunk}\n*** End Patch\nEOF\n\nls\n"
    steps = [("Write", {"path": "a.py", "content": before}, ""), ("patch", {"input": patch}, "")]
    assert text_of(known(*steps)) == after


@pytest.mark.parametrize("flag", ["replace_all", "replaceAll"])
def test_an_edit_of_all_places_changes_each_of_them(flag: str) -> None:
    edit = {"file_path": "/srv/house/rooms.py", "old_string": "guests", "new_string": "a\nb"}
    files = known(READ, ("Edit", {**edit, flag: True}, "done"))
    assert text_of(files) == SOURCE.rstrip("\n").replace("guests", "a\nb")
    once = known(READ, ("Edit", {**edit, flag: False}, "done"))
    assert text_of(once) == SOURCE.rstrip("\n").replace("guests", "a\nb", 1)


def test_a_text_that_its_tool_cut_is_known_up_to_the_cut() -> None:
    lines = SOURCE.split("\n")
    cut = [*lines[:60], "… [40 lines truncated] …", *lines[100:]]
    [file] = known(("Bash", {"command": "cat rooms.py"}, "\n".join(cut))).newest()
    assert [(piece.first, len(piece.lines)) for piece in file.pieces] == [(1, 59)]
    warning = "<warning>\nThe output was too long.\n</warning><output_head>\n"
    end = (
        "\n</output_head>\n<elided_chars>\n900 characters elided\n</elided_chars>\n<output_tail>\n"
    )
    head, tail = "\n".join(lines[:60]), "\n".join(lines[100:])
    text = f"<returncode>0</returncode>\n{warning}{head}{end}{tail}\n</output_tail>"
    [file] = known(("bash", {"command": "cat rooms.py"}, text)).newest()
    assert [(piece.first, len(piece.lines)) for piece in file.pieces] == [(1, 59)]
    assert file.pieces[0].lines[0].text == lines[0]


@pytest.mark.parametrize(
    "command",
    [
        "cat rooms.py doors.py",
        "cat rooms.py; pytest",
        "for f in a b; do cat $f; done | head -5; ls",
    ],
)
def test_what_several_programs_print_is_no_text_of_one_file(command: str) -> None:
    assert not known(("Bash", {"command": command}, SOURCE)).newest()


def test_what_a_tool_says_after_a_dump_is_no_line_of_the_file() -> None:
    lines = SOURCE.split("\n")[:40]
    note = "The above content does NOT show the entire file contents."
    [file] = known(("Read", {"file_path": "a.py"}, f"{cat(1, lines)}\n{note}")).newest()
    assert [line.text for line in file.pieces[0].lines] == lines


@pytest.mark.parametrize(
    "said",
    [
        "File not found: /srv/house/rooms.py",
        "File does not exist. Note: your current working directory is /srv.",
        "<identical to result [r82] from your Read call earlier — refer to that output>",
    ],
)
def test_what_a_tool_says_in_place_of_a_text_is_no_line_of_the_file(said: str) -> None:
    assert text_of(known(READ, (READ[0], READ[1], said))) == SOURCE.rstrip("\n")


def test_files_of_one_name_in_two_folders_are_two() -> None:
    reads = [("Read", {"path": path}, SOURCE) for path in ("pom.xml", "web/pom.xml")]
    assert len(known(*reads).newest()) == 2
    both = [("Read", {"path": path}, SOURCE) for path in ("/srv/web/pom.xml", "web/pom.xml")]
    assert len(known(*both).newest()) == 1


def test_lines_named_with_the_path_are_a_part_of_its_file() -> None:
    part = ("read", {"path": "/srv/house/rooms.py:40-60"}, cat(40, SOURCE.split("\n")[39:60]))
    assert text_of(known(READ, part)) == SOURCE.rstrip("\n")


def test_the_places_that_were_worked_on_are_described_with_their_lines() -> None:
    edit = {"file_path": "/srv/house/rooms.py", "old_string": OLD, "new_string": NEW}
    files = known(READ, ("Edit", edit, "done"))
    rows = described(files.newest()[0], 400, 9)
    assert f"92→{NEW}" in rows
    assert "93→" in rows
    assert "91→def room_30(guests):" in rows
    assert "2→    return guests + 0" not in rows


@pytest.mark.parametrize("everywhere", [False, True])
def test_an_edit_moves_the_numbers_of_the_lines_after_it(everywhere: bool) -> None:
    path = "/srv/house/rooms.py"
    parts = [
        ("Read", {"file_path": path, "offset": first}, cat(first, text))
        for first, text in ((1, ["import os", "", "def a(guests):"]), (40, ["def b(guests):"]))
    ]
    edit = {"file_path": path, "old_string": "import os", "new_string": "import os\nimport re"}
    if everywhere:
        edit["replace_all"] = "true"
    [file] = known(*parts, ("Edit", edit, "done")).newest()
    assert [(piece.first, len(piece.lines)) for piece in file.pieces] == [(1, 4), (41, 1)]
    assert described(file, 400, 9) == ["1→import os", "2→import re", "3→", "4→def a(guests):"]


def test_an_edit_of_a_text_whose_place_is_not_known_moves_no_numbers() -> None:
    path = "/srv/house/rooms.py"
    read_it = ("Read", {"file_path": path}, cat(1, [f"room = {n}" for n in range(20)]))
    edits = [("not in it", "new here"), ("new here", "new\nof\nfour\nlines")]
    steps = [
        ("Edit", {"file_path": path, "old_string": old, "new_string": new}, "done")
        for old, new in edits
    ]
    [file] = known(read_it, *steps).newest()
    assert [piece.first for piece in file.pieces] == [1, 0]


def test_a_file_is_shown_whole_while_its_reading_is_fresh() -> None:
    [file] = known(READ).newest()
    lines = SOURCE.rstrip("\n").split("\n")
    assert described(file, 9_000, 1) == [f"{at}→{line}" for at, line in enumerate(lines, 1)]
    later = described(file, 9_000, 2)
    assert 0 < len(later) < len(lines) / 2
    assert "1→def room_0(guests):" in later


GO = """package house

func (h *House) Open(door string) error {
\tif door == "" {
\t\treturn errNoDoor
\t}
\treturn h.unlock(door)
}

func (h *House) Paint(colour string) error {
\tfor _, wall := range h.walls {
"""
GO += "".join(f"\t\twall.paint(colour, {n})\n" for n in range(60)) + "\t}\n\treturn nil\n}\n"


def test_an_outline_has_definitions_then_lines_with_names_that_the_digest_lacks() -> None:
    edit = {"file_path": "/srv/house.go", "old_string": "colour, 59)", "new_string": "colour, 60)"}
    [file] = known(("Read", {"file_path": "/srv/house.go"}, GO), ("Edit", edit, "done")).newest()
    rows = described(file, 400, 9)
    assert "10→func (h *House) Paint(colour string) error {" in rows
    assert "5→\t\treturn errNoDoor" in rows
    assert not {'4→\tif door == "" {', "13→\t\twall.paint(colour, 1)"} & {*rows}
    shown = frozenset({"errNoDoor", "h.unlock"})
    assert "5→\t\treturn errNoDoor" not in described(file, 400, 9, shown)


def test_a_host_s_word_that_a_file_is_unchanged_is_no_line_of_it() -> None:
    said = "File unchanged since last read. The content from the earlier result is still current."
    read_again = ("Read", {"file_path": "rooms.py"}, said)
    [file] = known(("Read", {"file_path": "rooms.py"}, SOURCE), read_again).newest()
    assert file.text == SOURCE.rstrip("\n")
    assert file.turn == 2


@pytest.mark.parametrize("dots", ["…", "..."])
def test_a_tool_s_note_on_lines_that_follow_is_no_line_of_the_file(dots: str) -> None:
    note = f"{dots} (435 more lines not shown. Use offset=145 to continue)"
    part = ("Read", {"file_path": "rooms.py", "offset": 1}, f"{SOURCE}\n{note}")
    [file] = known(part).newest()
    assert file.text == SOURCE.rstrip("\n")


@pytest.mark.parametrize("end", ["", "\n"])
@pytest.mark.parametrize(
    "head", ["", "Wall time: 0.2675 seconds\nProcess exited with code 0\nOutput:"]
)
def test_a_part_after_the_end_of_a_file_has_no_line_of_it(head: str, end: str) -> None:
    whole = ("Read", {"file_path": "rooms.py"}, SOURCE)
    after = ("Bash", {"command": "sed -n 900,990p rooms.py"}, head + end)
    assert text_of(known(whole, after)) == SOURCE.rstrip("\n")


def test_a_text_without_numbers_replaces_the_lines_in_it() -> None:
    """A file that a command prints is in the digest once, and not again after itself."""
    path, lines = {"file_path": "rooms.py"}, SOURCE.rstrip("\n").split("\n")
    printed = ("Bash", {"command": "sed -n 1,400p rooms.py"}, SOURCE)
    part = ("Read", {**path, "offset": 20, "limit": 30}, cat(20, lines[19:49]))
    [file] = known(part, printed).newest()
    assert file.text == "\n".join(lines)
    assert [piece.first for piece in file.pieces] == [1]


@pytest.mark.parametrize("numbered", [True, False])
@pytest.mark.parametrize("end", [24, 90, 180])
def test_a_text_that_differs_from_an_earlier_one_is_in_the_digest_once(
    end: int, *, numbered: bool
) -> None:
    lines = SOURCE.rstrip("\n").split("\n")[:90]
    head = ("Bash", {"command": "head -90 rooms.py"}, "\n".join(lines))
    first = ("Read", {"file_path": "rooms.py", "offset": 1}, cat(1, lines)) if numbered else head
    changed = [line.replace("room_3(", "hall_3(") for line in SOURCE.split("\n")]
    changed[5:5] = ["BEDS = 7"]
    printed = ("Bash", {"command": f"head -{end} rooms.py"}, "\n".join(changed[:end]))
    [file] = known(first, printed).newest()
    shown = described(file, 9_000, 0)
    assert sum("def room_5(" in row for row in shown) == 1
    assert sum("hall_3(" in row for row in shown) == 1
    assert not any("room_3(" in row for row in shown)
    assert not numbered or "6→BEDS = 7" in shown


def test_a_text_has_the_place_that_a_later_part_of_its_file_shows() -> None:
    """The lines before the part were in the list only there."""
    lines = SOURCE.rstrip("\n").split("\n")
    head = ("Bash", {"command": "head -90 rooms.py"}, "\n".join(lines[:90]))
    part = ("Read", {"file_path": "rooms.py", "offset": 40, "limit": 80}, cat(40, lines[39:119]))
    [file] = known(head, part).newest()
    assert described(file, 9_000, 0) == [f"{at}→{line}" for at, line in enumerate(lines[:119], 1)]


@pytest.mark.parametrize(
    "line", ["the guest of room leaves soon", "客人很快就要离开房间", "Ann, 7, Rome"]
)
def test_the_first_lines_of_a_file_that_names_nothing_are_its_outline(line: str) -> None:
    text = "\n".join(f"{line} {n}" for n in range(80))
    [file] = known(("Read", {"file_path": "guests.txt"}, text)).newest()
    rows = described(file, 9_000, 50)
    assert 10 < len(rows) < 40
    assert rows[:2] == [f"1→{line} 0", f"2→{line} 1"]


def test_a_long_command_stands_in_the_step() -> None:
    command = (
        "make lint && make test && make docs && make package && make check && make all | tail -n 20"
    )
    messages = read(talk(("Bash", {"command": command}, "7 passed")))
    assert command in digest.lines_of(digest.Steps().extended(messages), {}, [], 0, Room(400))


def test_what_the_assistant_said_goes_before_the_newer_calls_of_a_digest() -> None:
    said = {"role": "assistant", "content": "The doors of rooms 2 and 3 open inwards."}
    calls = talk(*(("Bash", {"command": f"ls /srv/house/room_{n}"}, "ok") for n in range(40)))
    messages = read([calls[0], said, *calls[1:]])
    assert "open inwards" in digest.lines_of(
        digest.Steps().extended(messages), {}, [], 0, Room(200)
    )


@pytest.mark.parametrize(
    ("before", "message"),
    [
        ("test_a PASSED\n", "FAILED test_shop.py::test_total - AssertionError: assert 4 == 5"),
        ("    return total(order)\n", "shop.errors.OrderError: order A-17 has no lines"),
    ],
)
def test_a_digest_says_what_failed_at_the_end_of_a_long_output(before: str, message: str) -> None:
    """An agent that does not see why a call failed makes it again."""
    text = f"Exit code 1\n{before * 300}{message}"
    steps = digest.Steps().extended(read(talk(("Bash", {"command": "pytest"}, text))))
    told = digest.lines_of(steps, {}, [], 0, Room(200))
    assert f"! Exit code 1 … {message}" in told


def test_a_digest_shows_the_results_of_parallel_calls_each_after_its_own() -> None:
    calls, results = [], []
    for number in range(3):
        call = {"name": "bash", "arguments": json.dumps({"command": f"check room {number}"})}
        calls.append({"id": f"c{number}", "type": "function", "function": call})
        results.append({"role": "tool", "tool_call_id": f"c{number}", "content": f"bed {number}"})
    messages = [{"role": "assistant", "content": None, "tool_calls": calls}, *results]
    shown = digest.lines_of(digest.Steps().extended(read(messages)), {}, [], 0, Room(400))
    assert shown.split("\n") == [
        line for n in range(3) for line in (f"bash(check room {n})", f"  -> bed {n}")
    ]


def test_a_digest_shows_words_once_and_those_of_the_host_after_all_others() -> None:
    words = "Let me see whether the doors open inwards or outwards, room by room."
    state = {
        "type": "text",
        "text": "<environment_details>\nOpen tabs: doors.py\n</environment_details>",
    }
    result = {"type": "tool_result", "tool_use_id": "c1", "content": "ok"}
    use = {"type": "tool_use", "id": "c1", "name": "ls", "input": {"path": "/srv"}}
    step = [
        {"role": "assistant", "content": [{"type": "text", "text": words}, use]},
        {"role": "user", "content": [result, state]},
    ]
    shown = digest.lines_of(digest.Steps().extended(read(step * 9)), {}, [], 0, Room(36))
    assert shown.split("\n") == [f'"{words}"', "… 26 more steps"]
    state["text"] = f"<environment_details>{'Open tabs: doors.py ' * 60}</environment_details>"
    roomy = digest.lines_of(digest.Steps().extended(read(step)), {}, [], 0, Room(900))
    assert max(map(len, roomy.split("\n"))) < 300


@pytest.mark.parametrize("tool", ["apply_patch", "bash"])
def test_a_step_names_the_files_of_a_patch(tool: str) -> None:
    patch = ADDED.replace("*** End", "*** Update File: /srv/doors.py\n@@\n-a\n+b\n*** End")
    steps = digest.Steps().extended(read(talk((tool, {"input": patch}, "Success."))))
    assert f"{tool}(rooms.py, /srv/doors.py)" in digest.lines_of(steps, {}, [], 0, Room(300))


def test_a_step_has_no_colours_and_an_outcome_whose_lines_are_too_long_is_cut() -> None:
    coloured = ("bash", {"command": "npx tsc"}, "\x1b[31merror\x1b[39m in rooms.ts")
    long = ("bash", {"command": "npx vite"}, "\n".join("room " * 150 + str(n) for n in range(3)))
    steps = digest.Steps().extended(read(talk(coloured, long)))
    shown = digest.lines_of(steps, {}, [], 0, Room(400))
    assert "  -> error in rooms.ts" in shown
    assert "  -> room room" in shown


def test_a_result_that_refers_to_an_earlier_read_replaces_no_text() -> None:
    again = ("Read", {"file_path": "/srv/house/rooms.py"}, "File unchanged since last read.")
    assert SOURCE.rstrip("\n") in text_of(known(READ, again))


@pytest.mark.parametrize("numbered", [True, False])
def test_lines_of_a_file_that_was_read_in_parts_have_their_numbers_in_the_file(
    *, numbered: bool
) -> None:
    lines = [f"{'    x = y' if n % 9 else f'def room_{n}(guests): # '} + {n}" for n in range(400)]
    parts = [
        ("Read", {"path": "rooms.py", "offset": first, "limit": 90}, lines[first - 1 : first + 89])
        for first in (1, 200)
    ]
    files = known(
        *(
            (tool, asked, cat(asked["offset"], part) if numbered else "\n".join(part))
            for tool, asked, part in parts
        )
    )
    shown = [row.split("→", 1) for row in described(files.newest()[0], 600, 9) if "→def" in row]
    assert any(int(number) > 200 for number, _ in shown)
    assert all(lines[int(number) - 1] == line for number, line in shown)


def test_a_file_is_described_within_its_budget() -> None:
    files = known(
        ("Read", {"path": "names.py"}, "".join(f"room_{n} = hall_{n}\n" for n in range(9_000)))
    )
    assert tokens.count("\n".join(described(files.newest()[0], 300, 9))) <= 320
