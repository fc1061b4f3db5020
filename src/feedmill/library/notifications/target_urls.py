"""The address of a notification target: checked, encrypted, decrypted."""

import re

from feedmill.encryption import Encryption
from feedmill.errors import BadInput
from feedmill.i18n.messages import Message
from feedmill.model.encrypted import Encrypted
from feedmill.model.notifications.notification_target import MAX_URL_LENGTH
from feedmill.optional_imports import MissingExtra, check_installed
from feedmill.outbound.apprise_schemes import SCHEMES, scheme_of

# Ties an encrypted value to its column.
ENCRYPTION_PURPOSE = "notification_targets.url"

_SCHEME = re.compile(r"[a-z0-9]{1,32}")


def check_target_url(text: str) -> str:
    """The address, if its service may be used; raises `BadInput`. Whether it is right shows when a message is sent."""
    url = text.strip()
    scheme = scheme_of(url)
    if len(url) > MAX_URL_LENGTH or not url.isprintable() or "://" not in url or not _SCHEME.fullmatch(scheme):
        raise BadInput(Message("notification.bad_url"), "url")
    if scheme not in SCHEMES:
        raise BadInput(Message("notification.unknown_scheme", scheme=scheme), "url")
    try:
        check_installed("apprise")
    except MissingExtra as error:
        raise BadInput(error.message, "url") from error
    return url


def is_apprise_installed() -> bool:
    try:
        check_installed("apprise")
    except MissingExtra:
        return False
    return True


def encrypt_url(encryption: Encryption, url: str) -> Encrypted:
    return encryption.encrypt(url, ENCRYPTION_PURPOSE)


def decrypt_url(encryption: Encryption, url: Encrypted) -> str:
    """Raises `UnreadableSecret` when the key is missing or another one."""
    return encryption.decrypt(url, ENCRYPTION_PURPOSE)
