"""A merge on each of the four databases: nothing that a person did is lost, nothing is shown twice."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from feedmill.model.feed import Feed, FeedStatus
from feedmill.model.times import to_text
from feedmill.store.database import Database, Step
from feedmill.store.merges import merge_feeds
from feedmill.store.schema import (
    entries,
    entry_labels,
    feed_urls,
    folder_subscriptions,
    folders,
    image_tasks,
    labels,
    object_garbage,
    states,
    subscriptions,
    tombstones,
    unread,
)
from tests.flows.conftest import small_world
from tests.flows.world import HOUR, NOW, World, answer, item

AT = to_text(NOW)
ALICES, BOBS = 11, 12


class Merged:
    """Two feeds with a twin entry; Alice reads the one that moves, Bob reads both, Charlie the other."""

    def __init__(self, world: World) -> None:
        self.world = world

    async def prepare(self) -> None:
        world = self.world
        self.source = await world.add("/old", answer(item("twin", '<img src="/i.png">'), item("old")))
        self.target = await world.add("/new", answer(item("twin"), item("new")))
        self.alice, self.bob = await world.user("Alice", ALICES), await world.user("Bob", BOBS)
        self.charlie = await world.user("Charlie", 13)
        self.alices = await world.subscribe(self.alice, self.source)
        self.bobs_old = await world.subscribe(self.bob, self.source)
        self.bobs = await world.subscribe(self.bob, self.target)
        await world.subscribe(self.charlie, self.target)
        for feed in (self.source, self.target):
            await world.refresh(feed)
        self.old_twin, self.new_twin = await self.entry(self.source, "twin"), await self.entry(self.target, "twin")
        self.old, self.new = await self.entry(self.source, "old"), await self.entry(self.target, "new")

    async def entry(self, feed: Feed, title: str) -> int:
        [row] = await self.world.rows(entries, feed_id=feed.id, title=title)
        return int(row["id"])

    async def merge(self) -> None:
        source, target = self.source, self.target
        await merge_feeds(self.world.db, source.id, source.url, target.id, target.url, NOW + HOUR)

    async def state(self, user: int, entry: int, **times: str) -> None:
        await self.world.put(states, user_id=user, entry_id=entry, **times)

    async def unread(self, list_id: int) -> set[int]:
        return {row["entry_id"] for row in await self.world.rows(unread, list_id=list_id)}


@pytest.fixture
async def merged(any_db: Database, tmp_path: Path) -> AsyncIterator[Merged]:
    async with small_world(any_db, tmp_path) as world:
        made = Merged(world)
        await made.prepare()
        yield made


async def test_every_entry_is_there_once_and_the_old_feed_is_retired(merged: Merged) -> None:
    await merged.merge()

    world = merged.world
    rows = await world.rows(entries)
    assert sorted((row["title"], row["feed_id"]) for row in rows) == [
        (title, merged.target.id) for title in ("new", "old", "twin")
    ]
    source, target = await world.feed(merged.source), await world.feed(merged.target)
    assert (source.status, source.next_fetch_at, source.entry_count) == (FeedStatus.DISABLED, None, 0)
    assert source.moved_to == target.url
    assert target.entry_count == 3
    assert [row["url"] for row in await world.rows(feed_urls, feed_id=target.id)] == [merged.source.url]


async def test_everybody_keeps_one_subscription_and_its_folders(merged: Merged) -> None:
    world = merged.world
    tech = await world.put(folders, user_id=merged.alice, name="tech")
    work, home = [await world.put(folders, user_id=merged.bob, name=name) for name in ("work", "home")]
    for folder, subscription in ((tech, merged.alices), (work, merged.bobs_old), (home, merged.bobs)):
        await world.put(folder_subscriptions, folder_id=folder, subscription_id=subscription)

    await merged.merge()

    rows = await world.rows(subscriptions)
    assert {row["feed_id"] for row in rows} == {merged.target.id}
    assert [row["user_id"] for row in rows] == [merged.alice, merged.bob, merged.charlie]
    held = {(row["folder_id"], row["subscription_id"]) for row in await world.rows(folder_subscriptions)}
    assert held == {(tech, merged.alices), (work, merged.bobs), (home, merged.bobs)}


async def test_what_was_unread_stays_unread_and_is_counted(merged: Merged) -> None:
    await merged.merge()

    assert await merged.unread(ALICES) == {merged.new_twin, merged.old}
    assert await merged.unread(BOBS) == {merged.new_twin, merged.old, merged.new}
    assert await merged.unread(13) == {merged.new_twin, merged.new}
    rows = await merged.world.rows(subscriptions)
    assert [row["unread_count"] for row in rows] == [2, 3, 2]
    assert {row["subscription_id"] for row in await merged.world.rows(unread)} == {row["id"] for row in rows}


async def test_stars_and_readings_of_both_twins_survive(merged: Merged) -> None:
    await merged.state(merged.alice, merged.old_twin, starred_at=AT)
    await merged.state(merged.bob, merged.old_twin, starred_at=AT, read_at=AT)
    await merged.state(merged.bob, merged.new_twin, later_at=AT)
    await merged.state(merged.bob, merged.old, starred_at=AT)

    await merged.merge()

    kept = {(row["user_id"], row["entry_id"]): row for row in await merged.world.rows(states)}
    assert set(kept) == {(merged.alice, merged.new_twin), (merged.bob, merged.new_twin), (merged.bob, merged.old)}
    bobs = kept[merged.bob, merged.new_twin]
    assert (bobs["starred_at"], bobs["read_at"], bobs["later_at"]) == (AT, AT, AT)
    assert kept[merged.alice, merged.new_twin]["starred_at"] == AT
    assert await merged.unread(BOBS) == {merged.old, merged.new}


async def test_labels_survive(merged: Merged) -> None:
    world = merged.world
    label = await world.put(labels, user_id=merged.alice, name="keep")
    for entry in (merged.old_twin, merged.old):
        await world.put(entry_labels, label_id=label, entry_id=entry, sort_at=AT)

    await merged.merge()

    assert {row["entry_id"] for row in await world.rows(entry_labels)} == {merged.new_twin, merged.old}


async def test_no_object_is_orphaned_and_images_follow_their_entries(merged: Merged) -> None:
    world = merged.world
    [task] = await world.rows(image_tasks)
    await world.db.batch([_archived(task["id"])])
    await world.put(
        image_tasks, feed_id=merged.source.id, entry_id=merged.old, original_url="u", created_at=AT, updated_at=AT
    )

    await merged.merge()

    assert [row["key"] for row in await world.rows(object_garbage)] == ["images/1/aa/0.png"]
    assert [(row["entry_id"], row["feed_id"]) for row in await world.rows(image_tasks)] == [
        (merged.old, merged.target.id)
    ]


async def test_what_was_purged_does_not_come_back_and_the_quicker_interval_wins(merged: Merged) -> None:
    world = merged.world
    await world.put(tombstones, feed_id=merged.source.id, guid="guid-purged", purged_at=AT)
    await world.change(merged.source, interval_seconds=1800)

    await merged.merge()
    await world.change(merged.target, body_sha256=None)
    world.web.serve("/new", answer(item("purged"), item("twin"), item("new")))
    await world.refresh(merged.target)

    assert "purged" not in await world.titles()
    interval = (await world.feed(merged.target)).interval
    assert interval is not None
    assert interval.total_seconds() == 1800


async def test_merging_twice_changes_nothing_more(merged: Merged) -> None:
    await merged.merge()
    before = [await merged.world.rows(table) for table in (entries, subscriptions, states, unread)]

    await merged.merge()

    assert [await merged.world.rows(table) for table in (entries, subscriptions, states, unread)] == before


def _archived(task_id: int) -> Step:
    done = {"status": "success", "object_key": "images/1/aa/0.png"}
    return Step(image_tasks.update().where(image_tasks.c.id == task_id).values(**done))
