"""The environment of a refresh: a real database, real files, a scripted web, and a clock that the test sets."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from xml.sax.saxutils import escape

from sqlalchemy import Table, select

from feedmill.archive.blobs import Blobs
from feedmill.collect.refresh import RefreshTools, refresh_feed
from feedmill.encryption import Encryption
from feedmill.model.encrypted import Encrypted
from feedmill.model.feed import Claim, Feed
from feedmill.model.refresh import RefreshDecision
from feedmill.model.timestamps import to_iso
from feedmill.outbound.client import Client
from feedmill.outbound.encrypted_options import decrypt_options, encrypt_options
from feedmill.store.database import Database, Row, Step
from feedmill.store.dialect import insert
from feedmill.store.feeds.add_feeds import add_feed
from feedmill.store.feeds.claims import claim_feeds
from feedmill.store.feeds.read_feeds import feeds_of_ids
from feedmill.store.schema import entries, feeds, subscriptions, users
from tests.scripted_web import Answer, Web
from tests.waiting import LONGEST_WAIT

SECRET_KEY = "a secret key for tests, 0123456789"
ENCRYPTION = Encryption(lambda: SECRET_KEY, lambda: SECRET_KEY)
NOW = datetime(2026, 2, 18, 8, 30, tzinfo=UTC)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


@dataclass
class RefreshEnvironment:
    """The parts of a refresh, and methods that many tests use."""

    db: Database
    blobs: Blobs
    client: Client
    web: Web
    now: datetime = NOW
    jitter: float = 0.0
    soft_limit: timedelta = timedelta(seconds=LONGEST_WAIT)
    sleeps: list[float] = field(default_factory=list)
    announced: list[tuple[Feed, RefreshDecision]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.build_tools()

    def build_tools(self) -> None:
        """Builds the tools of the refresh again after a test has changed a part."""
        self.tools = RefreshTools(
            self.db,
            self.blobs,
            self.client,
            soft_limit=self.soft_limit,
            sleep=self._rest,
            announce=lambda feed, decision: self.announced.append((feed, decision)),
            clock=lambda: self.now,
            jitter=lambda: self.jitter,
            encryption=ENCRYPTION,
        )

    async def _rest(self, seconds: float) -> None:
        self.sleeps.append(seconds)

    async def add(self, path: str = "/feed", served: Any = None, host: str | None = None) -> Feed:
        """A new feed at that path of the web."""
        url = self.web.url(path, host or "127.0.0.1") if served is None else self.web.serve(path, served, host)
        return await add_feed(self.db, url, self.now)

    async def claim(self, feed: Feed) -> Claim:
        [claim] = await claim_feeds(self.db, [feed.id], self.now)
        return claim

    async def refresh(self, feed: Feed) -> RefreshDecision:
        return await refresh_feed(self.tools, await self.claim(feed))

    async def later(self, length: timedelta, feed: Feed, served: Any = None, path: str = "/feed") -> RefreshDecision:
        """Refreshes again after some time, with another response if one is given."""
        self.now += length
        if served is not None:
            self.web.serve(path, served)
        return await self.refresh(feed)

    async def feed(self, feed: Feed) -> Feed:
        """The feed as it is now."""
        [there] = await feeds_of_ids(self.db, [feed.id])
        return there

    async def rows(self, table: Table, **where: Any) -> list[Row]:
        chosen = [table.c[name] == value for name, value in where.items()]
        return await self.db.query(select(table).where(*chosen).order_by(*table.primary_key))

    async def titles(self) -> list[str]:
        return [row["title"] for row in await self.rows(entries)]

    async def change(self, feed: Feed, **values: Any) -> None:
        """Sets columns of the feed's row."""
        await self.db.batch([Step(feeds.update().where(feeds.c.id == feed.id).values(**values))])

    async def put(self, table: Table, **values: Any) -> int:
        """Adds a row; its id, when it has one."""
        await self.db.batch([Step(insert(table, *values), values)])
        rows = await self.rows(table, **values)
        return int(rows[-1]["id"]) if "id" in table.c else 0

    async def user(self, name: str, list_id: int) -> int:
        return await self.put(users, name=name, unread_list_id=list_id, created_at=to_iso(self.now))

    async def subscribe(self, user_id: int, feed: Feed) -> int:
        return await self.put(subscriptions, user_id=user_id, feed_id=feed.id, created_at=to_iso(self.now))


def encrypted(http_options: str) -> Encrypted:
    """HTTP options as stored in a row."""
    made = encrypt_options(ENCRYPTION, http_options)
    assert made is not None
    return made


def decrypted(feed: Feed) -> str | None:
    return decrypt_options(ENCRYPTION, feed.http_options)


def item(name: str, text: str = "", date: datetime | None = None, guid: str | None = "", link: str | None = "") -> str:
    """An RSS item; guid and link come from the name unless they are given, and None leaves them out."""
    parts = [f"<title>{escape(name)}</title>"]
    if guid is not None:
        parts.append(f"<guid>{escape(guid or f'guid-{name}')}</guid>")
    if link is not None:
        parts.append(f"<link>{escape(link or f'https://example.org/{name}')}</link>")
    if text:
        parts.append(f"<description>{escape(text)}</description>")
    if date is not None:
        parts.append(f"<pubDate>{date:%a, %d %b %Y %H:%M:%S} GMT</pubDate>")
    return f"<item>{''.join(parts)}</item>"


def rss(*items: str, channel: str = "", title: str = "A feed") -> bytes:
    head = f"<title>{escape(title)}</title><link>https://example.org/</link><description>d</description>{channel}"
    return f'<?xml version="1.0"?><rss version="2.0"><channel>{head}{"".join(items)}</channel></rss>'.encode()


def answer(*items: str, headers: Mapping[str, str] | None = None, **more: Any) -> Answer:
    return Answer(rss(*items, **more), headers=dict(headers or {}))
