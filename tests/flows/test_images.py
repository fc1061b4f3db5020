"""Refresh, archive, read: where an entry's images go, on each pair of database and object store."""

import asyncio
import re
from collections.abc import AsyncIterator
from datetime import timedelta
from hashlib import sha256
from html import unescape
from pathlib import Path
from urllib.request import urlopen

import pytest

from feedmill.archive.files import FolderBlobs
from feedmill.archive.object_keys import full_image_key, image_key
from feedmill.archive.s3 import S3Blobs
from feedmill.library.archive.request_images import image_task_steps
from feedmill.model.timestamps import to_iso
from feedmill.store.archive.image_tasks import take_image_tasks, waiting_images
from feedmill.store.database import Database, Step
from feedmill.store.schema import entries, image_tasks, object_garbage
from tests.archive.images import sample_images
from tests.databases import emptied
from tests.flows.conftest import small_world
from tests.flows.pictures import archive, showing, shown, stored, tasks
from tests.flows.world import DAY, HOUR, MINUTE, World, answer, encrypted, item
from tests.services.s3 import s3_config
from tests.www import Answer

PAIRS = [("sqlite", "folder"), ("postgresql", "s3"), ("d1", "s3")]


@pytest.fixture(params=PAIRS, ids="+".join)
async def pair(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[World]:
    """A world on one of the pairs that people run."""
    database, objects = request.param
    async with emptied(request, database, tmp_path) as db, small_world(db, tmp_path) as world:
        if objects == "s3":
            service = request.getfixturevalue("s3_service")
            world.blobs = S3Blobs(s3_config(service, prefix=f"images-{tmp_path.name}"))
            world.__post_init__()
        yield world


def sources(html: str) -> list[str]:
    return [unescape(source) for source in re.findall(r'<img src="([^"]*)"', html)]


async def load(world: World, source: str) -> bytes:
    """What a browser gets: from our own route, whose path is the key, or from the bucket."""
    if source.startswith("/images/"):
        return await world.blobs.get(source.removeprefix("/"))
    with await asyncio.to_thread(urlopen, source, timeout=60) as response:
        assert response.headers["Content-Type"].startswith("image/")
        return bytes(response.read())


async def test_images_are_kept_byte_for_byte_and_shown_from_the_archive(pair: World) -> None:
    world = pair
    world.web.serve("/a.png", Answer(sample_images.PNG, headers={"Content-Type": "text/plain"}))
    world.web.serve("/b", Answer(sample_images.JPEG))
    feed = await showing(world, "/a.png", world.web.url("/b"), "/missing.gif")
    [entry] = await world.rows(entries)

    tally = await archive(world)

    keys = [image_key(feed.id, "g", 0, "png"), image_key(feed.id, "g", 1, "jpg")]
    assert (tally.taken, tally.kept, tally.failed, tally.error) == (3, 2, 1, None)
    rows = await tasks(world)
    assert [(row["status"], row["object_key"], row["attempts"]) for row in rows] == [
        ("success", keys[0], 1),
        ("success", keys[1], 1),
        ("failed", None, 1),
    ]
    assert (rows[0]["content_type"], rows[0]["size"]) == ("image/png", len(sample_images.PNG))
    assert rows[0]["sha256"] == sha256(sample_images.PNG).hexdigest()
    assert [await world.blobs.get(key) for key in keys] == [sample_images.PNG, sample_images.JPEG]
    assert await stored(world) == sorted(keys)
    *archived, original = sources(await shown(world))
    assert [await load(world, source) for source in archived] == [sample_images.PNG, sample_images.JPEG]
    assert original == world.web.url("/missing.gif")
    assert (await world.rows(entries))[0]["content_html"] == entry["content_html"]


async def test_a_failing_image_is_tried_three_times_and_then_left(any_world: World) -> None:
    world = any_world
    world.web.serve("/a.png", Answer(status=500))
    await showing(world, "/a.png")

    for wait in (timedelta(), 5 * MINUTE, HOUR):
        world.now += wait - timedelta(seconds=1)
        assert (await archive(world)).taken == 0 or not wait
        world.now += timedelta(seconds=1)
        await archive(world)

    [task] = await tasks(world)
    assert (task["status"], task["attempts"], task["next_attempt_at"]) == ("failed", 3, None)
    world.now += 30 * DAY
    assert (await archive(world)).taken == 0
    assert len(world.web.seen("/a.png")) == 3


async def test_a_task_whose_worker_died_before_its_first_attempt_comes_back(any_world: World) -> None:
    world = any_world
    world.web.serve("/a.png", Answer(sample_images.PNG))
    await showing(world, "/a.png")
    [waiting] = await waiting_images(world.db, world.now, 10)
    [taken] = await take_image_tasks(world.db, [waiting.id], world.now)
    assert (taken.attempts, (await archive(world)).taken) == (0, 0)

    world.now += timedelta(seconds=181)

    assert (await archive(world)).kept == 1


async def test_of_two_workers_each_image_goes_to_one(any_world: World) -> None:
    world = any_world
    sources = [f"/{n}.png" for n in range(8)]
    for source in sources:
        world.web.serve(source, Answer(sample_images.PNG))
    await showing(world, *sources)

    tallies = await asyncio.gather(archive(world), archive(world))

    assert sum(tally.kept for tally in tallies) == 8
    assert all(len(world.web.seen(source)) == 1 for source in sources)


async def test_entries_whose_guids_share_a_mark_never_overwrite_each_other(any_world: World) -> None:
    world = any_world
    world.web.serve("/a.png", Answer(sample_images.PNG))
    feed = await showing(world, "/a.png")
    await world.put(
        entries,
        feed_id=feed.id,
        guid="rival",
        sort_at="x",
        refresh_token="t",
        digest="d",
        first_seen_at="x",
        last_seen_at="x",
    )
    [_, rival] = await world.rows(entries)
    taken = image_key(feed.id, "g", 0, "png")
    await world.put(
        image_tasks,
        feed_id=feed.id,
        entry_id=rival["id"],
        position=0,
        original_url="u",
        status="success",
        object_key=taken,
        created_at="x",
        updated_at="x",
    )
    await world.blobs.put(taken, b"the rival's", "image/png")

    await archive(world)

    assert (await tasks(world))[0]["object_key"] == full_image_key(feed.id, "g", 0, "png")
    assert await world.blobs.get(taken) == b"the rival's"
    assert await world.blobs.get(full_image_key(feed.id, "g", 0, "png")) == sample_images.PNG


async def test_a_key_that_is_still_to_be_deleted_is_not_used_again(any_world: World) -> None:
    world = any_world
    world.web.serve("/a.png", Answer(sample_images.PNG))
    feed = await showing(world, "/a.png")
    await world.put(object_garbage, key=image_key(feed.id, "g", 0, "png"), recorded_at=to_iso(world.now))

    await archive(world)

    assert [row["object_key"] for row in await tasks(world)] == [full_image_key(feed.id, "g", 0, "png")]


async def test_an_image_that_came_back_as_another_type_leaves_no_object_behind(any_world: World) -> None:
    world = any_world
    feed = await showing(world, "/a")
    png, gif = (image_key(feed.id, "g", 0, extension) for extension in ("png", "gif"))
    await world.db.batch([Step(image_tasks.update().values(object_key=png))])
    await world.blobs.put(png, sample_images.PNG, "image/png")
    world.web.serve("/a", Answer(sample_images.GIF))

    await archive(world)

    assert [row["object_key"] for row in await tasks(world)] == [gif]
    assert [row["key"] for row in await world.rows(object_garbage)] == [png]


class LosesEntries(FolderBlobs):
    """The entries are purged while an object is written, each time."""

    db: Database

    async def put(self, key: str, data: bytes, content_type: str) -> None:
        await self.db.batch([Step(entries.delete())])
        await super().put(key, data, content_type)


async def test_an_entry_that_goes_away_meanwhile_leaves_no_object_behind(any_world: World, tmp_path: Path) -> None:
    world = any_world
    world.web.serve("/a.png", Answer(sample_images.PNG))
    await showing(world, "/a.png")
    world.blobs = losing = LosesEntries(tmp_path / "objects")
    losing.db = world.db

    tally = await archive(world)

    assert (tally.error, await tasks(world)) == (None, [])
    assert await stored(world) == [row["key"] for row in await world.rows(object_garbage)]


async def test_a_full_archive_has_images_wait_and_says_so_once(world: World, logged: list[dict[str, object]]) -> None:
    for name in ("a", "b"):
        world.web.serve(f"/{name}.png", Answer(sample_images.PNG))
        await showing(world, f"/{name}.png", guid=name)
    limit = len(sample_images.PNG)

    first = await archive(world, limit)
    second = await archive(world, limit)

    assert (first.kept, second.taken) == (1, 0)
    assert sorted(row["status"] for row in await tasks(world)) == ["pending", "success"]
    assert [line["event"] for line in logged].count("image_storage_limit_reached") == 1
    world.now += DAY
    assert (await archive(world, 10 * limit)).kept == 1


async def test_a_feed_that_keeps_starred_entries_only_makes_tasks_when_asked(world: World) -> None:
    html = '<img src="/a.png"><img src="/b.png">'
    feed = await world.add("/feed", answer(item("a", html, link=world.web.url("/post"))))
    await world.change(feed, archive_policy="starred")
    await world.refresh(feed)
    assert await tasks(world) == []
    [entry] = await world.rows(entries)

    for _ in range(2):
        await world.db.batch(await image_task_steps(world.db, entry["id"], world.now))

    assert [row["original_url"] for row in await tasks(world)] == [world.web.url("/a.png"), world.web.url("/b.png")]


async def test_a_publisher_hears_which_page_its_image_is_for_and_others_only_of_the_site(world: World) -> None:
    own = world.web.serve("/a.png", Answer(sample_images.PNG))
    other = world.web.serve("/b.png", Answer(sample_images.PNG), "127.0.0.9")
    await showing(world, own, other)

    await archive(world)

    assert world.web.seen("/a.png")[0].headers["referer"] == world.web.url("/post/1")
    assert world.web.seen("/b.png")[0].headers["referer"] == world.web.url("/")
    assert world.web.seen("/a.png")[0].headers["accept"].startswith("image/")


async def test_a_feeds_secrets_go_to_its_own_host_alone(world: World) -> None:
    own = world.web.serve("/a.png", Answer(sample_images.PNG))
    other = world.web.serve("/b.png", Answer(sample_images.PNG), "127.0.0.9")
    feed = await showing(world, own, other)
    secrets = '{"basic_auth": ["alice", "secret"], "cookie": "c=1", "headers": {"X-Key": "k"}}'
    await world.change(feed, http_options=encrypted(secrets).value)

    await archive(world)

    assert {"authorization", "cookie", "x-key"} <= set(world.web.seen("/a.png")[0].headers)
    assert not {"authorization", "cookie", "x-key"} & set(world.web.seen("/b.png")[0].headers)
