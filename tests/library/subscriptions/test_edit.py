"""What people choose for a feed that they share, and what becomes of it when they leave."""

from datetime import timedelta

import msgspec
import pytest

from feedmill.errors import NotFound
from feedmill.library.subscriptions.edit import change_login
from feedmill.model.feed import Feed
from feedmill.model.timestamps import to_iso
from feedmill.model.user import Actor, User
from feedmill.store.admin.users import delete_user
from feedmill.store.feeds.add_feeds import NewFeed, add_feeds, mark_added_by_person
from feedmill.store.feeds.declared_feeds import DeclaredChanges, apply_declared_changes
from feedmill.store.feeds.record_refresh import ClaimLost, record_refresh
from feedmill.store.schema import entries, folder_subscriptions, folders, states, unread
from tests.flows.world import DAY, HOUR, MINUTE, NOW, World, answer, decrypted, encrypted, item
from tests.library.readers import Readers
from tests.www import Answer

LOGIN = msgspec.json.encode({"basic_auth": ("alice", "secret")}).decode()


@pytest.fixture
def url(world: World) -> str:
    return world.web.serve("/feed", answer(item("a"), title="News"))


async def seconds(readers: Readers, feed: Feed) -> float | None:
    there = await readers.world.feed(feed)
    return there.interval.total_seconds() if there.interval else None


# --- what they choose -------------------------------------------------------------------------------------


async def test_of_all_subscribers_intervals_the_smallest_counts(
    readers: Readers, alice: User, bob: User, url: str
) -> None:
    hers = (await readers.subscribe(alice, url, interval_seconds=7200)).subscription
    his = (await readers.subscribe(bob, url, interval_seconds=3600)).subscription
    feed = await readers.feed(hers)

    assert await seconds(readers, feed) == 3600
    await readers.change(bob, his, interval_seconds=86_400)
    assert await seconds(readers, feed) == 7200
    await readers.change(alice, hers, interval_seconds=None)
    assert await seconds(readers, feed) == 86_400
    await readers.leave(bob, his)
    assert await seconds(readers, feed) is None


async def test_a_new_interval_counts_from_the_last_fetch(readers: Readers, alice: User, url: str) -> None:
    mine = (await readers.subscribe(alice, url, interval_seconds=604_800)).subscription
    readers.world.now = NOW + HOUR

    quicker = await readers.change(alice, mine, interval_seconds=7200)
    at_once = await readers.change(alice, mine, interval_seconds=1800)

    assert quicker.next_fetch_at == to_iso(NOW + 2 * HOUR)
    assert str(quicker.next_fetch_why) == "every 2 h, as a subscriber set it"
    assert at_once.next_fetch_at == to_iso(NOW + HOUR)


async def test_the_interval_of_a_new_subscriber_counts_at_once(
    readers: Readers, alice: User, bob: User, url: str
) -> None:
    await readers.subscribe(alice, url, interval_seconds=604_800)

    his = (await readers.subscribe(bob, url, interval_seconds=3600)).subscription

    assert his.next_fetch_at == to_iso(NOW + HOUR)


async def test_a_feed_that_backs_off_is_not_hurried_by_an_interval(
    world: World, readers: Readers, alice: User, url: str
) -> None:
    mine = (await readers.subscribe(alice, url)).subscription
    world.web.serve("/feed", Answer(status=404))
    await readers.refresh(mine)
    [before] = await readers.mine(alice)

    after = await readers.change(alice, mine, interval_seconds=60)

    assert (after.state, after.next_fetch_at) == ("failing", before.next_fetch_at)


async def test_what_a_file_declares_is_not_changed_by_subscribers(
    world: World, readers: Readers, alice: User, url: str
) -> None:
    hour = NewFeed(url, declared=True, interval=HOUR)
    await add_feeds(world.db, [hour], NOW, NOW)
    mine = (await readers.subscribe(alice, url)).subscription

    await readers.change(alice, mine, interval_seconds=60, archive_policy="none")

    feed = await readers.feed(mine)
    assert (feed.interval, feed.archive_policy) == (HOUR, "all")


async def test_an_interval_given_by_command_holds_until_a_subscriber_asks(
    world: World, readers: Readers, alice: User, url: str
) -> None:
    await add_feeds(world.db, [NewFeed(url, interval=2 * HOUR)], NOW, NOW)
    mine = (await readers.subscribe(alice, url, title="Mine")).subscription

    await readers.change(alice, mine, title="Other")
    assert (await readers.feed(mine)).interval == 2 * HOUR
    await readers.change(alice, mine, interval_seconds=3600)
    assert (await readers.feed(mine)).interval == HOUR


async def test_images_are_kept_for_whoever_wants_most(readers: Readers, alice: User, bob: User, url: str) -> None:
    hers = (await readers.subscribe(alice, url, archive_policy="none")).subscription
    his = (await readers.subscribe(bob, url, archive_policy="starred")).subscription

    assert (await readers.feed(hers)).archive_policy == "starred"
    await readers.change(bob, his, archive_policy=None)
    assert (await readers.feed(hers)).archive_policy == "all"
    await readers.leave(bob, his)
    assert (await readers.feed(hers)).archive_policy == "none"


async def test_a_title_is_one_persons(readers: Readers, alice: User, bob: User, url: str) -> None:
    hers = (await readers.subscribe(alice, url)).subscription
    await readers.subscribe(bob, url)

    await readers.change(alice, hers, title="Hers")

    assert [each.title for each in [*await readers.mine(alice), *await readers.mine(bob)]] == ["Hers", "News"]


async def test_nobody_changes_or_ends_what_is_somebody_elses(
    readers: Readers, alice: User, bob: User, url: str
) -> None:
    hers = (await readers.subscribe(alice, url)).subscription

    with pytest.raises(NotFound):
        await readers.change(bob, hers, paused=True)
    with pytest.raises(NotFound):
        await readers.leave(bob, hers)

    assert await readers.mine(alice) == [hers]


# --- pausing ----------------------------------------------------------------------------------------------


async def test_a_feed_that_all_have_paused_rests_until_one_resumes(
    readers: Readers, alice: User, bob: User, url: str
) -> None:
    hers = (await readers.subscribe(alice, url)).subscription
    his = (await readers.subscribe(bob, url)).subscription

    await readers.change(alice, hers, paused=True)
    assert (await readers.feed(hers)).next_fetch_at is not None
    paused = await readers.change(bob, his, paused=True)
    assert (paused.state, paused.next_fetch_at) == ("paused", None)
    assert str(paused.next_fetch_why) == "at rest: all its subscribers have paused it"
    resumed = await readers.change(bob, his, paused=False)
    assert (resumed.state, resumed.next_fetch_at) == ("healthy", to_iso(NOW))


async def test_who_paused_a_feed_gets_nothing_new_while_others_do(
    world: World, readers: Readers, alice: User, bob: User, url: str
) -> None:
    hers = (await readers.subscribe(alice, url)).subscription
    await readers.subscribe(bob, url)
    await readers.change(alice, hers, paused=True)

    world.web.serve("/feed", answer(item("a"), item("b")))
    await readers.refresh(hers)

    assert [(await readers.mine(each))[0].unread_count for each in (alice, bob)] == [1, 2]
    assert [await readers.unread(alice), await readers.unread(bob)] == [1, 2]


async def test_a_refresh_that_runs_meanwhile_does_not_wake_a_feed_that_was_put_to_rest(
    world: World, readers: Readers, alice: User, url: str
) -> None:
    hers = (await readers.subscribe(alice, url)).subscription
    claim = await world.claim(await readers.feed(hers))

    await readers.change(alice, hers, paused=True)

    with pytest.raises(ClaimLost):
        await record_refresh(world.db, claim, world.said[-1][1])
    assert (await readers.feed(hers)).next_fetch_at is None


# --- leaving ----------------------------------------------------------------------------------------------


async def test_leaving_takes_nothing_from_others_and_keeps_what_was_starred(
    world: World, readers: Readers, alice: User, bob: User, url: str
) -> None:
    hers = (await readers.subscribe(alice, url)).subscription
    await readers.subscribe(bob, url)
    [entry] = await world.rows(entries)
    await world.put(states, user_id=alice.id, entry_id=entry["id"], starred_at=to_iso(NOW))

    await readers.leave(alice, hers)

    assert [await readers.mine(alice), await readers.unread(alice)] == [[], 0]
    assert [(await readers.mine(bob))[0].unread_count, await readers.unread(bob)] == [1, 1]
    assert [row["starred_at"] for row in await world.rows(states)] == [to_iso(NOW)]
    assert (await readers.feed(hers)).next_fetch_at is not None


async def test_a_feed_that_the_last_one_left_rests_and_comes_back_with_the_next(
    readers: Readers, alice: User, bob: User, url: str
) -> None:
    hers = (await readers.subscribe(alice, url)).subscription

    await readers.leave(alice, hers)

    feed = await readers.feed(hers)
    assert (feed.next_fetch_at, str(feed.next_fetch_why)) == (None, "at rest: nobody subscribes to it any more")
    his = (await readers.subscribe(bob, url)).subscription
    assert (his.feed_id, his.next_fetch_at, his.unread_count) == (hers.feed_id, to_iso(NOW), 1)


async def test_a_feed_that_somebody_added_by_command_does_not_rest(
    world: World, readers: Readers, alice: User, url: str
) -> None:
    mine = (await readers.subscribe(alice, url)).subscription
    await mark_added_by_person(world.db, [mine.feed_id], NOW)

    await readers.leave(alice, mine)

    assert (await readers.feed(mine)).next_fetch_at is not None


async def test_a_feed_that_leaves_the_file_goes_on_for_its_subscribers(
    world: World, readers: Readers, alice: User, url: str
) -> None:
    await add_feeds(world.db, [NewFeed(url, declared=True)], NOW, NOW)
    mine = (await readers.subscribe(alice, url)).subscription

    await apply_declared_changes(world.db, DeclaredChanges(dropped=(mine.feed_id,)), "feeds.yaml", NOW)

    assert (await readers.feed(mine)).next_fetch_at is not None
    await readers.leave(alice, mine)
    assert (await readers.feed(mine)).next_fetch_at is None


async def test_what_was_read_before_is_not_unread_for_who_comes_back(
    world: World, readers: Readers, alice: User, url: str
) -> None:
    mine = (await readers.subscribe(alice, url)).subscription
    [entry] = await world.rows(entries)
    await world.put(states, user_id=alice.id, entry_id=entry["id"], read_at=to_iso(NOW))
    await readers.leave(alice, mine)

    again = (await readers.subscribe(alice, url)).subscription

    assert (again.unread_count, await readers.unread(alice)) == (0, 0)


async def test_a_feed_rests_when_its_last_reader_is_deleted_and_forgets_their_login(
    world: World, readers: Readers, alice: User, bob: User, url: str
) -> None:
    hers = (await readers.subscribe(alice, url, http_options=LOGIN)).subscription
    shared = (await readers.subscribe(alice, world.web.serve("/shared", answer()))).subscription
    await readers.subscribe(bob, shared.url)

    await delete_user(world.db, alice, Actor(bob.id, None), NOW)

    feed = await readers.feed(hers)
    assert (feed.next_fetch_at, feed.http_options) == (None, None)
    assert (await readers.feed(shared)).next_fetch_at is not None


# --- logins -----------------------------------------------------------------------------------------------


async def test_a_login_gives_a_reader_a_feed_of_their_own_and_leaves_the_shared_one(
    world: World, readers: Readers, alice: User, bob: User, url: str
) -> None:
    hers = (await readers.subscribe(alice, url, title="Hers")).subscription
    his = (await readers.subscribe(bob, url)).subscription

    moved = await change_login(world.db, alice.id, hers.id, encrypted(LOGIN), NOW)

    assert (moved.id, moved.title, moved.url, moved.is_private) == (hers.id, "Hers", url, True)
    assert (moved.feed_id != hers.feed_id, moved.state, moved.unread_count) == (True, "queued", 0)
    assert await readers.unread(alice) == 0
    [there] = await readers.mine(bob)
    assert (there.feed_id, there.unread_count) == (his.feed_id, 1)
    assert (await readers.feed(there)).http_options is None
    await readers.refresh(moved)
    assert (await readers.mine(alice))[0].unread_count == 1


async def test_a_login_is_changed_in_place_and_forgotten_when_its_owner_leaves(
    world: World, readers: Readers, alice: User, url: str
) -> None:
    mine = (await readers.subscribe(alice, url, http_options=LOGIN)).subscription
    other = LOGIN.replace("secret", "other")

    changed = await change_login(world.db, alice.id, mine.id, encrypted(other), NOW)
    assert (changed.feed_id, decrypted(await readers.feed(mine))) == (mine.feed_id, other)

    await readers.leave(alice, mine)
    assert (await readers.feed(mine)).http_options is None


# --- on every database ------------------------------------------------------------------------------------


async def test_a_subscription_comes_changes_and_goes_on_every_database(any_world: World) -> None:
    readers = Readers(any_world)
    alice, bob = await readers.person("alice"), await readers.person("bob")
    url = any_world.web.serve("/feed", answer(*(item(str(n), date=NOW - n * MINUTE) for n in range(55))))
    folder_id = await any_world.put(folders, user_id=bob.id, name="News")
    hers = (await readers.subscribe(alice, url)).subscription

    his = (await readers.subscribe(bob, url, folder_ids=(folder_id,), interval_seconds=3600)).subscription
    assert (his.unread_count, his.folder_ids, await readers.unread(bob)) == (50, (folder_id,), 50)
    assert (await readers.feed(his)).interval == timedelta(hours=1)
    moved = await change_login(any_world.db, bob.id, his.id, encrypted(LOGIN), NOW)
    assert (moved.is_private, moved.unread_count, moved.folder_ids) == (True, 0, (folder_id,))
    await readers.change(alice, hers, paused=True, archive_policy="starred", interval_seconds=DAY.seconds + 86_400)
    await readers.leave(bob, moved)
    await readers.leave(alice, hers)

    assert [await readers.mine(alice), await readers.mine(bob)] == [[], []]
    assert [await any_world.rows(unread), await any_world.rows(folder_subscriptions)] == [[], []]
    assert [(await readers.feed(each)).next_fetch_at for each in (hers, moved)] == [None, None]
