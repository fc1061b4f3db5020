"""Entries and their enclosures in the shapes of the Miniflux API.

An enclosure has no id of its own in Feedmill: its id here is made from the entry and its place there.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.requests import Request

from feedmill.app import App
from feedmill.errors import NotFound
from feedmill.i18n.messages import Message
from feedmill.library.entries.article import reading_minutes
from feedmill.library.entries.playback import played_seconds
from feedmill.library.entries.sync_entries import RenderedEntry, rendered_entries
from feedmill.model.user import Caller
from feedmill.serve.http.app_images import image_urls_for
from feedmill.serve.miniflux.responses import rfc3339
from feedmill.serve.miniflux.user_feeds import UserFeeds

# No entry has more: the parser of enclosures stops there.
ENCLOSURES_PER_ENTRY = 100

Seconds = Mapping[tuple[int, int], int]
"""By entry and place of the enclosure, how far it was played."""


async def read_rendered(request: Request, who: Caller, ids: Sequence[int]) -> list[RenderedEntry]:
    """The entries with images that this app can load."""
    app: App = request.app.state.app
    assert who.app_password is not None
    return await rendered_entries(app.db, who.user.id, ids, image_urls_for(request, who.app_password.id))


async def find_rendered(request: Request, who: Caller, entry_id: int) -> RenderedEntry:
    found = await read_rendered(request, who, [entry_id])
    if not found:
        raise NotFound(Message("error.no_such_entry"))
    return found[0]


async def entry_shapes(
    request: Request, who: Caller, user_feeds: UserFeeds, entries: Sequence[RenderedEntry]
) -> list[dict[str, Any]]:
    seconds = await read_seconds(request, who, entries)
    # In a thread, because the reading time takes as long as the text is.
    return await asyncio.to_thread(lambda: [_entry(user_feeds, entry, seconds) for entry in entries])


async def read_seconds(request: Request, who: Caller, entries: Sequence[RenderedEntry]) -> Seconds:
    app: App = request.app.state.app
    return await played_seconds(app.db, who.user.id, [entry.id for entry in entries if entry.enclosures])


def parse_enclosure_id(id: int) -> tuple[int, int]:
    """The entry, and the place of the enclosure in it."""
    return divmod(id, ENCLOSURES_PER_ENTRY)


def enclosure_shape(user_id: int, entry: RenderedEntry, place: int, seconds: Seconds) -> dict[str, Any]:
    enclosure = entry.enclosures[place]
    return {
        "id": entry.id * ENCLOSURES_PER_ENTRY + place,
        "user_id": user_id,
        "entry_id": entry.id,
        "url": enclosure.url,
        "mime_type": enclosure.type or "",
        "size": enclosure.length or 0,
        "media_progression": seconds.get((entry.id, place), 0),
    }


def _entry(user_feeds: UserFeeds, entry: RenderedEntry, seconds: Seconds) -> dict[str, Any]:
    places = range(len(entry.enclosures))
    return {
        "id": entry.id,
        "user_id": user_feeds.user_id,
        "feed_id": entry.subscription_id,
        "status": "unread" if entry.is_unread else "read",
        "hash": entry.guid,
        "title": entry.title,
        "url": entry.link,
        "comments_url": entry.comments_url,
        "published_at": rfc3339(entry.published_at),
        "created_at": rfc3339(entry.first_seen_at),
        "changed_at": rfc3339(entry.starred_at or entry.first_seen_at),
        "content": entry.html,
        "author": entry.author,
        "share_code": "",
        "starred": entry.starred_at is not None,
        "reading_time": reading_minutes(entry.html),
        "enclosures": [enclosure_shape(user_feeds.user_id, entry, place, seconds) for place in places],
        "feed": user_feeds.feed(user_feeds.find_subscription(entry.subscription_id)),
        "tags": list(dict.fromkeys([*entry.labels, *entry.categories])),
    }
