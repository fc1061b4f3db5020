"""Reads and saves a user's preferences."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

import msgspec

from feedmill.model.user import User
from feedmill.store.database import Database
from feedmill.store.users.users import step_to_save_preferences


def preferences_of(user: User) -> Mapping[str, str]:
    return _read(user.settings) if user.settings else {}


def shows_stories_once(settings: str | None) -> bool:
    """Whether the user, with these stored preferences, sees an article of several feeds once, and reads it once."""
    return not settings or _read(settings).get("stories") != "each"


def stored_language(settings: str | None) -> str:
    """The language that the user with these stored preferences chose; empty if the browser decides."""
    return _read(settings).get("language", "") if settings else ""


def stored_zone(settings: str | None) -> str:
    """The time zone that the user with these stored preferences chose; empty if the device decides."""
    return _read(settings).get("zone", "") if settings else ""


async def save_preferences(db: Database, user: User, changes: Mapping[str, str]) -> User:
    """Saves these preferences and keeps the others; the user as changed."""
    settings = encode_preferences({**preferences_of(user), **changes})
    await db.batch([step_to_save_preferences(user.id, settings)])
    return replace(user, settings=settings)


def encode_preferences(preferences: Mapping[str, str]) -> str:
    """The preferences as they are stored."""
    return msgspec.json.encode(preferences).decode()


@lru_cache(maxsize=1000)
def _read(settings: str) -> Mapping[str, str]:
    """The stored preferences; unreadable ones count as none, so that pages still open."""
    try:
        return msgspec.json.decode(settings, type=dict[str, str])
    except msgspec.MsgspecError:
        return {}
