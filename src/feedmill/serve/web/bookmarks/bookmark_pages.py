"""`/bookmarks`: lists, saves, changes and deletes bookmarks."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import BadInput
from feedmill.library.cursors import from_cursor, to_cursor
from feedmill.model.entry_lists import ListPosition
from feedmill.model.timestamps import to_iso
from feedmill.model.user import User
from feedmill.serve.http.paginate import query_cursor
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.current_user import signed_in
from feedmill.serve.web.core.error_pages import is_fragment_request
from feedmill.serve.web.core.flash import flash_success
from feedmill.serve.web.core.form_fields import TEXT, accepts_form
from feedmill.serve.web.core.path_ids import path_id
from feedmill.serve.web.core.read_form import checked_form, form_text
from feedmill.serve.web.core.redirects import redirect
from feedmill.serve.web.core.render_page import render_page, render_template

PATH = "/bookmarks"
ROWS = 50
LONGEST_TITLE = 500
LONGEST_NOTE = 10_000


async def list_bookmarks(request: Request) -> Response:
    caller = await signed_in(request)
    return await _show_list(request, caller.user, url=request.query_params.get("url", "")[:2000])


async def show_bookmark(request: Request) -> Response:
    """One row of the list, for a script that polls until the page was fetched."""
    caller = await signed_in(request)
    bookmark = await the_app(request).bookmarks.one(caller.user.id, path_id(request))
    if is_fragment_request(request):
        return render_template(request, "bookmarks/bookmark_row.html", bookmark=bookmark)
    return redirect(f"{PATH}#b{bookmark.id}")


@accepts_form({"url": TEXT, "note": TEXT.optional})
async def save_bookmark(request: Request) -> Response:
    caller = await signed_in(request)
    sent = await checked_form(request)
    url, note = form_text(sent, "url").strip(), _note(form_text(sent, "note"))
    try:
        _, is_new = await the_app(request).bookmarks.save(caller.user.id, url, None, note)
    except BadInput:
        return await _show_list(request, caller.user, 422, url, note or "", wrong=True)
    return redirect(PATH, flash_success("bookmarks.saved" if is_new else "bookmarks.known"))


@accepts_form({"title": TEXT, "note": TEXT})
async def change_bookmark(request: Request) -> Response:
    caller = await signed_in(request)
    sent = await checked_form(request)
    title = " ".join(form_text(sent, "title").split())[:LONGEST_TITLE]
    changes = {"title": title or None, "note": _note(form_text(sent, "note"))}
    await the_app(request).bookmarks.change(caller.user.id, path_id(request), changes)
    return redirect(PATH, flash_success("bookmarks.changed"))


@accepts_form({})
async def delete_bookmark(request: Request) -> Response:
    caller = await signed_in(request)
    await checked_form(request)
    await the_app(request).bookmarks.delete(caller.user.id, path_id(request))
    return redirect(PATH, flash_success("bookmarks.deleted"))


@accepts_form({})
async def retry_bookmark(request: Request) -> Response:
    caller = await signed_in(request)
    await checked_form(request)
    await the_app(request).bookmarks.retry(caller.user.id, path_id(request))
    return redirect(PATH, flash_success("bookmarks.retried"))


def _note(written: str) -> str | None:
    return written.replace("\r\n", "\n").strip()[:LONGEST_NOTE] or None


async def _show_list(
    request: Request, user: User, status: int = 200, url: str = "", note: str = "", wrong: bool = False
) -> Response:
    cursor = query_cursor(request)
    place = from_cursor(cursor) if cursor else None
    found = await the_app(request).bookmarks.page(user.id, place, ROWS + 1)
    page, last = found[:ROWS], found[ROWS - 1] if len(found) > ROWS else None
    more = f"{PATH}?cursor={to_cursor(ListPosition(to_iso(last.created_at), last.id))}" if last else None
    if is_fragment_request(request):
        return render_template(request, "bookmarks/bookmark_rows.html", bookmarks=page, more=more)
    values = {"url": url, "note": note, "wrong": wrong, "is_first": not cursor}
    return await render_page(request, "bookmarks/bookmarks.html", status, bookmarks=page, more=more, **values)


routes = [
    Route(PATH, list_bookmarks, methods=["GET"]),
    Route(PATH, save_bookmark, methods=["POST"]),
    Route("/bookmarks/{id:int}", show_bookmark, methods=["GET"]),
    Route("/bookmarks/{id:int}", change_bookmark, methods=["POST"]),
    Route("/bookmarks/{id:int}/delete", delete_bookmark, methods=["POST"]),
    Route("/bookmarks/{id:int}/retry", retry_bookmark, methods=["POST"]),
]
