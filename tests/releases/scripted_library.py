"""A small library with a row in every table, from which `tools/freeze-release` makes the databases of a release.

The data of a release stays as it is; change this for the next release. What readers use every day (feeds, entries,
marks, filters, stories, pools, images, search) is made by the library itself, as on a running server.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import select

from feedmill.app import App, build_app
from feedmill.archive.feed_descriptors import repair_descriptors
from feedmill.archive.images.download import archive_images
from feedmill.collect.discovery.response_cache import ResponseCache
from feedmill.collect.refresh import RefreshTools, refresh_feed
from feedmill.library.entries.marks import apply_marks
from feedmill.library.filters.manage_filters import create_filter
from feedmill.library.subscriptions.subscribe import SubscribeRequest, subscribe
from feedmill.library.users.manage_users import create_first_admin, make_user
from feedmill.library.users.second_factor import ENCRYPTION_PURPOSE
from feedmill.model.entry_marks import EntryMarks
from feedmill.model.filters.entry_filter import FilterActions, FilterDraft
from feedmill.model.pool import PoolRule
from feedmill.model.user import Actor, Caller, User
from feedmill.settings import load_settings
from feedmill.store.database import Step
from feedmill.store.dialect import insert
from feedmill.store.entries.labels import add_label
from feedmill.store.feeds.claims import claim_feeds
from feedmill.store.schema import entries, totp_secrets
from tests.archive.images.sample_images import PNG
from tests.flows.refresh_environment import answer, item
from tests.releases.fill_tables import fill_empty_tables
from tests.scripted_web import Answer, Web

START = datetime(2026, 11, 18, 8, tzinfo=UTC)
HOUR = timedelta(hours=1)
SECRET_KEY = "the secret key of the scripted library, 0123456789"
PASSWORD = "correct horse battery staple"
TOTP_SECRET = "JBSWY3DPEHPK3PXP"

# The same article in two feeds is a story.
STORY = (
    "amber basin cedar delta ember fjord grove haven inlet jetty knoll larch meadow north ocean pine quarry ridge " * 3
)
TITLES = ("Harbour reopens", "Fish & chips", "日本の港 🦊", "Tides of tomorrow")


@asynccontextmanager
async def open_library(settings: dict[str, str], data: Path) -> AsyncIterator[App]:
    """The app on a database with the scripted library."""
    given = {"allow_private": "127.0.0.0/8", "host_gap": "0", "secret_key": SECRET_KEY, "data": str(data)}
    async with build_app(load_settings(**given | {"objects": str(data / "objects")} | settings)) as app:
        yield app


async def fill_library(app: App) -> None:
    """Fills an empty database and an empty object store."""
    alice = await create_first_admin(app.db, "alice", PASSWORD, START)
    bob = await make_user(app.db, "bob", PASSWORD, False, START, Actor(alice.id))
    await app.pools.create("harbour", PoolRule(words=("harbour",)))
    draft = FilterDraft("Chips", "chips", actions=FilterActions(star=True))
    await create_filter(app.db, Caller(alice, alice.scopes), draft, START)
    async with Web() as web:
        await _collect(app, web, alice, bob)
    await _mark(app, alice)
    await _add_second_factor(app, alice)
    await fill_empty_tables(app.db)
    await repair_descriptors(app.db, app.blobs, START)


async def _collect(app: App, web: Web, alice: User, bob: User) -> None:
    """Two feeds that share an article, with an image; then a revision."""
    picture = web.serve("/harbour.png", Answer(PNG, headers={"content-type": "image/png"}))
    first = item(
        TITLES[0], f'<p>{STORY}<img src="{picture}"></p>', START - HOUR, link="https://news.example.org/harbour"
    )
    chips, japan = item(TITLES[1], "with vinegar", START - 2 * HOUR), item(TITLES[2], "港が再開", START - 3 * HOUR)
    copy = item(TITLES[0], f"<p>{STORY}</p>", START - HOUR, "copy", "https://local.example.org/harbour")
    news = web.serve("/news", answer(first, chips, japan, title="News"))
    local = web.serve("/local", answer(copy, item(TITLES[3], "in the evening", START - 4 * HOUR), title="Local"))
    tools = replace(app.tools, clock=lambda: START)
    for url, user in ((news, alice), (local, alice), (news, bob)):
        await subscribe(tools, user, SubscribeRequest(url), ResponseCache())
    web.serve("/news", answer(item(TITLES[1], "with vinegar, and salt", START - 2 * HOUR), title="News"))
    await _refresh(replace(app.tools, clock=lambda: START + HOUR), 1)
    await archive_images(replace(app.images, clock=lambda: START + HOUR, gap=timedelta()))


async def _refresh(tools: RefreshTools, feed_id: int) -> None:
    [claim] = await claim_feeds(tools.db, [feed_id], tools.clock())
    await refresh_feed(tools, claim)


async def _mark(app: App, alice: User) -> None:
    """One entry is read, one is for later, one has a label; the filter has starred one."""
    label = await add_label(app.db, alice.id, "To quote")
    ids = {row["title"]: row["id"] for row in await app.db.query(select(entries).where(entries.c.feed_id == 1))}
    later = EntryMarks(later=True, add_labels=(label.id,))
    await apply_marks(app.db, alice.id, [ids[TITLES[0]]], EntryMarks(read=True), START)
    await apply_marks(app.db, alice.id, [ids[TITLES[2]]], later, START)


async def _add_second_factor(app: App, alice: User) -> None:
    secret = app.tools.encryption.encrypt(TOTP_SECRET, ENCRYPTION_PURPOSE)
    row = {"user_id": alice.id, "secret": secret.value, "last_step": 0}
    await app.db.batch([Step(insert(totp_secrets, *row), row)])
