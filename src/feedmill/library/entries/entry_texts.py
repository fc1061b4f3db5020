"""Entries with their texts, many at once, for programs that keep a copy."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from feedmill.archive.blobs import Blobs
from feedmill.errors import TooLarge
from feedmill.html.sanitize import render_article_html
from feedmill.i18n.messages import Message
from feedmill.library.archive.archived_images import image_urls
from feedmill.library.entries.list_entries import EntrySummary, entry_summaries
from feedmill.library.entries.sync_entries import CHUNK, MAX_TEXT
from feedmill.store.database import Database
from feedmill.store.entries.newest_texts import NewestText, newest_texts


@dataclass(frozen=True, slots=True)
class EntryText:
    """An entry with its newest text as safe HTML."""

    entry: EntrySummary
    html: str


async def entry_texts(db: Database, blobs: Blobs, user_id: int, ids: Sequence[int]) -> list[EntryText]:
    """Those of these entries that the user may see, in their order. `TooLarge` if their texts are too long."""
    found: list[EntryText] = []
    for start in range(0, len(ids), CHUNK):
        entries = await entry_summaries(db, user_id, list(dict.fromkeys(ids[start : start + CHUNK])))
        seen = [entry.id for entry in entries]
        texts, images = await newest_texts(db, user_id, seen), await image_urls(db, blobs, seen)
        html = await asyncio.to_thread(_render_all, texts, images)
        found += [EntryText(entry, html[entry.id]) for entry in entries if entry.id in html]
        if sum(len(each.html) for each in found) > MAX_TEXT:
            raise TooLarge(Message("error.texts_too_large"))
    return found


def _render_all(texts: Mapping[int, NewestText], images: Mapping[int, Mapping[str, str]]) -> dict[int, str]:
    return {id: render_article_html(text.html, text.base_url, images.get(id, {})) for id, text in texts.items()}
