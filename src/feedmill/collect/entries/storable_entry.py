"""Cleans and shortens an entry so that every database can store it, and computes its digest.

What is cut here is still in the raw body.
"""

from collections.abc import Iterable, Sequence
from hashlib import blake2b

from msgspec.structs import replace

from feedmill.absolute_urls import absolute_url, is_plain_url
from feedmill.collect.entries.storable_text import (
    LONGEST_LANGUAGE,
    LONGEST_LINE,
    LONGEST_LIST,
    storable_language,
    storable_link,
    storable_text,
)
from feedmill.model.parsed_feed import Chapter, Enclosure, ParsedEntry

# In bytes. D1 stores no row above 2 MB, and these add up to less.
LONGEST_CONTENT = 1_000_000
LONGEST_SUMMARY = 300_000
LINES = ("title", "author")
ADDRESSES = ("link", "image_url", "comments_url")


def storable_entry(entry: ParsedEntry) -> tuple[ParsedEntry, str]:
    """The entry in a form that can be stored, and the digest of its text."""
    digested = _digest_input(entry)
    if b"\x00" in digested or len(digested) > LONGEST_SUMMARY or not _is_plain(entry):
        entry = _cleaned(entry)
        digested = _digest_input(entry)
    return entry, blake2b(digested, digest_size=16).hexdigest()


def _digest_input(entry: ParsedEntry) -> bytes:
    texts = (entry.title, entry.link, entry.author, entry.summary, entry.content_html)
    joined = "\x1f".join([text or "" for text in texts])
    try:
        return joined.encode()
    except UnicodeEncodeError:
        return b"\x00"


def _is_plain(entry: ParsedEntry) -> bool:
    """Whether the fields that the digest leaves out need no cleaning: short, ASCII, plain URLs."""
    rest = (entry.image_url, entry.comments_url, entry.base_url, entry.language, *entry.categories)
    joined = "".join([text for text in rest if text])
    short = (entry.title, entry.link, entry.author)
    return (
        joined.isascii()
        and "\x00" not in joined
        and len(joined) + sum(len(text) for text in short if text) <= LONGEST_LINE // 4
        and len(entry.language or "") <= LONGEST_LANGUAGE
        and not entry.enclosures
        and all(is_plain_url(url) for url in (entry.link, entry.image_url, entry.comments_url, entry.base_url) if url)
    )


def _cleaned(entry: ParsedEntry) -> ParsedEntry:
    fields = {name: storable_text(getattr(entry, name)) for name in LINES}
    fields |= {name: storable_link(getattr(entry, name)) for name in ADDRESSES}
    fields["base_url"] = absolute_url(entry.base_url) if entry.base_url else None
    return replace(
        entry,
        summary=storable_text(entry.summary, LONGEST_SUMMARY),
        content_html=storable_text(entry.content_html, LONGEST_CONTENT),
        language=storable_language(entry.language),
        categories=tuple(_bounded(storable_text(category) or "" for category in entry.categories)),
        enclosures=tuple(_bounded_enclosures(entry.enclosures)),
        **fields,
    )


def _bounded(texts: Iterable[str]) -> Iterable[str]:
    left = LONGEST_LINE
    for each in texts:
        left -= len(each.encode()) + 3
        if left < 0:
            return
        yield each


def _bounded_enclosures(enclosures: Sequence[Enclosure]) -> Iterable[Enclosure]:
    left = LONGEST_LIST
    for enclosure in enclosures:
        url = storable_link(enclosure.url)
        if url is None:
            continue
        left -= len(url.encode()) + 300
        if left < 0:
            return
        chapters = tuple(_bounded_chapters(enclosure.chapters))
        yield replace(enclosure, url=url, type=storable_text(enclosure.type, 200), chapters=chapters)


def _bounded_chapters(chapters: Sequence[Chapter]) -> Iterable[Chapter]:
    left = LONGEST_LIST
    for chapter in chapters:
        title, url = storable_text(chapter.title) or "", storable_link(chapter.url)
        left -= len(title.encode()) + len((url or "").encode()) + 60
        if left < 0:
            return
        yield replace(chapter, title=title, url=url)
