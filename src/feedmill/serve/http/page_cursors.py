"""Cuts a page from a query result and decodes cursors."""

from collections.abc import Sequence
from typing import TypeVar

from starlette.requests import Request

from feedmill.library.cursors import Key, key_at
from feedmill.library.cursors import cursor_at as cursor_at

LONGEST_CURSOR = 200

Thing = TypeVar("Thing")


def decode_cursor(cursor: str | None, beginning: Key) -> Key:
    """What a cursor stands for, or the beginning when there is none."""
    return beginning if cursor is None else key_at(cursor, type(beginning))


def query_cursor(request: Request) -> str | None:
    """The cursor that the address of a page names."""
    return request.query_params.get("cursor", "")[:LONGEST_CURSOR] or None


def split_page(found: Sequence[Thing], limit: int) -> tuple[Sequence[Thing], Thing | None]:
    """A page of what was found with one more than `limit`, and its last if there is another page."""
    return found[:limit], found[limit - 1] if len(found) > limit else None
