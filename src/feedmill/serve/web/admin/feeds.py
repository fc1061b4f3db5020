"""`/admin/feeds`: lists all feeds, changes their address, pauses and resumes them."""

from datetime import UTC, datetime
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import BadInput, Conflict, NotFound
from feedmill.i18n.messages import Message
from feedmill.library.cursors import cursor_at
from feedmill.library.feeds.change_url import change_feed_url
from feedmill.model.feed import Feed, feed_state, without_owner
from feedmill.model.hosts import host_of
from feedmill.serve.http.auth import actor
from feedmill.serve.http.paginate import decode_cursor, query_cursor, split_page
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.current_user import signed_in_admin
from feedmill.serve.web.core.flash import flash_success
from feedmill.serve.web.core.form_fields import TEXT, accepts_form
from feedmill.serve.web.core.path_ids import path_id
from feedmill.serve.web.core.read_form import checked_form, form_text
from feedmill.serve.web.core.redirects import redirect
from feedmill.serve.web.core.render_page import render_page
from feedmill.store.admin.feeds import AdminFeed, feeds_page, pause_feed, read_admin_feed, resume_feed
from feedmill.store.feeds.url_history import merged_feeds

FEEDS_PATH = "/admin/feeds"
ROWS = 50


def public_url(feed: Feed) -> str:
    """The URL of the feed without the owner of a private feed."""
    return without_owner(feed.url)


def public_title(feed: Feed) -> str:
    return without_owner(feed.name)


async def list_feeds(request: Request) -> Response:
    await signed_in_admin(request)
    failing = request.query_params.get("failing") == "yes"
    place = decode_cursor(query_cursor(request), 0)
    page, last = split_page(await feeds_page(the_app(request).db, place, ROWS + 1, only_failing=failing), ROWS)
    kept = {"failing": "yes"} if failing else {}
    return await render_page(
        request,
        "admin/feeds.html",
        active="/admin",
        feeds=page,
        failing=failing,
        standing=feed_state,
        address=public_url,
        title_of=public_title,
        more=f"{FEEDS_PATH}?{urlencode(kept | {'cursor': cursor_at(last.feed.id)})}" if last else None,
    )


async def show_feed(request: Request) -> Response:
    await signed_in_admin(request)
    return await _show(request, await requested_feed(request))


@accepts_form({"url": TEXT})
async def change_url(request: Request) -> Response:
    """Changes the URL of the feed, for all subscribers."""
    caller = await signed_in_admin(request)
    sent = await checked_form(request)
    found, url = await requested_feed(request), form_text(sent, "url").strip()
    try:
        app, by = the_app(request), actor(caller, request)
        await change_feed_url(app.db, app.tools.encryption, found.feed, url, by, datetime.now(UTC))
    except BadInput:
        return await _show(request, found, "admin.bad_url", url)
    except Conflict:
        return await _show(request, found, "admin.url_taken", url)
    return redirect(f"{FEEDS_PATH}/{found.feed.id}", flash_success("admin.feed_moved"))


@accepts_form({})
async def feed_action(request: Request) -> Response:
    caller = await signed_in_admin(request)
    await checked_form(request)
    found, action = await requested_feed(request), request.path_params["action"]
    if action not in ("pause", "resume"):
        raise NotFound(Message("error.feed_button"))
    does = pause_feed if action == "pause" else resume_feed
    await does(the_app(request).db, found.feed, actor(caller, request), datetime.now(UTC))
    return redirect(
        f"{FEEDS_PATH}/{found.feed.id}",
        flash_success("admin.feed_paused" if action == "pause" else "admin.feed_resumed"),
    )


async def requested_feed(request: Request) -> AdminFeed:
    """The feed whose id is in the path."""
    found = await read_admin_feed(the_app(request).db, path_id(request))
    if found is None:
        raise NotFound(Message("error.no_such_feed"))
    return found


async def _show(request: Request, found: AdminFeed, error: str = "", url: str | None = None) -> Response:
    feed, db = found.feed, the_app(request).db
    heir = (await merged_feeds(db)).get(feed.id)
    return await render_page(
        request,
        "admin/feed.html",
        422 if error else 200,
        active="/admin",
        found=found,
        feed=feed,
        error=error,
        host=host_of(feed.url),
        heir=await read_admin_feed(db, heir) if heir else None,
        title_of=public_title,
        url=public_url(feed) if url is None else url,
        name=public_title(feed),
        state=feed_state(feed, datetime.now(UTC)),
        address=public_url(feed),
    )


routes = [
    Route(FEEDS_PATH, list_feeds),
    Route(f"{FEEDS_PATH}/{{id:int}}", show_feed, methods=["GET"]),
    Route(f"{FEEDS_PATH}/{{id:int}}", change_url, methods=["POST"]),
    Route(f"{FEEDS_PATH}/{{id:int}}/{{action}}", feed_action, methods=["POST"]),
]
