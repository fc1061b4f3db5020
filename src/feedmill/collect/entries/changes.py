"""Compares the entries of a feed with the stored ones: new, revised, returned, dropped, renamed. Pure."""

from collections.abc import Container, Mapping, Sequence
from datetime import UTC, datetime

from feedmill.absolute_urls import absolute_url
from feedmill.collect.entries.changed_guids import (
    OfferedEntry,
    match_changed_guids,
    match_returned_entries,
)
from feedmill.collect.entries.identity import identify_entries, identity_with_link
from feedmill.collect.entries.storable_entry import storable_entry
from feedmill.collect.entries.storable_text import storable_identity
from feedmill.html.images import find_image_urls
from feedmill.model.parsed_feed import ParsedEntry, ParsedFeed
from feedmill.model.refresh import ChangedGuid, EntryDiff, GoneEntry, KnownEntry, NewEntry, Revision

# A feed whose texts differ at each fetch (a counter, an advertisement) must not fill the disk.
MAX_REVISIONS = 20
MAX_IMAGES = 200
# Where lists put what the first fetch of a feed brings without dates: below the earliest date that a feed may give.
BELOW_ALL_DATES = datetime(1899, 1, 1, tzinfo=UTC)


def entries_by_identity(parsed: ParsedFeed) -> dict[str, ParsedEntry]:
    """The entries by identity, in document order. Of entries with the same identity the first is kept."""
    entries: dict[str, ParsedEntry] = {}
    for guid, entry in zip(identify_entries(parsed.entries), parsed.entries, strict=True):
        entries.setdefault(storable_identity(guid), entry)
    return entries


def identities_to_look_up(entries: Mapping[str, ParsedEntry]) -> list[str]:
    """The identities under which the store may have these entries."""
    return [
        *entries,
        *(entry.guid for guid, entry in entries.items() if entry.guid and _has_link_in_identity(guid, entry)),
    ]


def ids_that_may_be_gone(entries: Mapping[str, ParsedEntry], known: Mapping[str, KnownEntry]) -> list[int]:
    """The stored entries that may be in the feed under another guid: none if the feed has no guid that is new."""
    if entries.keys() <= known.keys():
        return []
    return [stored.id for guid, stored in known.items() if stored.in_feed and guid not in entries]


def may_have_come_back(entries: Mapping[str, ParsedEntry], known: Mapping[str, KnownEntry]) -> bool:
    """Whether entries that left the feed before may be in it again under other guids: most of its guids are new.

    While a site is moved, its feed may be empty or have the greeting of its new software alone.
    """
    unknown = [guid for guid in entries if guid not in known]
    return len(unknown) * 2 >= len(entries) > 0


def compare_entries(
    entries: Mapping[str, ParsedEntry],
    known: Mapping[str, KnownEntry],
    purged: Container[str],
    now: datetime,
    *,
    site_url: str | None,
    with_images: bool,
    is_first: bool = False,
    gone: Sequence[GoneEntry] = (),
) -> EntryDiff:
    """The changes that make the stored entries equal to those in the feed.

    `is_first`: nothing of it came before. `gone` are the entries of `ids_that_may_be_gone`, and if others
    `may_have_come_back`, those that left the feed not long ago.
    """
    # Feeds list the newest first. They are added in reverse, so that newer entries get higher ids.
    offered = [OfferedEntry(guid, *storable_entry(parsed)) for guid, parsed in reversed(list(entries.items()))]
    by_guid = {each.guid: _find_stored(each, entries[each.guid], known) for each in offered} if known else {}
    renamed = _find_renamed(offered, by_guid, gone)
    new, revised, returned, changed_guids, found = [], [], [], [], set()
    for guid, entry, digest in offered:
        stored = by_guid.get(guid)
        if stored is None and guid in renamed:
            stored = renamed[guid].known
            changed_guids.append(ChangedGuid(stored.id, renamed[guid].guid, guid))
        if stored is None:
            if guid not in purged:
                new.append(_new_entry(guid, entry, digest, now, site_url, with_images, is_first))
            continue
        found.add(stored.id)
        if digest != stored.digest and stored.revision_count < MAX_REVISIONS:
            revised.append(_revision(stored, entry, digest))
        if not stored.in_feed:
            returned.append(stored.id)
    in_feed = [stored.id for stored in known.values() if stored.in_feed]
    return EntryDiff(
        new=tuple(new),
        revised=tuple(revised),
        returned=tuple(returned),
        dropped=tuple(id for id in in_feed if id not in found),
        changed_guids=tuple(changed_guids),
        overflows=bool(in_feed and entries) and found.isdisjoint(in_feed),
    )


def _find_stored(offered: OfferedEntry, entry: ParsedEntry, known: Mapping[str, KnownEntry]) -> KnownEntry | None:
    """The stored entry, even if its guid was unique then and repeats now, or the other way round.

    `entry` is as the feed has it: the identity uses the link before it is normalized.
    """
    if (with_link := identity_with_link(entry)) in known:
        return known[with_link]
    if not _has_link_in_identity(offered.guid, entry):
        return known.get(offered.guid)
    stored = known.get(entry.guid or "")
    return stored if stored and stored.digest == offered.digest else None


def _find_renamed(
    offered: Sequence[OfferedEntry], by_guid: Mapping[str, KnownEntry | None], gone: Sequence[GoneEntry]
) -> dict[str, GoneEntry]:
    """By guid those of the entries with unknown guids that are stored under another one."""
    found = {stored.id for stored in by_guid.values() if stored}
    unknown = [each for each in offered if by_guid.get(each.guid) is None]
    missing = [each for each in gone if each.id not in found]
    matches = match_changed_guids(unknown, [each for each in missing if each.in_feed])
    unmatched = [each for each in unknown if each.guid not in matches]
    return matches | match_returned_entries(unmatched, [each for each in missing if not each.in_feed])


def _has_link_in_identity(guid: str, entry: ParsedEntry) -> bool:
    """Whether the link is part of the entry's identity, because its guid repeats."""
    return guid != entry.guid and guid == identity_with_link(entry)


def _new_entry(
    guid: str, entry: ParsedEntry, digest: str, now: datetime, site_url: str | None, with_images: bool, is_first: bool
) -> NewEntry:
    dated_at = entry.published_at or entry.updated_at
    found_place = BELOW_ALL_DATES if is_first else now
    base_url = entry.base_url or (entry.link and absolute_url(entry.link)) or site_url
    html = entry.content_html or ""
    return NewEntry(
        guid=guid,
        digest=digest,
        sort_at=min(dated_at or found_place, now),
        published_at=dated_at or now,
        updated_at=entry.updated_at,
        link=entry.link,
        title=entry.title,
        author=entry.author,
        # If there is only one text, the parser returns it as both; it is stored once.
        summary=None if entry.summary == entry.content_html else entry.summary,
        content_html=entry.content_html,
        base_url=base_url,
        language=entry.language,
        image_url=entry.image_url,
        comments_url=entry.comments_url,
        categories=entry.categories,
        enclosures=entry.enclosures,
        images=tuple(find_image_urls(html, base_url, MAX_IMAGES)) if with_images and "<" in html else (),
        undated=dated_at is None,
    )


def _revision(stored: KnownEntry, entry: ParsedEntry, digest: str) -> Revision:
    return Revision(
        entry_id=stored.id,
        number=stored.revision_count + 1,
        digest=digest,
        link=entry.link,
        title=entry.title,
        author=entry.author,
        summary=None if entry.summary == entry.content_html else entry.summary,
        content_html=entry.content_html,
    )
