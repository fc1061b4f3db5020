"""`GET /images/…` serves archived images, and nothing else."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import aiohttp
import pytest
import uvicorn
from yarl import URL

from feedmill.app import App, build_app
from feedmill.archive.object_keys import image_key
from feedmill.library.users.sign_in import begin_session
from feedmill.model.user import RequestOrigin
from feedmill.run.embedded import EmbeddedParts, open_embedded
from feedmill.serve import asgi
from feedmill.settings import load_settings
from feedmill.store.database import Step
from feedmill.store.dialect import insert
from feedmill.store.feeds.add_feeds import add_feed
from feedmill.store.schema import entries, feeds, image_tasks
from feedmill.store.users.api_keys import add_api_key
from feedmill.store.users.users import add_user, user_of_name
from tests.archive.images import sample_images
from tests.flows.refresh_environment import NOW
from tests.sqlite_template import copy_template
from tests.virtual_time import jump

BODY = sample_images.PNG + bytes(range(256))
# How long it sleeps before it checks whether it should exit.
UVICORN_TICK = 0.1
ETAG = f'"{sha256(BODY).hexdigest()}"'


@dataclass
class Site:
    """A server with one archived image, one that is pending and one whose object is missing."""

    app: App
    browser: aiohttp.ClientSession
    origin: str
    key: str

    def get(self, path: str, method: str = "GET", **headers: str) -> "aiohttp.client._RequestContextManager":
        given = {"Authorization": "Bearer fm_alice"} | headers
        named = {name.replace("_", "-"): value for name, value in given.items() if value}
        return self.browser.request(method, URL(self.origin + path, encoded=True), headers=named)


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    await copy_template(tmp_path / "feedmill.db")
    async with (
        build_app(load_settings(data=str(tmp_path))) as app,
        open_embedded(app) as parts,
        running(app, parts) as origin,
    ):
        key = await archived(app)
        alice = await add_user(app.db, "alice", None, False, NOW)
        await add_api_key(app.db, alice.id, "test", "fm_alice", ["read"], NOW)
        async with aiohttp.ClientSession() as browser:
            yield Site(app, browser, origin, key)


@asynccontextmanager
async def running(app: App, parts: EmbeddedParts) -> AsyncIterator[str]:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        server = uvicorn.Server(
            uvicorn.Config(asgi.create_asgi_app(app, parts.batches), log_config=None, lifespan="off")
        )
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        server.should_exit = True
        jump(UVICORN_TICK)
        await serving


async def archived(app: App) -> str:
    feed = await add_feed(app.db, "https://example.org/feed", NOW)
    key = image_key(feed.id, "g", 0, "png")
    entry = {
        "feed_id": feed.id,
        "guid": "g",
        "sort_at": "x",
        "refresh_token": "t",
        "digest": "d",
        "first_seen_at": "x",
        "last_seen_at": "x",
    }
    await app.db.batch([Step(insert(entries, *entry), entry)])
    task = {
        "feed_id": feed.id,
        "entry_id": 1,
        "original_url": "u",
        "created_at": "x",
        "updated_at": "x",
        "size": len(BODY),
        "sha256": sha256(BODY).hexdigest(),
    }
    rows = [
        task | {"position": position, "status": status, "object_key": image_key(feed.id, "g", position, "png")}
        for position, status in enumerate(("success", "pending", "success"))
    ]
    await app.db.batch([Step(insert(image_tasks, *rows[0]), rows)])
    for position in (0, 1):
        await app.blobs.put(image_key(feed.id, "g", position, "png"), BODY, "image/png")
    return key


async def test_an_archived_image_has_its_type_and_safe_headers(site: Site) -> None:
    async with site.get(f"/{site.key}") as answer:
        assert (answer.status, await answer.read()) == (200, BODY)
        assert answer.headers["Content-Type"] == "image/png"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Content-Security-Policy"] == "default-src 'none'; sandbox"
        assert answer.headers["Cache-Control"] == "private, max-age=31536000, immutable"
        assert answer.headers["ETag"] == ETAG


@pytest.mark.parametrize("credentials", ["", "Bearer fm_wrong", "Basic eDp5"])
async def test_images_need_a_sign_in(site: Site, credentials: str) -> None:
    async with site.get(f"/{site.key}", Authorization=credentials, If_None_Match=ETAG) as answer:
        assert (answer.status, answer.headers["Cache-Control"]) == (401, "no-store")
        assert (await answer.read(), answer.headers.get("ETag")) == (b"", None)


async def test_a_browser_that_is_signed_in_gets_an_image_with_its_cookie(site: Site) -> None:
    alice = await user_of_name(site.app.db, "alice")
    assert alice is not None
    token, _ = await begin_session(site.app.db, alice, RequestOrigin(), datetime.now(UTC))

    async with site.get(f"/{site.key}", Authorization="", Cookie=f"feedmill_session={token}") as answer:
        assert (answer.status, await answer.read()) == (200, BODY)


@pytest.mark.parametrize(("owner", "status"), [("1", 200), ("2", 404), ("11", 404)])
async def test_an_image_of_a_feed_with_a_login_is_served_to_its_subscriber_only(
    site: Site, owner: str, status: int
) -> None:
    await site.app.db.batch([Step(feeds.update().values(url=f"https://example.org/feed#user={owner}"))])

    async with site.get(f"/{site.key}") as answer:
        assert answer.status == status


@pytest.mark.parametrize("tags", [ETAG, f"W/{ETAG}", f'"x", {ETAG}', "*"])
async def test_an_image_that_the_browser_has_is_not_sent_again(site: Site, tags: str) -> None:
    async with site.get(f"/{site.key}", If_None_Match=tags) as answer:
        assert (answer.status, await answer.read(), answer.headers["ETag"]) == (304, b"", ETAG)


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        ("bytes=0-3", slice(0, 4)),
        ("bytes=10-", slice(10, None)),
        ("bytes=-5", slice(-5, None)),
        ("bytes=5-999999", slice(5, None)),
    ],
)
async def test_a_range_request_gets_that_part(site: Site, asked: str, given: slice) -> None:
    async with site.get(f"/{site.key}", Range=asked) as answer:
        start, stop, _ = given.indices(len(BODY))
        assert (answer.status, await answer.read()) == (206, BODY[given])
        assert answer.headers["Content-Range"] == f"bytes {start}-{stop - 1}/{len(BODY)}"


@pytest.mark.parametrize("asked", ["bytes=-", "bytes=5-2", "bytes=0-1,3-4", "lines=1-2", "bytes=a-b", "bytes=0-999999"])
async def test_a_range_that_is_invalid_or_covers_everything_gets_the_whole_image(site: Site, asked: str) -> None:
    async with site.get(f"/{site.key}", Range=asked) as answer:
        assert (answer.status, await answer.read()) == (200, BODY)


@pytest.mark.parametrize("asked", [f"bytes={len(BODY)}-", "bytes=999999-", "bytes=-0"])
async def test_a_range_beyond_the_end_is_refused(site: Site, asked: str) -> None:
    async with site.get(f"/{site.key}", Range=asked) as answer:
        assert (answer.status, answer.headers["Content-Range"]) == (416, f"bytes */{len(BODY)}")


async def test_a_range_of_another_version_gets_the_whole_image(site: Site) -> None:
    async with site.get(f"/{site.key}", Range="bytes=0-3", If_Range='"other"') as answer:
        assert (answer.status, len(await answer.read())) == (200, len(BODY))


async def test_head_reports_the_size_without_the_bytes(site: Site) -> None:
    async with site.get(f"/{site.key}", "HEAD") as answer:
        assert (answer.status, answer.headers["Content-Length"], await answer.read()) == (200, str(len(BODY)), b"")


@pytest.mark.parametrize(
    "path",
    [
        "/images/1/{mark}/1.png",  # pending, although an object exists under its key
        "/images/1/{mark}/2.png",  # its object is missing
        "/images/1/{mark}/0.gif",
        "/images/1/{mark}/0.html",
        "/images/1/{mark}/0.svg",
        "/images/../feedmill.db",
        "/images/%2e%2e/%2e%2e/feedmill.db",
        "/images/..%2f..%2ffeedmill.db",
        "/images//etc/passwd",
        "/images/1/{mark}/0.png%00",
        "/images/1/{mark}/0.png/",
        "/images/" + "9" * 5000 + "/ab12cd34/0.png",
        "/images/%ff%fe/x.png",
        "/images/",
    ],
)
async def test_anything_else_is_not_found(site: Site, path: str) -> None:
    mark = site.key.split("/")[2]

    async with site.get(path.replace("{mark}", mark)) as answer:
        assert answer.status == 404
        assert b"SQLite" not in await answer.read()


async def test_a_failing_object_store_is_reported_differently_from_a_missing_image(site: Site, tmp_path: Path) -> None:
    folder = tmp_path / "objects" / site.key.rpartition("/")[0]
    (folder / "0.png").unlink()
    (folder / "0.png").mkdir()

    async with site.get(f"/{site.key}") as answer:
        assert (answer.status, answer.headers["Cache-Control"]) == (503, "no-store")
