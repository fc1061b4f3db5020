"""Finds the icon of a feed for its subscribers."""

import re

from feedmill.model.image import StoredIcon
from feedmill.store.database import Database
from feedmill.store.feeds import icons
from feedmill.store.feeds.icons import ICON_NAME_LENGTH

_NAME = re.compile(f"[0-9a-f]{{{ICON_NAME_LENGTH},64}}")


def is_icon_name(name: str) -> bool:
    """Whether it may name an icon: its digest, or how that begins."""
    return _NAME.fullmatch(name) is not None


async def icon_of_user(db: Database, user_id: int, name: str) -> StoredIcon | None:
    """The icon of that name, if a feed that the user subscribes to has it."""
    return await icons.find_icon(db, user_id, name) if is_icon_name(name) else None
