"""Keeps how far a user has played the audio and video files of entries, for all devices of the user."""

from collections.abc import Sequence
from datetime import datetime

from msgspec.structs import replace

from feedmill.errors import BadInput, NotFound
from feedmill.i18n.messages import Message
from feedmill.library.entries.article import find_entry
from feedmill.model.playback import MAX_POSITIONS_AT_ONCE, PlaybackPosition
from feedmill.store.database import Database
from feedmill.store.entries import playback_positions as store
from feedmill.store.entries.visible_entries import visible_entries


async def save_positions(db: Database, user_id: int, positions: Sequence[PlaybackPosition], now: datetime) -> None:
    """Saves those of the positions whose entry the user may see, unless a later one is known.

    A clock that is ahead does not win: no position is later than `now`.
    """
    if len(positions) > MAX_POSITIONS_AT_ONCE:
        raise BadInput(Message("error.too_many_positions", most=MAX_POSITIONS_AT_ONCE))
    visible = await visible_entries(db, user_id, sorted({position.entry_id for position in positions}))
    seen = [
        replace(position, played_at=min(position.played_at, now))
        for position in positions
        if position.entry_id in visible
    ]
    if seen:
        await store.save_positions(db, user_id, seen)


async def played_seconds(db: Database, user_id: int, entry_ids: Sequence[int]) -> dict[tuple[int, int], int]:
    """By entry and place of the enclosure, how many seconds of it the user has played."""
    positions = await store.positions_of_entries(db, user_id, entry_ids) if entry_ids else []
    return {(position.entry_id, position.enclosure): position.seconds for position in positions}


async def save_position(db: Database, user_id: int, position: PlaybackPosition, now: datetime) -> PlaybackPosition:
    """Saves one position, and returns the one that holds now; `NotFound` if the user may not see the entry."""
    entry = await find_entry(db, user_id, position.entry_id)
    if position.enclosure >= len(entry.enclosures):
        raise NotFound(Message("error.no_such_enclosure"))
    await save_positions(db, user_id, [position], now)
    return (await store.positions_of_entry(db, user_id, position.entry_id))[position.enclosure]
