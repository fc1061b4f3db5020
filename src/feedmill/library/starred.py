"""What a person starred, as a document that other programs understand: JSON Feed 1.1."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import datetime
from typing import Any

import msgspec

from feedmill.library.cursors import from_cursor
from feedmill.library.reading import Listed, Wanted, list_entries
from feedmill.library.render import render
from feedmill.model.feed import PRIVATE_MARK
from feedmill.model.reading import View
from feedmill.store.database import Database, Row
from feedmill.store.kept_texts import texts_of

MEDIA_TYPE = "application/feed+json"
AT_ONCE = 100

_BEGINNING = b'{"version":"https://jsonfeed.org/version/1.1","title":"Feedmill: starred","items":['


async def export_starred(db: Database, user_id: int, now: datetime) -> AsyncIterator[bytes]:
    """The document piece by piece, what was starred last first; images are those of their own sites."""
    wanted: Wanted | None = Wanted(View.STARRED, most=AT_ONCE)
    between = _BEGINNING
    while wanted:
        page = await list_entries(db, user_id, wanted, now)
        texts = await texts_of(db, user_id, [entry.id for entry in page.items])
        for entry in page.items:
            if entry.id in texts:
                yield between + msgspec.json.encode(_item(entry, texts[entry.id]))
                between = b","
        wanted = replace(wanted, beyond=from_cursor(page.next)) if page.next else None
    yield (b"" if between == b"," else between) + b"]}\n"


def _item(entry: Listed, text: Row) -> dict[str, Any]:
    html = render(text["content_html"] or text["summary"] or "", text["base_url"], {})
    item = {
        "id": text["guid"],
        "url": text["link"],
        "title": text["title"],
        "content_html": html,
        "image": text["image_url"],
        "date_published": text["published_at"],
        "authors": [{"name": text["author"]}] if text["author"] else None,
        "tags": [label.name for label in entry.labels] or None,
        "language": text["language"],
        "_feedmill": {
            "entry_id": entry.id,
            "feed_title": entry.feed_title,
            "feed_url": text["feed_url"].partition(PRIVATE_MARK)[0],
            "starred_at": text["starred_at"],
        },
    }
    return {name: value for name, value in item.items() if value is not None}
