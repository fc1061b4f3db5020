"""What tests of images say again and again: a world that archives, and feeds whose entries show images."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from feedmill.archive.images.download import ImageLotResult, ImageTools, archive_images
from feedmill.archive.images.storage_limit import ImageStorageLimit
from feedmill.html.sanitize import render_article_html
from feedmill.library.archive.archived_images import image_urls
from feedmill.model.feed import Feed
from feedmill.store.database import Row
from feedmill.store.entries.read_entries import StoredEntry, read_entry
from feedmill.store.schema import entries, image_tasks
from tests.flows.world import World, answer, item


def tools_of(world: World, limit: int = 0, **changes: Any) -> ImageTools:
    room = ImageStorageLimit(world.db, limit)
    tools = ImageTools(
        world.db,
        world.blobs,
        world.client,
        world.tools.outage,
        room,
        gap=timedelta(),
        clock=lambda: world.now,
        encryption=world.tools.encryption,
    )
    return replace(tools, **changes)


async def archive(world: World, limit: int = 0, **changes: Any) -> ImageLotResult:
    return await archive_images(tools_of(world, limit, **changes))


async def showing(world: World, *sources: str, guid: str = "g") -> Feed:
    """A refreshed feed with one entry that shows these images."""
    html = "<p>Look: " + "".join(f'<img src="{source}">' for source in sources) + "</p>"
    feed = await world.add(f"/feed-{guid}", answer(item("a", html, guid=guid, link=world.web.url("/post/1"))))
    await world.refresh(feed)
    return feed


async def tasks(world: World) -> list[Row]:
    return await world.rows(image_tasks)


async def stored(world: World) -> list[str]:
    """The keys of all images in the store."""
    return sorted([blob.key async for blob in world.blobs.list_keys("images/")])


async def shown(world: World) -> str:
    """The first entry's text as a reader sees it."""
    [row, *_] = await world.rows(entries)
    entry = await read_entry(world.db, row["id"])
    assert entry is not None
    return await read_html(world, entry)


async def read_html(world: World, entry: StoredEntry) -> str:
    """An entry's text as it is shown, with its archived images."""
    archived = await image_urls(world.db, world.blobs, [entry.id])
    return render_article_html(entry.content_html or "", entry.base_url, archived[entry.id])
