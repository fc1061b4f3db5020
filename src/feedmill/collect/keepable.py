"""Texts in a form that every database of ours can keep, however odd or long a feed makes them.

The raw body has what is cut here.
"""

import re
from collections.abc import Iterable, Sequence
from hashlib import blake2b

from msgspec.structs import replace

from feedmill.model.parsed import Enclosure, ParsedEntry

# In bytes. D1 keeps no row above 2 MB, and these add up to less.
LONGEST_CONTENT = 1_000_000
LONGEST_SUMMARY = 300_000
LONGEST_LINE = 20_000
LONGEST_LIST = 100_000
LONGEST_LANGUAGE = 64
LINES = ("title", "author", "base_url")
ADDRESSES = ("link", "image_url", "comments_url")
WEB = ("http://", "https://")
# A browser runs some of the others, and hands some to programs that do.
SCHEMES = frozenset({"http", "https", "ftp", "gemini", "geo", "gopher", "ipfs", "magnet", "mailto", "news", "tel"})

# As browsers read it: they skip what stands before, and line breaks anywhere.
_SCHEME = re.compile(r"[\x00-\x20]*+([a-z][a-z0-9+.\t\n\r-]*+):", re.I)
_LINE_BREAKS = str.maketrans("", "", "\t\n\r")


def keepable(entry: ParsedEntry) -> tuple[ParsedEntry, str]:
    """The entry in a form that can be kept, and the digest that tells its versions apart."""
    told = _told(entry)
    if b"\x00" in told or len(told) > LONGEST_SUMMARY or not _is_plain(entry):
        entry = _cleaned(entry)
        told = _told(entry)
    return entry, blake2b(told, digest_size=16).hexdigest()


def text(given: str | None, most: int = LONGEST_LINE) -> str | None:
    """The text without what can't be kept, at most so many bytes of it."""
    if given is None or (len(given) * 4 <= most and given.isascii() and "\x00" not in given):
        return given
    return _bytes(given)[:most].decode("utf-8", "ignore")


def address(given: str | None) -> str | None:
    """An address that somebody may follow; None for one that would run a script, or a program."""
    kept = text(given)
    found = _SCHEME.match(kept) if kept and not kept.startswith(WEB) else None
    return kept if found is None or found[1].translate(_LINE_BREAKS).lower() in SCHEMES else None


def language(given: str | None) -> str | None:
    """A language tag, which is short and ASCII; None for what can't be one."""
    return given if given and given.isascii() and len(given) <= LONGEST_LANGUAGE and "\x00" not in given else None


def identity(given: str) -> str:
    """An entry's identity; never empty, and without the space at its end that MariaDB does not see."""
    return _bytes(given).decode().strip() or "?"


def _bytes(given: str) -> bytes:
    """No database of ours keeps NUL in text, and half a surrogate pair is no character."""
    return given.encode("utf-8", "ignore").replace(b"\x00", b"")


def _told(entry: ParsedEntry) -> bytes:
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
        and all(url.startswith(WEB) for url in (entry.link, entry.image_url, entry.comments_url) if url)
    )


def _cleaned(entry: ParsedEntry) -> ParsedEntry:
    lines = {name: text(getattr(entry, name)) for name in LINES}
    lines |= {name: address(getattr(entry, name)) for name in ADDRESSES}
    return replace(
        entry,
        summary=text(entry.summary, LONGEST_SUMMARY),
        content_html=text(entry.content_html, LONGEST_CONTENT),
        language=language(entry.language),
        categories=tuple(_bounded(text(category) or "" for category in entry.categories)),
        enclosures=tuple(_few(entry.enclosures)),
        **lines,
    )


def _bounded(texts: Iterable[str]) -> Iterable[str]:
    left = LONGEST_LINE
    for one in texts:
        left -= len(one.encode()) + 3
        if left < 0:
            return
        yield one


def _few(enclosures: Sequence[Enclosure]) -> Iterable[Enclosure]:
    left = LONGEST_LIST
    for one in enclosures:
        url = address(one.url)
        if url is None:
            continue
        kept = replace(one, url=url, type=text(one.type, 200))
        left -= len(kept.url.encode()) + 300
        if left < 0:
            return
        yield kept
