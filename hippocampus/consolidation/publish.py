"""What people read and change: lines in the memory file, and the daily log.

Joins `memory_file` and `daily_log` under a policy; what is kept was decided and stored before.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from hippocampus.consolidation import daily_log
from hippocampus.consolidation.memory_file import MemoryFile, Render, Synced
from hippocampus.consolidation.outcome import Outcome
from hippocampus.errors import HippocampusError
from hippocampus.facts.store import Facts
from hippocampus.facts.supersession import by_ids
from hippocampus.policy import Policy
from hippocampus.storage.state_dir import DEFAULT_AGENT, StateDir

LOG = logging.getLogger("hippocampus")


def leave(  # noqa: PLR0913 - each is one thing to say
    state: StateDir,
    outcome: Outcome,
    facts: Facts,
    policy: Policy,
    *,
    at: float,
    did: Sequence[str] = (),
    form: str | Render = "markdown",
) -> bool:
    """Write what a consolidation kept into the files that its policy keeps, and say whether that worked.

    Again changes nothing.

    `at` is in seconds since 1970; `did` says what the session did, as `daily_log.did` does; `form` is
    that of the memory file. A file that cannot be written is logged: the facts are kept, and who
    does this again brings the files into step.
    """
    block = policy.consolidation
    try:
        if block.memory_file:
            _lines(state, outcome, facts, form)
        if block.daily_logs:
            daily_log.append(state, outcome, at, did)
    except HippocampusError as failure:  # no session's end fails for what people read
        told = "session %s: memory file or daily log not written: %s"
        LOG.warning(told, outcome.session, failure)
        return False
    return True


def edits_read(state: StateDir, facts: Callable[[], Facts], agent: str, policy: Policy) -> Synced:
    """Take in what a person did to an agent's memory file since it was written; again changes nothing.

    A file that cannot be read is logged: nobody's session waits for what a person edits.
    """
    wanted = policy.consolidation.memory_file
    file = MemoryFile.as_kept(state, agent or DEFAULT_AGENT, wanted=wanted)
    try:
        return file.sync(facts()) if file.edits() else Synced()
    except HippocampusError as failure:
        LOG.warning("memory file %s: edits not read: %s", file.path, failure)
        return Synced()


def _lines(state: StateDir, outcome: Outcome, facts: Facts, form: str | Render) -> None:
    """Bring the file of each agent up to date whose facts were kept, and the store's own agent's."""
    kept = by_ids(facts, (each.fact_id for each in outcome.kept if each.fact_id))
    for agent in {facts.agent} | {each.agent for each in kept.values()}:
        MemoryFile(state, form, agent).sync(facts, kept)
