"""Reads feeds: by URL, by ids, or all."""

from datetime import timedelta

import msgspec
from sqlalchemy import bindparam, select

from feedmill.i18n.messages import message_or_none
from feedmill.model.encrypted import Encrypted
from feedmill.model.feed import ArchivePolicy, Feed, FeedStatus
from feedmill.model.timestamps import datetime_or_none, from_iso
from feedmill.store.database import Database, Row
from feedmill.store.dialect import as_list, one_of
from feedmill.store.schema import feeds

BY_URL = select(feeds).where(feeds.c.url == bindparam("url"))
BY_IDS = select(feeds).where(one_of(feeds.c.id, "ids")).order_by(feeds.c.id)
ALL = select(feeds).order_by(feeds.c.id)
WITH_HTTP_OPTIONS = select(feeds).where(feeds.c.http_options.is_not(None)).order_by(feeds.c.id)


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
        has_entry_settings=bool(row["has_entry_settings"]),
        added_by_person=bool(row["added_by_person"]),
        declared=bool(row["declared"]),
        etag=row["etag"],
        last_modified=row["last_modified"],
        body_sha256=row["body_sha256"],
        descriptor_sha256=row["descriptor_sha256"],
        next_fetch_at=datetime_or_none(row["next_fetch_at"]),
        next_fetch_why=message_or_none(row["next_fetch_why"]),
        interval=_length(row["interval_seconds"]),
        usual_gap=_length(row["usual_gap_seconds"]),
        polling_hints=row["polling_hints"],
        last_fetched_at=datetime_or_none(row["last_fetched_at"]),
        last_success_at=datetime_or_none(row["last_success_at"]),
        last_entry_at=datetime_or_none(row["last_entry_at"]),
        consecutive_failures=row["consecutive_failures"],
        truncated_count=row["truncated_count"],
        last_error=message_or_none(row["last_error"]),
        last_error_kind=row["last_error_kind"],
        gone_since=datetime_or_none(row["gone_since"]),
        moved_to=row["moved_to"],
        moved_count=row["moved_count"],
        merged_into=row["merged_into"],
        certificate_until=datetime_or_none(row["certificate_until"]),
        hub_url=row["hub_url"],
        topic_url=row["topic_url"],
        pushed_until=datetime_or_none(row["pushed_until"]),
        entry_count=row["entry_count"],
        claimed_until=datetime_or_none(row["claimed_until"]),
    )


async def feed_of_url(db: Database, url: str) -> Feed | None:
    rows = await db.query(BY_URL, {"url": url})
    return to_feed(rows[0]) if rows else None


async def feeds_of_ids(db: Database, ids: list[int]) -> list[Feed]:
    return [to_feed(row) for row in await db.query(BY_IDS, {"ids": as_list(ids)})]


async def feeds_with_http_options(db: Database) -> list[Feed]:
    """Feeds with HTTP options of their own, such as a password."""
    return [to_feed(row) for row in await db.query(WITH_HTTP_OPTIONS)]


async def all_feeds(db: Database) -> list[Feed]:
    return [to_feed(row) for row in await db.query(ALL)]


def encrypted_or_none(value: str | None) -> Encrypted | None:
    return None if value is None else Encrypted(value)


def _length(seconds: int | None) -> timedelta | None:
    return None if seconds is None else timedelta(seconds=seconds)
