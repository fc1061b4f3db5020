"""How far a user has played the enclosures of entries: of two positions the one that was played later is kept."""

from collections.abc import Sequence

from sqlalchemy import Integer, bindparam, select

from feedmill.model.playback import PlaybackPosition
from feedmill.model.timestamps import from_iso, to_iso
from feedmill.store.columns import Id, ascii_text
from feedmill.store.database import Database, Step
from feedmill.store.dialect import InsertNew, as_list, one_of
from feedmill.store.schema import entries, playback_positions

_of_entry = (
    playback_positions.c.user_id == bindparam("of_user"),
    playback_positions.c.entry_id == bindparam("of_entry"),
)
_columns = ("entry_id", "enclosure", "seconds", "played_at")
OF_ENTRIES = select(*(playback_positions.c[name] for name in _columns)).where(
    playback_positions.c.user_id == bindparam("of_user"), one_of(playback_positions.c.entry_id, "ids")
)
# Selected from the entry: one that was deleted in the meantime is not an error.
ADD = InsertNew(playback_positions).from_select(
    ["user_id", "entry_id", "enclosure", "seconds", "played_at"],
    select(
        bindparam("of_user", type_=Id),
        entries.c.id,
        bindparam("of_enclosure", type_=Integer()),
        bindparam("to_seconds", type_=Integer()),
        bindparam("at", type_=ascii_text(24)),
    ).where(entries.c.id == bindparam("of_entry")),
)
MOVE = (
    playback_positions.update()
    .where(*_of_entry, playback_positions.c.enclosure == bindparam("of_enclosure"))
    .where(playback_positions.c.played_at < bindparam("at"))
    .values(seconds=bindparam("to_seconds"), played_at=bindparam("at"))
)


async def save_positions(db: Database, user_id: int, positions: Sequence[PlaybackPosition]) -> None:
    """Saves positions, unless a later one is there; saving them again changes nothing."""
    params = [
        {
            "of_user": user_id,
            "of_entry": position.entry_id,
            "of_enclosure": position.enclosure,
            "to_seconds": position.seconds,
            "at": to_iso(position.played_at),
        }
        for position in positions
    ]
    await db.batch([Step(ADD, params), Step(MOVE, params)])


async def positions_of_entry(db: Database, user_id: int, entry_id: int) -> dict[int, PlaybackPosition]:
    """The user's positions in the enclosures of an entry, by the place of the enclosure."""
    return {position.enclosure: position for position in await positions_of_entries(db, user_id, [entry_id])}


async def positions_of_entries(db: Database, user_id: int, entry_ids: Sequence[int]) -> list[PlaybackPosition]:
    """The user's positions in the enclosures of these entries."""
    rows = await db.query(OF_ENTRIES, {"of_user": user_id, "ids": as_list(list(entry_ids))})
    return [
        PlaybackPosition(row["entry_id"], row["enclosure"], row["seconds"], from_iso(row["played_at"])) for row in rows
    ]
