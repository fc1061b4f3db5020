"""The secret key with which access tokens are signed."""

from functools import cache
from pathlib import Path

from feedmill.secret_key import FILE_NAME, read_or_make_key
from feedmill.settings import Settings


def signing_key(settings: Settings) -> str:
    """The secret key of this instance; created if there is none yet."""
    return settings.secret_key.get_secret_value() or _stored_key(settings.data / FILE_NAME)


@cache
def _stored_key(path: Path) -> str:
    return read_or_make_key(path)
