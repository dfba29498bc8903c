"""Sixty forms in which issuers hand out secrets, made up from a seed; no key here was ever issued."""

from __future__ import annotations

import base64
import json
import random
import string
import urllib.parse

UPPER, LOWER, DIGITS = string.ascii_uppercase, string.ascii_lowercase, string.digits
WORD = UPPER + LOWER + DIGITS
HEX = DIGITS + "abcdef"
URL = WORD + "-_"
BASE64 = WORD + "+/"


def examples(seed: int) -> dict[str, tuple[str, str]]:
    """Return by name of a format a secret, and the name of a setting that has it."""
    rng = random.Random(seed)

    def some(letters: str, count: int) -> str:
        return "".join(rng.choices(letters, k=count))

    def uuid() -> str:
        return "-".join(some(HEX, n) for n in (8, 4, 4, 4, 12))

    def jwt() -> str:
        head, body = ({"alg": "HS256", "typ": "JWT"}, {"sub": some(DIGITS, 10)})
        parts = [
            base64.urlsafe_b64encode(json.dumps(each).encode()).decode().rstrip("=")
            for each in (head, body)
        ]
        return ".".join([*parts, some(URL, 43)])

    def pem(kind: str) -> str:
        lines = "\n".join(some(BASE64, 64) for _ in range(6))
        return f"-----BEGIN {kind}PRIVATE KEY-----\n{lines}\n-----END {kind}PRIVATE KEY-----"

    return {
        "AWS access key": ("AKIA" + some(UPPER + "234567", 16), "AWS_ACCESS_KEY_ID"),
        "AWS session key": ("ASIA" + some(UPPER + "234567", 16), "AWS_ACCESS_KEY_ID"),
        "Google API key": ("AIza" + some(URL, 35), "GOOGLE_API_KEY"),
        "Google OAuth secret": ("GOCSPX-" + some(URL, 28), "GOOGLE_CLIENT_SECRET"),
        "Google access token": ("ya29." + some(URL, 120), "GOOGLE_ACCESS_TOKEN"),
        "Azure storage": ("DefaultEndpointsProtocol=https;AccountName=acme;AccountKey=" + some(BASE64, 86) + "==", "AZURE_STORAGE_CONNECTION_STRING"),
        "Azure client secret": (some(WORD, 3) + "8Q~" + some(URL, 34), "AZURE_CLIENT_SECRET"),
        "Azure SAS address": ("https://acme.blob.core.windows.net/c/f?sv=2022-11-02&sig=" + some(WORD, 43) + "%3D", "SAS_URL"),
        "GitHub personal": ("ghp_" + some(WORD, 36), "GITHUB_TOKEN"),
        "GitHub OAuth": ("gho_" + some(WORD, 36), "GITHUB_TOKEN"),
        "GitHub app": ("ghs_" + some(WORD, 36), "GITHUB_TOKEN"),
        "GitHub refresh": ("ghr_" + some(WORD, 76), "GITHUB_REFRESH_TOKEN"),
        "GitHub fine-grained": ("github_pat_" + some(WORD, 22) + "_" + some(WORD, 59), "GH_PAT"),
        "GitLab personal": ("glpat-" + some(URL, 20), "GITLAB_TOKEN"),
        "GitLab runner": ("glrt-" + some(URL, 20), "RUNNER_TOKEN"),
        "Bitbucket app password": ("ATBB" + some(WORD, 32), "BITBUCKET_APP_PASSWORD"),
        "Atlassian": ("ATATT3xFfGF0" + some(URL, 180) + "=" + some(HEX.upper(), 8), "JIRA_API_TOKEN"),
        "Slack bot": (f"xoxb-{some(DIGITS, 12)}-{some(DIGITS, 13)}-{some(WORD, 24)}", "SLACK_BOT_TOKEN"),
        "Slack app": (f"xapp-1-A{some(UPPER + DIGITS, 10)}-{some(DIGITS, 13)}-{some(HEX, 64)}", "SLACK_APP_TOKEN"),
        "Slack webhook": (f"https://hooks.slack.com/services/T{some(UPPER, 8)}/B{some(UPPER, 8)}/{some(WORD, 24)}", "SLACK_WEBHOOK_URL"),
        "Discord bot": (f"M{some(WORD, 23)}.{some(URL, 6)}.{some(URL, 38)}", "DISCORD_TOKEN"),
        "Discord webhook": (f"https://discord.com/api/webhooks/{some(DIGITS, 18)}/{some(URL, 68)}", "DISCORD_WEBHOOK"),
        "Telegram": (some("123456789", 10) + ":AA" + some(URL, 33), "TELEGRAM_BOT_TOKEN"),
        "Twilio": ("SK" + some(HEX, 32), "TWILIO_API_KEY"),
        "SendGrid": (f"SG.{some(URL, 22)}.{some(URL, 43)}", "SENDGRID_API_KEY"),
        "Mailgun": ("key-" + some(HEX, 32), "MAILGUN_API_KEY"),
        "Mailchimp": (some(HEX, 32) + "-us12", "MAILCHIMP_API_KEY"),
        "Brevo": (f"xkeysib-{some(HEX, 64)}-{some(WORD, 16)}", "BREVO_API_KEY"),
        "Stripe secret": ("sk_live_" + some(WORD, 24), "STRIPE_SECRET_KEY"),
        "Stripe restricted": ("rk_live_" + some(WORD, 24), "STRIPE_KEY"),
        "Stripe webhook": ("whsec_" + some(WORD, 32), "STRIPE_WEBHOOK_SECRET"),
        "Square": ("sq0csp-" + some(URL, 43), "SQUARE_SECRET"),
        "Shopify": ("shpat_" + some(HEX, 32), "SHOPIFY_ACCESS_TOKEN"),
        "Plaid": ("access-production-" + uuid(), "PLAID_ACCESS_TOKEN"),
        "OpenAI": ("sk-proj-" + some(URL, 60) + "T3BlbkFJ" + some(URL, 60), "OPENAI_API_KEY"),
        "Anthropic": ("sk-ant-api03-" + some(URL, 93) + "AA", "ANTHROPIC_API_KEY"),
        "OpenRouter": ("sk-or-v1-" + some(HEX, 64), "OPENROUTER_API_KEY"),
        "Hugging Face": ("hf_" + some(WORD, 34), "HF_TOKEN"),
        "Groq": ("gsk_" + some(WORD, 52), "GROQ_API_KEY"),
        "Replicate": ("r8_" + some(WORD, 37), "REPLICATE_API_TOKEN"),
        "xAI": ("xai-" + some(WORD, 80), "XAI_API_KEY"),
        "npm": ("npm_" + some(WORD, 36), "NPM_TOKEN"),
        "PyPI": ("pypi-AgEIcHlwaS5vcmc" + some(URL, 150), "TWINE_PASSWORD"),
        "RubyGems": ("rubygems_" + some(HEX, 48), "GEM_HOST_API_KEY"),
        "Docker Hub": ("dckr_pat_" + some(URL, 27), "DOCKERHUB_TOKEN"),
        "Heroku": ("HRKU-" + uuid(), "HEROKU_API_KEY"),
        "DigitalOcean": ("dop_v1_" + some(HEX, 64), "DIGITALOCEAN_TOKEN"),
        "Databricks": ("dapi" + some(HEX, 32), "DATABRICKS_TOKEN"),
        "New Relic": ("NRAK-" + some(UPPER + DIGITS, 27), "NEW_RELIC_API_KEY"),
        "Grafana": ("glsa_" + some(WORD, 32) + "_" + some(HEX, 8), "GRAFANA_TOKEN"),
        "Sentry": ("sntrys_" + some(WORD, 90), "SENTRY_AUTH_TOKEN"),
        "Linear": ("lin_api_" + some(WORD, 40), "LINEAR_API_KEY"),
        "Notion": ("ntn_" + some(WORD, 46), "NOTION_TOKEN"),
        "Airtable": ("pat" + some(WORD, 14) + "." + some(HEX, 64), "AIRTABLE_TOKEN"),
        "Postman": (f"PMAK-{some(HEX, 24)}-{some(HEX, 34)}", "POSTMAN_API_KEY"),
        "Vault": ("hvs." + some(URL, 90), "VAULT_TOKEN"),
        "Terraform Cloud": (some(WORD, 14) + ".atlasv1." + some(URL, 67), "TF_TOKEN"),
        "signed token": (jwt(), "SESSION_TOKEN"),
        "private key": (pem("RSA "), "SSH_KEY"),
        "database address": ("postgresql://app:" + some(WORD, 16) + "@db.acme.internal:5432/prod", "DATABASE_URL"),
    }  # fmt: skip


PLACES = {
    "alone": lambda secret, name: secret,
    ".env": lambda secret, name: f"PORT=8080\n{name}={json.dumps(secret) if chr(10) in secret else secret}\nDEBUG=0\n",
    "JSON": lambda secret, name: json.dumps({"id": 7, "config": {name.lower(): secret}, "ok": True}),
    "prose": lambda secret, name: f"For the staging server use {secret} until Friday, Ann said.",
    "base64": lambda secret, name: f"data: {base64.b64encode(secret.encode()).decode()}\n",
    "percent encoding": lambda secret, name: f"GET /cb?state=1&v={urllib.parse.quote(secret, safe='')}&x=2",
    "every byte percent-encoded": lambda secret, name: "v=" + "".join(f"%{byte:02X}" for byte in secret.encode()),
}  # fmt: skip


def core(secret: str) -> str:
    """Return the part of a secret that has to be gone: its last twelve letters and digits but one."""
    plain = (
        secret.removesuffix("-----END RSA PRIVATE KEY-----")
        .removesuffix("@db.acme.internal:5432/prod")
        .removesuffix("%3D")
    )
    return plain.rstrip("=\n")[-12:]
