"""Cleans and shortens the fields of an entry so that every database can store them.

What is cut here is still in the raw body.
"""

from collections.abc import Iterable, Sequence
from hashlib import blake2b

from msgspec.structs import replace

from feedmill.html.links import absolute_url, is_plain_url, safe_link
from feedmill.model.parsed_feed import Enclosure, ParsedEntry

# In bytes. D1 stores no row above 2 MB, and these add up to less.
LONGEST_CONTENT = 1_000_000
LONGEST_SUMMARY = 300_000
LONGEST_LINE = 20_000
LONGEST_LIST = 100_000
LONGEST_LANGUAGE = 64
LINES = ("title", "author")
ADDRESSES = ("link", "image_url", "comments_url")


def storable_entry(entry: ParsedEntry) -> tuple[ParsedEntry, str]:
    """The entry in a form that can be stored, and the digest of its text."""
    digested = _digest_input(entry)
    if b"\x00" in digested or len(digested) > LONGEST_SUMMARY or not _is_plain(entry):
        entry = _cleaned(entry)
        digested = _digest_input(entry)
    return entry, blake2b(digested, digest_size=16).hexdigest()


def text(given: str | None, max_bytes: int = LONGEST_LINE) -> str | None:
    """The text without characters that can't be stored, cut to so many bytes."""
    if given is None or (len(given) * 4 <= max_bytes and given.isascii() and "\x00" not in given):
        return given
    return _bytes(given)[:max_bytes].decode("utf-8", "ignore")


def storable_link(given: str | None) -> str | None:
    """A normalized link; None for one that is relative, or whose scheme runs a script or a program."""
    return safe_link(given.replace("\x00", "")) if given else None


def language(given: str | None) -> str | None:
    """A language tag, which is short and ASCII; None for anything else."""
    return given if given and given.isascii() and len(given) <= LONGEST_LANGUAGE and "\x00" not in given else None


def identity(given: str) -> str:
    """An identity that can be stored: never empty, and without spaces at its end, which MariaDB ignores."""
    return _bytes(given).decode().strip() or "?"


def _bytes(given: str) -> bytes:
    """UTF-8 without NUL, which no database stores in text, and without lone surrogates."""
    return given.encode("utf-8", "ignore").replace(b"\x00", b"")


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
    fields = {name: text(getattr(entry, name)) for name in LINES}
    fields |= {name: storable_link(getattr(entry, name)) for name in ADDRESSES}
    fields["base_url"] = absolute_url(entry.base_url) if entry.base_url else None
    return replace(
        entry,
        summary=text(entry.summary, LONGEST_SUMMARY),
        content_html=text(entry.content_html, LONGEST_CONTENT),
        language=language(entry.language),
        categories=tuple(_bounded(text(category) or "" for category in entry.categories)),
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
        yield replace(enclosure, url=url, type=text(enclosure.type, 200))
