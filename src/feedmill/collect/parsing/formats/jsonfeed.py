"""Reads JSON Feed 1.0 and 1.1 into a `ParsedFeed`."""

import json
from collections.abc import Iterable, Iterator
from datetime import timedelta
from html import escape
from typing import Any

from msgspec import structs

from feedmill.absolute_urls import absolute_url
from feedmill.collect.parsing.formats.dates import parse_date
from feedmill.collect.parsing.formats.field_texts import MAX_SHORT_TEXT
from feedmill.collect.parsing.formats.xml_scope import XmlScope, clean_language
from feedmill.collect.parsing.formats.xmlfeed import MAX_ENTRIES
from feedmill.collect.parsing.truncation import read_truncated_json
from feedmill.model.parsed_feed import Enclosure, ParsedEntry, ParsedFeed

_MAX_ITEMS = 100
Json = dict[str, Any]


def read_json_feed(text: str, url: str | None, encoding: str) -> ParsedFeed | None:
    """The feed in a JSON document, or None if it is not a JSON Feed."""
    try:
        document, is_truncated = json.loads(text, strict=False), False
    except (ValueError, RecursionError):
        document, is_truncated = read_truncated_json(text), True
    if not isinstance(document, dict) or not _is_feed(document):
        return None
    return structs.replace(_read_feed(document, url, encoding), is_truncated=is_truncated)


def _is_feed(document: Json) -> bool:
    has_version = "jsonfeed.org" in (_text(document, "version") or "")
    return isinstance(document.get("items"), list) and (has_version or "title" in document or "feed_url" in document)


def _read_feed(document: Json, url: str | None, encoding: str) -> ParsedFeed:
    home = _url(document, XmlScope(url), "home_page_url")
    scope = XmlScope((home and absolute_url(home)) or url, _language(document, XmlScope()))
    author = _authors(document)
    icon = _url(document, scope, "favicon")
    items = list(_objects(document, "items", MAX_ENTRIES))
    return ParsedFeed(
        id=_short(document, "feed_url"),
        title=_short(document, "title"),
        link=home,
        description=_text(document, "description"),
        author=author,
        language=scope.language,
        image_url=_url(document, scope, "icon") or icon,
        icon_url=icon,
        hub_url=next(filter(None, (_url(hub, scope, "url") for hub in _objects(document, "hubs"))), None),
        self_url=_url(document, XmlScope(url), "feed_url"),
        entries=tuple(_read_entry(item, scope, author) for item in items),
        format=_format(document),
        encoding=encoding,
    )


def _format(document: Json) -> str:
    version = (_text(document, "version") or "").rstrip("/").rpartition("/")[2]
    return "jsonfeed" + ("".join(filter(str.isdecimal, version))[:2] or "1")


def _read_entry(item: Json, scope: XmlScope, author: str | None) -> ParsedEntry:
    published, updated = _text(item, "date_published"), _text(item, "date_modified")
    updated_at = parse_date(updated)
    files = tuple(_enclosures(item, scope))
    return ParsedEntry(
        guid=_text(item, "id") or _text(item, "guid"),
        link=_url(item, scope, "url") or _url(item, scope, "external_url"),
        title=_short(item, "title"),
        author=_authors(item) or author,
        content_html=_content(item),
        summary=_text(item, "summary"),
        published_at=parse_date(published) or updated_at,
        updated_at=updated_at,
        published_raw=published or updated,
        updated_raw=updated,
        categories=_tags(item),
        enclosures=files,
        image_url=_url(item, scope, "image") or _url(item, scope, "banner_image") or _image_of(files),
        language=_language(item, scope),
    )


def _content(item: Json) -> str | None:
    plain = _text(item, "content_text")
    return _text(item, "content_html") or (escape(plain, quote=False) if plain else None) or _text(item, "summary")


def _authors(owner: Json) -> str | None:
    people: list[Any] = list(_objects(owner, "authors")) or [owner.get("author")]  # `author` is JSON Feed 1.0
    names = dict.fromkeys(
        _short(person, "name") or _short(person, "url") for person in people if isinstance(person, dict)
    )
    return ", ".join(filter(None, names)) or None


def _tags(item: Json) -> tuple[str, ...]:
    tags = item.get("tags")
    if not isinstance(tags, list):
        return ()
    named = (tag.strip()[:MAX_SHORT_TEXT] for tag in tags[:_MAX_ITEMS] if isinstance(tag, str))
    return tuple(dict.fromkeys(filter(None, named)))


def _enclosures(item: Json, scope: XmlScope) -> Iterator[Enclosure]:
    for attachment in _objects(item, "attachments"):
        address = _url(attachment, scope, "url")
        if address:
            seconds = _number(attachment, "duration_in_seconds")
            length = _number(attachment, "size_in_bytes")
            yield Enclosure(
                url=address,
                type=_short(attachment, "mime_type"),
                length=int(length) if length else None,
                duration=timedelta(seconds=round(seconds)) if seconds else None,
            )


def _image_of(files: Iterable[Enclosure]) -> str | None:
    return next((file.url for file in files if (file.type or "").startswith("image/")), None)


def _objects(owner: Json, key: str, limit: int = _MAX_ITEMS) -> Iterator[Json]:
    found = owner.get(key)
    if isinstance(found, list):
        yield from (one for one in found[:limit] if isinstance(one, dict))


def _text(owner: Json, key: str) -> str | None:
    """A string, or a number as a string: some feeds have numbers as ids."""
    value = owner.get(key)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return _clean(value) if isinstance(value, str) else None


def _clean(value: str) -> str | None:
    """A string without outer space and without lone surrogates, which JSON's escapes may contain."""
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace").strip() or None


def _short(owner: Json, key: str) -> str | None:
    text = _text(owner, key)
    return text[:MAX_SHORT_TEXT] if text else None


def _url(owner: Json, scope: XmlScope, key: str) -> str | None:
    text = _text(owner, key)
    return scope.resolve(text) if text else None


def _number(owner: Json, key: str) -> float | None:
    value = owner.get(key)
    usable = isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e12
    return value if usable else None


def _language(owner: Json, scope: XmlScope) -> str | None:
    text = _text(owner, "language")
    return clean_language(text) if text else scope.language
