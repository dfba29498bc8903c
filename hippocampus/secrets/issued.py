"""The forms of keys and tokens, by issuer, and of secrets that need no words next to them. Pure.

A form stands here if its prefix or its shape alone is evidence. Each is an RE2 expression; where
it has a group, the group is the secret.
"""

from __future__ import annotations

import re

PRIVATE_KEY = (
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [^\n]*-----|\z)"
    r"|PuTTY-User-Key-File-\d(?s:.*)\z"
    r"|---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----(?s:.*?)(?:---- END [^\n]*----|\z)"
    r"|\bAGE-SECRET-KEY-1[0-9A-Z]{20,}"
)
NAMES = (
    "gsk|xai|pplx|hf|r8|nvapi|lsv2_[a-z]+|pcsk|jina|tgp_v1|fw|e2b|sk-(?:ant|lf|or|proj|svcacct)|GOCSPX|HRKU|do[opr]_v1|nfp|sbp"
    "|sb_secret|gh[pousr]|github_pat|npm|pypi|rubygems|dckr_[a-z]+|CLOJARS|squ|sq[ap]|sq0[a-z]+|bkua|xapp|xkeysib|[sr]k_live"
    "|shp[a-z]+|lin_[a-z]+|ntn|fig[do]|CFPAT|phx|pul|sgp|tskey|tvly"
)
"""Beginnings that only keys have."""
DISTINCT = (
    rf"(?:{NAMES})[_-][\w-]{{20,}}",
    # Models
    r"sk-[\w-]*T3BlbkFJ[\w-]{20,}|api_org_[A-Za-z]{34}|a[ks][-_][A-Za-z0-9]{20,22}\b",
    # Clouds
    (
        r"(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA|AGPA|AIDA|AROA|AIPA|ANPA|ANVA)[A-Z0-9]{16}\b"
        r"|ABSK[A-Za-z0-9+/]{80,}={0,2}|AIza[\w-]{30,}|ya29\.[\w-]{20,}|1//0[\w-]{30,}"
        r"|LTAI[A-Za-z0-9]{12,24}\b|AKID[A-Za-z0-9]{32}\b|sl\.(?:u\.)?[\w-]{60,}|\w{7,}:APA91b[\w-]{100,}"
        r"|dapi[0-9a-f]{30,}|FlyV1 [\w+/=,-]{20,}|pscale_(?:tkn|oauth|pw)_[\w.=-]{30,}"
        r"|v1\.0-[0-9a-f]{24}-[0-9a-f]{100,}|ocid1\.credential\.[\w.-]{30,}"
        r"|t1\.[A-Z0-9a-z_-]+={0,2}\.[A-Z0-9a-z_-]{80,}={0,2}|AQVN[\w-]{35,38}|scw[A-Z0-9]{17}\b"
    ),
    # Code hosts and registries
    (
        r"gl(?:pat|dt|rt|ft|soat|ptt|imt|agent|cbt|rtr|ffct|oas|wt)-[\w.-]{16,}"
        r"|GR1348941[\w-]{20,}|ATBB[A-Za-z0-9]{24,}|AT[AC]TT3[\w=-]{30,}|ATTA[0-9a-f]{64}\w*"
        r"|_authToken=([^\s$]{8,})|oy2[a-z0-9]{43}\b|AKCp[A-Za-z0-9]{60,}|cmVmdGtu[A-Za-z0-9]{50,}"
        r"|cio[A-Za-z0-9]{32}\b|CCIPAT_[A-Za-z0-9]{22}_[0-9a-f]{40}|[0-9a-f]{32}-us\d{1,2}\b"
    ),
    # Messages and mail
    (
        r"xox[abceoprs]-[A-Za-z0-9-]{10,}"
        r"|hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/([\w/]{20,})"
        r"|hooks?\.(?:zapier|\w{2,9}\.make)\.com/([\w/]{15,})|discord(?:app)?\.com/api/webhooks/([\w/-]{20,})"
        r"|\.webhook\.office\.com/webhookb2/([\w@/-]{60,})"
        r"|[MNO][A-Za-z\d_-]{22,25}\.[\w-]{6}\.[\w-]{25,}|\d{8,10}:(?:AA[\w-]{30,}|[\w-]{35}\b)"
        r"|SG\.[\w-]{16,}\.[\w-]{16,}|(?:SK|AC)[0-9a-f]{32}\b|[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}\b"
    ),
    # Money and shops
    (
        r"whsec_[\w+/=]{20,}|EAAA[\w-]{20,}|access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}"
        r"|rzp_(?:live|test)_[A-Za-z0-9]{14,}|FLWSECK(?:_TEST)?-[0-9A-Za-z]{12,}-X"
        r"|access-(?:production|development|sandbox)-[0-9a-f-]{36}|EZ[AT]K[A-Za-z0-9]{50,}"
        r"|duffel_(?:live|test)_[\w=-]{40,}|secret-(?:live|test)-[\w=-]{30,}"
    ),
    # Tools of teams
    (
        r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}|PMAK-[0-9a-f]{20,}-[0-9a-f]{20,}|tfp_[\w.=-]{30,}"
        r"|[12]/\d{10,}(?:/\d{10,})?:[0-9a-f]{32}|pat-(?:na|eu)\d-[0-9a-f-]{36}"
        r"|dG9rO[A-Za-z0-9+/]{30,}={0,2}|pk_\d{6,9}_[A-Z0-9]{32}|EAA[A-Z][A-Za-z0-9]{80,}"
        r"|IGQ[A-Za-z0-9_-]{80,}|A{18,24}[A-Za-z0-9]{1,60}%[A-Za-z0-9%]{30,}"
    ),
    # Operations
    (
        r"hv[sbr]\.[\w-]{20,}|[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,}|dp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{30,}"
        r"|ops_eyJ[\w+/=-]{40,}|A3-[A-Z0-9]{6}-(?:[A-Z0-9]{5,11}-){3,5}[A-Z0-9]{5,6}"
        r"|gl(?:c|sa)_[A-Za-z0-9+/_]{30,}={0,2}|sntry[su]_[\w+/=-]{30,}|dt0[a-z]\d\d\.[A-Z0-9]{24}\.[A-Z0-9]{60,}"
        r"|NR(?:AK|AA|JS|II|RA)-[A-Za-z0-9_-]{20,}|[0-9a-f]{36}NRAL\b|u\+[A-Za-z0-9_-]{18}\b"
        r"|(?:sdk|mob|api)-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}"
        r"|xaat-[0-9a-f-]{36}|signkey-\w+-[0-9a-f]{64}|SWMTKN-1-[\w-]{50,}"
        r"|SSWS 00[\w-]{40}|BBDC-[A-Za-z0-9+/]{40}|S[UAON][A-Z2-7]{56}\b|ptr_[A-Za-z0-9+/=]{40,}"
        r"|eyJrIjoi[\w-]{40,}={0,2}|AccountKey=([\w+/=]{20,})|SharedAccessKey=([\w+/=]{20,})"
        r"|[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{26}|[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}\b"
        r"|K10[0-9a-f]{64}::\w+:([\w.]+)|token-\w{5}:(\w{50,})"
    ),
    # No issuer: signed tokens, hashed passwords, wallets
    r"eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*",
    (
        r"(?:sk|pk)\.eyJ[\w-]{8,}\.[\w-]+|v[24]\.(?:local|public)\.[\w-]{40,}"
        r"|pbkdf2[\w:-]*\$\d+\$[^\s\"']{20,}|SCRAM-SHA-\d+\$[^\s\"']{40,}"
        r"|(?i:mnemonic|(?:seed|recovery)[ _-]phrase)\W{1,5}((?:[a-z]{3,8} ){11,23}[a-z]{3,8})"
        r"|[5KL][1-9A-HJ-NP-Za-km-z]{50,51}\b|xprv[1-9A-HJ-NP-Za-km-z]{100,}"
    ),
)
"""Forms that no other text has: found wherever they begin as a word.

A short name with a random run, as most issuers write it, is `PREFIXED`.
"""
SIGNED = (
    r"[A-Za-z0-9_.~]{3}\dQ~[\w.~-]{31,34}",
    r"\$(?:1|2[abxy]|9|5|6|y|apr1|argon2(?:i|d|id)|scrypt)\$[^\s:\"']{20,}",
    r"\{SSHA\d*\}[A-Za-z0-9+/]{20,}={0,2}",
)
"""Forms that begin with a sign or within a word."""
PREFIXED = r"\b([A-Za-z][A-Za-z0-9]{1,11}[_-][\w-]{16,})(?:[^\w+/=.-]|\.?\s|\.?$)"
"""A short name and a long run: believed if the run is random, no checksum and no id of an answer."""
KEYS = frozenset(["fc", "key", "pk", "pul", "rk", "sk", "tok"])
"""Names after which hexadecimal digits are a key with either sign."""
IDS = frozenset(["call", "chatcmpl", "file", "msg", "req", "resp", "run", "ses", "thread", "toolu"])


def is_random(value: str) -> bool:
    """Return whether a name goes with a random run: with many changes of case and digits, or a key in hexadecimal.

    >>> is_random("npm_x8Kq2LzV9tRw3BnYd7Hs"), is_random("read-the-docs-of-version-2-first")
    (True, False)
    """
    name, sign, rest = re.split("([_-])", value, maxsplit=1)
    rest = re.sub(r"^(?:[A-Za-z][A-Za-z0-9]{0,8}[_-]){0,2}", "", rest)
    parts = re.split("[_-]+", rest)
    run, longest = "".join(parts), max(parts, key=len)
    if name in IDS or "kwD" in value:  # GitHub's ids of nodes
        return False
    if _HEX.fullmatch(run):
        return len(run) >= MIN_KEY if name in KEYS else sign == "_" and len(longest) >= MIN_HEX
    is_mixed = len(re.findall(r"\d", run)) >= (3 if run.islower() or run.isupper() else 1)
    is_slug = len(longest) * MAX_PARTS < len(run) or _HEX.fullmatch(longest) is not None
    return len(run) >= MIN_RUN and is_mixed and 7 * changes(run) >= 2 * len(run) and not is_slug


def changes(text: str) -> int:
    """Return the number of words, abbreviations and numbers that a text is made of."""
    return len(re.findall(r"[A-Z]?[a-z]+|[A-Z]+|\d+", text))


_HEX = re.compile("[0-9a-f]+|[0-9A-F]+")
MIN_RUN, MIN_KEY, MIN_HEX = 16, 20, 32
"""The shortest random run; the same of hexadecimal digits behind a key's name, and behind another."""
MAX_PARTS = 6


LINES = (
    r"(?:\b|bot)[0-9]{8,10}:(AA[\w-]{32,33})\b",
    r"(?i:\b(?:password|secret|key)\s\d\s([\w$./]{6,})|\bsnmp\S*\scommunity\s([^\s]{4,}))",
    r"(?i:\b(?:(?:bindpw|secretpw)\s|(?:bindpw|secretpw|pass)\s?=)\s*\"?([^\s\"]{8,}))",
    r"(?i:\bnet\s+user?\s[^\n/]{1,80}?\s([^\s/\\*]{4,})\s+/(?:add|user))",
    r"(?m:(?:^|\")[\w.*-]+:(?:\d{2,5}|\*):[\w*-]+:[\w*-]+:([^\s:\"]{4,})(?:\"|$))",
    r"\"(?:d|p|q|dp|dq|qi)\"\s*:\s*\"([\w-]{40,})\"",
    r"\bConvertTo-SecureString\s+(?:-String\s+)?[\"']([^\s\"'$]{4,})",
    r"\bIDENTIFIED\s+BY\s+[\"']([^\"'\s]{4,})[\"']",
    r"\bWIFI:[^\s]{0,100}?P:([^;\s]{6,63});",
    r"\becho\s+(?:-n\s+)?[\"']?(?:[\w-]+:)?([^\s\"'$]{4,})[\"']?\s*\|[^|\n]{0,40}(?:chpasswd|cryptsetup|kinit|sudo -S|-stdin|passphrase-fd)\b",
    r"\b(?:htpasswd\s-\w*b\w*\s\S{1,100}|rabbitmqctl\s\w+)\s\S{1,60}\s(\S{4,})",
    r"\bsqlplus\s(?:-\w+\s)*\w+/([^\s@/]{3,})@",
)
"""Forms of commands and settings that end soon: one alternation, which costs one search."""
HEADERS = (
    r"(?i)\b(?:bearer|basic)\s+([A-Za-z0-9._~+/=-]{12,})",
    r"(?i)\b(?:authorization|proxy-authorization|x-[a-z-]*(?:key|token|auth))[\"']?\s*:\s*[\"']?(?:(?:token|key|apikey|digest|negotiate)\s+)?([A-Za-z0-9._~+/=-]{12,})",
    r"(?i)\b(?:set-)?cookie2?:\s*([^=\s;]+=[^\n\"']{6,})",
    r"\s(?:-[aU]|-u|--user(?:name)?|--auth)[ =]?[\"']?\w[^\s:\"'$%,=/]*(?:/token)?[:%,]([^\s\"'$/:,]{4,})",
    r"(?i)\b(?:mysql\w*|mariadb\w*)\b[^\n]*?\s-p([^\s\-$\"'][^\s\"']{3,})",
    (
        r"\b(?:(?:sshpass|7z\w?|(?:un)?rar|docker login|mongo\w*|keychain|keepass\w*)\b[^\n|;&]*?\s-p|redis-cli\b[^\n|;&]*?\s-a"
        r"|ldap\w+\b[^\n|;&]*?\s-w|(?:un)?zip\b[^\n|;&]*?\s-P|openssl\b[^\n|;&]*?\s(?:-k|-pass\w*\s+pass:))\s*[\"']?([^\s\"'$-][^\s\"'$]{2,})"
    ),
    r"\s[/-](?:-user\w*|[Uul](?:ser)?)[ :=]?\s?[\"']?[^\s\"'-][^\s\"']*[\"']?\s+[/-](?:p(?:ass\w*)?|P)[ :=]?[\"']?([^\s\"'$:/-][^\s\"'$:/]{3,})(?:[\s\"']|$)",
    "|".join(LINES),
)
ADDRESSES = (
    r"\bhttps://([0-9a-f]{32})(?::[0-9a-f]{32})?@",
    r"\b[A-Za-z][A-Za-z0-9+.-]*://[^\s:/@\"'<>{}$]*:([^\s@/\"'<>{}\[\]$][^\s@/\"'<>{}]{2,})@[\w\[]",
    (
        r"[?&;](?i:(?:(?:access|auth|id|refresh|session)_?)?token|api[_-]?key|x-amz-(?:signature|security-token)"
        r"|sig|signature|secret|password|passwd|auth|client_secret)=([^\s&\"'<>]{8,})"
    ),
)
