"""Pages of a list: how a client asks for the next one, and how one is cut from what was found."""

from collections.abc import Sequence
from typing import Annotated, TypeVar

from fastapi import Query

from feedmill.library.cursors import Kind, key_at
from feedmill.library.cursors import cursor_at as cursor_at

Limit = Annotated[int, Query(ge=1, le=200, description="How many at most.")]
Cursor = Annotated[str | None, Query(max_length=500, description="The `next` of the page before.")]

Thing = TypeVar("Thing")


def place_at(cursor: str | None, beginning: Kind) -> Kind:
    """What a cursor stands for, or the beginning when there is none."""
    return beginning if cursor is None else key_at(cursor, type(beginning))


def cut(found: Sequence[Thing], limit: int) -> tuple[Sequence[Thing], Thing | None]:
    """A page of what was found with one more than `limit`, and its last if there is another page."""
    return found[:limit], found[limit - 1] if len(found) > limit else None
