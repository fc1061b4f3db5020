"""What filters did to entries and matched, and the undo of one effect."""

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct

from feedmill.errors import NotFound
from feedmill.i18n.messages import Message
from feedmill.library.cursors import LARGEST_ID, cursor_at, key_at
from feedmill.library.entries.list_entries import EntrySummary, entry_summaries
from feedmill.library.filters.manage_filters import find_filter
from feedmill.model.filters.entry_filter import FilterAction
from feedmill.model.filters.filter_history import LASTING_ACTIONS, FilterEffect
from feedmill.store.database import Database
from feedmill.store.entries.visible_entries import visible_entries
from feedmill.store.filters import effects as store
from feedmill.store.filters.undo_effects import EffectKey, steps_to_undo


class FilterHit(Struct, frozen=True):
    """An entry that a filter matched, when, and what it did that is still so."""

    entry: EntrySummary
    at: str
    actions: tuple[FilterAction, ...]


class FilterHitPage(Struct, frozen=True):
    """`next` is None on the last page."""

    items: list[FilterHit]
    next: str | None


async def effects_of_entry(db: Database, user_id: int, entry_id: int) -> list[FilterEffect]:
    """What the user's filters did to an entry, in the order of time; `NotFound` if the user may not see it.

    What the user has changed since is left out.
    """
    if not await visible_entries(db, user_id, [entry_id]):
        raise NotFound(Message("error.no_such_entry"))
    return await store.effects_of_entries(db, user_id, [entry_id])


async def effects_of_entries(db: Database, user_id: int, entry_ids: Sequence[int]) -> dict[int, list[FilterEffect]]:
    """What the user's filters did to these entries, by entry; entries without effects are left out."""
    found: dict[int, list[FilterEffect]] = {}
    for effect in await store.effects_of_entries(db, user_id, entry_ids) if entry_ids else ():
        found.setdefault(effect.entry_id, []).append(effect)
    return found


async def undo_effect(
    db: Database, user_id: int, entry_id: int, action: FilterAction, target_id: int, now: datetime
) -> None:
    """Takes back one effect; `NotFound` if there is none, or if it can't be taken back."""
    key = EffectKey(entry_id, action, target_id)
    known = {(effect.action, effect.target_id) for effect in await effects_of_entry(db, user_id, entry_id)}
    if action in LASTING_ACTIONS or (action, target_id) not in known:
        raise NotFound(Message("error.nothing_to_undo"))
    await db.batch(steps_to_undo(user_id, [key], now))


async def hits_of_filter(
    db: Database, user_id: int, filter_id: int, most: int = 50, cursor: str | None = None
) -> FilterHitPage:
    """The entries that the filter matched, the newest first; `NotFound` if it is not the user's."""
    await find_filter(db, user_id, filter_id)
    before = LARGEST_ID if cursor is None else key_at(cursor, int)
    found = await store.hits_of_filter(db, user_id, filter_id, before, most + 1)
    hits = {hit.entry_id: hit for hit in found[:most]}
    effects = await effects_of_entries(db, user_id, list(hits))
    items = [
        FilterHit(entry, hits[entry.id].at, _actions_of(effects.get(entry.id, ()), filter_id))
        for entry in await entry_summaries(db, user_id, list(hits))
    ]
    return FilterHitPage(items, cursor_at(found[most - 1].entry_id) if len(found) > most else None)


def _actions_of(effects: Sequence[FilterEffect], filter_id: int) -> tuple[FilterAction, ...]:
    return tuple(dict.fromkeys(effect.action for effect in effects if effect.filter_id == filter_id))
