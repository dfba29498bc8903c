"""What a session reports of its calls: of each one its own figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conversations import EAGER, PROMPT, reading

from hippocampus import Hippocampus
from hippocampus.policy import Policy
from hippocampus.recall.sources import Unavailable
from hippocampus.session.resources import BillReport, ToolReport, ViewReport


class Reports:
    """An observer that keeps what it is given."""

    def __init__(self) -> None:
        self.views: list[ViewReport] = []
        self.tools: list[ToolReport] = []

    def view(self, report: ViewReport) -> None:
        self.views.append(report)

    def tool(self, report: ToolReport) -> None:
        self.tools.append(report)

    def bill(self, report: BillReport) -> None:
        """No test here has a bill."""


def test_a_list_that_is_sent_as_it_is_has_no_figures_of_another_list(tmp_path: Path) -> None:
    reports = Reports()
    memory = Hippocampus(tmp_path, observers=[reports])
    with memory.session("s") as session:
        session(reading(3))
        session([{"nothing": 5}])  # no list of any format
    managed, raw = reports.views
    assert managed.raw_tokens >= managed.sent_tokens > 0
    assert (raw.raw_tokens, raw.sent_tokens, raw.raw_dollars, raw.sent_dollars) == (0, 0, 0, 0)
    memory.close()


def test_a_recall_inside_another_reports_its_own_outcome(tmp_path: Path) -> None:
    rule = {"match": {"tool": "read"}, "action": {"source": "tickets"}}
    policy = Policy.model_validate({"index_over_tokens": 0, "lifecycle_policies": [rule]})
    reports = Reports()
    memory = Hippocampus(tmp_path, policy=policy, observers=[reports])
    session = memory.session("s")
    session(reading(1))
    [entry] = session.entries
    for record in session.report.records():  # only the summary is left
        memory._store.delete(record.content)
    state = session.state("two tickets are open")

    @memory.source("tickets")
    def _(*_: Any) -> str:
        session.recall(state)
        raise Unavailable("closed today")

    session.recall(entry.id)
    assert [each.outcome for each in reports.tools] == ["full", "partial"]
    memory.close()


@pytest.mark.one_process  # opened anew, a session has no format before its next list
def test_between_a_failed_call_and_the_next_a_session_is_at_its_last_turn(tmp_path: Path) -> None:
    reports = Reports()
    with Hippocampus(tmp_path, policy=EAGER, observers=[reports]) as memory:
        session = memory.session("s")
        session(reading(3))
        turn, shown = session.status()["turn"], session._run.state.shown_tokens
        [entry, *_] = session.entries
        session([{"no": "format"}])
        assert session.report.failures == 1
        session.recall(entry.id, head=1)
        session.state("deploying to staging")
        entries = {found.id: found for found in session.entries}
        assert entries[entry.id].decay.last_access == turn
        assert entries[session.entries[-1].id].lifecycle.created == turn > 0
        assert session._run.state.shown_tokens == shown > 0
    forms = [report.origin.format for report in (*reports.views, *reports.tools)]
    assert forms == [forms[0]] * 3
    assert forms[0]


def test_an_edit_is_a_view_that_changes_what_the_last_request_held(tmp_path: Path) -> None:
    reports, sent, edits = Reports(), list[Any](), 0
    items = [*reading(1), *reading(80, lines=1, start=1)]
    for number, result in enumerate(items[4::2]):
        result["content"] = f"room_{number} has a door and a window and no light at all, " * 14
    with Hippocampus(tmp_path, policy=PROMPT, observers=[reports]) as memory:
        session = memory.session("s")
        for end in range(1, len(items) + 1, 2):
            view = session(items[:end])
            edits += view[: len(sent)] != sent
            sent = view
        decisions = session.report.decisions()
    assert sum(report.is_edit for report in reports.views) == edits > 0
    assert edits < len(decisions)
