"""`/feed/n/archive/m`: one kept answer: its text, its bytes, and how it differs from the one before.

Whatever a server sent is hostile: it is shown as characters only, so many of them, and its bytes are handed out in a
way in which no browser takes them for a page.
"""

import asyncio

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.archive.blobs import Blobs
from feedmill.errors import BlobError, BlobMissing
from feedmill.library.archives import answer_before, find_answer, in_text
from feedmill.library.lines import Line, TooDifferent, compare_lines
from feedmill.library.subscriptions import find_subscription
from feedmill.model.account import User
from feedmill.model.subscription import Subscription
from feedmill.serve.web.ids import path_id
from feedmill.serve.web.page import show, signed_in, the_app
from feedmill.store.kept_bodies import KeptAnswer

SHOWN_CHARACTERS = 200_000
# A larger answer is not read for a comparison.
COMPARED_BYTES = 4_000_000
INERT = {
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
}


async def view(request: Request) -> Response:
    feed, answer = await _found(request, (await signed_in(request)).user)
    try:
        data = await the_app(request).blobs.get(answer.key, 0, SHOWN_CHARACTERS * 4)
    except BlobError as error:
        return await _show(request, feed, answer, problem=_problem(error))
    text = await asyncio.to_thread(in_text, data, answer.content_type)
    is_cut = len(text) > SHOWN_CHARACTERS or len(data) < answer.size
    return await _show(request, feed, answer, text=text[:SHOWN_CHARACTERS], is_cut=is_cut)


async def difference(request: Request) -> Response:
    feed, answer = await _found(request, (await signed_in(request)).user)
    app = the_app(request)
    before = await answer_before(app.db, feed.feed_id, answer)
    if before is None:
        return await _show(request, feed, answer, problem="archive.no_previous")
    if max(before.size, answer.size) > COMPARED_BYTES:
        return await _show(request, feed, answer, problem="archive.too_large_to_compare")
    try:
        lines = await _lines(app.blobs, before, answer)
    except BlobError as error:
        return await _show(request, feed, answer, problem=_problem(error))
    except TooDifferent:
        return await _show(request, feed, answer, problem="archive.too_different")
    return await _show(request, feed, answer, before=before, lines=lines)


async def _lines(blobs: Blobs, before: KeptAnswer, answer: KeptAnswer) -> list[Line]:
    old, new = await blobs.get(before.key), await blobs.get(answer.key)

    def compare() -> list[Line]:
        return compare_lines(in_text(old, before.content_type), in_text(new, answer.content_type))

    return await asyncio.to_thread(compare)


async def download(request: Request) -> Response:
    feed, answer = await _found(request, (await signed_in(request)).user)
    try:
        data = await the_app(request).blobs.get(answer.key)
    except BlobMissing as error:
        return await _show(request, feed, answer, problem=_problem(error))
    name = f"feed-{feed.id}-{answer.at:%Y-%m-%dT%H%M%SZ}.xml"
    attached = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(data, headers=INERT | attached, media_type="application/octet-stream")


async def _found(request: Request, user: User) -> tuple[Subscription, KeptAnswer]:
    db, id = the_app(request).db, path_id(request)
    return await find_subscription(db, user.id, id), await find_answer(db, user.id, id, path_id(request, "body"))


async def _show(
    request: Request, feed: Subscription, answer: KeptAnswer, *, text: str | None = None, is_cut: bool = False,
    before: KeptAnswer | None = None, lines: list[Line] | None = None, problem: str = "",
) -> Response:  # fmt: skip
    status = 404 if problem == "archive.missing" else 503 if problem == "archive.store_down" else 200
    return await show(
        request, "archive_answer.html", status, title=feed.title, feed=feed, answer=answer, text=text, is_cut=is_cut,
        before=before, lines=lines, problem=problem, active=f"/feed/{feed.id}",
    )  # fmt: skip


def _problem(error: BlobError) -> str:
    return "archive.missing" if isinstance(error, BlobMissing) else "archive.store_down"


routes = [
    Route("/feed/{id:int}/archive/{body:int}", view),
    Route("/feed/{id:int}/archive/{body:int}/diff", difference),
    Route("/feed/{id:int}/archive/{body:int}/download", download),
]
