"""Feeds as an administrator lists, pauses, moves and merges them."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Integer, bindparam, func, select

from feedmill.errors import Conflict, ConstraintViolated
from feedmill.i18n.messages import Message, message_to_stored
from feedmill.model.encrypted import Encrypted
from feedmill.model.feed import Feed
from feedmill.model.hosts import host_of
from feedmill.model.timestamps import to_iso
from feedmill.model.user import Actor
from feedmill.store.admin.audit_log import step_to_audit
from feedmill.store.database import Database, Row, Step
from feedmill.store.feeds.lifecycle import START, STOP
from feedmill.store.feeds.merge_feeds import Merge, merge_feeds
from feedmill.store.feeds.read_feeds import to_feed
from feedmill.store.feeds.url_history import step_to_add_former_url, step_to_update_moved_to
from feedmill.store.schema import feeds, subscriptions

_subscribers = select(func.count()).where(subscriptions.c.feed_id == feeds.c.id).scalar_subquery()
_listed = select(feeds, _subscribers.label("subscribers"))
PAGE = _listed.where(feeds.c.id > bindparam("after")).order_by(feeds.c.id).limit(bindparam("most", type_=Integer))
FAILING_PAGE = PAGE.where(feeds.c.consecutive_failures > 0)
OF_HOST = PAGE.where(feeds.c.host == bindparam("of_host"))
ONE = _listed.where(feeds.c.id == bindparam("feed_id"))
# Validators of the old URL do not hold for the new one, and a refresh that runs now must write nothing.
MOVE = (
    feeds.update()
    .where(feeds.c.id == bindparam("feed_id"))
    .values(url=bindparam("new_url"), host=bindparam("new_host"), http_options=bindparam("new_options"))
    .values(etag=None, last_modified=None, body_sha256=None, moved_to=None, moved_count=0)
    .values(claim_token=None, claimed_until=None)
)


class UrlTaken(Conflict):
    """Another feed has that URL."""

    code = "url_taken"


@dataclass(frozen=True, slots=True)
class AdminFeed:
    """A feed and the number of its subscribers, but not who they are."""

    feed: Feed
    subscribers: int


async def feeds_page(db: Database, after: int, most: int, *, only_failing: bool) -> list[AdminFeed]:
    rows = await db.query(FAILING_PAGE if only_failing else PAGE, {"after": after, "most": most})
    return [_admin_feed(row) for row in rows]


async def feeds_of_host(db: Database, host: str, after: int, most: int) -> list[AdminFeed]:
    rows = await db.query(OF_HOST, {"of_host": host, "after": after, "most": most})
    return [_admin_feed(row) for row in rows]


async def read_admin_feed(db: Database, feed_id: int) -> AdminFeed | None:
    rows = await db.query(ONE, {"feed_id": feed_id})
    return _admin_feed(rows[0]) if rows else None


async def pause_feed(db: Database, feed: Feed, by: Actor, now: datetime) -> None:
    stop = Step(STOP, {"feed_id": feed.id, "why": message_to_stored(Message("schedule.paused_by_admin"))})
    await db.batch([stop, step_to_audit(by, "feed.pause", feed.url, now)])


async def resume_feed(db: Database, feed: Feed, by: Actor, now: datetime) -> None:
    await db.batch(
        [_due(feed, Message("schedule.resumed_by_admin"), now), step_to_audit(by, "feed.resume", feed.url, now)]
    )


async def move_feed(
    db: Database, feed: Feed, url: str, http_options: Encrypted | None, by: Actor, now: datetime
) -> None:
    """Changes the URL of a feed; raises `UrlTaken`."""
    options = http_options and http_options.value
    moved = {"feed_id": feed.id, "new_url": url, "new_host": host_of(url), "new_options": options}
    steps = [
        Step(MOVE, moved),
        step_to_update_moved_to(feed.id, url),
        step_to_add_former_url(feed.id, feed.url, now),
        _due(feed, Message("schedule.url_changed_by_admin"), now),
        step_to_audit(by, "feed.move", f"{feed.url} -> {url}", now),
    ]
    try:
        await db.batch(steps)
    except ConstraintViolated as error:
        raise UrlTaken(Message("error.url_taken")) from error


async def merge_into(db: Database, source: Feed, target: Feed, move_up_to: int | None, by: Actor, now: datetime) -> int:
    """Moves the subscribers of `source` to `target`, and its entries up to `move_up_to`; how many entries moved."""
    action = "feed.merge" if move_up_to is None else "feed.merge_entries"
    merge = Merge(source.id, source.url, target.id, target.url, source.last_success_at, move_up_to)
    return await merge_feeds(db, merge, now, [step_to_audit(by, action, f"{source.url} -> {target.url}", now)])


def _due(feed: Feed, why: Message, now: datetime) -> Step:
    return Step(START, {"feed_id": feed.id, "why": message_to_stored(why), "at": to_iso(now)})


def _admin_feed(row: Row) -> AdminFeed:
    return AdminFeed(to_feed(row), row["subscribers"])
