"""Encrypts feed logins at rest with a key that is not in the database.

The key follows from the installation's secret key: the setting `secret_key`, or the file `secret.key` of the data
folder, which is made when the first secret is written. Every process that fetches needs the same one.

    enc1:{key id}:{base64 of nonce and ciphertext}      AES-256-GCM, the key by HKDF-SHA256

The key id is the beginning of a hash of the derived key. It tells which of several keys a value needs.
"""

import os
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from secrets import token_bytes, token_hex
from typing import TYPE_CHECKING

from feedmill.errors import BadSetting, InfrastructureError
from feedmill.lazy_imports import lazy_import
from feedmill.model.encrypted import Encrypted
from feedmill.settings import MIN_KEY_LENGTH, Settings

if TYPE_CHECKING:
    from feedmill.ciphers import Cipher

FILE_NAME = "secret.key"
FORMAT = "enc1"
NONCE_BYTES = 12
# With cryptography, which takes 7 MB: most instances keep no secret of a feed.
MAKE_CIPHER = "feedmill.ciphers:make_cipher"
KEY_LOCATION_HINT = "setting secret_key, or its file in the data folder"


class UnreadableSecret(InfrastructureError):
    """A secret can't be decrypted: its key is missing or another. Nobody but the operator can help."""


@dataclass(frozen=True, slots=True)
class Encryption:
    """Encrypts and decrypts. `find_key` gives the secret key, None if there is none yet; `make_key` makes one."""

    find_key: Callable[[], str | None]
    make_key: Callable[[], str]
    old_keys: tuple[str, ...] = field(default=(), repr=False)

    @classmethod
    def of(cls, settings: Settings) -> "Encryption":
        return cls(lambda: find_secret_key(settings), lambda: _make_secret_key(settings), _old_keys(settings))

    def encrypt(self, text: str, purpose: str) -> Encrypted:
        """`purpose` says what it is; decrypting needs the same, so that one secret can't be put in another's place."""
        cipher = _cipher(self.find_key() or self.make_key())
        nonce = token_bytes(NONCE_BYTES)
        sealed = nonce + cipher.aead.encrypt(nonce, text.encode(), purpose.encode())
        return Encrypted(f"{FORMAT}:{cipher.id}:{urlsafe_b64encode(sealed).decode()}")

    def decrypt(self, encrypted: Encrypted, purpose: str) -> str:
        """Raises `UnreadableSecret`."""
        form, _, rest = encrypted.value.partition(":")
        key_id, _, text = rest.partition(":")
        if form != FORMAT:
            raise UnreadableSecret("a login is kept in a form that can't be read; enter it again")
        cipher = self._cipher_of(key_id)
        try:
            sealed = urlsafe_b64decode(text)
            return cipher.decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], purpose.encode()).decode()
        except ValueError as error:
            raise UnreadableSecret("a login can't be decrypted, because it was damaged; enter it again") from error

    def can_decrypt(self, encrypted: Encrypted, purpose: str) -> bool:
        try:
            self.decrypt(encrypted, purpose)
        except UnreadableSecret:
            return False
        return True

    def _cipher_of(self, key_id: str) -> "Cipher":
        # No name here holds a key: a log may show the names of where an error was raised.
        for cipher in self._ciphers():
            if cipher.id == key_id:
                return cipher
        if self.find_key() is None:
            raise UnreadableSecret(
                f"a login can't be decrypted, because the secret key is missing ({KEY_LOCATION_HINT})"
            )
        raise UnreadableSecret(f"a login can't be decrypted, because it needs another secret key ({KEY_LOCATION_HINT})")

    def _ciphers(self) -> list["Cipher"]:
        return [_cipher(key) for key in (self.find_key(), *self.old_keys) if key]


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


def _make_secret_key(settings: Settings) -> str:
    """A key file, unless the database may be shared: then the key must not depend on this machine's folder."""
    if settings.redis.get_secret_value() or not settings.database_url.startswith("sqlite:"):
        require_shared_key(settings)
    return read_or_make_key(settings.data / FILE_NAME)


def _old_keys(settings: Settings) -> tuple[str, ...]:
    return tuple(key.strip() for key in settings.old_secret_keys.get_secret_value().split(",") if key.strip())


@cache
def _cipher(key: str) -> "Cipher":
    cipher: Cipher = lazy_import(MAKE_CIPHER)(key)
    return cipher


def _read_key(path: Path) -> str | None:
    try:
        key = path.read_text().strip()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise BadSetting(f"data: the secret key {path} can't be read: {error.strerror}") from error
    return _checked(key, path)


def _checked(key: str, path: Path) -> str:
    if len(key) < MIN_KEY_LENGTH:
        raise BadSetting(f"secret_key: {path} holds no key of {MIN_KEY_LENGTH} characters; delete it to have one made")
    return key


def read_or_make_key(path: Path) -> str:
    """The key in a file, which is there as a whole or not at all, and nobody else's to read."""
    try:
        if not path.exists():
            _make(path)
        key = path.read_text().strip()
    except OSError as error:
        raise BadSetting(f"data: the secret key {path} can't be kept: {error.strerror}") from error
    return _checked(key, path)


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


def _no_key() -> str:
    raise UnreadableSecret(f"a login can't be encrypted, because the secret key is missing ({KEY_LOCATION_HINT})")


NO_ENCRYPTION = Encryption(lambda: None, _no_key)
