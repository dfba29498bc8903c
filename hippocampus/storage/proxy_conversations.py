"""The conversations that proxies recognise, and the recalls in them that hosts have not seen.

Which request belongs to which conversation is decided in the proxy.
"""

from __future__ import annotations

import json
import math
import secrets
from collections.abc import Sequence

from hippocampus.storage.database import Database
from hippocampus.storage.deadline import bounded

KEPT_SECONDS = 30 * 86_400.0
"""How long a conversation that sends nothing is recognised."""
FOUND = """
    SELECT tip, 1, session, sent FROM proxy_conversation
    WHERE tip IN (SELECT value FROM json_each(:chains))
    UNION ALL
    SELECT chain, 0, session, sent FROM proxy_chain JOIN proxy_conversation USING (session)
    WHERE chain = :last AND :has_answer
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

    def __init__(self, db: Database, secret: bytes, seconds: float = math.inf) -> None:
        """Share a database, in which a call waits `seconds` at most.

        `secret` is the key by which names of callers are hashed.
        """
        self._db = db
        self._seconds = seconds
        self.secret = secret

    def place(self, chains: Sequence[str], now: float) -> tuple[str, float]:
        """Return a request's session, with when that sent the last one (0 is never), and note it.

        `chains` are those of its list, from that before the first answer to that of the whole. The
        session is that whose newest list is the longest part of it (requests between may have passed
        as they are), or one that had the same list before. Of a list without an answer there is none
        such: any conversation may begin with it.
        """
        db, last = self._db, chains[-1]
        lengths = {chain: number for number, chain in enumerate(chains)}
        given = {"chains": json.dumps(chains), "last": last, "has_answer": len(chains) > 1}
        with bounded(self._seconds), db.transaction():
            db.lock(chains[0])  # of two requests that begin alike, the second sees the first
            db.run("DELETE FROM proxy_conversation WHERE sent < ?", (now - KEPT_SECONDS,))
            found = [
                (lengths[chain], is_newest, session, sent)
                for chain, is_newest, session, sent in db.rows(FOUND, given)
            ]
            new = 0, 0, f"proxy-{secrets.token_hex(8)}", 0.0
            *_, session, sent = max(found, default=new)
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
