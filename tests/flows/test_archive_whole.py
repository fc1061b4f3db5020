"""The whole way of an archive: refresh → images → read → purge → restore, at each place that it is run in."""

import re
from collections.abc import AsyncIterator
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from msgspec import structs
from starlette.applications import Starlette
from starlette.requests import Request
from yarl import URL

from feedmill.archive.feed_descriptors import repair_descriptors
from feedmill.archive.images.recover_images import recover_stored_images
from feedmill.collect import refresh
from feedmill.collect.parsing.parse_feed import parse_feed
from feedmill.collect.restore import RestoreReport
from feedmill.errors import BlobUnavailable
from feedmill.model.feed import Feed
from feedmill.model.parsed_feed import ParsedFeed
from feedmill.model.timestamps import to_iso
from feedmill.serve.http.archived_images import serve_image_to
from feedmill.store.entries.read_entries import read_entry
from feedmill.store.schema import (
    entries,
    image_tasks,
    metadata,
    object_garbage,
    raw_bodies,
    states,
    tombstones,
    unread,
    unread_lists,
    users,
)
from tests.archive.images import sample_images
from tests.databases import empty
from tests.flows.pictures import archive, read_html
from tests.flows.places import KEEPING, ArchiveWorld, world_at
from tests.flows.world import DAY, HOUR, answer, item
from tests.www import Answer

NAMES = ("one", "two", "starred")
LONG = KEEPING.entries + 20 * DAY
# Bodies that outlive their entries: what a restore could wrongly revive.
RAW_STAYS = replace(KEEPING, raw=2 * LONG)


@pytest.fixture(params=["one machine", "servers", "cloudflare"])
async def world(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[ArchiveWorld]:
    async with world_at(request, request.param, tmp_path) as made:
        yield made


def offer(world: ArchiveWorld, *names: str) -> Answer:
    """A feed of these entries, each with an image of its own and one that all of them show."""
    sources = {name: world.web.serve(f"/{name}.png", Answer(picture(name))) for name in ("shared", *names)}
    return answer(*(item(name, f'<img src="{sources[name]}"><img src="{sources["shared"]}">') for name in names))


def picture(name: str) -> bytes:
    return sample_images.PNG + name.encode()


async def leave(world: ArchiveWorld, feed: Feed) -> None:
    """All entries leave the feed for another one, long ago."""
    await world.later(HOUR, feed, answer(item("fresh")))
    world.now += LONG


async def alice_subscribes(world: ArchiveWorld, feed: Feed) -> None:
    alice = await world.user("Alice", 0)
    await world.point_to(alice, await world.put(unread_lists, user_id=alice, created_at=to_iso(world.now)))
    await world.subscribe(alice, feed)


async def alice_stars(world: ArchiveWorld, title: str) -> None:
    """She reads it first."""
    [alice], [entry], at = await world.rows(users), await world.rows(entries, title=title), to_iso(world.now)
    await world.read(alice["unread_list_id"], entry["id"])
    await world.put(states, user_id=alice["id"], entry_id=entry["id"], read_at=at, starred_at=at)


async def addresses(world: ArchiveWorld, title: str) -> list[str]:
    """Where the entry, as it is read, has its images from."""
    [row] = await world.rows(entries, title=title)
    entry = await read_entry(world.db, row["id"])
    assert entry is not None
    html = await read_html(world, entry)
    return [unescape(source) for source in re.findall(r'<img src="([^"]*)"', html)]


async def load(world: ArchiveWorld, address: str) -> bytes | int:
    """What a browser gets, from our own route or from the bucket: the image, or the status that says why not."""
    if address.startswith("/images/"):
        return await load_from_us(world, address)
    async with aiohttp.request("GET", URL(address, encoded=True)) as response:
        return await response.read() if response.status == 200 else response.status


async def load_from_us(world: ArchiveWorld, path: str) -> bytes | int:
    site = Starlette()
    site.state.app = world
    params = {"rest": path.removeprefix("/images/")}
    scope = {"type": "http", "method": "GET", "path": path, "path_params": params, "headers": [], "app": site}
    response = await serve_image_to(Request(scope), user_id=0)
    return bytes(response.body) if response.status_code == 200 else response.status_code


async def seen(world: ArchiveWorld, title: str) -> list[bytes | int]:
    """The entry's images as a reader sees them, none of them from the publisher."""
    found = await addresses(world, title)
    assert [address for address in found if address.startswith(world.web.url("/"))] == []
    return [await load(world, address) for address in found]


async def every_row(world: ArchiveWorld) -> dict[str, Any]:
    return {table.name: await world.rows(table) for table in metadata.sorted_tables}


async def named(world: ArchiveWorld) -> list[str]:
    """The keys of all objects that rows speak of."""
    images = [row["object_key"] for row in await world.rows(image_tasks) if row["object_key"]]
    return sorted(images + [row["key"] for row in await world.rows(raw_bodies)])


async def test_what_is_purged_loses_its_images_for_good_and_what_is_starred_keeps_them(world: ArchiveWorld) -> None:
    feed = await world.add("/feed", offer(world, *NAMES))
    await alice_subscribes(world, feed)

    await world.refresh(feed)
    assert (await archive(world)).kept == 6
    for name in NAMES:
        assert await seen(world, name) == [picture(name), picture("shared")]
    lost = [address for name in ("one", "two") for address in await addresses(world, name)]

    await alice_stars(world, "starred")
    await leave(world, feed)
    purged = await world.purge(RAW_STAYS)
    assert (purged.entries, purged.raw_bodies, purged.objects) == (2, 0, 4)
    assert await world.titles() == ["starred", "fresh"]
    assert {row["guid"] for row in await world.rows(tombstones)} == {"guid-one", "guid-two"}
    [_, fresh] = await world.rows(entries)
    assert [row["entry_id"] for row in await world.rows(unread)] == [fresh["id"]]
    assert [await load(world, address) for address in lost] == [404] * 4
    assert await seen(world, "starred") == [picture("starred"), picture("shared")]

    before = await every_row(world)
    for _ in range(2):
        assert await world.restore() == RestoreReport(bodies=2)
        assert await every_row(world) == before

    await world.later(HOUR, feed, offer(world, *NAMES))
    assert (await archive(world)).taken == 0
    assert await world.restore() == RestoreReport(bodies=3)
    assert await world.titles() == ["starred", "fresh"]
    assert await world.rows(states) == before["states"]
    assert await world.rows(unread) == before["unread"]
    assert await world.rows(object_garbage) == []
    assert await world.archived_keys() == await named(world)


async def test_what_is_restored_gets_its_images_and_nothing_is_left_when_its_time_has_come(
    world: ArchiveWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def parse_less(data: bytes, **hints: Any) -> ParsedFeed:
        parsed = parse_feed(data, **hints)
        return structs.replace(parsed, entries=parsed.entries[1:])

    feed = await world.add("/feed", offer(world, *NAMES))
    with monkeypatch.context() as broken:
        broken.setattr(refresh, "parse_off_loop", parse_less)
        await world.refresh(feed)
    assert (await archive(world)).kept == 4

    assert await world.restore() == RestoreReport(bodies=1, added=1)
    assert (await archive(world)).kept == 2
    for name in NAMES:
        assert await seen(world, name) == [picture(name), picture("shared")]
    assert await world.archived_keys() == await named(world)

    await leave(world, feed)
    purged = await world.purge()
    assert (purged.entries, purged.raw_bodies, purged.objects) == (3, 2, 8)
    assert await world.archived_keys() == await named(world) == []


async def test_a_store_that_fails_at_every_step_only_delays_and_leaves_nothing_dangling(
    world: ArchiveWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*args: object) -> None:
        raise BlobUnavailable("503")

    feed = await world.add("/feed", offer(world, *NAMES))
    with monkeypatch.context() as down:
        down.setattr(world.blobs, "put", fail)
        with pytest.raises(BlobUnavailable):
            await world.refresh(feed)
    await world.later(HOUR, feed)

    with monkeypatch.context() as down:
        down.setattr(world.blobs, "put", fail)
        assert (await archive(world)).kept == 0
    assert [(row["status"], row["attempts"]) for row in await world.rows(image_tasks)] == [("pending", 0)] * 6
    assert await addresses(world, "one") == [world.web.url("/one.png"), world.web.url("/shared.png")]
    world.now += HOUR
    assert (await archive(world)).kept == 6
    assert await seen(world, "one") == [picture("one"), picture("shared")]

    await leave(world, feed)
    with monkeypatch.context() as down:
        down.setattr(world.blobs, "delete_many", fail)
        with pytest.raises(BlobUnavailable):
            await world.purge(RAW_STAYS)
    assert len(await world.rows(object_garbage)) == 6

    with monkeypatch.context() as down:
        down.setattr(world.blobs, "get", fail)
        with pytest.raises(BlobUnavailable):
            await world.restore()
    assert await world.restore() == RestoreReport(bodies=2)
    assert (await world.purge(RAW_STAYS)).objects == 6
    assert await world.titles() == ["fresh"]
    assert await world.archived_keys() == await named(world)


async def test_a_database_made_anew_finds_its_images_even_where_the_originals_are_gone(world: ArchiveWorld) -> None:
    feed = await world.add("/feed", offer(world, *NAMES))
    await world.refresh(feed)
    await archive(world)
    await repair_descriptors(world.db, world.blobs, world.now)
    before = {row["object_key"]: row["sha256"] for row in await world.rows(image_tasks)}
    for name in ("shared", *NAMES):
        world.web.serve(f"/{name}.png", Answer(status=404))
    await empty(world.db)

    await world.rebuild()
    found = await recover_stored_images(world.db, world.blobs, world.now)

    after = {row["object_key"]: row["sha256"] for row in await world.rows(image_tasks)}
    assert (found, after) == (6, before)
    assert (await archive(world)).taken == 0
    assert await recover_stored_images(world.db, world.blobs, world.now) == 0
