"""What is kept for how long: entries, raw bodies, logs, and the objects that belong to them."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from feedmill.archive.object_keys import descriptor_key, image_key, raw_body_key
from feedmill.archive.orphans import record_orphans
from feedmill.archive.retention import PurgeCounts, RetentionPeriods, delete_garbage, preview_purge
from feedmill.archive.store_ownership import StoreOwnedByAnother, ensure_store_ownership
from feedmill.errors import BlobUnavailable
from feedmill.model.feed import Feed
from feedmill.model.feed_settings import FeedSettings
from feedmill.model.timestamps import to_iso
from feedmill.store.archive.retention import retention_by_feed
from feedmill.store.database import Step
from feedmill.store.entries.retired_unread_lists import RETIRED_LISTS_KEPT_FOR
from feedmill.store.schema import (
    batch_jobs,
    batches,
    entries,
    entry_labels,
    fetch_log,
    image_tasks,
    labels,
    object_garbage,
    pool_groups,
    pool_items,
    raw_bodies,
    revisions,
    states,
    subscriptions,
    tombstones,
    unread,
    unread_lists,
)
from feedmill.store.subscriptions.feed_settings import RetentionPreference, encode_settings
from tests.flows.places import PLACES, ArchiveWorld, world_at
from tests.flows.world import DAY, HOUR, answer, item

LONG = timedelta(days=200)
RAW = RetentionPeriods().raw


@pytest.fixture(params=PLACES)
async def placed(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[ArchiveWorld]:
    """A world at each of the places."""
    async with world_at(request, request.param, tmp_path) as made:
        yield made


@pytest.fixture
async def world(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[ArchiveWorld]:
    async with world_at(request, "one machine", tmp_path) as made:
        yield made


async def old_entries(world: ArchiveWorld, *names: str) -> Feed:
    """A feed whose entries of these names left it long ago; one is in it still."""
    feed = await world.add("/feed", answer(item("stays"), *(item(name) for name in names)))
    await world.refresh(feed)
    await world.later(HOUR, feed, answer(item("stays")))
    world.now += LONG
    return feed


async def entry_id(world: ArchiveWorld, title: str) -> int:
    [row] = await world.rows(entries, title=title)
    return int(row["id"])


async def archive_image(world: ArchiveWorld, entry: int, feed: Feed, guid: str) -> str:
    """An image of the entry, archived."""
    key, at = image_key(feed.id, guid, 0, "png"), to_iso(world.now)
    await world.blobs.put(key, b"bytes", "image/png")
    await world.put(
        image_tasks,
        feed_id=feed.id,
        entry_id=entry,
        position=0,
        original_url="https://example.org/a.png",
        status="success",
        object_key=key,
        size=5,
        created_at=at,
        updated_at=at,
    )
    return key


async def test_what_left_its_feed_long_ago_goes_with_its_objects_and_what_is_in_it_stays(placed: ArchiveWorld) -> None:
    world = placed
    feed = await old_entries(world, "gone")
    key = await archive_image(world, await entry_id(world, "gone"), feed, "guid-gone")

    purged = await world.purge()

    assert (purged.entries, purged.objects) == (1, 3)
    assert await world.titles() == ["stays"]
    assert (await world.feed(feed)).entry_count == 1
    assert await world.rows(image_tasks) == await world.rows(object_garbage) == []
    assert key not in await world.keys("images/")
    assert [row["guid"] for row in await world.rows(tombstones)] == ["guid-gone"]


async def test_a_purged_entry_that_comes_back_is_not_new(placed: ArchiveWorld) -> None:
    feed = await old_entries(placed, "gone")
    await placed.purge()

    await placed.later(HOUR, feed, answer(item("stays"), item("gone"), item("new")))

    assert await placed.titles() == ["stays", "new"]


async def test_an_entry_stays_until_its_time_has_come(world: ArchiveWorld) -> None:
    feed = await world.add("/feed", answer(item("a"), item("b")))
    await world.refresh(feed)
    await world.later(HOUR, feed, answer(item("a")))

    world.now += RetentionPeriods().entries
    assert (await world.purge()).entries == 0
    world.now += HOUR
    assert (await world.purge()).entries == 1


def test_subscribers_agree_on_the_longest_wish_and_who_has_none_wants_the_usual() -> None:
    wishes = [
        RetentionPreference(1, 30, False),
        RetentionPreference(1, 60, False),
        RetentionPreference(2, 30, False),
        RetentionPreference(2, None, False),
        RetentionPreference(3, 400, False),
        RetentionPreference(3, None, False),
        RetentionPreference(4, 30, True),
        RetentionPreference(5, 400, True),
        RetentionPreference(6, None, False),
    ]

    agreed = retention_by_feed(wishes, 180 * DAY)

    assert agreed == {1: 60 * DAY, 2: 180 * DAY, 3: 400 * DAY, 4: 180 * DAY, 5: 400 * DAY, 6: 180 * DAY}


@pytest.mark.parametrize(("days", "left"), [(365, ["a", "stays"]), (30, ["stays"]), (None, ["stays"])])
async def test_entries_are_kept_as_long_as_their_subscriber_wants(
    placed: ArchiveWorld, days: int | None, left: list[str]
) -> None:
    feed = await old_entries(placed, "a")
    alice = await placed.user("Alice", 1)
    wish = encode_settings(FeedSettings(retention_days=days, notify=False))
    mine = await placed.subscribe(alice, feed)
    await placed.db.batch([Step(subscriptions.update().where(subscriptions.c.id == mine).values(settings=wish))])
    await placed.change(feed, added_by_person=0, tailored=1)

    foreseen = await preview_purge(placed.db, RetentionPeriods(), placed.now)
    purged = await placed.purge()

    assert (foreseen.entries, sorted(await placed.titles())) == (purged.entries, left)


@pytest.mark.parametrize("mark", ["starred_at", "later_at"])
async def test_starred_and_read_later_entries_stay(placed: ArchiveWorld, mark: str) -> None:
    await old_entries(placed, "kept", "read")
    alice, at = await placed.user("Alice", 1), to_iso(placed.now)
    await placed.put(states, user_id=alice, entry_id=await entry_id(placed, "kept"), **{mark: at})
    await placed.put(states, user_id=alice, entry_id=await entry_id(placed, "read"), read_at=at)

    await placed.purge()

    assert sorted(await placed.titles()) == ["kept", "stays"]
    assert len(await placed.rows(states)) == 1


async def test_labelled_entries_stay(placed: ArchiveWorld) -> None:
    await old_entries(placed, "kept", "gone")
    label = await placed.put(labels, user_id=await placed.user("Alice", 1), name="work")
    kept = await entry_id(placed, "kept")
    await placed.put(entry_labels, label_id=label, entry_id=kept, sort_at=to_iso(placed.now))

    await placed.purge()

    assert sorted(await placed.titles()) == ["kept", "stays"]


async def test_what_a_consumer_of_a_pool_has_in_hand_stays_and_what_waits_in_it_goes(placed: ArchiveWorld) -> None:
    names = {"waits": 1, "queued": 2, "leased": 3, "used": 0}
    await old_entries(placed, *names)
    at = to_iso(placed.now)
    group = await placed.put(pool_groups, name="g", rule="{}", created_at=at)
    for name, status in names.items():
        entry = await entry_id(placed, name)
        await placed.put(
            pool_items, group_id=group, kind="titles", entry_id=entry, batch_id=1, status=status, changed_at=at
        )

    await placed.purge()

    assert sorted(await placed.titles()) == ["leased", "queued", "stays"]
    assert sorted(row["status"] for row in await placed.rows(pool_items)) == [2, 3]


async def test_unread_lists_and_counts_are_right_after_a_purge(placed: ArchiveWorld) -> None:
    world, feed = placed, await placed.add("/feed", answer(item("a"), item("b"), item("c")))
    people = [await world.user(name, 0) for name in ("Alice", "Bob")]
    lists = [await world.put(unread_lists, user_id=user, created_at=to_iso(world.now)) for user in people]
    for user, list_id in zip(people, lists, strict=True):
        await world.point_to(user, list_id)
        await world.subscribe(user, feed)
    await world.refresh(feed)
    await world.read(lists[1], await entry_id(world, "b"))
    await world.later(HOUR, feed, answer(item("a")))
    world.now += LONG

    await world.purge()

    left = await entry_id(world, "a")
    assert [(row["list_id"], row["entry_id"]) for row in await world.rows(unread)] == [(one, left) for one in lists]
    assert [row["unread_count"] for row in await world.rows(subscriptions)] == [1, 1]


async def test_revisions_go_with_their_entry(world: ArchiveWorld) -> None:
    feed = await world.add("/feed", answer(item("a", "one"), item("b", "one")))
    await world.refresh(feed)
    await world.later(HOUR, feed, answer(item("a", "two"), item("b", "two")))
    await world.later(HOUR, feed, answer(item("a", "two")))
    world.now += LONG

    await world.purge()

    [revision] = await world.rows(revisions)
    assert revision["entry_id"] == await entry_id(world, "a")


async def test_a_dry_run_tells_what_a_purge_does(placed: ArchiveWorld) -> None:
    world, feed = placed, await old_entries(placed, "a", "b")
    await archive_image(world, await entry_id(world, "a"), feed, "guid-a")
    before = await world.keys()

    foreseen = await preview_purge(world.db, RetentionPeriods(), world.now)

    assert sorted(await world.titles()) == ["a", "b", "stays"]
    assert await world.keys() == before
    assert foreseen == await world.purge() == PurgeCounts(2, 2, 2, 0, 0, 3)
    assert await preview_purge(world.db, RetentionPeriods(), world.now) == PurgeCounts(0, 0, 0, 0, 0, 0)


async def test_more_than_a_lot_is_purged_and_nothing_of_other_feeds(world: ArchiveWorld) -> None:
    many = [item(f"n{number}") for number in range(1200)]
    feed = await world.add("/feed", answer(item("stays"), *many))
    other = await world.add("/other", answer(item("other")))
    for one in (feed, other):
        await world.refresh(one)
    await world.later(HOUR, feed, answer(item("stays")))
    world.now += LONG

    assert (await world.purge()).entries == 1200
    assert await world.titles() == ["stays", "other"]
    assert [(await world.feed(one)).entry_count for one in (feed, other)] == [1, 1]


async def test_raw_bodies_go_after_thirty_days(placed: ArchiveWorld) -> None:
    world, feed = placed, await placed.add("/feed", answer(item("a")))
    await world.refresh(feed)
    await world.later(timedelta(days=20), feed, answer(item("b")))
    world.now += timedelta(days=11)

    purged = await world.purge()

    [left] = await world.rows(raw_bodies)
    assert (purged.raw_bodies, purged.objects) == (1, 1)
    assert await world.keys("backups/") == [left["key"]]


async def test_logs_finished_batches_and_left_lists_are_pruned(placed: ArchiveWorld) -> None:
    world, feed = placed, await placed.add("/feed", answer(item("a")))
    await world.refresh(feed)
    at = to_iso(world.now)
    done = {"kind": "k", "total": 1, "created_at": at, "heard_at": at, "status": "done"}
    ended = await world.put(batches, token="t", finished_at=at, **done)
    await world.put(batch_jobs, batch_id=ended, feed_id=feed.id)
    await world.put(batches, token="u", kind="k", total=1, created_at=at, heard_at=at)
    alice = await world.user("Alice", 0)
    left, current = [await world.put(unread_lists, user_id=alice, created_at=at, retired_at=at) for _ in range(2)]
    await world.point_to(alice, current)
    for list_id in (left, current):
        for number in range(3):
            await world.put(unread, list_id=list_id, sort_at=at, entry_id=number + 1, subscription_id=1)
    world.now += 31 * DAY

    purged = await world.purge()

    assert (purged.log_lines, purged.batches, purged.unread_lists) == (1, 1, 1)
    assert await world.rows(fetch_log) == await world.rows(batch_jobs) == []
    assert [row["token"] for row in await world.rows(batches)] == ["u"]
    assert {row["list_id"] for row in await world.rows(unread)} == {current}
    assert [row["id"] for row in await world.rows(unread_lists)] == [current]


async def test_a_long_unread_list_is_emptied_lot_by_lot(world: ArchiveWorld) -> None:
    alice, at = await world.user("Alice", 0), to_iso(world.now)
    left = await world.put(unread_lists, user_id=alice, created_at=at, retired_at=at)
    await world.fill_list(left, 2500)
    world.now += RETIRED_LISTS_KEPT_FOR
    assert (await world.purge()).unread_lists == 0
    world.now += HOUR

    assert (await world.purge()).unread_lists == 1
    assert await world.rows(unread) == await world.rows(unread_lists) == []


async def test_an_object_that_a_row_speaks_of_again_is_not_deleted(world: ArchiveWorld) -> None:
    feed = await world.add("/feed", answer(item("a")))
    await world.refresh(feed)
    key = await archive_image(world, await entry_id(world, "a"), feed, "guid-a")
    await world.put(object_garbage, key=key, recorded_at=to_iso(world.now))

    assert await delete_garbage(world.db, world.blobs) == 0
    assert await world.keys("images/") == [key]
    assert await world.rows(object_garbage) == []


async def test_while_the_store_fails_rows_go_and_their_objects_wait_on_the_record(
    placed: ArchiveWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    world, feed = placed, await old_entries(placed, "gone")
    key = await archive_image(world, await entry_id(world, "gone"), feed, "guid-gone")
    with monkeypatch.context() as broken:
        broken.setattr(world.blobs, "delete_many", _unavailable)
        with pytest.raises(BlobUnavailable):
            await world.purge()

    assert await world.titles() == ["stays"]
    assert key in {row["key"] for row in await world.rows(object_garbage)}
    assert (await world.purge()).objects == 3
    assert await world.archived_keys() == []


async def _unavailable(*args: object) -> None:
    raise BlobUnavailable("503")


async def test_the_sweep_finds_objects_without_rows_and_spares_the_rest(placed: ArchiveWorld) -> None:
    world, feed = placed, await placed.add("/feed", answer(item("a")))
    await world.refresh(feed)
    kept = await archive_image(world, await entry_id(world, "a"), feed, "guid-a")
    await ensure_store_ownership(world.db, world.blobs)
    orphans = [image_key(feed.id, "lost", 3, "png"), raw_body_key(feed.id, world.now - 2 * RAW), descriptor_key(999)]
    others = [descriptor_key(feed.id), "images/notes.txt", raw_body_key(999, world.now)]
    for key in (*orphans, *others):
        await world.blobs.put(key, b"x", "text/plain")

    # The store's own clock says when an object was written.
    later = max([blob.modified_at async for blob in world.blobs.list_keys("")]) + 2 * DAY
    world.now = min(later, world.now)
    assert await record_orphans(world.db, world.blobs, later - world.now + RAW, later) == 3
    assert await delete_garbage(world.db, world.blobs) == 3
    left = await world.keys()
    assert [key for key in orphans if key in left] == []
    assert [key for key in (kept, *others) if key not in left] == []


async def test_what_was_just_written_is_no_orphan(world: ArchiveWorld) -> None:
    await world.blobs.put(image_key(1, "new", 0, "png"), b"x", "image/png")
    [blob] = [blob async for blob in world.blobs.list_keys("images/")]

    assert await record_orphans(world.db, world.blobs, RAW, blob.modified_at + HOUR) == 0


async def test_a_store_of_another_database_is_not_swept(world: ArchiveWorld) -> None:
    await ensure_store_ownership(world.db, world.blobs)
    await world.forget_facts()

    with pytest.raises(StoreOwnedByAnother):
        await record_orphans(world.db, world.blobs, RAW, world.now)
