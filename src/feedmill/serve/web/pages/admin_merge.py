"""`/admin/feeds/n/merge`: one feed is made of two, after a look at what that comes to."""

from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import BadInput
from feedmill.library.merging import NotMergeable, find_feed, foresee, merge
from feedmill.model.standing import standing
from feedmill.serve.web.flash import say
from feedmill.serve.web.page import form, go, show, text, the_app
from feedmill.serve.web.pages.admin_feeds import HERE, address, feed_of, title
from feedmill.serve.web.pages.admin_users import actor
from feedmill.serve.web.scoped import signed_in_admin
from feedmill.store.administered_feeds import Administered

LONGEST_NAME = 2000


async def ask(request: Request) -> Response:
    """What the merge would come to; without `into`, or with one that does not go, the field to type it."""
    await signed_in_admin(request)
    source, into = await feed_of(request), request.query_params.get("into", "")[:LONGEST_NAME]
    if not into:
        return await _show(request, source)
    try:
        target = await find_feed(the_app(request).db, into)
        merging = await foresee(the_app(request).db, source, target)
    except (BadInput, NotMergeable) as error:
        return await _show(request, source, into, _why(error))
    return await show(
        request, "admin_merge.html", active="/admin", source=source, target=target, merging=merging, into=into,
        error="", address=address, title_of=title, standing=standing,
    )  # fmt: skip


async def do(request: Request) -> Response:
    caller = await signed_in_admin(request)
    sent = await form(request)
    source, into, db = await feed_of(request), text(sent, "into"), the_app(request).db
    try:
        target = await find_feed(db, into)
        done = await merge(db, source, target, actor(caller, request), datetime.now(UTC))
    except (BadInput, NotMergeable) as error:
        return await _show(request, source, into, _why(error))
    said = say("admin.merged", n=done.readers, entries=done.entries)
    return go(f"{HERE}/{target.feed.id}", said)


def _why(error: BadInput | NotMergeable) -> str:
    return f"admin.unmerged_{error.code}" if isinstance(error, NotMergeable) else "admin.no_such_feed"


async def _show(request: Request, source: Administered, into: str = "", error: str = "") -> Response:
    return await show(
        request, "admin_merge.html", 422 if error else 200, active="/admin", source=source, target=None, into=into,
        error=error, address=address, title_of=title, standing=standing,
    )  # fmt: skip


routes = [
    Route(f"{HERE}/{{id:int}}/merge", ask, methods=["GET"]),
    Route(f"{HERE}/{{id:int}}/merge", do, methods=["POST"]),
]
