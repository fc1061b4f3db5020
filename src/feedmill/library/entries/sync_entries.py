"""Entries for programs that synchronize: ids by state and scope, and safe texts with archived images."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from msgspec import Struct

from feedmill.errors import TooLarge
from feedmill.html.plain_text import plain_text
from feedmill.html.sanitize import render_article_html
from feedmill.i18n.messages import Message
from feedmill.library.entries.article import find_entry
from feedmill.library.entries.list_entries import one_line, shown_link
from feedmill.library.entries.marks import apply_marks
from feedmill.library.users.preferences import shows_stories_once
from feedmill.model.entry_marks import MAX_MARKED_AT_ONCE, EntryMarks, MarkAllRead
from feedmill.model.parsed_feed import Enclosure
from feedmill.model.sync_query import SyncQuery
from feedmill.model.timestamps import from_iso
from feedmill.model.user import User
from feedmill.store.archive.archived_images import archived_image_keys
from feedmill.store.database import Database
from feedmill.store.entries.mark_all_read import mark_unread_as_read
from feedmill.store.entries.sync.sync_entries import SyncedEntry, read_synced_entries
from feedmill.store.entries.sync.sync_ids import (
    count_sync_entries,
    find_sync_ids,
    last_id_seen_until,
    newest_unread_times,
)

# Entries of one request to the database; their texts are in memory at once.
CHUNK = 100
# Characters of the texts of one response.
MAX_TEXT = 100_000_000
LONGEST_MADE_TITLE = 80
NO_TITLE = "Untitled"

ImageUrl = Callable[[str], str]
"""The URL under which a program loads the archived image with this key."""


class RenderedEntry(Struct, frozen=True):
    """An entry with safe HTML and a title that is never empty."""

    id: int
    guid: str
    subscription_id: int
    feed_title: str
    site_url: str
    title: str
    link: str
    author: str
    html: str
    comments_url: str
    published_at: datetime
    first_seen_at: datetime
    is_unread: bool
    starred_at: datetime | None
    categories: tuple[str, ...]
    enclosures: tuple[Enclosure, ...]
    labels: tuple[str, ...]


async def sync_ids(db: Database, user_id: int, wanted: SyncQuery) -> list[int]:
    """The ids of the entries that `wanted` selects."""
    return await find_sync_ids(db, user_id, wanted)


async def count_entries(db: Database, user_id: int, wanted: SyncQuery) -> int:
    """How many entries `wanted` selects on all its pages."""
    return await count_sync_entries(db, user_id, wanted)


async def newest_unread(db: Database, user_id: int) -> dict[int, datetime]:
    """By subscription, when the newest of its unread entries was first seen."""
    return {id: from_iso(at) for id, at in (await newest_unread_times(db, user_id)).items()}


async def rendered_entries(db: Database, user_id: int, ids: Sequence[int], image_url: ImageUrl) -> list[RenderedEntry]:
    """The entries with these ids, in their order, without those that the user does not get.

    Raises `TooLarge` if their texts are too long to be in memory together.
    """
    found: list[RenderedEntry] = []
    length = 0
    for start in range(0, len(ids), CHUNK):
        chunk = await read_synced_entries(db, user_id, ids[start : start + CHUNK])
        keys = await archived_image_keys(db, [entry.id for entry in chunk])
        rendered = await asyncio.to_thread(_render_all, chunk, keys, image_url)
        found += rendered
        length += sum(len(entry.html) for entry in rendered)
        if length > MAX_TEXT:
            raise TooLarge(Message("error.texts_too_large"))
    return found


async def rendered_full_text(db: Database, user_id: int, entry_id: int, image_url: ImageUrl) -> str:
    """The safe HTML of the full text of an entry; of the feed's text if no full text was fetched."""
    entry = await find_entry(db, user_id, entry_id)
    if entry.full_html is None:
        return (await rendered_entries(db, user_id, [entry_id], image_url))[0].html
    keys = (await archived_image_keys(db, [entry_id]))[entry_id]
    archived = {url: image_url(key) for url, key in keys.items()}
    return await asyncio.to_thread(render_article_html, entry.full_html, entry.full_url, archived)


async def mark_in_chunks(db: Database, user: User, ids: Sequence[int], marks: EntryMarks, now: datetime) -> None:
    """Applies marks to any number of entries; those that the user may not see are passed over.

    What is read is read in all feeds that have it, unless the user prefers otherwise.
    """
    marks = replace(marks, whole_stories=shows_stories_once(user.settings))
    for start in range(0, len(ids), MAX_MARKED_AT_ONCE):
        await apply_marks(db, user.id, ids[start : start + MAX_MARKED_AT_ONCE], marks, now)


async def mark_read_seen_until(
    db: Database, user: User, wanted: MarkAllRead, seen_until: datetime | None, now: datetime
) -> None:
    """Marks all as read that `wanted` selects, but for entries that were first seen later than `seen_until`."""
    wanted = replace(wanted, whole_stories=shows_stories_once(user.settings))
    if seen_until is not None and seen_until < now:
        wanted = replace(wanted, up_to=await last_id_seen_until(db, seen_until))
    await mark_unread_as_read(db, user.id, wanted, now)


async def mark_starred_read(db: Database, user: User, seen_until: datetime | None, now: datetime) -> None:
    """Marks starred entries as read, but for those that were first seen later than `seen_until`."""
    wanted = SyncQuery(unread=True, starred=True, seen_until=seen_until, oldest_first=True)
    while ids := await sync_ids(db, user.id, wanted):
        await mark_in_chunks(db, user, ids, EntryMarks(read=True), now)
        wanted = replace(wanted, after_id=ids[-1])


def _render_all(
    entries: Sequence[SyncedEntry], keys: Mapping[int, Mapping[str, str]], image_url: ImageUrl
) -> list[RenderedEntry]:
    return [_render(entry, {url: image_url(key) for url, key in keys[entry.id].items()}) for entry in entries]


def _render(entry: SyncedEntry, archived: Mapping[str, str]) -> RenderedEntry:
    html, link = render_article_html(entry.html, entry.base_url, archived), shown_link(entry.link)
    return RenderedEntry(
        id=entry.id,
        guid=entry.guid,
        subscription_id=entry.subscription_id,
        feed_title=entry.feed_title or NO_TITLE,
        site_url=entry.site_url or "",
        title=one_line(entry.title) or plain_text(html, LONGEST_MADE_TITLE) or link or NO_TITLE,
        link=link or "",
        author=one_line(entry.author),
        html=html,
        comments_url=shown_link(entry.comments_url) or "",
        published_at=from_iso(entry.dated_at),
        first_seen_at=from_iso(entry.first_seen_at),
        is_unread=entry.is_unread,
        starred_at=from_iso(entry.starred_at) if entry.starred_at else None,
        categories=entry.categories,
        enclosures=entry.enclosures,
        labels=entry.labels,
    )
