"""Cleans and shortens text, links, languages and identities so that every database can store them."""

from feedmill.absolute_urls import safe_link

# In bytes.
LONGEST_LINE = 20_000
LONGEST_LIST = 100_000
LONGEST_LANGUAGE = 64


def storable_text(given: str | None, max_bytes: int = LONGEST_LINE) -> str | None:
    """The text without characters that can't be stored, cut to so many bytes."""
    if given is None or (len(given) * 4 <= max_bytes and given.isascii() and "\x00" not in given):
        return given
    return _bytes(given)[:max_bytes].decode("utf-8", "ignore")


def storable_link(given: str | None) -> str | None:
    """A normalized link; None for one that is relative, or whose scheme runs a script or a program."""
    return safe_link(given.replace("\x00", "")) if given else None


def storable_language(given: str | None) -> str | None:
    """A language tag, which is short and ASCII; None for anything else."""
    return given if given and given.isascii() and len(given) <= LONGEST_LANGUAGE and "\x00" not in given else None


def storable_identity(given: str) -> str:
    """An identity that can be stored: never empty, and without spaces at its end, which MariaDB ignores."""
    return _bytes(given).decode().strip() or "?"


def _bytes(given: str) -> bytes:
    """UTF-8 without NUL, which no database stores in text, and without lone surrogates."""
    return given.encode("utf-8", "ignore").replace(b"\x00", b"")
