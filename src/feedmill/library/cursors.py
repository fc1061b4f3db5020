"""Where a page of a list ended, as text that only we read."""

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode

from feedmill.errors import NotFound
from feedmill.model.reading import Place

LARGEST_ID = 2**53 - 1

_PLACE = re.compile(r"(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z) (\d{1,16})", re.ASCII)


def to_cursor(place: Place) -> str:
    return urlsafe_b64encode(f"{place.at} {place.entry_id}".encode()).decode().rstrip("=")


def from_cursor(cursor: str) -> Place:
    """The place that `to_cursor` wrote down; `NotFound` for whatever is not of its making."""
    try:
        text = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode("ascii")
    except ValueError:
        text = ""
    read = _PLACE.fullmatch(text)
    if read is None or int(read[2]) > LARGEST_ID:
        raise NotFound("there is no such page: this is no cursor of ours")
    return Place(read[1], int(read[2]))
