"""Recovery codes, each of which replaces a code of the authenticator app once; only their digests are stored."""

import re

from feedmill.library.users.readable_secrets import ALPHABET, GROUP_LENGTH, new_readable_secret
from feedmill.store.users.api_keys import secret_digest

CODES = 10
# Sixteen characters are 79 bits: too many to guess, also for whoever has the digests.
GROUPS = 4
_SHAPE = re.compile(rf"[{ALPHABET}]{{{GROUPS * GROUP_LENGTH}}}")


def new_recovery_codes() -> list[str]:
    return [new_readable_secret(GROUPS) for _ in range(CODES)]


def recovery_code_digest(typed: str) -> str | None:
    """The digest of a code without spaces, with or without hyphens; None for text that is no recovery code."""
    code = typed.replace("-", "").lower()
    return secret_digest(code) if _SHAPE.fullmatch(code) else None
