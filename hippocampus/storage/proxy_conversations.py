"""The conversations that proxies recognise, and the recalls in them that hosts have not seen.

Which request belongs to which conversation is decided in the proxy.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence

from hippocampus.storage.database import Database
from hippocampus.storage.deadline import bounded

KEPT_SECONDS = 30 * 86_400.0
"""How long a conversation that sends nothing is recognised."""
FOUND = """
    SELECT session, sent FROM (
        SELECT session, sent, CASE tip WHEN :last THEN 0 ELSE 1 END AS rank
        FROM proxy_conversation WHERE tip IN (:last, :before)
        UNION ALL
        SELECT session, sent, 2 FROM proxy_chain JOIN proxy_conversation USING (session)
        WHERE chain = :last AND :has_start
    ) AS known ORDER BY rank LIMIT 1
"""
TIP = """
    INSERT INTO proxy_conversation (session, tip, sent) VALUES (?, ?, ?)
    ON CONFLICT (session) DO UPDATE SET tip = excluded.tip, sent = excluded.sent
"""
CHAIN = """
    INSERT INTO proxy_chain AS known (chain, session, rounds) VALUES (?, ?, ?)
    ON CONFLICT (chain) DO UPDATE SET session = excluded.session,
        rounds = coalesce(excluded.rounds, known.rounds)
"""


class Conversations:
    """The conversations through proxies, and the messages in them that their hosts have not seen."""

    def __init__(self, db: Database, secret: bytes, seconds: float | None = None) -> None:
        """Share a database, in which a call waits `seconds` at most.

        `secret` is the key by which names of callers are hashed.
        """
        self._db = db
        self._seconds = seconds
        self.secret = secret

    def place(self, last: str, before: str, now: float, *, has_start: bool) -> tuple[str, float]:
        """Return a request's session, with when that sent the last one (0 is never), and note it.

        `last` is the chain of its list, `before` that without the newest answer. A list of an earlier
        request of a conversation is known where it `has_start`.
        """
        db = self._db
        given = {"last": last, "before": before, "has_start": has_start}
        with bounded(self._seconds), db.transaction():
            db.lock(before + last)  # of two requests that begin alike, the second sees the first
            db.run("DELETE FROM proxy_conversation WHERE sent < ?", (now - KEPT_SECONDS,))
            found = db.rows(FOUND, given)
            session, sent = found[0] if found else (f"proxy-{secrets.token_hex(8)}", 0.0)
            db.run(TIP, (session, last, now))
            db.run(CHAIN, (last, session, None))
        return session, sent

    def keep(self, chain: str, session: str, rounds: str) -> None:
        """Keep the rounds of an answer, as JSON; `chain` ends with that answer."""
        with bounded(self._seconds), self._db.transaction():
            self._db.run(CHAIN, (chain, session, rounds))

    def kept(self, chains: Sequence[str]) -> dict[str, str]:
        """Return the rounds of answers by their chains, as JSON."""
        query = (
            "SELECT chain, rounds FROM proxy_chain"
            " WHERE rounds IS NOT NULL AND chain IN (SELECT value FROM json_each(?))"
        )
        with bounded(self._seconds):
            return dict(self._db.rows(query, (json.dumps(chains),)))

    def close(self) -> None:
        """Close the database."""
        self._db.close()
