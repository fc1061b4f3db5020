"""Reads one entry with its sanitized text, enclosures and neighbours."""

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from math import ceil
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from feedmill.archive.blobs import Blobs
from feedmill.errors import NotFound
from feedmill.html.drawings import svg_document
from feedmill.html.plain_text import plain_text
from feedmill.html.rewrite_tags import find_drawing
from feedmill.html.sanitize import render_article_html
from feedmill.i18n.messages import Message
from feedmill.library.archive.archived_images import image_urls
from feedmill.library.entries.list_entries import (
    EntryListQuery,
    EntrySummary,
    entry_summaries,
    one_line,
    raised_of_list,
    shown_link,
)
from feedmill.library.stories.also_in import copies_of_entries
from feedmill.model.entry_lists import EntryOrder, EntryView, ListPosition
from feedmill.model.parsed_feed import Enclosure
from feedmill.model.playback import PlaybackPosition
from feedmill.model.stories.story_copy import StoryCopy
from feedmill.run_in_thread import run_in_thread_if_large
from feedmill.store.database import Database
from feedmill.store.entries.list_pages import REVERSE_ORDER, find_positions
from feedmill.store.entries.playback_positions import positions_of_entry
from feedmill.store.entries.read_revisions import RevisionText, read_revision
from feedmill.store.entries.visible_entries import VisibleEntry, visible_entry

WORDS_A_MINUTE = 230
CHARACTERS_A_MINUTE = 400

# Scripts that are counted by character: kana, han, hangul.
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7ff]")


ArticleDrawingUrl = Callable[[int, bool, int], str]
"""The address that loads a drawing: of an entry, of its full text or of that of the feed, by its number there."""


class ArticleChapter(Struct, frozen=True, gc=False):
    """A part of an audio or video file; `start` in seconds."""

    start: float
    title: str
    url: str | None


class EnclosurePosition(Struct, frozen=True, gc=False):
    """How far the user has played a file, and when."""

    seconds: int
    played_at: datetime


class ArticleEnclosure(Struct, frozen=True, gc=False):
    """A file attached to an entry; None: the feed does not say, or the user has not played it."""

    url: str
    type: str | None
    length: int | None
    seconds: float | None
    chapters: tuple[ArticleChapter, ...]
    position: EnclosurePosition | None


class Article(EntrySummary, frozen=True, gc=False):
    """`version` is the number of the revision: 0 is the first text, `revisions` the newest.

    `raw_html` is the text as the feed sent it, if requested; `full_html` the full text of the linked page, if it was
    fetched. `link_as_sent` is the link with its tracking parameters, None if it has none. `also_in` is the same article
    in other feeds of the user.
    """

    html: str
    raw_html: str | None
    full_html: str | None
    version: int
    minutes: int
    categories: tuple[str, ...]
    enclosures: tuple[ArticleEnclosure, ...]
    comments_url: str | None
    also_in: tuple[StoryCopy, ...]
    link_as_sent: str | None
    previous_id: int | None
    next_id: int | None


class ArticleTexts(NamedTuple):
    """What is computed from an entry's texts each time that it is read."""

    html: str
    full_html: str | None
    minutes: int


async def read_article(
    db: Database,
    blobs: Blobs,
    user_id: int,
    entry_id: int,
    now: datetime,
    *,
    within: EntryListQuery | None = None,
    version: int | None = None,
    raw: bool = False,
    drawing_url: ArticleDrawingUrl | None = None,
) -> Article:
    """The entry in its newest version, or in `version`; with its neighbours in the list `within`.

    Drawings are left out without `drawing_url`.
    """
    stored = await find_entry(db, user_id, entry_id)
    number = stored.revision_count if version is None else version
    text = await find_revision(db, entry_id, number)
    [entry] = await entry_summaries(db, user_id, [entry_id])
    archived = (await image_urls(db, blobs, [entry_id]))[entry_id]
    before, after = (
        (None, None) if within is None else await neighbours(db, user_id, stored, within, now, is_raised=entry.raised)
    )
    html, full_html = text.html, stored.full_html
    shown: dict[str, Any] = msgspec.structs.asdict(entry) | {
        "title": one_line(text.title),
        "link": (link := shown_link(text.link)),
        "author": text.author,
    }
    texts = await run_in_thread_if_large(len(html) + len(full_html or ""), _texts, html, stored, archived, drawing_url)
    return Article(
        **shown,
        html=texts.html,
        raw_html=html if raw else None,
        full_html=texts.full_html,
        version=number,
        minutes=texts.minutes,
        categories=stored.categories,
        enclosures=await _enclosures(db, user_id, stored),
        comments_url=shown_link(stored.comments_url),
        also_in=tuple((await copies_of_entries(db, user_id, [entry_id])).get(entry_id, ())),
        link_as_sent=None if link == text.link else text.link,
        previous_id=before,
        next_id=after,
    )


async def find_entry(db: Database, user_id: int, entry_id: int) -> VisibleEntry:
    """The entry; `NotFound` if it does not exist or the user may not see it."""
    entry = await visible_entry(db, user_id, entry_id)
    if entry is None:
        raise NotFound(Message("error.no_such_entry"))
    return entry


async def find_revision(db: Database, entry_id: int, number: int) -> RevisionText:
    text = await read_revision(db, entry_id, number)
    if text is None:
        raise NotFound(Message("error.no_such_revision"))
    return text


async def read_drawing(db: Database, user_id: int, entry_id: int, is_full: bool, number: int) -> str | None:
    """A drawing of the entry's text, as an SVG document; None if there is none that can be shown."""
    stored = await find_entry(db, user_id, entry_id)
    html = stored.full_html or "" if is_full else (await find_revision(db, entry_id, stored.revision_count)).html
    return await run_in_thread_if_large(len(html), _drawing, html, number)


def _drawing(html: str, number: int) -> str | None:
    found = find_drawing(html, number)
    return svg_document(found) if found else None


async def neighbours(
    db: Database, user_id: int, entry: VisibleEntry, within: EntryListQuery, now: datetime, *, is_raised: bool = False
) -> tuple[int | None, int | None]:
    """The entries before and after this one in a list; None if it is not in the list.

    An entry that filters raised has a place among those that the list shows first also after it was read.
    """
    at = list_time(entry, within)
    if at is None:
        return None, None
    here, raised = ListPosition(at, entry.id), await raised_of_list(db, user_id, within, now)

    async def next_to(place: ListPosition, order: EntryOrder) -> int | None:
        found = await find_positions(db, user_id, within.beyond_place(place, 1, order, raised.left_out), now)
        return found[0].entry_id if found and found[0].at >= within.oldest else None

    if is_raised and raised.has_place_for(here, within.order):
        before, after = raised.around(here, within.order)
        return before, after or await next_to(within.start, within.order)
    before = await next_to(here, REVERSE_ORDER[within.order])
    return before or raised.last_id, await next_to(here, within.order)


def list_time(entry: VisibleEntry, within: EntryListQuery) -> str | None:
    """The time by which a list orders the entry; None if it is not in the list."""
    if within.scope.label_id is not None:
        return entry.sort_at
    match within.view:
        case EntryView.STARRED:
            return entry.starred_at
        case EntryView.LATER:
            return entry.later_at
        case EntryView.HISTORY:
            return entry.read_at
    return entry.sort_at


def _texts(
    html: str, entry: VisibleEntry, archived: Mapping[str, str], drawing_url: ArticleDrawingUrl | None
) -> ArticleTexts:
    of_feed, of_page = (drawing_url and partial(drawing_url, entry.id, is_full) for is_full in (False, True))
    return ArticleTexts(
        render_article_html(html, entry.base_url, archived, of_feed),
        render_article_html(entry.full_html, entry.full_url, archived, of_page) if entry.full_html else None,
        reading_minutes(entry.full_html or html),
    )


async def _enclosures(db: Database, user_id: int, entry: VisibleEntry) -> tuple[ArticleEnclosure, ...]:
    positions = await positions_of_entry(db, user_id, entry.id) if entry.enclosures else {}
    return tuple(_enclosure(file, positions.get(place)) for place, file in enumerate(entry.enclosures))


def _enclosure(stored: Enclosure, position: PlaybackPosition | None) -> ArticleEnclosure:
    return ArticleEnclosure(
        stored.url,
        stored.type,
        stored.length,
        stored.duration.total_seconds() if stored.duration else None,
        tuple(ArticleChapter(each.start.total_seconds(), each.title, each.url) for each in stored.chapters),
        EnclosurePosition(position.seconds, position.played_at) if position else None,
    )


def reading_minutes(html: str) -> int:
    """The reading time in minutes, rounded up; 0 if there is nothing to read."""
    words, characters = _UNSPACED.subn(" ", plain_text(html, None))
    return ceil(len(words.split()) / WORDS_A_MINUTE + characters / CHARACTERS_A_MINUTE)
