"""What the last request held: its messages by what they say, and what a request without us costs.

Pure over messages and weights; the ledger keeps the keys from one process to the next.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

from hippocampus.entries.entry import content_key
from hippocampus.formats.conversation import Message
from hippocampus.formats.reader import Reading
from hippocampus.prices import Prices
from hippocampus.session.account import Account
from hippocampus.session.view import Window
from hippocampus.storage.ledger import Call

KEY_CHARACTERS = 16


class Sent:
    """The keys of a list's messages, and of those of the last request before it was read whole."""

    def __init__(self, before: list[str]) -> None:
        """Begin with an empty list; of a ledger that has no keys, the number of messages counts."""
        self._before = before
        self.keys: list[str] = []
        self.stored = 0
        """How many leading keys are written down."""

    def read(self, reading: Reading, sent: int) -> int:
        """Take a list as it was read; return how many of its messages were in the last request."""
        kept = reading.kept
        del self.keys[kept:]
        self.keys += map(key_of, reading.messages[kept:])
        self.stored = min(self.stored, kept)
        before, self._before = self._before, []
        return min(sent, common(before, self.keys)) if before else sent

    def is_repeated(self, reading: Reading) -> bool:
        """Say whether a list says all that the list before it said."""
        read = map(key_of, reading.messages[reading.kept : len(self.keys)])
        return list(read) == self.keys[reading.kept :]

    def last(self) -> list[str]:
        """Return the keys of the list as it was read last, or else of the request before."""
        return self.keys or self._before

    def unwritten(self) -> tuple[int, list[str]]:
        """Return the number of the first key that is not written down, and all from there on."""
        return self.stored, self.keys[self.stored :]


def key_of(message: Message) -> str:
    """Return what a message says, as a hash: what else its items carry, such as marks, may move."""
    parts = ((part.kind, part.call_id, part.tool, part.text) for part in message.parts)
    said = "\0".join((message.role, *itertools.chain.from_iterable(parts)))
    return content_key(said.encode("utf-8", "surrogatepass"))[:KEY_CHARACTERS]


def common(one: Iterable[str], other: Iterable[str]) -> int:
    """Return how many leading keys are the same."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))


def unshortened(
    window: Window, before: Window, keys: Sequence[str], account: Account, prices: Prices
) -> tuple[Call, list[str]]:
    """Return a request that sends a list as it is, behind one that sent a view, and its keys.

    `keys` are those of the messages in the view, and `account` are the sums before this turn. What
    the view showed otherwise is not read from the cache.
    """
    own = [key_of(message) for message in window.raw]
    same = min(before.sent, common(keys, own))
    pairs = zip(before.shown[:same], before.raw, strict=False)
    alike = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] is pair[1], pairs))
    total = window.raw_total
    raw_cost = account.raw_cost + prices.call_cost(sum(window.raw_tokens[:same]), total)
    sent_cost = account.sent_cost + prices.call_cost(sum(window.raw_tokens[:alike]), total)
    call = Call(window.turn, len(own), total, total, raw_cost, sent_cost, account.edit_cost)
    return call, own
