"""What was kept, replayed: after a parser's fault, after a purge, and into an empty database."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from feedmill.archive.cards import mend_cards
from feedmill.archive.ownership import own_store
from feedmill.collect import ledger, refresh
from feedmill.collect.backups import Period
from feedmill.collect.restore import Restored
from feedmill.collect.restore_plan import strangers
from feedmill.errors import BlobUnavailable
from feedmill.model.feed import Feed
from feedmill.model.parsed import ParsedFeed
from feedmill.model.times import to_text
from feedmill.store.claims import give_back
from feedmill.store.merges import merge_feeds
from feedmill.store.schema import (
    entries,
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
from tests.flows.world import DAY, HOUR, MINUTE, NOW, answer, item
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
        self._dropped, self._parse = dropped, refresh.parse

    def __call__(self, data: bytes, **hints: Any) -> ParsedFeed:
        parsed = self._parse(data, **hints)
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
        broken.setattr(refresh, "parse", Broken("a", "b"))
        feed = await collect(world, old, new)
    before = await world.rows(feeds)

    foreseen = await world.imagine()
    restored = await world.restore()

    assert foreseen == restored == Restored(bodies=2, added=2)
    rows = {row["title"]: row for row in await world.rows(entries)}
    # As of when they arrived: the undated one, and the one that is in the feed still.
    arrived = to_text(NOW - ARRIVES_BEFORE)
    assert (rows["a"]["sort_at"], rows["a"]["first_seen_at"], rows["a"]["in_feed"]) == (arrived, arrived, 0)
    assert (rows["b"]["sort_at"], rows["b"]["in_feed"]) == (to_text(NOW - DAY), 1)
    assert rows["b"]["last_seen_at"] == to_text(NOW + HOUR - ARRIVES_BEFORE)
    after = await world.rows(feeds)
    assert [{name: row[name] for name in ALL_OF_A_FEED} for row in after] == [
        {name: row[name] for name in ALL_OF_A_FEED} for row in before
    ]
    assert (await world.feed(feed)).entry_count == 3


async def test_a_second_restore_changes_nothing(placed: ArchiveWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(refresh, "parse", Broken("a"))
        await collect(
            placed, [item("a", "one"), item("b")], [item("a", "two"), item("b", "new")], [item("a", "three"), item("c")]
        )
    await placed.restore()
    once = await everything(placed)

    assert await placed.restore() == Restored(bodies=3)
    assert await everything(placed) == once


async def test_a_healthy_feed_has_nothing_to_restore(placed: ArchiveWorld) -> None:
    texts = [[item("a", text), item("b")] for text in ("one", "two", "one", "three")]
    await collect(placed, *texts, [item("b", "changed")], [item("a", "four"), item("c")])
    before = await everything(placed)

    assert await placed.imagine() == await placed.restore() == Restored(bodies=6)
    assert await everything(placed) == before


async def test_an_entry_that_changed_while_it_was_missed_has_its_texts_in_order(
    world: ArchiveWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(refresh, "parse", Broken("a"))
        await collect(world, [item("a", "one")], [item("a", "two")], [item("a", "three")])

    foreseen = await world.imagine()

    assert foreseen == await world.restore() == Restored(bodies=3, added=1, revised=2)
    [entry] = await world.rows(entries)
    assert (entry["content_html"], entry["revision_count"], entry["in_feed"]) == ("one", 2, 1)
    assert [row["content_html"] for row in await world.rows(revisions)] == ["two", "three"]


async def test_a_parser_that_reads_more_of_an_entry_revises_it_once(
    world: ArchiveWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    def short(data: bytes, **hints: Any) -> ParsedFeed:
        parsed = parse(data, **hints)
        cut = [structs.replace(one, content_html="cut", summary="cut") for one in parsed.entries]
        return structs.replace(parsed, entries=tuple(cut))

    parse = refresh.parse
    with monkeypatch.context() as broken:
        broken.setattr(refresh, "parse", short)
        await collect(world, [item("a", "the whole text")], [item("a", "the whole text"), item("b", "more")])

    assert await world.restore() == Restored(bodies=2, revised=2)
    assert sorted(row["content_html"] for row in await world.rows(revisions)) == ["more", "the whole text"]
    assert await world.restore() == Restored(bodies=2)


async def test_an_older_text_is_never_put_above_a_newer_one(world: ArchiveWorld) -> None:
    await collect(world, [item("a", "one")], [item("a", "two")])
    before = await everything(world)

    # Only the first body: its text is older than the one that the entry has.
    assert await world.restore(period=Period(until=NOW + 10 * MINUTE)) == Restored(bodies=1)
    assert await everything(world) == before


async def test_only_the_newest_body_says_what_is_in_the_feed(
    world: ArchiveWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(refresh, "parse", Broken("a", "b"))
        feed = await collect(world, [item("a"), item("b")], [item("b"), item("c")])
        await world.later(HOUR, feed, Answer(b"<html>sorry</html>"))

    assert await world.restore() == Restored(bodies=3, added=2, unreadable=1)
    assert await in_feed(world) == ["b", "c"]


async def test_an_entry_that_a_broken_parser_took_for_gone_is_in_the_feed_again(
    world: ArchiveWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed = await collect(world, [item("a"), item("b")])
    with monkeypatch.context() as broken:
        broken.setattr(refresh, "parse", Broken("a"))
        await world.later(HOUR, feed, answer(item("a"), item("b"), item("c")))
    assert await in_feed(world) == ["b", "c"]

    await world.restore()

    assert await in_feed(world) == ["a", "b", "c"]


async def test_a_purged_entry_is_not_revived(placed: ArchiveWorld) -> None:
    feed = await collect(placed, [item("a"), item("b")], [item("b")])
    placed.now += 20 * DAY
    await placed.purge(replace(KEEPING, entries=10 * DAY))
    assert await placed.titles() == ["b"]

    assert await placed.restore(feed) == Restored(bodies=2)
    assert await placed.titles() == ["b"]


async def test_states_of_reading_are_left_alone_and_what_comes_back_is_unread(
    world: ArchiveWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed = await world.add("/feed")
    alice = await world.user("Alice", 11)
    await world.subscribe(alice, feed)
    with monkeypatch.context() as broken:
        broken.setattr(refresh, "parse", Broken("one", "two", "three"))
        lost = [[item("read"), item("one")], [item("read", "anew"), item("two")], [item("read"), item("three")]]
        await collect(world, *lost)
    [read] = await world.rows(entries)
    await world.read(11, read["id"])
    await world.put(
        states, user_id=alice, entry_id=read["id"], read_at=to_text(world.now), starred_at=to_text(world.now)
    )
    before = await world.rows(states)

    await world.restore()

    assert await world.rows(states) == before
    ids = {row["id"] for row in await world.rows(entries)}
    assert {row["entry_id"] for row in await world.rows(unread)} == ids - {read["id"]}
    assert [row["unread_count"] for row in await world.rows(subscriptions)] == [3]


async def test_bodies_outside_the_period_are_not_replayed(world: ArchiveWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(refresh, "parse", Broken("a", "b", "c"))
        await collect(world, [item("a")], [item("b")], [item("c")])

    restored = await world.restore(period=Period(since=NOW + 10 * MINUTE, until=NOW + HOUR + 10 * MINUTE))

    assert restored == Restored(bodies=1, added=1)
    assert (await world.titles(), await in_feed(world)) == (["b"], [])


async def test_a_body_that_is_gone_is_counted_and_the_others_are_replayed(
    world: ArchiveWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(refresh, "parse", Broken("a", "b"))
        await collect(world, [item("a")], [item("b")])
    await world.blobs.delete_many([(await world.keys("backups/"))[0]])

    assert await world.restore() == Restored(bodies=2, added=1, missing=1)


async def test_images_of_restored_entries_are_wanted(world: ArchiveWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(refresh, "parse", Broken("a"))
        await collect(world, [item("a", '<img src="/x.png">')])

    await world.restore()

    assert [row["original_url"] for row in await world.rows(image_tasks)] == ["https://example.org/x.png"]


async def test_a_feed_that_is_being_refreshed_is_waited_for(
    world: ArchiveWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(refresh, "parse", Broken("a"))
        feed = await collect(world, [item("a")])
    claim = await world.claim(feed)

    waiting = asyncio.create_task(world.restore())
    await asyncio.sleep(0.7)
    assert await world.titles() == []
    await give_back(world.db, [claim])

    assert await waiting == Restored(bodies=1, added=1)
    assert (await world.feed(feed)).claimed_until is None


async def test_a_feed_that_stays_busy_is_left_out(world: ArchiveWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    feed = await collect(world, [item("a")])
    other = await collect(world, [item("b")], path="/other")
    await world.claim(feed)
    monkeypatch.setattr(ledger, "PATIENCE", timedelta(seconds=1))

    assert await world.restore(feed, other) == Restored(bodies=1, busy=1)


async def test_a_restore_that_lost_its_claim_writes_nothing(
    world: ArchiveWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(refresh, "parse", Broken("a"))
        feed = await collect(world, [item("a")])
    get = world.blobs.get

    async def get_and_lose(key: str, *rest: Any) -> bytes:
        await world.change(feed, claim_token="somebody else's")
        return await get(key, *rest)

    monkeypatch.setattr(world.blobs, "get", get_and_lose)

    assert await world.restore() == Restored(busy=1)
    assert await world.titles() == []


async def test_when_the_store_fails_what_was_replayed_stays_and_the_feed_is_let_go(
    world: ArchiveWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(refresh, "parse", Broken("a", "b"))
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
    assert await world.restore() == Restored(bodies=2, added=1)


async def test_what_was_kept_of_a_merged_feed_goes_to_the_one_it_was_merged_into(
    world: ArchiveWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(refresh, "parse", Broken("lost"))
        old = await collect(world, [item("a"), item("lost")], path="/old")
        new = await collect(world, [item("a"), item("b")], path="/new")
    await merge_feeds(world.db, old.id, old.url, new.id, new.url, world.now)

    assert await world.restore() == Restored(bodies=2, added=1)
    assert {(row["title"], row["feed_id"], row["in_feed"]) for row in await world.rows(entries)} == {
        ("a", new.id, 1), ("b", new.id, 1), ("lost", new.id, 0),
    }  # fmt: skip
    assert await world.restore() == await world.restore(old) == Restored(bodies=2)


async def test_an_empty_database_is_rebuilt_from_the_store_alone(placed: ArchiveWorld) -> None:
    world = placed
    first = await collect(world, [item("a"), item("b")], [item("b", "anew"), item("c")])
    second = await collect(world, [item("d")], path="/second")
    await own_store(world.db, world.blobs)
    await mend_cards(world.db, world.blobs, world.now)
    entries_before, bodies = await told(world), len(await world.rows(raw_bodies))
    await empty(world.db)

    foreseen = await world.imagine_rebuild()
    assert (await world.rows(feeds), await world.rows(entries)) == ([], [])
    rebuilt = await world.rebuild()

    assert foreseen == rebuilt == Restored(bodies=3, added=4, revised=1)
    assert await told(world) == entries_before
    assert sorted((row["id"], row["url"], row["title"]) for row in await world.rows(feeds)) == sorted(
        (feed.id, feed.url, "A feed") for feed in (first, second)
    )
    assert len(await world.rows(raw_bodies)) == bodies
    await own_store(world.db, world.blobs)
    # A new feed gets a number of its own, and a refresh goes on from here.
    assert (await world.add("/third", answer(item("e")))).id not in (first.id, second.id)
    await world.later(HOUR, first, answer(item("c"), item("f")))
    assert sorted(await world.titles()) == ["a", "b", "c", "d", "f"]
    assert await world.rebuild() == Restored(bodies=4)


async def told(world: ArchiveWorld) -> list[tuple[Any, ...]]:
    """What entries tell, but for what differs by the moment between an answer and its writing."""
    names = ("feed_id", "guid", "title", "content_html", "digest", "in_feed", "revision_count")
    return sorted(tuple(row[name] for name in names) for row in await world.rows(entries))


async def test_a_number_that_another_feed_has_by_now_is_not_mixed_up(world: ArchiveWorld) -> None:
    await collect(world, [item("a")])
    await mend_cards(world.db, world.blobs, world.now)
    await empty(world.db)
    taken = await world.add("/other")

    await world.rebuild()

    [entry] = await world.rows(entries)
    assert entry["feed_id"] != taken.id
    assert await world.rebuild() == Restored(bodies=1)


async def test_the_card_of_a_feed_that_moved_says_where_it_is(world: ArchiveWorld) -> None:
    feed = await collect(world, [item("a")])
    await mend_cards(world.db, world.blobs, world.now)
    await world.put(feed_urls, feed_id=feed.id, url=feed.url, until=to_text(world.now))
    await world.change(feed, url="https://example.org/moved")

    assert await mend_cards(world.db, world.blobs, world.now) == 1
    await empty(world.db)
    await world.rebuild()

    assert [row["url"] for row in await world.rows(feeds)] == ["https://example.org/moved"]


async def test_bodies_that_no_card_explains_are_told(world: ArchiveWorld) -> None:
    await collect(world, [item("a")])

    assert await strangers(world.blobs) == 1
    await mend_cards(world.db, world.blobs, world.now)
    assert await strangers(world.blobs) == 0
