"""Where a page of a list ended, as a text that a client hands back and nobody needs to understand."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from typing import Annotated, TypeVar

import msgspec
from fastapi import Query

from feedmill.errors import NotFound
from feedmill.serve.rest.fields import MOST_ID

Limit = Annotated[int, Query(ge=1, le=200, description="How many at most.")]
Cursor = Annotated[str | None, Query(max_length=500, description="The `next` of the page before.")]

Kind = TypeVar("Kind", int, str)
Thing = TypeVar("Thing")


def cursor_at(place: int | str) -> str:
    return urlsafe_b64encode(msgspec.json.encode(place)).decode().rstrip("=")


def place_at(cursor: str | None, beginning: Kind) -> Kind:
    """What a cursor stands for, or the beginning when there is none."""
    if cursor is None:
        return beginning
    try:
        place = msgspec.json.decode(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)), type=type(beginning))
    except (ValueError, msgspec.MsgspecError):
        raise NotFound("there is no such page: this is no cursor of ours") from None
    # As much as every database can compare with.
    if "\x00" in place if isinstance(place, str) else not 0 <= place < MOST_ID:
        raise NotFound("there is no such page: this is no cursor of ours")
    return place


def cut(found: Sequence[Thing], limit: int) -> tuple[Sequence[Thing], Thing | None]:
    """A page of what was found with one more than `limit`, and its last if there is another page."""
    return found[:limit], found[limit - 1] if len(found) > limit else None
