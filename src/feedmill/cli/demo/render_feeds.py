"""Writes the feeds of the demo as RSS, Atom and JSON Feed."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from email.utils import format_datetime
from html import escape
from typing import Any

from feedmill.cli.demo.demo_feeds import DemoEntry, DemoFeed
from feedmill.model.timestamps import to_iso

MEDIA_TYPES = {"rss": "application/rss+xml", "atom": "application/atom+xml", "json": "application/feed+json"}
AUDIO_SECONDS = 6


@dataclass(frozen=True, slots=True)
class FeedRenderer:
    """Renders feeds for the address and the start of their server; `stories` are the texts that feeds share."""

    origin: str
    start: datetime
    stories: Mapping[str, str]

    def render(self, feed: DemoFeed, entries: Sequence[tuple[int, DemoEntry]]) -> bytes:
        """The feed with these entries and their numbers, the newest first."""
        match feed.format:
            case "rss":
                return self._rss(feed, entries).encode()
            case "atom":
                return self._atom(feed, entries).encode()
            case "json":
                return json.dumps(self._json(feed, entries), ensure_ascii=False).encode()

    def entry_html(self, entry: DemoEntry) -> str:
        """The text of an entry, with its picture above it."""
        text = self.stories[entry.story] if entry.story else entry.html
        if not entry.picture:
            return text.strip()
        image = f'<img src="{self.origin}/pictures/{entry.picture}.png" alt="{escape(entry.caption)}">'
        return f"<figure>{image}<figcaption>{escape(entry.caption)}</figcaption></figure>{text}".strip()

    def _link(self, feed: DemoFeed, number: int) -> str:
        return f"{self.origin}/articles/{feed.path}/{number}"

    def _icon(self, feed: DemoFeed) -> str:
        return f"{self.origin}/pictures/icon-{feed.icon}.png"

    def _rss(self, feed: DemoFeed, entries: Sequence[tuple[int, DemoEntry]]) -> str:
        items = "".join(self._rss_item(feed, number, entry) for number, entry in entries)
        return (
            '<?xml version="1.0" encoding="utf-8"?><rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/" '
            'xmlns:content="http://purl.org/rss/1.0/modules/content/" '
            'xmlns:webfeeds="http://webfeeds.org/rss/1.0" '
            'xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"><channel>'
            f"<title>{escape(feed.title)}</title><link>{self.origin}/{feed.path}</link>"
            f"<language>{feed.language}</language><webfeeds:icon>{self._icon(feed)}</webfeeds:icon>{items}</channel></rss>"
        )

    def _rss_item(self, feed: DemoFeed, number: int, entry: DemoEntry) -> str:
        author = f"<dc:creator>{escape(entry.author)}</dc:creator>" if entry.author else ""
        sound = f'<enclosure url="{self.origin}/audio/{entry.audio}" type="audio/wav" length="96044"/>'
        duration = f"<itunes:duration>{AUDIO_SECONDS}</itunes:duration>"
        return (
            f'<item><title>{escape(entry.title)}</title><guid isPermaLink="false">{feed.guid(number)}</guid>'
            f"<link>{self._link(feed, number)}</link>{author}"
            f"<pubDate>{format_datetime(entry.published(self.start), usegmt=True)}</pubDate>"
            f"<content:encoded>{escape(self.entry_html(entry))}</content:encoded>"
            f"{sound + duration if entry.audio else ''}</item>"
        )

    def _atom(self, feed: DemoFeed, entries: Sequence[tuple[int, DemoEntry]]) -> str:
        newest = max((entry.published(self.start) for _, entry in entries), default=self.start)
        return (
            f'<?xml version="1.0" encoding="utf-8"?><feed xmlns="http://www.w3.org/2005/Atom" '
            f'xml:lang="{feed.language}"><id>{self.origin}/{feed.path}</id><title>{escape(feed.title)}</title>'
            f'<link href="{self.origin}/{feed.path}"/><icon>{self._icon(feed)}</icon>'
            f"<updated>{to_iso(newest)}</updated>"
            + "".join(self._atom_entry(feed, number, entry) for number, entry in entries)
            + "</feed>"
        )

    def _atom_entry(self, feed: DemoFeed, number: int, entry: DemoEntry) -> str:
        author = f"<author><name>{escape(entry.author)}</name></author>" if entry.author else ""
        at = to_iso(entry.published(self.start))
        return (
            f"<entry><id>{feed.guid(number)}</id><title>{escape(entry.title)}</title>{author}"
            f'<link href="{self._link(feed, number)}"/><published>{at}</published><updated>{at}</updated>'
            f'<content type="html">{escape(self.entry_html(entry))}</content></entry>'
        )

    def _json(self, feed: DemoFeed, entries: Sequence[tuple[int, DemoEntry]]) -> dict[str, Any]:
        return {
            "version": "https://jsonfeed.org/version/1.1",
            "title": feed.title,
            "home_page_url": f"{self.origin}/{feed.path}",
            "language": feed.language,
            "favicon": self._icon(feed),
            "items": [self._json_item(feed, number, entry) for number, entry in entries],
        }

    def _json_item(self, feed: DemoFeed, number: int, entry: DemoEntry) -> dict[str, Any]:
        return {
            "id": feed.guid(number),
            "url": self._link(feed, number),
            "title": entry.title,
            "content_html": self.entry_html(entry),
            "date_published": to_iso(entry.published(self.start)),
            "authors": [{"name": entry.author}] if entry.author else [],
        }
