"""AES-256-GCM with a key derived by HKDF-SHA256; imported only when a secret is read or written."""

from dataclasses import dataclass
from hashlib import sha256

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

KEY_INFO = b"feedmill secrets at rest, version 1"
KEY_ID_LENGTH = 8


@dataclass(frozen=True, slots=True)
class Cipher:
    """`id` is the beginning of a hash of the derived key."""

    id: str
    aead: AESGCM

    def encrypt(self, nonce: bytes, text: bytes, purpose: bytes) -> bytes:
        return self.aead.encrypt(nonce, text, purpose)

    def decrypt(self, nonce: bytes, ciphertext: bytes, purpose: bytes) -> bytes:
        """Raises `ValueError` if the text was not encrypted with this key for this purpose."""
        try:
            return self.aead.decrypt(nonce, ciphertext, purpose)
        except InvalidTag as error:
            raise ValueError("the tag does not match") from error


def make_cipher(key: str) -> Cipher:
    derived = HKDF(algorithm=SHA256(), length=32, salt=None, info=KEY_INFO).derive(key.encode())
    return Cipher(sha256(derived).hexdigest()[:KEY_ID_LENGTH], AESGCM(derived))
