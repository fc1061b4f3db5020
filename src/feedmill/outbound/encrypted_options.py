"""The HTTP options of a feed as JSON, encrypted for its row."""

import msgspec

from feedmill.encryption import Encryption, UnreadableSecret
from feedmill.model.encrypted import Encrypted
from feedmill.model.fetch_options import FetchOptions

# Ties an encrypted value to its column.
ENCRYPTION_PURPOSE = "feeds.http_options"


def parse_options(text: str | None) -> FetchOptions:
    """Options from JSON, as the form of a feed's settings makes them."""
    return FetchOptions() if text is None else msgspec.json.decode(text, type=FetchOptions)


def encode_options(options: FetchOptions) -> str | None:
    """Options as JSON; None for the default."""
    return None if options == FetchOptions() else msgspec.json.encode(options).decode()


def encode_login(login: tuple[str, str] | None) -> str | None:
    """Options that have only a login, as JSON."""
    return None if login is None else msgspec.json.encode({"basic_auth": login}).decode()


def encrypt_options(encryption: Encryption, text: str | None) -> Encrypted | None:
    """Options in JSON, encrypted for the feed's row."""
    return None if text is None else encryption.encrypt(text, ENCRYPTION_PURPOSE)


def decrypt_options(encryption: Encryption, encrypted: Encrypted | None) -> str | None:
    """Options in JSON, from the feed's row; raises `UnreadableSecret`."""
    return None if encrypted is None else encryption.decrypt(encrypted, ENCRYPTION_PURPOSE)


def same_options(encryption: Encryption, one: Encrypted | None, other: Encrypted | None) -> bool:
    """Whether two feeds are fetched with the same options; options that can't be decrypted equal no others."""
    if one is None or other is None:
        return one is other
    try:
        return decrypt_options(encryption, one) == decrypt_options(encryption, other)
    except UnreadableSecret:
        return False
