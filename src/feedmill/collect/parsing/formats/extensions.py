"""Reads namespace extensions: Media RSS, podcast durations, `ttl`, `skipHours`, `sy:updatePeriod`."""

from collections.abc import Iterable
from datetime import timedelta
from xml.etree.ElementTree import Element

from feedmill.collect.parsing.formats.child_elements import Fields, fields_of
from feedmill.collect.parsing.formats.field_texts import element_text, first_text
from feedmill.collect.parsing.formats.xml_scope import XmlScope

_PERIODS = {
    "hourly": timedelta(hours=1),
    "daily": timedelta(days=1),
    "weekly": timedelta(weeks=1),
    "monthly": timedelta(days=30),
    "yearly": timedelta(days=365),
}
_LONGEST_TTL = timedelta(days=365)
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MAX_GROUPS = 3


def media_elements(fields: Fields) -> Fields:
    """The Media RSS elements of an entry, including those inside of groups."""
    outer = [fields.elements[place] for place in fields.layout.plan.media]
    return fields_of(_ungrouped(outer, 0) if any(map(len, outer)) else outer, fields.layout.layouts)


def _ungrouped(elements: Iterable[Element], depth: int) -> list[Element]:
    found = []
    for element in elements:
        found.append(element)
        if len(element) and depth < _MAX_GROUPS:
            found += _ungrouped(element, depth + 1)
    return found


def picture_url(fields: Fields, scope: XmlScope, *names: str) -> str | None:
    """The URL of the first of these elements that has one as `href`, `url`, child element or text."""
    places = fields.layout.places
    for name in names:
        for place in places.get(name, ()):
            address = _picture_address(fields, place)
            if address and "<" not in address:
                return scope.resolve(address)
    return None


def _picture_address(fields: Fields, place: int) -> str | None:
    element = fields.elements[place]
    address = element.get("href") or element.get("url") or fields.texts[place]
    return first_text(fields.inside(element), "url") if not address and len(element) else address


def media_picture_url(media: Fields, scope: XmlScope) -> str | None:
    """The URL of a Media RSS thumbnail, or of a media file that is an image."""
    thumbnail = picture_url(media, scope, "media:thumbnail")
    if thumbnail:
        return thumbnail
    files = [file.get("url") for file in media.get("media:content") if _is_image(file)]
    return next((scope.resolve(url) for url in files if url), None)


def _is_image(file: Element) -> bool:
    return file.get("medium") == "image" or file.get("type", "").startswith("image/")


def parse_duration(text: str | None) -> timedelta | None:
    """Parses a duration of podcasts: `seconds`, `minutes:seconds` or `hours:minutes:seconds`."""
    if not text:
        return None
    parts, seconds = text.strip().split(":", 3), 0.0
    try:
        for part in parts:
            seconds = seconds * 60 + float(part or 0)
        return timedelta(seconds=round(seconds)) if len(parts) <= 3 and seconds >= 0.5 else None
    except (ValueError, OverflowError):
        return None


def ttl(fields: Fields) -> timedelta | None:
    minutes = _number(first_text(fields, "ttl"))
    return min(timedelta(minutes=minutes), _LONGEST_TTL) if minutes else None


def update_period(fields: Fields) -> timedelta | None:
    """The interval at which the feed says that it changes (sy:updatePeriod divided by sy:updateFrequency)."""
    period = _PERIODS.get((first_text(fields, "sy:updateperiod") or "").lower())
    frequency = _number(first_text(fields, "sy:updatefrequency")) or 1
    return period / frequency if period else None


def skip_hours(fields: Fields) -> frozenset[int]:
    """Hours in GMT, 0 to 23; RSS 0.91 counts them from 1 to 24."""
    hours = {_number(text) for text in _children(fields, "skiphours", "hour")}
    return frozenset(hour % 24 for hour in hours if hour is not None and hour <= 24)


def skip_days(fields: Fields) -> frozenset[int]:
    names = {text.lower() for text in _children(fields, "skipdays", "day")}
    return frozenset(number for number, name in enumerate(_DAYS) if name in names)


def _children(fields: Fields, name: str, child: str) -> list[str]:
    return [element_text(one) for element in fields.get(name) for one in fields.inside(element).get(child)]


def _number(text: str | None) -> int | None:
    text = (text or "").strip()
    return int(text) if text.isdecimal() and len(text) < 10 else None
