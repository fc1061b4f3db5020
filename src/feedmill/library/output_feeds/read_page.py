"""Reads a page of an output feed, and renders its entries: safe HTML, archived images, titles of the source feeds.

Reading is cheap, and its digest tells whether a client has the page already. Only then are texts rendered.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b

import msgspec
from msgspec import Struct

from feedmill import __version__
from feedmill.html.plain_text import plain_text
from feedmill.html.sanitize import render_article_html
from feedmill.library.entries.list_entries import one_line, shown_link
from feedmill.library.entries.sync_entries import LONGEST_MADE_TITLE, NO_TITLE, ImageUrl
from feedmill.library.output_feeds.find_list import OutputPosition, find_list_page
from feedmill.model.parsed_feed import Enclosure
from feedmill.model.syndication.output_feed import OutputFeed, OutputListKind
from feedmill.model.timestamps import datetime_or_none, from_iso
from feedmill.model.user import Caller
from feedmill.store.archive.archived_images import archived_image_keys
from feedmill.store.database import Database
from feedmill.store.instance_state import init_instance_value, read_instance_value
from feedmill.store.output_feeds.output_feeds import record_output_feed_content
from feedmill.store.output_feeds.read_entries import (
    OutputEntryText,
    read_entries_of_pool_group,
    read_entries_of_user,
)

USUAL_ENTRIES, MOST_ENTRIES = 50, 200
# Characters of the texts of one page, beyond the first of its entries.
MAX_TEXT = 4_000_000
# What a filter hides is never unread. In another program it would be, so these lists leave it out.
WITHOUT_HIDDEN = (OutputListKind.ALL, OutputListKind.FEED, OutputListKind.FOLDER)
ID_NAMESPACE_SETTING = "output_feed_ids"


class SourceFeed(Struct, frozen=True):
    """The feed that an entry comes from. Not its URL, which may contain a secret of a subscriber."""

    id: str
    title: str
    site_url: str | None


class OutputEntry(Struct, frozen=True):
    """An entry of an output feed, with a title that is never empty. Ids are URNs."""

    id: str
    title: str
    link: str | None
    author: str
    html: str
    language: str | None
    image_url: str | None
    comments_url: str | None
    published_at: datetime | None
    updated_at: datetime
    categories: tuple[str, ...]
    enclosures: tuple[Enclosure, ...]
    source: SourceFeed


@dataclass(frozen=True, slots=True)
class OutputPage:
    """A page before its texts are rendered; `next` is the cursor of the page after it, None on the last page.

    `changed_at` is since when the first page is as it is; None for other pages, and if it is not known.
    """

    texts: list[OutputEntryText]
    image_keys: Mapping[int, Mapping[str, str]]
    id_namespace: uuid.UUID
    next: str | None
    digest: str
    changed_at: datetime | None


async def read_output_page(
    db: Database, who: Caller, feed: OutputFeed, cursor: str | None, most: int, now: datetime
) -> OutputPage:
    """A page of the feed; raises `NotFound` if its list is gone, or the cursor is not valid."""
    # One more than the page has, to know whether there is a next page.
    found = await find_list_page(db, who, feed.list, cursor, most + 1, now)
    texts, last = _cut(await _read_texts(db, who, feed, [position.entry_id for position in found[:most]]))
    following = _next_cursor(found, most, last)
    keys = await archived_image_keys(db, [text.id for text in texts])
    namespace = await _id_namespace(db)
    digest = _digest([__version__, str(namespace), feed.name, texts, list(keys.items()), following])
    is_first = cursor is None and most == USUAL_ENTRIES
    changed_at = await record_output_feed_content(db, feed, digest, now) if is_first else None
    return OutputPage(texts, keys, namespace, following, digest, changed_at)


def render_output_page(page: OutputPage, image_url: ImageUrl) -> list[OutputEntry]:
    """The entries of the page; takes long, so run it in a thread."""
    return [
        _render(text, page, {url: image_url(key) for url, key in page.image_keys[text.id].items()})
        for text in page.texts
    ]


def feed_urn(page: OutputPage, feed: OutputFeed) -> str:
    """The permanent id of the feed."""
    return _urn(page.id_namespace, "output feed", feed.id)


async def _read_texts(db: Database, who: Caller, feed: OutputFeed, ids: Sequence[int]) -> list[OutputEntryText]:
    if feed.list.kind is OutputListKind.POOL:
        return await read_entries_of_pool_group(db, who.user.id, feed.list.id, ids)
    return await read_entries_of_user(db, who.user.id, ids, with_hidden=feed.list.kind not in WITHOUT_HIDDEN)


def _cut(texts: list[OutputEntryText]) -> tuple[list[OutputEntryText], int | None]:
    """The texts up to `MAX_TEXT`, and the id of the last one if there are more."""
    length = 0
    for place, text in enumerate(texts):
        length += len(text.html)
        if length > MAX_TEXT and place:
            return texts[:place], texts[place - 1].id
    return texts, None


def _next_cursor(found: Sequence[OutputPosition], most: int, last_id: int | None) -> str | None:
    if last_id is not None:
        return next(position.cursor for position in found if position.entry_id == last_id)
    return found[most - 1].cursor if len(found) > most else None


async def _id_namespace(db: Database) -> uuid.UUID:
    """A random number of this instance, from which ids are made: an entry has the same id in all feeds."""
    known = await read_instance_value(db, ID_NAMESPACE_SETTING)
    return uuid.UUID(known or await init_instance_value(db, ID_NAMESPACE_SETTING, str(uuid.uuid4())))


def _urn(namespace: uuid.UUID, kind: str, id: int) -> str:
    return uuid.uuid5(namespace, f"{kind} {id}").urn


def _digest(content: object) -> str:
    return blake2b(msgspec.json.encode(content), digest_size=16).hexdigest()


def _render(text: OutputEntryText, page: OutputPage, archived: Mapping[str, str]) -> OutputEntry:
    html, link = render_article_html(text.html, text.base_url, archived), shown_link(text.link)
    feed_title = one_line(text.feed_title) or NO_TITLE
    image_url = text.image_url and archived.get(text.image_url, text.image_url)
    return OutputEntry(
        id=_urn(page.id_namespace, "entry", text.id),
        title=one_line(text.title) or plain_text(html, LONGEST_MADE_TITLE) or link or NO_TITLE,
        link=link,
        author=one_line(text.author) or feed_title,
        html=html,
        language=text.language,
        image_url=image_url,
        comments_url=shown_link(text.comments_url),
        published_at=datetime_or_none(text.published_at),
        updated_at=from_iso(text.updated_at),
        categories=text.categories,
        enclosures=text.enclosures,
        source=SourceFeed(_urn(page.id_namespace, "feed", text.feed_id), feed_title, text.site_url),
    )
