"""A merge on each of the four databases: subscribers move, entries stay, and no user's marks are lost."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from feedmill.library.entries.changed_entries import changes_since
from feedmill.library.entries.sync_cursor import first_cursor
from feedmill.model.feed import Feed, FeedStatus
from feedmill.model.pool import PoolOptions, PoolRule
from feedmill.model.timestamps import to_iso
from feedmill.store.archive.prune_old_rows import drop_empty_subscriptions
from feedmill.store.archive.retention import drop_expired_entries
from feedmill.store.database import Database, Step
from feedmill.store.entries.visible_entries import visible_entries
from feedmill.store.feeds.merge_feeds import Merge, merge_feeds, preview_merge
from feedmill.store.pools.gather_progress import advance_gathered, gathered_up_to
from feedmill.store.pools.groups import add_group
from feedmill.store.schema import (
    entries,
    entry_labels,
    feed_urls,
    filters,
    folder_subscriptions,
    folders,
    image_tasks,
    labels,
    object_garbage,
    playback_positions,
    pool_groups,
    states,
    story_sketches,
    subscriptions,
    tombstones,
    unread,
    unread_lists,
)
from tests.flows.conftest import open_environment
from tests.flows.refresh_environment import DAY, HOUR, NOW, RefreshEnvironment, answer, item

AT = to_iso(NOW)
ALICES, BOBS, CHARLIES = 11, 12, 13
PICTURE = '<img src="https://example.org/i.png">'
ALL = 2**40


class Merged:
    """Two feeds that share an entry. Alice reads the source, Bob reads both, Charlie the target.

    The entry "forged" has the same guid and link in both, with a different text in each.
    """

    def __init__(self, env: RefreshEnvironment) -> None:
        self.env = env

    async def prepare(self) -> None:
        env = self.env
        forged = {"guid": "g", "link": "https://example.org/g"}
        self.source = await env.add(
            "/old", answer(item("same", PICTURE), item("old"), item("forged", "a lie", **forged))
        )
        self.target = await env.add(
            "/new", answer(item("same", PICTURE), item("new"), item("forged", "the truth", **forged))
        )
        self.alice, self.bob = await env.user("Alice", ALICES), await env.user("Bob", BOBS)
        self.charlie = await env.user("Charlie", CHARLIES)
        for user, list_id in ((self.alice, ALICES), (self.bob, BOBS), (self.charlie, CHARLIES)):
            await env.put(unread_lists, id=list_id, user_id=user, created_at=AT)
        self.alices = await env.subscribe(self.alice, self.source)
        self.bobs_old = await env.subscribe(self.bob, self.source)
        self.bobs = await env.subscribe(self.bob, self.target)
        self.charlies = await env.subscribe(self.charlie, self.target)
        for feed in (self.source, self.target):
            await env.refresh(feed)
        self.old_same, self.new_same = await self.entry(self.source, "same"), await self.entry(self.target, "same")
        self.lie, self.truth = await self.entry(self.source, "forged"), await self.entry(self.target, "forged")
        self.old, self.new = await self.entry(self.source, "old"), await self.entry(self.target, "new")

    async def entry(self, feed: Feed, title: str) -> int:
        [row] = await self.env.rows(entries, feed_id=feed.id, title=title)
        return int(row["id"])

    async def merge(self, move_up_to: int | None = None) -> None:
        source, target = self.source, self.target
        merge = Merge(source.id, source.url, target.id, target.url, NOW, move_up_to)
        await merge_feeds(self.env.db, merge, NOW + HOUR)

    async def state(self, user: int, entry: int, **times: str) -> None:
        await self.env.put(states, user_id=user, entry_id=entry, **times)

    async def unread(self, list_id: int) -> set[int]:
        return {row["entry_id"] for row in await self.env.rows(unread, list_id=list_id)}

    async def kept(self, user: int) -> dict[str, Any]:
        """The user's subscription to the source."""
        [row] = await self.env.rows(subscriptions, user_id=user, feed_id=self.source.id)
        return dict(row)

    async def titles_of(self, feed: Feed) -> list[str]:
        return sorted(row["title"] for row in await self.env.rows(entries, feed_id=feed.id))


@pytest.fixture
async def merged(any_db: Database, tmp_path: Path) -> AsyncIterator[Merged]:
    async with open_environment(any_db, tmp_path) as env:
        made = Merged(env)
        await made.prepare()
        yield made


async def test_entries_stay_with_the_source_and_it_rests(merged: Merged) -> None:
    before = await merged.env.rows(entries, feed_id=merged.target.id)

    await merged.merge()

    env = merged.env
    assert await env.rows(entries, feed_id=merged.target.id) == before
    assert await merged.titles_of(merged.source) == ["forged", "old", "same"]
    source, target = await env.feed(merged.source), await env.feed(merged.target)
    assert (source.status, source.next_fetch_at, source.moved_to) == (FeedStatus.DISABLED, None, target.url)
    assert str(source.next_fetch_why) == f"moved to {target.url}; its older entries stay here"
    assert (source.entry_count, target.entry_count) == (3, 3)
    assert [row["url"] for row in await env.rows(feed_urls, feed_id=target.id)] == [merged.source.url]


async def test_programs_are_not_told_that_moved_entries_are_gone(merged: Merged) -> None:
    cursor = first_cursor(NOW)

    await merged.merge(move_up_to=ALL)

    changed = await changes_since(merged.env.db, merged.bob, cursor, NOW + HOUR)
    assert merged.bobs_old in changed.subscription_ids
    assert changed.gone == []


async def test_what_stories_know_of_moved_entries_moves_along(merged: Merged) -> None:
    env = merged.env
    [old] = [row["id"] for row in await env.rows(entries, feed_id=merged.source.id) if row["title"] == "old"]
    await env.put(story_sketches, entry_id=old, feed_id=merged.source.id, at=to_iso(NOW), sketch="x")

    await merged.merge(move_up_to=ALL)

    assert [row["feed_id"] for row in await env.rows(story_sketches)] == [merged.target.id]


async def test_retention_counts_from_the_merge(merged: Merged) -> None:
    await merged.merge()

    rows = await merged.env.rows(entries, feed_id=merged.source.id)
    assert {(row["in_feed"], row["last_seen_at"]) for row in rows} == {(0, to_iso(NOW + HOUR))}


async def test_subscribers_move_to_the_target_and_keep_what_only_the_source_has(merged: Merged) -> None:
    env = merged.env
    await env.db.batch([Step(subscriptions.update().where(subscriptions.c.id == merged.alices).values(title="Mine"))])
    tech = await env.put(folders, user_id=merged.alice, name="tech")
    work, home = [await env.put(folders, user_id=merged.bob, name=name) for name in ("work", "home")]
    for folder, subscription in ((tech, merged.alices), (work, merged.bobs_old), (home, merged.bobs)):
        await env.put(folder_subscriptions, folder_id=folder, subscription_id=subscription)

    await merged.merge()

    rows = await env.rows(subscriptions, feed_id=merged.target.id)
    assert [(row["id"], row["title"]) for row in rows] == [
        (merged.alices, "Mine"),
        (merged.bobs, None),
        (merged.charlies, None),
    ]
    alices_kept, bobs_kept = await merged.kept(merged.alice), await merged.kept(merged.bob)
    assert (alices_kept["title"], bobs_kept["id"]) == ("Mine", merged.bobs_old)
    held = {(row["folder_id"], row["subscription_id"]) for row in await env.rows(folder_subscriptions)}
    assert held == {
        (tech, merged.alices),
        (tech, alices_kept["id"]),
        (work, merged.bobs_old),
        (work, merged.bobs),
        (home, merged.bobs),
    }


async def test_a_source_whose_entries_are_all_in_the_target_keeps_no_subscription(merged: Merged) -> None:
    env = merged.env
    await env.db.batch([Step(entries.delete().where(entries.c.id.in_([merged.old, merged.lie])))])
    await env.db.batch([Step(unread.delete().where(unread.c.entry_id.in_([merged.old, merged.lie])))])

    await merged.merge()

    rows = await env.rows(subscriptions)
    assert [(row["user_id"], row["feed_id"]) for row in rows] == [
        (user, merged.target.id) for user in (merged.alice, merged.bob, merged.charlie)
    ]
    assert {row["subscription_id"] for row in await env.rows(unread)} == {row["id"] for row in rows}


async def test_unread_entries_stay_unread_once_and_are_counted(merged: Merged) -> None:
    await merged.merge()

    assert await merged.unread(ALICES) == {merged.new_same, merged.old, merged.lie}
    assert await merged.unread(BOBS) == {merged.new_same, merged.old, merged.lie, merged.new, merged.truth}
    assert await merged.unread(CHARLIES) == {merged.new_same, merged.new, merged.truth}
    counts = {row["id"]: row["unread_count"] for row in await merged.env.rows(subscriptions)}
    kept = (await merged.kept(merged.alice))["id"]
    assert counts == {merged.alices: 1, kept: 2, merged.bobs: 3, merged.bobs_old: 2, merged.charlies: 3}
    of = {(row["list_id"], row["entry_id"]): row["subscription_id"] for row in await merged.env.rows(unread)}
    assert (of[ALICES, merged.new_same], of[ALICES, merged.old]) == (merged.alices, kept)


async def test_entries_of_the_target_since_the_last_fetch_of_the_source_are_unread(merged: Merged) -> None:
    env = merged.env
    env.now += HOUR
    env.web.serve("/new", answer(item("since"), item("same", PICTURE), item("new")))
    await env.refresh(merged.target)
    since = await merged.entry(merged.target, "since")

    await merged.merge()

    assert since in await merged.unread(ALICES)
    assert merged.new not in await merged.unread(ALICES)
    rows = [row for row in await env.rows(unread) if row["entry_id"] == since]
    assert {(row["list_id"], row["subscription_id"]) for row in rows} == {
        (ALICES, merged.alices),
        (BOBS, merged.bobs),
        (CHARLIES, merged.charlies),
    }


async def test_read_and_starred_marks_move_where_the_entry_is_the_same(merged: Merged) -> None:
    await merged.state(merged.alice, merged.old_same, starred_at=AT)
    await merged.state(merged.bob, merged.old_same, starred_at=AT, read_at=AT)
    await merged.state(merged.bob, merged.new_same, later_at=AT)

    await merged.merge()

    kept = {(row["user_id"], row["entry_id"]): row for row in await merged.env.rows(states)}
    assert set(kept) == {(merged.alice, merged.new_same), (merged.bob, merged.new_same)}
    bobs = kept[merged.bob, merged.new_same]
    assert (bobs["starred_at"], bobs["read_at"], bobs["later_at"]) == (AT, AT, AT)
    assert kept[merged.alice, merged.new_same]["starred_at"] == AT
    assert merged.new_same not in await merged.unread(BOBS)


async def test_reading_a_forged_entry_does_not_hide_the_genuine_one(merged: Merged) -> None:
    await merged.state(merged.bob, merged.lie, read_at=AT, starred_at=AT)

    await merged.merge()

    assert {(row["entry_id"], row["read_at"]) for row in await merged.env.rows(states)} == {(merged.lie, AT)}
    assert merged.truth in await merged.unread(BOBS)


async def test_an_entry_with_a_different_first_text_is_not_the_same(merged: Merged) -> None:
    """As when a redirect brings the genuine text as a revision of a forged entry."""
    env = merged.env
    forged = {"guid": "g", "link": "https://example.org/g"}
    env.web.serve("/old", answer(item("same", PICTURE), item("new"), item("forged", "the truth", **forged)))
    await env.refresh(merged.source)
    await merged.state(merged.bob, merged.lie, read_at=AT)

    await merged.merge()

    assert merged.truth in await merged.unread(BOBS)


async def test_starred_labelled_and_read_later_entries_are_kept_also_without_a_subscription(merged: Merged) -> None:
    env = merged.env
    label = await env.put(labels, user_id=merged.alice, name="keep")
    for entry in (merged.old_same, merged.lie):
        await env.put(entry_labels, label_id=label, entry_id=entry, sort_at=AT)
    await merged.state(merged.alice, merged.old, starred_at=AT)
    await merged.merge()

    await env.db.batch([Step(subscriptions.delete().where(subscriptions.c.user_id == merged.alice))])

    assert {row["entry_id"] for row in await env.rows(entry_labels)} == {merged.new_same, merged.lie}
    mine = (merged.new_same, merged.lie, merged.old)
    assert set(await visible_entries(env.db, merged.alice, mine)) == set(mine)


async def test_playback_positions_go_on_in_the_target_unless_it_has_one(merged: Merged) -> None:
    env = merged.env
    for user, entry, seconds in (
        (merged.alice, merged.old_same, 60),
        (merged.alice, merged.lie, 61),
        (merged.bob, merged.old_same, 62),
        (merged.bob, merged.new_same, 63),
    ):
        await env.put(playback_positions, user_id=user, entry_id=entry, enclosure=0, seconds=seconds, played_at=AT)

    await merged.merge()

    rows = {(row["user_id"], row["entry_id"]): row["seconds"] for row in await env.rows(playback_positions)}
    assert rows == {
        (merged.alice, merged.new_same): 60,
        (merged.alice, merged.lie): 61,
        (merged.bob, merged.new_same): 63,
    }


async def test_an_entry_purged_from_the_source_is_new_in_the_target(merged: Merged) -> None:
    """A tombstone would take up a guid of the other feed."""
    env = merged.env
    await env.put(tombstones, feed_id=merged.source.id, guid="guid-purged", purged_at=AT)

    await merged.merge()
    env.web.serve("/new", answer(item("purged"), item("same"), item("new")))
    await env.refresh(merged.target)

    assert "purged" in await merged.titles_of(merged.target)


async def test_settings_for_the_source_apply_to_the_target(merged: Merged) -> None:
    env = merged.env
    wanted = {"interval_seconds": 1800, "declared": 1, "added_by_person": 1, "own_title": "Ours", "folder": '["a"]'}
    await env.change(merged.source, **wanted)
    await env.change(merged.target, added_by_person=0, next_fetch_at=None)
    group = await add_group(env.db, "g", PoolRule(feeds=(merged.source.id,)), PoolOptions(), PoolOptions(), NOW)

    await merged.merge()

    target = await env.feed(merged.target)
    assert (target.declared, target.added_by_person, target.own_title, target.folder) == (True, True, "Ours", ("a",))
    assert target.interval is not None
    assert target.interval.total_seconds() == 1800
    assert target.next_fetch_at == NOW + HOUR
    [row] = await env.rows(pool_groups, id=group.id)
    assert msgspec.json.decode(row["rule"])["feeds"] == [merged.source.id, merged.target.id]


async def test_pools_of_the_source_continue_with_newer_entries_of_the_target(merged: Merged) -> None:
    env = merged.env
    await add_group(env.db, "g", PoolRule(feeds=(merged.source.id,)), PoolOptions(), PoolOptions(), NOW)
    env.now += HOUR
    env.web.serve("/new", answer(item("since"), item("same", PICTURE), item("new")))
    await env.refresh(merged.target)
    since = await merged.entry(merged.target, "since")
    assert await advance_gathered(env.db, await gathered_up_to(env.db), since)

    await merged.merge()

    assert await gathered_up_to(env.db) == since - 1


async def test_subscriptions_to_a_feed_emptied_by_retention_end(merged: Merged) -> None:
    env = merged.env
    await merged.merge()
    assert await drop_empty_subscriptions(env.db) == 0

    await drop_expired_entries(env.db, DAY, NOW + 9 * DAY)

    assert await drop_empty_subscriptions(env.db) == 2
    rows = await env.rows(subscriptions)
    assert {row["feed_id"] for row in rows} == {merged.target.id}
    assert {row["subscription_id"] for row in await env.rows(unread)} == {row["id"] for row in rows}


async def test_merging_twice_changes_nothing_more(merged: Merged) -> None:
    tables = (entries, subscriptions, folder_subscriptions, states, unread, feed_urls)
    await merged.state(merged.alice, merged.old_same, starred_at=AT)
    await merged.merge()
    before = [await merged.env.rows(table) for table in tables]

    await merged.merge()

    assert [await merged.env.rows(table) for table in tables] == before


# --- an admin moves the entries too ------------------------------------------------------------------------


async def test_a_preview_lists_the_entries_that_would_move(merged: Merged) -> None:
    preview = await preview_merge(merged.env.db, merged.source.id, merged.target.id)

    assert (preview.readers, preview.readers_of_both, preview.entries, preview.same_entries) == (2, 1, 3, 1)
    assert (preview.movable_entries, preview.newest_movable) == (1, merged.old)
    assert [(one.id, one.title, one.link) for one in preview.first_movable] == [
        (merged.old, "old", "https://example.org/old")
    ]


async def test_moved_entries_keep_their_readers(merged: Merged) -> None:
    await merged.state(merged.bob, merged.old, starred_at=AT)

    await merged.merge(move_up_to=ALL)

    env = merged.env
    assert await merged.titles_of(merged.target) == ["forged", "new", "old", "same"]
    assert await merged.titles_of(merged.source) == ["forged"]
    source, target = await env.feed(merged.source), await env.feed(merged.target)
    assert (source.entry_count, target.entry_count) == (1, 4)
    of = {(row["list_id"], row["entry_id"]): row["subscription_id"] for row in await env.rows(unread)}
    kept = (await merged.kept(merged.alice))["id"]
    assert of[ALICES, merged.old] == merged.alices
    assert of[BOBS, merged.old] == merged.bobs
    assert of[ALICES, merged.lie] == kept
    counts = {row["id"]: row["unread_count"] for row in await env.rows(subscriptions)}
    assert counts == {merged.alices: 2, kept: 1, merged.bobs: 4, merged.bobs_old: 1, merged.charlies: 3}
    assert [row["entry_id"] for row in await env.rows(states)] == [merged.old]


async def test_entries_that_arrive_after_the_preview_are_not_moved(merged: Merged) -> None:
    env = merged.env
    env.web.serve("/old", answer(item("late"), item("old")))
    await env.refresh(merged.source)

    await merged.merge(move_up_to=merged.old_same)

    assert "late" not in await merged.titles_of(merged.target)
    assert "old" in await merged.titles_of(merged.target)


async def test_moved_entries_keep_their_images_and_no_object_is_orphaned(merged: Merged) -> None:
    env = merged.env
    [task] = [row for row in await env.rows(image_tasks) if row["entry_id"] == merged.old_same]
    await env.db.batch([_archived(task["id"])])
    await env.put(
        image_tasks, feed_id=merged.source.id, entry_id=merged.old, original_url="u", created_at=AT, updated_at=AT
    )

    await merged.merge(move_up_to=ALL)

    assert [row["key"] for row in await env.rows(object_garbage)] == ["images/1/aa/0.png"]
    assert {(row["entry_id"], row["feed_id"]) for row in await env.rows(image_tasks)} == {
        (merged.new_same, merged.target.id),
        (merged.old, merged.target.id),
    }


def _archived(task_id: int) -> Step:
    done = {"status": "success", "object_key": "images/1/aa/0.png"}
    return Step(image_tasks.update().where(image_tasks.c.id == task_id).values(**done))


async def test_a_filter_of_the_source_is_one_of_the_target(merged: Merged) -> None:
    """Bob reads both feeds, and Alice the source; their subscriptions to it end or move."""
    for user, subscription in ((merged.alice, merged.alices), (merged.bob, merged.bobs_old)):
        made = {"user_id": user, "name": "f", "query": "a", "actions": "{}", "created_at": AT}
        await merged.env.put(filters, **made, scope="feed", subscription_id=subscription)

    await merged.merge(move_up_to=ALL)

    assert {row["subscription_id"] for row in await merged.env.rows(filters)} == {merged.alices, merged.bobs}
