"""Adds feeds, one or many at once; feeds that exist stay as they are."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import msgspec
from sqlalchemy import bindparam, or_

from feedmill.i18n.messages import Message, message_to_stored
from feedmill.model.encrypted import Encrypted
from feedmill.model.feed import ArchivePolicy, Feed
from feedmill.model.hosts import host_of
from feedmill.model.timestamps import to_iso
from feedmill.store.chunks import chunked
from feedmill.store.database import Database, Step
from feedmill.store.dialect import as_list, insert_new, one_of
from feedmill.store.feeds.read_feeds import feed_of_url
from feedmill.store.schema import feeds

NEW_FEED = Message("schedule.new_feed")

ADD = insert_new(
    feeds,
    "url",
    "host",
    "title",
    "own_title",
    "folder",
    "site_url",
    "archive_policy",
    "http_options",
    "interval_seconds",
    "added_by_person",
    "declared",
    "next_fetch_at",
    "next_fetch_why",
    "created_at",
)
MARK_ADDED_BY_PERSON = (
    feeds.update().where(one_of(feeds.c.id, "ids"), feeds.c.added_by_person == 0).values(added_by_person=1)
)
WAKE = (
    feeds.update()
    .where(one_of(feeds.c.id, "ids"), feeds.c.next_fetch_at.is_(None), feeds.c.status != "disabled")
    .values(next_fetch_at=bindparam("at"), next_fetch_why=bindparam("why"))
)
# A feed that was merged into another is fetched again when a feed moves to its URL.
REVIVE = (
    feeds.update()
    .where(feeds.c.url == bindparam("url"), feeds.c.merged_into.is_not(None))
    .values(status="active", merged_into=None, moved_to=None, moved_count=0, consecutive_failures=0)
)
# A feed in backoff keeps its time.
MAKE_DUE = (
    feeds.update()
    .where(feeds.c.url == bindparam("url"), feeds.c.status != "disabled", feeds.c.consecutive_failures == 0)
    .where(or_(feeds.c.next_fetch_at.is_(None), feeds.c.next_fetch_at > bindparam("at")))
    .values(next_fetch_at=bindparam("at"), next_fetch_why=bindparam("why"))
)


@dataclass(frozen=True, slots=True)
class NewFeed:
    """A feed to add. `title` is replaced by the title that the feed gives; `own_title` takes precedence over both.

    A feed that is added `for_subscribers` rests when its last subscriber leaves.
    """

    url: str
    title: str | None = None
    own_title: str | None = None
    folder: tuple[str, ...] = ()
    site_url: str | None = None
    archive_policy: ArchivePolicy = ArchivePolicy.ALL
    http_options: Encrypted | None = None
    interval: timedelta | None = None
    declared: bool = False
    for_subscribers: bool = False


async def add_feeds(
    db: Database, new: Sequence[NewFeed], now: datetime, due_at: datetime, why: Message = NEW_FEED
) -> None:
    """Adds the feeds that do not exist yet, due at `due_at`."""
    for chunk in chunked(new):
        await db.batch([step_to_add_feeds(chunk, now, due_at, why)])


def step_to_add_feeds(new: Sequence[NewFeed], now: datetime, due_at: datetime, why: Message = NEW_FEED) -> Step:
    same = {"next_fetch_at": to_iso(due_at), "next_fetch_why": message_to_stored(why), "created_at": to_iso(now)}
    return Step(ADD, [_feed_values(feed) | same for feed in new])


async def add_feed(db: Database, url: str, now: datetime, title: str | None = None, *, declared: bool = False) -> Feed:
    """The feed at this URL; a new one is added and due at once."""
    await add_feeds(db, [NewFeed(url, title=title, declared=declared)], now, due_at=now)
    found = await feed_of_url(db, url)
    if found is None:
        raise AssertionError(f"{url} was added and is not there")
    return found


def steps_to_add_redirect_target(url: str, moved_from: str, now: datetime) -> list[Step]:
    """Adds the feed that another feed has moved to, or makes it due, for the subscribers that will be moved."""
    why = message_to_stored(Message("schedule.moved_here", url=moved_from))
    due = {"next_fetch_at": to_iso(now), "next_fetch_why": why, "created_at": to_iso(now)}
    return [
        Step(ADD, _feed_values(NewFeed(url, for_subscribers=True)) | due),
        Step(REVIVE, {"url": url}),
        Step(MAKE_DUE, {"url": url, "at": to_iso(now), "why": why}),
    ]


async def mark_added_by_person(db: Database, ids: Sequence[int], now: datetime) -> None:
    """Marks these feeds as added by a person, however they were added first; resting feeds become due."""
    for chunk in chunked(ids):
        params = {
            "ids": as_list(list(chunk)),
            "at": to_iso(now),
            "why": message_to_stored(Message("schedule.added_again")),
        }
        await db.batch([Step(MARK_ADDED_BY_PERSON, params), Step(WAKE, params)])


def _feed_values(feed: NewFeed) -> dict[str, Any]:
    return {
        "url": feed.url,
        "host": host_of(feed.url),
        "title": feed.title,
        "site_url": feed.site_url,
        "http_options": feed.http_options and feed.http_options.value,
        "added_by_person": int(not feed.declared and not feed.for_subscribers),
        "declared": int(feed.declared),
        **option_values(feed.own_title, feed.folder, feed.interval, feed.archive_policy),
    }


def option_values(
    own_title: str | None, folder: tuple[str, ...], interval: timedelta | None, archive_policy: ArchivePolicy
) -> dict[str, Any]:
    """The options that an operator chooses for a feed, as columns."""
    return {
        "own_title": own_title,
        "folder": msgspec.json.encode(folder).decode() if folder else None,
        "interval_seconds": None if interval is None else int(interval.total_seconds()),
        "archive_policy": archive_policy,
    }
