"""`/feed/n/archive/m`: shows, compares and downloads one raw body.

The body is untrusted: a limited part of it is shown as plain text, and its bytes are served with headers that keep a
browser from rendering them.
"""

import asyncio

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.archive.blobs import Blobs
from feedmill.errors import BlobError, BlobMissing
from feedmill.library.archive.line_diff import DiffLine, TooDifferent, diff_lines
from feedmill.library.archive.raw_bodies import decode_raw_body, find_raw_body, previous_raw_body
from feedmill.library.subscriptions.lookup import find_subscription
from feedmill.model.raw_body import RawBodyDetails
from feedmill.model.subscription import Subscription
from feedmill.model.user import User
from feedmill.serve.http.security_headers import INERT_HEADERS
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.current_user import signed_in
from feedmill.serve.web.core.path_ids import path_id
from feedmill.serve.web.core.render_page import render_page

MAX_SHOWN_CHARACTERS = 200_000
# A larger raw body is not compared.
MAX_COMPARED_BYTES = 4_000_000


async def show_raw_body(request: Request) -> Response:
    feed, raw_body = await _find_raw_body(request, (await signed_in(request)).user)
    try:
        data = await the_app(request).blobs.get(raw_body.key, 0, MAX_SHOWN_CHARACTERS * 4)
    except BlobError as error:
        return await _show(request, feed, raw_body, problem=_problem(error))
    text = await asyncio.to_thread(decode_raw_body, data, raw_body.content_type)
    is_cut = len(text) > MAX_SHOWN_CHARACTERS or len(data) < raw_body.size
    return await _show(request, feed, raw_body, text=text[:MAX_SHOWN_CHARACTERS], is_cut=is_cut)


async def show_difference(request: Request) -> Response:
    feed, raw_body = await _find_raw_body(request, (await signed_in(request)).user)
    app = the_app(request)
    before = await previous_raw_body(app.db, feed, raw_body)
    if before is None:
        return await _show(request, feed, raw_body, problem="archive.no_previous")
    if max(before.size, raw_body.size) > MAX_COMPARED_BYTES:
        return await _show(request, feed, raw_body, problem="archive.too_large_to_compare")
    try:
        lines = await _lines(app.blobs, before, raw_body)
    except BlobError as error:
        return await _show(request, feed, raw_body, problem=_problem(error))
    except TooDifferent:
        return await _show(request, feed, raw_body, problem="archive.too_different")
    return await _show(request, feed, raw_body, before=before, lines=lines)


async def _lines(blobs: Blobs, before: RawBodyDetails, raw_body: RawBodyDetails) -> list[DiffLine]:
    old, new = await blobs.get(before.key), await blobs.get(raw_body.key)

    def compare() -> list[DiffLine]:
        return diff_lines(decode_raw_body(old, before.content_type), decode_raw_body(new, raw_body.content_type))

    return await asyncio.to_thread(compare)


async def download_raw_body(request: Request) -> Response:
    feed, raw_body = await _find_raw_body(request, (await signed_in(request)).user)
    try:
        data = await the_app(request).blobs.get(raw_body.key)
    except BlobMissing as error:
        return await _show(request, feed, raw_body, problem=_problem(error))
    name = f"feed-{feed.id}-{raw_body.at:%Y-%m-%dT%H%M%SZ}.xml"
    attached = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(data, headers=INERT_HEADERS | attached, media_type="application/octet-stream")


async def _find_raw_body(request: Request, user: User) -> tuple[Subscription, RawBodyDetails]:
    db, id = the_app(request).db, path_id(request)
    return await find_subscription(db, user.id, id), await find_raw_body(db, user.id, id, path_id(request, "body"))


async def _show(
    request: Request,
    feed: Subscription,
    raw_body: RawBodyDetails,
    *,
    text: str | None = None,
    is_cut: bool = False,
    before: RawBodyDetails | None = None,
    lines: list[DiffLine] | None = None,
    problem: str = "",
) -> Response:
    status = 404 if problem == "archive.missing" else 503 if problem == "archive.store_down" else 200
    return await render_page(
        request,
        "archive/raw_body.html",
        status,
        title=feed.title,
        feed=feed,
        raw_body=raw_body,
        text=text,
        is_cut=is_cut,
        before=before,
        lines=lines,
        problem=problem,
        active=f"/feed/{feed.id}",
    )


def _problem(error: BlobError) -> str:
    return "archive.missing" if isinstance(error, BlobMissing) else "archive.store_down"


routes = [
    Route("/feed/{id:int}/archive/{body:int}", show_raw_body),
    Route("/feed/{id:int}/archive/{body:int}/diff", show_difference),
    Route("/feed/{id:int}/archive/{body:int}/download", download_raw_body),
]
