"""Checks how much a user may have: counts, and the quota of bytes.

A quota of bytes counts what is kept of the person's feeds, bodies and images; a feed of several people counts for
each. What their feeds bring comes all the same; when it is used up nothing can be added that would be kept besides.
"""

from typing import Literal

from feedmill.errors import LimitExceeded
from feedmill.store.archive.user_storage_usage import archived_bytes_by_user
from feedmill.store.database import Database
from feedmill.store.users.users import count_owned, user_of_id

CountedKind = Literal["bookmarks", "folders", "labels", "saved_searches", "webhooks"]

# More than anybody reads with, and few enough to be shown, loaded and searched whole.
MAX_COUNTS: dict[CountedKind, int] = {
    "bookmarks": 50_000,
    "folders": 2_000,
    "labels": 1_000,
    "saved_searches": 500,
    "webhooks": 20,
}


class ByteQuotaReached(LimitExceeded):
    """As much is kept for the user as may be."""

    code = "quota_bytes"

    def __init__(self, kept: int, most: int) -> None:
        super().__init__(f"{kept:,} of the {most:,} bytes that may be kept for you are used: remove something first")
        self.more = {"kept_bytes": kept, "quota_bytes": most}


async def check_count_limit(db: Database, user_id: int, kind: CountedKind, adding: int = 1) -> None:
    """Raises `LimitExceeded` when the user would have more of a kind than anybody may."""
    most = MAX_COUNTS[kind]
    if await count_owned(db, user_id, kind) + adding > most:
        raise LimitExceeded(f"you may have at most {most:,} {kind.replace('_', ' ')}")


async def check_byte_quota(db: Database, user_id: int) -> None:
    """Raises `ByteQuotaReached` when the user's quota of bytes is used up."""
    user = await user_of_id(db, user_id)
    if user is None or user.quota_bytes is None:
        return
    kept = (await archived_bytes_by_user(db, [user_id]))[user_id]
    if kept >= user.quota_bytes:
        raise ByteQuotaReached(kept, user.quota_bytes)
