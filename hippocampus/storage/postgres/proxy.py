"""The conversations of one tenant's proxies on PostgreSQL: `storage.proxy.ConversationStore`."""

from __future__ import annotations

from collections.abc import Sequence

from hippocampus.storage.postgres.connections import Connections

FOUND = """
    SELECT session, sent FROM (
        SELECT session, sent, CASE tip WHEN %(last)s THEN 0 ELSE 1 END AS rank
        FROM proxy_conversation WHERE tip IN (%(last)s, %(before)s)
        UNION ALL
        SELECT session, sent, 2 FROM proxy_chain JOIN proxy_conversation USING (session)
        WHERE chain = %(last)s AND %(has_start)s
    ) AS known ORDER BY rank LIMIT 1
"""
SAME = "SELECT count(*) FROM proxy_conversation WHERE substr(session, 1, %s) = %s"
TIP = """
    INSERT INTO proxy_conversation (session, tip, sent) VALUES (%s, %s, %s)
    ON CONFLICT (tenant, session) DO UPDATE SET tip = excluded.tip, sent = excluded.sent
"""
CHAIN = """
    INSERT INTO proxy_chain (chain, session) VALUES (%s, %s)
    ON CONFLICT (tenant, chain) DO UPDATE SET session = excluded.session
"""
ROUNDS = """
    INSERT INTO proxy_rounds (chain, session, rounds) VALUES (%s, %s, %s)
    ON CONFLICT (tenant, chain) DO UPDATE SET session = excluded.session, rounds = excluded.rounds
"""


class PostgresConversations:
    """The conversations of one tenant."""

    def __init__(self, connections: Connections, tenant: str, seconds: float, kept: float) -> None:
        """Take the server; each call waits `seconds` at most, and `kept` is for how long one is known."""
        self._connections = connections
        self._tenant = tenant
        self._seconds = seconds
        self._kept = kept
        self.secret = tenant.encode()

    def place(self, last: str, before: str, now: float, *, has_start: bool) -> tuple[str, float]:
        """Return a request's session, with when that sent the last one (0 is never), and note it."""
        name = f"proxy-{last[:12]}"
        given = {"last": last, "before": before, "has_start": has_start}
        with self._connections.transaction(self._tenant, self._seconds) as db:
            # Of two requests that begin alike at once, the second sees the first.
            db.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (before + last,))
            db.execute("DELETE FROM proxy_conversation WHERE sent < %s", (now - self._kept,))
            found, same = db.execute(FOUND, given), db.execute(SAME, (len(name), name))
            row = found.fetchone()
            if row is None:
                (count,) = same.fetchone() or (0,)
                row = (f"{name}-{count + 1}" if count else name, 0.0)
            db.execute(TIP, (row[0], last, now))
            db.execute(CHAIN, (last, row[0]))
        return row[0], row[1]

    def keep(self, chain: str, session: str, rounds: str) -> None:
        """Keep the rounds of an answer, as JSON; `chain` ends with that answer."""
        query = (ROUNDS, (chain, session, rounds))
        self._connections.rows(self._tenant, self._seconds, query)

    def kept(self, chains: Sequence[str]) -> dict[str, str]:
        """Return the rounds of answers by their chains, as JSON."""
        query = "SELECT chain, rounds FROM proxy_rounds WHERE chain = ANY(%s)"
        [rows] = self._connections.rows(self._tenant, self._seconds, (query, (list(chains),)))
        return dict(rows)

    def close(self) -> None:
        """Close nothing: the state has the connections."""
