"""The menus of the sidebar's rows (`/feed/n/menu`, `/folder/n/menu`); renames and moves feeds and folders."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.library.subscriptions.change_subscription import SubscriptionChange, update_subscription
from feedmill.library.subscriptions.folders import (
    FolderPlace,
    check_folders,
    find_folder,
    place_folder,
)
from feedmill.library.subscriptions.lookup import find_subscription
from feedmill.model.user import User
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.current_user import signed_in
from feedmill.serve.web.core.error_pages import is_fragment_request
from feedmill.serve.web.core.flash import flash_success
from feedmill.serve.web.core.form_fields import NEXT_PATH, NUMBER, TEXT, accepts_form, one_of
from feedmill.serve.web.core.path_ids import path_id
from feedmill.serve.web.core.read_form import checked_form, form_text, read_id
from feedmill.serve.web.core.redirects import local_path, redirect
from feedmill.serve.web.core.render_page import render_page, render_template
from feedmill.serve.web.feeds.subscription_fields import folder_options, read_title


async def show_feed_menu(request: Request) -> Response:
    """The menu of a feed; `from` is the folder in which its row stands, where it is in several."""
    caller = await signed_in(request)
    feed = await find_subscription(the_app(request).db, caller.user.id, path_id(request))
    from_folder = request.query_params.get("from", "")
    asked = int(from_folder) if from_folder.isascii() and from_folder.isdigit() and len(from_folder) < 16 else 0
    only = feed.folder_ids[0] if len(feed.folder_ids) == 1 else 0
    here = asked if asked in feed.folder_ids else only
    return await _menu(request, caller.user, title=feed.title, feed=feed, folder=None, from_folder=here)


async def show_folder_menu(request: Request) -> Response:
    caller = await signed_in(request)
    folder = await find_folder(the_app(request).db, caller.user.id, path_id(request))
    return await _menu(request, caller.user, title=folder.name, feed=None, folder=folder, from_folder=folder.parent_id)


async def _menu(request: Request, user: User, **values: Any) -> Response:
    values["folder_choices"] = await folder_options(the_app(request).db, user.id)
    if is_fragment_request(request):
        return render_template(request, "sidebar/row_menu.html", **values)
    return await render_page(request, "sidebar/row_menu_page.html", **values)


@accepts_form({"title": TEXT, "next": NEXT_PATH})
async def rename_feed(request: Request) -> Response:
    """An empty name is the feed's own."""
    caller = await signed_in(request)
    sent = await checked_form(request)
    await _update(request, caller.user, SubscriptionChange({"title": read_title(sent)}))
    return redirect(local_path(sent.get("next"), "/feeds"), flash_success("feed.kept"))


@accepts_form({"from": NUMBER.or_empty, "to": NUMBER.or_empty, "next": NEXT_PATH})
async def move_feed(request: Request) -> Response:
    """Moves a feed from one folder to another, empty for none; in further folders it stays."""
    caller = await signed_in(request)
    sent = await checked_form(request)
    db = the_app(request).db
    feed = await find_subscription(db, caller.user.id, path_id(request))
    left, entered = (read_id(form_text(sent, name) or "0") for name in ("from", "to"))
    folders = [id for id in feed.folder_ids if id != left] + ([entered] if entered else [])
    await check_folders(db, caller.user.id, folders)
    await _update(request, caller.user, SubscriptionChange({}, sorted(set(folders))))
    if is_fragment_request(request):
        return Response(status_code=204)
    return redirect(local_path(sent.get("next"), "/feeds"), flash_success("feeds.changed", n=1))


async def _update(request: Request, user: User, change: SubscriptionChange) -> None:
    app = the_app(request)
    await update_subscription(app.db, app.tools.rules, user.id, path_id(request), change, app.tools.clock())


@accepts_form({"beside": NUMBER.or_empty, "place": one_of(*(place.value for place in FolderPlace)), "next": NEXT_PATH})
async def move_folder(request: Request) -> Response:
    """Puts a folder before, after or into another; without another one, to the end of the top level."""
    caller = await signed_in(request)
    sent = await checked_form(request)
    place, beside = FolderPlace(form_text(sent, "place")), read_id(form_text(sent, "beside") or "0")
    folder = await place_folder(the_app(request).db, caller.user.id, path_id(request), beside, place)
    if is_fragment_request(request):
        return Response(status_code=204)
    return redirect(local_path(sent.get("next"), "/folders"), flash_success("folders.changed", name=folder.name))


routes = [
    Route("/feed/{id:int}/menu", show_feed_menu, methods=["GET"]),
    Route("/folder/{id:int}/menu", show_folder_menu, methods=["GET"]),
    Route("/feed/{id:int}/rename", rename_feed, methods=["POST"]),
    Route("/feed/{id:int}/move", move_feed, methods=["POST"]),
    Route("/folders/{id:int}/move", move_folder, methods=["POST"]),
]
