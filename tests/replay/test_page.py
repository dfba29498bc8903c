"""The page says every figure, runs nothing that a recording says, and draws in a real browser."""

from __future__ import annotations

import copy
import html
import json
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from conversations import EAGER, chat_step
from hypothesis import given
from hypothesis import strategies as st

from hippocampus import policy, prices
from hippocampus.policy import Rule
from hippocampus.replay.page import (
    json_script,
    line_styles,
    page,
    page_data,
    recording_data,
    write_page,
)
from hippocampus.replay.recording import Recording
from hippocampus.replay.run import Options, Row, outcome, place, replay_recording

EVIL = "</script><!--<img src=x onerror=alert(1)>\u2028'\"&`${7}\ud800\u202e"
SHORT = EAGER.model_copy(
    update={
        "lifecycle_policies": (Rule.model_validate({"match": {}, "action": {"compression": 30}}),)
    }
)
CHROMIUM = shutil.which("chromium")


def chat(calls: int, tool: str = "list_orders") -> list[dict[str, Any]]:
    """A conversation in which each call but the first names an order of the last result."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Cancel what is late."}]
    for number in range(calls):
        wanted = {"order": f"ORD-{number - 1}-0007"}
        orders = [
            {"id": f"ORD-{number}-{row:04}", "state": "late", "note": "to be looked at " * 3}
            for row in range(40)
        ]
        messages += chat_step(f"call_{number}", tool, wanted, json.dumps(orders))
    return [*messages, {"role": "assistant", "content": "Done: ORD-0-0007."}]


def replayed(path: str, options: Options, calls: int = 6, tool: str = "list_orders") -> Row:
    recording = Recording(path, Path(path).name, "openai-chat", chat(calls, tool))
    return replay_recording(recording, options)


def options() -> Options:
    return Options(policy.load("default"), prices.prices_for(None, None), compare=True)


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    """Three recordings from two folders; one has a name, a tool and a model that mean harm."""
    given_ = options()
    harmful = replayed(f"shop/{EVIL}", given_, tool="list_orders_x")
    harmful |= {"name": EVIL, "source": EVIL, "model": EVIL, "broken": [f"{EVIL}:3: no JSON"]}
    for entry in harmful["entries"]:
        entry |= {"tool": EVIL, "reason": EVIL}
    plain = [
        replayed(f"desk/{name}.json", given_, calls) for name, calls in (("one", 1), ("two", 16))
    ]
    rows = [harmful, *plain, {"path": EVIL, "reason": EVIL}]
    return outcome(sorted(rows, key=place), given_)


class Page(HTMLParser):
    """What a browser would see: elements, texts, and what scripts hold."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.scripts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data: str) -> None:
        if self.lasttag == "script" and self.scripts and self.cdata_elem:
            self.scripts[-1] += data
        else:
            self.texts.append(data)


def test_what_a_recording_says_makes_no_element(found):
    tags = {tag for tag, _ in Page(page(found)).elements}
    assert not tags & {"img", "iframe", "object", "embed", "base", "form"}
    assert EVIL in Page(page(found)).texts


def test_no_attribute_runs_script(found):
    names = {name for _, attributes in Page(page(found)).elements for name in attributes}
    assert not [name for name in names if name.startswith("on") or name == "style"]


def test_the_data_in_the_page_parses_back_equal(found):
    blocks = [json.loads(text) for text in Page(page(found)).scripts[:-1]]
    assert page_data(found) in blocks
    for recording in found["recordings"]:
        assert recording_data(recording, found) in blocks


@given(st.recursive(st.none() | st.integers() | st.text(), st.lists))
def test_any_text_survives_as_data_and_ends_no_script(data):
    block = json_script(data)
    (inside,) = Page(block + "<p>").scripts
    assert json.loads(inside) == data
    assert not re.search("[<>&\u2028\u2029]", inside)


def test_a_page_of_texts_has_each_call_and_marks_what_was_hidden(tmp_path):
    given_ = replace(options(), texts=tmp_path / "report-texts", policy=SHORT)
    calls = chat(6, EVIL)
    row = replay_recording(Recording("shop/x.json", EVIL, "openai-chat", calls), given_)
    text = (tmp_path / row["texts"]).read_text("utf-8")
    seen = Page(text)
    assert not {tag for tag, _ in seen.elements} & {"img", "iframe", "object", "embed", "base"}
    data = json.loads(seen.scripts[0])
    ours = row["strategies"]["hippocampus"]
    assert sum(map(len, data["hidden"])) > 0
    assert sum(map(len, data["hidden"])) == ours["hidden"] + ours["hidden_lines"]
    assert len(data["messages"]) == len(calls) - 1  # all but the last answer, which no call sent
    for number, message in enumerate(data["messages"]):
        assert message["tools"] == ([EVIL.replace("\ud800", "?")] if number else [])
        assert message["shown"][0][0] == message["call"] == (number + 1) // 2
        assert all(call >= message["call"] for call in message["hidden"])
    results = data["messages"][2::2]
    assert [each["text"] for each in results] == [each["content"] for each in calls[2::2]]
    last = [each["shown"][-1][1] for each in results]
    assert any(shown and shown.startswith("[") for shown in last)
    marked = {call for each in results for call in each["hidden"]}
    assert marked == {call for call, used in enumerate(data["hidden"]) if used}


def test_nothing_is_loaded_from_anywhere(found):
    text = page(found)
    for tag, attributes in Page(text).elements:
        for name in ("src", "href", "action", "xlink:href", "srcset", "data"):
            assert (attributes.get(name) or "#").startswith(("#", "data:,")), (tag, attributes)
    assert not re.search(r"@import|url\(|fetch\(|XMLHttpRequest|import\(|innerHTML", text)
    assert set(re.findall(r"https?://[^\s\"'<]+", text)) == {"http://www.w3.org/2000/svg"}


def test_the_content_policy_allows_this_script_alone(found):
    metas = [dict(attributes) for tag, attributes in Page(page(found)).elements if tag == "meta"]
    (allowed,) = [each["content"] for each in metas if "http-equiv" in each]
    assert allowed.startswith("default-src 'none'")
    assert "unsafe" not in allowed
    assert len(re.findall("'sha256-", allowed)) == 2


def test_every_strategy_recording_and_sentence_is_listed(found):
    told = "".join(Page(page(found)).texts)
    for name in found["total"]["strategies"]:
        assert name in told
    for recording in found["recordings"]:
        assert recording["name"] in told
    assert "The floor knows the future" in told
    assert "tokens/call" in told
    assert ("cheapest of the others" in told) == ("clear over 40k, at least 20k" in told)


def test_ours_comes_first_and_the_floor_last(found):
    names = list(line_styles(found))
    assert (names[0], names[-1]) == (found["ours"], found["floor"])
    assert sorted(names) == sorted(found["total"]["strategies"])


def test_no_use_is_drawn_before_its_entry_arrived(found):
    for recording in found["recordings"]:
        for entry in recording_data(recording, found)["entries"]:
            assert all(call >= entry["arrived"] for call in entry["used"] + entry["recalled"])


def test_equal_lines_are_kept_once_and_lose_nothing(found):
    for recording in found["recordings"]:
        rows = recording_data(recording, found)["tokens"]
        whole = [rows[row] if isinstance(row, int) else row for row in rows]
        assert whole == [recording["call_tokens"][name] for name in line_styles(found)]


def test_a_loss_is_marked_as_one(found):
    worse = [
        name for name, each in found["total"]["strategies"].items() if each["cost_percent"] > 100
    ]
    assert worse
    rows = dict(re.findall(r"</svg>([^<]+)(?:<em>[^<]*</em>)?</th>(.*?)</tr>", page(found)))
    for name in worse:
        assert 'class="loss"' in rows[html.escape(name)]


def test_one_recall_is_one_call(found, tmp_path):
    changed = copy.deepcopy(found)
    changed["total"]["strategies"]["hippocampus"]["recalls"] = 1
    changed["total"]["priced_as"] = {"claude-opus-4-5": 1, "claude-sonnet-5-5": 2}
    changed["total"]["raw"] |= {"billed_cost": 9.0, "predicted_cost": 8.0, "missed_calls": 1}
    write_page(changed, tmp_path / "out.html")
    text = (tmp_path / "out.html").read_text(encoding="utf-8")
    assert "; 1 call paid a recall" in text
    assert "the excess of 1 call that missed" in text
    assert "at prices of 2 models (recordings: claude-opus-4-5 1" in text


def test_no_folder_above_that_of_a_recording_is_on_the_page(found):
    changed = copy.deepcopy(found)
    changed["recordings"] = [
        row
        | {
            "path": "/home/ann/work/sessions/a.jsonl",
            "broken": ["/home/ann/work/sessions/a.jsonl:3: no JSON"],
        }
        for row in changed["recordings"]
    ]
    changed["skipped"] = [{"path": "/home/ann/work/sessions/b.txt", "reason": "no JSON"}]
    text = page(changed)
    assert "/home/ann" not in text
    assert "sessions/a.jsonl:3: no JSON" in text
    assert "sessions/b.txt: no JSON" in text


def test_a_page_of_nothing_says_so(tmp_path):
    write_page(outcome([{"path": "a.txt", "reason": "no JSON"}], options()), tmp_path / "out.html")
    text = (tmp_path / "out.html").read_text(encoding="utf-8")
    assert "No recorded session was found" in text
    assert "a.txt: no JSON" in text


def dumped(path: Path, tmp_path: Path, address: str) -> tuple[str, str]:
    """Return the document as headless Chromium leaves it, and what its console said."""
    flags = (
        "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync "
        "--disable-background-networking --disable-component-update --enable-logging=stderr --v=0"
    )
    ran = subprocess.run(
        [
            CHROMIUM or "",
            *flags.split(),
            f"--user-data-dir={tmp_path / address}",
            "--window-size=1200,900",
            "--dump-dom",
            f"{path.as_uri()}#{address}",
        ],
        capture_output=True,
        text=True,
        timeout=20,
        check=True,
    )
    return ran.stdout, "\n".join(line for line in ran.stderr.splitlines() if "CONSOLE" in line)


@pytest.mark.skipif(not CHROMIUM, reason="no chromium on the PATH to draw the page in")
def test_a_browser_draws_the_recording_in_the_address(found, tmp_path):
    write_page(found, tmp_path / "out.html")
    for number, recording in enumerate(found["recordings"]):
        document, console = dumped(tmp_path / "out.html", tmp_path, f"r{number}")
        assert not console
        assert document.count('class="dot') == len(line_styles(found))
        drawn = document.split('class="drawings"')[1]
        assert drawn.count("<svg") >= 2
        assert len(re.findall(r'<path[^>]*class="line ours"', drawn)) == 2
        assert drawn.count('class="life"') == len(recording["entries"])
        assert "<img" not in document


@pytest.mark.skipif(not CHROMIUM, reason="no chromium on the PATH to draw the page in")
def test_a_label_ends_inside_the_drawing(found, tmp_path):
    changed = copy.deepcopy(found)
    changed["total"]["strategies"]["mask all but 10"]["cost_percent"] = 128.0
    write_page(changed, tmp_path / "out.html")
    document, _ = dumped(tmp_path / "out.html", tmp_path, "r0")
    width = float(re.search(r'<svg viewBox="0 0 (\d+)', document)[1])
    [(place, label)] = re.findall(r'<text x="([\d.]+)"[^>]*>(costs more[^<]*)', document)
    assert float(place) + 6 * len(label) < width


@pytest.mark.skipif(not CHROMIUM, reason="no chromium on the PATH to draw the page in")
def test_no_name_is_written_over_the_words_at_the_bottom(found, tmp_path):
    changed = copy.deepcopy(found)
    changed["total"]["strategies"]["mask all but 10"] |= {
        "cost_percent": 183.0,
        "visible_percent": 60.0,
    }
    write_page(changed, tmp_path / "out.html")
    document, _ = dumped(tmp_path / "out.html", tmp_path, "r0")
    labels = re.findall(r'<text x="([\d.]+)" y="([\d.]+)"[^>]*>([^<]*)', document)
    [(left, bottom, words)] = [each for each in labels if each[2].startswith("costs more")]
    [(start, line, name)] = [each for each in labels if each[2] == "mask all but 10"]
    is_beside = float(start) > float(left) + 6 * len(words) or float(start) + 6 * len(name) < float(
        left
    )
    assert is_beside or abs(float(line) - float(bottom)) >= 10


@pytest.mark.skipif(not CHROMIUM, reason="no chromium on the PATH to open the page in")
def test_a_browser_shows_a_call_next_to_its_raw_list(tmp_path):
    given_ = replace(options(), texts=tmp_path / "report-texts", policy=SHORT)
    row = replay_recording(Recording("shop/x.json", EVIL, "openai-chat", chat(6)), given_)
    document, console = dumped(tmp_path / row["texts"], tmp_path, "")
    assert not console
    assert document.count("<article") > 2
    assert "<mark>" in document
    assert "Used and not shown: ORD-" in document
