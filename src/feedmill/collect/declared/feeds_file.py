"""Reads and validates the feeds file."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from feedmill.collect.declared.feeds_file_paths import feeds_files
from feedmill.collect.declared.read_data_file import BadDataFile, DataFile, KeyPath, read_data_file
from feedmill.model.feed import ArchivePolicy
from feedmill.outbound.user_urls import BadUrl, UserUrl, parse_user_url

MIN_INTERVAL, MAX_INTERVAL = timedelta(minutes=1), timedelta(days=7)
MAX_FEEDS = 100_000
MAX_NAME = 500

_INTERVAL = re.compile(r"(\d{1,6}(?:\.\d{1,3})?)\s*(s|m|min|h|d)?", re.IGNORECASE)
_MINUTE = timedelta(minutes=1)
_UNITS = {"s": _MINUTE / 60, "m": _MINUTE, "min": _MINUTE, "h": 60 * _MINUTE, "d": 24 * 60 * _MINUTE}


@dataclass(frozen=True, slots=True)
class Declaration:
    """A feed as the file declares it."""

    address: UserUrl
    title: str | None = None
    folder: tuple[str, ...] = ()
    interval: timedelta | None = None
    archive_policy: ArchivePolicy = ArchivePolicy.ALL


class InvalidValue(Exception):
    """A value is not valid; the text says why."""


def find_feeds_file(named: Path | None, data: Path) -> Path | None:
    """The feeds file: the one that the setting names, else the one in the data folder, else None."""
    if named is not None:
        return named
    found = feeds_files(None, data)
    if len(found) > 1:
        raise BadDataFile(
            f"{found[0]} and {found[1]} are both there: remove one, or name one with the setting feeds_file"
        )
    return found[0] if found else None


def read_declarations(file: Path) -> list[Declaration]:
    """The feeds that the file declares; raises `BadDataFile` if any part of it is not valid."""
    document = read_data_file(file)
    reader = _Reader(document)
    declared = reader.read()
    if reader.problems:
        more = f" (and {len(reader.problems) - 1} more)" if len(reader.problems) > 1 else ""
        raise BadDataFile(f"{file}: {reader.problems[0]}{more}")
    return declared


def read_interval(value: object) -> timedelta:
    """Parses `30m`, `2h`, `1d` or a number of minutes, from 1 minute to 7 days; raises `InvalidValue`."""
    match = _INTERVAL.fullmatch(str(value).strip())
    if match is None or isinstance(value, bool):
        raise InvalidValue(f"{value!r} is no interval: write 30m, 2h, 1d or a number of minutes")
    length = float(match[1]) * _UNITS[(match[2] or "m").lower()]
    if not MIN_INTERVAL <= length <= MAX_INTERVAL:
        raise InvalidValue(f"{value} is not between 1 minute and 7 days")
    return length


class _Reader:
    """Reads the list once and collects every problem with its line and column."""

    def __init__(self, document: DataFile) -> None:
        self._document = document
        self._first: dict[str, KeyPath] = {}
        self.problems: list[str] = []

    def read(self) -> list[Declaration]:
        return [declared for path, item in self._items() if (declared := self._declaration(path, item))]

    def _items(self) -> Iterator[tuple[KeyPath, Any]]:
        data = self._document.data
        path: KeyPath = ()
        if isinstance(data, dict):
            for key in [key for key in data if key != "feeds"]:
                self._report((key,), f"unknown key {key!r}: the file has one list, feeds")
            data, path = data.get("feeds"), ("feeds",)
        if data is None:
            return
        if not isinstance(data, list):
            self._report(path, "feeds must be a list")
            return
        if len(data) > MAX_FEEDS:
            self._report(path, f"there are more than {MAX_FEEDS} feeds")
            return
        yield from (((*path, number), item) for number, item in enumerate(data))

    def _declaration(self, path: KeyPath, item: Any) -> Declaration | None:
        given = {"url": item} if isinstance(item, str) else item
        if not isinstance(given, dict):
            self._report(path, "a feed is a URL, or a mapping with a url")
            return None
        for key in [key for key in given if key not in _READERS]:
            self._report((*path, key), f"unknown key {key!r}; known are {', '.join(_READERS)}")
        values = {name: self._value(path, name, given.get(name), read) for name, read in _READERS.items()}
        if values["url"] is None or not self._is_new(path, values["url"].url):
            return None
        folder = values["folder"] or values["group"] or ()
        policy = values["archive"] or ArchivePolicy.ALL
        return Declaration(values["url"], values["title"], folder, values["interval"], policy)

    def _value(self, path: KeyPath, name: str, value: Any, read: Any) -> Any:
        if value is None and name != "url":
            return None
        try:
            return read(value)
        except (InvalidValue, BadUrl) as error:
            self._report((*path, name), f"{name}: {error}")
            return None

    def _is_new(self, path: KeyPath, url: str) -> bool:
        first = self._first.setdefault(url, path)
        if first != path:
            self._report(path, f"{url} stands here twice, first at {self._place(first)}")
        return first == path

    def _report(self, path: KeyPath, message: str) -> None:
        self.problems.append(f"{self._place(path)}: {message}")

    def _place(self, path: KeyPath) -> str:
        """Line and column if the format has them, else the number of the feed in the list."""
        for length in range(len(path), -1, -1):
            if place := self._document.places.get(path[:length]):
                return f"line {place[0]}, column {place[1]}"
        numbers = [part for part in path if isinstance(part, int)]
        return f"feed {numbers[0] + 1} of the list" if numbers else "at the top"


def _url(value: object) -> UserUrl:
    if value is None:
        raise InvalidValue("a feed needs one")
    if not isinstance(value, str):
        raise InvalidValue("it must be text")
    return parse_user_url(value)


def _title(value: object) -> str:
    text = " ".join(str(value).split())
    if isinstance(value, list | dict | bool) or not text or len(text) > MAX_NAME:
        raise InvalidValue(f"it must be text of at most {MAX_NAME} characters")
    return text


def _folder(value: object) -> tuple[str, ...]:
    """`Tech/Python`, or a list of names from the top."""
    names = value if isinstance(value, list) else str(value).split("/")
    folder = tuple(_title(name) for name in names if name != "")
    if not folder:
        raise InvalidValue("it has no name")
    return folder


def _archive(value: object) -> ArchivePolicy:
    try:
        return ArchivePolicy(str(value).strip().lower())
    except ValueError:
        raise InvalidValue(f"{value!r} is not one of {', '.join(ArchivePolicy)}") from None


_READERS = {
    "url": _url,
    "title": _title,
    "folder": _folder,
    "group": _folder,
    "interval": read_interval,
    "archive": _archive,
}
