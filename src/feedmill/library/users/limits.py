"""Checks how much a user may have: counts, and the quota of bytes.

The quota of bytes counts the raw bodies and images of the user's feeds; a feed with several subscribers counts for
each. A used-up quota does not stop the user's feeds, but nothing more can be added.
"""

from typing import Literal

from feedmill.errors import LimitExceeded
from feedmill.i18n.messages import Message
from feedmill.store.archive.user_storage_usage import archived_bytes_by_user
from feedmill.store.database import Database
from feedmill.store.users.users import count_owned, user_of_id

CountedKind = Literal[
    "bookmarks", "filters", "folders", "labels", "notification_targets", "saved_searches", "services", "webhooks"
]

# More than anybody needs, and few enough to load and show all of them.
MAX_COUNTS: dict[CountedKind, int] = {
    "bookmarks": 50_000,
    "filters": 500,
    "folders": 2_000,
    "labels": 1_000,
    "notification_targets": 20,
    "saved_searches": 500,
    "services": 20,
    "webhooks": 20,
}


class ByteQuotaReached(LimitExceeded):
    """The user's quota of bytes is used up."""

    code = "quota_bytes"

    def __init__(self, used: int, most: int) -> None:
        super().__init__(Message("error.byte_quota", used=f"{used:,}", most=f"{most:,}"))
        self.more = {"kept_bytes": used, "quota_bytes": most}


async def check_count_limit(db: Database, user_id: int, kind: CountedKind, adding: int = 1) -> None:
    """Raises `LimitExceeded` if the user would have more of a kind than is allowed."""
    most = MAX_COUNTS[kind]
    if await count_owned(db, user_id, kind) + adding > most:
        raise LimitExceeded(Message(f"limit.{kind}", n=most))


async def check_byte_quota(db: Database, user_id: int) -> None:
    """Raises `ByteQuotaReached` if the user's quota of bytes is used up."""
    user = await user_of_id(db, user_id)
    if user is None or user.quota_bytes is None:
        return
    used = (await archived_bytes_by_user(db, [user_id]))[user_id]
    if used >= user.quota_bytes:
        raise ByteQuotaReached(used, user.quota_bytes)
