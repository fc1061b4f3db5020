"""An entry to be read: its text, safe to show, and what belongs to it."""

import re
from datetime import datetime
from math import ceil
from typing import Any

import msgspec
from msgspec import Struct

from feedmill.archive.blobs import Blobs
from feedmill.collect.html import plain_text
from feedmill.errors import NotFound
from feedmill.library.images import image_urls
from feedmill.library.reading import Listed, Wanted, listed, one_line
from feedmill.library.render import render
from feedmill.model import parsed
from feedmill.model.reading import Order, Place, View
from feedmill.store.database import Database, Row
from feedmill.store.listing import OPPOSITE, find_places
from feedmill.store.shown import whole_entry
from feedmill.store.versions import read_version

WORDS_A_MINUTE = 230
CHARACTERS_A_MINUTE = 400

# Scripts that are read by the character: kana, han, hangul.
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7ff]")
_STANDS_BY = {View.STARRED: "starred_at", View.LATER: "later_at", View.HISTORY: "read_at"}


class Enclosure(Struct, frozen=True, gc=False):
    """A file that comes with an entry; None is what the feed does not say."""

    url: str
    type: str | None
    length: int | None
    seconds: float | None


class Article(Listed, frozen=True, gc=False):
    """`version` says which text this is: 0 the first that came, `revisions` the newest.

    `raw_html` is the text as it came, where that was asked for; `full_html` the whole article behind the entry, once
    somebody had it fetched.
    """

    html: str
    raw_html: str | None
    full_html: str | None
    version: int
    minutes: int
    categories: tuple[str, ...]
    enclosures: tuple[Enclosure, ...]
    comments_url: str | None
    previous_id: int | None
    next_id: int | None


async def read_article(
    db: Database, blobs: Blobs, user_id: int, entry_id: int, now: datetime,
    *, within: Wanted | None = None, version: int | None = None, raw: bool = False,
) -> Article:  # fmt: skip
    """The entry in its newest version or in another one; with its neighbours in the list that it is read in."""
    row = await find_entry(db, user_id, entry_id)
    number = row["revision_count"] if version is None else version
    text = await find_version(db, entry_id, number)
    [entry] = await listed(db, user_id, [entry_id])
    archived = (await image_urls(db, blobs, [entry_id]))[entry_id]
    before, after = (None, None) if within is None else await neighbours(db, user_id, row, within, now)
    html, full_html = text["content_html"] or text["summary"] or "", row["full_html"]
    shown: dict[str, Any] = msgspec.structs.asdict(entry) | {
        "title": one_line(text["title"]), "link": text["link"], "author": text["author"],
    }  # fmt: skip
    return Article(
        **shown,
        html=render(html, row["base_url"], archived),
        raw_html=html if raw else None,
        full_html=render(full_html, row["full_url"], archived) if full_html else None,
        version=number,
        minutes=reading_minutes(full_html or html),
        categories=msgspec.json.decode(row["categories"] or "[]", type=tuple[str, ...]),
        enclosures=_enclosures(row),
        comments_url=row["comments_url"],
        previous_id=before,
        next_id=after,
    )


async def find_entry(db: Database, user_id: int, entry_id: int) -> Row:
    """All that is kept of an entry; `NotFound` when there is none for this user."""
    row = await whole_entry(db, user_id, entry_id)
    if row is None:
        raise NotFound("there is no such entry")
    return row


async def find_version(db: Database, entry_id: int, number: int) -> Row:
    text = await read_version(db, entry_id, number)
    if text is None:
        raise NotFound("there is no such version of the entry")
    return text


async def neighbours(
    db: Database, user_id: int, entry: Row, within: Wanted, now: datetime
) -> tuple[int | None, int | None]:
    """The entries before and after this one in a list; none when it does not stand in it."""
    at = entry["sort_at"] if within.scope.label_id is not None else entry[_STANDS_BY.get(within.view, "sort_at")]
    if at is None:
        return None, None
    here = Place(at, entry["id"])

    async def next_to(order: Order) -> int | None:
        found = await find_places(db, user_id, within.beyond_place(here, 1, order), now)
        return found[0].entry_id if found and found[0].at >= within.oldest else None

    return await next_to(OPPOSITE[within.order]), await next_to(within.order)


def _enclosures(entry: Row) -> tuple[Enclosure, ...]:
    kept = msgspec.json.decode(entry["enclosures"] or "[]", type=tuple[parsed.Enclosure, ...])
    return tuple(
        Enclosure(each.url, each.type, each.length, each.duration.total_seconds() if each.duration else None)
        for each in kept
    )


def reading_minutes(html: str) -> int:
    """How long a person reads, at least a minute."""
    words, characters = _UNSPACED.subn(" ", plain_text(html, None))
    return max(1, ceil(len(words.split()) / WORDS_A_MINUTE + characters / CHARACTERS_A_MINUTE))
