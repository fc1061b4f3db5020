"""What was kept, replayed: after a parser's fault, after a purge, and into an empty database."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import structs

from feedmill.archive.feed_descriptors import repair_descriptors
from feedmill.archive.object_keys import DESCRIPTORS_PREFIX, descriptor_key
from feedmill.archive.store_ownership import (
    StoreOwnedByAnother,
    ensure_store_ownership,
    owns_store,
    take_store_ownership,
)
from feedmill.collect import refresh, restore_target
from feedmill.collect.restore import RestoreReport
from feedmill.collect.restore_bodies import Period
from feedmill.collect.restore_plan import NothingToRestore, find_descriptors
from feedmill.errors import BlobUnavailable
from feedmill.model.feed import Claim, Feed
from feedmill.model.parsed_feed import ParsedFeed
from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database, Step
from feedmill.store.feeds.claims import claim_feeds, release_claims
from feedmill.store.feeds.merge_feeds import Merge, merge_feeds
from feedmill.store.schema import (
    entries,
    facts,
    feed_urls,
    feeds,
    fetch_log,
    image_tasks,
    raw_bodies,
    revisions,
    states,
    subscriptions,
    tombstones,
    unread,
)
from tests.databases import empty
from tests.flows.places import ARRIVES_BEFORE, KEEPING, PLACES, ArchiveWorld, world_at
from tests.flows.world import DAY, HOUR, MINUTE, NOW, answer, item, rss
from tests.waiting import until
from tests.www import Answer

ALL_OF_A_FEED = [
    column.name
    for column in feeds.c
    if column.name not in ("entry_count", "last_entry_at", "claim_token", "claimed_until")
]


@pytest.fixture(params=PLACES)
async def placed(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[ArchiveWorld]:
    async with world_at(request, request.param, tmp_path) as made:
        yield made


@pytest.fixture
async def world(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[ArchiveWorld]:
    async with world_at(request, "one machine", tmp_path) as made:
        yield made


class Broken:
    """A parser that drops the entries of these titles."""

    def __init__(self, *dropped: str) -> None:
        self._dropped, self._parse = dropped, refresh.parse_off_loop

    async def __call__(self, data: bytes, **hints: Any) -> ParsedFeed:
        parsed = await self._parse(data, **hints)
        return structs.replace(parsed, entries=tuple(one for one in parsed.entries if one.title not in self._dropped))


async def collect(world: ArchiveWorld, *bodies: list[str], path: str = "/feed") -> Feed:
    """A feed that offered these items, an hour apart."""
    feed = await world.add(path, answer(*bodies[0]))
    await world.refresh(feed)
    for number, body in enumerate(bodies[1:]):
        # Not the same bytes, even if the same items.
        await world.later(HOUR, feed, answer(*body, channel=f"<ttl>{number}</ttl>"), path)
    return feed


async def everything(world: ArchiveWorld) -> dict[str, Any]:
    tables = (feeds, entries, revisions, raw_bodies, tombstones, states, subscriptions, unread, image_tasks, fetch_log)
    return {table.name: await world.rows(table) for table in tables}


async def in_feed(world: ArchiveWorld) -> list[str]:
    return sorted(row["title"] for row in await world.rows(entries, in_feed=1))


async def test_entries_that_a_broken_parser_dropped_are_brought_back(
    placed: ArchiveWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    world, old, new = placed, [item("a", "x"), item("b", date=NOW - DAY)], [item("c"), item("b", date=NOW - DAY)]
    with monkeypatch.context() as broken:
        broken.setattr(refresh, "parse_off_loop", Broken("a", "b"))
        feed = await collect(world, old, new)
    before = await world.rows(feeds)

    foreseen = await world.imagine()
    restored = await world.restore()

    assert foreseen == restored == RestoreReport(bodies=2, added=2)
    rows = {row["title"]: row for row in await world.rows(entries)}
    # As of when they arrived: the undated one, and the one that is in the feed still.
    arrived = to_iso(NOW - ARRIVES_BEFORE)
    assert (rows["a"]["sort_at"], rows["a"]["first_seen_at"], rows["a"]["in_feed"]) == (arrived, arrived, 0)
    assert (rows["b"]["sort_at"], rows["b"]["in_feed"]) == (to_iso(NOW - DAY), 1)
    assert rows["b"]["last_seen_at"] == to_iso(NOW + HOUR - ARRIVES_BEFORE)
    after = await world.rows(feeds)
    assert [{name: row[name] for name in ALL_OF_A_FEED} for row in after] == [
        {name: row[name] for name in ALL_OF_A_FEED} for row in before
    ]
    assert (await world.feed(feed)).entry_count == 3


async def test_a_second_restore_changes_nothing(placed: ArchiveWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(refresh, "parse_off_loop", Broken("a"))
        await collect(
            placed, [item("a", "one"), item("b")], [item("a", "two"), item("b", "new")], [item("a", "three"), item("c")]
        )
    await placed.restore()
    once = await everything(placed)

    assert await placed.restore() == RestoreReport(bodies=3)
    assert await everything(placed) == once


async def test_a_healthy_feed_has_nothing_to_restore(placed: ArchiveWorld) -> None:
    texts = [[item("a", text), item("b")] for text in ("one", "two", "one", "three")]
    await collect(placed, *texts, [item("b", "changed")], [item("a", "four"), item("c")])
    before = await everything(placed)

    assert await placed.imagine() == await placed.restore() == RestoreReport(bodies=6)
    assert await everything(placed) == before


async def test_an_entry_that_changed_while_it_was_missed_has_its_texts_in_order(
    world: ArchiveWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(refresh, "parse_off_loop", Broken("a"))
        await collect(world, [item("a", "one")], [item("a", "two")], [item("a", "three")])

    foreseen = await world.imagine()

    assert foreseen == await world.restore() == RestoreReport(bodies=3, added=1, revised=2)
    [entry] = await world.rows(entries)
    assert (entry["content_html"], entry["revision_count"], entry["in_feed"]) == ("one", 2, 1)
    assert [row["content_html"] for row in await world.rows(revisions)] == ["two", "three"]


async def test_a_parser_that_reads_more_of_an_entry_revises_it_once(
    world: ArchiveWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def short(data: bytes, **hints: Any) -> ParsedFeed:
        parsed = await parse(data, **hints)
        cut = [structs.replace(one, content_html="cut", summary="cut") for one in parsed.entries]
        return structs.replace(parsed, entries=tuple(cut))

    parse = refresh.parse_off_loop
    with monkeypatch.context() as broken:
        broken.setattr(refresh, "parse_off_loop", short)
        await collect(world, [item("a", "the whole text")], [item("a", "the whole text"), item("b", "more")])

    assert await world.restore() == RestoreReport(bodies=2, revised=2)
    assert sorted(row["content_html"] for row in await world.rows(revisions)) == ["more", "the whole text"]
    assert await world.restore() == RestoreReport(bodies=2)


async def test_an_older_text_is_never_put_above_a_newer_one(world: ArchiveWorld) -> None:
    await collect(world, [item("a", "one")], [item("a", "two")])
    before = await everything(world)

    # Only the first body: its text is older than the one that the entry has.
    assert await world.restore(period=Period(until=NOW + 10 * MINUTE)) == RestoreReport(bodies=1)
    assert await everything(world) == before


async def test_only_the_newest_body_says_what_is_in_the_feed(
    world: ArchiveWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(refresh, "parse_off_loop", Broken("a", "b"))
        feed = await collect(world, [item("a"), item("b")], [item("b"), item("c")])
        await world.later(HOUR, feed, Answer(b"<html>sorry</html>"))

    assert await world.restore() == RestoreReport(bodies=3, added=2, unreadable=1)
    assert await in_feed(world) == ["b", "c"]


async def test_an_entry_that_a_broken_parser_took_for_gone_is_in_the_feed_again(
    world: ArchiveWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed = await collect(world, [item("a"), item("b")])
    with monkeypatch.context() as broken:
        broken.setattr(refresh, "parse_off_loop", Broken("a"))
        await world.later(HOUR, feed, answer(item("a"), item("b"), item("c")))
    assert await in_feed(world) == ["b", "c"]

    await world.restore()

    assert await in_feed(world) == ["a", "b", "c"]


async def test_a_purged_entry_is_not_revived(placed: ArchiveWorld) -> None:
    feed = await collect(placed, [item("a"), item("b")], [item("b")])
    placed.now += 20 * DAY
    await placed.purge(replace(KEEPING, entries=10 * DAY))
    assert await placed.titles() == ["b"]

    assert await placed.restore(feed) == RestoreReport(bodies=2)
    assert await placed.titles() == ["b"]


async def test_states_of_reading_are_left_alone_and_what_comes_back_is_unread(
    world: ArchiveWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed = await world.add("/feed")
    alice = await world.user("Alice", 11)
    await world.subscribe(alice, feed)
    with monkeypatch.context() as broken:
        broken.setattr(refresh, "parse_off_loop", Broken("one", "two", "three"))
        lost = [[item("read"), item("one")], [item("read", "anew"), item("two")], [item("read"), item("three")]]
        await collect(world, *lost)
    [read] = await world.rows(entries)
    await world.read(11, read["id"])
    await world.put(states, user_id=alice, entry_id=read["id"], read_at=to_iso(world.now), starred_at=to_iso(world.now))
    before = await world.rows(states)

    await world.restore()

    assert await world.rows(states) == before
    ids = {row["id"] for row in await world.rows(entries)}
    assert {row["entry_id"] for row in await world.rows(unread)} == ids - {read["id"]}
    assert [row["unread_count"] for row in await world.rows(subscriptions)] == [3]


async def test_bodies_outside_the_period_are_not_replayed(world: ArchiveWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(refresh, "parse_off_loop", Broken("a", "b", "c"))
        await collect(world, [item("a")], [item("b")], [item("c")])

    restored = await world.restore(period=Period(since=NOW + 10 * MINUTE, until=NOW + HOUR + 10 * MINUTE))

    assert restored == RestoreReport(bodies=1, added=1)
    assert (await world.titles(), await in_feed(world)) == (["b"], [])


async def test_a_body_that_is_gone_is_counted_and_the_others_are_replayed(
    world: ArchiveWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(refresh, "parse_off_loop", Broken("a", "b"))
        await collect(world, [item("a")], [item("b")])
    await world.blobs.delete_many([(await world.keys("backups/"))[0]])

    assert await world.restore() == RestoreReport(bodies=2, added=1, missing=1)


async def test_images_of_restored_entries_are_wanted(world: ArchiveWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(refresh, "parse_off_loop", Broken("a"))
        await collect(world, [item("a", '<img src="/x.png">')])

    await world.restore()

    assert [row["original_url"] for row in await world.rows(image_tasks)] == ["https://example.org/x.png"]


def count_claims(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The feeds that a restore tries to claim from now on, in the order of the tries, which come soon."""
    tries: list[int] = []

    async def claim(db: Database, ids: Sequence[int], now: datetime) -> list[Claim]:
        claims = await claim_feeds(db, ids, now)
        tries.extend(ids)
        return claims

    monkeypatch.setattr(restore_target, "claim_feeds", claim)
    monkeypatch.setattr(restore_target, "POLL_EVERY", timedelta(milliseconds=1))
    return tries


async def test_a_feed_that_is_being_refreshed_is_waited_for(
    world: ArchiveWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(refresh, "parse_off_loop", Broken("a"))
        feed = await collect(world, [item("a")])
    claim = await world.claim(feed)
    tries = count_claims(monkeypatch)

    waiting = asyncio.create_task(world.restore())
    await until(lambda: len(tries) > 2, otherwise="nobody tried again to claim the feed")
    assert await world.titles() == []
    await release_claims(world.db, [claim])

    assert await waiting == RestoreReport(bodies=1, added=1)
    assert (await world.feed(feed)).claimed_until is None


async def test_a_feed_that_stays_busy_is_left_out(world: ArchiveWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    feed = await collect(world, [item("a")])
    other = await collect(world, [item("b")], path="/other")
    await world.claim(feed)
    tries = count_claims(monkeypatch)
    monkeypatch.setattr(restore_target, "MAX_WAIT", 5 * restore_target.POLL_EVERY)

    assert await world.restore(feed, other) == RestoreReport(bodies=1, busy=1)
    assert tries == 5 * [feed.id] + [other.id]


async def test_a_restore_that_lost_its_claim_writes_nothing(
    world: ArchiveWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(refresh, "parse_off_loop", Broken("a"))
        feed = await collect(world, [item("a")])
    get = world.blobs.get

    async def get_and_lose(key: str, *rest: Any) -> bytes:
        await world.change(feed, claim_token="somebody else's")
        return await get(key, *rest)

    monkeypatch.setattr(world.blobs, "get", get_and_lose)

    assert await world.restore() == RestoreReport(busy=1)
    assert await world.titles() == []


async def test_when_the_store_fails_what_was_replayed_stays_and_the_feed_is_let_go(
    world: ArchiveWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(refresh, "parse_off_loop", Broken("a", "b"))
        feed = await collect(world, [item("a")], [item("b")])
    last, get = (await world.keys("backups/"))[-1], world.blobs.get

    async def fail(key: str, *rest: Any) -> bytes:
        # The newest is read once before all others.
        if key == last and await world.titles():
            raise BlobUnavailable("503")
        return await get(key, *rest)

    with monkeypatch.context() as broken:
        broken.setattr(world.blobs, "get", fail)
        with pytest.raises(BlobUnavailable):
            await world.restore()

    assert (await world.titles(), (await world.feed(feed)).claimed_until) == (["a"], None)
    assert await world.restore() == RestoreReport(bodies=2, added=1)


async def test_what_was_kept_of_a_merged_feed_stays_with_it(
    world: ArchiveWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(refresh, "parse_off_loop", Broken("lost"))
        old = await collect(world, [item("a"), item("lost")], path="/old")
        new = await collect(world, [item("a"), item("b")], path="/new")
    await merge_feeds(world.db, Merge(old.id, old.url, new.id, new.url), world.now)

    assert await world.restore() == RestoreReport(bodies=2, added=1)
    assert {(row["title"], row["feed_id"], row["in_feed"]) for row in await world.rows(entries)} == {
        ("a", old.id, 0),
        ("lost", old.id, 0),
        ("a", new.id, 1),
        ("b", new.id, 1),
    }
    assert await world.restore() == RestoreReport(bodies=2)
    assert await world.restore(old) == await world.restore(new) == RestoreReport(bodies=1)


async def test_a_store_that_knows_a_merged_feed_writes_nothing_into_the_other(world: ArchiveWorld) -> None:
    old = await collect(world, [item("forged")], path="/old")
    new = await collect(world, [item("true")], path="/new")
    await ensure_store_ownership(world.db, world.blobs)
    await repair_descriptors(world.db, world.blobs, world.now)
    await merge_feeds(world.db, Merge(old.id, old.url, new.id, new.url), world.now)
    await world.db.batch([Step(entries.delete())])

    await world.rebuild()

    assert {(row["title"], row["feed_id"]) for row in await world.rows(entries)} == {
        ("forged", old.id),
        ("true", new.id),
    }


async def test_entries_that_an_admin_moved_do_not_come_back_to_the_old_feed(world: ArchiveWorld) -> None:
    old = await collect(world, [item("a"), item("moved")], path="/old")
    new = await collect(world, [item("a")], path="/new")
    await merge_feeds(world.db, Merge(old.id, old.url, new.id, new.url, move_up_to=2**40), world.now)

    assert await world.restore() == RestoreReport(bodies=2)

    assert {(row["title"], row["feed_id"]) for row in await world.rows(entries)} == {
        ("a", new.id),
        ("moved", new.id),
    }


async def test_an_empty_database_is_rebuilt_from_the_store_alone(placed: ArchiveWorld) -> None:
    world = placed
    first = await collect(world, [item("a"), item("b")], [item("b", "anew"), item("c")])
    second = await collect(world, [item("d")], path="/second")
    entries_before, bodies = await told(world), len(await world.rows(raw_bodies))
    await empty(world.db)

    foreseen = await world.imagine_rebuild()
    assert (await world.rows(feeds), await world.rows(entries)) == ([], [])
    rebuilt = await world.rebuild()

    assert foreseen == rebuilt == RestoreReport(bodies=3, added=4, revised=1)
    assert await told(world) == entries_before
    assert sorted((row["id"], row["url"], row["title"]) for row in await world.rows(feeds)) == sorted(
        (feed.id, feed.url, "A feed") for feed in (first, second)
    )
    assert len(await world.rows(raw_bodies)) == bodies
    # A new feed gets a number of its own, and a refresh goes on from here.
    assert (await world.add("/third", answer(item("e")))).id not in (first.id, second.id)
    await world.later(HOUR, first, answer(item("c"), item("f")))
    assert sorted(await world.titles()) == ["a", "b", "c", "d", "f"]
    assert await world.rebuild() == RestoreReport(bodies=4)


async def told(world: ArchiveWorld) -> list[tuple[Any, ...]]:
    """What entries tell, but for what differs by the moment between an answer and its writing."""
    names = ("feed_id", "guid", "title", "content_html", "digest", "in_feed", "revision_count")
    return sorted(tuple(row[name] for name in names) for row in await world.rows(entries))


async def test_a_number_that_another_feed_has_by_now_is_not_mixed_up(world: ArchiveWorld) -> None:
    await collect(world, [item("a")])
    await empty(world.db)
    taken = await world.add("/other")

    await world.rebuild()

    [entry] = await world.rows(entries)
    assert entry["feed_id"] != taken.id
    assert await world.rebuild() == RestoreReport(bodies=1)


async def test_the_card_of_a_feed_that_moved_says_where_it_is(world: ArchiveWorld) -> None:
    feed = await collect(world, [item("a")])
    await world.put(feed_urls, feed_id=feed.id, url=feed.url, until=to_iso(world.now))
    await world.change(feed, url="https://example.org/moved")

    assert await repair_descriptors(world.db, world.blobs, world.now) == 1
    await empty(world.db)
    await world.rebuild()

    assert [row["url"] for row in await world.rows(feeds)] == ["https://example.org/moved"]


async def card(world: ArchiveWorld, feed: Feed) -> dict[str, Any]:
    return dict(msgspec.json.decode(await world.blobs.get(descriptor_key(feed.id))))


async def test_the_first_refresh_writes_the_card_of_a_feed(placed: ArchiveWorld) -> None:
    feed = await collect(placed, [item("a")])

    assert await card(placed, feed) == {"feed_id": feed.id, "url": feed.url, "title": "A feed"}
    assert await owns_store(placed.db, placed.blobs)


async def test_a_refresh_writes_no_card_that_is_as_it_should_be(
    world: ArchiveWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed = await world.add("/feed", answer(item("a"), headers={"ETag": '"1"'}))
    await world.refresh(feed)
    put, written = world.blobs.put, list[str]()

    async def note(key: str, *rest: Any) -> None:
        written.append(key)
        await put(key, *rest)

    monkeypatch.setattr(world.blobs, "put", note)
    await world.later(HOUR, feed, Answer(status=304))
    await world.later(HOUR, feed, answer(item("b")))
    await world.later(HOUR, feed, Answer(status=500))

    assert [key for key in written if key.startswith(DESCRIPTORS_PREFIX)] == []


async def test_a_card_follows_the_title_and_the_address_of_its_feed(world: ArchiveWorld) -> None:
    feed = await collect(world, [item("a")])

    await world.later(HOUR, feed, answer(item("a"), title="Another title", headers={"ETag": '"1"'}))
    renamed = await card(world, feed)
    await world.change(feed, own_title="My title", url=world.web.serve("/moved", Answer(status=304)))
    await world.later(HOUR, feed)

    assert renamed["title"] == "Another title"
    assert await card(world, feed) == {"feed_id": feed.id, "url": world.web.url("/moved"), "title": "My title"}


async def test_a_refresh_that_is_killed_after_its_card_is_done_again_with_the_same_card(
    world: ArchiveWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed = await world.add("/feed", answer(item("a")))

    class Killed(BaseException):
        pass

    async def die(*_: Any) -> None:
        raise Killed

    with monkeypatch.context() as broken:
        broken.setattr(refresh, "record_refresh", die)
        with pytest.raises(Killed):
            await world.refresh(feed)
    left = await card(world, feed)
    world.now += HOUR
    await world.refresh(feed)

    assert left["url"] == (await card(world, feed))["url"] == feed.url
    assert (await world.feed(feed)).card_sha256 is not None
    await empty(world.db)
    assert await world.rebuild() == RestoreReport(bodies=2, added=1)


async def test_a_refresh_into_a_store_of_another_database_leaves_its_cards_alone(world: ArchiveWorld) -> None:
    feed = await collect(world, [item("a")])
    await empty(world.db)
    other = await world.add("/other", answer(item("b"), title="Other"))
    world.rewire()

    await world.refresh(other)

    assert await world.keys(DESCRIPTORS_PREFIX) == [descriptor_key(feed.id)]
    assert await world.titles() == ["b"]


async def test_bodies_that_no_card_explains_are_told(world: ArchiveWorld) -> None:
    first = await collect(world, [item("a")])
    await collect(world, [item("b")], path="/second")
    await world.blobs.delete_many([descriptor_key(first.id)])

    cards, unknown = await find_descriptors(world.blobs)

    assert (len(cards), unknown) == (1, 1)


@pytest.mark.parametrize("has_bodies", [True, False])
async def test_a_store_without_cards_can_not_be_restored_from(world: ArchiveWorld, has_bodies: bool) -> None:
    if has_bodies:
        feed = await collect(world, [item("a")])
        await world.blobs.delete_many([descriptor_key(feed.id)])

    with pytest.raises(NothingToRestore, match="no descriptors" if has_bodies else "no feeds"):
        await world.rebuild()


async def test_a_rebuilt_database_does_not_own_the_store_until_it_takes_it(placed: ArchiveWorld) -> None:
    await collect(placed, [item("a")])
    [fact] = await placed.rows(facts, name="store_mark")
    await empty(placed.db)

    await placed.rebuild()
    owned = await owns_store(placed.db, placed.blobs)
    await take_store_ownership(placed.db, placed.blobs)

    assert not owned
    await ensure_store_ownership(placed.db, placed.blobs)
    # The database that had it before knows another mark.
    await placed.db.batch([Step(facts.update().where(facts.c.name == "store_mark").values(value=fact["value"]))])
    with pytest.raises(StoreOwnedByAnother):
        await ensure_store_ownership(placed.db, placed.blobs)


async def test_a_truncated_body_is_replayed_with_its_complete_entries_alone(placed: ArchiveWorld) -> None:
    feed = await collect(placed, [item("a"), item("b", "the text of b"), item("c")])
    body = rss(item("new"), item("b", "the text of b"), item("c"))
    await placed.later(HOUR, feed, Answer(body[: body.index(b"the text") + 3]))
    before = await told(placed)
    await empty(placed.db)

    foreseen = await placed.imagine_rebuild()
    rebuilt = await placed.rebuild()

    assert foreseen == rebuilt == RestoreReport(bodies=2, added=4)
    # What the truncated body lacks is in the feed still.
    assert await in_feed(placed) == ["a", "b", "c", "new"]
    assert await told(placed) == before
    assert [row["parse_result"] for row in await placed.rows(raw_bodies)] == ["ok", "incomplete"]
    assert await placed.rebuild() == RestoreReport(bodies=2)
