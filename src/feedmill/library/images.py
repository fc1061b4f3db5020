"""The images of entries, for those who read: where each archived one is, and which to archive when starred."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from urllib.parse import quote

from feedmill.archive.blobs import Blobs
from feedmill.collect.html import image_addresses
from feedmill.collect.reconcile import IMAGE_LIMIT
from feedmill.store.database import Database, Step
from feedmill.store.entries import read_entry
from feedmill.store.images import archived_images, want_images
from feedmill.store.kept_images import steps_to_try_now
from feedmill.store.shown import visible_entries

# A page may stay open for as long before its images must be loaded.
LINK_LIFE = timedelta(days=1)


async def image_urls(db: Database, blobs: Blobs, entry_ids: Sequence[int], site: str = "") -> dict[int, dict[str, str]]:
    """For each entry, where its archived images can be loaded from, by their original addresses.

    That is the store itself when browsers may ask it, else our own route; `site` goes before its path.
    """
    kept = await archived_images(db, entry_ids)
    return {id: {url: await image_url(blobs, key, site) for url, key in keys.items()} for id, keys in kept.items()}


async def images_to_keep(db: Database, entry_id: int, now: datetime) -> list[Step]:
    """The steps that have an entry's images archived: for the batch that stars it, where the feed wants that."""
    entry = await read_entry(db, entry_id)
    if entry is None:
        return []
    addresses = image_addresses(entry["content_html"] or "", entry["base_url"], IMAGE_LIMIT)
    return want_images(entry["feed_id"], entry_id, addresses, now)


async def keep_images_now(db: Database, user_id: int, ids: Sequence[int], now: datetime) -> int:
    """Has the images of those of these entries that the user may see archived as soon as may be; of how many.

    Whatever the feeds' policy is: somebody asked for these.
    """
    visible = sorted(await visible_entries(db, user_id, ids))
    if visible:
        wanted = [step for id in visible for step in await images_to_keep(db, id, now)]
        await db.batch([*wanted, *steps_to_try_now(visible, now)])
    return len(visible)


async def image_url(blobs: Blobs, key: str, site: str = "") -> str:
    """Where the archived image under the key can be loaded from."""
    return await blobs.url(key, LINK_LIFE) or f"{site}/{quote(key)}"
