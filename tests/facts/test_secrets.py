"""Secrets of many vendors and languages are found, told and left out; talk about secrets is kept.

Every key here is made up, and put together from pieces so that no scanner takes it for a real one.
"""

from __future__ import annotations

import pytest

from hippocampus.facts import FactError, FactPolicy, Facts, secrets

TAIL = "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY"
HEX = "0123456789abcdef"
SECRETS = (
    f"My OpenAI key is sk-proj-{TAIL}{TAIL}",
    f"sk-{TAIL}aB3dE5fG7hJ9kL1m",
    f"use sk-ant-api03-{TAIL}-{TAIL}",
    "AKIAIOSFODNN7EXAMPLE is the id",
    "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "ASIAIOSFODNN7EXAMPLE",
    f"ghp_{TAIL}abcd",
    f"github_pat_{TAIL}_{TAIL}",
    "glpat-xYz12AbCdEfGhIjKlMnO",
    f"xoxb-123456789012-1234567890123-{TAIL[:24]}",
    f"https://hooks.slack.com/services/T00000000/B00000000/{TAIL[:24]}",
    f"AIza{TAIL}abc",
    f"ya29.{TAIL}{TAIL}",
    "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",
    f"sk_live_{TAIL[:24]}",
    f"rk_live_{TAIL[:24]}",
    f"whsec_{TAIL}",
    f"SK{HEX}{HEX} is our Twilio key",
    f"SG.aB3dE5fG7hJ9kL1mN2pQ4r.{TAIL}aB3dE5fG7hJ",
    f"key-{HEX}{HEX}",
    f"npm_{TAIL}abcd",
    f"pypi-AgEIcHlwaS5vcmc{TAIL}{TAIL}",
    f"hf_{TAIL}ab",
    f"dop_v1_{HEX}{HEX}{HEX}{HEX}",
    f"shpat_{HEX}{HEX}",
    f"EAAAE{TAIL}{TAIL}",
    f"the bot token is 123456789:AAF{TAIL}",
    f"MTE4aB3dE5fG7hJ9kL1mN2pQ.G1a2b3.{TAIL}",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----",
    "-----BEGIN OPENSSH PRIVATE KEY-----",
    "-----BEGIN PGP PRIVATE KEY BLOCK-----",
    "-----BEGIN EC PRIVATE KEY-----",
    "PuTTY-User-Key-File-2: ssh-rsa",
    "AGE-SECRET-KEY-1AB3DE5FG7HJ9KL1MN2PQ4RS6TU8VW0XYAB3DE5FG7HJ9KL1MN2PQ4RS6TU",
    "postgres://admin:hunter22@db.example.com/prod",
    "redis://:s3cr3tpass@cache:6379",
    f"https://api.example.com/v1?access_token={TAIL}",
    "https://example.com/cb?api_key=9f8a7b6c5d4e3f2a1b",
    f"https://acc.blob.core.windows.net/c/f?sv=2020&sig={TAIL}%3D",
    f"DefaultEndpointsProtocol=https;AccountName=x;AccountKey={TAIL}{TAIL}==",
    f"Authorization: Bearer {TAIL}",
    "Authorization: Basic dXNlcjpwYXNzd29yZA==",
    "X-API-Key: 9f8a7b6c5d4e3f2a1b",
    "DB_PASSWORD=correcthorse",
    'export SECRET_TOKEN="abc123def456"',
    "My password is hunter2",
    "the root password: Tr0ub4dor&3",
    "the password for the router is hunter2x",
    "Ann's passphrase is correct horse battery staple",
    "my bank PIN is 4821",
    "Mein Passwort ist Geheim123",
    "Das Kennwort lautet Sommer2024!",
    "Das Passwort für das WLAN ist Sonnenblume7",
    "Mon mot de passe est azerty123",
    "Le mot de passe du wifi est soleil2024",
    "Mi contraseña es perro1234",
    "la clave del wifi es perro1234",
    "La mia password è gatto1234",
    "la parola d’ordine è gatto1234",
    "Minha senha é cachorro99",
    "Mijn wachtwoord is fiets1234",
    "Мой пароль — кошка123",
    "Пароль от вайфая: кошка123",
    "Moje hasło to kotek123",
    "我的密码是abc12345",
    "WiFi密码：abc12345",
    "パスワードはneko1234です",
    "비밀번호는 abc1234입니다",
    "كلمة المرور هي abc12345",
    "मेरा पासवर्ड abc12345 है",
    "Şifrem kedi1234",
    "Mitt lösenord är katt1234",
    "Ο κωδικός μου είναι gata1234",
    "Мій пароль kit12345",
    "my credit card is 4111 1111 1111 1111",
    "the seed phrase is abandon ability able about above absent absorb abstract absurd abuse access accident",
    '{"password": "hunter22", "user":"a"}',
    "api_key: 9f8a7b6c5d4e3f2a1b",
    "Cookie: sessionid=9f8a7b6c5d4e3f2a1b0c",
    "curl -u admin:hunter22 https://x.example",
    "mysql -uroot -phunter22",
    "sshpass -p 'hunter22' ssh host",
    "otpauth://totp/x?secret=JBSWY3DPEHPK3PXP",
    f"sk-or-v1-{HEX}{HEX}{HEX}{HEX}",
    f"gsk_{TAIL}aB3dE5fG7hJ9kL1mN2pQ",
    f"xai-{TAIL}{TAIL}",
    f"pplx-{TAIL}",
    f"r8_{TAIL}abcde",
    f"sk.eyJ1Ijoi{TAIL}.{TAIL}",
    f"lin_api_{TAIL}",
    f"secret_{TAIL}aB3dE5fG7hJ",
    f"ntn_{TAIL}aB3dE5fG7hJ",
    f"PMAK-{HEX}01234567-{HEX}{HEX}01",
    f"hvs.{TAIL}{TAIL}",
    f"dapi{HEX}{HEX}",
    f"HRKU-{TAIL}aB3dE5fG7hJ9kL1mN2pQ4rS6tU8v",
    f"FlyV1 fm2_{TAIL}",
    f"CLOUDFLARE_API_TOKEN={TAIL}abcdefgh",
    f"DD_API_KEY={HEX}{HEX}",
    f"sbp_{HEX}{HEX}01234567",
    f"My API key is {HEX}",
    f"client_secret: abc8Q~{TAIL}",
)
PLAIN = (
    "The password policy requires 12 characters",
    "Passwords are stored as bcrypt hashes",
    "We use JWT tokens for auth",
    "The API key is stored in Vault",
    "The secret is rotated every 90 days",
    "Ann forgot her password",
    "The password is required",
    "The secret is in AWS Secrets Manager",
    "Das Passwort ist abgelaufen",
    "Le mot de passe est obligatoire",
    "密码必须至少12位",
    "My favorite token is the ring of power",
    "The access token expires after 3600 seconds",
    "sk-learn is our library",
    "The key is to keep going",
    "The commit is 9f8a7b6c5d4e3f2a1b0c9f8a7b6c5d4e3f2a1b0c",
    "The id is 123e4567-e89b-12d3-a456-426614174000",
    "https://example.com/login?user=ann",
    "The PIN pad is broken",
    "Her secret is out",
    "The password reset takes 5 minutes",
    "the secret to good code is simplicity",
    "La contraseña es obligatoria",
    "Пароль обязателен",
    "パスワードは必須です",
    "user story sk-1234",
    "git commit ghp",
    "The basket-weaving-class-for-beginners-in-town starts",
    "ask-the-community-for-help-with-this-one is the channel",
    "The password manager is 1Password",
    "Our password manager is Bitwarden",
    "token limit is 128000",
    "The max token count is 4096",
    "API key rotation is due Friday",
    "The key is /etc/ssl/key.pem",
    "the password field is disabled",
)


@pytest.mark.parametrize("text", SECRETS, ids=range(len(SECRETS)))
def test_a_secret_is_found_and_its_form_is_left_out(text):
    assert secrets.told(text)
    assert not secrets.found(secrets.redacted(text))


@pytest.mark.parametrize("text", PLAIN)
def test_talk_about_secrets_is_kept(text):
    assert not secrets.told(text)


def test_only_the_sentence_with_the_secret_is_left_out_and_the_raw_text_has_none(facts):
    said = (
        "Ann works at IBM. Her password is hunter2! She likes tea.\n"
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA\nabcdef0\n-----END RSA PRIVATE KEY-----"
    )
    outcomes = facts.remember(said)
    assert [each.action for each in outcomes] == ["added", "refused", "added", "refused"]
    assert [each.reason.split(",")[0] for each in outcomes if each.action == "refused"] == [
        "it holds a password",
        "it holds a private key",
    ]
    everything = repr(facts.memories()) + repr(outcomes)
    assert not any(part in everything for part in ("hunter2", "MIIEow", "abcdef0"))


def test_no_model_sees_a_secret(opened):
    seen = []

    def complete(prompt):
        seen.append(prompt)
        return '[{"fact": "Ann works at IBM"}, {"fact": "The password is [a password left out]"}]'

    store = opened(complete=complete)
    outcomes = store.remember("Ann works at IBM. The password is hunter2")
    assert seen
    assert not any("hunter2" in prompt for prompt in seen)
    assert [each.action for each in outcomes] == ["added", "refused"]


def test_every_way_in_refuses_a_secret(facts):
    said = "the password is hunter2"
    assert facts.store(said).action == "refused"
    assert facts.remember_many([said])[0].action == "refused"
    assert facts.remember_triple("the server", "password", "hunter2").action == "refused"
    kept = facts.remember_triple("Ann", "likes", "tea", raw=f"Ann likes tea, {said}")
    assert "hunter2" not in kept.memory.raw
    with pytest.raises(FactError, match="it holds a password"):
        facts.update(kept.memory.id, said)


def test_a_policy_may_keep_secrets():
    with Facts(":memory:", settings=FactPolicy(keep_secrets=True)) as facts:
        assert facts.remember("The password is hunter2")[0].action == "added"
