"""Time-based one-time passwords (RFC 6238), with the parameters that every authenticator app uses."""

import hmac
from base64 import b32decode, b32encode
from datetime import datetime
from secrets import token_bytes
from urllib.parse import quote, urlencode

STEP_SECONDS = 30
DIGITS = 6
# As long as the output of SHA-1 (RFC 4226, section 4). In base 32 it needs no padding.
SECRET_BYTES = 20
BASE_32 = "[A-Z2-7]{32}"
# The clock of a phone may be so many steps before or behind ours.
DRIFT = 1
ISSUER = "Feedmill"


def new_secret() -> str:
    """A random secret in base 32, as authenticator apps take it."""
    return b32encode(token_bytes(SECRET_BYTES)).decode()


def step_at(now: datetime) -> int:
    return int(now.timestamp()) // STEP_SECONDS


def code_of_step(secret: str, step: int, digits: int = DIGITS) -> str:
    """The code of a time step (RFC 4226, section 5.3)."""
    digest = hmac.digest(b32decode(secret), step.to_bytes(8, "big"), "sha1")
    offset = digest[-1] & 0x0F
    number = int.from_bytes(digest[offset : offset + 4], "big") & 0x7FFF_FFFF
    return str(number % 10**digits).zfill(digits)


def step_of_code(secret: str, code: str, now: datetime) -> int | None:
    """The latest time step around now that has this code; None if none has. `code` is ASCII."""
    steps = range(step_at(now) - DRIFT, step_at(now) + DRIFT + 1)
    matching = [step for step in steps if hmac.compare_digest(code_of_step(secret, step), code)]
    return max(matching, default=None)


def authenticator_uri(secret: str, account: str) -> str:
    """What the QR code for authenticator apps contains."""
    return f"otpauth://totp/{ISSUER}:{quote(account, safe='')}?{urlencode({'secret': secret, 'issuer': ISSUER})}"
