"""The arguments of a session: what the sessions of one memory share, its owner, and the ports to rooms above.

`consolidation.scheduler` is the consolidator; hosts bring observers, and a function for summaries.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as Late
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol, Self

from hippocampus.entries.entry import Record
from hippocampus.formats.conversation import Message
from hippocampus.formats.usage import Usage
from hippocampus.policy import Policy
from hippocampus.prices import Prices
from hippocampus.prices.prompt_cache import OWN_MARKS
from hippocampus.recall.sources import Sources
from hippocampus.storage.content_store import ContentStore
from hippocampus.storage.ledger import Ledger
from hippocampus.storage.state import StateStore

if TYPE_CHECKING:
    from hippocampus.facts.store import Facts

LOG = logging.getLogger("hippocampus")
Speaker = Literal["user", "assistant", "tool", "host"]
"""Who a statement comes from; statements of tools have less trust than those of the user."""


@dataclass(frozen=True, slots=True)
class SessionSnapshot:
    """A session at one moment, as a consolidation reads it."""

    name: str
    agent: str
    turn: int
    messages: Sequence[Message]
    """The list as the host holds it; empty where only the disk has it."""
    records: Sequence[Record]


@dataclass(frozen=True, slots=True)
class ContextLoadRequest:
    """The start of a session, for which memories of earlier sessions are chosen."""

    session: str
    agent: str
    message: str
    """The user's first message."""
    context_time: float
    """When the session started, in seconds since 1970."""
    mark: str = ""
    """The letters that open the ids of its entries."""


@dataclass(frozen=True, slots=True)
class KeptItem:
    """One statement that outlives its session."""

    text: str
    """One sentence or line, as it is stored."""
    kind: str
    """The fact's type: `fact`, `preference`, `event`, `note`, `decision`, `correction`, `error`."""
    origin: Speaker
    session: str
    turn: int
    entry_id: str | None
    """The entry with the full content, which can be recalled; None without one."""
    fact_id: str = ""
    """The id in the fact store, once it is stored."""
    outcome: str = ""
    """What the store did: added, strengthened, superseded, kept apart."""


@dataclass(frozen=True, slots=True)
class ConsolidationOutcome:
    """The result of one consolidation of a session."""

    session: str
    turn: int
    kept: tuple[KeptItem, ...]
    finished: bool
    """Whether everything was written; if not, the next consolidation finishes it."""
    model_tokens: int = 0
    """The estimated tokens of the model's call, prompt and answer; 0 without one."""


class Consolidator(Protocol):
    """The consolidation of one memory's sessions, as a session uses it."""

    @property
    def closed(self) -> bool:
        """Whether the memory is closed; a session that ends later is consolidated at the next start."""

    def context_load(self, request: ContextLoadRequest, ledger: Ledger) -> str:
        """Return the text before the first message, decided once and stored in the ledger.

        Raises:
            StoreError: the ledger cannot be read or written.
        """

    def end(self, session: SessionSnapshot, *, is_whole: bool) -> None:
        """Consolidate a session that ends in a thread, and wait for it for a bounded time."""

    def start(self, session: SessionSnapshot, *, last: bool) -> None:
        """Consolidate a session in a thread; `last` if no later run has these messages."""

    def consolidate(self, session: SessionSnapshot, *, is_whole: bool) -> ConsolidationOutcome:
        """Consolidate a session; unless `is_whole`, what the disk has of it is read first.

        Raises:
            StoreError: the ledger or the archive cannot be read or written.
        """


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
    """The predicted cost without the memory, at the prices of the model; 0 where only recalls are new."""
    sent_dollars: float
    is_edit: bool
    """Whether the view changed what the last request held."""


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


WORKERS = 4
MAX_CHARACTERS = 400
MAX_LINES = 1_000
"""The newest lines that a memory keeps; an entry without one has its own."""


class Summaries:
    """Asks the host's function, such as a model, for a line when a payload arrives, and takes it for its entry.

    It runs in threads, and may fail, be late or return nonsense; then the entry keeps its own line.
    """

    def __init__(self, summarise: Callable[[str], str], patience_seconds: float) -> None:
        self._summarise = summarise
        self._patience_seconds = patience_seconds
        self._pool = ThreadPoolExecutor(WORKERS, thread_name_prefix="hippocampus-summary")
        self._asked: dict[str, Future[str]] = {}
        self._asking = threading.Lock()
        self._deadline = 0.0
        """Until when a line is awaited, in seconds of the monotonic clock."""

    def ask(self, name: str, text: str) -> None:
        """Start on the line for a payload; a second request for it changes nothing."""
        with self._asking:
            if name not in self._asked:
                self._asked[name] = self._pool.submit(self._summarise, text)
                for oldest in [*self._asked][:-MAX_LINES]:
                    del self._asked[oldest]

    def of_turn(self) -> Self:
        """Return the summaries for one turn, which waits for all lines no longer than for one."""
        own = copy(self)
        own._deadline = time.monotonic() + self._patience_seconds  # noqa: SLF001 - of this class
        return own

    def take(self, name: str) -> str | None:
        """Return the line if it is there before the turn's patience ends, else nothing."""
        asked = self._asked.get(name)
        if asked is None:
            return None
        try:
            failure = asked.exception(max(0.0, self._deadline - time.monotonic()))
        except Late:
            return None
        if failure:  # law 3: not even `SystemExit` in a thread of the user's code breaks the loop
            LOG.warning("no summary for %s: the entry keeps its own", name, exc_info=failure)
            return None
        line = " ".join(str(asked.result()).split())[:MAX_CHARACTERS]
        return line or None

    def close(self) -> None:
        """Stop asking; lines under way are not awaited."""
        self._pool.shutdown(wait=False, cancel_futures=True)


DEADLINE_SECONDS = 0.25
END_SECONDS = 2.0
"""How long the end of a session waits for locked files, and as long again for its consolidation."""


@dataclass(frozen=True, slots=True)
class Resources:
    """The stores, the policy and the prices that the sessions of one memory share."""

    state: StateStore
    store: ContentStore
    policy: Policy
    prices: Prices
    summaries: Summaries | None
    consolidator: Consolidator
    facts: Callable[[], Facts]
    """Opens the long-term memory, for its tools."""
    sources: Sources
    """The sources that a recall may ask; no turn does."""
    marks: int = OWN_MARKS
    """The cache marks that a session may add to a view."""
    tail_mark: bool = False
    """Whether requests get a mark at their end after the view was made."""
    deadline_seconds: float = DEADLINE_SECONDS
    """How long a call waits for a store that others hold, before its list is sent as it is."""
    observers: Sequence[Observer] = ()
    disk_problems: dict[str, float] = field(default_factory=dict)
    """When problems of the directory were logged, in monotonic seconds."""


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """The owner of a session, and when it started."""

    agent: str
    context_time: float
    """In seconds since 1970."""
