"""Adds, finds and reads feeds."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import msgspec
from sqlalchemy import bindparam, select

from feedmill.model.encrypted import Encrypted
from feedmill.model.feed import ArchivePolicy, Feed, FeedStatus
from feedmill.model.hosts import host_of
from feedmill.model.timestamps import datetime_or_none, from_iso, to_iso
from feedmill.model.translatable_text import text_from_stored
from feedmill.store.database import Database, Row, Step
from feedmill.store.dialect import as_list, insert_new, one_of
from feedmill.store.schema import feeds

FORGET = feeds.update().where(feeds.c.id == bindparam("feed_id")).values(etag=None, last_modified=None)

ADD = insert_new(
    feeds, "url", "host", "title", "added_by_person", "declared", "next_fetch_at", "next_fetch_why", "created_at"
)
BY_URL = select(feeds).where(feeds.c.url == bindparam("url"))
BY_IDS = select(feeds).where(one_of(feeds.c.id, "ids")).order_by(feeds.c.id)
ALL = select(feeds).order_by(feeds.c.id)
WITH_HTTP_OPTIONS = select(feeds).where(feeds.c.http_options.is_not(None)).order_by(feeds.c.id)
SAVE_DESCRIPTOR_DIGEST = (
    feeds.update().where(feeds.c.id == bindparam("feed_id")).values(card_sha256=bindparam("digest"))
)


def to_feed(row: Row) -> Feed:
    return Feed(
        id=row["id"],
        url=row["url"],
        created_at=from_iso(row["created_at"]),
        title=row["title"],
        own_title=row["own_title"],
        folder=tuple(msgspec.json.decode(row["folder"], type=list[str])) if row["folder"] else (),
        site_url=row["site_url"],
        status=FeedStatus(row["status"]),
        archive_policy=ArchivePolicy(row["archive_policy"]),
        http_options=encrypted_or_none(row["http_options"]),
        tailored=bool(row["tailored"]),
        added_by_person=bool(row["added_by_person"]),
        declared=bool(row["declared"]),
        etag=row["etag"],
        last_modified=row["last_modified"],
        body_sha256=row["body_sha256"],
        card_sha256=row["card_sha256"],
        next_fetch_at=datetime_or_none(row["next_fetch_at"]),
        next_fetch_why=text_from_stored(row["next_fetch_why"] or "") or None,
        interval=_length(row["interval_seconds"]),
        rhythm=_length(row["rhythm_seconds"]),
        wishes=row["wishes"],
        last_fetched_at=datetime_or_none(row["last_fetched_at"]),
        last_success_at=datetime_or_none(row["last_success_at"]),
        last_entry_at=datetime_or_none(row["last_entry_at"]),
        consecutive_failures=row["consecutive_failures"],
        truncated_times=row["truncated_times"],
        last_error=row["last_error"],
        last_error_kind=row["last_error_kind"],
        gone_since=datetime_or_none(row["gone_since"]),
        moved_to=row["moved_to"],
        moved_times=row["moved_times"],
        merged_into=row["merged_into"],
        certificate_until=datetime_or_none(row["certificate_until"]),
        hub_url=row["hub_url"],
        entry_count=row["entry_count"],
        claimed_until=datetime_or_none(row["claimed_until"]),
    )


async def add_feed(db: Database, url: str, now: datetime, title: str | None = None, *, declared: bool = False) -> Feed:
    """The feed of that URL, made and due at once if it is new."""
    await db.batch([Step(ADD, _new_row(url, now, title, declared))])
    found = await feed_of_url(db, url)
    if found is None:
        raise AssertionError(f"{url} was added and is not there")
    return found


async def add_feeds_by_url(db: Database, urls: Sequence[str], now: datetime) -> None:
    """Makes those of these feeds that are new, all due at once."""
    await db.batch([Step(ADD, [_new_row(url, now, None, declared=False) for url in urls])])


def _new_row(url: str, now: datetime, title: str | None, declared: bool) -> dict[str, object]:
    return {
        "url": url,
        "host": host_of(url),
        "title": title,
        "added_by_person": int(not declared),
        "declared": int(declared),
        "next_fetch_at": to_iso(now),
        "next_fetch_why": "new feed",
        "created_at": to_iso(now),
    }


async def feed_of_url(db: Database, url: str) -> Feed | None:
    rows = await db.query(BY_URL, {"url": url})
    return to_feed(rows[0]) if rows else None


async def feeds_of_ids(db: Database, ids: list[int]) -> list[Feed]:
    return [to_feed(row) for row in await db.query(BY_IDS, {"ids": as_list(ids)})]


async def feeds_with_http_options(db: Database) -> list[Feed]:
    """Those that are asked for with options of their own, such as a password."""
    return [to_feed(row) for row in await db.query(WITH_HTTP_OPTIONS)]


async def all_feeds(db: Database) -> list[Feed]:
    return [to_feed(row) for row in await db.query(ALL)]


def step_to_save_descriptor_digest(feed_id: int, digest: str) -> Step:
    """The step that says what the feed's card in the object store is."""
    return Step(SAVE_DESCRIPTOR_DIGEST, {"feed_id": feed_id, "digest": digest})


def encrypted_or_none(value: str | None) -> Encrypted | None:
    return None if value is None else Encrypted(value)


def _length(seconds: int | None) -> timedelta | None:
    return None if seconds is None else timedelta(seconds=seconds)


async def forget_validators(db: Database, feed_id: int) -> None:
    await db.batch([Step(FORGET, {"feed_id": feed_id})])
