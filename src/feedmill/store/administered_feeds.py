"""Feeds as an admin sees and changes them: for everybody who is subscribed."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Integer, bindparam, func, select

from feedmill.errors import Conflict, ConstraintViolated
from feedmill.model.account import Actor
from feedmill.model.feed import Feed
from feedmill.model.times import to_text
from feedmill.store.audit import write_down
from feedmill.store.database import Database, Row, Step
from feedmill.store.feeds import host_of, read_feed
from feedmill.store.merges import NOTE_URL, READERS_OF_BOTH, TWINS, merge_feeds
from feedmill.store.removals import START, STOP
from feedmill.store.schema import feeds, subscriptions

_subscribers = select(func.count()).where(subscriptions.c.feed_id == feeds.c.id).scalar_subquery()
_listed = select(feeds, _subscribers.label("subscribers"))
PAGE = _listed.where(feeds.c.id > bindparam("after")).order_by(feeds.c.id).limit(bindparam("most", type_=Integer))
FAILING_PAGE = PAGE.where(feeds.c.consecutive_failures > 0)
OF_HOST = PAGE.where(feeds.c.host == bindparam("of_host"))
ONE = _listed.where(feeds.c.id == bindparam("feed_id"))
# What it said of itself at the old address does not hold at the new one; nor does a refresh that runs now.
MOVE = (
    feeds.update()
    .where(feeds.c.id == bindparam("feed_id"))
    .values(url=bindparam("new_url"), host=bindparam("new_host"), http_options=bindparam("new_options"))
    .values(etag=None, last_modified=None, body_sha256=None, moved_to=None, moved_times=0)
    .values(claim_token=None, claimed_until=None)
)
# Feeds that were merged into this one are found by its address.
FOLLOW = (
    feeds.update()
    .where(feeds.c.moved_to == bindparam("old_url"), feeds.c.status == "disabled")
    .values(moved_to=bindparam("new_url"))
)
COUNT_TWINS = select(func.count().label("n")).select_from(TWINS.subquery("twins"))
COUNT_READERS_OF_BOTH = select(func.count().label("n")).select_from(READERS_OF_BOTH.subquery("readers"))


class UrlTaken(Conflict):
    """Another feed is at that address."""

    code = "url_taken"


@dataclass(frozen=True, slots=True)
class Administered:
    """A feed, and how many people are subscribed to it; never who."""

    feed: Feed
    subscribers: int


@dataclass(frozen=True, slots=True)
class Merging:
    """What a merge comes to: readers and entries that go over, and those of them that are there already."""

    readers: int
    readers_of_both: int
    entries: int
    twins: int


async def feeds_page(db: Database, after: int, most: int, *, only_failing: bool) -> list[Administered]:
    rows = await db.query(FAILING_PAGE if only_failing else PAGE, {"after": after, "most": most})
    return [_administered(row) for row in rows]


async def feeds_of_host(db: Database, host: str, after: int, most: int) -> list[Administered]:
    rows = await db.query(OF_HOST, {"of_host": host, "after": after, "most": most})
    return [_administered(row) for row in rows]


async def read_administered(db: Database, feed_id: int) -> Administered | None:
    rows = await db.query(ONE, {"feed_id": feed_id})
    return _administered(rows[0]) if rows else None


async def pause_feed(db: Database, feed: Feed, by: Actor, now: datetime) -> None:
    stop = Step(STOP, {"feed_id": feed.id, "why": "paused by an admin"})
    await db.batch([stop, write_down(by, "feed.pause", feed.url, now)])


async def resume_feed(db: Database, feed: Feed, by: Actor, now: datetime) -> None:
    await db.batch([_due(feed, "resumed by an admin", now), write_down(by, "feed.resume", feed.url, now)])


async def move_feed(db: Database, feed: Feed, url: str, http_options: str | None, by: Actor, now: datetime) -> None:
    """Fetches the feed from another address from now on; `UrlTaken` when another feed is there."""
    moved = {"feed_id": feed.id, "new_url": url, "new_host": host_of(url), "new_options": http_options}
    steps = [
        Step(MOVE, moved),
        Step(FOLLOW, {"old_url": feed.url, "new_url": url}),
        Step(NOTE_URL, {"feed_id": feed.id, "url": feed.url, "until": to_text(now)}),
        _due(feed, "an admin changed its address", now),
        write_down(by, "feed.move", f"{feed.url} -> {url}", now),
    ]
    try:
        await db.batch(steps)
    except ConstraintViolated as error:
        raise UrlTaken("another feed is at that address already") from error


async def foresee_merge(db: Database, source: Administered, target: Administered) -> Merging:
    both = {"source": source.feed.id, "target": target.feed.id}
    [twins], [readers] = await db.query(COUNT_TWINS, both), await db.query(COUNT_READERS_OF_BOTH, both)
    return Merging(source.subscribers, readers["n"], source.feed.entry_count, twins["n"])


async def merge_into(db: Database, source: Feed, target: Feed, by: Actor, now: datetime) -> None:
    """Gives readers and entries of `source` to `target`, and retires it."""
    deed = write_down(by, "feed.merge", f"{source.url} -> {target.url}", now)
    await merge_feeds(db, source.id, source.url, target.id, target.url, now, [deed])


def _due(feed: Feed, why: str, now: datetime) -> Step:
    return Step(START, {"feed_id": feed.id, "why": why, "at": to_text(now)})


def _administered(row: Row) -> Administered:
    return Administered(read_feed(row), row["subscribers"])
