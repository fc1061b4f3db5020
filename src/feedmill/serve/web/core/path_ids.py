"""Reads a numeric id from the path of a request."""

from starlette.requests import Request

from feedmill.errors import NotFound
from feedmill.i18n.messages import Message
from feedmill.model.max_id import MAX_ID


def path_id(request: Request, name: str = "id") -> int:
    """The id in the path; raises `NotFound` for a number larger than any id."""
    id: int = request.path_params[name]
    if id > MAX_ID:
        raise NotFound(Message("error.no_such_page"))
    return id
