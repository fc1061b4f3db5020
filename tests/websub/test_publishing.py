"""WebSub from publisher to subscriber: an output feed tells its hub, which pushes it to its readers."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import select

from feedmill.collect.refresh import refresh_feed
from feedmill.library.output_feeds.addresses import OutputAddress, OutputFormat
from feedmill.library.output_feeds.manage_output_feeds import create_output_feed
from feedmill.model.feed import Feed
from feedmill.model.syndication.output_feed import OutputList, OutputListKind
from feedmill.model.user import Caller
from feedmill.store.feeds.add_feeds import add_feed
from feedmill.store.feeds.claims import claim_feeds
from feedmill.store.schema import entries
from feedmill.store.users.users import add_user
from tests.library.small_library import SmallLibrary
from tests.waiting import until
from tests.websub.hub import WebSubHub
from tests.websub.pushed_site import PushedSite, pushed_site

EVERYTHING = OutputList(OutputListKind.ALL)


@pytest.fixture
async def publishing(tmp_path: Path, hub: WebSubHub) -> AsyncIterator[PushedSite]:
    """A site whose output feeds are told to the hub."""
    async with pushed_site(tmp_path, hub, websub_hub=hub.url) as made:
        await made.prepare("old")
        yield made


async def _announced_address(site: PushedSite) -> str:
    app = site.site.app
    who = Caller(site.alice, site.alice.scopes)
    secret, _ = await create_output_feed(app.db, who, EVERYTHING, "All", site.now, app.notifications.encryption)
    return OutputAddress(site.origin, secret, OutputFormat.ATOM).url


async def _followed_by_bob(site: PushedSite, url: str) -> Feed:
    """The output feed of Alice as a feed that Bob reads."""
    db = site.site.app.db
    bob = await add_user(db, "bob", None, False, site.now)
    feed = await add_feed(db, url, site.now)
    await SmallLibrary(db, site.now).subscribe(bob, feed.id)
    [claim] = await claim_feeds(db, [feed.id], site.now)
    await refresh_feed(site.site.app.tools, claim)
    return feed


async def _titles(site: PushedSite, feed: Feed) -> list[str]:
    rows = await site.site.app.db.query(select(entries.c.title).where(entries.c.feed_id == feed.id))
    return sorted(row["title"] for row in rows)


async def test_what_is_new_in_an_output_feed_is_pushed_to_its_readers(publishing: PushedSite) -> None:
    url = await _announced_address(publishing)
    feed = await _followed_by_bob(publishing, url)
    await publishing.ask_hubs()
    subscriber = await asyncio.to_thread(publishing.hub.subscriber, url)
    assert await _titles(publishing, feed) == ["old"]

    publishing.serve("new", "old")
    await publishing.fetch()
    assert await publishing.site.app.announcer.announce() == 1

    async def has_both() -> bool:
        return await _titles(publishing, feed) == ["new", "old"]

    await until(has_both, otherwise="the new entry was not pushed")
    assert subscriber.callback.startswith(publishing.origin)
    assert await publishing.site.app.announcer.announce() == 0
