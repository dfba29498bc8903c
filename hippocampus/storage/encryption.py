"""Payloads encrypted at rest (AES-SIV, RFC 5297), under a key from the environment or a keyring.

Only payloads: sessions and facts are not encrypted here.
"""

from __future__ import annotations

import base64
import binascii
import os
from typing import TYPE_CHECKING

from hippocampus.entries.entry import named_content
from hippocampus.errors import SealedError, StoreError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESSIV

VARIABLE = "HIPPOCAMPUS_KEY"
"""The key in base64, or `keyring`: then it is the password `key` of the service `hippocampus` there."""
KEY_BYTES = 64
SEALED = b"hippocampus-siv1"
"""The start of an encrypted payload; one that was stored without a key is read as it is."""
MARKER = b"hippocampus"
"""The text in the file that marks a sealed store: only its key opens that."""
INSTALL = "run `pip install hippocampus-context[encryption]`"


def sealed(packed: bytes, name: str) -> bytes:
    """Return bytes encrypted under the key, bound to their name; without a key, the bytes themselves.

    The same bytes give the same result, so that a payload is stored once.

    Raises:
        SealedError: the key cannot be used.
    """
    key = _key()
    if key is None:
        return packed
    return SEALED + _cipher(key).encrypt(packed, [name.encode()])


def is_sealed(packed: bytes) -> bool:
    """Return whether bytes are encrypted."""
    return packed.startswith(SEALED)


def unsealed(packed: bytes, name: str) -> bytes:
    """Return the bytes that `sealed` was given.

    Raises:
        StoreError: they are encrypted under another key, or damaged, or no key is set.
    """
    if not is_sealed(packed):
        return packed
    key = _key()
    if key is None:
        raise StoreError(f"{named_content(name)} is encrypted: set {VARIABLE} to its key")
    from cryptography.exceptions import InvalidTag

    try:
        return bytes(_cipher(key).decrypt(packed[len(SEALED) :], [name.encode()]))
    except InvalidTag:
        raise StoreError(f"{named_content(name)} is of another key, or damaged") from None


def marker() -> bytes:
    """Return the mark of a store that is sealed under the key; empty without a key."""
    found = sealed(MARKER, SEALED.decode())
    return found if is_sealed(found) else b""


def require(marked: bytes, place: str) -> None:
    """Check that the key can be used, and is that of a sealed store where there is one.

    Raises:
        SealedError: it cannot, no key is set, or it is another one.
    """
    if not marked:
        marker()
        return
    try:
        unsealed(marked, SEALED.decode())
    except StoreError:
        why = f"set {VARIABLE} to the key under which it was written"
        raise SealedError(f"{place} is encrypted, and not opened without its key: {why}") from None


def _key() -> bytes | None:
    written: str | None = os.environ.get(VARIABLE)
    if not written:
        return None
    if written == "keyring":
        try:
            import keyring
        except ImportError:
            raise SealedError(f"{VARIABLE} names the keyring: {INSTALL}") from None
        try:
            written = keyring.get_password("hippocampus", "key")
        except keyring.errors.KeyringError as locked:  # or there is none, as in a container
            raise SealedError(f"{VARIABLE} names the keyring: {locked}") from locked
    try:
        key = base64.b64decode(written or "", validate=True)
    except binascii.Error:
        key = b""
    if len(key) != KEY_BYTES:
        makes = rf"`openssl rand -base64 {KEY_BYTES} | tr -d '\n'`"
        raise SealedError(f"{VARIABLE} has no key of {KEY_BYTES} bytes in base64, as {makes} makes")
    return key


def _cipher(key: bytes) -> AESSIV:
    try:
        from cryptography.hazmat.primitives.ciphers import aead
    except ImportError:
        raise SealedError(f"{VARIABLE} is set: {INSTALL}") from None
    return aead.AESSIV(key)
