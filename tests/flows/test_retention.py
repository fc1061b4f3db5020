"""What is kept for how long: entries, raw bodies, logs, and the objects that belong to them."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from feedmill.archive.object_keys import descriptor_key, image_key, raw_body_key
from feedmill.archive.orphans import record_orphans
from feedmill.archive.purge import PurgeCounts, RetentionPeriods, delete_garbage, preview_purge
from feedmill.archive.store_ownership import StoreOwnedByAnother, ensure_store_ownership
from feedmill.errors import BlobUnavailable
from feedmill.model.feed import Feed
from feedmill.model.feed_settings import FeedSettings
from feedmill.model.timestamps import to_iso
from feedmill.store.archive.retention import retention_by_feed
from feedmill.store.database import Step
from feedmill.store.entries.drop_unused_unread_lists import RETIRED_LISTS_KEPT_FOR
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
from tests.flows.deployments import DEPLOYMENTS, ArchiveEnvironment, open_deployment
from tests.flows.refresh_environment import DAY, HOUR, answer, item

LONG = timedelta(days=200)
RAW = RetentionPeriods().raw


@pytest.fixture(params=DEPLOYMENTS)
async def deployed(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[ArchiveEnvironment]:
    """An environment on each deployment."""
    async with open_deployment(request, request.param, tmp_path) as made:
        yield made


@pytest.fixture
async def env(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[ArchiveEnvironment]:
    async with open_deployment(request, "one machine", tmp_path) as made:
        yield made


async def old_entries(env: ArchiveEnvironment, *names: str) -> Feed:
    """A feed whose entries of these names left it long ago; one is in it still."""
    feed = await env.add("/feed", answer(item("stays"), *(item(name) for name in names)))
    await env.refresh(feed)
    await env.later(HOUR, feed, answer(item("stays")))
    env.now += LONG
    return feed


async def entry_id(env: ArchiveEnvironment, title: str) -> int:
    [row] = await env.rows(entries, title=title)
    return int(row["id"])


async def archive_image(env: ArchiveEnvironment, entry: int, feed: Feed, guid: str) -> str:
    """An image of the entry, archived."""
    key, at = image_key(feed.id, guid, 0, "png"), to_iso(env.now)
    await env.blobs.put(key, b"bytes", "image/png")
    await env.put(
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


async def test_what_left_its_feed_long_ago_goes_with_its_objects_and_what_is_in_it_stays(
    deployed: ArchiveEnvironment,
) -> None:
    env = deployed
    feed = await old_entries(env, "gone")
    key = await archive_image(env, await entry_id(env, "gone"), feed, "guid-gone")

    purged = await env.purge()

    assert (purged.entries, purged.objects) == (1, 3)
    assert await env.titles() == ["stays"]
    assert (await env.feed(feed)).entry_count == 1
    assert await env.rows(image_tasks) == await env.rows(object_garbage) == []
    assert key not in await env.keys("images/")
    assert [row["guid"] for row in await env.rows(tombstones)] == ["guid-gone"]


async def test_a_purged_entry_that_comes_back_is_not_new(deployed: ArchiveEnvironment) -> None:
    feed = await old_entries(deployed, "gone")
    await deployed.purge()

    await deployed.later(HOUR, feed, answer(item("stays"), item("gone"), item("new")))

    assert await deployed.titles() == ["stays", "new"]


async def test_an_entry_stays_until_its_time_has_come(env: ArchiveEnvironment) -> None:
    feed = await env.add("/feed", answer(item("a"), item("b")))
    await env.refresh(feed)
    await env.later(HOUR, feed, answer(item("a")))

    env.now += RetentionPeriods().entries
    assert (await env.purge()).entries == 0
    env.now += HOUR
    assert (await env.purge()).entries == 1


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
    deployed: ArchiveEnvironment, days: int | None, left: list[str]
) -> None:
    feed = await old_entries(deployed, "a")
    alice = await deployed.user("Alice", 1)
    wish = encode_settings(FeedSettings(retention_days=days, notify=False))
    mine = await deployed.subscribe(alice, feed)
    await deployed.db.batch([Step(subscriptions.update().where(subscriptions.c.id == mine).values(settings=wish))])
    await deployed.change(feed, added_by_person=0, has_entry_settings=1)

    foreseen = await preview_purge(deployed.db, RetentionPeriods(), deployed.now)
    purged = await deployed.purge()

    assert (foreseen.entries, sorted(await deployed.titles())) == (purged.entries, left)


@pytest.mark.parametrize("mark", ["starred_at", "later_at"])
async def test_starred_and_read_later_entries_stay(deployed: ArchiveEnvironment, mark: str) -> None:
    await old_entries(deployed, "kept", "read")
    alice, at = await deployed.user("Alice", 1), to_iso(deployed.now)
    await deployed.put(states, user_id=alice, entry_id=await entry_id(deployed, "kept"), **{mark: at})
    await deployed.put(states, user_id=alice, entry_id=await entry_id(deployed, "read"), read_at=at)

    await deployed.purge()

    assert sorted(await deployed.titles()) == ["kept", "stays"]
    assert len(await deployed.rows(states)) == 1


async def test_labelled_entries_stay(deployed: ArchiveEnvironment) -> None:
    await old_entries(deployed, "kept", "gone")
    label = await deployed.put(labels, user_id=await deployed.user("Alice", 1), name="work")
    kept = await entry_id(deployed, "kept")
    await deployed.put(entry_labels, label_id=label, entry_id=kept, sort_at=to_iso(deployed.now))

    await deployed.purge()

    assert sorted(await deployed.titles()) == ["kept", "stays"]


async def test_what_a_consumer_of_a_pool_has_in_hand_stays_and_what_waits_in_it_goes(
    deployed: ArchiveEnvironment,
) -> None:
    names = {"waits": 1, "queued": 2, "leased": 3, "used": 0}
    await old_entries(deployed, *names)
    at = to_iso(deployed.now)
    group = await deployed.put(pool_groups, name="g", rule="{}", created_at=at)
    for name, status in names.items():
        entry = await entry_id(deployed, name)
        await deployed.put(
            pool_items, group_id=group, kind="titles", entry_id=entry, batch_id=1, status=status, changed_at=at
        )

    await deployed.purge()

    assert sorted(await deployed.titles()) == ["leased", "queued", "stays"]
    assert sorted(row["status"] for row in await deployed.rows(pool_items)) == [2, 3]


async def test_unread_lists_and_counts_are_right_after_a_purge(deployed: ArchiveEnvironment) -> None:
    env, feed = deployed, await deployed.add("/feed", answer(item("a"), item("b"), item("c")))
    people = [await env.user(name, 0) for name in ("Alice", "Bob")]
    lists = [await env.put(unread_lists, user_id=user, created_at=to_iso(env.now)) for user in people]
    for user, list_id in zip(people, lists, strict=True):
        await env.set_unread_list(user, list_id)
        await env.subscribe(user, feed)
    await env.refresh(feed)
    await env.read(lists[1], await entry_id(env, "b"))
    await env.later(HOUR, feed, answer(item("a")))
    env.now += LONG

    await env.purge()

    left = await entry_id(env, "a")
    assert [(row["list_id"], row["entry_id"]) for row in await env.rows(unread)] == [(one, left) for one in lists]
    assert [row["unread_count"] for row in await env.rows(subscriptions)] == [1, 1]


async def test_revisions_go_with_their_entry(env: ArchiveEnvironment) -> None:
    feed = await env.add("/feed", answer(item("a", "one"), item("b", "one")))
    await env.refresh(feed)
    await env.later(HOUR, feed, answer(item("a", "two"), item("b", "two")))
    await env.later(HOUR, feed, answer(item("a", "two")))
    env.now += LONG

    await env.purge()

    [revision] = await env.rows(revisions)
    assert revision["entry_id"] == await entry_id(env, "a")


async def test_a_dry_run_reports_what_a_purge_would_do(deployed: ArchiveEnvironment) -> None:
    env, feed = deployed, await old_entries(deployed, "a", "b")
    await archive_image(env, await entry_id(env, "a"), feed, "guid-a")
    before = await env.keys()

    foreseen = await preview_purge(env.db, RetentionPeriods(), env.now)

    assert sorted(await env.titles()) == ["a", "b", "stays"]
    assert await env.keys() == before
    assert foreseen == await env.purge() == PurgeCounts(2, 2, 2, 0, 0, 3)
    assert await preview_purge(env.db, RetentionPeriods(), env.now) == PurgeCounts(0, 0, 0, 0, 0, 0)


async def test_more_than_a_chunk_is_purged_and_nothing_of_other_feeds(env: ArchiveEnvironment) -> None:
    many = [item(f"n{number}") for number in range(1200)]
    feed = await env.add("/feed", answer(item("stays"), *many))
    other = await env.add("/other", answer(item("other")))
    for one in (feed, other):
        await env.refresh(one)
    await env.later(HOUR, feed, answer(item("stays")))
    env.now += LONG

    assert (await env.purge()).entries == 1200
    assert await env.titles() == ["stays", "other"]
    assert [(await env.feed(one)).entry_count for one in (feed, other)] == [1, 1]


async def test_raw_bodies_go_after_thirty_days(deployed: ArchiveEnvironment) -> None:
    env, feed = deployed, await deployed.add("/feed", answer(item("a")))
    await env.refresh(feed)
    await env.later(timedelta(days=20), feed, answer(item("b")))
    env.now += timedelta(days=11)

    purged = await env.purge()

    [left] = await env.rows(raw_bodies)
    assert (purged.raw_bodies, purged.objects) == (1, 1)
    assert await env.keys("backups/") == [left["key"]]


async def test_logs_finished_batches_and_left_lists_are_pruned(deployed: ArchiveEnvironment) -> None:
    env, feed = deployed, await deployed.add("/feed", answer(item("a")))
    await env.refresh(feed)
    at = to_iso(env.now)
    done = {"kind": "k", "total": 1, "created_at": at, "heartbeat_at": at, "status": "done"}
    ended = await env.put(batches, token="t", finished_at=at, **done)
    await env.put(batch_jobs, batch_id=ended, feed_id=feed.id)
    await env.put(batches, token="u", kind="k", total=1, created_at=at, heartbeat_at=at)
    alice = await env.user("Alice", 0)
    left, current = [await env.put(unread_lists, user_id=alice, created_at=at, retired_at=at) for _ in range(2)]
    await env.set_unread_list(alice, current)
    for list_id in (left, current):
        for number in range(3):
            await env.put(unread, list_id=list_id, sort_at=at, entry_id=number + 1, subscription_id=1)
    env.now += 31 * DAY

    purged = await env.purge()

    assert (purged.log_lines, purged.batches, purged.unread_lists) == (1, 1, 1)
    assert await env.rows(fetch_log) == await env.rows(batch_jobs) == []
    assert [row["token"] for row in await env.rows(batches)] == ["u"]
    assert {row["list_id"] for row in await env.rows(unread)} == {current}
    assert [row["id"] for row in await env.rows(unread_lists)] == [current]


async def test_a_long_unread_list_is_emptied_chunk_by_chunk(env: ArchiveEnvironment) -> None:
    alice, at = await env.user("Alice", 0), to_iso(env.now)
    left = await env.put(unread_lists, user_id=alice, created_at=at, retired_at=at)
    await env.fill_list(left, 2500)
    env.now += RETIRED_LISTS_KEPT_FOR
    assert (await env.purge()).unread_lists == 0
    env.now += HOUR

    assert (await env.purge()).unread_lists == 1
    assert await env.rows(unread) == await env.rows(unread_lists) == []


async def test_an_object_that_a_row_speaks_of_again_is_not_deleted(env: ArchiveEnvironment) -> None:
    feed = await env.add("/feed", answer(item("a")))
    await env.refresh(feed)
    key = await archive_image(env, await entry_id(env, "a"), feed, "guid-a")
    await env.put(object_garbage, key=key, recorded_at=to_iso(env.now))

    assert await delete_garbage(env.db, env.blobs) == 0
    assert await env.keys("images/") == [key]
    assert await env.rows(object_garbage) == []


async def test_while_the_store_fails_rows_go_and_their_objects_wait_on_the_record(
    deployed: ArchiveEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    env, feed = deployed, await old_entries(deployed, "gone")
    key = await archive_image(env, await entry_id(env, "gone"), feed, "guid-gone")
    with monkeypatch.context() as broken:
        broken.setattr(env.blobs, "delete_many", _unavailable)
        with pytest.raises(BlobUnavailable):
            await env.purge()

    assert await env.titles() == ["stays"]
    assert key in {row["key"] for row in await env.rows(object_garbage)}
    assert (await env.purge()).objects == 3
    assert await env.archived_keys() == []


async def _unavailable(*args: object) -> None:
    raise BlobUnavailable("503")


async def test_the_sweep_finds_objects_without_rows_and_spares_the_rest(deployed: ArchiveEnvironment) -> None:
    env, feed = deployed, await deployed.add("/feed", answer(item("a")))
    await env.refresh(feed)
    kept = await archive_image(env, await entry_id(env, "a"), feed, "guid-a")
    await ensure_store_ownership(env.db, env.blobs)
    orphans = [image_key(feed.id, "lost", 3, "png"), raw_body_key(feed.id, env.now - 2 * RAW), descriptor_key(999)]
    others = [descriptor_key(feed.id), "images/notes.txt", raw_body_key(999, env.now)]
    for key in (*orphans, *others):
        await env.blobs.put(key, b"x", "text/plain")

    # The store's own clock says when an object was written.
    later = max([blob.modified_at async for blob in env.blobs.list_keys("")]) + 2 * DAY
    env.now = min(later, env.now)
    assert await record_orphans(env.db, env.blobs, later - env.now + RAW, later) == 3
    assert await delete_garbage(env.db, env.blobs) == 3
    left = await env.keys()
    assert [key for key in orphans if key in left] == []
    assert [key for key in (kept, *others) if key not in left] == []


async def test_what_was_just_written_is_no_orphan(env: ArchiveEnvironment) -> None:
    await env.blobs.put(image_key(1, "new", 0, "png"), b"x", "image/png")
    [blob] = [blob async for blob in env.blobs.list_keys("images/")]

    assert await record_orphans(env.db, env.blobs, RAW, blob.modified_at + HOUR) == 0


async def test_a_store_of_another_database_is_not_swept(env: ArchiveEnvironment) -> None:
    await ensure_store_ownership(env.db, env.blobs)
    await env.forget_facts()

    with pytest.raises(StoreOwnedByAnother):
        await record_orphans(env.db, env.blobs, RAW, env.now)
