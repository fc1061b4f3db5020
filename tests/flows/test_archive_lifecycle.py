"""The life of an archive: refresh → images → read → purge → restore, on each deployment."""

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
from tests.flows.archived_images import archive, read_html
from tests.flows.deployments import DEFAULT_PERIODS, ArchiveEnvironment, open_deployment
from tests.flows.refresh_environment import DAY, HOUR, answer, item
from tests.scripted_web import Answer

NAMES = ("one", "two", "starred")
LONG = DEFAULT_PERIODS.entries + 20 * DAY
# Bodies that outlive their entries: what a restore could wrongly revive.
RAW_STAYS = replace(DEFAULT_PERIODS, raw=2 * LONG)


@pytest.fixture(params=["one machine", "servers", "cloudflare"])
async def env(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[ArchiveEnvironment]:
    async with open_deployment(request, request.param, tmp_path) as made:
        yield made


def offer(env: ArchiveEnvironment, *names: str) -> Answer:
    """A feed of these entries, each with an image of its own and one that all of them show."""
    sources = {name: env.web.serve(f"/{name}.png", Answer(picture(name))) for name in ("shared", *names)}
    return answer(*(item(name, f'<img src="{sources[name]}"><img src="{sources["shared"]}">') for name in names))


def picture(name: str) -> bytes:
    return sample_images.PNG + name.encode()


async def leave(env: ArchiveEnvironment, feed: Feed) -> None:
    """All entries leave the feed for another one, long ago."""
    await env.later(HOUR, feed, answer(item("fresh")))
    env.now += LONG


async def alice_subscribes(env: ArchiveEnvironment, feed: Feed) -> None:
    alice = await env.user("Alice", 0)
    await env.set_unread_list(alice, await env.put(unread_lists, user_id=alice, created_at=to_iso(env.now)))
    await env.subscribe(alice, feed)


async def alice_stars(env: ArchiveEnvironment, title: str) -> None:
    """She reads it first."""
    [alice], [entry], at = await env.rows(users), await env.rows(entries, title=title), to_iso(env.now)
    await env.read(alice["unread_list_id"], entry["id"])
    await env.put(states, user_id=alice["id"], entry_id=entry["id"], read_at=at, starred_at=at)


async def addresses(env: ArchiveEnvironment, title: str) -> list[str]:
    """Where the entry, as it is read, has its images from."""
    [row] = await env.rows(entries, title=title)
    entry = await read_entry(env.db, row["id"])
    assert entry is not None
    html = await read_html(env, entry)
    return [unescape(source) for source in re.findall(r'<img src="([^"]*)"', html)]


async def load(env: ArchiveEnvironment, address: str) -> bytes | int:
    """What a browser gets, from our own route or from the bucket: the image, or the status that says why not."""
    if address.startswith("/images/"):
        return await load_from_us(env, address)
    async with aiohttp.request("GET", URL(address, encoded=True)) as response:
        return await response.read() if response.status == 200 else response.status


async def load_from_us(env: ArchiveEnvironment, path: str) -> bytes | int:
    site = Starlette()
    site.state.app = env
    params = {"path": path.removeprefix("/images/")}
    scope = {"type": "http", "method": "GET", "path": path, "path_params": params, "headers": [], "app": site}
    response = await serve_image_to(Request(scope), user_id=0)
    return bytes(response.body) if response.status_code == 200 else response.status_code


async def seen(env: ArchiveEnvironment, title: str) -> list[bytes | int]:
    """The entry's images as a reader sees them, none of them from the publisher."""
    found = await addresses(env, title)
    assert [address for address in found if address.startswith(env.web.url("/"))] == []
    return [await load(env, address) for address in found]


async def every_row(env: ArchiveEnvironment) -> dict[str, Any]:
    return {table.name: await env.rows(table) for table in metadata.sorted_tables}


async def named(env: ArchiveEnvironment) -> list[str]:
    """The keys of all objects that rows speak of."""
    images = [row["object_key"] for row in await env.rows(image_tasks) if row["object_key"]]
    return sorted(images + [row["key"] for row in await env.rows(raw_bodies)])


async def test_what_is_purged_loses_its_images_for_good_and_what_is_starred_keeps_them(env: ArchiveEnvironment) -> None:
    feed = await env.add("/feed", offer(env, *NAMES))
    await alice_subscribes(env, feed)

    await env.refresh(feed)
    assert (await archive(env)).kept == 6
    for name in NAMES:
        assert await seen(env, name) == [picture(name), picture("shared")]
    lost = [address for name in ("one", "two") for address in await addresses(env, name)]

    await alice_stars(env, "starred")
    await leave(env, feed)
    purged = await env.purge(RAW_STAYS)
    assert (purged.entries, purged.raw_bodies, purged.objects) == (2, 0, 4)
    assert await env.titles() == ["starred", "fresh"]
    assert {row["guid"] for row in await env.rows(tombstones)} == {"guid-one", "guid-two"}
    [_, fresh] = await env.rows(entries)
    assert [row["entry_id"] for row in await env.rows(unread)] == [fresh["id"]]
    assert [await load(env, address) for address in lost] == [404] * 4
    assert await seen(env, "starred") == [picture("starred"), picture("shared")]

    before = await every_row(env)
    for _ in range(2):
        assert await env.restore() == RestoreReport(bodies=2)
        assert await every_row(env) == before

    await env.later(HOUR, feed, offer(env, *NAMES))
    assert (await archive(env)).taken == 0
    assert await env.restore() == RestoreReport(bodies=3)
    assert await env.titles() == ["starred", "fresh"]
    assert await env.rows(states) == before["states"]
    assert await env.rows(unread) == before["unread"]
    assert await env.rows(object_garbage) == []
    assert await env.archived_keys() == await named(env)


async def test_what_is_restored_gets_its_images_and_nothing_is_left_when_its_time_has_come(
    env: ArchiveEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def parse_less(data: bytes, **hints: Any) -> ParsedFeed:
        parsed = parse_feed(data, **hints)
        return structs.replace(parsed, entries=parsed.entries[1:])

    feed = await env.add("/feed", offer(env, *NAMES))
    with monkeypatch.context() as broken:
        broken.setattr(refresh, "parse_off_loop", parse_less)
        await env.refresh(feed)
    assert (await archive(env)).kept == 4

    assert await env.restore() == RestoreReport(bodies=1, added=1)
    assert (await archive(env)).kept == 2
    for name in NAMES:
        assert await seen(env, name) == [picture(name), picture("shared")]
    assert await env.archived_keys() == await named(env)

    await leave(env, feed)
    purged = await env.purge()
    assert (purged.entries, purged.raw_bodies, purged.objects) == (3, 2, 8)
    assert await env.archived_keys() == await named(env) == []


async def test_a_store_that_fails_at_every_step_only_delays_and_leaves_nothing_dangling(
    env: ArchiveEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*args: object) -> None:
        raise BlobUnavailable("503")

    feed = await env.add("/feed", offer(env, *NAMES))
    with monkeypatch.context() as down:
        down.setattr(env.blobs, "put", fail)
        with pytest.raises(BlobUnavailable):
            await env.refresh(feed)
    await env.later(HOUR, feed)

    with monkeypatch.context() as down:
        down.setattr(env.blobs, "put", fail)
        assert (await archive(env)).kept == 0
    assert [(row["status"], row["attempts"]) for row in await env.rows(image_tasks)] == [("pending", 0)] * 6
    assert await addresses(env, "one") == [env.web.url("/one.png"), env.web.url("/shared.png")]
    env.now += HOUR
    assert (await archive(env)).kept == 6
    assert await seen(env, "one") == [picture("one"), picture("shared")]

    await leave(env, feed)
    with monkeypatch.context() as down:
        down.setattr(env.blobs, "delete_many", fail)
        with pytest.raises(BlobUnavailable):
            await env.purge(RAW_STAYS)
    assert len(await env.rows(object_garbage)) == 6

    with monkeypatch.context() as down:
        down.setattr(env.blobs, "get", fail)
        with pytest.raises(BlobUnavailable):
            await env.restore()
    assert await env.restore() == RestoreReport(bodies=2)
    assert (await env.purge(RAW_STAYS)).objects == 6
    assert await env.titles() == ["fresh"]
    assert await env.archived_keys() == await named(env)


async def test_a_database_made_anew_finds_its_images_even_where_the_originals_are_gone(env: ArchiveEnvironment) -> None:
    feed = await env.add("/feed", offer(env, *NAMES))
    await env.refresh(feed)
    await archive(env)
    await repair_descriptors(env.db, env.blobs, env.now)
    before = {row["object_key"]: row["sha256"] for row in await env.rows(image_tasks)}
    for name in ("shared", *NAMES):
        env.web.serve(f"/{name}.png", Answer(status=404))
    await empty(env.db)

    await env.rebuild()
    found = await recover_stored_images(env.db, env.blobs, env.now)

    after = {row["object_key"]: row["sha256"] for row in await env.rows(image_tasks)}
    assert (found, after) == (6, before)
    assert (await archive(env)).taken == 0
    assert await recover_stored_images(env.db, env.blobs, env.now) == 0
