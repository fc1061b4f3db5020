"""What declared feeds change in the database, in one batch. Feeds that a person added are never touched."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import bindparam, exists, select

from feedmill.model.feed import ArchivePolicy
from feedmill.model.sentences import Sentence, to_stored
from feedmill.model.times import to_text
from feedmill.store.additions import WAKE, NewFeed, add_feeds, option_values
from feedmill.store.database import Database, Step
from feedmill.store.dialect import as_list, one_of
from feedmill.store.schema import feed_urls, feeds, subscriptions

_nobody_added = feeds.c.added_by_person == 0
_is_read = exists().where(subscriptions.c.feed_id == feeds.c.id, subscriptions.c.paused == 0)

FORMER_URLS = select(feed_urls.c.url, feed_urls.c.feed_id).order_by(feed_urls.c.until)
MARK = feeds.update().where(one_of(feeds.c.id, "ids")).values(declared=bindparam("is_declared"))
# The claim goes too: else a refresh that runs now would put a time there again.
REST = (
    feeds.update()
    .where(one_of(feeds.c.id, "ids"), _nobody_added, ~_is_read)
    .values(next_fetch_at=None, next_fetch_why=bindparam("why"), claim_token=None, claimed_until=None)
)
CHANGE = (
    feeds.update()
    .where(feeds.c.id == bindparam("feed_id"), _nobody_added)
    .values({name: bindparam(name) for name in ("own_title", "folder", "interval_seconds", "archive_policy")})
)
SOONER = (
    feeds.update()
    .where(feeds.c.id == bindparam("feed_id"), _nobody_added, feeds.c.next_fetch_at > bindparam("at"))
    .values(next_fetch_at=bindparam("at"), next_fetch_why=bindparam("why"))
)


@dataclass(frozen=True, slots=True)
class Options:
    """What the file says of a feed that is there. `sooner` is when its new interval wants it, if that is earlier."""

    feed_id: int
    own_title: str | None
    folder: tuple[str, ...]
    interval: timedelta | None
    archive_policy: ArchivePolicy
    sooner: datetime | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """What has to change so that the database is as the file says. All but `new` are feeds that are there."""

    new: tuple[NewFeed, ...] = ()
    returned: tuple[int, ...] = ()
    dropped: tuple[int, ...] = ()
    changed: tuple[Options, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.new or self.returned or self.dropped or self.changed)


async def former_urls(db: Database) -> dict[str, int]:
    """Which feed was at a URL that it has moved away from."""
    return {row["url"]: row["feed_id"] for row in await db.query(FORMER_URLS)}


async def apply(db: Database, comparison: Comparison, file_name: str, now: datetime) -> None:
    await add_feeds(db, comparison.new, now, now, Sentence("new in {file}", file=file_name))
    if steps := [*_marks(comparison, file_name, now), *_options(comparison.changed, file_name)]:
        await db.batch(steps)


def _marks(comparison: Comparison, file_name: str, now: datetime) -> list[Step]:
    steps = []
    if comparison.returned:
        ids = {"ids": as_list(list(comparison.returned))}
        woken = {"at": to_text(now), "why": to_stored(Sentence("it is in {file} again", file=file_name))}
        steps += [Step(MARK, ids | {"is_declared": 1}), Step(WAKE, ids | woken)]
    if comparison.dropped:
        ids = {"ids": as_list(list(comparison.dropped))}
        resting = {"why": to_stored(Sentence("at rest: it is no longer in {file}", file=file_name))}
        steps += [Step(MARK, ids | {"is_declared": 0}), Step(REST, ids | resting)]
    return steps


def _options(changed: Sequence[Options], file_name: str) -> list[Step]:
    rows = [
        option_values(one.own_title, one.folder, one.interval, one.archive_policy) | {"feed_id": one.feed_id}
        for one in changed
    ]
    why = to_stored(Sentence("its interval in {file} was changed", file=file_name))
    sooner = [{"feed_id": one.feed_id, "at": to_text(one.sooner), "why": why} for one in changed if one.sooner]
    return [*([Step(CHANGE, rows)] if rows else []), *([Step(SOONER, sooner)] if sooner else [])]
