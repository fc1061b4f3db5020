"""Cleans and shortens the fields of an entry so that every database can store them.

The raw body has what is cut here.
"""

from collections.abc import Iterable, Sequence
from hashlib import blake2b

from msgspec.structs import replace

from feedmill.html.links import absolute_url, is_plain_url, safe_link
from feedmill.model.parsed_feed import Enclosure, ParsedEntry

# In bytes. D1 keeps no row above 2 MB, and these add up to less.
LONGEST_CONTENT = 1_000_000
LONGEST_SUMMARY = 300_000
LONGEST_LINE = 20_000
LONGEST_LIST = 100_000
LONGEST_LANGUAGE = 64
LINES = ("title", "author")
ADDRESSES = ("link", "image_url", "comments_url")


def storable_entry(entry: ParsedEntry) -> tuple[ParsedEntry, str]:
    """The entry in a form that can be kept, and the digest that tells its versions apart."""
    told = _digest_input(entry)
    if b"\x00" in told or len(told) > LONGEST_SUMMARY or not _is_plain(entry):
        entry = _cleaned(entry)
        told = _digest_input(entry)
    return entry, blake2b(told, digest_size=16).hexdigest()


def text(given: str | None, most: int = LONGEST_LINE) -> str | None:
    """The text without what can't be kept, at most so many bytes of it."""
    if given is None or (len(given) * 4 <= most and given.isascii() and "\x00" not in given):
        return given
    return _bytes(given)[:most].decode("utf-8", "ignore")


def storable_link(given: str | None) -> str | None:
    """A link in its normal form; None for one that is relative, or that would run a script or a program."""
    return safe_link(given.replace("\x00", "")) if given else None


def language(given: str | None) -> str | None:
    """A language tag, which is short and ASCII; None for what can't be one."""
    return given if given and given.isascii() and len(given) <= LONGEST_LANGUAGE and "\x00" not in given else None


def identity(given: str) -> str:
    """An entry's identity; never empty, and without the space at its end that MariaDB does not see."""
    return _bytes(given).decode().strip() or "?"


def _bytes(given: str) -> bytes:
    """No database of ours keeps NUL in text, and half a surrogate pair is no character."""
    return given.encode("utf-8", "ignore").replace(b"\x00", b"")


def _digest_input(entry: ParsedEntry) -> bytes:
    texts = (entry.title, entry.link, entry.author, entry.summary, entry.content_html)
    joined = "\x1f".join([text or "" for text in texts])
    try:
        return joined.encode()
    except UnicodeEncodeError:
        return b"\x00"


def _is_plain(entry: ParsedEntry) -> bool:
    """Whether what is not told by the digest is ordinary: short, ASCII, nothing odd."""
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
    lines = {name: text(getattr(entry, name)) for name in LINES}
    lines |= {name: storable_link(getattr(entry, name)) for name in ADDRESSES}
    lines["base_url"] = absolute_url(entry.base_url) if entry.base_url else None
    return replace(
        entry,
        summary=text(entry.summary, LONGEST_SUMMARY),
        content_html=text(entry.content_html, LONGEST_CONTENT),
        language=language(entry.language),
        categories=tuple(_bounded(text(category) or "" for category in entry.categories)),
        enclosures=tuple(_bounded_enclosures(entry.enclosures)),
        **lines,
    )


def _bounded(texts: Iterable[str]) -> Iterable[str]:
    left = LONGEST_LINE
    for one in texts:
        left -= len(one.encode()) + 3
        if left < 0:
            return
        yield one


def _bounded_enclosures(enclosures: Sequence[Enclosure]) -> Iterable[Enclosure]:
    left = LONGEST_LIST
    for one in enclosures:
        url = storable_link(one.url)
        if url is None:
            continue
        kept = replace(one, url=url, type=text(one.type, 200))
        left -= len(kept.url.encode()) + 300
        if left < 0:
            return
        yield kept
