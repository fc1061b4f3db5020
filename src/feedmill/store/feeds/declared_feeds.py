"""Applies the changes of the feeds file (`feeds.yaml`) to the database in one batch."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import bindparam, exists, func, select

from feedmill.i18n.messages import Message, message_to_stored
from feedmill.model.feed import ArchivePolicy
from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database, Step
from feedmill.store.dialect import as_list, one_of
from feedmill.store.feeds.add_feeds import WAKE, NewFeed, add_feeds, option_values
from feedmill.store.schema import feeds, subscriptions

_not_added_by_person = feeds.c.added_by_person == 0
_has_active_subscription = exists().where(subscriptions.c.feed_id == feeds.c.id, subscriptions.c.paused == 0)

COUNT = select(func.count().label("declared")).select_from(feeds).where(feeds.c.declared == 1)
MARK = feeds.update().where(one_of(feeds.c.id, "ids")).values(declared=bindparam("is_declared"))
# The claim is dropped too: otherwise a running refresh would set a time again.
REST = (
    feeds.update()
    .where(one_of(feeds.c.id, "ids"), _not_added_by_person, ~_has_active_subscription)
    .values(next_fetch_at=None, next_fetch_why=bindparam("why"), claim_token=None, claimed_until=None)
)
CHANGE = (
    feeds.update()
    .where(feeds.c.id == bindparam("feed_id"), _not_added_by_person)
    .values({name: bindparam(name) for name in ("own_title", "folder", "interval_seconds", "archive_policy")})
)
MAKE_DUE_SOONER = (
    feeds.update()
    .where(feeds.c.id == bindparam("feed_id"), _not_added_by_person, feeds.c.next_fetch_at > bindparam("at"))
    .values(next_fetch_at=bindparam("at"), next_fetch_why=bindparam("why"))
)


@dataclass(frozen=True, slots=True)
class DeclaredOptions:
    """The options of an existing feed in the file. `sooner` is when a new interval makes it due, if that is earlier."""

    feed_id: int
    own_title: str | None
    folder: tuple[str, ...]
    interval: timedelta | None
    archive_policy: ArchivePolicy
    sooner: datetime | None = None


@dataclass(frozen=True, slots=True)
class DeclaredChanges:
    """The changes that make the database equal to the file. All but `new` are existing feeds."""

    new: tuple[NewFeed, ...] = ()
    returned: tuple[int, ...] = ()
    dropped: tuple[int, ...] = ()
    changed: tuple[DeclaredOptions, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.new or self.returned or self.dropped or self.changed)


async def count_declared_feeds(db: Database) -> int:
    """How many feeds were in the feeds file when it was last applied."""
    [row] = await db.query(COUNT)
    return int(row["declared"])


async def apply_declared_changes(db: Database, comparison: DeclaredChanges, file_name: str, now: datetime) -> None:
    await add_feeds(db, comparison.new, now, now, Message("schedule.new_in_file", file=file_name))
    if steps := [*_marks(comparison, file_name, now), *_options(comparison.changed, file_name)]:
        await db.batch(steps)


def _marks(comparison: DeclaredChanges, file_name: str, now: datetime) -> list[Step]:
    steps = []
    if comparison.returned:
        ids = {"ids": as_list(list(comparison.returned))}
        woken = {"at": to_iso(now), "why": message_to_stored(Message("schedule.in_file_again", file=file_name))}
        steps += [Step(MARK, ids | {"is_declared": 1}), Step(WAKE, ids | woken)]
    if comparison.dropped:
        ids = {"ids": as_list(list(comparison.dropped))}
        resting = {"why": message_to_stored(Message("schedule.not_in_file", file=file_name))}
        steps += [Step(MARK, ids | {"is_declared": 0}), Step(REST, ids | resting)]
    return steps


def _options(changed: Sequence[DeclaredOptions], file_name: str) -> list[Step]:
    rows = [
        option_values(one.own_title, one.folder, one.interval, one.archive_policy) | {"feed_id": one.feed_id}
        for one in changed
    ]
    why = message_to_stored(Message("schedule.file_interval", file=file_name))
    sooner = [{"feed_id": one.feed_id, "at": to_iso(one.sooner), "why": why} for one in changed if one.sooner]
    return [*([Step(CHANGE, rows)] if rows else []), *([Step(MAKE_DUE_SOONER, sooner)] if sooner else [])]
