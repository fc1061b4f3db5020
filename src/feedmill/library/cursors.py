"""Encodes and decodes the cursors of paged lists."""

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import TypeVar

import msgspec

from feedmill.errors import NotFound
from feedmill.i18n.messages import Message
from feedmill.model.entry_lists import ListCursor, ListPosition, RaisedRange

# D1 keeps no larger number exactly.
LARGEST_ID = 2**53 - 1

Key = TypeVar("Key", int, str)

_TIME = r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z"
_PLACE = re.compile(rf"({_TIME}) (\d{{1,16}})", re.ASCII)
_LIST = re.compile(rf"({_TIME} \d{{1,16}})(?: ({_TIME} \d{{1,16}}) (\d{{1,16}}) ({_TIME}))?", re.ASCII)


class BadCursor(NotFound):
    """The cursor is not valid."""

    def __init__(self) -> None:
        super().__init__(Message("error.bad_cursor"))


def cursor_at(key: int | str) -> str:
    """The cursor for a list that is ordered by this key alone."""
    return urlsafe_b64encode(msgspec.json.encode(key)).decode().rstrip("=")


def key_at(cursor: str, kind: type[Key]) -> Key:
    """The key in a cursor of `cursor_at`; raises `BadCursor`."""
    try:
        key = msgspec.json.decode(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)), type=kind)
    except (ValueError, msgspec.MsgspecError):
        raise BadCursor from None
    # The longest key that every database can compare.
    if "\x00" in key if isinstance(key, str) else not 0 <= key <= LARGEST_ID:
        raise BadCursor
    return key


def to_cursor(place: ListPosition) -> str:
    """The cursor for a list that is ordered by time, then by id."""
    return cursor_at(f"{place.at} {place.entry_id}")


def from_cursor(cursor: str) -> ListPosition:
    """The position in a cursor of `to_cursor`; raises `BadCursor`."""
    return _read_position(key_at(cursor, str))


def to_list_cursor(place: ListCursor) -> str:
    """The cursor for a list that may show raised entries first."""
    if place.raised is None:
        return to_cursor(place.position)
    position, raised = place.position, place.raised
    shown = f"{raised.last.at} {raised.last.entry_id} {raised.lowest_id} {raised.until}"
    return cursor_at(f"{position.at} {position.entry_id} {shown}")


def from_list_cursor(cursor: str) -> ListCursor:
    """What is in a cursor of `to_list_cursor`; raises `BadCursor`."""
    read = _LIST.fullmatch(key_at(cursor, str))
    if read is None:
        raise BadCursor
    if not read[2]:
        return ListCursor(_read_position(read[1]))
    raised = RaisedRange(_read_position(read[2]), min(int(read[3]), LARGEST_ID), read[4])
    return ListCursor(_read_position(read[1]), raised)


def _read_position(text: str) -> ListPosition:
    read = _PLACE.fullmatch(text)
    if read is None or int(read[2]) > LARGEST_ID:
        raise BadCursor
    return ListPosition(read[1], int(read[2]))
