"""Steps that give stored entries the guids that their feed has for them now."""

from collections.abc import Sequence

import msgspec
from sqlalchemy import bindparam

from feedmill.model.refresh import ChangedGuid
from feedmill.store.chunks import chunked
from feedmill.store.database import Step
from feedmill.store.dialect import as_list, insert_new, looked_up, one_of
from feedmill.store.schema import entries, tombstones

# The former guid gets a tombstone, so that neither an archived body nor a feed that changes its mind brings the entry
# again. Without the id of the entry: programs that keep a copy would take that for the end of the entry.
FORGET = tombstones.delete().where(tombstones.c.feed_id == bindparam("feed_id"), one_of(tombstones.c.guid, "guids"))
REMEMBER = insert_new(tombstones, "feed_id", "guid", "purged_at")
# One statement for all, because D1 limits their number.
CHANGE = entries.update().where(one_of(entries.c.id, "ids")).values(guid=looked_up("guids", entries.c.id))


def steps_to_change_guids(feed_id: int, changed: Sequence[ChangedGuid], at: str) -> list[Step]:
    """The steps that change guids to ones that no other entry of the feed has."""
    return [step for chunk in chunked(changed) for step in _steps(feed_id, chunk, at)]


def _steps(feed_id: int, changed: Sequence[ChangedGuid], at: str) -> list[Step]:
    guids = msgspec.json.encode({str(each.entry_id): each.new for each in changed}).decode()
    return [
        Step(FORGET, {"feed_id": feed_id, "guids": as_list([each.new for each in changed])}),
        Step(CHANGE, {"ids": as_list([each.entry_id for each in changed]), "guids": guids}),
        Step(REMEMBER, [{"feed_id": feed_id, "guid": each.old, "purged_at": at} for each in changed]),
    ]
