"""Codes of authenticator apps, by the test vectors of RFC 6238 and RFC 4226."""

from base64 import b32encode
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from feedmill.library.users.totp import authenticator_uri, code_of_step, new_secret, step_at, step_of_code

SECRET = b32encode(b"12345678901234567890").decode()
NOW = datetime(2026, 3, 5, 12, 0, 10, tzinfo=UTC)
STEP = timedelta(seconds=30)


@pytest.mark.parametrize(
    ("seconds", "code"),
    [
        (59, "94287082"),
        (1111111109, "07081804"),
        (1111111111, "14050471"),
        (1234567890, "89005924"),
        (2000000000, "69279037"),
        (20000000000, "65353130"),
    ],
)
def test_codes_are_those_of_rfc_6238(seconds: int, code: str) -> None:
    step = step_at(datetime.fromtimestamp(seconds, UTC))

    assert code_of_step(SECRET, step, digits=8) == code
    assert code_of_step(SECRET, step) == code[2:]


def test_codes_are_those_of_rfc_4226() -> None:
    expected = "755224 287082 359152 969429 338314 254676 287922 162583 399871 520489"

    assert " ".join(code_of_step(SECRET, step) for step in range(10)) == expected


@pytest.mark.parametrize(("drift", "is_accepted"), [(-2, False), (-1, True), (0, True), (1, True), (2, False)])
def test_a_clock_may_be_one_step_off(drift: int, is_accepted: bool) -> None:
    code = code_of_step(SECRET, step_at(NOW + drift * STEP))

    assert step_of_code(SECRET, code, NOW) == (step_at(NOW) + drift if is_accepted else None)


def test_secrets_are_random_and_long() -> None:
    secrets = {new_secret() for _ in range(20)}

    assert len(secrets) == 20
    assert {len(secret) for secret in secrets} == {32}


def test_an_app_reads_issuer_account_and_secret_from_the_uri() -> None:
    uri = urlsplit(authenticator_uri(SECRET, "阿丽&x=1@feeds.example.org"))

    assert (uri.scheme, uri.netloc, unquote(uri.path)) == ("otpauth", "totp", "/Feedmill:阿丽&x=1@feeds.example.org")
    assert parse_qs(uri.query) == {"secret": [SECRET], "issuer": ["Feedmill"]}
