"""How much one person may have.

A quota of bytes counts what is kept of the person's feeds, bodies and images; a feed of several people counts for
each. What their feeds bring comes all the same; when it is used up nothing can be added that would be kept besides.
"""

from typing import Literal

from feedmill.errors import TooMany
from feedmill.store.accounts import user_of_id
from feedmill.store.database import Database
from feedmill.store.limits import count_own
from feedmill.store.space import bytes_of_users

Kind = Literal["bookmarks", "folders", "labels", "saved_searches", "webhooks"]

# More than anybody reads with, and few enough to be shown, loaded and searched whole.
MOST: dict[Kind, int] = {
    "bookmarks": 50_000,
    "folders": 2_000,
    "labels": 1_000,
    "saved_searches": 500,
    "webhooks": 20,
}


class NoRoom(TooMany):
    """As much is kept for the user as may be."""

    code = "quota_bytes"

    def __init__(self, kept: int, most: int) -> None:
        super().__init__(f"{kept:,} of the {most:,} bytes that may be kept for you are used: remove something first")
        self.more = {"kept_bytes": kept, "quota_bytes": most}


async def check_number(db: Database, user_id: int, kind: Kind, adding: int = 1) -> None:
    """Raises `TooMany` when the user would have more of a kind than anybody may."""
    most = MOST[kind]
    if await count_own(db, user_id, kind) + adding > most:
        raise TooMany(f"you may have at most {most:,} {kind.replace('_', ' ')}")


async def check_room(db: Database, user_id: int) -> None:
    """Raises `NoRoom` when the user's quota of bytes is used up."""
    user = await user_of_id(db, user_id)
    if user is None or user.quota_bytes is None:
        return
    kept = (await bytes_of_users(db, [user_id]))[user_id]
    if kept >= user.quota_bytes:
        raise NoRoom(kept, user.quota_bytes)
