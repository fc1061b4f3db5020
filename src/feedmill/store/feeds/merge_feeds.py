"""Moves the subscribers of one feed to another, with the states of entries that both feeds have.

Entries stay with their feed, and no entry takes over a guid of the other feed: a feed cannot write into another by
redirecting to it. An admin may move the entries too.

The last batch moves all that is left and puts the source to rest. If there are many subscribers, batches before it move
some of them each: they read both feeds then, and the last batch treats them so. A merge that ends in between goes on
from there when it is repeated.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from secrets import token_hex
from typing import Any, NamedTuple

from sqlalchemy import Select

from feedmill.i18n.messages import Message, message_to_stored
from feedmill.model.timestamps import iso_or_none, to_iso
from feedmill.store.archive.retention import LOCK_SUBSCRIPTIONS
from feedmill.store.database import Database, Row, Step
from feedmill.store.dialect import as_list
from feedmill.store.entries.fill_deferred_entries import (
    fill_subscribers,
    steps_to_fill_all,
    steps_to_fill_subscriptions,
)
from feedmill.store.feeds import merge_statements as sql
from feedmill.store.feeds.add_feeds import WAKE
from feedmill.store.feeds.apply_subscriber_settings import (
    NO_SUBSCRIBERS_REASON,
    REST,
    steps_to_apply_subscriber_options,
)
from feedmill.store.feeds.lifecycle import DROP_POOL_ITEMS, IMAGES_TO_GARBAGE
from feedmill.store.feeds.url_history import step_to_add_former_url
from feedmill.store.pools.groups import steps_to_add_feed_to_rules
from feedmill.store.subscriptions.change_subscription import SUBSCRIBED_REASON, step_to_lock_feed

# How many readers one batch moves.
MOST_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Merge:
    """Which feed (source) is merged into which (target).

    `seen_until`: when the source was last fetched. `move_up_to`: also move its entries up to this id.
    """

    source: int
    source_url: str
    target: int
    target_url: str
    seen_until: datetime | None = None
    move_up_to: int | None = None

    @property
    def seen_until_text(self) -> str:
        return iso_or_none(self.seen_until) or ""

    @property
    def both(self) -> dict[str, int]:
        return {"source": self.source, "target": self.target}


class MovableEntry(NamedTuple):
    """An entry that an admin may move."""

    id: int
    title: str | None
    link: str | None
    published_at: str | None


@dataclass(frozen=True, slots=True)
class MergePreview:
    """The effect of a merge. `movable_entries` are moved only if an admin wants it; `newest_movable` is the last id.

    `readers_of_both` and `same_entries` are those of `readers` and `entries` that both feeds have.
    """

    readers: int
    readers_of_both: int
    entries: int
    same_entries: int
    movable_entries: int
    newest_movable: int | None
    first_movable: tuple[MovableEntry, ...]


@dataclass(frozen=True, slots=True)
class _MergeState:
    """What the steps of a merge depend on: ids, and rows that the batch writes."""

    same: list[int]
    movable: list[int]
    moving: Sequence[Row]
    of_both: list[dict[str, int]]
    filtered_of_both: list[dict[str, int]]
    states_of_both: list[dict[str, Any]]
    read_in_source: Sequence[Row]
    first_unseen: int | None
    keeps_entries: bool


async def preview_merge(db: Database, source: int, target: int) -> MergePreview:
    both = {"source": source, "target": target}
    [movable] = await db.query(sql.COUNT_MOVABLE, both)
    return MergePreview(
        readers=len(await db.query(sql.READERS, both)),
        readers_of_both=await _count(db, sql.COUNT_READERS_OF_BOTH, both),
        entries=await _count(db, sql.COUNT_ALL, both),
        same_entries=await _count(db, sql.COUNT_SAME, both),
        movable_entries=int(movable["n"]),
        newest_movable=movable["newest"],
        first_movable=tuple(MovableEntry(**row) for row in await db.query(sql.FIRST_MOVABLE, both)),
    )


async def merge_feeds(db: Database, merge: Merge, now: datetime, extra: Sequence[Step] = ()) -> int:
    """Moves the subscribers of the source to the target, with the steps `extra`; how many entries moved.

    Repeating it changes nothing. Unread lists of popular feeds are filled before, and all but `MOST_AT_ONCE`
    subscribers are moved before, so that the last batch is short, and a merge that is interrupted has made progress.
    """
    for feed_id in (merge.source, merge.target):
        await fill_subscribers(db, feed_id)
    await _move_most_readers(db, merge)
    found = await _read_state(db, merge)
    params = _params(merge, found.moving) | {"at": to_iso(now)}
    await db.batch(
        [
            *_steps_to_lock_feeds(merge),
            Step(LOCK_SUBSCRIPTIONS, {"feeds": as_list([merge.source, merge.target])}),
            *[step for feed_id in (merge.source, merge.target) for step in steps_to_fill_all(feed_id)],
            *_steps_for_states(found, params),
            Step(sql.ADD_UNSEEN, params),
            *_steps_for_entries(found, params),
            *_steps_for_subscriptions(found, params),
            *await _steps_for_feeds(db, merge, now),
            *await steps_to_add_feed_to_rules(db, merge.source, merge.target, found.first_unseen),
            *extra,
        ]
    )
    return len(found.movable)


async def _move_most_readers(db: Database, merge: Merge) -> None:
    """Moves readers of the source in batches until few are left."""
    moving = await db.query(sql.MOVING, merge.both)
    for start in range(0, len(moving) - MOST_AT_ONCE, MOST_AT_ONCE):
        await db.batch(_steps_to_move_readers(merge, moving[start : start + MOST_AT_ONCE]))


def _steps_to_move_readers(merge: Merge, moving: Sequence[Row]) -> list[Step]:
    """Moves these readers and what is unread for them. Their marks and labels stay until the last batch."""
    params = _params(merge, moving)
    return [
        *_steps_to_lock_feeds(merge),
        *steps_to_fill_subscriptions(merge.source, [row["id"] for row in moving]),
        Step(sql.COPY_UNREAD, params),
        Step(sql.FORGET_UNREAD_OF_MOVING, params),
        Step(sql.ADD_UNSEEN, params),
        Step(sql.MOVE_SUBSCRIPTIONS, params),
        *_steps_to_keep_subscriptions(params),
        Step(sql.COUNT_UNREAD_OF_MOVED, [params | {"feed": merge.source}, params | {"feed": merge.target}]),
    ]


def _steps_to_lock_feeds(merge: Merge) -> list[Step]:
    return [step_to_lock_feed(feed_id) for feed_id in sorted((merge.source, merge.target))]


def _steps_to_keep_subscriptions(params: dict[str, Any]) -> list[Step]:
    """Moved readers get a second subscription, to the entries of the source."""
    return [Step(keep, params) for keep in (sql.KEEP_SUBSCRIPTIONS, sql.KEEP_FOLDERS, sql.KEEP_UNREAD)]


def _params(merge: Merge, moving: Sequence[Row]) -> dict[str, Any]:
    return merge.both | {
        "seen_until": merge.seen_until_text,
        "moving_ids": as_list([row["id"] for row in moving]),
        "moving_users": as_list([row["user_id"] for row in moving]),
    }


async def _read_state(db: Database, merge: Merge) -> _MergeState:
    both = merge.both
    same = [row["old"] for row in await db.query(sql.SAME, both)]
    up_to = merge.move_up_to
    movable = [] if up_to is None else [row["id"] for row in await db.query(sql.MOVABLE, both | {"up_to": up_to})]
    # Pending webhook deliveries go to the subscribers of the feed of the entry.
    waits = up_to is None and await _count(db, sql.COUNT_WAITING, both)
    [unseen] = await db.query(sql.FIRST_UNSEEN, both | {"seen_until": merge.seen_until_text})
    left = await _count(db, sql.COUNT_ALL, both) - len(same) - len(movable)
    return _MergeState(
        same=same,
        movable=movable,
        moving=await db.query(sql.MOVING, both),
        of_both=[dict(row) for row in await db.query(sql.READERS_OF_BOTH, both)],
        filtered_of_both=[dict(row) for row in await db.query(sql.FILTERED_OF_BOTH, both)],
        states_of_both=[dict(row) for row in await db.query(sql.STATES_OF_BOTH, both)],
        read_in_source=await db.query(sql.READ_IN_SOURCE, both),
        first_unseen=unseen["id"],
        keeps_entries=bool(left or waits),
    )


def _steps_for_states(found: _MergeState, params: dict[str, Any]) -> list[Step]:
    """Copies states, labels, positions and unread rows of entries that both feeds have to those of the target."""
    if not found.same:
        return []
    return [
        Step(sql.JOIN_STATES, [row | {"at": params["at"]} for row in found.states_of_both]),
        *[Step(copy, params) for copy in (sql.COPY_STATES, sql.COPY_LABELS, sql.COPY_POSITIONS, sql.COPY_UNREAD)],
        *[Step(drop, params) for drop in (sql.DROP_STATES, sql.DROP_LABELS, sql.DROP_POSITIONS, sql.FORGET_UNREAD)],
        *_steps_to_read(found.read_in_source),
    ]


def _steps_to_read(rows: Sequence[Row]) -> list[Step]:
    """What is read in the source is read in the target: a step for each entry, with the lists of its readers."""
    lists: dict[tuple[int, str], list[int]] = {}
    for row in rows:
        lists.setdefault((row["new"], row["sort_at"]), []).append(row["list"])
    return [
        Step(sql.READ_IN_TARGET, {"new": new, "sort_at": sort_at, "lists": as_list(sorted(of_entry))})
        for (new, sort_at), of_entry in sorted(lists.items())
    ]


def _steps_for_entries(found: _MergeState, params: dict[str, Any]) -> list[Step]:
    """Moves the entries that the admin chose; of entries that both feeds have, the target's stays."""
    if not found.movable:
        return []
    moved, same = params | {"ids": as_list(found.movable)}, params | {"ids": as_list(found.same)}
    return [
        Step(sql.ADD_TOMBSTONES, params | {"ids": as_list([*found.movable, *found.same])}),
        *[Step(drop, same) for drop in (IMAGES_TO_GARBAGE, DROP_POOL_ITEMS, sql.DROP_SAME)],
        *[Step(move, moved) for move in (sql.MOVE_ENTRIES, sql.MOVE_IMAGES, sql.MOVE_SKETCHES, sql.MOVE_DELIVERIES)],
        Step(sql.MOVE_UNREAD, moved),
    ]


def _steps_for_subscriptions(found: _MergeState, params: dict[str, Any]) -> list[Step]:
    """Moves subscriptions to the target; a second one to the source stays while only the source has some entries."""
    old = {"ids": as_list([pair["old"] for pair in found.of_both])}
    return [
        Step(sql.COPY_FOLDERS, params),
        *_steps_for_filters(found),
        Step(sql.MOVE_SUBSCRIPTIONS, params),
        *(_steps_to_keep_subscriptions(params) if found.keeps_entries else [Step(sql.DROP_SUBSCRIPTIONS, old)]),
        Step(sql.COUNT_UNREAD, [{"feed": params["source"]}, {"feed": params["target"]}]),
    ]


def _steps_for_filters(found: _MergeState) -> list[Step]:
    """Moves filters for the source alone of users who read both feeds."""
    if not found.filtered_of_both:
        return []
    versions = [{"old": pair["old"], "version": token_hex(16)} for pair in found.filtered_of_both]
    return [Step(sql.MOVE_FILTERS, found.filtered_of_both), Step(sql.SET_FILTERS_VERSION, versions)]


async def _steps_for_feeds(db: Database, merge: Merge, now: datetime) -> list[Step]:
    """Puts the source to rest with its new URL, and makes the target due."""
    at, why = to_iso(now), Message("schedule.merged", url=merge.target_url)
    is_noted = await db.query(sql.HAS_FORMER_URL, {"target": merge.target, "url": merge.source_url})
    return [
        *steps_to_apply_subscriber_options([merge.source, merge.target]),
        await _step_to_inherit(db, merge),
        Step(WAKE, {"ids": as_list([merge.target]), "at": at, "why": message_to_stored(SUBSCRIBED_REASON)}),
        Step(REST, {"feed": merge.target, "why": message_to_stored(NO_SUBSCRIBERS_REASON)}),
        Step(sql.LEAVE_FEED, merge.both | {"at": at}),
        Step(sql.COUNT_ENTRIES, [{"feed": merge.source}, {"feed": merge.target}]),
        *([] if is_noted else [step_to_add_former_url(merge.target, merge.source_url, now)]),
        Step(sql.RETIRE, merge.both | {"to": merge.target_url, "why": message_to_stored(why)}),
        Step(sql.UPDATE_EARLIER_MERGES, merge.both | {"to": merge.target_url}),
    ]


async def _step_to_inherit(db: Database, merge: Merge) -> Step:
    """The target takes over who added the source, its folder and title if it has none, and the shorter interval."""
    rows = {row["id"]: row for row in await db.query(sql.INHERITED, {"ids": as_list([merge.source, merge.target])})}
    source, target = rows[merge.source], rows[merge.target]
    seconds = [row["interval_seconds"] for row in (source, target) if row["interval_seconds"] is not None]
    values = {
        "new_added_by_person": max(source["added_by_person"], target["added_by_person"]),
        "new_declared": max(source["declared"], target["declared"]),
        "new_own_title": target["own_title"] or source["own_title"],
        "new_folder": target["folder"] or source["folder"],
        "new_interval_seconds": min(seconds, default=None),
    }
    return Step(sql.INHERIT, values | {"target": merge.target})


async def _count(db: Database, statement: Select[Any], params: dict[str, int]) -> int:
    [row] = await db.query(statement, params)
    return int(row["n"])
