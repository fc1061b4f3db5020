"""A site on a real port that a hub can reach, a feed that names the hub, and Alice, who reads it."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import uvicorn
from sqlalchemy import Table, select

from feedmill.collect.refresh import refresh_feed
from feedmill.model.feed import Feed
from feedmill.model.refresh import RefreshDecision
from feedmill.model.user import User
from feedmill.store.database import Row, Step
from feedmill.store.feeds.add_feeds import add_feed
from feedmill.store.feeds.claims import claim_feeds
from feedmill.store.feeds.read_feeds import feeds_of_ids
from feedmill.store.schema import entries, feeds
from feedmill.store.users.users import add_user
from tests.flows.refresh_environment import item, rss
from tests.library.small_library import SmallLibrary
from tests.scripted_web import Answer, Web
from tests.serve.rest.site import Site, running_site
from tests.waiting import until
from tests.websub.hub import Subscriber, WebSubHub

DAY = timedelta(days=1)
ATOM = "http://www.w3.org/2005/Atom"


def feed_with_hub(hub_url: str, self_url: str, *names: str, **more: Any) -> bytes:
    """An RSS feed that names its hub and itself as Atom does."""
    links = "".join(
        f'<a:link xmlns:a="{ATOM}" rel="{rel}" href="{url}"/>' for rel, url in (("hub", hub_url), ("self", self_url))
    )
    return rss(*(item(name, more.get(name, "")) for name in names), channel=links)


@dataclass
class PushedSite:
    """`now` is the clock of the site; `feed` is at `/feed` of the web."""

    site: Site
    hub: WebSubHub
    origin: str
    feed: Feed = field(init=False)
    alice: User = field(init=False)
    now: datetime = field(default_factory=lambda: datetime.now(UTC).replace(microsecond=0))

    @property
    def topic(self) -> str:
        return self.site.web.url("/feed")

    async def prepare(self, *names: str) -> None:
        """The feed is fetched with these entries, and Alice subscribes to it."""
        db = self.site.app.db
        self.alice = await add_user(db, "alice", None, False, self.now)
        self.serve(*names)
        self.feed = await add_feed(db, self.topic, self.now)
        await SmallLibrary(db, self.now).subscribe(self.alice, self.feed.id)
        await self.fetch()

    def serve(self, *names: str, **texts: str) -> None:
        self.site.web.serve("/feed", Answer(self.body(*names, **texts)))

    def body(self, *names: str, **texts: str) -> bytes:
        return feed_with_hub(self.hub.url, self.topic, *names, **texts)

    async def fetch(self) -> RefreshDecision:
        [claim] = await claim_feeds(self.site.app.db, [self.feed.id], self.now)
        return await refresh_feed(self.site.app.tools, claim)

    async def ask_hubs(self) -> int:
        """What the loop does that asks hubs."""
        subscriber = self.site.app.hub_subscriber
        subscriber.look_every_seconds = 0
        return await subscriber.run()

    async def subscribe(self) -> Subscriber:
        """The feed is subscribed at the hub, which has confirmed it."""
        await self.ask_hubs()
        confirmed = await asyncio.to_thread(self.hub.subscriber, self.topic)
        return confirmed

    async def publish(self, *names: str, **texts: str) -> None:
        """The hub pushes a body, and it has been used."""
        await asyncio.to_thread(self.hub.publish, self.topic, self.body(*names, **texts))
        await self.until_used()

    async def until_used(self) -> None:
        await until(self._is_used, otherwise="a push was not used")

    async def until_polled_daily(self) -> None:
        """That the hub pushes is recorded after the refresh which a light push caused."""
        await until(self._is_polled_daily, otherwise="the feed is still polled as if nothing was pushed")

    async def until_postponed(self) -> None:
        """A push was looked at, and waits because the feed is claimed."""
        await until(self._is_postponed, otherwise="a push was not postponed")

    async def _is_polled_daily(self) -> bool:
        next_fetch_at = (await self.stored()).next_fetch_at
        return next_fetch_at is not None and next_fetch_at - self.now > 0.89 * DAY

    async def _is_postponed(self) -> bool:
        rows = await self.rows(schema_table("hub_pushes"))
        return bool(rows) and all(
            (row["next_attempt_at"] or "") > row["received_at"] and row["claim_token"] is None for row in rows
        )

    async def _is_used(self) -> bool:
        rows = await self.rows(schema_table("hub_pushes"))
        return all(row["next_attempt_at"] is None for row in rows)

    async def stored(self) -> Feed:
        [feed] = await feeds_of_ids(self.site.app.db, [self.feed.id])
        return feed

    async def titles(self) -> list[str]:
        return [row["title"] for row in await self.rows(entries)]

    async def rows(self, table: Table) -> list[Row]:
        return await self.site.app.db.query(select(table).order_by(*table.primary_key))

    async def change(self, **values: Any) -> None:
        """Sets columns of the feed's row."""
        await self.site.app.db.batch([Step(feeds.update().where(feeds.c.id == self.feed.id).values(**values))])

    def later(self, length: timedelta) -> None:
        self.now += length


def schema_table(name: str) -> Table:
    return feeds.metadata.tables[name]


@asynccontextmanager
async def pushed_site(folder: Path, hub: WebSubHub, **settings: Any) -> AsyncIterator[PushedSite]:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        origin = f"http://127.0.0.1:{listening.getsockname()[1]}"
        given = {"public_url": origin} | settings
        async with Web() as web, running_site(folder, web, **given) as site:
            pushed = PushedSite(site, hub, origin)
            _use_clock(pushed)
            async with _listening(site, listening):
                yield pushed


def _use_clock(pushed: PushedSite) -> None:
    """The parts of the site that this is about take the time from the test."""
    app = pushed.site.app
    for holder in (app.tools, app.hub_subscriber.tools):
        object.__setattr__(holder, "clock", lambda: pushed.now)


@asynccontextmanager
async def _listening(site: Site, listening: socket.socket) -> AsyncIterator[None]:
    config = uvicorn.Config(site.asgi, log_config=None, lifespan="off", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server._serve(sockets=[listening]))
    try:
        yield
    finally:
        server.should_exit = True
        await serving
