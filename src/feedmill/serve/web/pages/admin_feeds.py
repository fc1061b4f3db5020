"""`/admin/feeds`: all feeds, for an admin; how many people are subscribed, never who."""

from datetime import UTC, datetime
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import BadInput, Conflict, NotFound
from feedmill.library.administer import change_address
from feedmill.model.feed import PRIVATE_MARK, Feed
from feedmill.model.standing import standing
from feedmill.serve.rest.cursors import cursor_at, cut, place_at
from feedmill.serve.web.flash import say
from feedmill.serve.web.ids import path_id
from feedmill.serve.web.page import form, go, show, text, the_app
from feedmill.serve.web.pages.admin_users import actor, cursor_of
from feedmill.serve.web.scoped import signed_in_admin
from feedmill.store.administered_feeds import Administered, feeds_page, pause_feed, read_administered, resume_feed
from feedmill.store.feeds import host_of
from feedmill.store.raw import merged_feeds

HERE = "/admin/feeds"
ROWS = 50


def address(feed: Feed) -> str:
    """Where it comes from, without whose password opens it."""
    return feed.url.partition(PRIVATE_MARK)[0]


def title(feed: Feed) -> str:
    return feed.name.partition(PRIVATE_MARK)[0]


async def every(request: Request) -> Response:
    await signed_in_admin(request)
    failing = request.query_params.get("failing") == "yes"
    place = place_at(cursor_of(request), 0)
    page, last = cut(await feeds_page(the_app(request).db, place, ROWS + 1, only_failing=failing), ROWS)
    kept = {"failing": "yes"} if failing else {}
    return await show(
        request, "admin_feeds.html", active="/admin", feeds=page, failing=failing, standing=standing, address=address,
        title_of=title,
        more=f"{HERE}?{urlencode(kept | {'cursor': cursor_at(last.feed.id)})}" if last else None,
    )  # fmt: skip


async def one(request: Request) -> Response:
    await signed_in_admin(request)
    return await _show(request, await feed_of(request))


async def change(request: Request) -> Response:
    """Lets the feed come from another address, for everybody."""
    caller = await signed_in_admin(request)
    sent = await form(request)
    found, url = await feed_of(request), text(sent, "url").strip()
    try:
        await change_address(the_app(request).db, found.feed, url, actor(caller, request), datetime.now(UTC))
    except BadInput:
        return await _show(request, found, "admin.bad_url", url)
    except Conflict:
        return await _show(request, found, "admin.url_taken", url)
    return go(f"{HERE}/{found.feed.id}", say("admin.feed_moved"))


async def do(request: Request) -> Response:
    caller = await signed_in_admin(request)
    await form(request)
    found, action = await feed_of(request), request.path_params["action"]
    if action not in ("pause", "resume"):
        raise NotFound("a feed has no such button")
    does = pause_feed if action == "pause" else resume_feed
    await does(the_app(request).db, found.feed, actor(caller, request), datetime.now(UTC))
    return go(f"{HERE}/{found.feed.id}", say("admin.feed_paused" if action == "pause" else "admin.feed_resumed"))


async def feed_of(request: Request) -> Administered:
    """The feed that the path names."""
    found = await read_administered(the_app(request).db, path_id(request))
    if found is None:
        raise NotFound("there is no such feed")
    return found


async def _show(request: Request, found: Administered, error: str = "", url: str | None = None) -> Response:
    feed, db = found.feed, the_app(request).db
    heir = (await merged_feeds(db)).get(feed.id)
    return await show(
        request, "admin_feed.html", 422 if error else 200, active="/admin", found=found, feed=feed, error=error,
        host=host_of(feed.url), heir=await read_administered(db, heir) if heir else None, title_of=title,
        url=address(feed) if url is None else url, name=title(feed), state=standing(feed, datetime.now(UTC)),
        address=address(feed),
    )  # fmt: skip


routes = [
    Route(HERE, every),
    Route(f"{HERE}/{{id:int}}", one, methods=["GET"]),
    Route(f"{HERE}/{{id:int}}", change, methods=["POST"]),
    Route(f"{HERE}/{{id:int}}/{{action}}", do, methods=["POST"]),
]
