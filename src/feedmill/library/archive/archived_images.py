"""Finds archived images: who may see one, the URL that loads it, and why others are not archived."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import quote

from feedmill.archive.blobs import Blobs
from feedmill.archive.images.file_types import TYPE_BY_EXTENSION
from feedmill.archive.object_keys import parse_image_key
from feedmill.i18n.messages import Message
from feedmill.model.feed import is_readable_by
from feedmill.store.archive.archived_images import archived_image_keys, image_of_key
from feedmill.store.archive.entry_images import failed_images
from feedmill.store.database import Database

# How long the links of an open page stay valid.
LINK_LIFE = timedelta(days=1)
MAX_KEY_LENGTH = 200


@dataclass(frozen=True, slots=True)
class ArchivedImage:
    """An image in the object store. Its type comes from our table by the key's extension."""

    key: str
    content_type: str
    size: int
    sha256: str


async def find_archived_image(db: Database, user_id: int, key: str) -> ArchivedImage | None:
    """The archived image under the key; None if there is none, or if its feed is another user's private one."""
    parsed = parse_image_key(key) if len(key) <= MAX_KEY_LENGTH else None
    type = TYPE_BY_EXTENSION.get(parsed.extension) if parsed else None
    stored = await image_of_key(db, key) if type else None
    if type is None or stored is None or not is_readable_by(stored.feed_url, user_id):
        return None
    return ArchivedImage(key, type.content_type, stored.size, stored.sha256)


async def image_urls(db: Database, blobs: Blobs, entry_ids: Sequence[int], site: str = "") -> dict[int, dict[str, str]]:
    """By entry, the URLs of its archived images by their original URLs.

    That is the store itself when browsers may ask it, else our own route; `site` goes before its path.
    """
    keys_by_entry = await archived_image_keys(db, entry_ids)
    return {
        id: {url: await image_url(blobs, key, site) for url, key in keys.items()} for id, keys in keys_by_entry.items()
    }


async def image_failures(db: Database, entry_id: int) -> dict[str, Message]:
    """By original URL, why images of the entry could not be archived and are not tried again."""
    return await failed_images(db, entry_id)


async def image_url(blobs: Blobs, key: str, site: str = "") -> str:
    """The URL that loads the archived image under the key."""
    return await blobs.url(key, LINK_LIFE) or f"{site}/{quote(key)}"
