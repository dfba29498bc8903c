"""Secrets in what is to be remembered: removed, or the reason to drop the sentence. Pure.

The fact store refuses secrets itself; here they go before anything is noted.
"""

from __future__ import annotations

from hippocampus import secrets

LEFT_OUT = "[left out]"
"""The replacement of a secret; the rest of the text is worth keeping without it."""


def speaks_of_secret(text: str) -> bool:
    """Return whether a text names a secret, or had one in it.

    >>> speaks_of_secret("Das Admin-Passwort lautet Rose"), speaks_of_secret("a brass monkey")
    (True, False)
    """
    return LEFT_OUT in text or secrets.names_secret(text)


def without_secrets(text: str) -> str:
    """Return a text without its secrets.

    >>> without_secrets("The admin password is hunter2!, the port 8080")
    'The admin password is [left out]!, the port 8080'
    """
    return secrets.replaced(text, LEFT_OUT)
