"""Helpers of image tests: feeds with images, the archiving of them, and rendered entries."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from feedmill.archive.images.download import ImageChunkResult, ImageTools, archive_images
from feedmill.archive.images.storage_limit import ImageStorageLimit
from feedmill.html.sanitize import render_article_html
from feedmill.library.archive.archived_images import image_urls
from feedmill.model.feed import Feed
from feedmill.store.database import Row
from feedmill.store.entries.read_entries import StoredEntry, read_entry
from feedmill.store.schema import entries, image_tasks
from tests.flows.refresh_environment import RefreshEnvironment, answer, item


def image_tools(env: RefreshEnvironment, limit: int = 0, **changes: Any) -> ImageTools:
    storage_limit = ImageStorageLimit(env.db, limit)
    tools = ImageTools(
        env.db,
        env.blobs,
        env.client,
        env.tools.outage,
        storage_limit,
        gap=timedelta(),
        clock=lambda: env.now,
        encryption=env.tools.encryption,
    )
    return replace(tools, **changes)


async def archive(env: RefreshEnvironment, limit: int = 0, **changes: Any) -> ImageChunkResult:
    return await archive_images(image_tools(env, limit, **changes))


async def add_feed_with_images(env: RefreshEnvironment, *sources: str, guid: str = "g") -> Feed:
    """Adds and refreshes a feed with one entry that shows these images."""
    html = "<p>Look: " + "".join(f'<img src="{source}">' for source in sources) + "</p>"
    feed = await env.add(f"/feed-{guid}", answer(item("a", html, guid=guid, link=env.web.url("/post/1"))))
    await env.refresh(feed)
    return feed


async def tasks(env: RefreshEnvironment) -> list[Row]:
    return await env.rows(image_tasks)


async def stored(env: RefreshEnvironment) -> list[str]:
    """The keys of all images in the store."""
    return sorted([blob.key async for blob in env.blobs.list_keys("images/")])


async def shown(env: RefreshEnvironment) -> str:
    """The first entry's text as a reader sees it."""
    [row, *_] = await env.rows(entries)
    entry = await read_entry(env.db, row["id"])
    assert entry is not None
    return await read_html(env, entry)


async def read_html(env: RefreshEnvironment, entry: StoredEntry) -> str:
    """An entry's text as it is shown, with its archived images."""
    archived = await image_urls(env.db, env.blobs, [entry.id])
    return render_article_html(entry.content_html or "", entry.base_url, archived[entry.id])
