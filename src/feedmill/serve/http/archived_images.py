"""`GET /images/…`: serves archived images, with ranges and ETags, as inert content.

The path is the object's key. It is looked up in the database first, so that no path leads to another object. Images
are only for signed-in users; `library` decides who may see which.
"""

import re

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.app import App
from feedmill.archive.object_keys import IMAGES_PREFIX
from feedmill.errors import BlobError, BlobMissing
from feedmill.library.archive.archived_images import ArchivedImage, find_archived_image
from feedmill.serve.http.auth import caller_of_file_request
from feedmill.serve.http.cache_headers import CACHE_FOREVER, NO_STORE, matches_etag
from feedmill.serve.http.security_headers import INERT_HEADERS

_RANGE = re.compile(r"bytes=([0-9]{0,15})-([0-9]{0,15})")


async def serve_image(request: Request) -> Response:
    who = await caller_of_file_request(request)
    if who is None:
        return Response(status_code=401, headers=INERT_HEADERS | NO_STORE | {"WWW-Authenticate": "Bearer"})
    return await serve_image_to(request, who.user.id)


async def serve_image_to(request: Request, user_id: int) -> Response:
    """Serves the image if this user may see it."""
    app: App = request.app.state.app
    image = await find_archived_image(app.db, user_id, IMAGES_PREFIX + request.path_params["path"])
    if image is None:
        return Response(status_code=404, headers=INERT_HEADERS | NO_STORE)
    image_headers = {"ETag": _etag(image), "Content-Type": image.content_type, "Accept-Ranges": "bytes"}
    headers = INERT_HEADERS | CACHE_FOREVER | image_headers
    if matches_etag(request, _etag(image)):
        return Response(status_code=304, headers=headers)
    span = _requested_range(request, image)
    if span is None:
        return Response(status_code=416, headers=INERT_HEADERS | NO_STORE | {"Content-Range": f"bytes */{image.size}"})
    return await _image_response(app, request, image, span, headers)


async def _image_response(
    app: App, request: Request, image: ArchivedImage, span: range, headers: dict[str, str]
) -> Response:
    is_part = len(span) < image.size
    if is_part:
        headers = headers | {"Content-Range": f"bytes {span.start}-{span.stop - 1}/{image.size}"}
    if request.method == "HEAD":
        return Response(status_code=200, headers=headers | {"Content-Length": str(len(span))})
    try:
        body = await app.blobs.get(image.key, span.start, span.stop if is_part else None)
    except BlobMissing:
        return Response(status_code=404, headers=INERT_HEADERS | NO_STORE)
    except BlobError:
        return Response(status_code=503, headers=INERT_HEADERS | NO_STORE | {"Retry-After": "30"})
    return Response(body, 206 if is_part else 200, headers)


def _etag(image: ArchivedImage) -> str:
    return f'"{image.sha256}"'


def _requested_range(request: Request, image: ArchivedImage) -> range | None:
    """The requested bytes: all, unless the request has one valid range; None for a range beyond the end."""
    whole = range(image.size)
    match = _RANGE.fullmatch(request.headers.get("range", "")) if request.method == "GET" else None
    if match is None or match[0] == "bytes=-" or request.headers.get("if-range", _etag(image)) != _etag(image):
        return whole
    first, last = match.groups()
    if not first:
        return whole[max(image.size - int(last), 0) :] or None
    if last and int(last) < int(first):
        return whole
    return whole[int(first) : int(last) + 1 if last else None] or None


routes = [Route("/images/{path:path}", serve_image)]
