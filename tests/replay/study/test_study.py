"""A study end to end: prepared, read, judged and reported, whatever endpoints and readers answer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from models.endpoint import Answer, Asked, Server
from replay.study.scripted_endpoint import (
    KEY,
    OFFERED,
    PROMPT,
    called,
    is_judgement,
    model,
    said,
    verdict,
    verdicts,
    write_sessions,
)
from typer.testing import CliRunner

from hippocampus.cli.commands import app
from hippocampus.errors import HippocampusError
from hippocampus.models import http
from hippocampus.replay.study import wires
from hippocampus.replay.study.figures import StudyReport
from hippocampus.replay.study.folder import Moment, StudyCase, StudyFolder

WIRES = ("openai", "anthropic")
FIRST_WIRE = [WIRES[0], pytest.param(WIRES[1], marks=pytest.mark.slow)]
Run = Callable[..., tuple[str, StudyFolder]]


@pytest.fixture(autouse=True)
def _fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "FIRST_WAIT_SECONDS", 0.01)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)


@pytest.fixture
def sessions(tmp_path: Path) -> Path:
    return write_sessions(tmp_path / "sessions")


@pytest.fixture
def run(tmp_path: Path, sessions: Path) -> Run:
    """Run a study on the sessions, and return what it printed and its folder."""
    (tmp_path / "short.yaml").write_text(PROMPT)
    out = tmp_path / "out"

    def run(*more: object, cases: int = 2, input_text: str = "") -> tuple[str, StudyFolder]:
        policy = tmp_path / "short.yaml"
        options = ["--cases", cases, "--window", 9_000, "--policy", policy, "--out", out]
        arguments = ["study", sessions, *options, *more]
        done = CliRunner().invoke(app, [*map(str, arguments)], input=input_text)
        if done.exception and not isinstance(done.exception, SystemExit):
            raise done.exception
        return done.output, StudyFolder(out)

    return run


def at(server: Server, wire: str) -> tuple[str, str, str]:
    return "--reader", f"{wire}:some-model@{server.address}", "--yes"


@pytest.mark.parametrize("wire", WIRES)
def test_a_model_reads_recalls_and_judges(wire: str, run: Run) -> None:
    with model() as server:
        printed, folder = run(*at(server, wire))
    assert "2 of 2 moments judged" in printed
    assert "differ in 0 of 6 steps" in printed
    for asked in server.asked:
        tools = [tool.get("function", tool)["name"] for tool in asked.body.get("tools", [])]
        own = ["recall"] if OFFERED in json.dumps(asked.body) else []
        assert tools == ([] if is_judgement(asked) else ["list_parts", *own])
    by_condition = {each.condition: name for name, each in folder.by_id().items()}
    recalls = {each: folder.records("recall", name) for each, name in by_condition.items()}
    assert [len(recalls[each]) for each in ("raw", "offload", "short")] == [0, 1, 1]
    for each, page in (("offload", 7), ("short", 5)):
        assert "part1050" in recalls[each][0]["recall"]["answer"]
        calls = [["list_parts", json.dumps({"page": page})]]
        assert folder.last("result", by_condition[each]) == {"text": "", "calls": calls}
    report = (folder.path / "report.html").read_text("utf-8")
    assert "Recalls (1)" in report
    assert "<td>4.00" in report


def openhands(folder: Path, own: str) -> None:
    """Write a conversation of OpenHands, whose path is its folder, that lists many parts."""
    (folder / "events").mkdir(parents=True)
    (folder / "base_state.json").write_text(json.dumps({"id": own}))
    parts = "\n".join(f"{own}-{row} /srv/app/part{own}{row * 7}.py ok" for row in range(300))
    for number in range(6):
        call = {"id": f"t{number}", "name": "list_parts", "arguments": "{}"}
        observed = {"content": [{"type": "text", "text": parts if number == 5 else "none"}]}
        for place, event in enumerate(
            (
                {"kind": "ActionEvent", "tool_call": call, "llm_response_id": f"r{number}"},
                {"kind": "ObservationEvent", "tool_call_id": call["id"], "observation": observed},
            )
        ):
            made = {"id": f"{number}-{place}", "timestamp": "2026-11-24T00:00:00", **event}
            path = folder / "events" / f"event-{2 * number + place:05}-n.json"
            path.write_text(json.dumps(made))
    for at, role, more in ((0, "user", {}), (99, "assistant", {"llm_response_id": "r9"})):
        message = {"role": role, "content": [{"type": "text", "text": f"Part {own}."}]}
        said = {"id": f"m{at}", "timestamp": "2026-11-24T00:00:00", "kind": "MessageEvent", **more}
        path = folder / "events" / f"event-{at:05}-m.json"
        path.write_text(json.dumps({**said, "llm_message": message}))


def test_conversations_whose_path_is_their_folder_are_studied(tmp_path: Path) -> None:
    for own in "12":
        openhands(tmp_path / "sessions" / own, own)
    arguments = ["study", tmp_path / "sessions", "--out", tmp_path / "out", "--cases", 2]
    done = CliRunner().invoke(app, [*map(str, arguments)])
    assert "0 of 2 moments judged" in done.output


def test_conditions_that_show_the_same_text_share_a_step_and_its_verdicts(
    run: Run, tmp_path: Path
) -> None:
    (tmp_path / "keep.yaml").write_text(
        "extends: default\nindex_over_tokens: 1000000\nbulk_over_tokens: 1000000\n"
    )

    def two_steps(asked: Asked, answer: Answer) -> Answer:
        text = json.dumps(asked.body, ensure_ascii=False)
        assert not is_judgement(asked) or ("STEP B" in text and "STEP C" not in text)
        return answer

    with model(two_steps) as server:
        options = ("--policy", tmp_path / "keep.yaml", "--against", "raw")
        printed, folder = run(*options, *at(server, "openai"))
        assert len(server.asked) == 2 * (1 + 2 + 2)  # a raw step, one with a recall, two passes
    assert "2 of 2 moments judged" in printed
    for cases in (folder.cases(moment.id) for moment in folder.moments):
        assert [list(each.costs) for each in cases] == [["raw", "keep"], ["short"]]
        assert "recall" not in {each["name"] for each in cases[0].tools}
    figures = StudyReport(folder).figures
    assert list(figures) == ["raw", "short", "keep"]
    assert figures["keep"]["behind"] == (0, 0, 0)


@pytest.mark.parametrize("wire", FIRST_WIRE)
def test_nothing_is_asked_twice_and_no_key_is_kept(wire: str, run: Run) -> None:
    def echo(asked: Asked, answer: Answer) -> Answer:
        key = asked.headers.get("Authorization", asked.headers.get("X-api-key"))
        return Answer({**answer.value, "echo": key})

    with model(echo) as server:
        run(*at(server, wire))
        asked = len(server.asked)
        _, folder = run(*at(server, wire))
        assert len(server.asked) == asked
    bodies = Counter(json.dumps(each.body) for each in server.asked)
    kept = [each["exchange"]["request"] for each in folder.records("exchange", None)]
    assert Counter(map(json.dumps, kept)) == bodies
    assert all(KEY in json.dumps(each.headers) for each in server.asked)
    files = [path for path in folder.path.rglob("*") if path.is_file()]
    assert [path for path in files if KEY.encode() in path.read_bytes()] == []


def test_the_price_is_confirmed_before_anything_is_asked(run: Run) -> None:
    with model() as server:
        printed, _ = run("--reader", f"openai:gpt-4o@{server.address}", input_text="n\n")
        assert server.asked == []
    assert "6 requests, at most about" in printed
    assert "4 requests, at most about" in printed
    assert "$" in printed


@pytest.mark.slow
@pytest.mark.parametrize("wire", WIRES)
def test_a_run_that_was_killed_goes_on_where_it_stopped(
    wire: str, run: Run, sessions: Path, tmp_path: Path
) -> None:
    held, release = threading.Event(), threading.Event()
    count = 0

    def hold_the_fourth(_: Asked, answer: Answer) -> Answer:
        nonlocal count
        count += 1
        if count == 4:
            held.set()
            return Answer(answer.value, wait=release)
        return answer

    with model(hold_the_fourth) as server:
        options = ["--cases", 2, "--window", 9_000, "--policy", tmp_path / "short.yaml"]
        arguments = ["study", sessions, *options, "--out", tmp_path / "out", *at(server, wire)]
        killed = subprocess.Popen(
            [sys.executable, "-m", "hippocampus", *map(str, arguments)], env=os.environ
        )
        assert held.wait(60)
        killed.kill()
        killed.wait()
        release.set()
        printed, _ = run(*at(server, wire))
    assert "2 of 2 moments judged" in printed
    bodies = [json.dumps(each.body) for each in server.asked if not is_judgement(each)]
    twice = [body for body, times in Counter(bodies).items() if times > 1]
    assert twice == [bodies[3]]
    assert len(server.asked) - len(bodies) == 4


def test_a_study_that_ended_before_it_had_moments_keeps_its_settings(run: Run) -> None:
    run()
    _, folder = run()
    record = folder.path / "study.jsonl"
    settings = next(line for line in record.read_bytes().splitlines() if b'"settings"' in line)
    record.write_bytes(settings + b"\n")
    with pytest.raises(HippocampusError, match="other settings"):
        run("--seed", 8)
    assert "0 of 2 moments judged" in run()[0]


def test_a_line_that_was_cut_off_is_asked_again_alone(run: Run) -> None:
    with model() as server:
        _, folder = run(*at(server, "openai"))
        asked, record = len(server.asked), folder.path / "study.jsonl"
        before_last_result = record.read_bytes().rpartition(b"\n\n")[0]
        record.write_bytes(before_last_result[:-100])
        printed, _ = run(*at(server, "openai"))
        assert len(server.asked) == asked + 1
    assert "2 of 2 moments judged" in printed


@pytest.mark.parametrize("wire", FIRST_WIRE)
def test_a_late_answer_is_asked_again_within_bounds(
    wire: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wires, "TIMEOUT_SECONDS", 0.5)
    never, late = threading.Event(), []

    def first_is_late(asked: Asked, answer: Answer) -> Answer:
        if not late:
            late.append(asked)
            return Answer(answer.value, wait=never)
        return answer

    with model(first_is_late) as server:
        printed, _ = run(*at(server, wire))
        never.set()
    assert "2 of 2 moments judged" in printed


@pytest.mark.parametrize("wire", FIRST_WIRE)
@pytest.mark.parametrize(
    "wrong",
    [Answer({"error": {"message": "bad key"}}, 401), Answer(b"<html>"), Answer({"fine": True})],
    ids=["refused", "no JSON", "no message"],
)
def test_requests_without_an_answer_end_the_run_and_are_asked_the_next_time(
    wire: str, wrong: Answer, run: Run
) -> None:
    works = False

    def broken(_: Asked, answer: Answer) -> Answer:
        return answer if works else wrong

    with model(broken) as server:
        printed, _ = run(*at(server, wire))
        assert "stopped after 3 failures in a row" in printed
        run(*at(server, wire))
        assert len(server.asked) == 6
        works = True
        printed, _ = run(*at(server, wire))
    assert "2 of 2 moments judged" in printed


@pytest.mark.parametrize("wire", WIRES)
def test_a_model_that_refuses_is_counted_as_missing_and_not_asked_again(
    wire: str, run: Run
) -> None:
    first: list[str] = []

    def refuse_one(asked: Asked, answer: Answer) -> Answer:
        if not first:
            first.append(json.dumps(asked.body))
            more = {"refusal": "no"} if wire == "openai" else {"stop_reason": "refusal"}
            return Answer(said(asked, "", **more))
        return answer

    with model(refuse_one) as server:
        run(*at(server, wire))
        asked = len(server.asked)
        printed, folder = run(*at(server, wire))
        assert len(server.asked) == asked
    assert "1 of 2 moments judged" in printed
    assert [each["refused"] for each in folder.records("refused", None)] == [
        "no" if wire == "openai" else "stop reason refusal"
    ]


@pytest.mark.parametrize("wire", FIRST_WIRE)
def test_a_verdict_that_cannot_be_read_is_asked_again_once(wire: str, run: Run) -> None:
    judged = 0

    def unclear(asked: Asked, answer: Answer) -> Answer:
        nonlocal judged
        judged += is_judgement(asked)
        if is_judgement(asked) and judged in (1, 3, 4):
            wrong = verdicts("ABC", quality=9)
            return Answer(said(asked, "I would rather not." if judged == 1 else wrong))
        return answer

    with model(unclear) as server:
        printed, folder = run(*at(server, wire))
    assert "1 of 2 moments judged" in printed
    [refused] = [each["refused"] for each in folder.records("refused", None)]
    assert refused.startswith("two answers that cannot be read: A lacks a quality from 0 to 4")


@pytest.mark.parametrize("wire", FIRST_WIRE)
@pytest.mark.parametrize("arguments", ["{", {"entry_id": "aaaaaaaa"}, {"lines": "x"}])
def test_a_recall_that_cannot_be_served_is_answered_with_the_reason(
    wire: str, arguments: Any, run: Run
) -> None:
    def recall_wrongly(asked: Asked, answer: Answer) -> Answer:
        offered = "Read stored content" in json.dumps(asked.body.get("tools", []))
        if offered and "recall failed" not in json.dumps(asked.body["messages"]):
            return Answer(called(asked, "recall", arguments))
        return answer

    with model(recall_wrongly) as server:
        printed, _ = run(*at(server, wire))
    assert "2 of 2 moments judged" in printed


def test_disagreements_and_false_facts_of_the_passes_are_reported(run: Run) -> None:
    def second_is_strict(asked: Asked, answer: Answer) -> Answer:
        if is_judgement(asked) and "-2" in asked.path:
            return answer
        if is_judgement(asked):
            strict = verdict(quality=2, false_facts=["<b>no such file</b>"])
            graded = {"verdicts": {"A": strict, "B": verdict(), "C": verdict()}}
            return Answer(said(asked, json.dumps(graded)))
        return answer

    with model(second_is_strict) as server:
        printed, folder = run(*at(server, "openai"))
    # A is another condition in the second pass, so that each of the two is graded twice.
    assert "differ in 4 of 6 steps" in printed
    page = (folder.path / "report.html").read_text("utf-8")
    assert "&lt;b&gt;no such file&lt;/b&gt;" in page
    assert "<b>no such file" not in page


# Files


def cases_of(folder: StudyFolder, home: Path) -> list[StudyCase]:
    return [folder.by_id()[path.stem] for path in sorted(home.glob("*.md"))]


def test_readers_and_judges_of_files(run: Run) -> None:
    printed, folder = run()
    homes = sorted((folder.path / "readers").iterdir())
    assert len(homes) == 3
    for home in homes:
        cases = cases_of(folder, home)
        assert len({case.condition for case in cases}) == 1
        lines = [
            json.dumps({"case": case.id, "text": "On.", "calls": [{"tool": "list_parts"}]})
            for case in cases
        ]
        (home / "answers.jsonl").write_text("\n".join(lines))
    printed, _ = run()
    judges = sorted((folder.path / "judges").iterdir())
    assert len(judges) == 2
    for home in judges:
        lines = [
            json.dumps({"case": path.stem, "verdicts": {label: verdict() for label in "ABC"}})
            for path in home.glob("*.md")
        ]
        (home / "answers.jsonl").write_text("\n".join(lines))
    printed, _ = run()
    assert "2 of 2 moments judged" in printed


def test_a_reader_of_files_gets_no_case_that_another_condition_shows(
    run: Run, tmp_path: Path
) -> None:
    (tmp_path / "keep.yaml").write_text(
        "extends: default\nindex_over_tokens: 1000000\nbulk_over_tokens: 1000000\n"
    )
    _, folder = run("--policy", tmp_path / "keep.yaml", "--against", "raw")
    assert len(list((folder.path / "readers").iterdir())) == 2
    assert len(list(folder.path.rglob("*.md"))) == 4


def test_a_case_shows_neither_its_condition_nor_the_future(run: Run) -> None:
    _, folder = run()
    for name, case in folder.by_id().items():
        path = next(folder.path.rglob(f"{name}.md"))
        text = path.read_text("utf-8")
        assert case.recorded not in text
        assert case.condition not in text.replace("[offloaded: ", "").replace(str(path), "")


def test_a_reader_of_files_recalls_at_the_moment_of_the_case(run: Run) -> None:
    _, folder = run()
    case = next(each for each in folder.by_id().values() if each.condition == "offload")
    path = next(folder.path.rglob(f"{case.id}.md"))
    arguments = json.dumps({"entry_id": "c3-1", "pattern": "part1050"})
    done = CliRunner().invoke(app, ["study-recall", str(path), arguments])
    assert "module_150/part1050.py ok" in done.output
    anywhere = CliRunner().invoke(app, ["study-recall", str(path), '{"pattern": "part1050"}'])
    assert "module_150/part1050.py ok" in anywhere.output
    assert len(StudyFolder(folder.path).records("recall", path.stem)) == 2
    whole = next(folder.path.rglob(f"{folder.cases(case.moment)[0].id}.md"))
    with pytest.raises(HippocampusError, match="all of it is in the file"):
        CliRunner().invoke(app, ["study-recall", str(whole), arguments], catch_exceptions=False)


def test_lines_that_are_no_answers_are_named_and_the_first_answer_counts(run: Run) -> None:
    _, folder = run()
    home = folder.path / "readers" / "1"
    case = cases_of(folder, home)[0].id
    lines = ["{", '{"case": "other"}', json.dumps({"case": case}), "", json.dumps([case])]
    lines += [json.dumps({"case": case, "text": text}) for text in ("first", "second")]
    (home / "answers.jsonl").write_text("\n".join(lines))
    printed, folder = run()
    for number in (1, 2, 3, 5):
        assert f"answers.jsonl:{number}: " in printed
    assert folder.last("result", case) == {"text": "first", "calls": []}


# Moments


def test_half_of_the_moments_are_of_each_kind_and_none_shares_a_session(run: Run) -> None:
    _, folder = run(cases=4)
    moments: list[Moment] = folder.moments
    assert Counter(each.kind for each in moments) == {
        "after a large result": 2,
        "uses something older": 2,
    }
    assert len({each.path for each in moments}) == 4


def test_runs_of_one_task_are_one_session(run: Run, sessions: Path) -> None:
    for number in range(3):
        copy = sessions / "owner0" / "0.json"
        (sessions / "owner1" / f"again{number}.json").write_text(copy.read_text())
    printed, folder = run(cases=6)
    assert len(folder.moments) == 4
    assert "4 of 6 moments" in printed


def test_another_study_needs_another_folder(run: Run) -> None:
    run()
    with pytest.raises(HippocampusError, match="name another folder"):
        run("--seed", 8)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--reader", "gpt-4o"), "no model 'gpt-4o'"),
        (("--reader", "openai:m@http://user:word@host/v1"), "leave the password out"),
        (("--against", "raw,all"), "no condition 'all'"),
        (("--policy", "short"), "short"),
        (("--from-tokens", "70000"), "70000 is more than --window"),
        (("--window", "200"), "no session has a fitting moment of 0 to 200 tokens"),
    ],
)
def test_a_mistake_is_one_sentence(options: tuple[str, str], problem: str, run: Run) -> None:
    with pytest.raises(HippocampusError, match=problem):
        run(*options)


@pytest.mark.parametrize("wire", WIRES)
def test_a_provider_is_not_asked_without_a_key(
    wire: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(f"{wire.upper()}_API_KEY")
    with pytest.raises(HippocampusError, match=f"no key is set in {wire.upper()}_API_KEY"):
        run("--reader", f"{wire}:some-model")
