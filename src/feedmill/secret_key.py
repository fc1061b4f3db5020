"""Finds, makes and checks the secret key of an installation: the setting `secret_key`, or a file in the data folder."""

import os
from pathlib import Path
from secrets import token_hex

from feedmill.errors import BadSetting
from feedmill.settings import MIN_KEY_LENGTH, Settings

FILE_NAME = "secret.key"


def find_secret_key(settings: Settings) -> str | None:
    """The secret key of this installation, if it has one."""
    return settings.secret_key.get_secret_value() or _read_key(settings.data / FILE_NAME)


def key_location(settings: Settings) -> str:
    """Where the secret key is, for a person."""
    if settings.secret_key.get_secret_value():
        return "the setting secret_key"
    return str((settings.data / FILE_NAME).absolute())


def require_shared_key(settings: Settings) -> None:
    """Several processes must have one key, so none of them makes up its own."""
    if find_secret_key(settings) is None:
        hint = "give all of them the same, such as 'openssl rand -hex 32' makes"
        raise BadSetting(f"secret_key: several processes need one key ({hint})")


def make_secret_key(settings: Settings) -> str:
    """A key file, unless the database may be shared: then the key must not depend on this machine's folder."""
    if settings.redis.get_secret_value() or not settings.database_url.startswith("sqlite:"):
        require_shared_key(settings)
    return read_or_make_key(settings.data / FILE_NAME)


def old_secret_keys(settings: Settings) -> tuple[str, ...]:
    return tuple(key.strip() for key in settings.old_secret_keys.get_secret_value().split(",") if key.strip())


def _read_key(path: Path) -> str | None:
    try:
        key = path.read_text().strip()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise BadSetting(f"data: the secret key {path} can't be read: {error.strerror}") from error
    return _check_length(key, path)


def _check_length(key: str, path: Path) -> str:
    if len(key) < MIN_KEY_LENGTH:
        raise BadSetting(f"secret_key: {path} holds no key of {MIN_KEY_LENGTH} characters; delete it to have one made")
    return key


def read_or_make_key(path: Path) -> str:
    """The key in a file, which is there as a whole or not at all, and nobody else's to read."""
    try:
        if not path.exists():
            _make_key_file(path)
        key = path.read_text().strip()
    except OSError as error:
        raise BadSetting(f"data: the secret key {path} can't be kept: {error.strerror}") from error
    return _check_length(key, path)


def _make_key_file(path: Path) -> None:
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
