"""Finds, makes and checks the secret key of an installation: the setting `secret_key`, or a file in the data folder."""

import os
from pathlib import Path
from secrets import token_hex

from feedmill.errors import BadSetting
from feedmill.settings import MIN_KEY_LENGTH, Settings

FILE_NAME = "secret.key"


def find_secret_key(settings: Settings) -> str | None:
    """The secret key of this instance, if it has one."""
    if key := settings.secret_key.get_secret_value():
        return key
    try:
        return _read_key(settings.data / FILE_NAME)
    except FileNotFoundError:
        return None


def key_location(settings: Settings) -> str:
    """Where the secret key is, for a person."""
    if settings.secret_key.get_secret_value():
        return "the setting secret_key"
    return str((settings.data / FILE_NAME).absolute())


def require_shared_key(settings: Settings) -> None:
    """Raises `BadSetting` without a key: processes that share data need the same one, so none may create its own."""
    if find_secret_key(settings) is None:
        hint = "give all of them the same, such as 'openssl rand -hex 32' makes"
        raise BadSetting(f"secret_key: several processes need one key ({hint})")


def make_secret_key(settings: Settings) -> str:
    """Creates the key file; raises `BadSetting` if other machines may share the database, since they lack the file."""
    if settings.redis.get_secret_value() or not settings.database_url.startswith("sqlite:"):
        require_shared_key(settings)
    return read_or_make_key(settings.data / FILE_NAME)


def old_secret_keys(settings: Settings) -> tuple[str, ...]:
    return tuple(key.strip() for key in settings.old_secret_keys.get_secret_value().split(",") if key.strip())


def _read_key(path: Path) -> str:
    try:
        key = path.read_text().strip()
    except FileNotFoundError:
        raise
    except OSError as error:
        raise BadSetting(f"data: the secret key {path} can't be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BadSetting(f"secret_key: {path} is not text; 'openssl rand -hex 32' makes a key") from error
    if len(key) < MIN_KEY_LENGTH:
        raise BadSetting(
            f"secret_key: {path} holds no key of {MIN_KEY_LENGTH} characters; delete it to have one created"
        )
    return key


def read_or_make_key(path: Path) -> str:
    """Reads the key from a file, which is created atomically and readable by its owner only."""
    try:
        if not path.exists():
            _make_key_file(path)
    except OSError as error:
        raise BadSetting(f"data: the secret key {path} can't be written: {error.strerror}") from error
    return _read_key(path)


def _make_key_file(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{token_hex(4)}")
    file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.write(file, token_hex(32).encode() + b"\n")
        os.fsync(file)
        os.link(temporary, path)
    except FileExistsError:
        # Another process was faster: its key is used.
        return
    finally:
        os.close(file)
        temporary.unlink()
