"""Full texts fetched in the background, extracted as each subscriber configured."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest

from feedmill.library.entries.article import find_entry
from feedmill.library.entries.fetch_full_texts import PAUSES, FullTextFetcher
from feedmill.library.entries.full_text import fetch_full_text
from feedmill.model.feed_settings import DEFAULT_FEED_SETTINGS, FeedSettings
from feedmill.model.user import User
from feedmill.outbound.client import Client
from feedmill.store.database import Database, Step
from feedmill.store.entries.full_texts import steps_to_queue_full_texts, take_full_text_tasks
from feedmill.store.leases import LEASE
from feedmill.store.schema import entries, full_text_tasks
from feedmill.store.subscriptions.feed_settings import steps_to_change_settings
from tests.html.test_readability import ARTICLE
from tests.library.small_library import NOW, SmallLibrary
from tests.library.webhooks.webhook_setup import open_client
from tests.scripted_web import Answer, Web

PAGE = Answer(
    f"<html><body><div>{ARTICLE}</div><div class='box'>In a box.</div></body></html>".encode(),
    headers={"Content-Type": "text/html"},
)


@dataclass
class FullTextSetup:
    """A feed that sends no text, and the page of its one entry."""

    db: Database
    web: Web
    client: Client
    library: SmallLibrary = field(init=False)
    feed: int = 0
    entry: int = 0

    def __post_init__(self) -> None:
        self.library, self.now = SmallLibrary(self.db), NOW
        self.work = FullTextFetcher(self.db, self.client, lambda: self.now)

    async def begin(self, served: Answer) -> None:
        self.feed = await self.library.feed()
        link = self.web.serve("/page", served)
        [self.entry] = await self.library.arrive(self.feed, "a", content_html=None, link=link)
        await self.db.batch(steps_to_queue_full_texts(self.feed, ["a"], self.now))

    async def reader(self, name: str, **settings: object) -> User:
        user = await self.library.person(name)
        subscription = await self.library.subscribe(user, self.feed)
        chosen = FeedSettings(**settings)  # type: ignore[arg-type]
        await self.db.batch(steps_to_change_settings(user.id, subscription, DEFAULT_FEED_SETTINGS, chosen))
        return user

    async def shown(self, user: User) -> str | None:
        full: str | None = (await find_entry(self.db, user.id, self.entry)).full_html
        return full

    async def waiting(self) -> list[int]:
        return [row["attempts"] for row in await self.db.query(full_text_tasks.select())]


@pytest.fixture
async def full_texts(db: Database) -> AsyncIterator[FullTextSetup]:
    async with Web() as web, open_client() as client:
        yield FullTextSetup(db, web, client)


async def test_the_article_is_fetched_before_it_is_opened(full_texts: FullTextSetup) -> None:
    await full_texts.begin(PAGE)
    alice = await full_texts.reader("alice", full_text=True)

    assert (await full_texts.work.fetch(), await full_texts.work.fetch()) == (1, 0)

    assert "The river rose" in (await full_texts.shown(alice) or "")
    assert await full_texts.waiting() == []


async def test_each_subscriber_has_their_own_extract_and_the_page_is_fetched_once(full_texts: FullTextSetup) -> None:
    await full_texts.begin(PAGE)
    alice = await full_texts.reader("alice", full_text=True, keep_selector=".box")
    bob = await full_texts.reader("bob", full_text=True)
    charlie = await full_texts.reader("charlie", drop_selector="p")

    await full_texts.work.fetch()

    assert await full_texts.shown(alice) == '<div class="box">In a box.</div>'
    assert "The river rose" in (await full_texts.shown(bob) or "")
    assert await full_texts.shown(charlie) is None
    assert len(full_texts.web.requests) == 1


async def test_other_selectors_give_another_text_and_keep_the_old_one_for_others(full_texts: FullTextSetup) -> None:
    await full_texts.begin(PAGE)
    alice, bob = await full_texts.reader("alice", full_text=True), await full_texts.reader("bob", full_text=True)
    await full_texts.work.fetch()
    before = await full_texts.shown(bob)

    mine = (await find_entry(full_texts.db, alice.id, full_texts.entry)).subscription_id
    chosen = FeedSettings(keep_selector=".box")
    await full_texts.db.batch(steps_to_change_settings(alice.id, mine, DEFAULT_FEED_SETTINGS, chosen))
    gone = await full_texts.shown(alice)
    await fetch_full_text(full_texts.db, full_texts.client, alice.id, full_texts.entry, full_texts.now)

    assert (gone, await full_texts.shown(alice)) == (None, '<div class="box">In a box.</div>')
    assert await full_texts.shown(bob) == before


async def test_a_page_that_is_down_is_retried_and_then_marked_failed(full_texts: FullTextSetup) -> None:
    await full_texts.begin(Answer(status=500))
    await full_texts.reader("alice", full_text=True)

    tries = []
    for pause in (*PAUSES, PAUSES[-1]):
        await full_texts.work.fetch()
        tries.append(await full_texts.waiting())
        full_texts.now += pause

    assert tries == [[1], [2], []]


@pytest.mark.parametrize("served", [Answer(status=404), Answer(b"%PDF", headers={"Content-Type": "application/pdf"})])
async def test_a_page_without_an_article_is_not_retried(full_texts: FullTextSetup, served: Answer) -> None:
    await full_texts.begin(served)
    alice = await full_texts.reader("alice", full_text=True)

    await full_texts.work.fetch()

    assert (await full_texts.waiting(), await full_texts.shown(alice)) == ([], None)


async def test_no_page_is_fetched_once_no_subscriber_wants_it(full_texts: FullTextSetup) -> None:
    await full_texts.begin(PAGE)
    await full_texts.reader("alice", retention_days=3)

    await full_texts.work.fetch()

    assert (await full_texts.waiting(), full_texts.web.requests) == ([], [])


async def test_the_tasks_of_a_killed_process_are_taken_over(any_db: Database) -> None:
    library = SmallLibrary(any_db)
    feed = await library.feed()
    await library.arrive(feed, "a", "b")
    await any_db.batch(
        [*steps_to_queue_full_texts(feed, ["a", "b"], NOW), *steps_to_queue_full_texts(feed, ["a"], NOW)]
    )

    _, first = await take_full_text_tasks(any_db, NOW, most=5)
    _, meanwhile = await take_full_text_tasks(any_db, NOW, most=5)
    _, again = await take_full_text_tasks(any_db, NOW + LEASE, most=5)

    assert (len(first), len(meanwhile), len(again)) == (2, 0, 2)


async def test_full_texts_are_deleted_with_their_entry(db: Database) -> None:
    library = SmallLibrary(db)
    feed = await library.feed()
    await library.arrive(feed, "a")
    await db.batch(steps_to_queue_full_texts(feed, ["a"], NOW))

    await db.batch([Step(entries.delete())])

    assert await db.query(full_text_tasks.select()) == []
