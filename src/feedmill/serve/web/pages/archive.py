"""`/feed/n/archive`: the answers and images that are kept of a feed."""

import re
from datetime import UTC, datetime, timedelta
from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import BadInput
from feedmill.library.archives import (
    days_left,
    fetch_missing,
    images_page,
    kept_answers,
    try_failed_again,
    would_expire,
)
from feedmill.library.freeing import free_images, may_free, would_free
from feedmill.library.subscriptions import find_subscription
from feedmill.model.account import User
from feedmill.model.image import ImageStatus
from feedmill.model.sizes import size_in_words
from feedmill.model.times import from_text, text_or_none
from feedmill.serve.web.flash import say
from feedmill.serve.web.ids import path_id
from feedmill.serve.web.page import form, go, show, signed_in, text, the_app
from feedmill.store.kept_images import sum_images

ROWS = 50
PICTURES = 60
FREED_AFTER = 90

_MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z")


async def answers(request: Request) -> Response:
    caller = await signed_in(request)
    app, now = the_app(request), datetime.now(UTC)
    feed = await find_subscription(app.db, caller.user.id, path_id(request))
    page = await kept_answers(app.db, feed.feed_id, _before(request), ROWS)
    keep, days = timedelta(days=app.settings.raw_days), _days(request.query_params.get("days", ""))
    would_go = await would_expire(app.db, caller.user.id, feed.id, timedelta(days=days), now) if days else None
    return await show(
        request, "archive.html", title=feed.title, feed=feed, page=page, raw_days=app.settings.raw_days,
        older=text_or_none(page.more), days=days or round(app.settings.retention_days), would_go=would_go,
        left=partial(days_left, keep=keep, now=now), active=f"/feed/{feed.id}",
    )  # fmt: skip


def _before(request: Request) -> datetime | None:
    """The moment that the address names; one that can't be read is none."""
    asked = request.query_params.get("before", "")
    try:
        return from_text(asked) if _MOMENT.fullmatch(asked) else None
    except ValueError:
        return None


async def images(request: Request) -> Response:
    caller = await signed_in(request)
    app = the_app(request)
    feed = await find_subscription(app.db, caller.user.id, path_id(request))
    counts = await sum_images(app.db, feed.feed_id)
    state = _state(request, {name for name, count in counts.items() if count.images})
    before = request.query_params.get("before", "")
    beyond = int(before) if before.isdecimal() and len(before) < 16 else None
    items, more = await images_page(app.db, app.blobs, feed.feed_id, state, beyond, PICTURES)
    older = _days(request.query_params.get("older", ""))
    now, age = datetime.now(UTC), timedelta(days=older or FREED_AFTER)
    would_go = await would_free(app.db, caller.user, feed.id, age, now) if older else None
    return await show(
        request, "archive_images.html", title=feed.title, feed=feed, counts=counts, state=state, items=items, more=more,
        may_free=await may_free(app.db, caller.user, feed.feed_id), older=age.days, would_go=would_go,
        active=f"/feed/{feed.id}",
    )  # fmt: skip


def _days(asked: str) -> int | None:
    """A number of days; None for what is none."""
    return int(asked) if asked.isascii() and asked.isdecimal() and 0 < len(asked) < 6 and int(asked) else None


def _state(request: Request, there: set[str]) -> ImageStatus:
    """The state that is asked for, else the first of which there are any."""
    asked = request.query_params.get("state")
    if asked in list(ImageStatus):
        return ImageStatus(asked)
    usual = (ImageStatus.SUCCESS, ImageStatus.PENDING, ImageStatus.FAILED)
    return next((state for state in usual if state in there), ImageStatus.SUCCESS)


async def change_images(request: Request) -> Response:
    caller = await signed_in(request)
    sent = await form(request)
    db, id, now = the_app(request).db, path_id(request), datetime.now(UTC)
    match text(sent, "do"):
        case "retry":
            said = say("archive.retried", n=await try_failed_again(db, caller.user.id, id, now))
        case "fetch":
            said = say("archive.hurried", n=await fetch_missing(db, caller.user.id, id, now))
        case "free":
            return await _free(request, caller.user, _days(text(sent, "older")))
        case _:
            raise BadInput("there is no such action", "do")
    return go(f"/feed/{id}/archive/images?state=pending", said)


async def _free(request: Request, user: User, older: int | None) -> Response:
    if older is None:
        raise BadInput("say how old they must be, in days", "older")
    id, now = path_id(request), datetime.now(UTC)
    freed = await free_images(the_app(request).db, user, id, timedelta(days=older), now)
    return go(f"/feed/{id}/archive/images", say("archive.freed", n=freed.images, size=size_in_words(freed.bytes)))


routes = [
    Route("/feed/{id:int}/archive", answers),
    Route("/feed/{id:int}/archive/images", images, methods=["GET"]),
    Route("/feed/{id:int}/archive/images", change_images, methods=["POST"]),
]
