"""Writes an output feed as JSON Feed 1.1."""

from typing import Any

import msgspec

from feedmill.library.output_feeds.read_page import OutputEntry
from feedmill.model.parsed_feed import Enclosure
from feedmill.model.timestamps import iso_or_none, to_iso
from feedmill.serve.output_feeds.document import GENERATOR_URL, OutputDocument

MEDIA_TYPE = "application/feed+json"
VERSION = "https://jsonfeed.org/version/1.1"


def write_json_feed(document: OutputDocument) -> bytes:
    """The document in UTF-8."""
    feed: dict[str, Any] = {
        "version": VERSION,
        "title": document.title,
        "home_page_url": document.home_url,
        "feed_url": document.address.url,
        "next_url": document.next_url,
        "hubs": [{"type": "WebSub", "url": document.hub_url}] if document.hub_url else None,
        "items": [_item(entry) for entry in document.entries],
    }
    return msgspec.json.encode(_without_nulls(feed))


def _item(entry: OutputEntry) -> dict[str, Any]:
    item = {
        "id": entry.id,
        "url": entry.link,
        "title": entry.title,
        "content_html": entry.html,
        "image": entry.image_url,
        "date_published": iso_or_none(entry.published_at),
        "date_modified": to_iso(entry.updated_at),
        "authors": [_without_nulls({"name": entry.author})],
        "tags": list(entry.categories) or None,
        "language": entry.language,
        "attachments": [_attachment(each) for each in entry.enclosures] or None,
        # JSON Feed has no place for the feed that an item comes from; names of extensions begin with an underscore.
        "_source": _without_nulls(
            {
                "about": GENERATOR_URL,
                "id": entry.source.id,
                "title": entry.source.title,
                "url": entry.source.site_url,
            }
        ),
    }
    return _without_nulls(item)


def _attachment(enclosure: Enclosure) -> dict[str, Any]:
    seconds = enclosure.duration.total_seconds() if enclosure.duration else None
    return _without_nulls(
        {
            "url": enclosure.url,
            # Required by the format.
            "mime_type": enclosure.type or "application/octet-stream",
            "size_in_bytes": enclosure.length,
            "duration_in_seconds": seconds,
        }
    )


def _without_nulls(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
