"""`/sidebar`: the rows of the feed list, filtered or further down, and how the user leaves it."""

from dataclasses import replace

from starlette.datastructures import FormData, QueryParams
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.current_user import signed_in
from feedmill.serve.web.core.error_pages import is_fragment_request
from feedmill.serve.web.core.form_fields import NEXT_PATH, NUMBER, TEXT, accepts_form, matching, one_of
from feedmill.serve.web.core.read_form import checked_form, form_text
from feedmill.serve.web.core.redirects import local_path, redirect
from feedmill.serve.web.core.render_page import render_template
from feedmill.serve.web.sidebar.feed_tree import load_feed_tree
from feedmill.serve.web.sidebar.sidebar_rows import (
    RowFilter,
    RowWindow,
    gap_window,
    page_window,
    unread_place,
    visible_rows,
)
from feedmill.serve.web.sidebar.sidebar_state import GROUPS, SidebarState, save_state, sidebar_state_of

MAX_QUERY_LENGTH = 100
MAX_PATH_LENGTH = 200
GROUP = matching(rf"(?:{'|'.join(GROUPS)}):(?:open|closed)")


async def show_rows(request: Request) -> Response:
    """The list as the user left it; with `q` the feeds of that name; with `first`, `last` and `near` rows of a gap."""
    caller = await signed_in(request)
    asked = request.query_params
    words = tuple(asked.get("q", "")[:MAX_QUERY_LENGTH].casefold().split())
    shown = RowFilter(sidebar_state_of(caller.user), asked.get("at", "")[:MAX_PATH_LENGTH], words)
    rows = visible_rows(await load_feed_tree(the_app(request).db, caller.user.id), shown)
    gap = _gap(asked, len(rows))
    if gap is not None:
        window = gap_window(rows, *gap)
        return render_template(request, "sidebar/gap_rows.html", window=window, active=shown.active)
    return _list(request, shown, page_window(rows, "" if words else shown.active))


def _gap(asked: QueryParams, most: int) -> tuple[int, int, int] | None:
    """The first, last and nearest row that were asked for; None unless all are numbers."""
    numbers = [asked.get(name, "") for name in ("first", "last", "near")]
    if not all(each.isascii() and each.isdigit() and len(each) < 10 for each in numbers):
        return None
    first, last, near = (min(int(each), most) for each in numbers)
    return first, last, near


@accepts_form(
    {
        "folder": NUMBER.optional,
        "unread": one_of("0", "1").optional,
        "collapsed": one_of("0", "1").optional,
        "group": GROUP.optional,
        "at": TEXT.optional,
        "next": NEXT_PATH,
    }
)
async def change_sidebar(request: Request) -> Response:
    """Opens or closes a folder, all folders or a group, or hides feeds without unread; it stays so."""
    caller = await signed_in(request)
    sent = await checked_form(request)
    user = await save_state(the_app(request).db, caller.user, _changed(sidebar_state_of(caller.user), sent))
    if not is_fragment_request(request):
        return redirect(local_path(sent.get("next")))
    if sent.get("group"):
        return Response(status_code=204)
    shown = RowFilter(sidebar_state_of(user), form_text(sent, "at")[:MAX_PATH_LENGTH])
    rows = visible_rows(await load_feed_tree(the_app(request).db, user.id), shown)
    folder = form_text(sent, "folder")
    return _list(request, shown, page_window(rows, f"/folder/{folder}" if folder else shown.active))


def _changed(state: SidebarState, sent: FormData) -> SidebarState:
    folder, unread, collapsed, group = (form_text(sent, name) for name in ("folder", "unread", "collapsed", "group"))
    if folder:
        state = state.toggled(int(folder))
    if unread:
        state = replace(state, only_unread=unread == "1")
    if collapsed:
        state = state.collapsed(collapsed == "1")
    if group:
        name, _, how = group.partition(":")
        state = state.with_group(name, how == "open")
    return state


def _list(request: Request, shown: RowFilter, window: RowWindow) -> Response:
    return render_template(
        request, "sidebar/feed_list.html", window=window, state=shown.state, active=shown.active, words=shown.words
    )


async def go_to_unread(request: Request) -> Response:
    """Goes to the next folder or feed with unread entries after `at`, or to the one before it (`by=-1`)."""
    caller = await signed_in(request)
    at, by = request.query_params.get("at", ""), -1 if request.query_params.get("by") == "-1" else 1
    everything = RowFilter(SidebarState(), at)
    rows = visible_rows(await load_feed_tree(the_app(request).db, caller.user.id), everything)
    return redirect(unread_place(rows, at, by) or local_path(at, "/unread"))


routes = [
    Route("/sidebar", show_rows, methods=["GET"]),
    Route("/sidebar", change_sidebar, methods=["POST"]),
    Route("/next-unread", go_to_unread, methods=["GET"]),
]
