"""`/bookmarks`: pages saved by their address, whether a feed brought them or not."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import BadInput
from feedmill.library.cursors import from_cursor, to_cursor
from feedmill.model.account import User
from feedmill.model.reading import Place
from feedmill.model.times import to_text
from feedmill.serve.web.flash import say
from feedmill.serve.web.ids import path_id
from feedmill.serve.web.page import form, go, render, show, signed_in, text, the_app
from feedmill.serve.web.problems import is_partial

PATH = "/bookmarks"
ROWS = 50
LONGEST_CURSOR = 200
LONGEST_TITLE = 500
LONGEST_NOTE = 10_000


async def see(request: Request) -> Response:
    caller = await signed_in(request)
    return await _shown(request, caller.user, url=request.query_params.get("url", "")[:2000])


async def one(request: Request) -> Response:
    """One line of the list, for a script that waits until its page was fetched."""
    caller = await signed_in(request)
    bookmark = await the_app(request).bookmarks.one(caller.user.id, path_id(request))
    if is_partial(request):
        return render(request, "parts/bookmark_line.html", bookmark=bookmark)
    return go(f"{PATH}#b{bookmark.id}")


async def save(request: Request) -> Response:
    caller = await signed_in(request)
    sent = await form(request)
    url, note = text(sent, "url").strip(), _note(text(sent, "note"))
    try:
        _, is_new = await the_app(request).bookmarks.save(caller.user.id, url, None, note)
    except BadInput:
        return await _shown(request, caller.user, 422, url, note or "", wrong=True)
    return go(PATH, say("bookmarks.saved" if is_new else "bookmarks.known"))


async def change(request: Request) -> Response:
    caller = await signed_in(request)
    sent = await form(request)
    title = " ".join(text(sent, "title").split())[:LONGEST_TITLE]
    changes = {"title": title or None, "note": _note(text(sent, "note"))}
    await the_app(request).bookmarks.change(caller.user.id, path_id(request), changes)
    return go(PATH, say("bookmarks.changed"))


async def delete(request: Request) -> Response:
    caller = await signed_in(request)
    await form(request)
    await the_app(request).bookmarks.delete(caller.user.id, path_id(request))
    return go(PATH, say("bookmarks.deleted"))


async def retry(request: Request) -> Response:
    caller = await signed_in(request)
    await form(request)
    await the_app(request).bookmarks.retry(caller.user.id, path_id(request))
    return go(PATH, say("bookmarks.retried"))


def _note(written: str) -> str | None:
    return written.replace("\r\n", "\n").strip()[:LONGEST_NOTE] or None


async def _shown(
    request: Request, user: User, status: int = 200, url: str = "", note: str = "", wrong: bool = False
) -> Response:
    cursor = request.query_params.get("cursor", "")[:LONGEST_CURSOR]
    place = from_cursor(cursor) if cursor else None
    found = await the_app(request).bookmarks.page(user.id, place, ROWS + 1)
    page, last = found[:ROWS], found[ROWS - 1] if len(found) > ROWS else None
    more = f"{PATH}?cursor={to_cursor(Place(to_text(last.created_at), last.id))}" if last else None
    if is_partial(request):
        return render(request, "parts/bookmark_lines.html", bookmarks=page, more=more)
    values = {"url": url, "note": note, "wrong": wrong, "is_first": not cursor}
    return await show(request, "bookmarks.html", status, bookmarks=page, more=more, **values)


routes = [
    Route(PATH, see, methods=["GET"]),
    Route(PATH, save, methods=["POST"]),
    Route("/bookmarks/{id:int}", one, methods=["GET"]),
    Route("/bookmarks/{id:int}", change, methods=["POST"]),
    Route("/bookmarks/{id:int}/delete", delete, methods=["POST"]),
    Route("/bookmarks/{id:int}/retry", retry, methods=["POST"]),
]
