"""`GET /images/…`: serves archived images, with ranges and ETags, as inert content.

The path is the object's key. Only what the database calls an archived image is looked for in the store, so no
path leads anywhere else; the content type comes from our table by the key's extension. They are for whoever is
signed in, and those of a feed that somebody's own password opens for that somebody alone.
"""

import re
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.app import App
from feedmill.archive.images.file_types import TYPE_BY_EXTENSION
from feedmill.archive.keys import IMAGES_PREFIX, parse_image_key
from feedmill.errors import BlobError, BlobMissing
from feedmill.model.feed import PRIVATE_URL_MARKER
from feedmill.serve.http.auth import caller_of
from feedmill.store.archive.image_tasks import image_of_key

MAX_KEY_LENGTH = 200
INERT_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
}
CACHE_FOREVER = {"Cache-Control": "private, max-age=31536000, immutable"}
NO_STORE = {"Cache-Control": "no-store"}

_RANGE = re.compile(r"bytes=([0-9]{0,15})-([0-9]{0,15})")


@dataclass(frozen=True, slots=True)
class ArchivedImageInfo:
    """An image as the database knows it."""

    key: str
    content_type: str
    size: int
    etag: str


async def serve_image(request: Request) -> Response:
    who = await caller_of(request)
    if who is None:
        return Response(status_code=401, headers=INERT_HEADERS | NO_STORE | {"WWW-Authenticate": "Bearer"})
    return await serve_image_to(request, who.user.id)


async def serve_image_to(request: Request, user_id: int) -> Response:
    """The image as this user may see it."""
    app: App = request.app.state.app
    kept = await _find(app, IMAGES_PREFIX + request.path_params["rest"], user_id)
    if kept is None:
        return Response(status_code=404, headers=INERT_HEADERS | NO_STORE)
    same = (
        INERT_HEADERS | CACHE_FOREVER | {"ETag": kept.etag, "Content-Type": kept.content_type, "Accept-Ranges": "bytes"}
    )
    if matches_etag(request, kept.etag):
        return Response(status_code=304, headers=same)
    span = _requested_range(request, kept)
    if span is None:
        return Response(status_code=416, headers=INERT_HEADERS | NO_STORE | {"Content-Range": f"bytes */{kept.size}"})
    return await _image_response(app, request, kept, span, same)


async def _find(app: App, key: str, user_id: int) -> ArchivedImageInfo | None:
    parsed = parse_image_key(key) if len(key) <= MAX_KEY_LENGTH else None
    type = TYPE_BY_EXTENSION.get(parsed.extension) if parsed else None
    stored = await image_of_key(app.db, key) if type else None
    if type is None or stored is None or not may_see(stored.feed_url, user_id):
        return None
    return ArchivedImageInfo(key, type.content_type, stored.size, f'"{stored.sha256}"')


def may_see(feed_url: str, user_id: int) -> bool:
    """Whether the feed is everybody's, or this user's own."""
    _, mark, owner = feed_url.partition(PRIVATE_URL_MARKER)
    return not mark or owner == str(user_id)


async def _image_response(
    app: App, request: Request, kept: ArchivedImageInfo, span: range, headers: dict[str, str]
) -> Response:
    is_part = len(span) < kept.size
    if is_part:
        headers = headers | {"Content-Range": f"bytes {span.start}-{span.stop - 1}/{kept.size}"}
    if request.method == "HEAD":
        return Response(status_code=200, headers=headers | {"Content-Length": str(len(span))})
    try:
        body = await app.blobs.get(kept.key, span.start, span.stop if is_part else None)
    except BlobMissing:
        return Response(status_code=404, headers=INERT_HEADERS | NO_STORE)
    except BlobError:
        return Response(status_code=503, headers=INERT_HEADERS | NO_STORE | {"Retry-After": "30"})
    return Response(body, 206 if is_part else 200, headers)


def matches_etag(request: Request, etag: str) -> bool:
    """Whether the browser says that it has just that."""
    known = [tag.strip().removeprefix("W/") for tag in request.headers.get("if-none-match", "").split(",")]
    return etag in known or known == ["*"]


def _requested_range(request: Request, kept: ArchivedImageInfo) -> range | None:
    """Which bytes are asked for: all, unless it is one range that can be read; None for one beyond the end."""
    whole = range(kept.size)
    asked = _RANGE.fullmatch(request.headers.get("range", "")) if request.method == "GET" else None
    if asked is None or asked[0] == "bytes=-" or request.headers.get("if-range", kept.etag) != kept.etag:
        return whole
    first, last = asked.groups()
    if not first:
        return whole[max(kept.size - int(last), 0) :] or None
    if last and int(last) < int(first):
        return whole
    return whole[int(first) : int(last) + 1 if last else None] or None


routes = [Route("/images/{rest:path}", serve_image)]
