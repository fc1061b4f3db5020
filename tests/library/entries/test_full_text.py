"""Whole articles that nobody asked for one by one: fetched in the background, cut as each subscriber wants."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest

from feedmill.library.entries.article import find_entry
from feedmill.library.entries.fetch_full_texts import PAUSES, FullTextFetcher
from feedmill.library.entries.full_text import fetch_full_text
from feedmill.model.feed_settings import FeedSettings
from feedmill.model.user import User
from feedmill.outbound.client import Client
from feedmill.store.database import Database, Step
from feedmill.store.entries.full_text_tasks import take_full_text_tasks
from feedmill.store.filters.entry_filters import steps_to_fetch_full_texts
from feedmill.store.leases import LEASE
from feedmill.store.schema import entries, full_text_tasks
from feedmill.store.subscriptions.feed_settings import step_to_set_subscription_settings
from tests.html.test_readability import ARTICLE
from tests.library.small_library import NOW, Shelf
from tests.library.webhooks.webhook_receivers import open_client
from tests.www import Answer, Web

PAGE = Answer(
    f"<html><body><div>{ARTICLE}</div><div class='box'>In a box.</div></body></html>".encode(),
    headers={"Content-Type": "text/html"},
)


@dataclass
class House:
    """A feed that sends no text, and the page of its one entry."""

    db: Database
    web: Web
    client: Client
    shelf: Shelf = field(init=False)
    feed: int = 0
    entry: int = 0

    def __post_init__(self) -> None:
        self.shelf, self.now = Shelf(self.db), NOW
        self.work = FullTextFetcher(self.db, self.client, lambda: self.now)

    async def begin(self, served: Answer) -> None:
        self.feed = await self.shelf.feed()
        link = self.web.serve("/page", served)
        [self.entry] = await self.shelf.arrive(self.feed, "a", content_html=None, link=link)
        await self.db.batch(steps_to_fetch_full_texts(self.feed, ["a"], self.now))

    async def reader(self, name: str, **settings: object) -> User:
        user = await self.shelf.person(name)
        subscription = await self.shelf.subscribe(user, self.feed)
        await self.db.batch([step_to_set_subscription_settings(user.id, subscription, FeedSettings(**settings))])  # type: ignore[arg-type]
        return user

    async def shown(self, user: User) -> str | None:
        full: str | None = (await find_entry(self.db, user.id, self.entry)).full_html
        return full

    async def waiting(self) -> list[int]:
        return [row["attempts"] for row in await self.db.query(full_text_tasks.select())]


@pytest.fixture
async def house(db: Database) -> AsyncIterator[House]:
    async with Web() as web, open_client() as client:
        yield House(db, web, client)


async def test_the_article_is_there_before_anybody_asks(house: House) -> None:
    await house.begin(PAGE)
    alice = await house.reader("alice", full_text=True)

    assert (await house.work.fetch(), await house.work.fetch()) == (1, 0)

    assert "The river rose" in (await house.shown(alice) or "")
    assert await house.waiting() == []


async def test_each_reads_it_as_they_want_it_cut_and_the_page_is_asked_for_once(house: House) -> None:
    await house.begin(PAGE)
    alice = await house.reader("alice", full_text=True, keep_selector=".box")
    bob = await house.reader("bob", full_text=True)
    charlie = await house.reader("charlie", drop_selector="p")

    await house.work.fetch()

    assert await house.shown(alice) == '<div class="box">In a box.</div>'
    assert "The river rose" in (await house.shown(bob) or "")
    assert await house.shown(charlie) is None
    assert len(house.web.requests) == 1


async def test_other_selectors_bring_another_text_and_leave_the_old_one_to_others(house: House) -> None:
    await house.begin(PAGE)
    alice, bob = await house.reader("alice", full_text=True), await house.reader("bob", full_text=True)
    await house.work.fetch()
    before = await house.shown(bob)

    mine = (await find_entry(house.db, alice.id, house.entry)).subscription_id
    await house.db.batch([step_to_set_subscription_settings(alice.id, mine, FeedSettings(keep_selector=".box"))])
    gone = await house.shown(alice)
    await fetch_full_text(house.db, house.client, alice.id, house.entry, house.now)

    assert (gone, await house.shown(alice)) == (None, '<div class="box">In a box.</div>')
    assert await house.shown(bob) == before


async def test_a_page_that_is_away_is_asked_for_again_and_then_given_up(house: House) -> None:
    await house.begin(Answer(status=500))
    await house.reader("alice", full_text=True)

    tries = []
    for pause in (*PAUSES, PAUSES[-1]):
        await house.work.fetch()
        tries.append(await house.waiting())
        house.now += pause

    assert tries == [[1], [2], []]


@pytest.mark.parametrize("served", [Answer(status=404), Answer(b"%PDF", headers={"Content-Type": "application/pdf"})])
async def test_what_is_no_article_is_not_asked_for_again(house: House, served: Answer) -> None:
    await house.begin(served)
    alice = await house.reader("alice", full_text=True)

    await house.work.fetch()

    assert (await house.waiting(), await house.shown(alice)) == ([], None)


async def test_nobody_is_asked_when_nobody_wants_it_any_more(house: House) -> None:
    await house.begin(PAGE)
    await house.reader("alice", retention_days=3)

    await house.work.fetch()

    assert (await house.waiting(), house.web.requests) == ([], [])


async def test_what_a_killed_process_had_in_hand_is_taken_again(any_db: Database) -> None:
    shelf = Shelf(any_db)
    feed = await shelf.feed()
    await shelf.arrive(feed, "a", "b")
    await any_db.batch(
        [*steps_to_fetch_full_texts(feed, ["a", "b"], NOW), *steps_to_fetch_full_texts(feed, ["a"], NOW)]
    )

    _, first = await take_full_text_tasks(any_db, NOW, most=5)
    _, meanwhile = await take_full_text_tasks(any_db, NOW, most=5)
    _, again = await take_full_text_tasks(any_db, NOW + LEASE, most=5)

    assert (len(first), len(meanwhile), len(again)) == (2, 0, 2)


async def test_they_go_with_their_entry(db: Database) -> None:
    shelf = Shelf(db)
    feed = await shelf.feed()
    await shelf.arrive(feed, "a")
    await db.batch(steps_to_fetch_full_texts(feed, ["a"], NOW))

    await db.batch([Step(entries.delete())])

    assert await db.query(full_text_tasks.select()) == []
