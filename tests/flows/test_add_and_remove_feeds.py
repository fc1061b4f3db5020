"""Feeds found, added with their first answer, and removed for good."""

from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy.sql import Executable

from feedmill.collect.discovery.discover import FetchedFeed, NoFeed, discover_feeds_at
from feedmill.collect.first_fetch import add_fetched_feed
from feedmill.i18n.messages import Message
from feedmill.model.feed import Claim
from feedmill.model.refresh import Updated
from feedmill.model.timestamps import to_iso
from feedmill.store.admin.instance_overview import read_overview
from feedmill.store.database import Database, Params, Row, Step
from feedmill.store.feeds.add_feeds import NewFeed, add_feeds, mark_added_by_person
from feedmill.store.feeds.claims import claim_due_feeds
from feedmill.store.feeds.lifecycle import remove_feed, start_feed, stop_feed
from feedmill.store.feeds.read_feeds import all_feeds
from feedmill.store.schema import (
    entries,
    feeds,
    fetch_log,
    image_tasks,
    object_garbage,
    pool_groups,
    pool_items,
    raw_bodies,
    states,
    subscriptions,
    unread,
    unread_lists,
)
from tests.flows.refresh_environment import DAY, HOUR, NOW, RefreshEnvironment, answer, item
from tests.scripted_web import Answer, ReceivedRequest


async def found(env: RefreshEnvironment, url: str) -> FetchedFeed:
    here = await discover_feeds_at(env.client, url)
    assert isinstance(here, FetchedFeed)
    return here


async def test_the_answer_that_found_a_feed_is_its_first_fetch(env: RefreshEnvironment) -> None:
    url = env.web.serve("/feed", answer(item("a"), headers={"ETag": '"1"'}, title="News"))
    here = await found(env, url)

    feed, decision = await add_fetched_feed(env.tools, NewFeed(here.url), here)

    assert isinstance(decision, Updated)
    assert (feed.title, feed.etag, feed.entry_count, feed.last_fetched_at) == ("News", '"1"', 1, NOW)
    assert len(env.web.requests) == 1


class ScannedAfterFirstWrite:
    """A database on which a scheduler scans right after the first write."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self.taken: list[Claim] | None = None

    @property
    def dialect_name(self) -> str:
        return self._db.dialect_name

    async def query(self, statement: Executable, params: Params = {}) -> list[Row]:  # noqa: B006
        return await self._db.query(statement, params)

    async def batch(self, steps: Sequence[Step]) -> list[int]:
        changed = await self._db.batch(steps)
        if self.taken is None:
            self.taken = await claim_due_feeds(self._db, NOW, 10)
        return changed

    async def exec(self, sql: str) -> None:
        await self._db.exec(sql)

    async def close(self) -> None:
        """The world closes it."""


async def test_a_scheduler_does_not_take_a_feed_that_is_just_being_added(env: RefreshEnvironment) -> None:
    here = await found(env, env.web.serve("/feed", answer(item("a"))))
    rivalled = ScannedAfterFirstWrite(env.db)

    _, decision = await add_fetched_feed(replace(env.tools, db=rivalled), NewFeed(here.url), here)

    assert rivalled.taken == []
    assert isinstance(decision, Updated)


async def test_an_address_that_moved_for_good_is_not_kept(env: RefreshEnvironment) -> None:
    new = env.web.serve("/new", answer(item("a")))
    old = env.web.serve("/old", Answer(status=301, headers={"Location": "/new"}))

    assert (await found(env, old)).url == new


async def test_an_address_with_a_password_is_kept_although_it_moved(env: RefreshEnvironment) -> None:
    env.web.serve("/new", answer(item("a")))
    old = env.web.serve("/old", Answer(status=301, headers={"Location": "/new"}))

    here = await discover_feeds_at(env.client, old, '{"basic_auth":["me","secret"]}')

    assert isinstance(here, FetchedFeed)
    assert here.url == old


async def test_a_password_opens_the_feed_it_is_for(env: RefreshEnvironment) -> None:
    def guarded(seen: ReceivedRequest) -> Answer:
        return answer(item("a")) if seen.headers.get("authorization") else Answer(status=401)

    url = env.web.serve("/feed", guarded)

    assert isinstance(await discover_feeds_at(env.client, url), NoFeed)
    assert isinstance(await discover_feeds_at(env.client, url, '{"basic_auth":["me","secret"]}'), FetchedFeed)


async def test_a_feed_of_comments_is_the_last_choice(env: RefreshEnvironment) -> None:
    link = '<link rel="alternate" type="application/rss+xml" href="/comments/feed" title="Comments">'
    url = env.web.serve("/page", Answer(f"<!doctype html><html><head>{link}</head></html>".encode()))
    env.web.serve("/comments/feed", answer(item("a"), title="Comments"))

    assert (await found(env, url)).parsed.title == "Comments"

    env.web.serve("/rss.xml", answer(item("a"), title="Articles"))
    assert (await found(env, url)).parsed.title == "Articles"


async def test_a_resting_feed_wakes_when_a_person_wants_it(any_env: RefreshEnvironment) -> None:
    await add_feeds(any_env.db, [NewFeed("https://example.org/feed", declared=True)], NOW, NOW)
    [feed] = await all_feeds(any_env.db)
    await any_env.change(feed, next_fetch_at=None)

    await mark_added_by_person(any_env.db, [feed.id], NOW)

    after = await any_env.feed(feed)
    assert (after.added_by_person, after.next_fetch_at) == (True, NOW)


async def test_a_removed_feed_leaves_nothing_but_its_objects_to_delete(any_env: RefreshEnvironment) -> None:
    env = any_env
    kept = await env.add("/kept", answer(item("k", '<img src="/k.png">')))
    gone = await env.add("/gone", answer(item("a", '<img src="/a.png">'), item("b")))
    alice = await env.user("alice", 1)
    await env.put(unread_lists, id=1, user_id=alice, created_at=to_iso(NOW))
    for feed in (kept, gone):
        await env.subscribe(alice, feed)
        await env.refresh(feed)
    [picture] = await env.rows(image_tasks, feed_id=gone.id)

    await _say_archived(env, picture["id"])
    [body] = await env.rows(raw_bodies, feed_id=gone.id)
    group = await env.put(pool_groups, name="g", rule="{}", created_at=to_iso(NOW))
    for entry in await env.rows(entries):
        values = {
            "group_id": group,
            "kind": "titles",
            "entry_id": entry["id"],
            "batch_id": 1,
            "changed_at": to_iso(NOW),
        }
        await env.put(pool_items, **values)
        await env.put(states, user_id=alice, entry_id=entry["id"], read_at=to_iso(NOW))

    await remove_feed(env.db, gone.id, NOW)

    garbage = {row["key"] for row in await env.rows(object_garbage)}
    assert garbage == {"images/1/aaaaaaaa/0.png", body["key"]}
    for table in (feeds, subscriptions, raw_bodies, fetch_log, image_tasks, entries, states, unread, pool_items):
        assert len(await env.rows(table)) == 1, table.name


async def _say_archived(env: RefreshEnvironment, task_id: int) -> None:
    done = image_tasks.update().where(image_tasks.c.id == task_id)
    await env.db.batch([Step(done.values(status="success", object_key="images/1/aaaaaaaa/0.png", size=10))])


async def test_removing_in_chunks_removes_all(env: RefreshEnvironment) -> None:
    feed = await env.add("/feed", answer(*[item(str(number)) for number in range(1200)]))
    await env.refresh(feed)

    await remove_feed(env.db, feed.id, NOW)

    assert await env.rows(entries) == []


async def test_a_stopped_feed_is_never_due_until_it_is_started(any_env: RefreshEnvironment) -> None:
    feed = await any_env.add("/feed", answer(item("a")))

    await stop_feed(any_env.db, feed.id, Message("schedule.paused"))
    assert await claim_due_feeds(any_env.db, NOW + DAY, 10) == []

    await start_feed(any_env.db, feed.id, Message("schedule.resumed_by_person"), NOW + HOUR)
    assert str((await any_env.feed(feed)).next_fetch_why) == "resumed by hand"
    assert [claim.feed.id for claim in await claim_due_feeds(any_env.db, NOW + HOUR, 10)] == [feed.id]


async def test_everything_is_counted_on_every_database(any_env: RefreshEnvironment) -> None:
    feed = await any_env.add("/feed", answer(item("a", '<img src="/a.png">'), item("b")))
    await any_env.refresh(feed)
    await any_env.add("/other")

    counted = await read_overview(any_env.db, NOW)

    assert {name: counted.feeds[name] for name in ("total", "due", "new", "running")} == {
        "total": 2,
        "due": 1,
        "new": 1,
        "running": 0,
    }
    assert (counted.entries, counted.images["pending"], counted.raw_bodies, counted.objects_to_delete) == (2, 1, 1, 0)
    assert counted.database_bytes is None or counted.database_bytes > 0
