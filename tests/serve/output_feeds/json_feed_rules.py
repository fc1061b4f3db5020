"""The rules of JSON Feed 1.1 that a document can break."""

import json
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import Any

TOP = {"version", "title", "home_page_url", "feed_url", "next_url", "hubs", "items"}
ITEM = {"id", "url", "title", "content_html", "image", "date_published", "date_modified", "authors", "tags"}
ITEM |= {"language", "attachments"}
ATTACHMENT = {"url", "mime_type", "size_in_bytes", "duration_in_seconds"}


def json_feed_problems(document: bytes) -> list[str]:
    """What a document breaks; empty for a valid one."""
    feed = json.loads(document)
    return [*_top(feed), *(problem for item in feed.get("items", []) for problem in _item(item))]


def _top(feed: dict[str, Any]) -> Iterator[str]:
    if feed.get("version") != "https://jsonfeed.org/version/1.1":
        yield "version"
    if not isinstance(feed.get("title"), str) or not isinstance(feed.get("items"), list):
        yield "title and items are required"
    yield from (f"{name} is not known" for name in feed if name not in TOP)
    yield from (f"{name} is null" for name, value in feed.items() if value is None)
    counts = Counter(item.get("id") for item in feed.get("items", []))
    yield from (f"{n} items have the id {id}" for id, n in counts.items() if n > 1)
    if feed.get("next_url") == feed.get("feed_url"):
        yield "next_url must not be the same as feed_url"


def _item(item: dict[str, Any]) -> Iterator[str]:
    if not isinstance(item.get("id"), str) or not item["id"]:
        yield "id is required, and is text"
    if "content_html" not in item and "content_text" not in item:
        yield "an item has no content"
    yield from (f"{name} is not known" for name in item if name not in ITEM and not name.startswith("_"))
    yield from (f"{name} is null" for name, value in item.items() if value is None)
    for name in ("date_published", "date_modified"):
        if name in item and datetime.fromisoformat(item[name]).tzinfo is None:
            yield f"{name} has no time zone"
    for author in item.get("authors", []):
        if not author:
            yield "an author needs a name, url or avatar"
    for attachment in item.get("attachments", []):
        if not {"url", "mime_type"} <= attachment.keys() <= ATTACHMENT:
            yield "an attachment has url and mime_type"
