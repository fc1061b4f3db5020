"""A parsed feed and its entries, before anything is decided or stored.

Structs and not dataclasses: a frozen dataclass of so many fields takes as long to make as to read from the document.
None of them can be part of a cycle, so the collector need not watch them.
"""

from datetime import datetime, timedelta

from msgspec import Struct


class Enclosure(Struct, frozen=True, gc=False):
    """A file that an entry carries; None is what the feed does not say."""

    url: str
    type: str | None = None
    length: int | None = None
    duration: timedelta | None = None


class ParsedEntry(Struct, frozen=True, gc=False):
    """One entry as the feed gives it; None means that the feed does not say, or says it unreadably.

    `content_html` is the fullest text there is, `summary` what the feed offers as its description: with one text
    only, both are that one. Times are aware and in UTC; `published_raw` and `updated_raw` keep the feed's words.
    `base_url` is what relative addresses inside the texts refer to, when the feed says so (xml:base).
    """

    guid: str | None = None
    link: str | None = None
    title: str | None = None
    author: str | None = None
    content_html: str | None = None
    summary: str | None = None
    published_at: datetime | None = None
    updated_at: datetime | None = None
    published_raw: str | None = None
    updated_raw: str | None = None
    categories: tuple[str, ...] = ()
    enclosures: tuple[Enclosure, ...] = ()
    image_url: str | None = None
    comments_url: str | None = None
    language: str | None = None
    base_url: str | None = None


class ParsedFeed(Struct, frozen=True, gc=False):
    """A feed and its entries in document order; None means that the feed does not say, or says it unreadably.

    `id` is what the feed is called for good: Atom's id, the rdf:about of an RSS 1.0 channel, a JSON Feed's feed_url.
    `ttl`, `update_period`, `skip_hours` (0 to 23, GMT) and `skip_days` (0 is Monday) are the publisher's wishes
    about polling. `format` is like "rss20", "atom10" or "jsonfeed11"; `encoding` is how the bytes were read.
    `is_truncated`: the document ends before it is complete, so there may be more entries than these.
    """

    id: str | None = None
    title: str | None = None
    link: str | None = None
    description: str | None = None
    author: str | None = None
    language: str | None = None
    image_url: str | None = None
    icon_url: str | None = None
    published_at: datetime | None = None
    updated_at: datetime | None = None
    categories: tuple[str, ...] = ()
    entries: tuple[ParsedEntry, ...] = ()
    updated_raw: str | None = None
    ttl: timedelta | None = None
    update_period: timedelta | None = None
    skip_hours: frozenset[int] = frozenset()
    skip_days: frozenset[int] = frozenset()
    hub_url: str | None = None
    format: str = ""
    encoding: str = "utf-8"
    is_truncated: bool = False
