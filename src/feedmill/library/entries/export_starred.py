"""Exports a user's starred entries as JSON Feed 1.1."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import datetime
from typing import Any

import msgspec

from feedmill.html.sanitize import render_article_html
from feedmill.library.cursors import from_cursor
from feedmill.library.entries.list_entries import EntryListQuery, EntrySummary, list_entries
from feedmill.model.entry_lists import EntryView
from feedmill.model.feed import without_owner
from feedmill.run_in_thread import run_in_thread_if_large
from feedmill.store.database import Database
from feedmill.store.entries.newest_texts import NewestText, newest_texts

MEDIA_TYPE = "application/feed+json"
AT_ONCE = 100

_BEGINNING = b'{"version":"https://jsonfeed.org/version/1.1","title":"Feedmill: starred","items":['


async def export_starred(db: Database, user_id: int, now: datetime) -> AsyncIterator[bytes]:
    """The document in chunks, the last starred entry first; images keep their original URLs."""
    query: EntryListQuery | None = EntryListQuery(EntryView.STARRED, most=AT_ONCE)
    between = _BEGINNING
    while query:
        page = await list_entries(db, user_id, query, now)
        texts = await newest_texts(db, user_id, [entry.id for entry in page.items])
        for entry in page.items:
            if entry.id in texts:
                yield between + msgspec.json.encode(await _item(entry, texts[entry.id]))
                between = b","
        query = replace(query, beyond=from_cursor(page.next)) if page.next else None
    yield (b"" if between == b"," else between) + b"]}\n"


async def _item(entry: EntrySummary, text: NewestText) -> dict[str, Any]:
    html = text.html
    safe = await run_in_thread_if_large(len(html), render_article_html, html, text.base_url, keep_trackers=True)
    item = {
        "id": text.guid,
        "url": text.link,
        "title": text.title,
        "content_html": safe,
        "image": text.image_url,
        "date_published": None if entry.undated else text.published_at,
        "authors": [{"name": text.author}] if text.author else None,
        "tags": [label.name for label in entry.labels] or None,
        "language": text.language,
        "_feedmill": {
            "entry_id": entry.id,
            "feed_title": entry.feed_title,
            "feed_url": without_owner(text.feed_url),
            "starred_at": text.starred_at,
        },
    }
    return {name: value for name, value in item.items() if value is not None}
