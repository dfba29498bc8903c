"""Secrets in what is to be remembered: taken out, or the reason to leave it. Pure.

The fact store refuses secrets itself; here they go before anything is noted.
"""

from __future__ import annotations

import re

from hippocampus.facts import secrets

WORDS = (
    r"pass ?(?:word|wd|phrase|code)s?|pwd|secrets?|credentials?|api[ _-]?keys?|access[ _-]?(?:keys?|tokens?)"
    r"|auth[ _-]?tokens?|tokens?|private[ _-]?keys?"
    r"|\w*passw(?:ö|oe)rte?r?n?|\w*passwort\w*|\w*kennwort\w*|zugangsdaten|geheimnis\w*|api[ _-]?schlüssel"
    r"|contraseñas?|clave(?:s)?|credencial(?:es)?|secreto|mots? de passe|identifiants?|clé (?:api|secrète)"
    r"|senhas?|chave|parola|wachtwoord|hasło|şifre"
    r"|парол\w*|секрет\w*|токен\w*|ключ\w*"
)
SIGNS = (
    "密码|密碼|口令|密钥|密鑰|令牌|パスワード|暗証番号|秘密鍵|トークン|合言葉|비밀번호|암호|토큰"
)
LEFT_OUT = "[left out]"
"""Stands where a secret stood; the rest of the text is worth keeping without it."""
SPEAKS = re.compile(rf"(?i)(?<![^\W_])(?:{WORDS})(?![^\W_])|{SIGNS}")
"""A word for a secret, whatever its value looks like."""


def speaks_of_secret(text: str) -> bool:
    """Say whether a text names a secret, or had one in it.

    >>> speaks_of_secret("Das Admin-Passwort lautet Rose"), speaks_of_secret("a brass monkey")
    (True, False)
    """
    return LEFT_OUT in text or SPEAKS.search(text) is not None


def without_secrets(text: str) -> str:
    """Return a text without its secrets, by their form or by the words before them.

    >>> without_secrets("The admin password is hunter2!, the port 8080")
    'The admin password is [left out]!, the port 8080'
    """
    pieces, end = [], 0
    for secret in secrets.found(text):
        pieces += [text[end : secret.start], LEFT_OUT]
        end = secret.end
    return "".join([*pieces, text[end:]])
