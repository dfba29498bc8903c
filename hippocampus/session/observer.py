"""The reports of a session on views, tool calls and bills, and the Protocol of their observers.

Nothing is sent or stored here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from hippocampus.formats.usage import Usage

MANAGED = "managed"


@dataclass(frozen=True, slots=True)
class ReportSource:
    """The session that reports, and the model that it is for."""

    session: str
    agent: str = ""
    model: str = ""
    """The model of the prices, or the name of the price table."""
    format: str = ""
    """The name of the message format; empty before the first call."""


@dataclass(frozen=True, slots=True)
class ViewReport:
    """One call of a session."""

    origin: ReportSource
    seconds: float
    outcome: str
    """`managed`, or why the list was sent as it is."""
    raw_tokens: int
    """The tokens of the list; like the figures below, 0 where the raw list was sent, uncounted."""
    sent_tokens: int
    """The tokens of its view."""
    raw_dollars: float
    """The predicted cost of the whole list, at the prices of the model."""
    sent_dollars: float
    edits: int
    """The changes of the view that were decided at this call."""


@dataclass(frozen=True, slots=True)
class ToolReport:
    """One call of a tool of ours, such as `recall`."""

    origin: ReportSource
    tool: str
    seconds: float
    outcome: str
    """`full`, `partial` or `failed` for a recall of an entry, `done` or `failed` for another call."""


@dataclass(frozen=True, slots=True)
class BillReport:
    """The provider's bill for one call."""

    origin: ReportSource
    seconds: float
    """The time from the view to the bill."""
    usage: Usage
    dollars: float
    """The cost of the input."""


class Observer(Protocol):
    """Takes the reports of sessions; it is called inside their calls, and has to be fast."""

    def view(self, report: ViewReport) -> None:
        """Take the report of a call."""

    def tool(self, report: ToolReport) -> None:
        """Take the report of a call of a tool."""

    def bill(self, report: BillReport) -> None:
        """Take the report of a bill."""
