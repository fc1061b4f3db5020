"""Encrypts feed logins at rest with a key that is not in the database.

The key is derived from the secret key of the instance: the setting `secret_key`, or the file `secret.key` in the data
folder, which is created when the first secret is written. Every process that fetches needs the same key.

    enc1:{key id}:{base64 of nonce and ciphertext}      AES-256-GCM, the key derived by HKDF-SHA256

The key id is the beginning of a hash of the derived key. It tells which of several keys a value needs.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from secrets import token_bytes
from typing import TYPE_CHECKING

from feedmill.errors import InfrastructureError
from feedmill.i18n.messages import Message
from feedmill.model.encrypted import Encrypted
from feedmill.optional_imports import import_by_name
from feedmill.secret_key import find_secret_key, make_secret_key, old_secret_keys
from feedmill.settings import Settings

if TYPE_CHECKING:
    from feedmill.cipher import Cipher

FORMAT = "enc1"
NONCE_BYTES = 12
# Imported lazily, because cryptography takes 7 MB and most instances store no secret of a feed.
MAKE_CIPHER = "feedmill.cipher:make_cipher"


class UnreadableSecret(InfrastructureError):
    """A secret can't be decrypted, because its key is missing or wrong. The operator must act."""


@dataclass(frozen=True, slots=True)
class Encryption:
    """Encrypts and decrypts. `find_key` returns the secret key, None if there is none yet; `make_key` creates one."""

    find_key: Callable[[], str | None]
    make_key: Callable[[], str]
    old_keys: tuple[str, ...] = field(default=(), repr=False)

    @classmethod
    def of(cls, settings: Settings) -> "Encryption":
        return cls(lambda: find_secret_key(settings), lambda: make_secret_key(settings), old_secret_keys(settings))

    def encrypt(self, text: str, purpose: str) -> Encrypted:
        """Encrypts a text. Decryption needs the same `purpose`, so that secrets of different kinds can't be swapped."""
        cipher = _cipher(self.find_key() or self.make_key())
        nonce = token_bytes(NONCE_BYTES)
        ciphertext = nonce + cipher.encrypt(nonce, text.encode(), purpose.encode())
        return Encrypted(f"{FORMAT}:{cipher.id}:{urlsafe_b64encode(ciphertext).decode()}")

    def decrypt(self, encrypted: Encrypted, purpose: str) -> str:
        """Decrypts a text; raises `UnreadableSecret`."""
        version, _, versioned = encrypted.value.partition(":")
        key_id, _, text = versioned.partition(":")
        if version != FORMAT:
            raise UnreadableSecret(Message("login.unknown_form"))
        cipher = self._cipher_of(key_id)
        try:
            ciphertext = urlsafe_b64decode(text)
            return cipher.decrypt(ciphertext[:NONCE_BYTES], ciphertext[NONCE_BYTES:], purpose.encode()).decode()
        except ValueError as error:
            raise UnreadableSecret(Message("login.damaged")) from error

    def can_decrypt(self, encrypted: Encrypted, purpose: str) -> bool:
        try:
            self.decrypt(encrypted, purpose)
        except UnreadableSecret:
            return False
        return True

    def _cipher_of(self, key_id: str) -> "Cipher":
        # No local variable holds a key: a traceback in a log may show local variables.
        for cipher in self._ciphers():
            if cipher.id == key_id:
                return cipher
        if self.find_key() is None:
            raise UnreadableSecret(Message("login.no_key"))
        raise UnreadableSecret(Message("login.other_key"))

    def _ciphers(self) -> list["Cipher"]:
        return [_cipher(key) for key in (self.find_key(), *self.old_keys) if key]


@cache
def _cipher(key: str) -> "Cipher":
    cipher: Cipher = import_by_name(MAKE_CIPHER)(key)
    return cipher


def _no_key() -> str:
    raise UnreadableSecret(Message("login.no_key_to_encrypt"))


NO_ENCRYPTION = Encryption(lambda: None, _no_key)
