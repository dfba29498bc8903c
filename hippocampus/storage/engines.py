"""What the name of a state means: a directory, or a server by its address, and the tenant there."""

from __future__ import annotations

import os
import re

from hippocampus.errors import StoreError

ENGINES = {"postgresql://": "postgres", "postgres://": "postgres"}
"""By the start of an address the package of `storage` for its server, which is also the extra that it needs."""
_SCHEME = re.compile(r"[A-Za-z][\w+.-]+://")
"""Of two characters or more: `C://` is a drive."""


def is_address(named: object) -> bool:
    """Return whether a state is named by the address of a server.

    Raises:
        StoreError: it is an address of something else.
    """
    scheme = _SCHEME.match(str(named))
    if scheme and scheme[0] not in ENGINES:
        raise StoreError(
            f"{scheme[0]} is no state: name a directory, or postgresql://host/database"
        )
    return scheme is not None


def tenant_of_environment() -> str:
    """Return the tenant of a server that HIPPOCAMPUS_TENANT names."""
    return os.environ.get("HIPPOCAMPUS_TENANT", "")
