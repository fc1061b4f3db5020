"""Responses that a client may have already: 304 if its `If-None-Match` says so."""

from hashlib import blake2b
from typing import Any

import msgspec
from fastapi import Request
from fastapi.responses import Response

from feedmill.serve.http.cache_headers import matches_etag

NO_CACHE = {"Cache-Control": "private, no-cache"}
UNCHANGED: dict[int | str, dict[str, Any]] = {304: {"description": "The page is as you have it."}}


def answer_unless_known(request: Request, page: Any, content: Any) -> Response:
    """The page as JSON with an ETag of its `content`; 304 if the client has that."""
    tag = f'W/"{blake2b(msgspec.json.encode(content), digest_size=12).hexdigest()}"'
    headers = NO_CACHE | {"ETag": tag}
    if matches_etag(request, tag):
        return Response(status_code=304, headers=headers)
    return json_answer(page, headers)


def json_answer(page: Any, headers: dict[str, str] = NO_CACHE) -> Response:
    """The page as JSON, without checks by a model: pages are large, and are made of our own values."""
    return Response(msgspec.json.encode(page), headers=headers, media_type="application/json")
