"""What a feed offers against what we have: what is new, what was changed, what has left. Pure."""

import re
from collections.abc import Container, Mapping
from dataclasses import replace
from datetime import datetime
from hashlib import blake2b

from feedmill.collect.html import image_addresses
from feedmill.collect.identify import identify
from feedmill.model.parsed import ParsedEntry, ParsedFeed
from feedmill.model.refresh import Changes, Known, NewEntry, Revision

# A feed whose texts differ at each fetch (a counter, an advertisement) must not fill the disk.
MOST_REVISIONS = 20
# D1 keeps no row above 2 MB. The raw body has the whole text.
LONGEST_TEXT = 450_000
LONGEST_CONTENT = 1_000_000
# No database of ours keeps NUL in text, and half a surrogate pair is no character.
UNKEEPABLE = re.compile("[\x00\ud800-\udfff]")
IMAGE_LIMIT = 200


def offered(parsed: ParsedFeed) -> dict[str, ParsedEntry]:
    """The entries by identity, in document order; of true repeats the first stays."""
    entries: dict[str, ParsedEntry] = {}
    for guid, entry in zip(identify(parsed.entries), parsed.entries, strict=True):
        entries.setdefault(UNKEEPABLE.sub("", guid) or "?", entry)
    return entries


def reconcile(
    entries: Mapping[str, ParsedEntry], known: Mapping[str, Known], purged: Container[str], now: datetime,
    *, site_url: str | None, with_images: bool,
) -> Changes:  # fmt: skip
    """The changes that bring the store to what the feed offers now."""
    new, revised, returned = [], [], []
    # Feeds list the newest first; stored the other way round, later ids are newer.
    for guid, entry in reversed(list(entries.items())):
        have = known.get(guid)
        if have is None:
            if guid not in purged:
                new.append(_new_entry(guid, entry, now, site_url, with_images))
            continue
        revised += _revision(have, entry)
        if not have.in_feed:
            returned.append(have.id)
    in_feed = {guid: have.id for guid, have in known.items() if have.in_feed}
    return Changes(
        new=tuple(new),
        revised=tuple(revised),
        returned=tuple(returned),
        dropped=tuple(id for guid, id in in_feed.items() if guid not in entries),
        overflows=bool(in_feed and entries) and in_feed.keys().isdisjoint(entries),
    )


def _new_entry(guid: str, entry: ParsedEntry, now: datetime, site_url: str | None, with_images: bool) -> NewEntry:
    entry, digest = _keepable(entry)
    published_at = entry.published_at or entry.updated_at or now
    base_url = entry.base_url or entry.link or site_url
    html = entry.content_html or ""
    return NewEntry(
        guid=guid,
        digest=digest,
        sort_at=min(published_at, now),
        published_at=published_at,
        updated_at=entry.updated_at,
        link=entry.link,
        title=entry.title,
        author=entry.author,
        # With one text only the parser gives it twice; it is kept once.
        summary=None if entry.summary == entry.content_html else entry.summary,
        content_html=entry.content_html,
        base_url=base_url,
        language=entry.language,
        image_url=entry.image_url,
        comments_url=entry.comments_url,
        categories=entry.categories,
        enclosures=entry.enclosures,
        images=tuple(image_addresses(html, base_url, IMAGE_LIMIT)) if with_images and "<" in html else (),
    )


def _revision(have: Known, entry: ParsedEntry) -> list[Revision]:
    entry, digest = _keepable(entry)
    if digest == have.digest or have.revision_count >= MOST_REVISIONS:
        return []
    return [
        Revision(
            entry_id=have.id,
            number=have.revision_count + 1,
            digest=digest,
            link=entry.link,
            title=entry.title,
            author=entry.author,
            summary=None if entry.summary == entry.content_html else entry.summary,
            content_html=entry.content_html,
        )
    ]


def _keepable(entry: ParsedEntry) -> tuple[ParsedEntry, str]:
    """The entry in a form that every database can keep, and the digest that tells its versions apart."""
    texts = (entry.title, entry.link, entry.author, entry.summary, entry.content_html)
    try:
        told = "\x1f".join([text or "" for text in texts]).encode()
        clean = b"\x00" not in told and len(told) <= LONGEST_TEXT
    except UnicodeEncodeError:
        clean = False
    if not clean or not entry.categories == () and UNKEEPABLE.search("".join(entry.categories)):
        entry = _cleaned(entry)
        told = "\x1f".join([text or "" for text in (entry.title, entry.link, entry.author, entry.content_html)]).encode()
    return entry, blake2b(told, digest_size=16).hexdigest()


def _cleaned(entry: ParsedEntry) -> ParsedEntry:
    names = ("guid", "link", "title", "author", "summary", "image_url", "comments_url", "language", "base_url")
    texts = {name: _clean(getattr(entry, name), LONGEST_TEXT) for name in names}
    categories = tuple(UNKEEPABLE.sub("", category) for category in entry.categories)
    return replace(entry, content_html=_clean(entry.content_html, LONGEST_CONTENT), categories=categories, **texts)  # type: ignore[arg-type]


def _clean(text: str | None, longest: int) -> str | None:
    return None if text is None else UNKEEPABLE.sub("", text)[:longest]
