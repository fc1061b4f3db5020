"""Fills the demo: an account that subscribes to all feeds, marks entries, and has a filter, a search and a pool."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from sqlalchemy import bindparam, select

from feedmill.app import App
from feedmill.archive.images.download import archive_images
from feedmill.cli.demo.demo_feeds import DemoEntry, DemoFeed
from feedmill.cli.demo.feed_server import DemoWeb
from feedmill.cli.demo.fetch_history import write_fetch_history
from feedmill.collect.discovery.response_cache import ResponseCache
from feedmill.collect.refresh import RefreshTools, refresh_feed
from feedmill.library.entries.labels import ensure_label
from feedmill.library.entries.marks import apply_marks_to_entry
from feedmill.library.filters.filter_jobs import apply_backwards
from feedmill.library.filters.manage_filters import create_filter
from feedmill.library.search.saved_searches import create_saved_search
from feedmill.library.subscriptions.folders import ensure_folders
from feedmill.library.subscriptions.subscribe import SubscribeRequest, subscribe
from feedmill.library.users.manage_users import create_first_admin
from feedmill.model.entry_marks import EntryMarks
from feedmill.model.feed_settings import DEFAULT_FEED_SETTINGS, FeedSettings
from feedmill.model.filters.entry_filter import FilterActions, FilterDraft
from feedmill.model.pool import PoolKind, PoolRule
from feedmill.model.user import Caller, User
from feedmill.store.feeds.claims import claim_feeds
from feedmill.store.schema import entries

NAME = "alice"
# The broken feed was found that long ago, and has been failing since: the last time 3 to 16 hours ago, by the jitter.
BROKEN_FOR = timedelta(hours=100)
# One more would be reported as an error in the log.
FAILURES = 9
LIVE_INTERVAL_SECONDS = 60
ENTRY_IDS = select(entries.c.id, entries.c.guid).where(entries.c.feed_id == bindparam("feed_id"))


async def prepare_reader(app: App, web: DemoWeb, password: str) -> User:
    """Creates the account with all that the demo shows."""
    alice = await create_first_admin(app.db, NAME, password, web.start)
    # So that the folders stand in this order.
    feeds = sorted(web.feeds.values(), key=lambda feed: (feed.language != "en", feed.folder, feed.title))
    feed_ids = {feed.path: await _subscribe(app, web, alice, feed) for feed in feeds}
    for feed in feeds:
        await _mark_entries(app, alice, feed_ids[feed.path], feed, web.start)
    healthy = [feed_ids[feed.path] for feed in feeds if not feed.is_broken]
    await write_fetch_history(app.db, healthy, web.start)
    await _add_filter(app, alice, web.start)
    await create_saved_search(app.db, alice.id, "Water", "tide OR weir OR 运河")
    await _fill_pool(app, feed_ids)
    # No pause between two: they are on our own server.
    await archive_images(replace(app.images, gap=timedelta(0)))
    await app.icons.fetch()
    return alice


async def _subscribe(app: App, web: DemoWeb, user: User, feed: DemoFeed) -> int:
    """Subscribes the user to the feed; the id of the feed."""
    folders = await ensure_folders(app.db, user.id, [(feed.folder,)])
    settings = FeedSettings(interval_seconds=LIVE_INTERVAL_SECONDS) if feed.is_live else DEFAULT_FEED_SETTINGS
    request = SubscribeRequest(web.url(feed), settings, (folders[feed.folder,],))
    tools = at_time(app.tools, web.start - BROKEN_FOR) if feed.is_broken else app.tools
    subscription = (await subscribe(tools, user, request, ResponseCache())).subscription
    if feed.is_broken:
        web.gone.add(feed.path)
        await _fail(app, subscription.feed_id, web.start)
    return subscription.feed_id


async def _fail(app: App, feed_id: int, start: datetime) -> None:
    """Fetches the feed that is gone whenever it is due, as if the days since it was found had passed."""
    for _ in range(FAILURES):
        [claim] = await claim_feeds(app.db, [feed_id], start)
        await refresh_feed(at_time(app.tools, claim.feed.next_fetch_at or start), claim)


def at_time(tools: RefreshTools, at: datetime) -> RefreshTools:
    """Tools whose clock has stopped."""
    return replace(tools, clock=lambda: at)


async def _mark_entries(app: App, user: User, feed_id: int, feed: DemoFeed, now: datetime) -> None:
    ids = {row["guid"]: row["id"] for row in await app.db.query(ENTRY_IDS, {"feed_id": feed_id})}
    for number, entry in feed.numbered_entries():
        marks = await _marks_of(app, user, entry)
        if marks != EntryMarks():
            await apply_marks_to_entry(app.db, user.id, ids[feed.guid(number)], marks, now)


async def _marks_of(app: App, user: User, entry: DemoEntry) -> EntryMarks:
    return EntryMarks(
        read=True if entry.was_read else None,
        starred=True if entry.is_starred else None,
        later=True if entry.is_for_later else None,
        add_labels=await _label_ids(app, user, entry.labels),
    )


async def _label_ids(app: App, user: User, names: Sequence[str]) -> tuple[int, ...]:
    return tuple([await ensure_label(app.db, user.id, name) for name in names])


async def _add_filter(app: App, user: User, now: datetime) -> None:
    """Labels what the gauge or others write about herons, now and from now on."""
    label_ids = await _label_ids(app, user, ["Herons"])
    draft = FilterDraft("Herons", "heron OR herons", actions=FilterActions(label_ids=label_ids))
    made = await create_filter(app.db, Caller(user, user.scopes), draft, now)
    await apply_backwards(app.db, user.id, made.id, now)


async def _fill_pool(app: App, feed_ids: dict[str, int]) -> None:
    """A pool of what is in the town's feeds, from which a program has taken something."""
    paths = ("gazette.xml", "valley-wire.atom", "weir.atom", "teahouse.xml")
    group = await app.pools.create("newsletter", PoolRule(feeds=tuple(feed_ids[path] for path in paths)))
    await app.pools.fill(group.id)
    await app.pools.pop(group.id, PoolKind.TITLES, 3)
