"""Computes the identity of an entry, by which the next fetch recognizes it."""

import hashlib
from collections import defaultdict
from collections.abc import Sequence

from feedmill.model.parsed_feed import ParsedEntry

MAX_IDENTITY = 500
_SEPARATOR = "#"


def identify_entries(entries: Sequence[ParsedEntry]) -> list[str]:
    """The identity of each entry of one feed, in their order.

    It is the guid, else the link, else a hash of title and raw date, else a hash of the content. Where entries with
    different links share a guid, guid and link together. Two entries that get the same identity are the same entry:
    the caller keeps the first.
    """
    repeated = _repeated_guids(entries)
    return [_shortened(_identity(entry, repeated)) for entry in entries]


def identity_with_link(entry: ParsedEntry) -> str:
    """The identity of an entry whose guid repeats: guid and link together."""
    return _shortened(f"{entry.guid}{_SEPARATOR}{entry.link}")


def _repeated_guids(entries: Sequence[ParsedEntry]) -> frozenset[str]:
    """The guids that a feed gives to entries with different links."""
    links: dict[str, set[str]] = defaultdict(set)
    for entry in entries:
        if entry.guid and entry.link:
            links[entry.guid].add(entry.link)
    return frozenset(guid for guid, found in links.items() if len(found) > 1)


def _identity(entry: ParsedEntry, repeated: frozenset[str]) -> str:
    if entry.guid:
        return identity_with_link(entry) if entry.guid in repeated and entry.link else entry.guid
    if entry.link:
        return entry.link
    date = entry.published_raw or entry.updated_raw or ""
    if entry.title or date:
        return _md5((entry.title or "") + date)
    return _md5(_content(entry))


def _content(entry: ParsedEntry) -> str:
    files = "\n".join(enclosure.url for enclosure in entry.enclosures)
    return "\n".join((entry.content_html or "", entry.summary or "", files, entry.image_url or ""))


def _md5(text: str) -> str:
    return hashlib.md5(text.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()


def _shortened(identity: str) -> str:
    if len(identity) <= MAX_IDENTITY:
        return identity
    digest = hashlib.sha256(identity.encode("utf-8", "replace")).hexdigest()
    return identity[: MAX_IDENTITY - len(digest) - 1] + _SEPARATOR + digest
