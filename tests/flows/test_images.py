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
from tests.flows.archived_images import add_feed_with_images, archive, shown, stored, tasks
from tests.flows.conftest import open_environment
from tests.flows.refresh_environment import DAY, HOUR, MINUTE, RefreshEnvironment, answer, encrypted, item
from tests.scripted_web import Answer
from tests.services.s3 import s3_config

PAIRS = [("sqlite", "folder"), ("postgresql", "s3"), ("d1", "s3")]


@pytest.fixture(params=PAIRS, ids="+".join)
async def pair(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[RefreshEnvironment]:
    """An environment on one of the supported pairs."""
    database, objects = request.param
    async with emptied(request, database, tmp_path) as db, open_environment(db, tmp_path) as env:
        if objects == "s3":
            service = request.getfixturevalue("s3_service")
            env.blobs = S3Blobs(s3_config(service, prefix=f"images-{tmp_path.name}"))
            env.__post_init__()
        yield env


def sources(html: str) -> list[str]:
    return [unescape(source) for source in re.findall(r'<img src="([^"]*)"', html)]


async def load(env: RefreshEnvironment, source: str) -> bytes:
    """What a browser gets: from our own route, whose path is the key, or from the bucket."""
    if source.startswith("/images/"):
        return await env.blobs.get(source.removeprefix("/"))
    with await asyncio.to_thread(urlopen, source, timeout=60) as response:
        assert response.headers["Content-Type"].startswith("image/")
        return bytes(response.read())


async def test_images_are_kept_byte_for_byte_and_shown_from_the_archive(pair: RefreshEnvironment) -> None:
    env = pair
    env.web.serve("/a.png", Answer(sample_images.PNG, headers={"Content-Type": "text/plain"}))
    env.web.serve("/b", Answer(sample_images.JPEG))
    feed = await add_feed_with_images(env, "/a.png", env.web.url("/b"), "/missing.gif")
    [entry] = await env.rows(entries)

    tally = await archive(env)

    keys = [image_key(feed.id, "g", 0, "png"), image_key(feed.id, "g", 1, "jpg")]
    assert (tally.taken, tally.kept, tally.failed, tally.error) == (3, 2, 1, None)
    rows = await tasks(env)
    assert [(row["status"], row["object_key"], row["attempts"]) for row in rows] == [
        ("success", keys[0], 1),
        ("success", keys[1], 1),
        ("failed", None, 1),
    ]
    assert (rows[0]["content_type"], rows[0]["size"]) == ("image/png", len(sample_images.PNG))
    assert rows[0]["sha256"] == sha256(sample_images.PNG).hexdigest()
    assert [await env.blobs.get(key) for key in keys] == [sample_images.PNG, sample_images.JPEG]
    assert await stored(env) == sorted(keys)
    *archived, original = sources(await shown(env))
    assert [await load(env, source) for source in archived] == [sample_images.PNG, sample_images.JPEG]
    assert original == env.web.url("/missing.gif")
    assert (await env.rows(entries))[0]["content_html"] == entry["content_html"]


async def test_a_failing_image_is_tried_three_times_and_then_left(any_env: RefreshEnvironment) -> None:
    env = any_env
    env.web.serve("/a.png", Answer(status=500))
    await add_feed_with_images(env, "/a.png")

    for wait in (timedelta(), 5 * MINUTE, HOUR):
        env.now += wait - timedelta(seconds=1)
        assert (await archive(env)).taken == 0 or not wait
        env.now += timedelta(seconds=1)
        await archive(env)

    [task] = await tasks(env)
    assert (task["status"], task["attempts"], task["next_attempt_at"]) == ("failed", 3, None)
    env.now += 30 * DAY
    assert (await archive(env)).taken == 0
    assert len(env.web.seen("/a.png")) == 3


async def test_a_task_whose_worker_died_before_its_first_attempt_comes_back(any_env: RefreshEnvironment) -> None:
    env = any_env
    env.web.serve("/a.png", Answer(sample_images.PNG))
    await add_feed_with_images(env, "/a.png")
    [waiting] = await waiting_images(env.db, env.now, 10)
    [taken] = await take_image_tasks(env.db, [waiting.id], env.now)
    assert (taken.attempts, (await archive(env)).taken) == (0, 0)

    env.now += timedelta(seconds=181)

    assert (await archive(env)).kept == 1


async def test_of_two_workers_each_image_goes_to_one(any_env: RefreshEnvironment) -> None:
    env = any_env
    sources = [f"/{n}.png" for n in range(8)]
    for source in sources:
        env.web.serve(source, Answer(sample_images.PNG))
    await add_feed_with_images(env, *sources)

    tallies = await asyncio.gather(archive(env), archive(env))

    assert sum(tally.kept for tally in tallies) == 8
    assert all(len(env.web.seen(source)) == 1 for source in sources)


async def test_entries_whose_guids_share_a_mark_never_overwrite_each_other(any_env: RefreshEnvironment) -> None:
    env = any_env
    env.web.serve("/a.png", Answer(sample_images.PNG))
    feed = await add_feed_with_images(env, "/a.png")
    await env.put(
        entries,
        feed_id=feed.id,
        guid="rival",
        sort_at="x",
        refresh_token="t",
        digest="d",
        first_seen_at="x",
        last_seen_at="x",
    )
    [_, rival] = await env.rows(entries)
    taken = image_key(feed.id, "g", 0, "png")
    await env.put(
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
    await env.blobs.put(taken, b"the rival's", "image/png")

    await archive(env)

    assert (await tasks(env))[0]["object_key"] == full_image_key(feed.id, "g", 0, "png")
    assert await env.blobs.get(taken) == b"the rival's"
    assert await env.blobs.get(full_image_key(feed.id, "g", 0, "png")) == sample_images.PNG


async def test_a_key_that_is_still_to_be_deleted_is_not_used_again(any_env: RefreshEnvironment) -> None:
    env = any_env
    env.web.serve("/a.png", Answer(sample_images.PNG))
    feed = await add_feed_with_images(env, "/a.png")
    await env.put(object_garbage, key=image_key(feed.id, "g", 0, "png"), recorded_at=to_iso(env.now))

    await archive(env)

    assert [row["object_key"] for row in await tasks(env)] == [full_image_key(feed.id, "g", 0, "png")]


async def test_an_image_that_came_back_as_another_type_leaves_no_object_behind(any_env: RefreshEnvironment) -> None:
    env = any_env
    feed = await add_feed_with_images(env, "/a")
    png, gif = (image_key(feed.id, "g", 0, extension) for extension in ("png", "gif"))
    await env.db.batch([Step(image_tasks.update().values(object_key=png))])
    await env.blobs.put(png, sample_images.PNG, "image/png")
    env.web.serve("/a", Answer(sample_images.GIF))

    await archive(env)

    assert [row["object_key"] for row in await tasks(env)] == [gif]
    assert [row["key"] for row in await env.rows(object_garbage)] == [png]


class LosesEntries(FolderBlobs):
    """The entries are purged while an object is written, each time."""

    db: Database

    async def put(self, key: str, data: bytes, content_type: str) -> None:
        await self.db.batch([Step(entries.delete())])
        await super().put(key, data, content_type)


async def test_an_entry_that_goes_away_meanwhile_leaves_no_object_behind(
    any_env: RefreshEnvironment, tmp_path: Path
) -> None:
    env = any_env
    env.web.serve("/a.png", Answer(sample_images.PNG))
    await add_feed_with_images(env, "/a.png")
    env.blobs = losing = LosesEntries(tmp_path / "objects")
    losing.db = env.db

    tally = await archive(env)

    assert (tally.error, await tasks(env)) == (None, [])
    assert await stored(env) == [row["key"] for row in await env.rows(object_garbage)]


async def test_a_full_archive_has_images_wait_and_says_so_once(
    env: RefreshEnvironment, logged: list[dict[str, object]]
) -> None:
    for name in ("a", "b"):
        env.web.serve(f"/{name}.png", Answer(sample_images.PNG))
        await add_feed_with_images(env, f"/{name}.png", guid=name)
    limit = len(sample_images.PNG)

    first = await archive(env, limit)
    second = await archive(env, limit)

    assert (first.kept, second.taken) == (1, 0)
    assert sorted(row["status"] for row in await tasks(env)) == ["pending", "success"]
    assert [line["event"] for line in logged].count("image_storage_limit_reached") == 1
    env.now += DAY
    assert (await archive(env, 10 * limit)).kept == 1


async def test_a_feed_that_keeps_starred_entries_only_makes_tasks_when_asked(env: RefreshEnvironment) -> None:
    html = '<img src="/a.png"><img src="/b.png">'
    feed = await env.add("/feed", answer(item("a", html, link=env.web.url("/post"))))
    await env.change(feed, archive_policy="starred")
    await env.refresh(feed)
    assert await tasks(env) == []
    [entry] = await env.rows(entries)

    for _ in range(2):
        await env.db.batch(await image_task_steps(env.db, [entry["id"]], env.now))

    assert [row["original_url"] for row in await tasks(env)] == [env.web.url("/a.png"), env.web.url("/b.png")]


async def test_a_publisher_hears_which_page_its_image_is_for_and_others_only_of_the_site(
    env: RefreshEnvironment,
) -> None:
    own = env.web.serve("/a.png", Answer(sample_images.PNG))
    other = env.web.serve("/b.png", Answer(sample_images.PNG), "127.0.0.9")
    await add_feed_with_images(env, own, other)

    await archive(env)

    assert env.web.seen("/a.png")[0].headers["referer"] == env.web.url("/post/1")
    assert env.web.seen("/b.png")[0].headers["referer"] == env.web.url("/")
    assert env.web.seen("/a.png")[0].headers["accept"].startswith("image/")


async def test_a_feeds_secrets_go_to_its_own_host_alone(env: RefreshEnvironment) -> None:
    own = env.web.serve("/a.png", Answer(sample_images.PNG))
    other = env.web.serve("/b.png", Answer(sample_images.PNG), "127.0.0.9")
    feed = await add_feed_with_images(env, own, other)
    secrets = '{"basic_auth": ["alice", "secret"], "cookie": "c=1", "headers": {"X-Key": "k"}}'
    await env.change(feed, http_options=encrypted(secrets).value)

    await archive(env)

    assert {"authorization", "cookie", "x-key"} <= set(env.web.seen("/a.png")[0].headers)
    assert not {"authorization", "cookie", "x-key"} & set(env.web.seen("/b.png")[0].headers)
