"""A parsed feed and its entries, before anything is decided or stored.

Structs and not dataclasses: creating a frozen dataclass with this many fields takes as long as parsing its values.
None of them can be part of a reference cycle, so the garbage collector need not track them.
"""

from datetime import datetime, timedelta

from msgspec import Struct


class Chapter(Struct, frozen=True, gc=False):
    """A part of an audio or video file, from `start` to the start of the next one."""

    start: timedelta
    title: str
    url: str | None = None


class Enclosure(Struct, frozen=True, gc=False):
    """A file attached to an entry; None where the feed has no value. Chapters are in the order of their starts."""

    url: str
    type: str | None = None
    length: int | None = None
    duration: timedelta | None = None
    chapters: tuple[Chapter, ...] = ()


class ParsedEntry(Struct, frozen=True, gc=False):
    """One entry of a feed; None where the feed has no value, or an unreadable one.

    `content_html` is the longest text, `summary` the feed's description; if that is the only text, both are that
    one. Times are aware and in UTC; `published_raw` and `updated_raw` are the original strings. `base_url` is the
    base of relative URLs in the texts, if the feed declares one (xml:base).
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
    """A feed and its entries in document order; None where the feed has no value, or an unreadable one.

    `id` is the permanent id of the feed: Atom's id, the rdf:about of an RSS 1.0 channel, a podcast:guid, a JSON Feed's
    feed_url.
    `self_url` is the address that the feed names as its own, which is its topic at a WebSub hub.
    `ttl`, `update_period`, `skip_hours` (0 to 23, GMT) and `skip_days` (0 is Monday) are the publisher's wishes
    about polling. `format` is like "rss20", "atom10", "jsonfeed11" or "cdf"; `encoding` is how the bytes were read.
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
    self_url: str | None = None
    format: str = ""
    encoding: str = "utf-8"
    is_truncated: bool = False
