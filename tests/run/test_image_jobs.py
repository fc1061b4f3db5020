"""Which job archives images: a single refresh its own, a batch once for all feeds, the scan what was left."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import select

from feedmill.app import App, build_app
from feedmill.engine.jobs import ArchiveImages, Job, Priority, RefreshFeed
from feedmill.run.embedded import EmbeddedParts, open_embedded
from feedmill.settings import load_settings
from feedmill.store.feeds.add_feeds import NewFeed, add_feeds
from feedmill.store.feeds.read_feeds import all_feeds
from feedmill.store.schema import image_tasks
from tests.archive.images import sample_images
from tests.flows.refresh_environment import answer, item
from tests.scripted_web import Answer, Web
from tests.sqlite_template import copy_template


@asynccontextmanager
async def process(folder: Path, web: Web) -> AsyncIterator[tuple[App, EmbeddedParts, list[Job]]]:
    """An environment with three feeds of one image each, and the jobs submitted to its engine."""
    settings = load_settings(data=str(folder), allow_private="127.0.0.0/8", host_gap=0)
    for n in range(3):
        web.serve(f"/{n}.png", Answer(sample_images.PNG))
        web.serve(f"/feed/{n}", answer(item(f"t{n}", f'<img src="{web.url(f"/{n}.png")}">')))
    await copy_template(folder / "feedmill.db")
    async with build_app(settings) as app, open_embedded(app) as parts:
        now = datetime.now(UTC)
        await add_feeds(app.db, [NewFeed(web.url(f"/feed/{n}")) for n in range(3)], now, due_at=now)
        jobs: list[Job] = []
        submit = parts.engine.submit

        async def noted(job: Job, priority: Priority) -> None:
            jobs.append(job)
            await submit(job, priority)

        parts.engine.submit = noted  # type: ignore[method-assign]
        yield app, parts, jobs


async def statuses(app: App) -> list[str]:
    return [row["status"] for row in await app.db.query(select(image_tasks.c.status))]


async def test_a_single_refresh_archives_its_own_images(tmp_path: Path) -> None:
    async with Web() as web, process(tmp_path, web) as (app, parts, _):
        [feed, *_] = await all_feeds(app.db)

        await parts.engine.submit(RefreshFeed(feed.id), Priority.MANUAL)
        await parts.engine.until_idle()

        assert await statuses(app) == ["success"]


async def test_a_batch_archives_the_images_of_all_its_feeds_at_once(tmp_path: Path) -> None:
    async with Web() as web, process(tmp_path, web) as (app, parts, jobs):
        await parts.batches.refresh("all", [feed.id for feed in await all_feeds(app.db)])
        await parts.engine.until_idle()

        assert jobs.count(ArchiveImages()) == 1
        assert await statuses(app) == ["success"] * 3


async def test_a_scan_archives_what_was_left(tmp_path: Path) -> None:
    async with Web() as web, process(tmp_path, web) as (app, parts, _):
        images = parts.handlers.images
        parts.handlers.images = None
        await parts.batches.refresh("all", [feed.id for feed in await all_feeds(app.db)])
        await parts.engine.until_idle()
        assert await statuses(app) == ["pending"] * 3

        parts.handlers.images = images
        await parts.scheduler.prepare()
        await parts.engine.until_idle()

        assert await statuses(app) == ["success"] * 3
