"""The files that people read and edit: the memory file and the daily log.

Writes `memory_file` and `daily_log` as the policy declares; facts were decided and stored before.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from hippocampus.consolidation import daily_log
from hippocampus.consolidation.memory_file import MemoryFile, Synced
from hippocampus.errors import HippocampusError
from hippocampus.facts.store import Facts
from hippocampus.policy import Policy
from hippocampus.session.ports import ConsolidationOutcome
from hippocampus.storage.state_dir import DEFAULT_AGENT, StateDir

LOG = logging.getLogger("hippocampus")


def publish(  # noqa: PLR0913 - one parameter an input
    state: StateDir,
    outcome: ConsolidationOutcome,
    facts: Facts,
    policy: Policy,
    *,
    at: float,
    activity: Sequence[str] = (),
) -> bool:
    """Write what a consolidation kept into the policy's files, and return whether that worked.

    Repeating it changes nothing. `at` is in seconds since 1970; `activity` is that of
    `daily_log.activity`. A failure is logged: the facts are stored, and repeating this updates the
    files.
    """
    try:
        if policy.consolidation.memory_file:
            # The files of the store's own agent, and of each agent whose facts were kept.
            kept = facts.by_ids(each.fact_id for each in outcome.kept if each.fact_id)
            for agent in {facts.agent} | {each.agent for each in kept.values()}:
                MemoryFile(state, agent).sync(facts, kept)
        if policy.consolidation.daily_logs:
            daily_log.append(state, outcome, at, activity)
    except HippocampusError as failure:  # a session's end does not fail for these files
        problem = "session %s: memory file or daily log not written: %s"
        LOG.warning(problem, outcome.session, failure)
        return False
    return True


def read_edits(
    state: StateDir,
    facts: Callable[[], Facts],
    agent: str,
    policy: Policy,
    *,
    adopt: bool = False,
) -> Synced:
    """Apply a person's edits of an agent's memory file to the facts; repeating it changes nothing.

    `adopt` takes lines that were there before this memory as the person's own. A file that cannot be read is logged: no session fails for it.
    """
    file = MemoryFile(state, agent or DEFAULT_AGENT, is_kept=policy.consolidation.memory_file)
    try:
        return file.sync(facts(), adopt=adopt) if file.edits(adopt=adopt) else Synced()
    except HippocampusError as failure:
        LOG.warning("memory file %s: edits not read: %s", file.path, failure)
        return Synced()
