"""The archive of a feed: its raw bodies, its images, and what a restore would add."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from feedmill.errors import NotAllowed, NotFound
from feedmill.i18n.messages import verbatim
from feedmill.library.archive import replay as replaying
from feedmill.library.archive.archived_images import ArchivedImage, find_archived_image
from feedmill.library.archive.delete_old_images import delete_old_images, may_delete_images, preview_image_deletion
from feedmill.library.archive.feed_images import list_images, total_images
from feedmill.library.archive.raw_bodies import (
    days_left,
    decode_raw_body,
    find_raw_body,
    list_raw_bodies,
    previous_raw_body,
)
from feedmill.library.archive.replay import TakesTooLong, preview_replay, replay
from feedmill.library.archive.request_images import fetch_missing_images, retry_failed_images
from feedmill.library.archive.storage_usage import forecast_storage, storage_usage_by_feed
from feedmill.library.entries.marks import apply_marks_to_entry
from feedmill.model.entry_marks import EntryMarks
from feedmill.model.image import ImageStatus
from feedmill.model.subscription import Subscription
from feedmill.model.timestamps import to_iso
from feedmill.model.user import User
from feedmill.store.database import Step
from feedmill.store.feeds.claims import claim_feeds
from feedmill.store.schema import entries, feeds, image_tasks, object_garbage, subscriptions
from tests.flows.refresh_environment import DAY, HOUR, MINUTE, RefreshEnvironment, answer, item
from tests.library.subscribers import Subscribers
from tests.waiting import LONGEST_WAIT

PICTURES = '<img src="https://example.org/1.png"><img src="https://example.org/2.png">'


async def subscribed(subscribers: Subscribers, user: User, path: str = "/feed", answers: int = 1) -> Subscription:
    """Subscribes to a feed with images, with this many raw bodies; each has one item more."""
    items = [item("0", PICTURES)]
    url = subscribers.env.web.serve(path, answer(*items, title=path))
    mine = (await subscribers.subscribe(user, url)).subscription
    for number in range(1, answers):
        items.append(item(str(number)))
        subscribers.env.web.serve(path, answer(*items, title=path))
        subscribers.env.now += HOUR
        await subscribers.refresh(mine)
    return mine


async def settle(env: RefreshEnvironment, position: int, **values: object) -> None:
    await env.db.batch([Step(image_tasks.update().where(image_tasks.c.position == position).values(**values))])


# --- raw bodies -------------------------------------------------------------------------------------------


async def test_raw_bodies_are_listed_page_by_page_newest_first(any_env: RefreshEnvironment) -> None:
    subscribers = Subscribers(any_env)
    alice = await subscribers.person("alice")
    mine = await subscribed(subscribers, alice, answers=3)
    await subscribed(subscribers, alice, "/other")

    first = await list_raw_bodies(any_env.db, mine, None, 2)
    rest = await list_raw_bodies(any_env.db, mine, first.more, 2)

    assert [kept.entry_count for kept in (*first.items, *rest.items)] == [3, 2, 1]
    assert [kept.new_entries for kept in first.items] == [1, 1]
    assert rest.more is None
    before = await previous_raw_body(any_env.db, mine, first.items[0])
    assert before == first.items[1]
    assert await previous_raw_body(any_env.db, mine, rest.items[0]) is None


async def test_a_raw_body_is_found_by_subscribers_only(subscribers: Subscribers, alice: User, bob: User) -> None:
    mine, his = await subscribed(subscribers, alice), await subscribed(subscribers, bob, "/his")
    [kept] = (await list_raw_bodies(subscribers.env.db, mine, None, 9)).items

    assert await find_raw_body(subscribers.env.db, alice.id, mine.id, kept.id) == kept
    for user, subscription, body in ((bob, mine, kept.id), (bob, his, kept.id), (alice, mine, 10**15)):
        with pytest.raises(NotFound):
            await find_raw_body(subscribers.env.db, user.id, subscription.id, body)


async def test_a_raw_body_is_decoded_in_its_own_encoding() -> None:
    assert decode_raw_body("<t>磨坊</t>".encode("gb18030"), "text/xml; charset=gb2312") == "<t>磨坊</t>"


async def test_the_remaining_days_count_down_to_zero(subscribers: Subscribers, alice: User) -> None:
    mine = await subscribed(subscribers, alice)
    [kept] = (await list_raw_bodies(subscribers.env.db, mine, None, 9)).items

    left = [days_left(kept, timedelta(days=30), kept.at + age) for age in (MINUTE, DAY, 29.5 * DAY, 40 * DAY)]

    assert left == [29, 29, 0, 0]


# --- restore ----------------------------------------------------------------------------------------------


async def lose_entries(env: RefreshEnvironment) -> None:
    await env.db.batch([Step(entries.delete()), Step(subscriptions.update().values(unread_count=0))])


async def test_a_restore_is_previewed_and_then_adds_what_is_missing(subscribers: Subscribers, alice: User) -> None:
    mine = await subscribed(subscribers, alice, answers=3)
    await lose_entries(subscribers.env)
    tools = subscribers.env.tools

    would = await preview_replay(tools, alice.id, mine.id, None)
    assert await subscribers.env.titles() == []
    done = await replay(tools, alice.id, mine.id, None)

    assert (would.bodies, would.added, would.revised) == (3, 3, 0)
    assert done == would
    assert sorted(await subscribers.env.titles()) == ["0", "1", "2"]
    assert (await replay(tools, alice.id, mine.id, None)).added == 0


async def test_a_single_raw_body_can_be_restored(subscribers: Subscribers, alice: User) -> None:
    mine = await subscribed(subscribers, alice, answers=3)
    kept = (await list_raw_bodies(subscribers.env.db, mine, None, 9)).items
    await lose_entries(subscribers.env)

    done = await replay(subscribers.env.tools, alice.id, mine.id, kept[1].id)

    assert (done.bodies, done.added) == (1, 2)
    assert sorted(await subscribers.env.titles()) == ["0", "1"]


async def test_a_user_cannot_restore_another_users_feed(subscribers: Subscribers, alice: User, bob: User) -> None:
    mine = await subscribed(subscribers, alice)
    for asked in (preview_replay, replay):
        with pytest.raises(NotFound):
            await asked(subscribers.env.tools, bob.id, mine.id, None)


async def test_a_restore_does_not_wait_forever_for_a_claimed_feed(
    subscribers: Subscribers, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = await subscribed(subscribers, alice)
    [claim] = await claim_feeds(subscribers.env.db, [mine.feed_id], subscribers.env.now)
    monkeypatch.setattr(replaying, "PATIENCE", timedelta(milliseconds=50))

    with pytest.raises(TakesTooLong):
        await asyncio.wait_for(replay(subscribers.env.tools, alice.id, mine.id, None), LONGEST_WAIT)

    assert (await subscribers.env.feed(claim.feed)).claimed_until is not None


# --- images -----------------------------------------------------------------------------------------------


async def test_images_are_shown_by_state_and_tried_again_on_every_database(any_env: RefreshEnvironment) -> None:
    subscribers = Subscribers(any_env)
    alice = await subscribers.person("alice")
    mine = await subscribed(subscribers, alice)
    await settle(any_env, 0, status="failed", attempts=3, last_error="HTTP 404", next_attempt_at=None)
    await settle(any_env, 1, next_attempt_at=to_iso(any_env.now + DAY))

    [failed], more = await list_images(any_env.db, any_env.blobs, mine, ImageStatus.FAILED, None, 9)
    assert (failed.entry_title, failed.url, failed.attempts, more) == ("0", None, 3, None)
    assert failed.last_error == verbatim("HTTP 404")
    assert await retry_failed_images(any_env.db, alice.id, mine.id, any_env.now) == 1
    assert await fetch_missing_images(any_env.db, alice.id, mine.id, any_env.now) == 1

    rows = await any_env.rows(image_tasks)
    assert {(row["status"], row["attempts"], row["next_attempt_at"]) for row in rows} == {
        ("pending", 0, to_iso(any_env.now))
    }


async def test_pages_of_images_continue_without_gap_and_archived_ones_can_be_loaded(
    subscribers: Subscribers, alice: User
) -> None:
    mine, env = await subscribed(subscribers, alice), subscribers.env
    for position in (0, 1):
        await settle(env, position, status="success", object_key=f"images/1/01234567/{position}.png", size=10)

    [newest], more = await list_images(env.db, env.blobs, mine, ImageStatus.SUCCESS, None, 1)
    [other], end = await list_images(env.db, env.blobs, mine, ImageStatus.SUCCESS, more, 1)

    assert [newest.url, other.url] == ["/images/1/01234567/1.png", "/images/1/01234567/0.png"]
    assert end is None
    counts = await total_images(env.db, mine)
    assert (counts["success"].images, counts["success"].bytes, counts["failed"].images) == (2, 20, 0)


async def test_images_that_were_not_archived_are_fetched_on_request(subscribers: Subscribers, alice: User) -> None:
    url = subscribers.env.web.serve("/feed", answer(item("0", PICTURES), item("1")))
    mine = (await subscribers.subscribe(alice, url, archive_policy="none")).subscription
    assert await subscribers.env.rows(image_tasks) == []

    asked = [await fetch_missing_images(subscribers.env.db, alice.id, mine.id, subscribers.env.now) for _ in range(2)]

    assert asked == [2, 0]
    assert [row["status"] for row in await subscribers.env.rows(image_tasks)] == ["pending", "pending"]


async def test_a_user_cannot_change_another_users_images(subscribers: Subscribers, alice: User, bob: User) -> None:
    mine = await subscribed(subscribers, alice)
    for asked in (retry_failed_images, fetch_missing_images):
        with pytest.raises(NotFound):
            await asked(subscribers.env.db, bob.id, mine.id, subscribers.env.now)


# --- deleting images --------------------------------------------------------------------------------------


async def test_images_of_older_entries_are_deleted_except_those_of_marked_entries(any_env: RefreshEnvironment) -> None:
    subscribers = Subscribers(any_env)
    alice = await subscribers.person("alice")
    url = any_env.web.serve("/feed", answer(*(item(str(n), PICTURES) for n in range(3))))
    mine = (await subscribers.subscribe(alice, url)).subscription
    for row in await any_env.rows(image_tasks):
        kept = {"status": "success", "size": 100, "object_key": f"images/{row['entry_id']}/{row['position']}"}
        await any_env.db.batch([Step(image_tasks.update().where(image_tasks.c.id == row["id"]).values(**kept))])
    first, second, _ = (row["id"] for row in await any_env.rows(entries))
    # They have no dates, so it counts when they were found.
    old = entries.update().where(entries.c.id.in_([first, second])).values(first_seen_at=to_iso(any_env.now - 50 * DAY))
    await any_env.db.batch([Step(old)])
    await apply_marks_to_entry(any_env.db, alice.id, second, EntryMarks(starred=True), any_env.now)

    would = await preview_image_deletion(any_env.db, alice, mine.id, 40 * DAY, any_env.now)
    freed = await delete_old_images(any_env.db, alice, mine.id, 40 * DAY, any_env.now)

    assert (would.images, would.bytes) == (freed.images, freed.bytes) == (2, 200)
    assert first not in {row["entry_id"] for row in await any_env.rows(image_tasks)}
    assert len(await any_env.rows(image_tasks)) == 4
    assert {row["key"] for row in await any_env.rows(object_garbage)} == {f"images/{first}/{n}" for n in (0, 1)}
    assert (await preview_image_deletion(any_env.db, alice, mine.id, 40 * DAY, any_env.now)).images == 0


async def test_images_that_other_users_see_too_are_deleted_by_admins_only(
    subscribers: Subscribers, alice: User, bob: User
) -> None:
    mine = await subscribed(subscribers, alice)
    await settle(subscribers.env, 0, status="success", size=100, object_key="images/x")
    assert await may_delete_images(subscribers.env.db, alice, mine.feed_id)
    with pytest.raises(NotFound):
        await delete_old_images(subscribers.env.db, bob, mine.id, DAY, subscribers.env.now)

    await subscribers.subscribe(bob, mine.url)

    with pytest.raises(NotAllowed):
        await delete_old_images(subscribers.env.db, alice, mine.id, DAY, subscribers.env.now)
    assert await may_delete_images(subscribers.env.db, replace(alice, is_admin=True), mine.feed_id)
    assert len(await subscribers.env.rows(object_garbage)) == 0


# --- storage usage ----------------------------------------------------------------------------------------


async def test_the_storage_usage_of_a_users_feeds_is_reported_largest_first(any_env: RefreshEnvironment) -> None:
    subscribers = Subscribers(any_env)
    alice, bob = await subscribers.person("alice"), await subscribers.person("bob")
    small, large = await subscribed(subscribers, alice, "/small"), await subscribed(subscribers, alice, "/large", 3)
    await subscribed(subscribers, bob, "/his", 4)
    await subscribers.subscribe(bob, large.url)
    await settle(any_env, 0, status="success", size=500)

    found = await storage_usage_by_feed(any_env.db, alice.id)

    assert [(each.feed.id, each.space.bodies, each.space.images) for each in found] == [
        (large.id, 3, 1),
        (small.id, 1, 1),
    ]
    assert [each.space.image_bytes for each in found] == [500, 500]
    assert found[0].space.raw_bytes > found[1].space.raw_bytes > 0
    raw = sum(each.space.raw_bytes for each in found)
    ahead = await forecast_storage(any_env.db, alice.id, found, 15 * DAY, any_env.now)
    later = await forecast_storage(any_env.db, alice.id, found, 15 * DAY, any_env.now + 4000 * DAY)
    assert (ahead.came_in, ahead.in_a_month) == (raw + 1000, round(raw / 2) + 2000)
    assert (later.came_in, later.in_a_month) == (0, 1000)


@pytest.mark.parametrize(("owner", "is_seen"), [("", True), ("#user={id}", True), ("#user=999", False)])
async def test_an_archived_image_of_a_private_feed_is_visible_to_its_owner_only(
    subscribers: Subscribers, alice: User, owner: str, is_seen: bool
) -> None:
    env, key = subscribers.env, "images/1/01234567/0.png"
    await subscribed(subscribers, alice)
    await settle(env, 0, status="success", object_key=key, size=10, sha256="ab")
    await env.db.batch([Step(feeds.update().values(url=f"https://example.org/feed{owner.format(id=alice.id)}"))])

    found = await find_archived_image(env.db, alice.id, key)

    assert found == (ArchivedImage(key, "image/png", 10, "ab") if is_seen else None)
