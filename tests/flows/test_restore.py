"""What was kept, replayed: after a parser's fault, after a purge, and into an empty database."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from operator import itemgetter
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
    feed_urls,
    feeds,
    fetch_log,
    image_tasks,
    instance_state,
    raw_bodies,
    revisions,
    states,
    subscriptions,
    tombstones,
    unread,
)
from tests.databases import empty
from tests.flows.deployments import ARRIVES_BEFORE, DEFAULT_PERIODS, DEPLOYMENTS, ArchiveEnvironment, open_deployment
from tests.flows.refresh_environment import DAY, HOUR, MINUTE, NOW, answer, item, rss
from tests.scripted_web import Answer
from tests.waiting import until

ALL_OF_A_FEED = [
    column.name
    for column in feeds.c
    if column.name not in ("entry_count", "last_entry_at", "claim_token", "claimed_until")
]


@pytest.fixture(params=DEPLOYMENTS)
async def deployed(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[ArchiveEnvironment]:
    async with open_deployment(request, request.param, tmp_path) as made:
        yield made


@pytest.fixture
async def env(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[ArchiveEnvironment]:
    async with open_deployment(request, "one machine", tmp_path) as made:
        yield made


class IncompleteParser:
    """A parser that drops the entries of these titles."""

    def __init__(self, *dropped: str) -> None:
        self._dropped, self._parse = dropped, refresh.parse_off_loop

    async def __call__(self, data: bytes, **hints: Any) -> ParsedFeed:
        parsed = await self._parse(data, **hints)
        return structs.replace(parsed, entries=tuple(one for one in parsed.entries if one.title not in self._dropped))


async def collect(env: ArchiveEnvironment, *bodies: list[str], path: str = "/feed") -> Feed:
    """A feed that offered these items, an hour apart."""
    feed = await env.add(path, answer(*bodies[0]))
    await env.refresh(feed)
    for number, body in enumerate(bodies[1:]):
        # Not the same bytes, even if the same items.
        await env.later(HOUR, feed, answer(*body, channel=f"<ttl>{number}</ttl>"), path)
    return feed


async def all_rows(env: ArchiveEnvironment) -> dict[str, Any]:
    tables = (feeds, entries, revisions, raw_bodies, tombstones, states, subscriptions, unread, image_tasks, fetch_log)
    return {table.name: await env.rows(table) for table in tables}


async def in_feed(env: ArchiveEnvironment) -> list[str]:
    return sorted(row["title"] for row in await env.rows(entries, in_feed=1))


async def test_entries_that_a_broken_parser_dropped_are_brought_back(
    deployed: ArchiveEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    env, old, new = deployed, [item("a", "x"), item("b", date=NOW - DAY)], [item("c"), item("b", date=NOW - DAY)]
    with monkeypatch.context() as broken:
        broken.setattr(refresh, "parse_off_loop", IncompleteParser("a", "b"))
        feed = await collect(env, old, new)
    before = await env.rows(feeds)

    foreseen = await env.preview()
    restored = await env.restore()

    assert foreseen == restored == RestoreReport(bodies=2, added=2)
    rows = {row["title"]: row for row in await env.rows(entries)}
    # As of when they arrived: the undated one, and the one that is in the feed still.
    arrived = to_iso(NOW - ARRIVES_BEFORE)
    assert (rows["a"]["published_at"], rows["a"]["first_seen_at"], rows["a"]["in_feed"]) == (arrived, arrived, 0)
    # It came with the first fetch.
    assert rows["a"]["sort_at"] < rows["b"]["sort_at"] < rows["c"]["sort_at"]
    assert (rows["b"]["sort_at"], rows["b"]["in_feed"]) == (to_iso(NOW - DAY), 1)
    assert rows["b"]["last_seen_at"] == to_iso(NOW + HOUR - ARRIVES_BEFORE)
    after = await env.rows(feeds)
    assert [{name: row[name] for name in ALL_OF_A_FEED} for row in after] == [
        {name: row[name] for name in ALL_OF_A_FEED} for row in before
    ]
    assert (await env.feed(feed)).entry_count == 3


async def test_a_second_restore_changes_nothing(deployed: ArchiveEnvironment, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(refresh, "parse_off_loop", IncompleteParser("a"))
        await collect(
            deployed,
            [item("a", "one"), item("b")],
            [item("a", "two"), item("b", "new")],
            [item("a", "three"), item("c")],
        )
    await deployed.restore()
    once = await all_rows(deployed)

    assert await deployed.restore() == RestoreReport(bodies=3)
    assert await all_rows(deployed) == once


async def test_bodies_from_before_a_change_of_guids_bring_nothing_again(deployed: ArchiveEnvironment) -> None:
    old, new = ([item(name, guid=f"{guid}-{name}") for name in "abc"] for guid in ("old", "new"))
    await collect(deployed, old, new)

    assert await deployed.preview() == await deployed.restore() == RestoreReport(bodies=2)
    assert {row["guid"] for row in await deployed.rows(entries)} == {"new-a", "new-b", "new-c"}


async def test_a_healthy_feed_has_nothing_to_restore(deployed: ArchiveEnvironment) -> None:
    texts = [[item("a", text), item("b")] for text in ("one", "two", "one", "three")]
    await collect(deployed, *texts, [item("b", "changed")], [item("a", "four"), item("c")])
    before = await all_rows(deployed)

    assert await deployed.preview() == await deployed.restore() == RestoreReport(bodies=6)
    assert await all_rows(deployed) == before


async def test_an_entry_that_changed_while_it_was_missed_has_its_texts_in_order(
    env: ArchiveEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(refresh, "parse_off_loop", IncompleteParser("a"))
        await collect(env, [item("a", "one")], [item("a", "two")], [item("a", "three")])

    foreseen = await env.preview()

    assert foreseen == await env.restore() == RestoreReport(bodies=3, added=1, revised=2)
    [entry] = await env.rows(entries)
    assert (entry["content_html"], entry["revision_count"], entry["in_feed"]) == ("one", 2, 1)
    assert [row["content_html"] for row in await env.rows(revisions)] == ["two", "three"]


async def test_a_parser_that_reads_more_of_an_entry_revises_it_once(
    env: ArchiveEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def short(data: bytes, **hints: Any) -> ParsedFeed:
        parsed = await parse(data, **hints)
        cut = [structs.replace(one, content_html="cut", summary="cut") for one in parsed.entries]
        return structs.replace(parsed, entries=tuple(cut))

    parse = refresh.parse_off_loop
    with monkeypatch.context() as broken:
        broken.setattr(refresh, "parse_off_loop", short)
        await collect(env, [item("a", "the whole text")], [item("a", "the whole text"), item("b", "more")])

    assert await env.restore() == RestoreReport(bodies=2, revised=2)
    assert sorted(row["content_html"] for row in await env.rows(revisions)) == ["more", "the whole text"]
    assert await env.restore() == RestoreReport(bodies=2)


async def test_an_older_text_is_never_put_above_a_newer_one(env: ArchiveEnvironment) -> None:
    await collect(env, [item("a", "one")], [item("a", "two")])
    before = await all_rows(env)

    # Only the first body: its text is older than the one that the entry has.
    assert await env.restore(period=Period(until=NOW + 10 * MINUTE)) == RestoreReport(bodies=1)
    assert await all_rows(env) == before


async def test_only_the_newest_body_says_what_is_in_the_feed(
    env: ArchiveEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(refresh, "parse_off_loop", IncompleteParser("a", "b"))
        feed = await collect(env, [item("a"), item("b")], [item("b"), item("c")])
        await env.later(HOUR, feed, Answer(b"<html>sorry</html>"))

    assert await env.restore() == RestoreReport(bodies=3, added=2, unreadable=1)
    assert await in_feed(env) == ["b", "c"]


async def test_an_entry_that_a_broken_parser_took_for_gone_is_in_the_feed_again(
    env: ArchiveEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed = await collect(env, [item("a"), item("b")])
    with monkeypatch.context() as broken:
        broken.setattr(refresh, "parse_off_loop", IncompleteParser("a"))
        await env.later(HOUR, feed, answer(item("a"), item("b"), item("c")))
    assert await in_feed(env) == ["b", "c"]

    await env.restore()

    assert await in_feed(env) == ["a", "b", "c"]


async def test_a_purged_entry_is_not_revived(deployed: ArchiveEnvironment) -> None:
    feed = await collect(deployed, [item("a"), item("b")], [item("b")])
    deployed.now += 20 * DAY
    await deployed.purge(replace(DEFAULT_PERIODS, entries=10 * DAY))
    assert await deployed.titles() == ["b"]

    assert await deployed.restore(feed) == RestoreReport(bodies=2)
    assert await deployed.titles() == ["b"]


async def test_states_of_reading_are_left_alone_and_what_comes_back_is_unread(
    env: ArchiveEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed = await env.add("/feed")
    alice = await env.user("Alice", 11)
    await env.subscribe(alice, feed)
    with monkeypatch.context() as broken:
        broken.setattr(refresh, "parse_off_loop", IncompleteParser("one", "two", "three"))
        lost = [[item("read"), item("one")], [item("read", "anew"), item("two")], [item("read"), item("three")]]
        await collect(env, *lost)
    [read] = await env.rows(entries)
    await env.read(11, read["id"])
    await env.put(states, user_id=alice, entry_id=read["id"], read_at=to_iso(env.now), starred_at=to_iso(env.now))
    before = await env.rows(states)

    await env.restore()

    assert await env.rows(states) == before
    ids = {row["id"] for row in await env.rows(entries)}
    assert {row["entry_id"] for row in await env.rows(unread)} == ids - {read["id"]}
    assert [row["unread_count"] for row in await env.rows(subscriptions)] == [3]


async def test_bodies_outside_the_period_are_not_replayed(
    env: ArchiveEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(refresh, "parse_off_loop", IncompleteParser("a", "b", "c"))
        await collect(env, [item("a")], [item("b")], [item("c")])

    restored = await env.restore(period=Period(since=NOW + 10 * MINUTE, until=NOW + HOUR + 10 * MINUTE))

    assert restored == RestoreReport(bodies=1, added=1)
    assert (await env.titles(), await in_feed(env)) == (["b"], [])


async def test_a_body_that_is_gone_is_counted_and_the_others_are_replayed(
    env: ArchiveEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(refresh, "parse_off_loop", IncompleteParser("a", "b"))
        await collect(env, [item("a")], [item("b")])
    await env.blobs.delete_many([(await env.keys("backups/"))[0]])

    assert await env.restore() == RestoreReport(bodies=2, added=1, missing=1)


async def test_images_of_restored_entries_are_wanted(env: ArchiveEnvironment, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(refresh, "parse_off_loop", IncompleteParser("a"))
        await collect(env, [item("a", '<img src="/x.png">')])

    await env.restore()

    assert [row["original_url"] for row in await env.rows(image_tasks)] == ["https://example.org/x.png"]


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
    env: ArchiveEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(refresh, "parse_off_loop", IncompleteParser("a"))
        feed = await collect(env, [item("a")])
    claim = await env.claim(feed)
    tries = count_claims(monkeypatch)

    waiting = asyncio.create_task(env.restore())
    await until(lambda: len(tries) > 2, otherwise="nobody tried again to claim the feed")
    assert await env.titles() == []
    await release_claims(env.db, [claim])

    assert await waiting == RestoreReport(bodies=1, added=1)
    assert (await env.feed(feed)).claimed_until is None


async def test_a_feed_that_stays_busy_is_left_out(env: ArchiveEnvironment, monkeypatch: pytest.MonkeyPatch) -> None:
    feed = await collect(env, [item("a")])
    other = await collect(env, [item("b")], path="/other")
    await env.claim(feed)
    tries = count_claims(monkeypatch)
    monkeypatch.setattr(restore_target, "MAX_WAIT", 5 * restore_target.POLL_EVERY)

    assert await env.restore(feed, other) == RestoreReport(bodies=1, busy=1)
    assert tries == 5 * [feed.id] + [other.id]


async def test_a_restore_that_lost_its_claim_writes_nothing(
    env: ArchiveEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(refresh, "parse_off_loop", IncompleteParser("a"))
        feed = await collect(env, [item("a")])
    get = env.blobs.get

    async def get_and_lose(key: str, *rest: Any) -> bytes:
        await env.change(feed, claim_token="somebody else's")
        return await get(key, *rest)

    monkeypatch.setattr(env.blobs, "get", get_and_lose)

    assert await env.restore() == RestoreReport(busy=1)
    assert await env.titles() == []


async def test_when_the_store_fails_what_was_replayed_stays_and_the_feed_is_let_go(
    env: ArchiveEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(refresh, "parse_off_loop", IncompleteParser("a", "b"))
        feed = await collect(env, [item("a")], [item("b")])
    last, get = (await env.keys("backups/"))[-1], env.blobs.get

    async def fail(key: str, *rest: Any) -> bytes:
        # The newest is read once before all others.
        if key == last and await env.titles():
            raise BlobUnavailable("503")
        return await get(key, *rest)

    with monkeypatch.context() as broken:
        broken.setattr(env.blobs, "get", fail)
        with pytest.raises(BlobUnavailable):
            await env.restore()

    assert (await env.titles(), (await env.feed(feed)).claimed_until) == (["a"], None)
    assert await env.restore() == RestoreReport(bodies=2, added=1)


async def test_what_was_kept_of_a_merged_feed_stays_with_it(
    env: ArchiveEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(refresh, "parse_off_loop", IncompleteParser("lost"))
        old = await collect(env, [item("a"), item("lost")], path="/old")
        new = await collect(env, [item("a"), item("b")], path="/new")
    await merge_feeds(env.db, Merge(old.id, old.url, new.id, new.url), env.now)

    assert await env.restore() == RestoreReport(bodies=2, added=1)
    assert {(row["title"], row["feed_id"], row["in_feed"]) for row in await env.rows(entries)} == {
        ("a", old.id, 0),
        ("lost", old.id, 0),
        ("a", new.id, 1),
        ("b", new.id, 1),
    }
    assert await env.restore() == RestoreReport(bodies=2)
    assert await env.restore(old) == await env.restore(new) == RestoreReport(bodies=1)


async def test_a_store_that_knows_a_merged_feed_writes_nothing_into_the_other(env: ArchiveEnvironment) -> None:
    old = await collect(env, [item("forged")], path="/old")
    new = await collect(env, [item("true")], path="/new")
    await ensure_store_ownership(env.db, env.blobs)
    await repair_descriptors(env.db, env.blobs, env.now)
    await merge_feeds(env.db, Merge(old.id, old.url, new.id, new.url), env.now)
    await env.db.batch([Step(entries.delete())])

    await env.rebuild()

    assert {(row["title"], row["feed_id"]) for row in await env.rows(entries)} == {
        ("forged", old.id),
        ("true", new.id),
    }


async def test_entries_that_an_admin_moved_do_not_come_back_to_the_old_feed(env: ArchiveEnvironment) -> None:
    old = await collect(env, [item("a"), item("moved")], path="/old")
    new = await collect(env, [item("a")], path="/new")
    await merge_feeds(env.db, Merge(old.id, old.url, new.id, new.url, move_up_to=2**40), env.now)

    assert await env.restore() == RestoreReport(bodies=2)

    assert {(row["title"], row["feed_id"]) for row in await env.rows(entries)} == {
        ("a", new.id),
        ("moved", new.id),
    }


async def test_an_empty_database_is_rebuilt_from_the_store_alone(deployed: ArchiveEnvironment) -> None:
    env = deployed
    first = await collect(env, [item("a"), item("b")], [item("b", "anew"), item("c")])
    second = await collect(env, [item("d")], path="/second")
    entries_before, bodies, order = await told(env), len(await env.rows(raw_bodies)), await listed(env)
    await empty(env.db)

    foreseen = await env.preview_rebuild()
    assert (await env.rows(feeds), await env.rows(entries)) == ([], [])
    rebuilt = await env.rebuild()

    assert foreseen == rebuilt == RestoreReport(bodies=3, added=4, revised=1)
    assert await told(env) == entries_before
    assert await listed(env) == order == {first.id: ["c", "a", "b"], second.id: ["d"]}
    assert sorted((row["id"], row["url"], row["title"]) for row in await env.rows(feeds)) == sorted(
        (feed.id, feed.url, "A feed") for feed in (first, second)
    )
    assert len(await env.rows(raw_bodies)) == bodies
    # A new feed gets a number of its own, and a refresh goes on from here.
    assert (await env.add("/third", answer(item("e")))).id not in (first.id, second.id)
    await env.later(HOUR, first, answer(item("c"), item("f")))
    assert sorted(await env.titles()) == ["a", "b", "c", "d", "f"]
    assert await env.rebuild() == RestoreReport(bodies=4)


async def listed(env: ArchiveEnvironment) -> dict[int, list[str]]:
    """By feed the titles as lists have them, the newest first."""
    found: dict[int, list[str]] = {}
    for row in sorted(await env.rows(entries), key=itemgetter("sort_at", "id"), reverse=True):
        found.setdefault(row["feed_id"], []).append(row["title"])
    return found


async def told(env: ArchiveEnvironment) -> list[tuple[Any, ...]]:
    """What entries tell, but for what differs by the moment between an answer and its writing."""
    names = ("feed_id", "guid", "title", "content_html", "digest", "in_feed", "revision_count", "undated")
    return sorted(tuple(row[name] for name in names) for row in await env.rows(entries))


async def test_a_number_that_another_feed_has_by_now_is_not_mixed_up(env: ArchiveEnvironment) -> None:
    await collect(env, [item("a")])
    await empty(env.db)
    taken = await env.add("/other")

    await env.rebuild()

    [entry] = await env.rows(entries)
    assert entry["feed_id"] != taken.id
    assert await env.rebuild() == RestoreReport(bodies=1)


async def test_the_descriptor_of_a_feed_that_moved_says_where_it_is(env: ArchiveEnvironment) -> None:
    feed = await collect(env, [item("a")])
    await env.put(feed_urls, feed_id=feed.id, url=feed.url, until=to_iso(env.now))
    await env.change(feed, url="https://example.org/moved")

    assert await repair_descriptors(env.db, env.blobs, env.now) == 1
    await empty(env.db)
    await env.rebuild()

    assert [row["url"] for row in await env.rows(feeds)] == ["https://example.org/moved"]


async def descriptor(env: ArchiveEnvironment, feed: Feed) -> dict[str, Any]:
    return dict(msgspec.json.decode(await env.blobs.get(descriptor_key(feed.id))))


async def test_the_first_refresh_writes_the_descriptor_of_a_feed(deployed: ArchiveEnvironment) -> None:
    feed = await collect(deployed, [item("a")])

    assert await descriptor(deployed, feed) == {"feed_id": feed.id, "url": feed.url, "title": "A feed"}
    assert await owns_store(deployed.db, deployed.blobs)


async def test_a_refresh_writes_no_descriptor_that_is_as_it_should_be(
    env: ArchiveEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed = await env.add("/feed", answer(item("a"), headers={"ETag": '"1"'}))
    await env.refresh(feed)
    put, written = env.blobs.put, list[str]()

    async def note(key: str, *rest: Any) -> None:
        written.append(key)
        await put(key, *rest)

    monkeypatch.setattr(env.blobs, "put", note)
    await env.later(HOUR, feed, Answer(status=304))
    await env.later(HOUR, feed, answer(item("b")))
    await env.later(HOUR, feed, Answer(status=500))

    assert [key for key in written if key.startswith(DESCRIPTORS_PREFIX)] == []


async def test_a_descriptor_follows_the_title_and_the_address_of_its_feed(env: ArchiveEnvironment) -> None:
    feed = await collect(env, [item("a")])

    await env.later(HOUR, feed, answer(item("a"), title="Another title", headers={"ETag": '"1"'}))
    renamed = await descriptor(env, feed)
    await env.change(feed, own_title="My title", url=env.web.serve("/moved", Answer(status=304)))
    await env.later(HOUR, feed)

    assert renamed["title"] == "Another title"
    assert await descriptor(env, feed) == {"feed_id": feed.id, "url": env.web.url("/moved"), "title": "My title"}


async def test_a_refresh_that_is_killed_after_its_descriptor_is_done_again_with_the_same_card(
    env: ArchiveEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed = await env.add("/feed", answer(item("a")))

    class Killed(BaseException):
        pass

    async def die(*_: Any) -> None:
        raise Killed

    with monkeypatch.context() as broken:
        broken.setattr(refresh, "record_refresh", die)
        with pytest.raises(Killed):
            await env.refresh(feed)
    left = await descriptor(env, feed)
    env.now += HOUR
    await env.refresh(feed)

    assert left["url"] == (await descriptor(env, feed))["url"] == feed.url
    assert (await env.feed(feed)).descriptor_sha256 is not None
    await empty(env.db)
    assert await env.rebuild() == RestoreReport(bodies=2, added=1)


async def test_a_refresh_into_a_store_of_another_database_leaves_its_descriptors_alone(env: ArchiveEnvironment) -> None:
    feed = await collect(env, [item("a")])
    await empty(env.db)
    other = await env.add("/other", answer(item("b"), title="Other"))
    env.build_tools()

    await env.refresh(other)

    assert await env.keys(DESCRIPTORS_PREFIX) == [descriptor_key(feed.id)]
    assert await env.titles() == ["b"]


async def test_bodies_without_a_descriptor_are_reported(env: ArchiveEnvironment) -> None:
    first = await collect(env, [item("a")])
    await collect(env, [item("b")], path="/second")
    await env.blobs.delete_many([descriptor_key(first.id)])

    descriptors, unknown = await find_descriptors(env.blobs)

    assert (len(descriptors), unknown) == (1, 1)


@pytest.mark.parametrize("has_bodies", [True, False])
async def test_a_store_without_descriptors_can_not_be_restored_from(env: ArchiveEnvironment, has_bodies: bool) -> None:
    if has_bodies:
        feed = await collect(env, [item("a")])
        await env.blobs.delete_many([descriptor_key(feed.id)])

    with pytest.raises(NothingToRestore, match="no descriptors" if has_bodies else "no feeds"):
        await env.rebuild()


async def test_a_rebuilt_database_does_not_own_the_store_until_it_takes_it(deployed: ArchiveEnvironment) -> None:
    await collect(deployed, [item("a")])
    [fact] = await deployed.rows(instance_state, name="store_mark")
    await empty(deployed.db)

    await deployed.rebuild()
    owned = await owns_store(deployed.db, deployed.blobs)
    await take_store_ownership(deployed.db, deployed.blobs)

    assert not owned
    await ensure_store_ownership(deployed.db, deployed.blobs)
    # The database that had it before knows another mark.
    await deployed.db.batch(
        [Step(instance_state.update().where(instance_state.c.name == "store_mark").values(value=fact["value"]))]
    )
    with pytest.raises(StoreOwnedByAnother):
        await ensure_store_ownership(deployed.db, deployed.blobs)


async def test_a_truncated_body_is_replayed_with_its_complete_entries_alone(deployed: ArchiveEnvironment) -> None:
    feed = await collect(deployed, [item("a"), item("b", "the text of b"), item("c")])
    body = rss(item("new"), item("b", "the text of b"), item("c"))
    await deployed.later(HOUR, feed, Answer(body[: body.index(b"the text") + 3]))
    before = await told(deployed)
    await empty(deployed.db)

    foreseen = await deployed.preview_rebuild()
    rebuilt = await deployed.rebuild()

    assert foreseen == rebuilt == RestoreReport(bodies=2, added=4)
    # What the truncated body lacks is in the feed still.
    assert await in_feed(deployed) == ["a", "b", "c", "new"]
    assert await told(deployed) == before
    assert [row["parse_result"] for row in await deployed.rows(raw_bodies)] == ["ok", "incomplete"]
    assert await deployed.rebuild() == RestoreReport(bodies=2)
