"""What a person prefers on every device: names and values of the pages' own making, kept with the account."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

import msgspec

from feedmill.model.account import User
from feedmill.store.accounts import set_settings
from feedmill.store.database import Database


def preferences_of(user: User) -> Mapping[str, str]:
    return _read(user.settings) if user.settings else {}


async def keep_preferences(db: Database, user: User, changes: Mapping[str, str]) -> User:
    """The user with these preferences beside those that are not named."""
    settings = msgspec.json.encode({**preferences_of(user), **changes}).decode()
    await db.batch([set_settings(user.id, settings)])
    return replace(user, settings=settings)


@lru_cache(maxsize=1000)
def _read(settings: str) -> Mapping[str, str]:
    """What is not ours to read counts as nothing: preferences keep nobody from their pages."""
    try:
        return msgspec.json.decode(settings, type=dict[str, str])
    except msgspec.MsgspecError:
        return {}
