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
DISTINCT = (
    # Models
    (
        r"gsk_[A-Za-z0-9]{20,}|xai-[A-Za-z0-9]{20,}|pplx-[A-Za-z0-9]{20,}|hf_[A-Za-z0-9]{20,}"
        r"|api_org_[A-Za-z]{34}|r8_[A-Za-z0-9]{30,}|tgp_v1_[\w-]{20,}|fw_[A-Za-z0-9]{22,}"
        r"|nvapi-[\w-]{20,}|lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}|a[ks][-_][A-Za-z0-9]{20,22}\b|e2b_[0-9a-f]{40}|fc-[0-9a-f]{32}|pcsk_[\w]{20,}|jina_[\w-]{30,}"
    ),
    # Clouds
    (
        r"(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA|AGPA|AIDA|AROA|AIPA|ANPA|ANVA)[A-Z0-9]{16}\b"
        r"|ABSK[A-Za-z0-9+/]{80,}={0,2}|AIza[\w-]{30,}|ya29\.[\w-]{20,}|1//0[\w-]{30,}"
        r"|GOCSPX-[\w-]{20,}|LTAI[A-Za-z0-9]{12,24}\b|AKID[A-Za-z0-9]{32}\b"
        r"|do[opr]_v1_[0-9a-f]{20,}|dapi[0-9a-f]{30,}|HRKU-[\w-]{20,}|FlyV1 [\w+/=,-]{20,}|fo1_[\w-]{30,}"
        r"|rnd_[A-Za-z0-9]{20,}|nfp_[A-Za-z0-9]{20,}|napi_[a-z0-9]{20,}|sbp_[0-9a-f]{30,}"
        r"|sb_secret_[\w-]{20,}|pscale_(?:tkn|oauth|pw)_[\w.=-]{30,}|v1\.0-[0-9a-f]{24}-[0-9a-f]{100,}"
        r"|vc[cikpr]_[A-Za-z0-9]{20,}|cfat_[A-Za-z0-9]{30,}|ocid1\.credential\.[\w.-]{30,}"
        r"|t1\.[A-Z0-9a-z_-]+={0,2}\.[A-Z0-9a-z_-]{80,}={0,2}|AQVN[\w-]{35,38}|scw[A-Z0-9]{17}\b"
    ),
    # Code hosts and registries
    (
        r"gh[pousr]_[A-Za-z0-9_]{20,}|github_pat_\w{20,}"
        r"|gl(?:pat|dt|rt|ft|soat|ptt|imt|agent|cbt|rtr|ffct|oas|wt)-[\w.-]{16,}"
        r"|GR1348941[\w-]{20,}|ATBB[A-Za-z0-9]{24,}|ATATT3[\w=-]{30,}|ATCTT3[\w=-]{30,}"
        r"|npm_[A-Za-z0-9]{30,}|_authToken=([^\s$]{8,})|pypi-[\w-]{20,}|rubygems_[0-9a-f]{40,}|dckr_(?:pat|oat)_[\w-]{20,}"
        r"|oy2[a-z0-9]{43}\b|CLOJARS_[0-9a-z]{50,}|AKCp[A-Za-z0-9]{60,}|cmVmdGtu[A-Za-z0-9]{50,}"
        r"|cio[A-Za-z0-9]{32}\b|squ_[0-9a-f]{40}\b|sq[ap]_[0-9a-f]{40}\b|bkua_[0-9a-f]{40}"
        r"|CCIPAT_[A-Za-z0-9]{22}_[0-9a-f]{40}|[0-9a-f]{32}-us\d{1,2}\b"
    ),
    # Messages and mail
    (
        r"xox[abceoprs]-[A-Za-z0-9-]{10,}|xoxe\.xox[bp]-[\w-]{20,}|xapp-[\w-]{20,}"
        r"|hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/([\w/]{20,})"
        r"|hooks?\.(?:zapier|\w{2,9}\.make)\.com/([\w/]{15,})|discord(?:app)?\.com/api/webhooks/([\w/-]{20,})"
        r"|\.webhook\.office\.com/webhookb2/([\w@/-]{60,})"
        r"|[MNO][A-Za-z\d_-]{22,25}\.[\w-]{6}\.[\w-]{25,}|\d{8,10}:(?:AA[\w-]{30,}|[\w-]{35}\b)"
        r"|SG\.[\w-]{16,}\.[\w-]{16,}|(?:SK|AC)[0-9a-f]{32}\b|key-[0-9a-f]{32}\b|xkeysib-[0-9a-f]{40,}[\w-]*"
        r"|re_[A-Za-z0-9]{8,}_[A-Za-z0-9]{20,}"
    ),
    # Money and shops
    (
        r"[sr]k_(?:live|test|prod)_[A-Za-z0-9]{16,}|whsec_[\w+/=]{20,}|sq0(?:atp|csp|idp)-[\w-]{20,}"
        r"|EAAA[\w-]{20,}|access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}"
        r"|shp(?:at|ca|pa|ss|tka)_[0-9a-fA-F]{20,}|rzp_(?:live|test)_[A-Za-z0-9]{14,}"
        r"|FLWSECK(?:_TEST)?-[0-9A-Za-z]{12,}-X|access-(?:production|development|sandbox)-[0-9a-f-]{36}"
        r"|shippo_(?:live|test)_[0-9a-f]{40}|EZ[AT]K[A-Za-z0-9]{50,}|duffel_(?:live|test)_[\w=-]{40,}"
        r"|lmnsq_[\w-]{20,}|pdl_(?:live|sdbx)_\w{20,}"
    ),
    # Tools of teams
    (
        r"lin_(?:api|oauth)_[A-Za-z0-9]{20,}|ntn_[A-Za-z0-9]{30,}|secret_[A-Za-z0-9]{32,}"
        r"|pat[A-Za-z0-9]{14}\.[0-9a-f]{64}|fig[do][rh]?_[\w-]{30,}|PMAK-[0-9a-f]{20,}-[0-9a-f]{20,}"
        r"|CFPAT-[\w-]{40,}|tfp_[\w.=-]{30,}|[12]/\d{10,}:[0-9a-f]{32}|[12]/\d{10,}/\d{10,}:[0-9a-f]{32}"
        r"|pat-(?:na|eu)\d-[0-9a-f-]{36}|xkeysib-[0-9a-f]{64}-\w{16}|dG9rO[A-Za-z0-9+/]{30,}={0,2}"
        r"|pk_\d{6,9}_[A-Z0-9]{32}|EAA[A-Z][A-Za-z0-9]{80,}|IGQ[A-Za-z0-9_-]{80,}|A{18,24}[A-Za-z0-9]{1,60}%[A-Za-z0-9%]{30,}"
    ),
    # Operations
    (
        r"hv[sbr]\.[\w-]{20,}|[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,}|dp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{30,}"
        r"|ops_eyJ[\w+/=-]{40,}|A3-[A-Z0-9]{6}-(?:[A-Z0-9]{5,11}-){3,5}[A-Z0-9]{5,6}|pul-[0-9a-f]{40}"
        r"|gl(?:c|sa)_[A-Za-z0-9+/_]{30,}={0,2}|sntry[su]_[\w+/=-]{30,}|dt0[a-z]\d\d\.[A-Z0-9]{24}\.[A-Z0-9]{60,}"
        r"|NR(?:AK|AA|JS|II|RA)-[A-Za-z0-9_-]{20,}|[0-9a-f]{36}NRAL\b|u\+[A-Za-z0-9_-]{18}\b"
        r"|(?:sdk|mob|api)-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}"
        r"|phx_\w{30,}|logfire_v\d_\w{20,}|sgp_(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40}|xaat-[0-9a-f-]{36}|signkey-\w+-[0-9a-f]{64}|tskey-\w+-[\w-]{16,}"
        r"|SSWS 00[\w-]{40}|BBDC-[A-Za-z0-9+/]{40}|S[UAON][A-Z2-7]{56}\b|ptr_[A-Za-z0-9+/=]{40,}"
        r"|eyJrIjoi[\w-]{40,}={0,2}|AccountKey=([\w+/=]{20,})|SharedAccessKey=([\w+/=]{20,})"
        r"|[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{26}|[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}\b"
    ),
    # No issuer: signed tokens, hashed passwords, wallets
    r"eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*",
    (
        r"(?:sk|pk)\.eyJ[\w-]{8,}\.[\w-]+|v[24]\.(?:local|public)\.[\w-]{40,}"
        r"|(?i:mnemonic|(?:seed|recovery)[ _-]phrase)\W{1,5}((?:[a-z]{3,8} ){11,23}[a-z]{3,8})"
        r"|[5KL][1-9A-HJ-NP-Za-km-z]{50,51}\b|xprv[1-9A-HJ-NP-Za-km-z]{100,}"
    ),
)
"""Forms that no other text has: found wherever they begin as a word."""
SIGNED = (
    r"[A-Za-z0-9_.~]{3}\dQ~[\w.~-]{31,34}",
    r"\$(?:1|2[abxy]|9|5|6|y|apr1|argon2(?:i|d|id)|scrypt)\$[^\s:\"']{20,}",
    r"\{SSHA\d*\}[A-Za-z0-9+/]{20,}={0,2}",
)
"""Forms that begin with a sign or within a word."""
AMBIGUOUS = r"\b(?:sk|pk|rk|key|tok)[-_](?:[A-Za-z0-9]+[-_]){0,4}[A-Za-z0-9_-]{16,}"
"""What many issuers use, and words with hyphens too: believed if letters and digits are mixed."""
PREFIXED = r"\b((?:[a-z][a-z0-9]{1,11}|[A-Z][A-Z0-9]{1,11})[_-](?:[A-Za-z0-9]{1,9}[_-]){0,2}[A-Za-z0-9]{24,})(?:[^\w+/=.-]|\.?\s|\.?$)"
"""A short name and a long run: believed if the run is random, no checksum and no id of an answer."""
IDS = frozenset(["REF", "call", "chatcmpl", "file", "msg", "req", "resp", "run", "thread", "toolu"])


def is_random(value: str) -> bool:
    """Return whether the last run of a value has many digits and changes of case, and is not hexadecimal."""
    name, *_, run = re.split("[_-]", value)
    digits, changes = re.findall(r"\d", run), re.findall(r"[a-z]+|[A-Z]+|\d+", run)
    is_hex = re.fullmatch("[0-9a-f]+|[0-9A-F]+", run)
    return len(digits) >= 3 and 3 * len(changes) >= len(run) and not is_hex and name not in IDS


LINES = (
    r"(?:\b|bot)[0-9]{8,10}:(AA[\w-]{32,33})\b",
    r"(?i:\b(?:password|secret|key)\s\d\s([\w$./]{6,})|\bsnmp\S*\scommunity\s([^\s]{4,}))",
    r"(?i:\b(?:psk|bindpw|secretpw|pass\s=)\s*[=\s]\s*\"?([^\s\"]{8,}))",
    r"(?i:\bnet\s+user?\s[^\n/]{1,80}?\s([^\s/\\*]{4,})\s+/(?:add|user))",
    r"(?i:\botpauth://[^\s\"'<>]{0,200}?[?&]secret=([A-Z2-7]{8,}))",
    r"(?m:(?:^|\")[\w.*-]+:(?:\d{2,5}|\*):[\w*-]+:[\w*-]+:([^\s:\"]{4,})(?:\"|$))",
    r"\"(?:d|p|q|dp|dq|qi)\"\s*:\s*\"([\w-]{40,})\"",
    r"\bConvertTo-SecureString\s+(?:-String\s+)?[\"']([^\s\"'$]{4,})",
    r"\bIDENTIFIED\s+BY\s+[\"']([^\"'\s]{4,})[\"']",
    r"\bWIFI:[^\s]{0,100}?P:([^;\s]{6,63});",
    r"\becho\s+(?:-n\s+)?[\"']?(?:[\w-]+:)?([^\s\"'$]{4,})[\"']?\s*\|[^|\n]{0,40}(?:chpasswd|cryptsetup|kinit|sudo -S|-stdin|passphrase-fd)\b",
    r"\b(?:htpasswd\s-\w*b\w*\s\S{1,100}|rabbitmqctl\s\w+)\s\S{1,60}\s(\S{4,})",
    r"\bsqlplus\s(?:-\w+\s)*\w+/([^\s@/]{3,})@",
    r"\s-U\s*[\"']?[\w\\.@-]+%([^\s\"']{4,})",
)
"""Forms of commands and settings that end soon: one alternation, which costs one search."""
HEADERS = (
    r"(?i)\b(?:bearer|basic)\s+([A-Za-z0-9._~+/=-]{12,})",
    r"(?i)\b(?:authorization|proxy-authorization|x-[a-z-]*(?:key|token|auth))[\"']?\s*:\s*[\"']?(?:(?:token|key|apikey|digest|negotiate)\s+)?([A-Za-z0-9._~+/=-]{12,})",
    r"(?i)\b(?:set-)?cookie2?:\s*([^=\s;]+=[^\n\"']{6,})",
    r"(?i)\bcurl\b[^\n]*?\s(?:-u|--user)[ =]?[\"']?[^\s:\"'$]+:([^\s\"'$]{3,})",
    r"(?i)\b(?:mysql|mysqldump|mariadb)\b[^\n]*?\s-p([^\s\-$\"'][^\s\"']{3,})",
    (
        r"\b(?:(?:sshpass|7z\w?|(?:un)?rar|docker login|mongo\w*)\b[^\n|;&]*?\s-p|redis-cli\b[^\n|;&]*?\s-a"
        r"|ldap\w+\b[^\n|;&]*?\s-w|(?:un)?zip\b[^\n|;&]*?\s-P|openssl\b[^\n|;&]*?\s(?:-k|-pass\w*\s+pass:))\s*[\"']?([^\s\"'$-][^\s\"'$]{2,})"
    ),
    r"\s[/-](?:-user\w*|[Uul](?:ser)?)[ :=]?\s?[\"']?[^\s\"'-][^\s\"']*[\"']?\s+[/-](?:p(?:ass\w*)?|P)[ :=]?[\"']?([^\s\"'$:/-][^\s\"'$:/]{3,})(?:[\s\"']|$)",
    r"(?i)\bmachine\s+\S+\s+login\s+\S+\s+password\s+(\S{4,})",
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
