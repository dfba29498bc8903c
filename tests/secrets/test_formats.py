"""Secrets of sixty formats are found wherever they stand, and plain text has none."""

from __future__ import annotations

import importlib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from secret_formats import PLACES, core, examples

from hippocampus import secrets
from hippocampus.policy import Redaction
from hippocampus.secrets.encodings import layers


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("seed", range(3))
def test_at_least_57_of_60_formats_are_found(place, seed):
    redaction = Redaction(kinds=("secret",))
    missed = []
    for form, (secret, name) in examples(seed).items():
        text = PLACES[place](secret, name)
        left = redaction.redacted(text)
        if any(core(secret) in each.text for each in layers(left)) or not secrets.find(text):
            missed.append(form)
    assert len(examples(seed)) == 60
    assert len(missed) <= 3, missed


SETTINGS = (
    "define( 'AUTH_KEY', 'q8Zr2LxW9vTn4BcY' );",
    'define( "NONCE_SALT" , "q8Zr2LxW9vTn4BcY" );',
    "app.secret_key = b'q8Zr2LxW9vTn4BcY'",
    "unzip -P Zk39dkQ02mPa a.zip",
    "client-key-data: LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVkt",
    "smtp_pass: S3cr3tPw99",
    "secret_key_base: 0123456789abcdef0123456789abcdef",
    "mnemonic: legal winner thank year wave sausage worth useful legal winner thank yellow",
    "redis-cli -h cache -a S3cr3tPw99",
    "docker login -u me -p S3cr3tPw99 registry.example",
    "enable secret 5 $1$mERr$hx5rVt7rPNoS4wqbXKX7m0",
    f"bot123456789:AA{'x1-' * 11}",
    "ConvertTo-SecureString 'Zk39dkQ02mPa' -AsPlainText",
    "WIFI:T:WPA;S:x;P:Zk39dkQ02mPa;;",
    'psk="Zk39dkQ02mPa"',
    "echo 'root:Zk39dkQ02mPa' | chpasswd",
    "openssl enc -k Zk39dkQ02mPa -in x",
    f"https://{'0a' * 16}@o1.ingest.sentry.io/1",
    "db.acme.io:5432:orders:app:S3cr3tPw99",
    "CREATE USER app IDENTIFIED BY 'S3cr3tPw99';",
    "Cookie: theme=dark; sessionid=3lv5co02heg231lz; lang=en",
    "TWILIO_AUTH=9c56b15aad88ce8cf8e6ffd50d7f4fc6",
    "net user app S3cr3tPw99 /add",
    "pnu_9xk3u7nf1dl2ekv5wby4xsg8r9ljq0",
    '{"kty": "EC", "d": "HA-vXwZS8P-3EgaPro0HeX79YVp2XRZ3H_eUjrBUXxc"}',
    "username admin password 7 A97BE16B7D3CA670",
    "snmp-server community S3cr3tPw99 RO",
    "smbclient //nas/share -U 'app%S3cr3tPw99'",
    "keytool -list -keystore a.jks -storepass S3cr3tPw99",
    "echo 'S3cr3tPw99' | sudo -S ls",
    'variable "db_password" {\n  default = "S3cr3tPw99"\n}',
    "sqlcmd -S db1 -U sa -P 'S3cr3tPw99' -Q 'select 1'",
    "xfreerdp /u:app /p:S3cr3tPw99 /v:srv",
    "setx OPENAI_KEY txPS291MrpIzACLA0Ffa",
    "curl -b d=xoxd-3Kd93kqLmP20%2Bx8Vn%3D https://acme.slack.com",
    'proxy_set_header X-Api-Key "XkcWpu0KhzEtAOZ12bkA";',
    "<key>APIKey</key>\n<string>UBqe0kq077XN4EaOY1xh</string>",
    "sqlplus app/S3cr3tPw99@ORCL",
    'os.Setenv("STRIPE_API_KEY", "29Tj6TRcKnj1przg4XXUuPlg")',
    'config.setPassword("qX7!pL9zYQX");',
    "SET PASSWORD FOR 'app' = PASSWORD('S3cr3t!Pw99');",
    'let apiKey: String = "5T1LMUGLVj37SKo98I9VbJ9Q"',
    '<string name="api_key">e2CaRTLcfmaRy6Yc41JPdMGt</string>',
    "| Password | `Winter2031!EvD` |",
    "- **API key**: `gAuV5KtqJgiRSkJkYFNOywP9`",
    "password => Sensitive('Gr8Falcon!NF0'),",
    "http -a admin:S3cr3tPw99 GET :8080/api",
    "zqk_" + "0123456789abcdef" * 3,
    "zqk_live_Gt4AhFZ1ja1SuhgPW9eI",
    "PIN: 129038",
    'let api_key = String::from("5T1LMUGLVj37SKo98I9VbJ9Q");',
    "const stripeSecret: string = process.env.X ?? '29Tj6TRcKnj1przg4XXUuPlg';",
    "gh secret set DEPLOY_KEY --body '5T1LMUGLVj37SKo98I9VbJ9Q'",
    "Settings(secret_key=SecretStr('XkcWpu0KhzEtAOZ12bkA'), debug=True)",
    "DEBUG auth: using token XkcWpu0KhzEtAOZ12bkA for ann",
    "| API token | prod | gAuV5KtqJgiRSkJkYFNOywP9 |",
    "aws ssm put-parameter --name /db/password --value 'qX7!pL9zYQX'",
    "use this as the api key for now -> XkcWpu0KhzEtAOZ12bkA",
    "env:\n  - name: DB_PASSWORD\n    value: Zk39dkQ02mPa",
    '{"name":"DB_PASSWORD","value":"Zk39dkQ02mPa"}',
    '<add key="DbPassword" value="Zk39dkQ02mPa"/>',
    '{"name": "Authorization", "value": "Zk39dkQ02mPa"}',
    '{"name": "Cookie", "value": "session=Zk39dkQ02mPa"}',
    "password: |\n  S3cr3tPw99\nhost: db1",
    "Use Winter2031! as the password for the site.",
    "git clone https://q8Zr2LxW9vTn4BcYa7@github.com/a/b",
    'Content-Disposition: form-data; name="password"\r\n\r\nS3cr3tPw99\r\n',
    "passwords:\n  - S3cr3tPw99\n  - S3cr3tPw98\nusers:\n  - ann",
)


def test_secrets_of_settings_and_commands_are_found():
    assert [text for text in SETTINGS if not secrets.find(text)] == []


def test_every_value_of_a_list_under_the_name_of_a_secret_is_found():
    text = '{"passwords": ["Tr0ub4dor&3x", "Hx92kfLm&3pq"], "tokens": ["q8Zr2LxW9vTn", "4BcY77dkQ02m"]}'
    left = secrets.replaced(text, "")
    assert not any(value in left for value in ("Tr0ub4dor", "Hx92kf", "q8Zr2", "4BcY77")), left


TABLES = (
    "| user | Password | role |\n|---|---|---|\n| S3cr3tPw98 | `S3cr3tPw99` | S3cr3tPw98 |",
    " id | password \n----+----------\n  7 | S3cr3tPw99\n(1 row)\n",
    "+----+----------+\n| id | password |\n+----+----------+\n|  1 | S3cr3tPw99 |\n+----+----------+",
    "id\tapi_token\tuser\n1\tS3cr3tPw99\tS3cr3tPw98",
    "user,password,role\nS3cr3tPw98,S3cr3tPw99,S3cr3tPw98\n",
    'user,password,role\nS3cr3tPw98,S3cr3tPw99,"S3cr3tPw98, editor"\n',
    "user,password,role,note\nS3cr3tPw98,S3cr3tPw99\n\n",
    "user,password,role\r\nS3cr3tPw98,S3cr3tPw99,S3cr3tPw98,x\r\n",
    "\ufeffpassword;user\nS3cr3tPw99;S3cr3tPw98\n",
    " id | password       | role\n----+----------------+------\n  7 | horse S3cr3tPw99 | S3cr3tPw98\n",
    "USER          PASSWORD          ROLE\nS3cr3tPw98    horse S3cr3tPw99  S3cr3tPw98\n",
    "┏━━━━━━━━━━┳━━━━━━━━━━━━┓\n┃ password ┃ user       ┃\n│ S3cr3tPw99 │ S3cr3tPw98 │\n",
    "data:\n  other: UzNjcjN0UHc5OQ==\nkind: Secret\n",
    "kind: Secret\nmetadata:\n  name: x\ndata:\n  other: UzNjcjN0UHc5OQ==\ntype: S3cr3tPw98\n",
    '"data": {\n  "other": "UzNjcjN0UHc5OQ=="\n },\n "kind": "Secret"',
)


@pytest.mark.parametrize("text", TABLES)
def test_the_values_below_the_name_of_a_secret_are_found_and_no_others(text):
    left = secrets.replaced(text, "")
    assert "S3cr3tPw99" not in left
    assert "UzNj" not in left
    assert left.count("S3cr3tPw98") == text.count("S3cr3tPw98")


PLAIN = (
    "type C struct {\n\tHost string2\n\tDBPassword string\n\tUploadDir1 string\n}",
    "| name | value | use |\n|---|---|---|\n| A | B1 | password |\n| C | `D2x` | port8080 |",
    "def f(user, password, host):\n    return g(user, password1, host2)",
    "| Name | Token | Use |\n|---|---|---|\n| CI | `GITHUB_TOKEN` | 12345678 |",
    "| Setting | Password |\n|---|---|\n| a | required |\n| b | at least 8 signs |",
    "  password    The password of the user\n  user        Who2 logs in\n",
    "kind: ConfigMap\ndata:\n  mode: production1\n",
    "Password:\n- Remove\n- Reset\n",
    "use argon2id as the password hash",
    "f('resetPassword', 'path2')",
    "unzip -p a.zip",
    "redis-cli -p 6379",
    "ldapsearch -p 389",
    "docker run -u root -p 127.0.0.1:8080:80 web",
    "BASELINE_PASS would be empty",
    "toolu_01KMdMPfVdnrkmuaRV6LfAeX",
    f"chunk-{'3f2a9bc1' * 4}.js",
    "The-Setup-of-Version-2-" + "3f2a9bc1" * 4,
    'validate(token, "client-id-1")',
    "generate_private_key(public_exponent=65537)",
    '"next-auth": "^5.0.0-beta.31"',
    "token = await getUser2Name(request)",
    "the password of ann2@example.com was reset on 2026-01-02T10:00:00Z",
    "the token is valid for 10*time.Hour, see https://www.youtube.com/watch?v=aXwCrtAo4Wc",
    "print('token', 'MockUser object at 0x704523f8ea50', 'LA_kwDOPhXccc8AAAACIP5qUw')",
)


def test_a_text_without_a_secret_has_none():
    assert [text for text in PLAIN if secrets.find(text)] == []


ISSUERS = {
    "azure_storage_key": "AzureStorageKeyDetector",
    "discord": "DiscordBotTokenDetector",
    "github_token": "GitHubTokenDetector",
    "gitlab_token": "GitLabTokenDetector",
    "openai": "OpenAIDetector",
    "pypi_token": "PypiTokenDetector",
    "sendgrid": "SendGridDetector",
    "stripe": "StripeDetector",
    "telegram_token": "TelegramBotTokenDetector",
}
"""The detectors of detect-secrets that know a whole form; its others know a name and any value."""
PATTERNS = [
    pytest.param(pattern, id=f"{name}-{number}")
    for module, name in ISSUERS.items()
    for number, pattern in enumerate(
        getattr(importlib.import_module(f"detect_secrets.plugins.{module}"), name).denylist
    )
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_what_detect_secrets_finds_is_found(pattern):
    printable = st.characters(min_codepoint=33, max_codepoint=126)

    @settings(
        max_examples=10, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
    )
    @given(st.from_regex(pattern, fullmatch=True, alphabet=printable))
    def check(text):
        assert secrets.find(f"use {text} here")

    check()
