"""Reads the cursor of a request, and cuts a page from a query result."""

from collections.abc import Sequence
from typing import TypeVar

from starlette.requests import Request

from feedmill.library.cursors import Key, key_at

MAX_CURSOR_LENGTH = 200

Thing = TypeVar("Thing")


def decode_cursor(cursor: str | None, beginning: Key) -> Key:
    """The sort key in a cursor; `beginning` without a cursor."""
    return beginning if cursor is None else key_at(cursor, type(beginning))


def query_cursor(request: Request) -> str | None:
    """The cursor in the query of a page's URL."""
    return request.query_params.get("cursor", "")[:MAX_CURSOR_LENGTH] or None


def split_page(found: Sequence[Thing], limit: int) -> tuple[Sequence[Thing], Thing | None]:
    """Splits a result of up to `limit` + 1 rows: the page, and its last row if there is another page."""
    return found[:limit], found[limit - 1] if len(found) > limit else None
