"""Recognizes stored entries that a feed brings again under other guids, as after a move to other software. Pure.

No article may be lost by it, so entries that a reader could tell apart stay two: an hourly program has one title, one
link and one text, but other dates and other files.
"""

from collections.abc import Callable, Iterable, Sequence, Sized
from datetime import datetime, time, timedelta
from typing import NamedTuple, TypeVar

from feedmill.html.canonical_link import canonical_link
from feedmill.model.parsed_feed import ParsedEntry
from feedmill.model.refresh import GoneEntry

# Entries with the same headline and day, of a feed that gives no time, are the same only if it brings so many at once,
# of more days than one. Entries with the same text and other dates are the same only if it brings so many, and if they
# have the dates of an import: close together, as those from before were not. What is published again each day or each
# week has dates as far apart as before.
MANY = 3
IMPORT_TIME, TIME_BEFORE_IMPORT = timedelta(hours=1), timedelta(days=2)
# For so long an entry that left a feed may come back under another guid.
LEFT_WITHIN = timedelta(days=7)

Key = tuple[object, ...]
Thing = TypeVar("Thing")


class OfferedEntry(NamedTuple):
    """An entry of a feed whose guid is not known, in the form in which it would be stored."""

    guid: str
    entry: ParsedEntry
    digest: str

    @property
    def files(self) -> tuple[str, ...]:
        return tuple([enclosure.url for enclosure in self.entry.enclosures])

    @property
    def date(self) -> datetime | None:
        return self.entry.published_at or self.entry.updated_at


def match_changed_guids(offered: Sequence[OfferedEntry], gone: Sequence[GoneEntry]) -> dict[str, GoneEntry]:
    """By the new guid, the stored entries that are no longer in the feed under their own."""
    found = _same_articles(offered, gone, _content_of_gone)
    left, still_gone = _rest(offered, gone, found)
    copies = _pairs(left, still_gone, lambda each: (each.digest, each.files), lambda each: (each.digest, each.files))
    dates = [each.date for each in left if each.guid in copies]
    is_import = _is_many(copies, left) and _is_import(dates, [each.date for each in copies.values()])
    return found | copies if is_import else found


def match_returned_entries(offered: Sequence[OfferedEntry], gone: Sequence[GoneEntry]) -> dict[str, GoneEntry]:
    """By the new guid, stored entries that left the feed earlier. Their dates must be the same.

    What has none may be an announcement that is made again.
    """
    return _same_articles(offered, gone, lambda each: _content_of_gone(each) if each.date else None)


def _same_articles(
    offered: Sequence[OfferedEntry], gone: Sequence[GoneEntry], content_of_gone: Callable[[GoneEntry], Key | None]
) -> dict[str, GoneEntry]:
    """Those with the same headline and time, or the same text and date; or many with the same headline and day."""
    found = _pairs(offered, gone, _headline_of_offered, _headline_of_gone)
    left, still_gone = _rest(offered, gone, found)
    found |= _pairs(left, still_gone, _content_of_offered, content_of_gone)
    left, still_gone = _rest(offered, gone, found)
    # Among all: of two with one headline and day, the one that is left is not the only one.
    same_days = _pairs(offered, gone, _day_of_offered, _day_of_gone)
    of_days = {each.guid: same_days[each.guid] for each in left if same_days.get(each.guid) in still_gone}
    # New texts of a single day may be those of its evening.
    is_move = _is_many(of_days, left) and _time_between(each.date for each in of_days.values()) >= TIME_BEFORE_IMPORT
    return found | of_days if is_move else found


def _is_many(found: Sized, offered: Sized) -> bool:
    return len(found) >= MANY and len(found) * 2 >= len(offered)


def _is_import(dates: Sequence[datetime | None], dates_before: Sequence[datetime | None]) -> bool:
    return _time_between(dates) <= IMPORT_TIME and _time_between(dates_before) >= TIME_BEFORE_IMPORT


def _time_between(dates: Iterable[datetime | None]) -> timedelta:
    """From the first to the last."""
    known = [date for date in dates if date]
    return max(known) - min(known) if known else timedelta(0)


def _headline_of_offered(each: OfferedEntry) -> Key | None:
    return _headline(each.entry.title, each.entry.link, each.date, each.files)


def _headline_of_gone(each: GoneEntry) -> Key | None:
    return _headline(each.title, each.link, each.date, each.files)


def _headline(title: str | None, link: str | None, date: datetime | None, files: tuple[str, ...]) -> Key | None:
    """None if it may be that of several entries: there is no time, or only a day."""
    return None if not date or date.time() == time.min else _headline_at(title, link, date, files)


def _day_of_offered(each: OfferedEntry) -> Key | None:
    return _headline_at(each.entry.title, each.entry.link, each.date, each.files)


def _day_of_gone(each: GoneEntry) -> Key | None:
    return _headline_at(each.title, each.link, each.date, each.files)


def _headline_at(title: str | None, link: str | None, date: datetime | None, files: tuple[str, ...]) -> Key | None:
    return (title, _page(link), date, files) if title and link and date else None


def _content_of_offered(each: OfferedEntry) -> Key:
    return each.digest, each.date, each.files


def _content_of_gone(each: GoneEntry) -> Key:
    return each.digest, each.date, each.files


def _page(link: str) -> str:
    """The link without its host, which is another one after a move; all of it if it leads to a home page."""
    link = canonical_link(link)
    _, _, page = link.partition("//")[2].partition("/")
    return page or link


def _pairs(
    offered: Iterable[OfferedEntry],
    gone: Iterable[GoneEntry],
    key_of_offered: Callable[[OfferedEntry], Key | None],
    key_of_gone: Callable[[GoneEntry], Key | None],
) -> dict[str, GoneEntry]:
    """By guid those that have the same key, if no other entry has it."""
    stored = _by_unique_key(gone, key_of_gone)
    return {each.guid: stored[key] for key, each in _by_unique_key(offered, key_of_offered).items() if key in stored}


def _by_unique_key(things: Iterable[Thing], key_of: Callable[[Thing], Key | None]) -> dict[Key, Thing]:
    found: dict[Key, Thing] = {}
    repeated: set[Key] = set()
    for thing in things:
        key = key_of(thing)
        if key in found:
            repeated.add(key)
        elif key is not None:
            found[key] = thing
    return {key: thing for key, thing in found.items() if key not in repeated}


def _rest(
    offered: Iterable[OfferedEntry], gone: Iterable[GoneEntry], found: dict[str, GoneEntry]
) -> tuple[list[OfferedEntry], list[GoneEntry]]:
    taken = {each.id for each in found.values()}
    return [each for each in offered if each.guid not in found], [each for each in gone if each.id not in taken]
