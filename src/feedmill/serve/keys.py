"""The key that access tokens are signed with: a setting, or a file that is made at first start."""

import os
from functools import cache
from pathlib import Path
from secrets import token_hex

from feedmill.errors import BadSetting
from feedmill.settings import LEAST_KEY, Settings

FILE_NAME = "secret.key"


def signing_key(settings: Settings) -> str:
    """The key of this installation, made if there is none yet."""
    return settings.secret_key.get_secret_value() or _kept(settings.data / FILE_NAME)


def refuse_keys_of_ones_own(settings: Settings) -> None:
    """Several processes must sign with one key, so none of them makes up its own."""
    if not settings.secret_key.get_secret_value() and not (settings.data / FILE_NAME).exists():
        hint = "give all of them the same, such as 'openssl rand -hex 32' makes"
        raise BadSetting(f"secret_key: several API processes sign with one key ({hint})")


@cache
def _kept(path: Path) -> str:
    """The key in a file, which is there as a whole or not at all, and nobody else's to read."""
    try:
        if not path.exists():
            _make(path)
        key = path.read_text().strip()
    except OSError as error:
        raise BadSetting(f"data: the signing key {path} can't be kept: {error.strerror}") from error
    if len(key) < LEAST_KEY:
        raise BadSetting(f"secret_key: {path} holds no key of {LEAST_KEY} characters; delete it to have one made")
    return key


def _make(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{token_hex(4)}")
    file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.write(file, token_hex(32).encode() + b"\n")
        os.fsync(file)
        os.link(draft, path)
    except FileExistsError:
        # Another process was faster: its key is the key.
        return
    finally:
        os.close(file)
        draft.unlink()
